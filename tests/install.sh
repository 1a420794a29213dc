#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh - test that an installed tree works, also staged, and that uninstall removes exactly
# its files
#
# The program is the one in the README, compiled with pkg-config against the tree.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT

try() { # WHAT COMMAND...
	what=$1
	shift
	if "$@" >"$tree.log" 2>&1; then
		pass
	else
		fail "$what" "$(sed 's/^/    /' "$tree.log")"
	fi
	rm -f "$tree.log"
}

make_tree() {
	make --no-print-directory install PREFIX="$tree/usr"
}

compile() {
	awk -v name=hello.c -f tests/pages/block.awk README.md >"$tree/hello.c"
	flags=$(PKG_CONFIG_PATH=$tree/usr/lib/pkgconfig pkg-config --cflags --libs libquoit)
	# shellcheck disable=SC2086
	${CC:-gcc} -std=c17 -Wall -Wextra -Werror "$tree/hello.c" $flags -o "$tree/hello"
}

run_hello() {
	out=$(LD_LIBRARY_PATH=$tree/usr/lib "$tree/usr/bin/quoit" run -- "$tree/hello")
	echo "$out"
	[ "$out" = '1000 x 2 x 2 = 4000' ]
}

# Other files lie in each folder into which we have put something.
remove_tree() {
	folders=$(find "$tree/usr" -type d)
	for folder in $folders; do
		touch "$folder/of-others" || return 1
	done
	make --no-print-directory uninstall PREFIX="$tree/usr" || return 1
	[ "$(find "$tree/usr" -type f -o -type l | sort)" = "$(printf '%s/of-others\n' $folders | sort)" ]
}

# For a package: everything lies below DESTDIR, and no file mentions that.
stage_tree() {
	make --no-print-directory install DESTDIR="$tree/stage" PREFIX="$tree/usr" || return 1
	[ "$(cd "$tree/stage$tree" && find usr | sort)" = "$(cd "$tree" && find usr | sort)" ] || return 1
	! grep -r "$tree/stage" "$tree/stage$tree/usr/lib/pkgconfig" || return 1
	make --no-print-directory uninstall DESTDIR="$tree/stage" PREFIX="$tree/usr" || return 1
	[ -z "$(find "$tree/stage" -type f -o -type l)" ] && [ -f "$tree/usr/bin/quoit" ]
}

# Configure for one prefix, install below another, and move to a third: for a plug-in's operation
# quoitd needs quoit-exec, and `quoit bench` needs its peer.
move_tree() {
	make --no-print-directory install DESTDIR="$tree/stage" PREFIX="$tree/usr" || return 1
	mv "$tree/stage$tree/usr" "$tree/moved" || return 1
	"$tree/moved/bin/quoit" run --gpu=soft:1 -- "$tree/moved/bin/quoit" topo | grep 'device 1' || return 1
	"$tree/moved/bin/quoit" bench nop --rounds 1 --only floor_256 || return 1
	rm -rf "$tree/moved" "$tree/stage"
}

# man follows a link from the folder of all sections.
find_pages() {
	for page in man1/quoit-ps.1 man3/quoit_push.3 man5/quoitd.conf.5 man7/quoit_ops.7 man8/quoitd.8; do
		link=$(sed -n 's/^\.so //p' "$tree/usr/share/man/$page") || return 1
		grep "^\.Dt" "$tree/usr/share/man/${link:-$page}" || return 1
	done
}

load_completion() {
	bash --norc -c 'source "$0" && complete -p quoit' "$tree/usr/share/bash-completion/completions/quoit" &&
		bash --norc -c 'source "$0" && complete -p quoitd' "$tree/usr/share/bash-completion/completions/quoitd" &&
		grep '^#compdef quoit quoitd$' "$tree/usr/share/zsh/site-functions/_quoit"
}

try 'make install' make_tree
try 'make install DESTDIR= lays the same tree there, uninstall takes it away' stage_tree
try 'the program of the README compiles with pkg-config' compile
try 'it is at most 40 lines' test "$(wc -l <"$tree/hello.c")" -le 40
try 'it runs under quoit run of the installed tree' run_hello
try 'there are manual pages of all sections' find_pages
try 'there is completion for both programs' load_completion
try 'a tree can be moved' move_tree
try 'make uninstall removes our files, and no others' remove_tree
say_counts
