# SPDX-License-Identifier: MIT
# page.awk - a manual page of its source: lines that begin with @ become what the tables say
#
#	@calls NAME...		NAME's list of calls; the page is the one of these
#	@prototypes		SYNOPSIS of them
#	@text NAME...		what quoit.h says above the first of these, as an entry of a list
#	@struct NAME		a structure or enumeration as the headers have it
#	@file PATH		a program, from its first #include on
#	@commands		a list of the subcommands of quoit
#	@usage COMMAND		SYNOPSIS of a command
#	@operands COMMAND	the end of that
#	@options COMMAND	a list of its options
#	@settings COMMAND	the same as lines of a file
#	@rules COMMAND		the same of a section of a user or group
#	@words COMMAND		a list of what its operand may be
#	@columns COMMAND	a list of its columns
#	@operations		a list of the operations
#
# Variables: tables and library (folders), prefix, libexecdir, sysconfdir.

# The rows of a table whose first field is the key, into `row`; how many.
function rows_of(table, key, line, field, n) {
	n = 0
	while ((getline line <(tables "/" table)) > 0) {
		split(line, field, "\t")
		if (field[1] == key || key == "")
			row[++n] = line
	}
	close(tables "/" table)
	if (!n)
		fail("table " table " has no " key)
	return n
}

function fail(why) {
	print FILENAME ": " why >"/dev/stderr"
	failed = 1
	exit 1
}

# Text that is no macro and no escape.
function plain(text) {
	gsub(/\\/, "\\e", text)
	if (text ~ /^[.']/)
		text = "\\&" text
	return text
}

# Arguments of a macro: words that mdoc would take for its own, and marks that it would set apart.
function argument(text) {
	gsub(/\\/, "\\e", text)
	gsub(/"/, "\\(dq", text)
	return "\"" text "\""
}

# A sentence a line, calls in bold.
function sentences(text, line, i, n) {
	text = plain(text)
	gsub(/[.?!]\)?  /, "&\n", text)
	gsub(/  \n/, "\n", text)
	gsub(/quoit_[a-z0-9_]+(\(\))?/, "\\fB&\\fP", text)
	n = split(text, line, "\n")
	for (i = 1; i <= n; i++)
		wrap(line[i])
}

# What is printed, in lines of 80 at most where they are filled.
function wrap(text, word, i, n, line) {
	if (literal || length(text) < 80 || text ~ /^[.]/) {
		print text
		return
	}
	n = split(text, word, " ")
	line = word[1]
	for (i = 2; i <= n; i++) {
		if (length(line) + length(word[i]) < 79) {
			line = line " " word[i]
		} else {
			print line
			line = (word[i] ~ /^[.']/ ? "\\&" : "") word[i]
		}
	}
	print line
}

# ---- the library ----

function calls(i, n) {
	n = NF
	for (i = 2; i <= n; i++) {
		mine[++mine_count] = $i
		print ".Nm " $i (i < n ? " ," : "")
	}
}

function prototypes(i, k, n, field) {
	for (i = 1; i <= mine_count; i++) {
		rows_of("calls", mine[i])
		n = split(row[1], field, "\t")
		print ".Ft " argument(field[2])
		printf ".Fn %s", field[1]
		for (k = 3; k <= n; k++)
			printf " %s", argument(field[k])
		print ""
	}
}

function call_texts(i, n, line, body) {
	printf ".It"
	for (i = 2; i <= NF; i++)
		printf "%s Fn %s", (i > 2 ? " ," : ""), $i
	print ""
	n = rows_of("texts", $2)
	for (i = 1; i <= n; i++) {
		line = substr(row[i], index(row[i], "\t") + 1)
		if (line == "") {
			sentences(body)
			print ".Pp"
			body = ""
		} else {
			body = body (body == "" ? "" : body ~ /[.?!]\)?$/ ? "  " : " ") line
		}
	}
	sentences(body)
}

function structure(name, header, line, inside, found, headers, i, n) {
	n = split("quoit.h quoit/abi.h quoit/kernel.h quoit/team.h quoit/service.h quoit/sync.h quoit/named.h quoit/keyspace.h quoit/call.h", headers, " ")
	print ".Bd -literal -offset indent"
	for (i = 1; i <= n; i++) {
		header = library "/" headers[i]
		while ((getline line <header) > 0) {
			if (line ~ "^(struct|enum) " name " \\{$")
				found = inside = 1
			if (inside)
				print plain(line)
			if (line ~ /^};/)
				inside = 0
		}
		close(header)
	}
	print ".Ed"
	if (!found)
		fail("no structure " name)
}

function file(path, line, found) {
	print ".Bd -literal"
	while ((getline line <path) > 0) {
		if (line ~ /^#include/)
			found = 1
		if (found)
			print plain(line)
	}
	close(path)
	print ".Ed"
	if (!found)
		fail("no program " path)
}

function operations(i, n, field) {
	n = rows_of("operations", "")
	for (i = 1; i <= n; i++) {
		split(row[i], field, "\t")
		print ".It Sy " field[2] " Pq " field[1] " , tensors " argument(field[3]) " , elements " field[4]
		wrap(plain(field[6]) ".")
	}
}

# ---- commands ----

function command_list(i, n, field) {
	n = rows_of("commands", "")
	for (i = 1; i <= n; i++) {
		split(row[i], field, "\t")
		print ".It Xr quoit-" field[1] " 1"
		wrap(plain(field[2]) ".")
	}
}

# "[INTERVAL [COUNT]]" in mdoc.
function operands(command, text, field, word, i, n) {
	rows_of("options", command)
	split(row[1], field, "\t")
	text = field[4]
	gsub(/\[/, " [ ", text)
	gsub(/\]/, " ] ", text)
	gsub(/ *\.\.\./, "...", text)
	n = split(text, word, " ")
	for (i = 1; i <= n; i++) {
		if (word[i] == "[")
			print ".Oo"
		else if (word[i] == "]")
			print ".Oc"
		else if (word[i] == "--")
			print ".Fl -"
		else if (word[i] ~ /^[A-Z]+\.\.\.$/)
			print ".Ar " substr(word[i], 1, length(word[i]) - 3) " ..."
		else if (word[i] ~ /^[A-Z]/)
			print ".Ar " word[i]
		else
			print ".Cm " word[i]
	}
}

function usage(command, i, n, field) {
	print ".Nm " argument(command == "quoitd" ? command : "quoit " command)
	n = rows_of("options", command)
	for (i = 1; i <= n; i++) {
		split(row[i], field, "\t")
		if (field[2] == "option" && field[3] !~ /^(help|version)$/)
			print ".Op Fl " (field[4] == "" ? "-" field[3] : field[4]) (field[5] == "" ? "" : " Ar " field[5])
	}
	operands(command)
}

function range(field) {
	if (field[7] != "")
		print "By default " field[7] (field[8] == "" ? "" : "; " field[8] " to " field[9]) "."
	else if (field[8] != "")
		print field[8] " to " field[9] "."
}

function options(command, i, n, field) {
	n = rows_of("options", command)
	for (i = 1; i <= n; i++) {
		split(row[i], field, "\t")
		if (field[2] != "option")
			continue
		print ".It " (field[4] == "" ? "" : "Fl " field[4] " , ") "Fl -" field[3] (field[5] == "" ? "" : " Ar " field[5])
		wrap(plain(field[6]) ".")
		range(field)
	}
}

function settings(command, i, n, field) {
	n = rows_of("options", command)
	for (i = 1; i <= n; i++) {
		split(row[i], field, "\t")
		if (field[2] != "option" || field[3] ~ /^(config|check-config|help|version)$/)
			continue
		print ".It Va " field[3] " = " (field[5] == "" ? "Cm yes | no" : "Ar " field[5])
		wrap(plain(field[6]) ".")
		range(field)
		print field[10] == "reload" ? "Changes at a reload." : "Changes at a restart."
	}
}

function rules(command, i, n, field) {
	n = rows_of("options", command)
	for (i = 1; i <= n; i++) {
		split(row[i], field, "\t")
		if (field[2] != "rule")
			continue
		print ".It Va " field[3] " = Ar " field[5]
		wrap(plain(field[6]) ".")
		range(field)
	}
}

function tagged(tag, text) {
	print ".It Cm " tag
	wrap(plain(text) ".")
}

function words(command, i, n, field) {
	n = rows_of("options", command)
	for (i = 1; i <= n; i++) {
		split(row[i], field, "\t")
		if (field[2] == "word")
			tagged(field[3], field[4])
	}
}

function columns(command, i, n, field) {
	n = rows_of("columns", command)
	for (i = 1; i <= n; i++) {
		split(row[i], field, "\t")
		tagged(field[2], field[3])
	}
}

# What follows the first word: "trace record".
function rest() {
	return substr($0, index($0, " ") + 1)
}

/^@calls / { calls(); next }
/^@prototypes$/ { prototypes(); next }
/^@text / { call_texts(); next }
/^@struct / { structure($2); next }
/^@file / { file($2); next }
/^@operations$/ { operations(); next }
/^@commands$/ { command_list(); next }
/^@usage / { usage(rest()); next }
/^@operands / { operands(rest()); next }
/^@options / { options(rest()); next }
/^@settings / { settings(rest()); next }
/^@rules / { rules(rest()); next }
/^@words / { words(rest()); next }
/^@columns / { columns(rest()); next }
/^@/ { fail("what is " $1 "?") }

/^\.Bd -literal/ { literal = 1 }
/^\.Ed/ { literal = 0 }

{
	gsub(/@LIBEXECDIR@/, libexecdir)
	gsub(/@SYSCONFDIR@/, sysconfdir)
	gsub(/@PREFIX@/, prefix)
	wrap($0)
}

END { exit failed }
