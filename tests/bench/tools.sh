#!/bin/sh
# SPDX-License-Identifier: MIT
# tools.sh BUILD [PAIRS] - measure the cost of the tools
#
# `quoit ps` of 50 sessions is compared with `ps u -p` of the same processes, in turn: the median of
# PAIRS ratios (21), and their spread.  `quoit top` runs ten times a second with 100 sessions of as
# many processes; the kernel counts its time.  A fifth of the processes work.
build=$1
pairs=${2:-21}
part=${3:-}
runs=10 # of a program for one time: reading the clock takes a program, too
seconds=10
unset COLUMNS LINES

nanoseconds() { # COMMAND...: of so many runs
	start=$(date +%s%N)
	for _ in $(seq $runs); do
		"$@" >/dev/null || return
	done
	echo $(($(date +%s%N) - start))
}

time_ps() {
	command -v ps >/dev/null || {
		echo 'ps/ps - - ratio'
		return
	}
	for pair in $(seq "$pairs"); do
		if [ $((pair % 2)) -eq 0 ]; then
			ours=$(nanoseconds "$build/quoit" ps) theirs=$(nanoseconds ps u -p "$CROWD")
		else
			theirs=$(nanoseconds ps u -p "$CROWD") ours=$(nanoseconds "$build/quoit" ps)
		fi
		echo "$ours $theirs"
	done | awk -v pairs="$pairs" -v names=ps/ps -f tests/bench/ratios.awk
}

ticks() { # PID: of CPU time
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

# Run it on a terminal of 120 by 40, and measure from its second second on.
watch_top() {
	pid_file=$(mktemp) || return
	script -qc "stty cols 120 rows 40; echo \$\$ >'$pid_file'; exec env TERM=xterm '$build/quoit' top -d 0.1" /dev/null \
		</dev/null >/dev/null &
	sleep 1
	top=$(cat "$pid_file")
	rm "$pid_file"
	before=$(ticks "$top") start=$(date +%s%N)
	sleep $seconds
	after=$(ticks "$top") end=$(date +%s%N)
	[ -n "$before" ] && [ -n "$after" ] || return
	awk -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" -v ns=$((end - start)) \
		'BEGIN { printf "%-19s %7.3f %15s %%\n", "top_cpu", 100 * ticks / hz * 1e9 / ns, "-" }'
	awk '$1 == "VmRSS:" { printf "%-19s %7.3f %15s MiB\n", "top_rss", $2 / 1024, "-" }' "/proc/$top/status"
	kill "$top"
}

among() { # SESSIONS PART: this script, among so many sessions
	"$build/quoit" run "$build/quoit-crowd" "$1" $(($1 / 5)) sh "$0" "$build" "$pairs" "$2"
}

case $part in
ps) time_ps ;;
top) watch_top ;;
*)
	make -s B="$build" "$build/quoit-crowd" >/dev/null && among 50 ps && among 100 top
	;;
esac
