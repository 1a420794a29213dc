#!/bin/sh
# SPDX-License-Identifier: MIT
# gpu_first.sh [RESULTS [SECONDS]] - use the first minutes on a real GPU; the most telling steps
# first
#
# It runs in a folder of gpu_bundle.sh, without network, for at most SECONDS (540).  A step that
# fails or exceeds its limit costs only its own time.  All figures are in the folder RESULTS
# (results) as soon as they are known; table.txt has a line for each step.  QUOIT_GPU=soft tests the
# order on a soft device.
set -u
cd "$(dirname "$0")/.." || exit 2
mkdir -p "${1:-results}" || exit 2
results=$(cd "${1:-results}" && pwd)
begin=$(date +%s)
seconds=${2:-540}
ours=$PWD/lib
export QUOIT_GPU="${QUOIT_GPU:-cuda}" LC_ALL=C
PYTHON=${PYTHON:-$(command -v python3)}
export PYTHON
unset QUOIT_SOCKET
small= # a soft device's lease; a GPU's own default is enough
[ "$QUOIT_GPU" = cuda ] || small=512M
: >"$results/table.txt"

elapsed() { echo $(($(date +%s) - begin)); }
# The command's output goes where the caller sends it; its time and status go into the table.  A
# step for which too little time is left is not begun.  $most is its time limit: the command is one
# of the functions below, which obey it.
step() { # SECONDS-AT-MOST NAME COMMAND...
	most=$1 name=$2
	shift 2
	left=$((seconds - $(elapsed)))
	[ "$left" -gt 8 ] || {
		echo "$name not-begun" >>"$results/table.txt"
		return
	}
	[ "$most" -lt "$left" ] || most=$((left - 3))
	start=$(date +%s)
	echo "==== $name (at $(elapsed) s, at most $most s)" >&2
	"$@"
	status=$?
	echo "$name status=$status seconds=$(($(date +%s) - start))" >>"$results/table.txt"
}
limited() {
	timeout -k 3 "$most" "$@"
}
# The libraries of the machine's toolkit come first.  PyTorch brings its own, and sees neither.
with_ours() {
	limited env LD_LIBRARY_PATH="${blas:+${blas%/*}:}${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$ours" "$@"
}
on_device() { # quoit run's way to a device that may be cold
	with_ours env QUOIT_DEVICE=1 build/quoit run --log warning --start-ms 60000 --lease 256M ${small:+--gpu-lease "$small"} -- "$@"
}

# 1.  Describe the machine.  An open descriptor keeps the driver initialised; otherwise each process
# pays seconds for it.
about() {
	uname -r
	nproc
	ldd --version | head -n 1
	grep -m1 'model name' /proc/cpuinfo
	limited nvidia-smi --query-gpu=name,driver_version,persistence_mode,compute_mode,mig.mode.current,clocks.sm,clocks.max.sm,power.limit,pcie.link.gen.current,pcie.link.width.current --format=csv
	limited nvidia-smi -q -d CLOCK,POWER,COMPUTE,ECC | head -n 60
	cat /sys/kernel/mm/transparent_hugepage/shmem_enabled
	ulimit -a
	cat /sys/bus/pci/devices/*/numa_node | sort | uniq -c | head -n 5
}
step 20 about about >"$results/about.txt" 2>&1 || true
[ ! -e /dev/nvidia0 ] || exec 9</dev/nvidia0

# 2.  Find cuBLAS: where the loader finds it, else a toolkit's, else PyTorch's.  Read it once, so
# that quoitd need not wait for the disk.
find_blas() {
	/sbin/ldconfig -p | awk '/libcublas\.so\.1[23] /{ print $NF }'
	ls /usr/local/cuda*/lib64/libcublas.so.13 /usr/local/cuda*/targets/*/lib/libcublas.so.13 2>/dev/null
	[ "$QUOIT_GPU" != cuda ] || "$PYTHON" -c 'import glob, nvidia
for p in nvidia.__path__: print(*glob.glob(p + "/**/libcublas.so.1[23]", recursive=True), sep="\n")' 2>/dev/null
}
blas=
[ "$QUOIT_GPU" != cuda ] || blas=$(find_blas | head -n 1)
echo "cuBLAS: ${blas:-none}"
[ -z "$blas" ] || step 30 warm-disk limited sh -c 'cat "${0%/*}"/libcublas*.so* >/dev/null' "$blas"

# 3.  Anatomy: each section by itself.
for section in info ring waits launch alloc pin gemm; do
	[ ! -x build/anatomy ] || step 40 "anatomy-$section" with_ours build/anatomy $section >>"$results/anatomy.jsonl"
done

# 4.  Does the driver work at all?
driver_test() { # PROGRAM
	[ "$QUOIT_GPU" != cuda ] || step 40 "gpu-$1" with_ours "build/tests/gpu/$1" build/quoit-cuda.so 8 >"$results/$1.txt" 2>&1
}
driver_test test_streams

# 5.  Through quoitd: one look, one round of figures, W1 beside PyTorch.
step 90 topo on_device build/quoit topo >"$results/topo.txt" 2>&1
grep '^device' "$results/topo.txt"
step 120 bench-1 with_ours build/quoit bench device --rounds=1 --limit=40 --samples="$results/samples.jsonl" 2>&1 | tee "$results/bench-1.txt"
step 60 w1-queue on_device build/examples/w1_queue >"$results/w1_queue.txt" 2>&1
step 60 w1-train on_device build/examples/w1_train --batches 60 >"$results/w1_train.txt" 2>&1
if [ "$QUOIT_GPU" = cuda ]; then
	step 40 torch-queue limited "$PYTHON" tests/bench/w1_torch.py queue 10 cuda >"$results/torch_queue.txt" 2>&1
	step 40 torch-train limited "$PYTHON" tests/bench/w1_torch.py train 60 cuda >"$results/torch_train.txt" 2>&1
fi
for name in w1_queue torch_queue w1_train torch_train; do
	[ ! -s "$results/$name.txt" ] || sed "s/^/$name: /" "$results/$name.txt"
done

# 6.  The other tests, most telling first, then more rounds, while time is left.
for program in test_shapes test_halves test_elementwise; do
	driver_test $program
done
for program in test_device test_direct test_device_queues test_direct_faults test_kernels test_device_faults test_kernel_faults \
	test_device_secrets test_device_reach test_device_cost test_memory_theorem; do
	step 90 "e2e-$program" with_ours env QUOIT_BUILD=build QUOIT_TEST_GPU="$QUOIT_GPU" "build/tests/e2e/$program" --jobs 1 --ascii --color=never >"$results/$program.txt" 2>&1
	tail -n 1 "$results/$program.txt"
done
step 120 bench-3 with_ours build/quoit bench device --rounds=3 --limit=40 --samples="$results/samples.jsonl" >"$results/bench-3.txt" 2>&1
step 120 w1-rounds with_ours env LIMIT_S=30 sh tests/bench/w1.sh build 3 "$results/w1-samples.txt" >"$results/w1.txt" 2>&1
echo '==== table'
cat "$results/table.txt"
