#!/bin/sh
# SPDX-License-Identifier: MIT
# growth.sh BUILD - test that training without waits stays within its budget, and that this
# measurement can fail
#
# The same program runs beside it with bytes resident at the create and no budget.  That one must
# grow at least five times as much; otherwise a small growth proves nothing.
. "$(dirname "$0")/counting.sh"
b=${1:-build}
batches=30
lease=256
unset QUOIT_SOCKET

growth() { # OPTION...: MiB that the run without waits grew by
	"$b/quoit" run --lease ${lease}M "$@" -- "$b/examples/w1_train" --batches $batches \
		2>/dev/null | sed -n 's/^f *waiting at the end only *[0-9.]* *[0-9.]* *\([0-9.]*\).*/\1/p'
}

expect() { # WHAT CONDITION (awk)
	if awk "BEGIN { exit !($2) }"; then
		pass
	else
		fail "$1 ($2)"
	fi
}

bounded=$(growth)
eager=$(growth --eager)
echo "growth: $bounded MiB within a lease of $lease MiB; $eager MiB without a budget"
expect 'what grows without a budget is seen' "${eager:-0} > $lease"
expect 'training without waits stays within its lease' "${bounded:-9999} <= $lease"
expect 'without a budget it grows at least five times as much' "${eager:-0} >= 5 * ${bounded:-9999}"
say_counts
