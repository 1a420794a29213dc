#!/bin/sh
# SPDX-License-Identifier: MIT
# phases.sh BUILD [PAIRS] - measure what timing the phases of jobs costs a NOP
#
# BUILD and a build without that (BUILD/bare) are measured in turn: medians of PAIRS ratios (301),
# and their spread.  There are many short runs, since the machine may change within a second.
# shellcheck source=tests/bench/alternate.sh
. "$(dirname "$0")/alternate.sh"
build=$1
pairs=${2:-301}
make -s B="$build/bare" CFLAGS="${CFLAGS:--O2 -g} -DQUOIT_WITHOUT_LATENCY" \
	"$build/bare/quoit" "$build/bare/quoitd" "$build/bare/quoit-peer" >/dev/null || exit 1

figures() { # BUILD: ns of a NOP at depth 1 and at 256
	"$1/quoit" bench nop --rounds 1 --only quoit_1,quoit_256 |
		awk '$1 == "quoit_1" { one = $2 } $1 == "quoit_256" { print one, $2 }'
}

with() {
	figures "$build"
}
without() {
	figures "$build/bare"
}

alternate "$pairs" with without | awk -v pairs="$pairs" -v names='phases_1/bare phases_256/bare' -f tests/bench/ratios.awk
