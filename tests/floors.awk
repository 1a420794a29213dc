# SPDX-License-Identifier: MIT
# floors.awk - prints the includes of a tree's files that go up from one of its folders to another
#
# tree: the folder, such as "daemon".  floors: its folders, the lowest first; "." are files that lie
# in the tree itself.  A folder includes its own headers and, by the folder's name, those of lower
# floors.  A floor written as name=one,two stands apart: it includes these alone, and no other floor
# includes it.

function floor_of(path) {
	return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "."
}

# may: what each floor may include, as ",one,two,".
BEGIN {
	count = split(floors, word, " ")
	for (i = 1; i <= count; i++) {
		apart = split(word[i], part, "=") > 1
		may[part[1]] = apart ? "," part[2] "," : lower
		if (!apart)
			lower = (lower ? lower : ",") part[1] ","
	}
}

/^#include "/ {
	own = floor_of(substr(FILENAME, length(tree) + 2))
	split($0, quoted, "\"")
	if (quoted[2] !~ /\// && own != ".")
		next
	other = floor_of(quoted[2])
	if (!(own in may))
		print FILENAME ": " own "/ is not in the list of floors"
	else if (other != own && !index(may[own], "," other ","))
		print FILENAME ": \"" quoted[2] "\" is not below " own "/"
}
