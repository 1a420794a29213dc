#!/bin/sh
# SPDX-License-Identifier: MIT
# completion.sh BUILD - test what bash and zsh make of half-typed words
#
# The expected commands and options come from --help, not from the tables of which completion is
# made.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
build=$PWD/${1:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C PATH="$build:$PATH" QUOIT_SOCKET="$work/quoitd.sock"

check() { # NAME EXPECTED FOUND
	if [ "$2" = "$3" ]; then
		pass
	else
		fail "$1" "  expected: $2, found: $3"
	fi
}

# ---- bash: call the function as the shell does ----

bash_makes() { # WORD...: of the last one
	bash --norc -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _quoit 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"' \
		"$build/completion/quoit" "$@" | sort -u | tr '\n' ' ' | sed 's/ $//'
}

expect() { # WHAT EXPECTED WORD...
	what=$1 expected=$2
	shift 2
	check "bash: $what" "$expected" "$(bash_makes "$@")"
}

# Complete in a folder with few files.
bash_in() { # FOLDER WORD...
	(cd "$1" && shift && bash_makes "$@")
}

commands() {
	quoit --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
}

long_options() { # COMMAND...
	"$@" --help | grep -oE '^  (-., )?--[a-z][a-z-]*(, --[a-z]+)?' | grep -oE -- '--[a-z][a-z-]*' | sort | tr '\n' ' ' | sed 's/ $//'
}

check 'bash completes quoit and quoitd' 'complete -F _quoit quoit complete -F _quoit quoitd' \
	"$(bash --norc -c 'source "$0"; complete -p quoit; complete -p quoitd' "$build/completion/quoit" | tr '\n' ' ' | sed 's/ $//')"
check 'bash: every command' "$({ commands; printf '%s\n' --help --version; } | sort | tr '\n' ' ' | sed 's/ $//')" "$(bash_makes quoit '')"
for command in $(commands); do
	[ "$command" != run ] || continue
	check "bash: every option of $command" "$(long_options quoit "$command")" "$(bash_makes quoit "$command" --)"
done
check 'bash: every option of quoitd' "$(long_options quoitd)" "$(bash_makes quoitd --)"
check 'bash: of run those of quoitd, but what it sets itself and what starts none' \
	"$(long_options quoitd | tr ' ' '\n' | grep -vxE -- '--(socket|private|ready-fd|check-config|version)' | tr '\n' ' ' | sed 's/ $//')" "$(bash_makes quoit run --)"
check 'bash: every column' "$(quoit ps --columns | awk '{ print $1 }' | sort | tr '\n' ' ' | sed 's/ $//')" "$(bash_makes quoit ps -o '')"
for command in ls calls; do
	check "bash: every column of $command" "$(quoit $command --columns | awk '{ print $1 }' | sort | tr '\n' ' ' | sed 's/ $//')" "$(bash_makes quoit $command --sort '')"
done
expect 'a command' ps quoit p
expect 'an option' '--socket --sort' quoit ps --so
expect 'a user whose share it is' nobody quoit share nobod
expect 'the last element of a list' user,session quoit ps -o user,sess
expect 'a column to sort by' -etime quoit ps --sort = -etim
expect 'of a value that is empty everything' "$(bash_makes quoit ps -o '')" quoit ps --format ''
expect 'a column of top' %busy quoit top --sort %bu
expect 'a benchmark' 'service submit sync syscalls' quoit bench s
expect 'the values of an option' 'debug error info warning' quoitd --log ''
expect 'the same behind =' 'debug error info warning' quoitd --log =
expect 'and once one is begun' warning quoitd --log = w
expect 'operations that can be switched off' file_read,file_write quoitd --disable file_read,file_w
expect 'and no others' '' quoitd --disable fre
expect 'an option of quoitd before the program of run' debug quoit run --lease 1G --log = d
expect 'none that run sets itself' '' quoit run --socket
expect 'the subcommands' 'json record' quoit trace ''
expect 'one of them' record quoit trace r
expect 'beside its command its options' '--help --version' quoit trace --
for subcommand in record json; do
	check "bash: every option of trace $subcommand" "$(long_options quoit trace "$subcommand")" "$(bash_makes quoit trace "$subcommand" --)"
done
expect 'an option of a subcommand' --output quoit trace record --o
expect 'checks of doctor' 'cpu cpuset' quoit doctor cpu
expect 'nothing for what is no command' '' quoit frobnicate --
mkdir "$work/files"
touch "$work/files/one.sock" "$work/files/other"
check 'bash: a path is a file' one.sock "$(bash_in "$work/files" quoit stat --socket on)"
check 'bash: --config=FILE, too' 'one.sock other' "$(bash_in "$work/files" quoitd --config = o)"
check "bash: what run's program is given are its own" 'one.sock other' "$(bash_in "$work/files" quoit run --lease 1G -- cat o)"
check 'bash: a recording for report' 'one.sock other' "$(bash_in "$work/files" quoit report o)"
check 'bash: a recording for trace json' other "$(bash_in "$work/files" quoit trace json ot)"
check 'bash: a file to record into' other "$(bash_in "$work/files" quoit trace record -o ot)"
check 'bash: a program to record' quoit-exec "$(bash_makes quoit trace record -o a.trace -- quoit-exe)"
check 'bash: and what it is given' 'one.sock other' "$(bash_in "$work/files" quoit trace record --output = a.trace -- cat o)"
check 'bash: a program of serve' quoit-exec "$(bash_makes quoit serve -n 2 quoit-exe)"
check 'bash: and what it is given' 'one.sock other' "$(bash_in "$work/files" quoit serve --once -- cat o)"
check 'bash: a program of run' quoit-exec "$(bash_makes quoit run --log error quoit-exe)"

# ---- zsh: press Tab in a terminal ----

zsh_makes() { # LINE: what is on the line then
	zsh -f -c '
		zmodload zsh/zpty
		zpty terminal zsh -f -i
		zpty -w terminal "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
		zpty -w terminal "tab() { zle complete-word; print -r -- \"<<\$BUFFER>>\"; exit }; zle -N tab; bindkey \"^I\" tab"
		zpty -w -n terminal "$2"$'"'\\t'"'
		while zpty -r terminal line; do print -r -- $line; done' zsh "$build/completion" "$1" |
		sed -n 's/.*<<\(.*\)>>.*/\1/p' | tail -n 1
}

expect_zsh() { # LINE EXPECTED
	check "zsh: $1" "$2" "$(zsh_makes "$1")"
}

if command -v zsh >/dev/null; then
	check 'zsh reads it' '' "$(zsh -n "$build/completion/_quoit" 2>&1)"
	for command in $(commands); do
		[ "$(commands | grep -c "^${command%?}")" -ne 1 ] || expect_zsh "quoit ${command%?}" "quoit $command "
	done
	expect_zsh 'quoit ps --sor' 'quoit ps --sort='
	expect_zsh 'quoit ps -o user,sess' 'quoit ps -o user,session'
	expect_zsh 'quoit ps --sort=-etim' 'quoit ps --sort=-etime'
	expect_zsh 'quoit ls -o name,lan' 'quoit ls -o name,lanes'
	expect_zsh 'quoit calls --sort=-long' 'quoit calls --sort=-longest'
	expect_zsh 'quoit top --sort=-etim' 'quoit top --sort=-etime'
	expect_zsh 'quoit serve -n 2 quoit-exe' 'quoit serve -n 2 quoit-exec '
	expect_zsh 'quoit bench ch' 'quoit bench chain '
	expect_zsh 'quoit run --leas' 'quoit run --lease='
	expect_zsh 'quoit run --log=debug quoit-exe' 'quoit run --log=debug quoit-exec '
	expect_zsh 'quoit run -- quoit-exe' 'quoit run -- quoit-exec '
	expect_zsh 'quoit trace r' 'quoit trace record '
	expect_zsh 'quoit trace record --o' 'quoit trace record --output='
	expect_zsh 'quoit trace record -o a -- quoit-exe' 'quoit trace record -o a -- quoit-exec '
	expect_zsh 'quoit trace json docs/archi' 'quoit trace json docs/architecture.md '
	expect_zsh 'quoit report docs/archi' 'quoit report docs/architecture.md '
	expect_zsh 'quoit doctor wak' 'quoit doctor wake-up '
	expect_zsh 'quoitd --log=wa' 'quoitd --log=warning '
	expect_zsh 'quoitd --gpu-pe' 'quoitd --gpu-peers '
	expect_zsh 'quoitd --disable=file_r' 'quoitd --disable=file_read'
else
	skipped=1
	echo 'skipped: zsh is missing'
fi

# ---- with a quoitd: complete its sessions ----

quoitd --private --log=error --ready-fd=3 3>"$work/ready" &
daemon=$!
for _ in $(seq 200); do
	[ ! -s "$work/ready" ] || break
	sleep 0.1
done
"$build/examples/w1_train" --batches 1000000 >/dev/null 2>&1 &
client=$!
for _ in $(seq 200); do
	session=$(quoit ps --no-headers -o session 2>/dev/null | tr -d ' ')
	[ -z "$session" ] || break
	sleep 0.1
done
expect 'the sessions' "${session:-none}" quoit kill ''
expect 'the session to show' "${session:-none}" quoit top --session ''
[ "$skipped" -ne 0 ] || expect_zsh 'quoit kill ' "quoit kill ${session:-none} "
kill "$client" "$daemon"
wait 2>/dev/null

say_counts
