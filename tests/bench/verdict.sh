#!/bin/sh
# SPDX-License-Identifier: MIT
# verdict.sh - decide whether a goal is met; for bench.sh and bench_gpu.sh

verdict() { # OPERATOR GOAL VALUE...: met is met by every value; "-" is not known
	op=$1 goal=$2
	shift 2
	printf '%s\n' "$@" | awk -v op="$op" -v goal="$goal" '
		$1 == "-" || $1 == "" { unknown = 1 }
		op == "<=" ? $1 > goal + 0 : $1 < goal + 0 { missed = 1 }
		END { print unknown ? "unknown" : missed ? "missed" : "met" }'
}
