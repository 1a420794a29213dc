#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh PACKAGE... - make sure that Debian packages are installed
#
# As root, or with CI=true, it installs missing packages.  Otherwise it shows the command, and on a
# terminal it asks before it runs the command with sudo.
set -eu

missing=
for package in "$@"; do
	state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
	case $state in
	ii*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

as=sudo
[ "$(id -u)" -ne 0 ] || as=

apt_get() { # ARGUMENT...; sudo passes no variables on
	$as env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 "$@"
}

ask() {
	printf 'These packages are missing:%s\n\n' "$missing"
	printf '  sudo apt-get update && sudo apt-get install --no-install-recommends%s\n\n' "$missing"
	[ -t 0 ] || { echo 'Install them and run make again.'; return 1; }
	command -v sudo >/dev/null || { echo 'There is no sudo: run it as root, then make again.'; return 1; }
	printf 'Run this now? [y/N] '
	read -r answer
	case $answer in
	y* | Y*) ;;
	*) return 1 ;;
	esac
}

[ -z "$as" ] || [ "${CI:-}" = true ] || ask || exit 1
apt_get update -q
# shellcheck disable=SC2086
apt_get install -y --no-install-recommends $missing
