#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh - an installed tree works, and uninstall removes exactly what install put there
#
# The program is the one that the README shows, compiled with pkg-config against the tree.
cd "$(dirname "$0")/.." || exit 1
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

try() { # WHAT COMMAND...
	what=$1
	shift
	if "$@" >"$tree.log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "failed: $what"
		sed 's/^/    /' "$tree.log"
	fi
	rm -f "$tree.log"
}

make_tree() {
	make --no-print-directory install PREFIX="$tree/usr"
}

compile() {
	sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$tree/hello.c"
	flags=$(PKG_CONFIG_PATH=$tree/usr/lib/pkgconfig pkg-config --cflags --libs libquoit)
	# shellcheck disable=SC2086
	${CC:-gcc} -std=c17 -Wall -Wextra -Werror "$tree/hello.c" $flags -o "$tree/hello"
}

run_hello() {
	out=$(LD_LIBRARY_PATH=$tree/usr/lib "$tree/usr/bin/quoit" run -- "$tree/hello")
	echo "$out"
	[ "$out" = '1000 x 2 x 2 = 4000' ]
}

# Files of others lie in each folder that we have put something into.
remove_tree() {
	folders=$(find "$tree/usr" -type d)
	for folder in $folders; do
		touch "$folder/of-others" || return 1
	done
	make --no-print-directory uninstall PREFIX="$tree/usr" || return 1
	[ "$(find "$tree/usr" -type f -o -type l | sort)" = "$(printf '%s/of-others\n' $folders | sort)" ]
}

try 'make install' make_tree
try 'the program of the README compiles with pkg-config' compile
try 'it is at most 40 lines' test "$(wc -l <"$tree/hello.c")" -le 40
try 'it runs under quoit run of the installed tree' run_hello
try 'make uninstall removes our files, and no others' remove_tree
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
