#!/bin/sh
# SPDX-License-Identifier: MIT
# one.sh BUILD TEST [ARGUMENT...] - build one test with what it needs, and run it
#
# TEST is a name without folder and suffix: in tests/unit, tests/e2e, tests/gpu (on the emulator,
# one in ten of the many shapes), tests/torture, tests/fuzz (a minute of it), or a script in tests/.
# Arguments go to the test: `--filter '*/*name*'` chooses cases of a unit or end-to-end test, which
# run one at a time; a test of tests/gpu takes N, of so many shapes one is tried.  Exit status 2:
# there is no such test; 77: it cannot run here.
cd "$(dirname "$0")/.." || exit 1
build=$1 name=${2-}
export LC_ALL=C WERROR=1
unset QUOIT_SOCKET

names() {
	ls tests/unit/test_*.c tests/e2e/test_*.c tests/gpu/test_*.c tests/torture/*.c tests/fuzz/fuzz_*.c tests/*.sh |
		sed 's|.*/||; s|\.[a-z]*$||' | grep -vxe check -e one -e quick -e counting -e deps | sort -u
}
if [ -z "$name" ]; then
	echo 'one.sh: no test was named; T=NAME names one of:' && names | column
	exit 2
fi
shift 2
mkdir -p "$build"
log=$build/one.log # of make, which is read only where it fails

make_() { # TARGET...
	make -j"$(nproc)" --no-print-directory B="$build" "$@" >"$log" 2>&1 && return
	cat "$log"
	exit 1
}

if [ -e "tests/unit/$name.c" ]; then
	make_ "$build/tests/unit/$name"
	exec "$build/tests/unit/$name" --verbose --jobs 1 "$@"
elif [ -e "tests/e2e/$name.c" ]; then
	make_ binaries "$build/liar/quoitd" "$build/liar/quoit-exec" "$build/tests/e2e/$name"
	QUOIT_BUILD=$build exec "$build/tests/e2e/$name" --verbose --jobs 1 "$@"
elif [ -e "tests/gpu/$name.c" ]; then
	# The emulator needs g++ and nvcc's headers; nvcc itself, which takes long, compiles nothing.
	if ! make -s --no-print-directory B="$build" has-cuda >/dev/null 2>&1; then
		echo 'skipped: no nvcc: the emulator needs the headers of its toolkit'
		exit 77
	fi
	make_ "$build/emulator/quoit-cuda.so" "$build/tests/gpu/$name"
	[ $# -gt 0 ] || set -- 10
	exec "$build/tests/gpu/$name" "$build/emulator/quoit-cuda.so" "$@"
elif [ -e "tests/torture/$name.c" ]; then
	make_ binaries "$build/tests/torture/$name"
	[ $# -gt 0 ] || set -- --short
	QUOIT_BUILD=$build exec "$build/tests/torture/$name" "$@"
elif [ -e "tests/fuzz/$name.c" ]; then
	build=$build/fuzz
	make_ CC=clang fuzzers fuzzers="$build/fuzz/$name"
	[ $# -gt 0 ] || set -- -max_total_time=60
	exec "$build/fuzz/$name" "$@"
elif [ -e "tests/$name.sh" ]; then
	make_ all
	exec sh "tests/$name.sh" "$build" "$@"
fi
echo "one.sh: there is no test '$name'; nearest by name:" >&2
names | grep -e "${name#test_}" | head -n 8 >&2
exit 2
