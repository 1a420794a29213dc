# SPDX-License-Identifier: MIT
# steps.awk - split a page into the steps that a reader takes, in their order
#
# awk -v dir=DIR -f steps.awk PAGE makes DIR/NNN.file (first line: its name), DIR/NNN.command with
# DIR/NNN.expected, and DIR/unknown with each block of an unknown kind.
#
# ```c NAME     the reader saves this as NAME, likewise cuda and ini; a second block of that name is appended
# ```console    lines with "$ " are commands, "> " continues one; the other lines are its output
# ```sh         commands of a machine's administrator, which vm/systemd.sh and packages.sh run: skipped here
# ```text       a screen; not checked
function step(suffix) {
	return sprintf("%s/%03d.%s", dir, ++count, suffix)
}

function end_command() {
	if (command == "")
		return
	name = step("command")
	printf "%s\n", command >name
	close(name)
	sub(/command$/, "expected", name)
	printf "%s", expected >name
	close(name)
	command = expected = ""
}

function begin_block() {
	kind = "unknown"
	if ($0 == "```console") {
		kind = "console"
	} else if ($1 ~ /^```(c|cuda|ini)$/ && NF == 2) {
		kind = "file"
		name = step("file")
		print $2 >name
	} else if ($0 ~ /^```(sh|text)$/) {
		kind = "text"
	} else {
		printf "%s:%d: %s\n", FILENAME, FNR, $0 >(dir "/unknown")
	}
}

/^```/ {
	if (kind == "")
		begin_block()
	else {
		end_command()
		if (kind == "file")
			close(name)
		kind = ""
	}
	next
}
kind == "file" { print >name }
kind == "console" && /^\$ / { end_command(); command = substr($0, 3); next }
kind == "console" && /^> / { command = command "\n" substr($0, 3); next }
kind == "console" { expected = expected $0 "\n" }
END {
	if (kind != "")
		printf "%s: its last block does not end\n", FILENAME >(dir "/unknown")
}
