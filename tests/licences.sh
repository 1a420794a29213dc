#!/bin/sh
# SPDX-License-Identifier: MIT
# licences.sh BUILD - test that docs/licences.md has every package that we need, with the licence
# that Debian states
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
page=docs/licences.md
export LC_ALL=C

# "PACKAGE LICENCES" for each package of the tables.
listed() {
	sed -n 's/^| \(`[^|]*\) | \([^|(]*\).*/\1 | \2/p' $page | while IFS='|' read -r packages licences; do
		for package in $(echo "$packages" | tr -d '`,'); do
			echo "$package $licences"
		done
	done
}

needed() { # the packages of libraries that our programs name
	for program in "$build"/quoitd "$build"/quoit-exec "$build"/quoit "$build"/quoit-peer "$build"/libquoit.so; do
		ldd "$program" >/dev/null || echo "no-program:$program"
		readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
	done | sort -u | while read -r library; do
		dpkg-query -S "*/$(gcc -print-multiarch)/$library" 2>/dev/null | sed 's/:.*//' | head -n 1
	done | sort -u
}

# The name of a licence in a copyright file, or how its text begins.
words() { # LICENCE
	case $1 in
	LGPL*) echo 'LGPL|Lesser General Public' ;;
	GPL*) echo 'GPL|General Public License' ;;
	BSD*) echo 'BSD|Redistribution and use in source and binary forms' ;;
	MIT*) echo 'MIT|Expat|Permission is hereby granted' ;;
	ISC*) echo 'ISC|Permission to use, copy, modify, and(/or)? distribute' ;;
	Apache*) echo 'Apache' ;;
	Zlib) echo 'Zlib' ;;
	'public domain') echo 'public.domain|CC0' ;;
	*) echo 'no such licence' ;;
	esac
}

wrong_licences() {
	listed | while read -r package licences; do
		[ -e "/usr/share/doc/$package" ] || continue # where only a part of make deps is installed
		# A package such as clang keeps its copyright file in the package with the version
		# in its name, clang-14.
		files=$(ls "/usr/share/doc/$package/copyright" "/usr/share/doc/$package"-[0-9]*/copyright 2>/dev/null)
		echo "$licences" | sed 's/, */\n/g; s/ or /\n/g; s/ *$//' | while read -r licence; do
			licence=$(echo "$licence" | sed 's/ *$//')
			# shellcheck disable=SC2086
			grep -qiE "$(words "$licence")" $files || echo "$package: $licence is not in $files"
		done
	done
}

listed | cut -d ' ' -f 1 | sort -u >"$build/licences.listed"
missing() { # those of stdin that are not in the page
	sort -u | comm -23 - "$build/licences.listed"
}

[ "$(wc -l <"$build/licences.listed")" -gt 30 ] && pass || fail 'the tables are read'
expect_nothing 'each package of make deps is in it' "$({ make -s list-deps; make -s list-test-deps; } | tr ' ' '\n' | missing)"
[ -n "$(needed)" ] && pass || fail 'programs name libraries'
expect_nothing 'the package of each library that is linked is in it' "$(needed | missing)"
expect_nothing "Debian's copyright files say these licences" "$(wrong_licences)"
expect_nothing 'what is in it is needed' "$({ make -s list-deps; make -s list-test-deps; echo libmicrohttpd12; needed; } |
	tr ' ' '\n' | sort -u | comm -13 - "$build/licences.listed")"
rm -f "$build/licences.listed"
say_counts
