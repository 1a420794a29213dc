# SPDX-License-Identifier: MIT
# code.awk - print what a page shows as code, one piece a line: spans, and the lines of blocks that can be commands
/^```/ { block = block ? "" : $0; next }
block ~ /^```(c|cuda|ini|text)/ || block == "```console" && ! /^\$ / { next }
block || /^    / { print; next }
{
	n = split($0, piece, "`")
	for (i = 2; i <= n; i += 2)
		print piece[i]
}
