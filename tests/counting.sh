# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# counting.sh - for the tests in sh: what passed and failed, and the line by which check.sh counts it
passed=0 failed=0 skipped=0

pass() {
	passed=$((passed + 1))
}

fail() { # NAME [WHY]
	failed=$((failed + 1))
	printf 'failed: %s\n' "$1"
	[ -z "${2:-}" ] || printf '%s\n' "$2"
}

expect_nothing() { # NAME OUTPUT: nothing is good
	if [ -z "$2" ]; then
		pass
	else
		fail "$1" "$2"
	fi
}

# The last thing that a test does: its status is the test's.
say_counts() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
}
