#!/bin/sh
# SPDX-License-Identifier: MIT
# top.sh BUILD - test quoit top on a terminal, as a person uses it
#
# tmux is the terminal: the test tells it which keys are pressed, and asks what it shows.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
build=$PWD/${1:-build}
folder=$(mktemp -d)
export QUOIT_SOCKET="$folder/quoitd.sock" LC_ALL=C.UTF-8
unset NO_COLOR TMUX
daemon='' clients='' terminals=0

command -v tmux >/dev/null || {
	echo 'skipped: tmux is missing'
	exit 77
}

terminal() { # COMMAND...: of tmux
	tmux -L "quoit-$$-$terminals" -f /dev/null "$@"
}

clean_up() {
	terminal kill-server 2>/dev/null
	# shellcheck disable=SC2086 # a list of numbers
	kill $clients $daemon 2>/dev/null
	wait
	rm -rf "$folder"
}
trap clean_up EXIT

start_daemon() {
	"$build/quoitd" --private --log=error &
	daemon=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ ! -S "$QUOIT_SOCKET" ] || return
		sleep 0.5
	done
}

# Run it in a terminal of this size; it prints how the command ended, and stays.
start_top() { # SIZE COMMAND
	terminal kill-server 2>/dev/null
	terminals=$((terminals + 1))
	terminal new-session -d -x "${1%x*}" -y "${1#*x}" -s top "$2; echo ended with \$?; sleep 1000"
}

press() { # KEY...
	terminal send-keys -t top "$@"
}

# A click as a terminal reports it: a button, and its place, counted from one.
click() { # COLUMN LINE
	at=$(printf '\\%03o\\%03o' $(($1 + 32)) $(($2 + 32)))
	press -l "$(printf "\\033[M $at\\033[M#$at")"
}

seen() { # PATTERN
	terminal capture-pane -p -t top | grep -Eq -- "$1"
}

# Wait until the terminal shows it; false after ten seconds.
shows() { # PATTERN
	for _ in $(seq 100); do
		! seen "$1" || return 0
		sleep 0.1
	done
	return 1
}

hides() { # PATTERN
	for _ in $(seq 100); do
		seen "$1" || return 0
		sleep 0.1
	done
	return 1
}

check() { # NAME COMMAND...
	name=$1
	shift
	if "$@"; then
		pass
	else
		fail "$name" "$(terminal capture-pane -p -t top 2>/dev/null)"
	fi
}

# Does it begin a line of its own, instead of continuing the first one?
second_line_is() { # PATTERN
	for _ in $(seq 100); do
		! terminal capture-pane -p -t top | sed -n 2p | grep -Eq -- "$1" || return 0
		sleep 0.1
	done
	return 1
}

says() { # STATUS WORDS COMMAND...
	status=$1 words=$2
	shift 2
	"$@" >"$folder/said" 2>&1 </dev/null
	[ $? -eq "$status" ] && grep -q -- "$words" "$folder/said"
}

start_daemon
train() { # SECONDS: to wait before
	sleep "$1"
	while :; do "$build/examples/w1_train" >/dev/null 2>&1 || sleep 1; done
}

# Two, so that one trains while the other starts again.
train 0 &
clients=$!
train 4 &
clients="$clients $!"

start_top 120x24 "$build/quoit top -d 0.3"
check 'it shows sessions by their commands' shows '^[^ ]+ +[0-9]+ +[0-9]+ .*w1_train'
check 'it shows a bar of each core, with what the system says' shows '^cpu0 .*\[.*\] .* t .* p .* sys'
check 'it shows what it costs itself' shows 'top itself: [0-9.]+% of a core, [0-9.]+M'
check 'it shows what nodes have' shows '^node0 +[0-9.]+[MGT] of memory'
press h
check 'h is help' shows 'sort the other way round'
press x
check 'any key leaves it' shows 'COMMAND'
press Down Enter
check 'Enter shows all about a session' shows '^Limited by '
press x
check 'any key leaves that' hides '^Limited by '
press U nobody Enter
check 'another user has no sessions' hides w1_train
press U Enter
check 'nobody in particular is everybody' shows w1_train
check 'the last line has keys' shows '^h help .* q end'
click 1 24
check 'a click on one presses it' shows 'sort the other way round'
press x
check 'any key leaves that, too' shows 'COMMAND'
press u
check 'u puts sessions below their users' shows ' `- .*w1_train'
check 'a user has one line' shows '[0-9] sessions'
press u
check 'and then users alone' hides w1_train
press u
check 'and then sessions again' shows w1_train
press / w1_tr Enter k
check 'what is searched for is chosen, and k asks' shows 'End session [0-9]+\?'
press n Enter / nosuchthing Enter
check 'what no line has is said' shows "No line has 'nosuchthing'"
press Escape c
check 'c lists the columns' shows '\[x\] COMMAND'
press Space Enter
check 'Space takes one away' hides '^USER'
press c Space Enter
check 'and back' shows 'USER'
press / w1_tr Enter k y Enter
check 'k and y end a session' shows 'Session [0-9]+ was ended'
press Escape
press d bad Enter 0.2 Enter h
check 'd sets the interval, once it is one' shows 'of the last 0.2 s'
press x 1
check '1 puts all cores into one line' shows '^[0-9]+ cores +\['
press 1 N R '>' '<' P
terminal resize-window -t top -x 20 -y 6
check 'on twenty columns lines are cut off' second_line_is '^[0-9]+ sessions, [0-9 a-z]*$'
terminal resize-window -t top -x 100 -y 20
check 'and all is back when there is room' shows w1_train
press q
check 'q ends it' shows 'ended with 0'

start_top 80x24 "$build/quoit top -n 2 -d 0.2"
check 'so many readings end it' shows 'ended with 0'
start_top 80x24 "TERM=nonsense $build/quoit top"
check 'an unknown terminal is named' shows "unknown terminal type 'nonsense'"
check 'without a terminal it says what to do' says 2 'see --batch' "$build/quoit" top
check 'an unknown column is named' says 2 "did you mean 'pid'" "$build/quoit" top -o pdi
check 'a delay that is none is named' says 2 "seconds '0' (0.1 to 3600)" "$build/quoit" top -d 0
check 'batch prints as often as asked for' says 0 w1_train "$build/quoit" top --batch -n 2 -d 0.2
check 'batch says nothing that is not text' test -z "$(tr -d '\n -~' <"$folder/said")"
check 'a closed pipe ends it' timeout 10 sh -c "'$build/quoit' top -b -d 0.1 | head -n 1 >/dev/null"

start_top 80x24 "$build/quoit top -d 0.2"
check 'before the end it lives' shows 'quoitd [0-9]+, up'
kill -KILL "$daemon"
check 'a dead quoitd is said to be dead' shows 'is dead: its last figures'
check 'and what it left stays' shows '^USER +PID SESSION'
start_daemon
check 'one that is started anew is followed' shows 'quoitd [0-9]+, up'
check 'with its sessions' shows '^[^ ]+ +[0-9]+ +[0-9]+ .* running +w1_'
press q
check 'and q still ends it' shows 'ended with 0'

say_counts
