#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh [--torture | --fuzz] - build in four ways, run every test that needs no GPU
#
# The builds: plain, by clang (not run), with ASan and UBSan, and with TSan (torture programs, which
# also run plain).  A runner's result is its exit status and its last summary line, Criterion's or
# "N passed, N failed, N skipped".
cd "$(dirname "$0")/.." || exit 1
mode=${1:-}
logs=build/check
passed=0 failed=0 skipped=0
mkdir -p $logs
rm -f $logs/*
export LC_ALL=C WERROR=1 # a warning fails what builds
unset OPENBLAS_CORETYPE QUOIT_SOCKET

later= # the process that builds beside tests
trap '[ -z "$later" ] || kill "$later" 2>/dev/null' EXIT
trap 'exit 1' INT TERM

end() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

flat() { # NAME: as that of a file
	printf '%s' "$1" | tr '/ ' '__'
}

number() { # WORD LINE: the number before " WORD"
	printf '%s\n' "$2" | sed -n "s/.*[^0-9]\{0,1\}\b\([0-9][0-9]*\) $1.*/\1/p"
}

# Count a runner's summary; a runner without one counts as one test.
tally() { # STATUS LOG
	line=$(grep -aE 'Synthesis: Tested: [0-9]|^[0-9]+ passed, [0-9]+ failed' "$2" | tail -n 1)
	case $line in
	*Synthesis*)
		p=$(printf '%s' "$line" | sed 's/.*Passing: \([0-9]*\).*/\1/')
		f=$(printf '%s' "$line" | sed 's/.*Failing: \([0-9]*\).*/\1/')
		c=$(printf '%s' "$line" | sed 's/.*Crashing: \([0-9]*\).*/\1/')
		f=$((f + c)) s=$(grep -ac '^\[SKIP\]' "$2") # which Criterion leaves out of its sums
		;;
	*passed*)
		p=$(number passed "$line") f=$(number failed "$line") s=$(number skipped "$line")
		;;
	*)
		p=1 f=0 s=0
		[ "$1" -ne 77 ] || { p=0 s=1; }
		;;
	esac
	if [ "$1" -ne 0 ] && [ "$1" -ne 77 ] && [ "${f:-0}" -eq 0 ]; then
		f=1
		[ "$p" -ne 1 ] || p=0
	fi
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
}

log_of() { # NAME
	printf '%s' "$logs/$(flat "$1").log"
}

# Begin a test in the background; `outcome NAME` waits for it and tells its result.
begin() { # NAME COMMAND...
	log=$(log_of "$1")
	shift
	{
		start=$(date +%s)
		"$@" >"$log" 2>&1
		status=$?
		times >"$log.times" # of what has ended; a subshell would tell its own
		cpu=$(awk -F '[ms ]' 'NR == 2 { print int($1 * 60 + $2 + $4 * 60 + $5) }' "$log.times")
		echo "$status $(($(date +%s) - start)) $cpu" >"$log.end.new"
		mv "$log.end.new" "$log.end"
	} &
}

run() { # NAME COMMAND...
	begin "$@"
	wait $!
	outcome "$1"
}

# Run tests that need no quiet machine three at a time.
beside= # a line for each, the oldest first
run_beside() { # NAME COMMAND...
	begin "$@"
	beside=$(printf '%s\n%s' "$beside" "$1" | sed '/^$/d')
	[ "$(printf '%s\n' "$beside" | wc -l)" -lt 3 ] || end_oldest
}

end_oldest() {
	oldest=$(printf '%s\n' "$beside" | head -n 1)
	beside=$(printf '%s\n' "$beside" | tail -n +2)
	outcome "$oldest"
}

# Wait for those in the background.
end_beside() {
	while [ -n "$beside" ]; do
		end_oldest
	done
}

# Tests that are held to a time, or to what happens within one, run alone while nothing is built.
needs_quiet() { # TEST
	case $1 in
	*/test_placed | */test_hostile_device | */test_stats | */test_trace* | */test_latency) ;;
	build/tsan/*_torture | */hostile_wake | */hostile_neighbours) ;;
	*) counts_time "$1" ;;
	esac
}
# Of them, those that measure the work of a core over time run in the shipped build only.
counts_time() { # TEST
	case $1 in
	*/test_figures | */test_probes | */test_fair_shares) ;;
	*) false ;;
	esac
}

# These wait for a minute and more; what they run is also run by other tests, which do so with
# sanitizers, too.
long_waits='test_watchdog test_exporter_alerts'
waits_long() { # TEST
	case " $long_waits " in
	*" $(basename "$1") "*) ;;
	*) false ;;
	esac
}

await_end() { # NAME
	until [ -e "$(log_of "$1").end" ]; do
		sleep 0.1
	done
}

outcome() { # NAME: once it has ended
	name=$1
	log=$(log_of "$name")
	await_end "$name"
	read -r status seconds cpu <"$log.end"
	# Sanitizers of child processes write here; any report is a failure.
	if ls "$log".san.* >/dev/null 2>&1; then
		cat "$log".san.* >>"$log"
		[ $status -ne 0 ] || status=99
	fi
	before=$failed
	tally $status "$log"
	if [ "$failed" -ne "$before" ]; then
		printf '  FAIL    %s (status %s)\n' "$name" "$status"
		# Show failed assertions first: a sanitizer's report behind them may be long.
		grep -a -A 3 'Assertion Failed' "$log" | head -n 20 | sed 's/^/          /'
		grep -av -e '^\[RUN ' -e '^\[PASS\]' "$log" | tail -n 40 | sed 's/^/          /'
	elif [ $status -eq 77 ]; then
		printf '  skipped %s: %s\n' "$name" "$(tail -n 1 "$log" | sed 's/^skipped: //')"
	else
		printf '  ok      %s  %ss, %ss of CPU\n' "$name" "$seconds" "$cpu"
	fi
	sed -n -e 's/^\[SKIP\] /          skipped /p' -e 's/^  skipped  /          skipped /p' "$log"
}

sanitized() { # HOW NAME COMMAND...: run or run_beside it with sanitizers' reports in files of their own
	how=$1
	shift
	san=$(log_of "$1").san
	ASAN_OPTIONS=log_path=$PWD/$san:handle_segv=0:handle_sigbus=0:detect_leaks=1 \
		UBSAN_OPTIONS=log_path=$PWD/$san:halt_on_error=1:print_stacktrace=1 \
		TSAN_OPTIONS=log_path=$PWD/$san:halt_on_error=1:atexit_sleep_ms=0 "$how" "$@"
}

built() { # NAME STATUS: without it the rest is nothing
	if [ "$2" -ne 0 ]; then
		printf '  FAIL    build %s\n' "$1"
		tail -n 40 "$logs/make_$1.log"
		failed=$((failed + 1))
		end
	fi
	printf '  ok      build %s\n' "$1"
}

build() { # NAME FOLDER TARGET...
	name=$1 dir=$2
	shift 2
	make -j2 --no-print-directory B="$dir" "$@" >"$logs/make_$name.log" 2>&1
	built "$name" $?
}

# Build later steps beside the tests, at idle priority: tests wait during half of their time.
# Lines: NAME FOLDER SANITIZERS TARGET...; "-" means no sanitizers.
build_later() { # TEST: nothing is built in folder `build` before it has ended
	trap 'kill "$making"; exit' TERM
	while read -r name dir san targets; do
		[ "$dir" != build ] || await_end "$1"
		# shellcheck disable=SC2086
		chrt --idle 0 timeout 3600 make -j2 --no-print-directory B="$dir" SAN="${san#-}" $targets \
			>"$logs/make_$name.log" 2>&1 </dev/null &
		making=$!
		wait $making
		echo $? >"$logs/built_$name"
	done
}

await_build() { # NAME
	while [ ! -s "$logs/built_$1" ]; do
		sleep 1
	done
	built "$1" "$(cat "$logs/built_$1")"
}

tests_of() { # FOLDER KIND
	for source in tests/"$2"/*.c; do
		program=$1/tests/$2/$(basename "$source" .c)
		[ ! -x "$program" ] || echo "$program"
	done
}

# TIMES=n make torture: n times as many tries of every case.
torture_arg=--short times=1
if [ "$mode" = --torture ]; then
	times=${TIMES:-1}
	torture_arg=--full=$times
fi

if [ "$mode" = --fuzz ]; then
	build fuzz build/fuzz fuzzers CC=clang
	for f in build/fuzz/fuzz/*; do
		run "fuzz $(basename "$f")" timeout 7200 "$f" -error_exitcode=70 -max_total_time="${FUZZ_SECONDS:-3600}"
	done
	end
fi

run lint sh tests/lint.sh
run deps sh tests/check_deps.sh
run model sh tests/model/run.sh

# Code of the other architectures is made later, less optimized: it is never run.
cuda_archs=CUDA_ARCHS=90
build plain build shipped-tests $cuda_archs
for t in $(tests_of build e2e); do
	! needs_quiet "$t" || QUOIT_BUILD=build run "$t" timeout 600 "$t" --ascii --verbose
done
run gpu sh tests/gpu.sh build # it builds in that folder, too
build_later bundle <<END &
asan build/asan address,undefined tests
deb build - cuda_home= deb
emulator build - emulator
tsan build/tsan thread torturers
fuzz build/fuzz - CC=clang fuzzers
clang build/clang - CC=clang CFLAGS=-O0 lto= CUDA_KERNELS=build all
all-archs build/all-archs - $([ -e build/quoit-cuda.so ] && echo cuda-other-archs || echo cuda-left-out) $cuda_archs
END
later=$!
run bundle sh tests/bundle.sh build
for t in $long_waits; do
	QUOIT_BUILD=build begin build/tests/e2e/"$t" timeout 600 build/tests/e2e/"$t" --ascii --verbose
done
for t in $(tests_of build unit); do
	case $t in
	*/test_ops_*) run_beside "$t" timeout 600 "$t" --ascii --verbose ;;
	esac
done
for t in $(tests_of build e2e); do
	waits_long "$t" || needs_quiet "$t" || QUOIT_BUILD=build run_beside "$t" timeout 600 "$t" --ascii --verbose
done
# If a device's streams write no words, quoit-exec polls events.
for t in test_device test_device_queues test_device_pairs test_direct; do
	QUOIT_BUILD=build QUOIT_SOFT_FAULTS=silent run_beside "$t by events" timeout 600 build/tests/e2e/$t --ascii --verbose
done
end_beside
for t in $long_waits; do
	outcome build/tests/e2e/"$t"
done
run growth sh tests/growth.sh build
run 'demo on a soft device' env QUOIT_GPU=soft DEMO_BATCHES=10 timeout 300 sh tests/demo.sh build
run manual sh tests/manual.sh build
run pages sh tests/pages.sh build
run probes sh tests/probes.sh build
run completion sh tests/completion.sh build
run install sh tests/install.sh
run units sh tests/units.sh
begin systemd sh tests/vm/systemd.sh build # mostly a machine with one CPU, for minutes
run abi sh tests/abi.sh
run languages sh tests/languages.sh build
run new_operation sh tests/new_operation.sh
run aarch64 sh tests/aarch64.sh build
run licences sh tests/licences.sh build
await_build emulator
run 'gpu, emulated' sh tests/gpu.sh build --emulated
outcome systemd
run placement sh tests/vm/placement.sh build
run top sh tests/top.sh build
await_build deb
run packages sh tests/packages.sh build fresh

await_build asan
for t in $(tests_of build/asan unit); do
	QUOIT_BUILD=build/asan sanitized run_beside "$t" timeout 900 "$t" --ascii --verbose
done
end_beside
in_quiet= # at the end
for t in $(tests_of build/asan e2e); do
	! waits_long "$t" || continue
	if ! needs_quiet "$t"; then
		QUOIT_BUILD=build/asan sanitized run_beside "$t" timeout 900 "$t" --ascii --verbose
	elif ! counts_time "$t"; then
		in_quiet="$in_quiet $t"
	fi
done
end_beside

await_build tsan
for t in $(tests_of build/tsan torture); do
	case $mode:$t in
	*/fail_calls) continue ;;         # stands between quoitd and libc, where TSan must be alone
	:*/hostile_neighbours) continue ;; # it measures times: it runs plain
	esac
	if needs_quiet "$t"; then
		in_quiet="$in_quiet $t"
	else
		QUOIT_BUILD=build/tsan sanitized run_beside "$t" timeout $((3000 * times)) "$t" $torture_arg
	fi
done
end_beside
for name in fail_calls hostile_contents; do # the latter: what lies around an operand
	t=build/asan/tests/torture/$name
	QUOIT_BUILD=build/asan sanitized run $t timeout $((3000 * times)) $t $torture_arg
done
# Only without a sanitizer can quoitd's memory be counted, is libquoit the shipped one, and is there
# time for a ring's indices to wrap around.
for t in $(tests_of build torture); do
	case $mode:$t in
	--torture:* | */hostile_neighbours) ;;
	*_torture | */hostile_kernel* | */hostile_wake) continue ;; # slow ones
	esac
	if needs_quiet "$t"; then
		in_quiet="$in_quiet $t"
	else
		QUOIT_BUILD=build run_beside "$t" timeout $((3000 * times)) "$t" $torture_arg
	fi
done
end_beside

# MUTANTS=n make torture: try so many small faults of the sources, and say how many were noticed.
if [ "$mode" = --torture ]; then
	run mutants python3 tests/mutants/mutants.py --count="${MUTANTS:-40}"
	sed -n 's/^[0-9]* of [0-9]* faults/          &/p' "$(log_of mutants)"
fi

await_build fuzz
for f in build/fuzz/fuzz/*; do
	run_beside "fuzz $(basename "$f")" timeout 300 "$f" -error_exitcode=70 -seed=1 -len_control=0 \
		-runs=200000 -max_total_time=20
done
end_beside
await_build clang
await_build all-archs
for t in $in_quiet; do
	case $t in
	build/asan/*) QUOIT_BUILD=build/asan sanitized run "$t" timeout 900 "$t" --ascii --verbose ;;
	build/tests/*) QUOIT_BUILD=build run "$t" timeout $((3000 * times)) "$t" $torture_arg ;;
	*) QUOIT_BUILD=build/tsan sanitized run "$t" timeout $((3000 * times)) "$t" $torture_arg ;;
	esac
done
end
