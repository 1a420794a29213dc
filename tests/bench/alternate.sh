# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# alternate.sh - to be read in by scripts that measure two things in turn
#
# A command prints its figures in one line.

# Run both so often, by turns the one or the other first; a line with the figures of both for each time.
alternate() { # TIMES ONE OTHER: commands without arguments
	for time in $(seq "$1"); do
		if [ $((time % 2)) -eq 0 ]; then
			one=$($2) other=$($3)
		else
			other=$($3) one=$($2)
		fi
		echo "$one $other"
	done
}
