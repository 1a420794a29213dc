#!/bin/sh
# SPDX-License-Identifier: MIT
# sampler.sh BUILD [PAIRS] - compare the example `sampler_hmc` that measures after each step with
# the one that measures while it goes on, in turn: the median of PAIRS ratios (11), and their spread
#
# Sampling and measuring take the same time: how often each field is measured for that is found
# first.
# shellcheck source=tests/bench/alternate.sh
. "$(dirname "$0")/alternate.sh"
build=$1
pairs=${2:-11}

seconds() { # TIMES [OPTION]: of a run in which each field is measured so often
	times=$1
	shift
	"$build/quoit" run -- "$build/examples/sampler_hmc" --steps=1000 --again="$times" "$@" |
		sed -n 's/.* chains in \([0-9.]*\) s;.*/\1/p'
}
after() {
	seconds "$1" --serial
}

# The least of three runs with one measurement of a field each, and with 41.
times=$(for _ in 1 2 3; do
	echo "$(after 1) $(after 41)"
done | awk '
	NF == 2 { n++; if (n == 1 || $1 < one) one = $1; if (n == 1 || $2 < many) many = $2 }
	END {
		measuring = (many - one) / 40
		if (n < 3 || measuring <= 0) exit 1
		times = int((one - measuring) / measuring + 0.5)
		print times < 1 ? 1 : times
	}') || exit 1

one_after_the_other() {
	after "$times"
}
beside() {
	seconds "$times"
}

alternate "$pairs" one_after_the_other beside | awk -v pairs="$pairs" -v names=one_after_the_other/beside -f tests/bench/ratios.awk
