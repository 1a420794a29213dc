#!/bin/sh
# SPDX-License-Identifier: MIT
# tables.sh BUILD - what manual pages and completion are made of, as tables with tabs, in BUILD/tables
#
# What programs take, they say themselves; calls and operations are what the headers say.
set -eu
cd "$(dirname "$0")/../.."
build=${1:?}
tables=$build/tables
include=libclient/include
tab=$(printf '\t')
mkdir -p "$tables"

describe() { # COMMAND [SUBCOMMAND]
	"$build/quoit" "$@" --describe | sed "s/^/$*$tab/"
	"$build/quoit" "$@" --describe | sed -n "s/^subcommand$tab\([^$tab]*\).*/\1/p" | while read -r subcommand; do
		describe "$@" "$subcommand"
	done
}

"$build/quoit" --describe >"$tables/commands"
{
	cut -f 1 "$tables/commands" | while read -r command; do
		describe "$command"
	done
	"$build/quoit" doctor --checks |
		sed -E "s/^ *([^ ]+) +([^ ]+) +(.*)/\1$tab\2$tab\3/" |
		awk -F "$tab" -v OFS="$tab" '
			$1 != group { print "doctor", "word", $1, "the checks of this group, which follow" }
			{ print "doctor", "word", $2, $3; group = $1 }'
	"$build/quoitd" --describe | sed "s/^/quoitd$tab/"
} >"$tables/options"

{
	for command in ps ls calls; do
		"$build/quoit" $command --columns | sed -E "s/^ *([^ ]+) +[^ ]+ +/$command$tab\\1$tab/"
	done
	"$build/quoit" stat --columns | sed -E "s/^ *([^ ]+) +/stat$tab\\1$tab/"
} >"$tables/columns"

sed -nE "s/^QUOIT_OP\(([0-9]+), [A-Z_]+, ([a-z_0-9]+), [A-Z]+, \"(....)\", [A-Z]+, ([A-Z]), [0-9]+, ([A-Z]+), \"(.*)\"\)$/\\1$tab\\2$tab\\3$tab\\4$tab\\5$tab\\6/p" \
	"$include/quoit/ops.def" >"$tables/operations"

${CC:-cc} -std=gnu17 -E -P -I"$include" "$include/quoit.h" |
	awk -f docs/man/calls.awk >"$tables/calls"
awk -f docs/man/texts.awk "$include/quoit.h" "$include/quoit/team.h" "$include/quoit/service.h" \
	"$include/quoit/sync.h" "$include/quoit/named.h" "$include/quoit/keyspace.h" >"$tables/texts"
