# SPDX-License-Identifier: MIT
# calls.awk - the calls of quoit.h: NAME, what it returns, its arguments, with tabs
#
# It reads what the preprocessor makes of the header.  A macro that tells its place in the program is
# declared as a function, too.

function take(piece) {
	if (piece == "}") {
		depth--
		text = ""
	} else if (piece == ";" || piece == "{") {
		if (!depth)
			declared(text)
		depth += piece == "{"
		text = ""
	} else if (!depth) {
		text = text " " piece
	}
}

function declared(t, name, args) {
	gsub(/[ \t]+/, " ", t)
	gsub(/__attribute__\(\([^)]*\)\) ?/, "", t)
	sub(/^ ((static|inline|extern) )*/, "", t)
	if (t ~ /^typedef/ || !match(t, /quoit_[a-z0-9_]*\(/))
		return
	name = substr(t, RSTART, RLENGTH - 1)
	result[name] = substr(t, 1, RSTART - 1)
	sub(/ $/, "", result[name])
	sub(/_Bool/, "bool", result[name])
	args = substr(t, RSTART + RLENGTH)
	sub(/\)[^)]*$/, "", args)
	arguments[name] = args
	names[++count] = name
}

/^#/ { next }

{
	gsub(/[;{}]/, "\n&\n")
	n = split($0, piece, "\n")
	for (i = 1; i <= n; i++)
		take(piece[i])
}

END {
	for (i = 1; i <= count; i++) {
		args = arguments[names[i]]
		gsub(/, /, "\t", args)
		print names[i] "\t" result[names[i]] "\t" args
	}
}
