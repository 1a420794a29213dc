#!/bin/sh
# SPDX-License-Identifier: MIT
# seeds.sh BUILD - does the emulator find faults in folder cuda/ that otherwise only a device shows?
#
# Each fault is put into a copy of the sources, and the tests that should find it must fail.  Run it
# after `make emulator`.
. "$(dirname "$0")/../counting.sh"
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/build/tests"
for entry in *; do
	[ "$entry" = build ] || cp -a "$entry" "$tree"
done
cp -a "$build/emulator" "$tree/build"
cp -a "$build/tests/emulator" "$build/tests/gpu" "$build/tests/e2e" "$tree/build/tests"

expect() { # WHAT COMMAND...
	what=$1
	shift
	if "$@" >>"$tree/log" 2>&1; then
		pass
	else
		fail "$what" "$(tail -n 5 "$tree/log")"
	fi
}
tests() { # NAME...: of tests/gpu, or tests/e2e
	for name; do
		if [ "$name" = failures ]; then
			timeout 120 "$tree/build/emulator/failures" "$tree/build/emulator/quoit-cuda.so" || return
			continue
		fi
		if [ -x "$tree/build/tests/gpu/$name" ]; then
			timeout 120 "$tree/build/tests/gpu/$name" "$tree/build/emulator/quoit-cuda.so" 7
		else
			QUOIT_BUILD=$tree/build/emulator QUOIT_TEST_GPU=cuda timeout 120 "$tree/build/tests/e2e/$name" --jobs 1
		fi || return
	done
}
rebuild() {
	make -C "$tree" --no-print-directory -j2 B=build build/emulator/quoit-cuda.so
}
seed() { # WHAT FILE SED TEST...
	seed=$1 file=$tree/cuda/$2 edit=$3
	shift 3
	cp -p "$file" "$tree/kept"
	sed -i -E "$edit" "$file"
	if cmp -s "$file" "$tree/kept"; then
		expect "$seed: is in the sources" false
	elif ! rebuild >"$tree/log" 2>&1; then
		expect "$seed: compiles" false
	elif tests "$@" >"$tree/log" 2>&1; then
		expect "$seed: is found" false
	else
		pass
		echo "found: $seed: $(grep -a -m 1 -e '^emulator:' -e '\.c:[0-9]' -e '^call' "$tree/log")"
	fi
	cp -p "$tree/kept" "$file" && touch "$file"
}

rebuild >"$tree/log" 2>&1
expect 'without a fault all is well' tests test_shapes test_streams test_direct
seed 'a block adds up before its warps are done' kernels/reduce.cuh \
	'/of_warp\[threadIdx.x \/ REDUCE_WARP\] = acc;/{n;d}' test_shapes
seed 'a square is read before it is whole' kernels/copy.cu '0,/__syncthreads\(\);/s///' test_shapes
seed 'a tile is made anew while it is read' kernels/gemm.cu \
	'/sum = fma/{n;s/__syncthreads\(\);//}' test_shapes
seed 'half a warp is added up' kernels/reduce.cuh 's/distance = REDUCE_WARP \/ 2; distance > 0/distance = REDUCE_WARP \/ 2; distance > 1/' \
	test_shapes
seed 'a request is run before it is there' kernels/direct.cu '/direct_take\(job/{n;s/__syncthreads\(\);//}' test_direct
seed 'an answer is given before the block is done' kernels/direct.cu '/direct_run\(job\);/{n;s/__syncthreads\(\);//}' test_direct
seed 'kernels are not loaded before one stays' direct.c 's/device_check\(d, kernels_load\(\)\)/0/' test_direct
seed 'a transposed product has its factors as they were' gemm.c '0,/gemm_turn\(&factor\[1\]\);$/!s/gemm_turn\(&factor\[1\]\);//' test_shapes
seed 'all products round their factors' gemm.c 's/product.tf32 = .*;/product.tf32 = true;/' test_halves
seed 'a stream does not wait' stream.c 's/cudaStreamWaitEvent\(s->stream, e->event, 0\)/e->event ? cudaSuccess : cudaErrorInvalidValue/' \
	test_streams
seed 'memory is given back twice' memory.c 's/return (cudaFreeAsync\(memory, stream\));/return \1 ? cudaErrorInvalidValue : \1;/' test_streams
seed 'memory is lost where a stream fails' memory.c 's/else if \(!errors_is_sticky\(err\)\)/else if (false)/' failures
seed 'a kernel goes behind one that failed' kernels/reduce.cuh 's/err != cudaSuccess \|\| p->parts <= 1/p->parts <= 1/' failures
seed 'a broken device is not remembered' driver.c 's/d->broken = err;/(void)d;/' failures
say_counts
