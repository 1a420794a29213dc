#!/bin/sh
# SPDX-License-Identifier: MIT
# manual.sh BUILD - test that the manual has every command, option, call and operation, and that
# --help is everywhere
#
# The expected names come from the programs' help and from headers, not from the tables of which the
# pages are made.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
man=$build/man
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

command -v mandoc >/dev/null || {
	echo 'skipped: mandoc is missing'
	exit 77
}

sources() {
	find "$man" -name '*.[1-8]' | while read -r page; do
		grep -q '^\.so ' "$page" || echo "$page"
	done | sort
}

# The page as it is read; we do not hyphenate words at the end of a line.
rendered() { # PAGE
	mandoc -T ascii -O width=1000 "$man/man${1##*.}/$1" | sed 's/.\x08//g'
}

commands() {
	"$build/quoit" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
}

subcommands() { # COMMAND
	"$build/quoit" "$1" --help | sed -n '/^usage: quoit [a-z]* COMMAND /,$s/^  \([a-z][a-z]*\) .*/\1/p'
}

subcommands_not_found() {
	for subcommand in record json; do
		subcommands trace | grep -qx "$subcommand" || echo "trace $subcommand"
	done
}

long_options() { # COMMAND...
	"$@" --help | grep -oE '^  (-., )?--[a-z][a-z-]*(, --[a-z]+)?' | grep -oE -- '--[a-z][a-z-]*'
}

# mandoc looks for pages that others refer to only on the system.
lint() {
	sources | xargs mandoc -T lint 2>/dev/null | grep -v 'referenced manual not found'
}

references_to_nothing() {
	sources | xargs sed -nE 's/^\.(It )?Xr (lib)?(quoit[^ ]*) ([1-8]).*/\2\3 \4/p' | sort -u | while read -r name section; do
		[ -f "$man/man$section/$name.$section" ] || echo "$name($section)"
	done
}

commands_without_page() {
	for command in $(commands); do
		[ -f "$man/man1/quoit-$command.1" ] || echo "$command"
	done
}

options_missing() { # PAGE COMMAND...
	page=$1
	shift
	rendered "$page" >"$work/page"
	for option in $(long_options "$@"); do
		grep -qE -- "^ +(-., )?$option( |\$)" "$work/page" || echo "$page: $option"
	done
	[ -n "$(long_options "$@")" ] || echo "$page: no options were found"
}

all_options_missing() {
	for command in $(commands); do
		options_missing "quoit-$command.1" "$build/quoit" "$command"
		for subcommand in $(subcommands "$command"); do
			options_missing "quoit-$command.1" "$build/quoit" "$command" "$subcommand"
			sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' "$work/page" | grep -q "^ *quoit $command $subcommand " || echo "quoit-$command.1: no synopsis of $subcommand"
		done
	done
	options_missing quoitd.8 "$build/quoitd"
}

settings_missing() {
	rendered quoitd.conf.5 >"$work/page"
	for option in $(long_options "$build/quoitd" | grep -vxE -- '--(config|check-config|help|version)'); do
		grep -q "^ *${option#--} = " "$work/page" || echo "$option"
	done
}

benchmarks() {
	sed -n 's/^const struct bench_plan bench_\([a-z]*\) .*/\1/p' tools/bench/plan_*.c
}

# Columns, benchmarks and checks are the tags of lists.
tags_missing() { # PAGE TAG...
	page=$1
	shift
	rendered "$page" >"$work/page"
	for tag; do
		grep -qE "^     $tag( |\$)" "$work/page" || echo "$page: $tag"
	done
	[ $# -gt 5 ] || echo "$page: there were only $#"
}

all_tags_missing() {
	tags_missing quoit-ps.1 $("$build/quoit" ps --columns | awk '{ print $1 }')
	tags_missing quoit-ls.1 $("$build/quoit" ls --columns | awk '{ print $1 }')
	tags_missing quoit-calls.1 $("$build/quoit" calls --columns | awk '{ print $1 }')
	tags_missing quoit-stat.1 $("$build/quoit" stat --columns | awk '{ print $1 }')
	tags_missing quoit-bench.1 $(benchmarks)
	tags_missing quoit-doctor.1 $("$build/quoit" doctor --checks | awk '{ print $1; print $2 }')
}

# Exported functions, and those of half.h, which are only inline.
calls() {
	sed -n 's/^\t\(quoit_.*\);$/\1/p' libclient/libquoit.map
	sed -nE 's/^static inline .*[ *](quoit_[a-z0-9_]+)\(.*/\1/p' libclient/include/quoit/half.h
}

calls_not_in_one_page() {
	sources | grep '/man3/' | xargs sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([a-z0-9_]*\).*/\1/p' | sort >"$work/named"
	calls | sort -u | while read -r call; do
		[ "$(grep -cx "$call" "$work/named")" -eq 1 ] || echo "$call: in $(grep -cx "$call" "$work/named") pages"
		[ -f "$man/man3/$call.3" ] || echo "$call: man does not find it"
	done
	calls | sort -u | comm -13 - "$work/named" | grep -vx libquoit | sed 's/$/: there is no such call/'
}

# A page must explain each call that it names, below its synopsis.
calls_not_described() {
	sources | grep '/man3/' | while read -r page; do
		sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \(quoit[a-z0-9_]*\).*/\1/p' "$page" | while read -r call; do
			case $call in
			*_scalar | *_int) continue ;; # by their rule
			esac
			sed '1,/^\.Sh DESCRIPTION/d' "$page" | grep -qE "(^|[^a-z0-9_])$call([^a-z0-9_]|\$)" || echo "$call"
		done
	done
}

# Builders of operations are listed under the operations' names.
operations_missing() {
	rendered quoit_ops.7 >"$work/page"
	sed -nE 's/^QUOIT_OP\(([0-9]+), [A-Z_]+, ([a-z_0-9]+), .*/\2 (\1,/p' libclient/include/quoit/ops.def >"$work/operations"
	while read -r operation; do
		grep -qF "     $operation tensors " "$work/page" || echo "$operation"
	done <"$work/operations"
	[ -s "$work/operations" ] || echo 'no operations were found'
}

links_to_nothing() {
	grep -rh '^\.so ' "$man" | sort -u | while read -r _ page; do
		[ -f "$man/$page" ] || echo "$page"
	done
}

# Every variable that a program reads, except those that it sets for its own child.
variables_missing() {
	grep -rhoE 'getenv\("[A-Z_]+"\)|setenv\("QUOIT_SOCKET"' daemon tools libclient/*.[ch] libclient/include |
		grep -oE '[A-Z_]{3,}' | sort -u | grep -vxE 'QUOIT_SOFT_(DEVICES|BYTES)' | while read -r name; do
		sources | xargs grep -qE "^\.(It )?Ev .*\<$name\>" || echo "$name"
	done
}

# The programs of EXAMPLES, and the module of quoit-exec(8).
examples_that_do_not_compile() {
	sources | while read -r page; do
		sed -n '/^\.Bd -literal/,/^\.Ed/p' "$page" | awk -v name="$work/${page##*/}" '
			/^\.Bd/ { n++; next }
			/^\.Ed/ { next }
			{ sub(/^\\&/, ""); gsub(/\\e/, "\\"); print >(name "." n ".c") }'
	done
	for program in "$work"/*.c; do
		grep -q '^#include' "$program" || continue
		${CC:-gcc} -std=gnu17 -Wall -Wextra -Werror -Ilibclient/include -fsyntax-only "$program" 2>&1
	done
	[ "$(grep -l '^#include' "$work"/*.c | wc -l)" -ge 12 ] || echo 'there were fewer than twelve'
}

without_help() {
	for command in $(commands); do
		"$build/quoit" "$command" --help | grep -q '^usage: ' || echo "quoit $command"
		for subcommand in $(subcommands "$command"); do
			"$build/quoit" "$command" "$subcommand" --help | grep -q '^usage: ' || echo "quoit $command $subcommand"
		done
	done
	for program in quoit quoitd quoit-peer quoit-peer-cuda; do
		[ -e "$build/$program" ] || [ "$program" != quoit-peer-cuda ] || continue # nvcc's
		"$build/$program" --help | grep -q '^usage: ' || echo "$program"
	done
	"$build/quoit-exec" --help | grep -q 'quoitd' || echo quoit-exec
	for benchmark in $(benchmarks); do
		"$build/quoit" bench "$benchmark" --help | grep -q "^  $benchmark  *[A-Za-z1]" || echo "quoit bench $benchmark"
	done
}

expect_nothing 'mandoc has nothing to say' "$(lint)"
expect_nothing 'pages refer to pages that there are' "$(references_to_nothing)"
expect_nothing 'every command has a page' "$(commands_without_page)"
expect_nothing 'the subcommands of trace are found' "$(subcommands_not_found)"
expect_nothing 'every option is in the page of its command' "$(all_options_missing)"
expect_nothing 'every column, benchmark and check is in the page of its command' "$(all_tags_missing)"
expect_nothing 'every option of quoitd is in quoitd.conf(5)' "$(settings_missing)"
expect_nothing 'every call is in one page, and no other' "$(calls_not_in_one_page)"
expect_nothing 'every call is described' "$(calls_not_described)"
expect_nothing 'every operation is in quoit_ops(7)' "$(operations_missing)"
expect_nothing 'no page is a link to nothing' "$(links_to_nothing)"
expect_nothing 'every environment variable is in a page' "$(variables_missing)"
expect_nothing 'the programs of the pages compile' "$(examples_that_do_not_compile)"
expect_nothing '--help is everywhere' "$(without_help)"
say_counts
