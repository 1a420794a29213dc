#!/bin/sh
# SPDX-License-Identifier: MIT
# abi.sh - compare libquoit.so's symbols, versions and types with those of the last tag
#
# While SOVERSION is the same, nothing may be removed or changed; additions are allowed.  Before the
# first tag the comparison itself is tested: it must find that a call is missing, and that a struct
# has grown.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
map=libclient/libquoit.map
packaged=debian/libquoit0.symbols

command -v abidiff >/dev/null || {
	echo 'skipped: abidiff is missing'
	exit 77
}

# Build the library with the flags of the shipped one, plus debug information for the comparison,
# and without optimization.
library() { # SOURCES TO
	make -s --no-print-directory -C "$1" B="$2" CC=gcc CFLAGS='-O1 -g' NVCC= "$2/libquoit.so.$(soname "$1")" >/dev/null
}

soname() { # SOURCES
	sed -n 's/^SOVERSION := //p' "$1/Makefile"
}

exported() { # LIBRARY: "NAME VERSION" of what it defines
	nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { sub(/@+/, " ", $3); print $3 }' | sort
}

mapped() { # MAP: the same as it says
	awk '/^QUOIT_[0-9.]+ \{/ { version = $1 } /^local:/ { version = "" }
		/^\tquoit_[a-z0-9_]+;/ && version { sub(/;/, "", $1); print $1, version }' "$1" | sort
}

# What is newer than the last tag and has a version that this one has: Debian's packages of programs
# would ask for too old a library.
newer_in_an_old_version() { # SOURCES
	mapped "$1/$map" >"$work/then-mapped"
	cut -d ' ' -f 2 "$work/then-mapped" | sort -u >"$work/then-versions"
	comm -13 "$work/then-mapped" "$work/mapped" | grep -wF -f "$work/then-versions"
}

# What is declared outside of all braces, and inline functions that the library also has.
prototypes() {
	gcc -std=gnu17 -E -P -DQUOIT_INLINE=in_library -Ilibclient/include libclient/include/quoit.h |
		sed 's/[{};]/\n&\n/g' | awk '
		/^[{;]$/ && !depth { if (/;/ || text ~ /in_library/) print text; text = "" }
		/^[{}]$/ { depth += /{/ ? 1 : -1; text = ""; next }
		!depth && !/^;$/ { text = text " " $0 }'
}

declared() {
	prototypes | sed -n 's/^.*[ *]\(quoit_[a-z0-9_]*\)(.*$/\1/p' | sort -u
}

compare() { # OLD NEW: abidiff's report; fails where something of OLD is no longer there
	abidiff --no-added-syms --headers-dir1 "$1/include" --headers-dir2 "$2/include" "$1/libquoit.so" "$2/libquoit.so"
}

place() { # SOURCES FOLDER
	mkdir -p "$2" && library "$1" "$2/build" && cp "$2/build/libquoit.so.$(soname "$1")" "$2/libquoit.so" &&
		cp -r "$1/libclient/include" "$2"
}

sources() { # TREE-ISH TO
	mkdir -p "$2" && git archive "$1" | tar -x -C "$2"
}

place . "$work/now" || fail 'libquoit.so is built'

exported "$work/now/libquoit.so" >"$work/exported"
mapped $map >"$work/mapped"
expect_nothing 'each exported symbol is of the version that the map says, and the other way round' \
	"$(diff "$work/mapped" "$work/exported")"
expect_nothing 'nothing else is exported' "$(grep -v '^quoit_[a-z0-9_]* QUOIT_[0-9.]*$' "$work/exported")"
[ -s "$work/exported" ] && pass || fail 'something is exported'
cut -d ' ' -f 1 "$work/mapped" >"$work/names"
declared >"$work/declared"
expect_nothing "quoit.h declares what $map exports" "$(diff "$work/names" "$work/declared" |
	sed -n "s|^<|not in quoit.h:|p; s|^>|not in $map:|p")"
expect_nothing 'a child after fork() tries each call that takes a session, ring, team or service' \
	"$(prototypes | sed -n 's/^.*[ *]\(quoit_[a-z0-9_]*\)(.*struct quoit_\(session\|ring\|team\|service\) \*[a-z]*[,)].*$/\1/p' |
		sort -u | while read -r name; do grep -qw "$name" tests/e2e/inherited.c || echo "$name"; done)"
cut -d ' ' -f 2 "$work/mapped" | sort -u >"$work/versions"
sed -n 's/^ (symver)\(QUOIT_[0-9.]*\) .*/\1/p' $packaged | sort >"$work/packaged"
expect_nothing "$packaged has a line for each version of the map" "$(diff "$work/versions" "$work/packaged")"

# Compare our sources with FILE changed: the report must fail, and contain WORD.
change() { # FOLDER FILE SED-COMMAND WORD
	mkdir -p "$work/$1" && cp -r --parents Makefile libclient docs/man cuda/rules.mk debian/packages.mk tests/emulator/rules.mk "$work/$1"
	sed -i "$3" "$work/$1/$2"
	place "$work/$1" "$work/built-$1" || fail "libquoit.so, $1, is built"
	report=$(compare "$work/now" "$work/built-$1")
	case $?:$report in
	0:*) fail "what is gone or has changed is found ($1)" "$report" ;;
	*"$4"*) pass ;;
	*) fail "what is gone or has changed is named ($1)" "$report" ;;
	esac
}

if last=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null); then
	sources "$last" "$work/last" && place "$work/last" "$work/then" || fail "libquoit.so of $last is built"
	if [ "$(soname .)" != "$(soname "$work/last")" ]; then
		pass # who was linked against that one goes on with that one
	elif report=$(compare "$work/then" "$work/now"); then
		pass
	else
		fail "the ABI of $last is there still (or SOVERSION has changed)" "$report"
	fi
	[ "$(soname .)" != "$(soname "$work/last")" ] ||
		expect_nothing "$map has what is newer than $last in a version of its own" "$(newer_in_an_old_version "$work/last")"
else
	same=$(compare "$work/now" "$work/now") || fail 'a library differs from itself' "$same"
	change less "$map" '/^\tquoit_window_at;$/d' 'quoit_window_at'
	change larger libclient/include/quoit.h 's/^struct quoit_shape {/&\n\tlong more;/' "'struct quoit_shape'"
fi
say_counts
