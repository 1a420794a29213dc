# SPDX-License-Identifier: MIT
# ratios.awk - lines "a1 a256 b1 b256": medians of a1/b1 and a256/b256, and their spread, as `quoit bench` prints them
NF == 4 { one[++n] = $1 / $3; many[n] = $2 / $4 }
function say(name, list, n,   i, j, x) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
			x = list[j]; list[j] = list[j - 1]; list[j - 1] = x
		}
	printf "%-19s %7.3f %15s ratio\n", name, list[int((n + 1) / 2)], sprintf("%.3f-%.3f", list[1], list[n])
}
END {
	if (n < pairs)
		exit 1
	split(names, name, " ")
	say(name[1], one, n)
	say(name[2], many, n)
}
