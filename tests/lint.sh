#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh - test the include rule, the format, the licence lines, the list of slow tests, links of
# pages (links.sh), and that each counter is counted
#
# Includes go down only: abi.h <- ring.h <- libclient.  daemon/, cuda/ and tools/ include
# libclient/include/ and nothing of each other.  In each of them, too, a folder includes lower
# floors only (floors.awk), and no headers include each other in a circle.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1

# Our files with such names, also if they came without their history.
files() { # PATTERN...
	if [ -e .git ]; then
		git ls-files "$@"
		return
	fi
	for pattern; do
		find . -path ./build -prune -o -path "./$pattern" -type f -print
	done | sed 's|^\./||'
}

# Files that FOLDER includes with quotes must lie in it (or below its private folders).
own_includes() {
	files "$1/*.c" "$1/*.h" "$1/*.cu" "$1/*.cuh" | while read -r f; do
		sed -n 's/^#include "\(.*\)"/\1/p' "$f" | while read -r i; do
			for path in "$(dirname "$f")/$i" "$1/$i"; do
				[ ! -f "$path" ] || realpath --relative-to=. "$path"
			done | grep -q "^$1/" || echo "$f includes \"$i\""
		done
	done
}

# What goes up in TREE, and headers that include each other in a circle.
upward() { # TREE FLOOR...
	tree=$1
	shift
	files "$tree/*.c" "$tree/*.h" "$tree/*.cu" "$tree/*.cuh" |
		xargs awk -v tree="$tree" -v floors="$*" -f tests/floors.awk
	files "$tree/*.h" "$tree/*.cuh" | xargs grep -H '^#include "' |
		sed -n 's/^\(.*\):#include "\(.*\)"/\1 \2/p' | while read -r f i; do
		case $i in
		*/*) echo "$f $tree/$i" ;;
		*) echo "$f $(dirname "$f")/$i" ;;
		esac
	done | tsort 2>&1 >/dev/null
}

# A counter that the tables of stats.h have, and quoitd never names, would stay 0 for ever.
counters_without_count() {
	awk '/^#define QUOIT_[A-Z]+_STATS\(X\)/ { split($2, word, "_"); table = word[2] }
		table && match($0, /X\([A-Z0-9_]+,/) { print "QUOIT_" table "_" substr($0, RSTART + 2, RLENGTH - 3) }
		!/\\$/ { table = "" }' libclient/include/quoit/stats.h | while read -r counter; do
		grep -rqw "$counter" daemon || echo "$counter"
	done
}

for folder in libclient daemon tools cuda; do
	expect_nothing "$folder/ includes only its own files and libclient/include" "$(own_includes $folder)"
done
expect_nothing 'in daemon/, includes go down' "$(upward daemon \
	base store fair config machine ops session observe memory job backend processes reactor control . \
	quoit-exec=base,store,fair,ops)"
expect_nothing 'in tools/, includes go down' "$(upward tools cli read launch bench doctor trace top exporter .)"
expect_nothing 'in cuda/, includes go down' "$(upward cuda kernels .)"
expect_nothing 'public headers include only public headers' \
	"$(grep -n '^#include "' libclient/include/quoit.h libclient/include/quoit/*)"
expect_nothing 'abi.h includes only stdint.h and ops.def' \
	"$(grep -n '^#include' libclient/include/quoit/abi.h | grep -v -e '<stdint.h>' -e '<quoit/ops.def>')"
# Numbers of operations have no order: what belongs together has a family (the control operations: fetch.c).
expect_nothing 'operations are chosen by family, not by ranges of numbers' \
	"$(files '*.c' '*.h' '*.cu' '*.cuh' | xargs grep -nE '[^<>-]([<>]=?|- |\.\.\.) *QUOIT_OP_[A-Z]' | grep -vE 'QUOIT_OP_(NR|MODULE_|NOP|CREATE|FREE)')"
expect_nothing 'ring.h includes no header of ours' "$(grep -n '^#include <quoit' libclient/include/quoit/ring.h)"
expect_nothing 'libquoit needs only libc' \
	"$(grep -lE '#include <(hwloc|numa|liburing|jansson|ini)' libclient/*.c libclient/*.h)"
expect_nothing 'quoitd names each counter of stats.h, and so counts it' "$(counters_without_count)"
expect_nothing 'every file has its licence line' \
	"$(files '*.c' '*.h' '*.cc' '*.cu' '*.cuh' '*.py' '*.sh' '*.def' '*.pml' '*.awk' 'docs/man/*' 'tools/completion/*' Makefile | xargs grep -L 'SPDX-License-Identifier: MIT')"
if command -v clang-format >/dev/null; then
	expect_nothing 'clang-format' "$(files '*.c' '*.h' '*.cc' '*.cu' '*.cuh' | xargs clang-format --dry-run 2>&1 | grep -m 20 warning)"
else
	echo 'lint: clang-format is missing: the format is not looked at'
	skipped=1
fi
expect_nothing 'tests/slow_tests names tests that are there' \
	"$(grep -v '^#' tests/slow_tests | while read -r t; do [ -e "tests/$t.c" ] || echo "$t"; done)"
expect_nothing 'links of pages (tests/links.sh)' "$(sh tests/links.sh | grep -v ' passed, ')"
say_counts
