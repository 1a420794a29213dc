#!/bin/sh
# SPDX-License-Identifier: MIT
# bundle.sh BUILD - test that the folder of gpu_bundle.sh is complete, that its tests and benchmarks
# run there, and that an interruption costs no figure
#
# It uses the kind of device that is here: without a GPU, run.sh says so, and the rest uses a soft
# device.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
[ -e "$build/quoit-cuda.so" ] || { echo 'skipped: quoit-cuda.so was not built: no nvcc'; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/moved"

sh tests/gpu_bundle.sh "$build" "$folder/made" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
mv "$folder/made" "$folder/moved/here" && cd "$folder/moved/here" || exit 1
export LD_LIBRARY_PATH="$PWD/lib"

# A library that the folder does not contain must be the C library.
find build -type f ! -name '*.ptx' -exec ldd {} + 2>&1 | grep -E '=>|not found' | grep -v -F "=> $PWD/lib/" |
	grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv)\.so' >"$folder/others"
expect_nothing 'programs find their libraries in the folder' "$(cat "$folder/others")"

if ! ldconfig -p | grep -q libcuda.so.1; then
	said=$(sh run.sh 2>&1)
	if [ $? -eq 77 ] && echo "$said" | tail -n 1 | grep -q '^skipped: the driver is not installed'; then
		pass
	else
		fail 'without a GPU it is skipped' "$said"
	fi
fi

if QUOIT_BUILD=build QUOIT_TEST_GPU=soft timeout 120 build/tests/e2e/test_device --jobs 1 >"$folder/log" 2>&1; then
	pass
else
	fail 'a test runs there' "$(cat "$folder/log")"
fi

if QUOIT_GPU=soft DEMO_BATCHES=10 timeout 120 sh tests/demo.sh build >"$folder/log" 2>&1; then
	pass
else
	fail 'the demo runs there' "$(cat "$folder/log")"
fi

# Test that there are figures; their values mean nothing on a soft device, and beside other tests.
if ROUNDS=1 QUOIT_GPU=soft timeout 300 sh tests/bench_gpu.sh build "$folder/figures.json" --as-built >"$folder/log" 2>&1; then
	pass
else
	fail 'the benchmark runs there' "$(cat "$folder/log")"
fi
missing=$(grep -vE '^W1 [af]:' "$folder/log" | grep -E '[<>]= .* - +-$')
expect_nothing 'each of its lines has a figure' "$missing"

# The first minutes on a GPU, interrupted at any moment: all samples up to then are there, line by
# line.
for moment in 4 $(($(date +%N | cut -c1-3 | sed 's/^0*//;s/^$/0/') % 5 + 5)); do
	rm -rf "$folder/results"
	QUOIT_GPU=soft setsid sh tests/gpu_first.sh "$folder/results" 60 >"$folder/log" 2>&1 &
	first=$!
	sleep "$moment"
	kill -KILL -$first
	wait $first 2>/dev/null
	if [ -s "$folder/results/samples.jsonl" ] && [ -s "$folder/results/about.txt" ] && grep -q '^topo status=0' "$folder/results/table.txt" &&
		! grep -qv '^{.*}$' "$folder/results/samples.jsonl"; then
		pass
	else
		fail "cut off after $moment s, it keeps what was measured" "$(cat "$folder/log" "$folder/results/table.txt" "$folder/results/samples.jsonl" 2>&1)"
	fi
done
say_counts
