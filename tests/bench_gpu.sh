#!/bin/sh
# SPDX-License-Identifier: MIT
# bench_gpu.sh BUILD [FILE] [--as-built] - compare jobs on the first GPU with direct calls of CUDA,
# cuBLAS and PyTorch
#
# It builds what it needs, prints a line for each goal of docs/performance.md (name, goal, value,
# verdict) and writes every sample to FILE (BUILD/bench-gpu.json).  A missed goal is printed, and is
# not an error; a value that could not be measured is one.  77: there is no GPU.
#
# --as-built: run in a folder of gpu_bundle.sh.  With QUOIT_GPU=soft the same runs on a soft device,
# beside direct calls of the device layer: that tests the programs, and says nothing about the
# goals.  With BUILD/emulator and --as-built it tests the way of an NVIDIA device, with
# quoit-peer-cuda.  ROUNDS: how often each is measured.
cd "$(dirname "$0")/.." || exit 2
# shellcheck source=tests/bench/verdict.sh
. tests/bench/verdict.sh
build=${1:-build}
file=${2:-$build/bench-gpu.json}
unset QUOIT_SOCKET OPENBLAS_CORETYPE
export QUOIT_GPU="${QUOIT_GPU:-cuda}" LC_ALL=C

if [ "${3-}" != --as-built ]; then
	make --no-print-directory -j"$(nproc)" B="$build" all || {
		echo 'bench_gpu.sh: it cannot be built here: make deps, or carry a folder of tests/gpu_bundle.sh' >&2
		exit 1
	}
fi
device=$("$build/quoit" run -- "$build/quoit" topo | grep -m1 '^device[ :]')
case $device in
*', pid '*) echo "$device" ;;
*)
	echo "skipped: ${device:-no device}"
	exit 77
	;;
esac
if [ "$QUOIT_GPU" = cuda ] && [ ! -x "$build/quoit-peer-cuda" ]; then
	echo 'skipped: quoit-peer-cuda was not built: there is nothing to compare with'
	exit 77
fi
results=$(mktemp -d) || exit 2
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM

# A failure is named, and costs only its own lines.  Each sample is in FILE.samples as soon as it is
# taken.
status=0
: >"$file.samples" || exit 2
"$build/quoit" bench device --json --limit=120 --samples="$file.samples" ${ROUNDS:+"--rounds=$ROUNDS"} >"$results/device" || status=1
sh tests/bench/w1.sh "$build" "${ROUNDS:-5}" "$file.w1" >"$results/w1" || status=1
[ -s "$results/device" ] || echo null >"$results/device"
{
	printf '{"device": "%s", "date": "%s",\n"w1": {' "$(echo "$device" | tr -d '"')" "$(date -u +%F)"
	awk '$1 ~ /^[a-z0-9_\/]+$/ && $2 != "-" { printf "%s\"%s\": %s", n++ ? ", " : "", $1, $2 }' "$results/w1"
	printf '},\n"bench": '
	cat "$results/device"
	echo '}'
} >"$file"

# line of the results, <= or >=, goal, description
goals() {
	cat <<-'END'
		device_gemm_4096/direct >= 0.98 GEMM 4096 float32, of cuBLAS
		device_gemm_4096_bf16/direct >= 0.98 GEMM 4096 bfloat16, of cuBLAS
		device_gemm_1000/direct >= 0.95 1,000 GEMM 1000 float32, of one stream
		device_add/direct <= 1.5 1x2 through streams, times launch + word
		device_resident/direct <= 0.5 1x2 GPU-direct, times launch + synchronise
		device_chain/direct <= 1.5 W1 e, an addition, times the bare launches
		device_in/direct >= 0.95 256 MiB to the device, of cudaMemcpyAsync
		device_out/direct >= 0.95 256 MiB from the device, of cudaMemcpyAsync
		quoit_overlap <= 1.1 copies and products at once, times the longer
		leave <= 50000 a resident kernel leaves when told, ns
		back <= 10000 a killed process is back, ms
		w1a/torch >= 1 W1 a: ten products, of PyTorch on the GPU
		w1f/torch >= 1 W1 f: training, of PyTorch on the GPU
	END
}

value() { # LINE: the median
	awk -v line="$1" '
		{ gsub(/[":,{]/, " ") }
		$1 == line && $2 == "null" { exit }
		$1 == line { found = 1 }
		found && $1 == "median" { printf "%.4g\n", $2; exit }' "$results/device"
	awk -v line="$1" '$1 == line { print $2 }' "$results/w1"
}

grep -q '^w1a/torch *-' "$results/w1" && echo 'W1: no PyTorch for this device here'
[ "$QUOIT_GPU" = cuda ] || echo 'The goals are those of a real GPU; this is not one.'
printf '%-48s %10s %9s  %s\n' WHAT GOAL VALUE VERDICT
goals | while read -r line op goal what; do
	found=$(value "$line")
	met=-
	[ "$QUOIT_GPU" != cuda ] || met=$(verdict "$op" "$goal" "${found:--}")
	printf '%-48s %10s %9s  %s\n' "$what" "$op $goal" "${found:--}" "$met"
done
exit $status
