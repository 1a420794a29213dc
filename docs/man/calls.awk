# SPDX-License-Identifier: MIT
# calls.awk - the calls of quoit.h: NAME, what it returns, its arguments, with tabs
#
# stage=macros: headers as they are; stage=calls: what the preprocessor makes of them.  A macro that
# takes its place in the program has the types of the function that it calls.

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

# The declaration of a parameter among those of a function.
function find(parameter, name, list, n, i) {
	n = split(arguments[name], list, ", ")
	for (i = 1; i <= n; i++)
		if (list[i] ~ "[ *]" parameter "$")
			return list[i]
	print "calls.awk: " name " has no " parameter >"/dev/stderr"
	exit 1
}

function expand(name, list, n, i, args) {
	n = split(parameters[name], list, /, */)
	for (i = 1; i <= n; i++)
		args = args (i > 1 ? ", " : "") find(list[i], target[name])
	arguments[name] = args
	result[name] = result[target[name]]
	names[++count] = name
}

stage == "macros" && /\\$/ {
	sub(/\\$/, "")
	line = line $0
	next
}

stage == "macros" {
	line = line $0
	if (line ~ /^#define quoit_[a-z_]+\(/) {
		name = substr(line, 9, index(line, "(") - 9)
		parameters[name] = substr(line, index(line, "(") + 1, index(line, ")") - index(line, "(") - 1)
		line = substr(line, index(line, ")"))
		match(line, /quoit_[a-z_]+/)
		target[name] = substr(line, RSTART, RLENGTH)
		macros[++macro_count] = name
	}
	line = ""
	next
}

/^#/ { next }

{
	gsub(/[;{}]/, "\n&\n")
	n = split($0, piece, "\n")
	for (i = 1; i <= n; i++)
		take(piece[i])
}

END {
	for (i = 1; i <= macro_count; i++) {
		while (target[macros[i]] in target)
			target[macros[i]] = target[target[macros[i]]]
		expand(macros[i])
	}
	for (i = 1; i <= count; i++) {
		args = arguments[names[i]]
		gsub(/, /, "\t", args)
		print names[i] "\t" result[names[i]] "\t" args
	}
}
