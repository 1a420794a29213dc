#!/bin/sh
# SPDX-License-Identifier: MIT
# aarch64.sh BUILD - compile and link everything but the CUDA driver for aarch64, without running it
#
# Debian's arm64 libraries are unpacked into BUILD/packages/aarch64/sysroot, once for each list of
# packages.  This machine's own packages stay unchanged, since many -dev packages cannot be
# installed for two architectures.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${1:-build}")/packages/aarch64
root=$build/sysroot
compiler=aarch64-linux-gnu-gcc
export LC_ALL=C

skip() { # WHY
	echo "skipped: $1"
	exit 77
}

# The sources of this machine's Debian packages; mmdebstrap must not choose its own.
sources() {
	for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
		[ ! -e "$file" ] || { echo "$file"; return; }
	done
}

# Without root, the user owns the extracted files.  With root, mmdebstrap mounts this machine's
# /dev/shm and others there; a mount namespace of its own keeps mounts from staying if it is
# interrupted.
extract() { # mmdebstrap's arguments
	if [ "$(id -u)" -eq 0 ]; then
		unshare --mount --propagation=private mmdebstrap --quiet --mode=root --variant=extract "$@"
	else
		mmdebstrap --quiet --mode=chrootless --variant=extract "$@"
	fi
}

# Absolute links in the sysroot would lead to this machine's files: make them relative.
bend_links() {
	find "$root" -type l -lname '/*' | while read -r link; do
		ln -sfnr "$root$(readlink "$link")" "$link"
	done
}

fill_sysroot() { # PACKAGES, with commas
	# shellcheck disable=SC2046
	extract --architectures=arm64 --include="$1" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" $(sources) || return 1
	bend_links
	echo "$1" >"$build/packages"
}

make_sysroot() {
	packages=$(make -s --no-print-directory list-deps | tr ' ' '\n' | grep -e '-dev$' | paste -sd ,)
	[ "$(cat "$build/packages" 2>/dev/null)" != "$packages" ] || return 0
	rm -rf --one-file-system "$build/packages" "$root"
	mkdir -p "$build"
	fill_sysroot "$packages" >"$build/sysroot.log" 2>&1 && return
	cat "$build/sysroot.log"
	# apt's messages about a mirror that it cannot reach.
	! grep -qE 'Could not (resolve|connect)|Temporary failure resolving|[Cc]onnection (failed|timed out|refused)' \
		"$build/sysroot.log" || skip 'Debian packages for arm64 cannot be downloaded'
	return 1
}

build_all() {
	# Nobody runs it: it is not optimized, and not compiled once more by the linker.
	make -j2 --no-print-directory B="$build/out" CC="$compiler --sysroot=$root" CFLAGS=-O0 NVCC= lto= binaries
}

for tool in $compiler mmdebstrap; do
	command -v $tool >/dev/null || skip "$tool is missing"
done
make_sysroot || { fail 'arm64 libraries'; say_counts; exit; }
log=$(build_all 2>&1) || fail 'it builds' "$log"
for made in quoitd quoit-exec quoit quoit-peer libquoit.so libquoit.a examples/hello; do
	case $(readelf -h "$build/out/$made" 2>&1) in
	*Machine:*AArch64*) pass ;;
	*) fail "$made is for aarch64" ;;
	esac
done
say_counts
