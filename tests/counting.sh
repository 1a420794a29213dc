# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# counting.sh - count what passed and failed in sh tests, and print the line that check.sh reads
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

# Call this last: its status is the test's.
say_counts() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
}
