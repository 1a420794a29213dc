#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh BUILD [ROUNDS] - run every benchmark three times and print the speed table
#
# A line for each goal: what, goal, the three values, verdict: met by all three, or missed.  A value is a median of
# ROUNDS (each benchmark's own number by default) or the ratio of two, measured in turn.
# A goal that is missed is printed, and is no error: machines differ.  The exit status is
# 1 only when a benchmark breaks.
cd "$(dirname "$0")/.." || exit 2
# shellcheck source=tests/bench/verdict.sh
. tests/bench/verdict.sh
build=${1:-build}
rounds=${2:+--rounds=$2}
results=$(mktemp -d) || exit 2
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE QUOIT_SOCKET
export LC_ALL=C
status=0

# benchmark, line of its output, <= or >=, goal, what it is
goals() {
	cat <<-'END'
		nop nop_1/floor <= 1.4 a NOP and back, times the floor
		nop nop_1/sqpoll <= 1 a NOP and back, times io_uring SQPOLL
		nop nop_256_rate/floor >= 0.55 NOPs a second, 256 in flight, of the floor
		nop nop_256_rate/sqpoll >= 1 NOPs a second, 256 in flight, of SQPOLL
		legs legs_1/bare <= 1.05 a NOP and back, times one without timed legs
		legs legs_256/bare <= 1.05 a NOP, 256 in flight, times one without them
		trace recorded_1/not <= 1.15 a NOP and back, recorded, times one that is not
		trace recorded_256_rate/not >= 0.7 NOPs a second, 256 in flight, recorded, of not
		submit submit/floor_write <= 3 submit side of a job, times a bare write
		chain chain/floor <= 10 x = x + 1, window 192, times a request of the floor
		chain chain/numpy <= 0.1 x = x + 1, times NumPy
		chain chain/torch <= 0.05 x = x + 1, times PyTorch
		gemm gemm_1/blas >= 0.95 GEMM 1000, one core, of the best BLAS
		gemm gemm_2/blas >= 0.95 GEMM 1000, two cores, of the best BLAS
		w1 w1a/torch >= 1.4 W1 a: ten products of random matrices, of PyTorch
		w1 w1f/torch >= 1.5 W1 f: training, waiting at the end, of PyTorch
		w1 w1f_waiting/torch >= 1.5 W1 f: training, waiting for each loss, of PyTorch
		randn randn/torch,randn/numpy >= 3 normal numbers, one core, of PyTorch, else NumPy
		wake wake_p99/idle <= 3 p99 of a NOP beside a flood of GEMM, of idle
		wake wake_flood_kept >= 0.9 what the flood keeps of its rate
		syscalls syscalls <= 100 system calls of a million NOPs, both sides
		idle idle_cpu <= 0.5 quoitd with 100 idle sessions, % of a core
		tools ps/ps <= 1 quoit ps, 50 sessions, times ps u of the PIDs
		tools top_cpu <= 1 quoit top at 10 Hz, 100 sessions, % of a core
		tools top_rss <= 16 quoit top, the same: MiB of memory
	END
}

measure() { # BENCHMARK
	if [ "$1" = w1 ]; then
		sh tests/bench/w1.sh "$build" ${rounds:+"${rounds#--rounds=}"}
	elif [ -e "tests/bench/$1.sh" ]; then
		sh "tests/bench/$1.sh" "$build"
	else
		"$build/quoit" bench "$1" $rounds
	fi
}

for run in 1 2 3; do
	for bench in $(goals | cut -d' ' -f1 | uniq); do
		measure "$bench" >"$results/$bench.$run" && continue
		echo "bench.sh: $bench has failed in run $run" >&2
		status=1
	done
done

# Of several lines, by commas, the first that the benchmark could give.
value() { # BENCHMARK LINES RUN
	awk -v lines="$2" '{ value[$1] = $2 }
		END { n = split(lines, line, ","); for (i = 1; i <= n; i++) if (line[i] in value) { print value[line[i]]; exit } }' \
		"$results/$1.$3"
}

printf '%-46s %9s %9s %9s %9s  %s\n' WHAT GOAL RUN1 RUN2 RUN3 VERDICT
goals | while read -r bench line op goal what; do
	a=$(value "$bench" "$line" 1) b=$(value "$bench" "$line" 2) c=$(value "$bench" "$line" 3)
	printf '%-46s %9s %9s %9s %9s  %s\n' "$what" "$op $goal" "${a:--}" "${b:--}" "${c:--}" \
		"$(verdict "$op" "$goal" "$a" "$b" "$c")"
done
exit $status
