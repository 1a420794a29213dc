# SPDX-License-Identifier: MIT
# matches.awk - does a text match what a page shows?  awk -v shown=FILE -v found=FILE -f matches.awk
#
# "..." in what the page shows matches any text: none, a part of a line, or many lines.
function content(file,   text, line) {
	while ((getline line <file) > 0)
		text = text line "\n"
	close(file)
	return text
}

function ends_with(text, end) {
	return length(text) >= length(end) && substr(text, length(text) - length(end) + 1) == end
}

BEGIN {
	text = content(found)
	pattern = content(shown)
	gsub(/(^|\n)\.\.\.\n/, "...", pattern) # whole lines
	at = index(pattern, "...")
	if (! at)
		exit text != pattern
	piece = substr(pattern, 1, at - 1)
	if (substr(text, 1, length(piece)) != piece)
		exit 1
	text = substr(text, length(piece) + 1)
	pattern = substr(pattern, at + 3)
	while (at = index(pattern, "...")) {
		piece = substr(pattern, 1, at - 1)
		where = index(text, piece)
		if (piece != "" && ! where)
			exit 1
		text = substr(text, piece == "" ? 1 : where + length(piece))
		pattern = substr(pattern, at + 3)
	}
	exit ! ends_with(text, pattern)
}
