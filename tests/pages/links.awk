# SPDX-License-Identifier: MIT
# links.awk - the targets of a page's links within the tree, one a line: PATH[#ANCHOR]
/^```/ { block = ! block }
block { next }
{
	line = $0
	gsub(/`[^`]*`/, "", line)
	while (match(line, /\]\([^)]*\)/)) {
		target = substr(line, RSTART + 2, RLENGTH - 3)
		line = substr(line, RSTART + RLENGTH)
		if (target !~ /^(https?|mailto):/)
			print target
	}
}
