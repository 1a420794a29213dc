#!/bin/sh
# SPDX-License-Identifier: MIT
# changelog.sh SECONDS [VERSION] - debian/changelog, made of CHANGELOG.md
#
# SECONDS: since 1970, of the last commit.  What is unreleased is before the version of the Makefile,
# or after it if that is released: 0.1.0~20261123024455, 0.1.0+20261123024455.  So later commits are
# after earlier ones.  A released version has the date in its heading.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?}
version=$(sed -n 's/^VERSION := //p' Makefile)
moment=$(date -u -d "@$seconds" +%Y%m%d%H%M%S)
date=$(LC_ALL=C date -u -R -d "@$seconds")
order='~'
! grep -q "^## $version " CHANGELOG.md || order='+'
maintainer=$(sed -n 's/^Maintainer: //p' debian/control)

# One paragraph a line, without Markdown's marks.
awk -v version="$version$order" -v moment="$moment" -v given="${2:-}" -v date="$date" -v maintainer="$maintainer" '
	# A version without items has no entry.
	function item() {
		if (text != "" && !open) {
			printf "quoit (%s) unstable; urgency=medium\n\n", given != "" && !count ? given : name
			open = 1
			count++
		}
		if (text != "")
			print text
		text = ""
	}
	function end() {
		item()
		if (open)
			printf "\n -- %s  %s\n\n", maintainer, date
		open = 0
	}
	/^## / {
		end()
		name = $2 == "Unreleased" ? version moment : $2
		if (match($3, /[0-9]+-[0-9]+-[0-9]+/)) {
			released = "LC_ALL=C date -u -R -d " substr($3, RSTART, RLENGTH)
			released | getline date
			close(released)
		}
		next
	}
	/^- / { item(); text = "  * " substr($0, 3); next }
	/^  [^ ]/ && text != "" { text = text " " substr($0, 3) }
	END { end() }' CHANGELOG.md | tr -d '`' | awk '
	# Lines of at most 78 characters; what follows the first line of an item is under its text.
	!/^  \* / { print; next }
	{
		line = "  *"
		for (i = 2; i <= NF; i++) {
			if (length(line) + 1 + length($i) > 78) {
				print line
				line = "   "
			}
			line = line " " $i
		}
		print line
	}'
