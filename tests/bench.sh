#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh BUILD [ROUNDS] - run every benchmark RUNS times (three) and print the speed table
#
# It prints a line for each goal: name, goal, a value of each run, verdict: met by all, or missed.
# BUILD/bench.md has the same as a table for docs/performance.md.  A value is a median of ROUNDS (each
# benchmark's own number by default), or the ratio of two, measured in turn.  The machine's speed may
# change for seconds or minutes (docs/performance.md), so short benchmarks are repeated after each
# other step, and long ones are run in parts.  The value of a run is the median of its parts.
#
# A missed goal is printed, and is not an error: machines differ.  The exit status is 1 only if a
# benchmark breaks.
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
runs=$(seq "${RUNS:-3}")

# step, line of its output, <= or >=, goal, description
goals() {
	cat <<-'END'
		nop nop_1/floor <= 1.4 a NOP and back, times the floor
		nop nop_1/sqpoll <= 1 a NOP and back, times io_uring SQPOLL
		nop nop_256_rate/floor >= 0.55 NOPs a second, 256 in flight, of the floor
		nop nop_256_rate/sqpoll >= 1 NOPs a second, 256 in flight, of SQPOLL
		phases phases_1/bare <= 1.04 a NOP and back, times one without timed phases
		phases phases_256/bare <= 1.04 a NOP, 256 in flight, times one without them
		trace recorded_1/not <= 1.10 a NOP and back, recorded, times one that is not
		trace recorded_256_rate/not >= 0.7 NOPs a second, 256 in flight, recorded, of not
		submit submit/floor_write <= 3 submit side of a job, times a bare write
		addition chain/floor <= 10 x = x + 1, window 192, times a request of the floor
		chain chain/numpy <= 0.1 x = x + 1, times NumPy
		chain chain/torch <= 0.05 x = x + 1, times PyTorch
		gemm gemm_1/blas >= 0.95 GEMM 1000, one core, of the best BLAS
		gemm gemm_2/blas >= 0.95 GEMM 1000, two cores, of the best BLAS
		beside gemm_beside/blas <= 1.1 GEMM 1000 beside own busy threads, times the BLAS there
		ops add/c <= 0.75 4096 x 1024: x + y, times a loop in C
		ops add_row/c <= 0.75 x + a row
		ops add_column/c <= 0.75 x + a column
		ops compare/c <= 0.75 x > y
		ops cast/c <= 0.75 int32 to float32
		ops exp/c <= 0.75 exp(x)
		ops abs/c <= 0.75 absolute value
		ops pow/c <= 0.75 x to the power y
		ops floor/c <= 0.75 floor(x)
		ops copy_inner/c <= 0.75 an inner view copied
		ops transpose/c <= 0.75 transposed
		ops roll/c <= 0.75 rows rolled by 3
		ops gather/c <= 0.75 rows gathered
		ops sum/c <= 0.75 sum of all
		ops sum_rows/c <= 0.75 sums along rows
		ops sum_columns/c <= 0.75 sums along columns
		ops prod_rows/c <= 0.75 products along rows
		ops amax_columns/c <= 0.75 the largest along columns
		ops amin_columns/c <= 0.75 the smallest along columns
		ops argmax_rows/c <= 0.75 argmax along rows
		ops argmin_rows/c <= 0.75 argmin along rows
		ops dot/c <= 0.75 dot product
		ops axpy/c <= 0.75 N x 1 times 1 x 1, added
		ops gemm_f64_rate/blas >= 0.95 float64 1024, two cores, of the best BLAS
		ops gemm_f64_1536_rate/blas >= 0.95 float64 1536, two cores, of the best BLAS
		ops gemv_f64/blas <= 1.1 matrix x vector, float64 2048, times the BLAS
		ops gemv_f64_1000/blas <= 1.1 matrix x vector, float64 1000, times the BLAS
		ops gemv_f32/blas <= 1.1 matrix x vector, float32 2048, times the BLAS
		ops gemm_thin/blas <= 1.1 8 x 2048 x 2048, float32, times the BLAS
		w1 w1a/torch >= 1.4 W1 a: ten products of random matrices, of PyTorch
		w1 w1f/torch >= 1.5 W1 f: training, waiting at the end, of PyTorch
		w1 w1f_waiting/torch >= 1.5 W1 f: training, waiting for each loss, of PyTorch
		w1 w1f_beside/torch >= 0.91 W1 f beside two endless loops, of PyTorch
		randn randn/torch,randn/numpy >= 3 normal numbers, one core, of PyTorch, else NumPy
		wake wake_p99/idle <= 3 p99 of a NOP beside a flood of GEMM, of idle
		wake wake_flood_kept >= 0.9 what the flood keeps of its rate
		shares inline_off <= 5 a reactor, shares 1:3, off by so many %
		shares inline_crowd_off <= 5 the same, with 1,000 connections of one
		shares tiles_off <= 5 tiles, shares 1:3, off by so many %
		shares tiles_crowd_off <= 5 the same, with 1,000 connections of one
		shares p99/idle <= 3 p99 of a NOP beside another user's longest jobs
		shares kept >= 0.85 what these keep of their rate
		neighbours ring_20000/alone <= 2 a NOP beside 20,000 watches of a ring's socket
		neighbours ring_200000/alone <= 2 the same, 200,000
		neighbours control_20000/alone <= 2 beside 20,000 watches of a control socket
		neighbours control_200000/alone <= 2 the same, 200,000
		neighbours ending_1000/before <= 1.2 beside 1,000 sessions with work, ended, of not
		call call/nop <= 3 a call of an empty function by the thread that waits, times a NOP
		call call_lane/handovers <= 1.5 the same by another thread, times two hand-overs by futex
		call calls_256/addition <= 6 calls, one lane, 256 in flight, times x = x + 1
		call hypot/openmp <= 1.1 hypot of 10^6 numbers in pieces, times OpenMP
		starpu calls_256_rate/starpu >= 5 calls, one lane, 256 in flight, of StarPU's empty tasks
		starpu calls_in_order_rate/starpu >= 1 the same, each waits for the one before
		cholesky cholesky/dpotrf <= 1.05 Cholesky 2048 in tiles, own potrf, trsm and syrk, times dpotrf
		service call_service/handovers <= 1.5 a call of another process, times two hand-overs by futex
		service nop_beside/nop <= 1.01 a NOP beside an idle service and an idle team, of alone
		service addition_beside/addition <= 1.01 the same, x = x + 1
		sync lock_unlock/nop <= 2.5 LOCK and UNLOCK as jobs, times a NOP
		sync last/section_8 <= 1.1 a lock that 8 processes want, the process that gets it least, times the mean
		sync barrier_8/pthread <= 3 a barrier of 8 processes on 2 cores, times pthread_barrier in shared memory
		queue pipe_64/queue_64 >= 5 64 bytes to another process, in a row, by a pipe, times a queue
		queue mq_64/queue_64 >= 5 the same by a POSIX message queue, times a queue
		queue pipe_64/rows_64 >= 5 64 bytes by a pipe, each alone, times rows of 256 by a queue
		queue mq_64/rows_64 >= 5 the same by a POSIX message queue, times rows by a queue
		queue pipe_1m/queue_1m >= 5 1 MiB to another process by a pipe, times a queue
		queue pipe_1m/moved_1m >= 5 the same, times a slot of a tensor whose number a queue carries
		queue moved_16m/64k <= 1.2 a slot of 16 MiB, times one of 64 KiB
		keyspace put_job/nop <= 2.5 a key's value put by a job, times a NOP
		keyspace get_job/nop <= 2.5 a key's value got by a job, times a NOP
		keyspace put/nop <= 5 a key's value put by a plain call, times a NOP
		keyspace get/nop <= 5 a key's value got by a plain call, times a NOP
		sampler one_after_the_other/beside >= 1.6 a sampler that measures after each step, times one that goes on meanwhile
		event rings_2/rings_1 <= 1.05 products on two rings by turns, times one ring
		syscalls syscalls <= 100 system calls of a million NOPs, both sides
		syscalls syscalls_waiter <= 100 of a million calls by the thread that waits, both sides
		syscalls syscalls_lane <= 100 of a million calls by a lane, with a CPU for each side
		syscalls syscalls_service <= 100 of a million calls of a service, with a CPU for each side
		idle idle_cpu <= 0.5 quoitd with 100 idle sessions, % of a core
		crowd crowd_66/one <= 1.1 an addition and back beside 66 idle sessions, of alone
		crowd crowd_500/one <= 1.1 the same, 500
		crowd crowd_2000/one <= 1.1 the same, 2,000
		crowd crowd_66/64 <= 1.1 bursts of 64 beside 66 idle sessions, of alone
		crowd crowd_500/64 <= 1.1 the same, 500
		crowd crowd_2000/64 <= 1.1 the same, 2,000
		crowd crowd_66/64_100us <= 1.1 100 us between, 66 idle sessions
		crowd crowd_500/64_100us <= 1.1 the same, 500
		crowd crowd_2000/64_100us <= 1.1 the same, 2,000
		crowd crowd_66/64_1ms <= 1.1 1 ms between, 66 idle sessions
		crowd crowd_500/64_1ms <= 1.1 the same, 500
		crowd crowd_2000/64_1ms <= 1.1 the same, 2,000
		crowd crowd_66/5000_1ms <= 1.1 bursts of 5000, ring of 64, 66 idle sessions
		crowd crowd_500/5000_1ms <= 1.1 the same, 500
		crowd crowd_2000/5000_1ms <= 1.1 the same, 2,000
		tools ps/ps <= 1 quoit ps, 50 sessions, times ps u of the PIDs
		tools top_cpu <= 1 quoit top at 10 Hz, 100 sessions, % of a core
		tools top_rss <= 16 quoit top, the same: MiB of memory
	END
}

# the steps of a run, in this order; "quick" follows each of them
steps='gemm phases w1 beside wake gemm trace chain wake randn ops gemm crowd syscalls idle shares neighbours call service sync queue keyspace event cholesky starpu sampler wake tools'
quick='nop submit addition'

measure() { # STEP
	case $1 in
	w1) sh tests/bench/w1.sh "$build" ${rounds:+"${rounds#--rounds=}"} ;;
	phases | trace | tools | beside | cholesky | starpu | sampler) sh "tests/bench/$1.sh" "$build" ;;
	addition) "$build/quoit" bench chain --only quoit_addition,floor_256 ${rounds:---rounds=7} ;;
	chain) "$build/quoit" bench chain --only quoit_addition,numpy_addition,torch_addition $rounds ;;
	nop | submit | gemm) "$build/quoit" bench "$1" ${rounds:---rounds=5} ;;
	shares | neighbours) [ "$(id -u)" -ne 0 ] || QUOIT_BUILD=$build "$build/quoit-$1" ${rounds:+"${rounds#--rounds=}"} ;;
	wake) "$build/quoit" bench wake ${rounds:---rounds=3} ;;
	*) "$build/quoit" bench "$1" $rounds ;;
	esac
}

for run in $runs; do
	part=0
	for step in $(printf '%s\n' $steps | sed "s/\$/ $quick/"); do
		part=$((part + 1))
		measure "$step" >"$results/$step.$run.$part" && continue
		echo "bench.sh: $step has failed in run $run" >&2
		status=1
	done
done

# Of several lines, separated by commas, take the first that the benchmark printed; the median of
# its parts.
value() { # STEP LINES RUN
	for line in $(echo "$2" | tr , ' '); do
		cat "$results/$1.$3".* | awk -v line="$line" '$1 == line { print $2 }' | sort -g >"$results/parts"
		[ -s "$results/parts" ] || continue
		awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }' "$results/parts"
		return
	done
}

# shellcheck disable=SC2086
table() {
	printf '%-52s %9s' WHAT GOAL
	printf ' %9s' $(for run in $runs; do echo "RUN$run"; done)
	echo '  VERDICT'
	{
		echo '| what | goal | runs | |'
		echo '|---|---|---|---|'
	} >"$build/bench.md"
	goals | while read -r step line op goal what; do
		values=$(for run in $runs; do v=$(value "$step" "$line" "$run"); echo "${v:--}"; done)
		verdict=$(verdict "$op" "$goal" $values)
		printf '%-52s %9s' "$what" "$op $goal"
		printf ' %9s' $values
		echo "  $verdict"
		echo "| $what | $op $goal | $(echo $values | sed 's/ /, /g') | $verdict |" | sed 's/<=/≤/; s/>=/≥/' >>"$build/bench.md"
	done
}
table
exit $status
