#!/bin/sh
# SPDX-License-Identifier: MIT
# w1.sh BUILD [ROUNDS] - W1 a and f against PyTorch, in turn, in the columns of `quoit bench`
#
# How many times faster than PyTorch on the same two cores, or with QUOIT_GPU=cuda on the same GPU; "-" where it is not
# installed for that, and on a soft device, which it knows nothing of.
set -eu
build=${1:-build} rounds=${2:-5} batches=60
python=${PYTHON:-/usr/bin/python3} torch=cpu lease=
needs='import torch'
case ${QUOIT_GPU-} in
cuda)
	torch=cuda lease='--gpu-lease 1G'
	needs='import torch; torch.zeros(1, device="cuda")'
	export QUOIT_DEVICE=1
	;;
soft*) needs='raise SystemExit(1)' ;;
esac
cd "$(dirname "$0")"/../..
unset QUOIT_SOCKET OPENBLAS_CORETYPE
samples=$(mktemp)
trap 'rm -f "$samples"' EXIT
trap 'exit 130' INT TERM

example() { # PROGRAM ARGUMENT...
	program=$1
	shift
	"$build/quoit" run --lease 256M $lease -- "$build/examples/$program" "$@" 2>/dev/null
}

if ! $python -c "$needs" 2>/dev/null; then
	printf '%s - - ratio\n' w1a/torch w1f/torch w1f_waiting/torch
	exit 0
fi
for round in $(seq "$rounds"); do
	example w1_queue | awk '$1 == "a" { print "w1a", $(NF - 1) / 1000 }'
	printf 'torch_a %s\n' "$($python tests/bench/w1_torch.py queue 10 $torch)"
	example w1_train --batches $batches | awk '
		/waiting for each/ { print "w1f_waiting", $(NF - 3) }
		/at the end only/ { print "w1f", $(NF - 3) }'
	printf 'torch_f %s\n' "$($python tests/bench/w1_torch.py train $batches $torch)"
done >"$samples"

line() { # NAME UNIT VALUE...
	name=$1 unit=$2
	shift 2
	printf '%s\n' "$@" | sort -n | awk -v name="$name" -v unit="$unit" '
		{ value[NR] = $1 }
		END { printf "%-18s %7.4g %7.4g-%.4g %s\n", name, value[int((NR + 1) / 2)],
			value[1], value[NR], unit }'
}
seconds() { # NAME
	awk -v name="$1" '$1 == name { print $2 }' "$samples"
}
ratios() { # PEER OURS: round by round
	awk -v peer="$1" -v ours="$2" '
		$1 == peer { p[++n] = $2 }
		$1 == ours { o[++m] = $2 }
		END { for (i = 1; i <= n; i++) print p[i] / o[i] }' "$samples"
}

printf '%-18s %7s %s\n' NAME MEDIAN SPREAD
for name in w1a torch_a w1f w1f_waiting torch_f; do
	line "$name" s $(seconds "$name")
done
line w1a/torch ratio $(ratios torch_a w1a)
line w1f/torch ratio $(ratios torch_f w1f)
line w1f_waiting/torch ratio $(ratios torch_f w1f_waiting)
