#!/bin/sh
# SPDX-License-Identifier: MIT
# trace.sh BUILD [PAIRS] - measure what recording a session costs its NOPs
#
# The same work with and without a recorder, in turn: medians of PAIRS ratios (41), and their
# spread.  A session runs two million NOPs one at a time, some 0.2 s, so that the figure is the
# steady cost and not that of a recording's begin.
# shellcheck source=tests/bench/alternate.sh
. "$(dirname "$0")/alternate.sh"
build=$1
pairs=${2:-41}
recording=$(mktemp -d) || exit 1
trap 'rm -rf "$recording"' EXIT

figures() { # COMMAND...: ns of a NOP at depth 1, and millions a second at 256
	"$@" -- "$build/quoit" bench nop --rounds 1 --length 10 --only quoit_1,quoit_256 2>/dev/null |
		awk '$1 == "quoit_1" { one = $2 } $1 == "quoit_256_rate" { print one, $2 }'
}
with() {
	figures "$build/quoit" trace record -o "$recording/nop.trace"
}
without() {
	figures "$build/quoit" run
}

alternate "$pairs" with without | awk -v pairs="$pairs" -v names='recorded_1/not recorded_256_rate/not' -f tests/bench/ratios.awk
