#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh PACKAGE... - make sure that Debian packages are installed
#
# As root or with CI=true missing ones are installed; else the one command is shown,
# asked for on a terminal, and run with sudo.
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

install="apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends$missing"
if [ "$(id -u)" -eq 0 ] || [ "${CI:-}" = true ]; then
	as=
	[ "$(id -u)" -eq 0 ] || as=sudo
	export DEBIAN_FRONTEND=noninteractive
	$as apt-get -o DPkg::Lock::Timeout=600 update -q
	$as $install
	exit
fi
printf 'These packages are missing:%s\n\n  sudo %s\n\n' "$missing" "$install"
[ -t 0 ] || { echo 'Install them and run make again.'; exit 1; }
printf 'Run this now? [y/N] '
read -r answer
case $answer in
y* | Y*) sudo sh -c "apt-get update -q && $install" ;;
*) exit 1 ;;
esac
