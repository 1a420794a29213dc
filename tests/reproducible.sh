#!/bin/sh
# SPDX-License-Identifier: MIT
# reproducible.sh BUILD - test that the source archive builds, installs, and makes the same bytes as
# BUILD
#
# BUILD is ours.  The other build is made elsewhere from the file of `make dist`, with other
# modification times, another order of files in their folders, another umask, time zone, locale,
# home folder and number of jobs.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

[ -e .git ] || {
	echo 'skipped: make dist needs the repository'
	exit 77
}
# Include changes that are not committed.
commit=$(git stash create)
commit=${commit:-$(git rev-parse HEAD)}

dist() { # TO
	make --no-print-directory dist DIST="$commit" B="$1"
}

unpack() { # FILE TO: the last file of it first
	mkdir -p "$2"
	tar -tf "$1" | tac >"$work/names"
	xz -dc "$1" >"$work/tar"
	while read -r name; do
		case $name in
		*/) ;;
		*) echo "$name" ;;
		esac
	done <"$work/names" >"$work/files"
	tar -xf "$work/tar" -C "$2" --strip-components=1 -m --no-same-permissions -T "$work/files"
}

build_elsewhere() {
	umask 077
	mkdir -p "$work/home"
	unpack "$work/one/"quoit-*.tar.xz "$work/a folder elsewhere/quoit" || return 1
	find "$work/a folder elsewhere" -exec touch -d '2001-02-03 04:05:06' {} + || return 1
	cd "$work/a folder elsewhere/quoit" || return 1
	env -i PATH="$PATH" HOME="$work/home" TZ=Asia/Kathmandu LC_ALL=C.UTF-8 LANGUAGE=de USER=nobody \
		make --no-print-directory -j3 NVCC= install DESTDIR="$work/there"
}

install_ours() {
	TZ=UTC LC_ALL=C make --no-print-directory NVCC= install B="$build" DESTDIR="$work/here"
}

facts() { # TREE: of each file its mode, kind, size, target and sum
	(cd "$1" && find . -printf '%M %P %l\n' | LC_ALL=C sort && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2)
}

log=$(dist "$work/one" 2>&1) && pass || fail 'make dist' "$log"
log=$(cd "$work" && umask 077 && TZ=Asia/Kathmandu make -s -C "$OLDPWD" dist DIST="$commit" B="$work/two" 2>&1) || fail 'make dist again' "$log"
expect_nothing 'make dist makes the same bytes again' "$(cmp "$work/one/"quoit-*.tar.xz "$work/two/"quoit-*.tar.xz 2>&1)"
log=$(build_elsewhere 2>&1) && pass || fail 'it builds and installs from the unpacked file' "$log"
log=$(install_ours 2>&1) && pass || fail 'make install' "$log"
facts "$work/here" >"$work/here.facts"
facts "$work/there" >"$work/there.facts"
grep -q quoitd "$work/here.facts" && pass || fail 'something is compared'
expect_nothing 'what is installed is the same, bit by bit' "$(diff "$work/here.facts" "$work/there.facts")"
say_counts
