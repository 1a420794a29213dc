#!/bin/sh
# SPDX-License-Identifier: MIT
# gpu.sh BUILD [--as-built | --emulated] - build and run the tests that need a GPU; 77: there is
# none
#
# First the driver by itself, for which gcc and nvcc are enough; then jobs through quoitd and the
# demo, if their libraries are installed, otherwise these count as skipped.
#
# --as-built: in a folder of gpu_bundle.sh, on a machine that may have no compiler.  --emulated:
# folder cuda/ on the devices of tests/emulator, with a part of the many shapes.  QUOIT_GPU=soft:
# only the part through quoitd, on a soft device.
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
kind=${QUOIT_GPU:-cuda}
passed=0 failed=0 skipped=0
as_built=${2-} step=1 batches=150 # of so many shapes one is tried; of training in the demo
unset QUOIT_SOCKET QUOIT_GPU
export LC_ALL=C

have() { # TARGET: it is built now, or was; else $built says why not
	[ -n "$as_built" ] && return
	built=$(make --no-print-directory -j"$(nproc)" B="$build" "$1" 2>&1)
}
count() { # STATUS NAME
	case $1 in
	0) passed=$((passed + 1)) ;;
	77) skipped=$((skipped + 1)) ;;
	*) failed=$((failed + 1)) && echo "FAIL $2 (status $1)" ;;
	esac
}
# Print the last line: the result, and the reason if the tests were skipped.
finish() { # REASON
	[ $((passed + failed + skipped)) -gt 0 ] || skipped=1
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ] || exit 1
	[ "$passed" -gt 0 ] && exit 0
	echo "skipped: $1"
	exit 77
}

programs=
if [ "$as_built" = --emulated ]; then
	as_built=
	have emulator || { echo "$built" && exit 1; }
	programs=$(make --no-print-directory B="$build" gpu-e2e-list)
	as_built=--emulated build=$build/emulator step=10 batches=10
fi
if [ "$kind" = cuda ]; then
	have gpu-tests || { echo "$built" && exit 1; }
	[ -e "$build/quoit-cuda.so" ] || finish 'quoit-cuda.so was not built: no nvcc'
	for program in "$build"/tests/gpu/test_*; do
		case $program in
		*.o | *.d) continue ;;
		esac
		echo "$(basename "$program"):"
		said=$(timeout 300 "$program" "$build/quoit-cuda.so" $step)
		status=$?
		echo "$said"
		[ $status -ne 77 ] || finish "${said#skipped: }"
		count $status "$program"
	done
fi

if [ "$as_built" = --emulated ]; then
	echo 'calls of the runtime fail:'
	timeout 300 "$build/failures" "$build/quoit-cuda.so" 3
	count $? failures
fi
if ! have gpu-e2e; then
	echo "$built" | tail -n 5
	echo 'skipped: through quoitd: it cannot be built here (make deps, or carry a folder of tests/gpu_bundle.sh)'
	skipped=$((skipped + 1))
	finish 'nothing could be built'
fi
if [ "$as_built" = --as-built ]; then
	programs=$(find "$build/tests/e2e" -name 'test_*')
elif [ -z "$as_built" ]; then
	programs=$(make --no-print-directory B="$build" gpu-e2e-list)
fi
for program in $programs; do
	echo "$(basename "$program") through quoitd:"
	QUOIT_BUILD=$build QUOIT_TEST_GPU=$kind timeout 900 "$program" --jobs 1
	count $? "$program"
done
QUOIT_GPU=$kind DEMO_BATCHES=${DEMO_BATCHES:-$batches} timeout 300 sh tests/demo.sh "$build"
count $? demo
finish
