#!/bin/sh
# SPDX-License-Identifier: MIT
# gpu.sh BUILD [--as-built] - the tests that need a GPU; 77: there is none
#
# The driver by itself, then jobs through quoitd where its libraries are.  --as-built: a folder
# of gpu_bundle.sh, on a machine that may have no compiler.
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
unset QUOIT_SOCKET
bad=0
if [ "${2-}" != --as-built ]; then
	make --no-print-directory B="$build" gpu-tests || exit 1
fi
if [ ! -e "$build/quoit-cuda.so" ]; then
	echo 'skipped: quoit-cuda.so was not built'
	exit 77
fi

for program in "$build"/tests/gpu/test_*; do
	case $program in
	*.o | *.d) continue ;;
	esac
	echo "$(basename "$program"):"
	timeout 300 "$program" "$build/quoit-cuda.so"
	status=$?
	[ $status -ne 77 ] || exit 77
	[ $status -eq 0 ] || bad=1
done

if [ -x "$build/tests/e2e/test_device" ]; then
	echo 'through quoitd:'
	QUOIT_BUILD=$build QUOIT_TEST_GPU=cuda timeout 300 "$build/tests/e2e/test_device" --ascii || bad=1
fi
if [ -x "$build/quoit" ]; then
	QUOIT_GPU=cuda timeout 300 sh tests/demo.sh "$build" || bad=1
fi
exit $bad
