#!/bin/sh
# SPDX-License-Identifier: MIT
# packages.sh BUILD [fresh] - test the Debian packages: make them twice with the same bytes,
# install, use, upgrade, remove them
#
# They are installed in a container with a systemd of its own (tests/vm), and compared with packages
# that are made elsewhere from the file of `make dist`.  KEEP=1: use the packages of the last run
# (to work on this test).  OLDER=FOLDER: upgrade from packages of an earlier commit, whose ABI has
# the same version.  fresh: several users of a fresh machine use the packages of `make deb`, and
# remove them.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
b=${1:-build}
which=${2:-whole}
work=$PWD/$b/packages
payload=$work/payload
export LC_ALL=C
unset OPENBLAS_CORETYPE QUOIT_SOCKET

skip() { # WHY
	echo "skipped: $1"
	exit 77
}

# Make them elsewhere, at another time, as another user.
make_again() {
	rm -rf --one-file-system "$work/elsewhere"
	mkdir -p "$work/elsewhere/home"
	make -s --no-print-directory dist B="$work/elsewhere" && cd "$work/elsewhere" && umask 077 &&
		tar -xf quoit-*.tar.xz -m && cd quoit-*/ &&
		env -i PATH="$PATH" HOME="$work/elsewhere/home" TZ=Asia/Kathmandu LANG=C.UTF-8 USER=nobody make deb
}

same_packages() {
	for file in "$b"/deb/*.deb; do
		cmp "$file" "$work"/elsewhere/quoit-*/build/deb/"${file##*/}" 2>&1
	done
}

make_packages() {
	log=$(make --no-print-directory deb 2>&1) && pass || fail 'make deb, and lintian finds neither error nor warning' "$log"
	log=$(make_again 2>&1) && pass || fail 'make deb in the unpacked file of make dist' "$log"
}

# Debian packages that ours depend on; of alternatives, the first.
dependencies() {
	for file in "$b"/deb/quoitd_*.deb "$b"/deb/quoit-tools_*.deb "$b"/deb/libquoit*.deb; do
		dpkg-deb -f "$file" Depends
	done | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g' | grep -v quoit | sort -u
}

fill_payload() {
	rm -rf --one-file-system "$payload"
	mkdir -p "$payload/guest" "$payload/newer"
	cp tests/vm/guest/library.sh tests/vm/guest/shares.sh tests/packages/life.sh "$payload/guest/" &&
		make -s --no-print-directory B="$b" "$b/tests/vm/client" && cp "$b/tests/vm/client" "$payload/" &&
		cp "$b"/deb/*.deb "$payload/newer/" && dpkg-deb -f "$payload"/newer/quoitd_*.deb Version >"$payload/newer/version" || return 1
	awk -v name=hello.c -f tests/pages/block.awk README.md >"$payload/hello.c"
	: >"$payload/report"
}

# The packages that life.sh installs.
ours() { # FOLDER
	for name in quoitd quoit-tools libquoit0 libquoit-dev; do
		echo "$1/${name}_"*.deb
	done
}

# Give the same files an older version number, so that nothing is built for that.
renumber() { # FILE
	rm -rf --one-file-system "$work/older"
	mkdir -p "$work/older"
	dpkg-deb -R "$1" "$work/older/tree" &&
		awk -v from="$(cat "$payload/newer/version")" -v to=0.0.9 '
			{ while (i = index($0, from)) $0 = substr($0, 1, i - 1) to substr($0, i + length(from)) } 1
			' "$work/older/tree/DEBIAN/control" >"$work/older/control" &&
		cp "$work/older/control" "$work/older/tree/DEBIAN/control" &&
		dpkg-deb -b -Znone "$work/older/tree" "$payload/older" >"$work/older/log"
}

add_older() {
	mkdir -p "$payload/older"
	for file in $(ours "${OLDER:-$payload/newer}"); do
		if [ -n "${OLDER:-}" ]; then cp "$file" "$payload/older/"; else renumber "$file"; fi || return 1
	done
	dpkg-deb -f "$payload"/older/quoitd_*.deb Version >"$payload/older/version"
}

# The module names NVIDIA's runtime, but contains nothing of it.
look_at_cuda() {
	set -- "$b"/deb/quoit-cuda_*.deb
	[ -e "$1" ] || {
		skipped=$((skipped + 1))
		return
	}
	rm -rf --one-file-system "$work/cuda" && dpkg-deb -x "$1" "$work/cuda"
	module=$work/cuda/usr/libexec/quoit/quoit-cuda.so
	[ "$(dpkg-deb -f "$1" Section)" = contrib/utils ] && pass || fail 'quoit-cuda is for contrib'
	readelf -d "$module" | grep -q 'NEEDED.*libcudart' && pass || fail 'quoit-cuda.so needs libcudart'
	expect_nothing 'quoit-cuda.so defines no call of NVIDIA' "$(nm -D --defined-only "$module" | grep -i ' cu[dbA-Z]')"
	expect_nothing 'no other file is in quoit-cuda' "$(find "$work/cuda" -type f | grep -v -e '/quoit-cuda.so$' -e '/usr/share/doc/')"
}

[ "$(id -u)" -eq 0 ] || skip 'a root file system is made, and systemd-nspawn run, by root alone'
for program in dpkg-buildpackage dh lintian mmdebstrap systemd-nspawn; do
	command -v $program >/dev/null || skip "$program is not installed"
done
unshare --mount true 2>/dev/null || skip 'this root may not mount'
mkdir -p "$work"
if [ "$which" = whole ]; then
	[ -n "${KEEP:-}" ] || make_packages
	expect_nothing 'the same commit makes the same packages' "$(same_packages)"
	look_at_cuda
fi
# shellcheck disable=SC2046
log=$(sh tests/vm/root.sh "$work" gcc libc6-dev pkg-config passwd $(dependencies) 2>&1) || { fail 'a Debian to install them in' "$log"; say_counts; exit; }
fill_payload && cp "tests/packages/$which.sh" "$payload/guest/run.sh" || fail 'the payload'
add_older || fail 'an older version'
sh tests/vm/container.sh "$work" "$payload" 600 >"$work/container.log" 2>&1
sed '/^END$/d; s/^/  /' "$payload/report"
passed=$((passed + $(grep -ac '^ok ' "$payload/report")))
failed=$((failed + $(grep -ac '^not ok ' "$payload/report")))
skipped=$((skipped + $(grep -ac '^skipped ' "$payload/report")))
grep -qax END "$payload/report" || fail 'the guest ends after its tests' "$(tail -n 30 "$work/container.log")"
say_counts
