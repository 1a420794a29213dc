# SPDX-License-Identifier: MIT
# tables.awk - print the tables of docs/man/tables.sh in the syntax of a shell
#
# Variables: shell (bash or zsh), tables (a folder).

function quoted(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

# The words that a value may be, if help lists them as in "error, warning, info or debug"; else "".
function choice(help) {
	if (help !~ /^[a-z]+(, [a-z]+)* or [a-z]+$/)
		return ""
	gsub(/, | or /, " ", help)
	return help
}

# Is it an option for quoit run?  Not the options that quoit run sets itself, nor those that make quoitd exit at once.
function is_for_run(name) {
	return name !~ /^(socket|private|ready-fd|check-config|version)$/
}

# ---- bash ----

function bash_option(command, f, words) {
	options[command] = options[command] " --" f[3]
	words = choice(f[6])
	if (f[5] == "")
		return
	print "_quoit_values[" quoted(command " --" f[3]) "]=" f[5]
	if (f[4] != "")
		print "_quoit_values[" quoted(command " -" f[4]) "]=" f[5]
	if (words != "")
		print "_quoit_words[" quoted(command " --" f[3]) "]=" quoted(words)
}

# ---- zsh ----

# Quote a text for zsh's _arguments.
function message(text) {
	gsub(/[]:\\[]/, "\\\\&", text)
	return text
}

function zsh_action(command, name, value, help) {
	if (name == "sort" || (name == "format" && value == "LIST"))
		return "_quoit_columns " (command == "top" ? "ps" : command)
	if (name == "disable")
		return "_quoit_operations"
	if (name == "user")
		return "_users"
	if (name == "stats-group")
		return "_groups"
	if (name == "session")
		return "_quoit_sessions"
	if (value ~ /^(PATH|FILE)$/)
		return "_files"
	if (value == "DIR")
		return "_files -/"
	return choice(help) == "" ? "" : "(" choice(help) ")"
}

function zsh_option(command, f, many, rest) {
	many = f[3] ~ /^(module|format|pid|user|quoitd)$/ ? "*" : ""
	rest = "[" message(f[6]) "]" (f[5] == "" ? "" : ":" f[5] ":" zsh_action(command, f[3], f[5], f[6]))
	specs[command] = specs[command] " " quoted(many "--" f[3] (f[5] == "" ? "" : "=") rest)
	if (f[4] != "")
		specs[command] = specs[command] " " quoted(many "-" f[4] (f[5] == "" ? "" : "+") rest)
}

function zsh_operand(command) {
	if (operands[command] ~ /CMD/)
		return quoted("(-):program: _command_names -e") " " quoted("*::argument: _normal")
	if (operands[command] ~ /SESSION/)
		return quoted("*:session:_quoit_sessions")
	if (operands[command] ~ /SERVICE/)
		return quoted(":service:_quoit_services")
	if (operands[command] ~ /USER/)
		return quoted(":user:_users")
	if (operands[command] ~ /FILE|PATH|TRACE/)
		return quoted("*:file:_files")
	if (words[command] != "")
		return quoted(":" operands[command] ":(" words[command] ")")
	return ""
}

function option(command, f) {
	if (shell == "bash")
		bash_option(command, f)
	else
		zsh_option(command, f)
}

function read_columns(line, f) {
	while ((getline line <(tables "/columns")) > 0) {
		split(line, f, "\t")
		columns[f[1]] = columns[f[1]] (columns[f[1]] == "" ? "" : " ") f[2]
	}
	while ((getline line <(tables "/operations")) > 0) {
		split(line, f, "\t")
		if (f[5] != "CONTROL" && f[2] != "nop") # the others cannot be disabled
			operations = operations (operations == "" ? "" : " ") f[2]
	}
}

function read_commands(line, f) {
	while ((getline line <(tables "/commands")) > 0) {
		split(line, f, "\t")
		commands = commands (commands == "" ? "" : " ") (shell == "bash" ? f[1] : quoted(f[1] ":" message(f[2])))
	}
}

function read_options(line, f) {
	while ((getline line <(tables "/options")) > 0) {
		split(line, f, "\t")
		if (f[2] == "command") {
			operands[f[1]] = f[4]
			order[++count] = f[1]
		} else if (f[2] == "word" || f[2] == "subcommand")
			words[f[1]] = words[f[1]] (words[f[1]] == "" ? "" : " ") f[3]
		else if (f[2] == "option" && f[1] != "run")
			option(f[1], f)
		if (f[1] == "quoitd" && f[2] == "option" && is_for_run(f[3]))
			option("run", f)
	}
}

function print_bash(i, command) {
	print "_quoit_commands=" quoted(commands)
	for (command in columns)
		print "_quoit_columns[" quoted(command) "]=" quoted(columns[command])
	print "_quoit_operations=" quoted(operations)
	for (i = 1; i <= count; i++) {
		command = order[i]
		print "_quoit_options[" quoted(command) "]=" quoted(substr(options[command], 2))
		print "_quoit_operands[" quoted(command) "]=" quoted(operands[command])
		if (words[command] != "")
			print "_quoit_words[" quoted(command) "]=" quoted(words[command])
	}
}

function print_zsh(i, command) {
	print "\tsubcommands=(" commands ")"
	for (command in columns)
		print "\tcolumns[" command "]=" quoted(columns[command])
	print "\toperations=(" operations ")"
	for (i = 1; i <= count; i++)
		print "\tspecs+=(" quoted(order[i]) " " quoted(substr(specs[order[i]], 2) " " zsh_operand(order[i])) ")"
}

BEGIN {
	read_columns()
	read_commands()
	read_options()
	if (shell == "bash")
		print_bash()
	else
		print_zsh()
}
