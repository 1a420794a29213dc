# SPDX-License-Identifier: MIT
# ratios.awk - from lines "a1 a2 ... b1 b2 ...", one a and b for each of `names`, print the medians of a1/b1, a2/b2 ..., and
# their spread, in the form of `quoit bench`
BEGIN { columns = split(names, name, " ") }
NF == 2 * columns { n++; for (c = 1; c <= columns; c++) ratio[c, n] = $c / $(c + columns) }
function say(c,   i, j, x) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && ratio[c, j - 1] > ratio[c, j]; j--) {
			x = ratio[c, j]; ratio[c, j] = ratio[c, j - 1]; ratio[c, j - 1] = x
		}
	printf "%-19s %7.3f %15s ratio\n", name[c], ratio[c, int((n + 1) / 2)], sprintf("%.3f-%.3f", ratio[c, 1], ratio[c, n])
}
END {
	if (n < pairs)
		exit 1
	for (c = 1; c <= columns; c++)
		say(c)
}
