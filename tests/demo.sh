#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh BUILD - run the workloads of W1 with a private daemon, and print one table
set -eu
b=${1:-build}
unset QUOIT_SOCKET
# With QUOIT_GPU=soft or cuda the tensors are on the first device.
[ -z "${QUOIT_GPU-}" ] || export QUOIT_DEVICE=1
table=$(mktemp)
trap 'rm -f "$table"' EXIT

step() { # TEXT PROGRAM [ARGUMENT...]
	text=$1 program=$2
	shift 2
	printf "%s ...\n" "$text" >&2
	"$b/quoit" run --lease 256M --gpu-lease 512M -- "$b/examples/$program" "$@" >>"$table"
}

echo 'W1 is the workload of this demo: products, small additions and a training, in parts a to g.' >&2
step 'W1 a-d: operations go into a queue, the program goes on' w1_queue
step 'W1 e: a thousand small additions' w1_adds
step 'W1 f: training, with and without waiting' w1_train --batches "${DEMO_BATCHES:-150}"
step 'W1 g: a window of two batches' w1_window
[ -z "${QUOIT_DEVICE-}" ] || step 'W1 g: cores and a device at once' w1_both
[ -z "${QUOIT_DEVICE-}" ] || step 'A kernel of its own' stencil
echo
cat "$table"
