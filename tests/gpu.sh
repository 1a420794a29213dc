#!/bin/sh
# SPDX-License-Identifier: MIT
# gpu.sh BUILD - build the tests that need a GPU, and run them; 77: there is none
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
make --no-print-directory B="$build" gpu-tests || exit 1
if [ ! -e "$build/quoit-cuda.so" ]; then
	echo 'skipped: quoit-cuda.so was not built'
	exit 77
fi
bad=0
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
exit $bad
