#!/bin/sh
# SPDX-License-Identifier: MIT
# links.sh - test that every relative link of a page leads to a file, and every anchor to a heading
#
# A page is one of our *.md.  A link is [text](path), [text](path#anchor) or [text](#anchor); code,
# in blocks or between backticks, has none.  An anchor is made from a heading as GitHub does it:
# small letters, no punctuation, a hyphen for each blank, and -1, -2, ... for repeated ones.
#
# Sources name pages, too, by their path from the root: docs/NAME.md; and explanations name files.
. "$(dirname "$0")/counting.sh"
cd "${1:-$(dirname "$0")/..}" || exit 1
export LC_ALL=C

files() { # PATTERN...
	if [ -e .git ]; then
		git ls-files --cached --others --exclude-standard "$@"
		return
	fi
	for pattern; do
		find . -path ./build -prune -o -path "./$pattern" -type f -print
	done | sed 's|^\./||'
}

pages() {
	files '*.md' | sort -u
}

# Print a line for each heading, "anchor PAGE#ANCHOR", and for each link, "link PAGE:LINE TARGET".
contents() {
	pages | xargs awk '
		function anchor(text) {
			gsub(/\]\([^)]*\)/, "", text)
			text = tolower(text)
			gsub(/[][!"#$%&'\''()*+,.\/:;<=>?@\\^`{|}~]/, "", text)
			gsub(/ /, "-", text)
			return text
		}
		FNR == 1 { in_code = in_list = 0; split("", times) }
		/^ *```/ { in_code = !in_code; next }
		in_code { next }
		/^ *$/ { next }
		/^[^ \t]/ { in_list = /^([-*+]|[0-9]+[.)]) / }
		/^(    |\t)/ && !in_list { next }
		/^#+ / {
			text = $0
			sub(/^#+ +/, "", text)
			sub(/ +$/, "", text)
			text = anchor(text)
			print "anchor " FILENAME "#" text (times[text] ? "-" times[text] : "")
			times[text]++
		}
		{
			gsub(/`[^`]*`/, "")
			while (match($0, /\]\([^)]*\)/)) {
				target = substr($0, RSTART + 2, RLENGTH - 3)
				$0 = substr($0, RSTART + RLENGTH)
				sub(/ .*/, "", target)
				if (target !~ /^[a-z]+:/)
					print "link " FILENAME ":" FNR " " target
			}
		}'
}

# The path of a link's target from the root; "" if it leads out of the tree.
target_of() { # PAGE TARGET
	path=${2%%#*}
	if [ -z "$path" ]; then
		echo "$1"
		return
	fi
	realpath -m --relative-to=. "$(dirname "$1")/$path" | grep -v '^\.\./'
}

# "PAGE:LINE TARGET" for each link without a target.
links_to_nothing() {
	grep '^link ' "$work" | while read -r _ where link; do
		target=$(target_of "${where%:*}" "$link")
		if [ -z "$target" ] || [ ! -e "$target" ]; then
			echo "$where: $link: no such file"
			continue
		fi
		case $link in
		*#*) grep -qxF "anchor $target#${link#*#}" "$work" || echo "$where: $link: no such heading" ;;
		esac
	done
}

# Pages below docs/ that no other page links to, so that readers would not find them.
pages_without_link() {
	grep '^link ' "$work" | while read -r _ where link; do
		target=$(target_of "${where%:*}" "$link")
		[ "$target" = "${where%:*}" ] || echo "$target"
	done | sort -u >"$work.targets"
	pages | grep '^docs/' | grep -vxFf "$work.targets"
}

names_of_no_page() {
	files '*.c' '*.h' '*.cu' '*.cuh' '*.sh' '*.def' '*.awk' '*.mk' '*.service' '*.socket' 'docs/man/*' 'debian/*' \
		Makefile '*.md' | xargs grep -onE 'docs/[a-z0-9_/-]*\.md' | sort -u |
		while IFS=: read -r file line page; do
			[ -f "$page" ] || echo "$file:$line: $page"
		done
}

explanations() {
	pages | grep -xE 'CONTRIBUTING\.md|daemon/.*/README\.md|docs/(architecture|decisions|ring-protocol|explanation/[a-z-]*)\.md'
}

# `folder/file.c` from the root, from daemon/ or as it is included; `file.c` anywhere.
names_of_no_file() {
	files '*' >"$work.files"
	explanations | xargs -r grep -onE '`[a-z_/-]+\.(c|h|sh|def|cuh|awk|pml)`' | sort -u |
		while IFS=: read -r page line name; do
			name=$(echo "$name" | tr -d '`')
			case $name in
			*/*) [ -f "$name" ] || [ -f "daemon/$name" ] || [ -f "libclient/include/$name" ] ;;
			*) grep -qE "(^|/)$name\$" "$work.files" ;;
			esac || echo "$page:$line: $name"
		done
}

# Pages with commands that tests/pages.sh runs, and the references beside them.
read_by_users() {
	pages | grep -xE 'README\.md|docs/(README|tutorial|service|gpu|howto/[a-z-]*)\.md'
}

# A row of a table, a block of code, and a line that is one link cannot be cut.
long_lines() {
	{
		explanations
		read_by_users
	} | xargs -r awk '
		FNR == 1 { in_code = 0 }
		/^ *```/ { in_code = !in_code; next }
		in_code || /^(    |\t)/ || /^\|/ { next }
		{
			line = $0
			gsub(/[\200-\277]/, "", line) # a character is one column
			if (length(line) > 100 && line !~ /^[-* ]*[^ ]*$/ && line !~ /^!\[/ && ++found <= 20)
				print FILENAME ":" FNR ": " length(line) " columns"
		}'
}

nothing_found() {
	[ "$(grep -c '^link ' "$work")" -ge 50 ] || echo 'there were fewer than fifty'
}

work=$(mktemp) || exit 1
trap 'rm -f "$work" "$work.targets" "$work.files"' EXIT
contents >"$work"
expect_nothing 'links are found' "$(nothing_found)"
expect_nothing 'links of pages lead somewhere' "$(links_to_nothing)"
expect_nothing 'every page of docs/ is linked to' "$(pages_without_link)"
expect_nothing 'sources name pages that there are' "$(names_of_no_page)"
expect_nothing 'explanations name files that there are' "$(names_of_no_file)"
expect_nothing 'no line of prose is longer than 100 columns' "$(long_lines)"
say_counts
