#!/bin/sh
# SPDX-License-Identifier: MIT
# w1.sh BUILD [ROUNDS [FILE]] - compare W1 a and f with PyTorch, in turn, in the columns of `quoit
# bench`
#
# On cores it also measures W1 f while another program, two endless loops, takes the cores.
#
# The ratios say how many times faster Quoit is than PyTorch on the same two cores, or with
# QUOIT_GPU=cuda on the same GPU.  "-": PyTorch is not installed for that; a soft device has none.
# PyTorch belongs to the first of $PYTHON, python3 on the PATH and /usr/bin/python3 that has it for
# this device.  Every sample is a line "NAME SECONDS" of FILE as soon as it is taken.  A program
# that fails, or takes longer than LIMIT_S seconds (300), costs only its own sample.
set -u
build=${1:-build} rounds=${2:-5} batches=60 beside=20 limit_s=${LIMIT_S:-300}
torch=cpu lease=
needs='import torch'
case ${QUOIT_GPU-} in
cuda)
	torch=cuda lease='--start-ms 60000'
	needs='import torch; torch.zeros(1, device="cuda")'
	export QUOIT_DEVICE=1
	;;
soft*) needs='raise SystemExit(1)' ;;
esac
cd "$(dirname "$0")"/../.. || exit 1
unset QUOIT_SOCKET OPENBLAS_CORETYPE
work=$(mktemp -d) || exit 1
trap 'exit 130' INT TERM
samples=${3:-$work/samples}
: >"$samples" || exit 1

find_torch() {
	for candidate in ${PYTHON:+"$PYTHON"} "$(command -v python3)" /usr/bin/python3; do
		timeout "$limit_s" "$candidate" -c "$needs" 2>/dev/null || continue
		echo "$candidate"
		return
	done
}
example() { # PROGRAM ARGUMENT...
	program=$1
	shift
	# shellcheck disable=SC2086 # options
	timeout "$limit_s" "$build/quoit" run --lease 256M $lease -- "$build/examples/$program" "$@" 2>"$work/said" && return
	echo "w1.sh: $program has failed: $(tail -n 1 "$work/said")" >&2
}
torch() { # NAME WORK COUNT
	seconds=$(timeout "$limit_s" "$python" tests/bench/w1_torch.py "$2" "$3" "$torch") && echo "$1 $seconds"
}

loops=
begin_loops() {
	for _ in 1 2; do
		while :; do :; done &
		loops="$loops $!"
	done
}
end_loops() {
	# shellcheck disable=SC2086 # two
	[ -z "$loops" ] || kill $loops
	loops=
}
trap 'end_loops; rm -rf "$work"' EXIT

# On a GPU, Quoit's own figures are useful without a peer.
python=$(find_torch)
if [ -z "$python" ] && [ "$torch" = cpu ]; then
	printf '%s - - ratio\n' w1a/torch w1f/torch w1f_waiting/torch w1f_beside/torch
	exit 0
fi
for _ in $(seq "$rounds"); do
	example w1_queue | awk '$1 == "a" { print "w1a", $(NF - 1) / 1000 }' >>"$samples"
	[ -z "$python" ] || torch torch_a queue 10 >>"$samples"
	example w1_train --batches $batches | awk '
		/waiting for each/ { print "w1f_waiting", $(NF - 3) }
		/at the end only/ { print "w1f", $(NF - 3) }' >>"$samples"
	[ -z "$python" ] || torch torch_f train $batches >>"$samples"
	[ "$torch" = cpu ] || continue
	begin_loops
	example w1_train --batches $beside | awk '/at the end only/ { print "w1f_beside", $(NF - 3) }' >>"$samples"
	torch torch_f_beside train $beside >>"$samples"
	end_loops
done

line() { # NAME UNIT: of the values on standard input
	sort -n | awk -v name="$1" -v unit="$2" '
		{ value[NR] = $1 }
		END {
			if (!NR)
				printf "%-18s       - - %s\n", name, unit
			else
				printf "%-18s %7.4g %7.4g-%.4g %s\n", name, value[int((NR + 1) / 2)],
					value[1], value[NR], unit
		}'
}
seconds() { # NAME
	awk -v name="$1" '$1 == name { print $2 }' "$samples"
}
ratios() { # PEER OURS: round by round
	awk -v peer="$1" -v ours="$2" '
		$1 == peer { p[++n] = $2 }
		$1 == ours { o[++m] = $2 }
		END { for (i = 1; i <= n && i <= m; i++) print p[i] / o[i] }' "$samples"
}

printf '%-18s %7s %s\n' NAME MEDIAN SPREAD
for name in w1a torch_a w1f w1f_waiting torch_f w1f_beside torch_f_beside; do
	seconds $name | line $name s
done
ratios torch_a w1a | line w1a/torch ratio
ratios torch_f w1f | line w1f/torch ratio
ratios torch_f w1f_waiting | line w1f_waiting/torch ratio
ratios torch_f_beside w1f_beside | line w1f_beside/torch ratio
