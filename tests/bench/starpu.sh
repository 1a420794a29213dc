#!/bin/sh
# SPDX-License-Identifier: MIT
# starpu.sh BUILD [PAIRS] - compare calls of an empty function, 256 in flight on one lane, with
# StarPU's empty tasks, in turn: medians of PAIRS ratios of the rates (11), and their spread
#
# In order: all of them modify one tensor, so each waits for the one before.
# shellcheck source=tests/bench/alternate.sh
. "$(dirname "$0")/alternate.sh"
build=$1
pairs=${2:-11}
if [ ! -x "$build/quoit-starpu" ]; then # StarPU is not installed
	printf '%s - - ratio\n' calls_256_rate/starpu calls_in_order_rate/starpu
	exit
fi
STARPU_HOME=$(mktemp -d) || exit # it writes down what it finds out about the machine
export STARPU_HOME
trap 'rm -rf "$STARPU_HOME"' EXIT

# the CPUs of `quoit bench`: the first and the last that this process may use
cpus=$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/self/status)

ours() { # ns of a call; of one in order
	"$build/quoit" bench call --rounds 3 --only calls_256,calls_256_in_order |
		awk '$1 == "calls_256" { empty = $2 } $1 == "calls_256_in_order" { print empty, $2 }'
}
theirs() {
	"$build/quoit-starpu" "${cpus%%[-,]*}" "${cpus##*[-,]}" 50000
}

alternate "$pairs" theirs ours | awk -v pairs="$pairs" -v names='calls_256_rate/starpu calls_in_order_rate/starpu' -f tests/bench/ratios.awk
