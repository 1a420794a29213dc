#!/bin/sh
# SPDX-License-Identifier: MIT
# pages.sh BUILD - test that the pages are true: programs compile, and commands run and print what
# the page shows
#
# README.md, docs/tutorial.md and docs/howto/ are followed as a reader would do it, in a home folder
# of their own, with what the tutorial has installed there.  `pages/steps.awk` says how a page marks
# its blocks.  Commands and options that any page names must exist; links.sh tests the links.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
root=$PWD
build=${1:-build}
tests=$root/tests/pages
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C B="$build"
unset QUOIT_SOCKET QUOIT_GPU MAKEFLAGS MAKELEVEL

pages() {
	find README.md CHANGELOG.md docs -name '*.md' | sort
}

done_by_a_reader() {
	echo docs/tutorial.md
	echo README.md
	find docs/howto -name '*.md' 2>/dev/null | sort
}

# ---- follow a page's steps ----

save() { # STEP
	name=$(head -n 1 "$1")
	tail -n +2 "$1" >>"$name"
	pass
}

# A command's exit status is $? of the next one; if it is not 0, the page asks for it.
carry_out() { # STEP
	command=$(cat "$1")
	[ "$status" -eq 0 ] || [ "$command" = 'echo $?' ] || fail "$page: this ends with $status, which the page does not show" "$last"
	give "$status"
	eval "$command" >"$work/output" 2>&1 </dev/null
	status=$?
	last=$command
	shown=${1%command}expected
	if awk -v shown="$shown" -v found="$work/output" -f "$tests/matches.awk"; then
		pass
	else
		fail "$page: $command" "$(echo 'the page shows:' && sed 's/^/    /' "$shown" && echo 'it prints:' && sed 's/^/    /' "$work/output")"
	fi
}

give() { # STATUS
	return "$1"
}

do_step() { # STEP
	case $1 in
	*.file) save "$1" ;;
	*.command) carry_out "$1" ;;
	esac
}

warnings() {
	for program in *.c; do
		[ ! -e "$program" ] || gcc -std=c17 -Wall -Wextra -fsyntax-only -I"$root/libclient/include" "$program" 2>&1
	done
}

# What a reader has as `quoit`: the tree with the sources, built.  The tutorial builds there; elsewhere
# its build/ is the build that is tested, wherever that is.
place_sources() { # PAGE
	if [ "$1" = docs/tutorial.md ]; then
		ln -s "$root" quoit
		return
	fi
	mkdir quoit
	for entry in "$root"/*; do
		[ "$entry" = "$root/build" ] || ln -s "$entry" quoit
	done
	ln -s "$(cd "$root" && realpath "$build")" quoit/build
}

# In a folder of its own.
do_page() { # PAGE
	page=$1 status=0
	steps=$work/steps/$page
	mkdir -p "$steps" "$HOME/$page"
	cd "$HOME/$page" || exit 1
	place_sources "$1"
	awk -v dir="$steps" -f "$tests/steps.awk" "$root/$page"
	expect_nothing "$page: every block is a file, commands or a screen" "$(cat "$steps/unknown" 2>/dev/null)"
	for step in "$steps"/*; do
		do_step "$step"
	done
	[ "$status" -eq 0 ] || fail "$page: its last command ends with $status" "$last"
	expect_nothing "$page: its programs draw no warning" "$(warnings)"
	cd "$root" || exit 1
}

# ---- names on all pages ----

# Code of pages that begins with one of our programs, without commands before or behind it; words
# behind -- belong to another program.
commands_named() { # PAGE
	awk -f "$tests/code.awk" "$1" | sed -nE 's/^(\$ )?(sudo (-u [a-z]+ )?)?([A-Z_]+=[^ ]* )*(quoitd?( .*|$))/\5/p' | sed -E 's/( -- |[|;&>]).*//'
}

help_of() { # COMMAND...: of it and, where it has such, of its subcommand
	case $1 in
	quoitd) "$build/quoitd" --help ;;
	run) "$build/quoit" run --help && "$build/quoitd" --help ;;
	trace | bench) "$build/quoit" "$1" --help && "$build/quoit" "$1" "${2:-}" --help ;;
	*) "$build/quoit" "$1" --help ;;
	esac 2>&1
}

is_command() { # WORD
	case $1 in
	*[!a-z]*) false ;;
	*) "$build/quoit" --help | grep -q "^  $1 " ;;
	esac
}

options_that_are_none() { # COMMAND [WORD...]
	help_of "$@" >"$work/help"
	for word; do
		case $word in
		--describe) ;; # of all, for those that make pages
		--*) grep -qE -e "(^|[ ,])${word%%=*}([ ,]|\$)" "$work/help" || echo "$1 $word" ;;
		esac
	done
}

# A command alone, as `quoit`, is a name; a word in capitals stands for any.
named_and_not_there() {
	for page in $(pages); do
		commands_named "$page" | sort -u | while read -r program command arguments; do
			case $program:$command in
			quoitd:*) options_that_are_none quoitd $command $arguments ;;
			quoit: | quoit:-* | quoit:[A-Z]*) ;;
			*) is_command "$command" && options_that_are_none "$command" $arguments || echo "quoit $command" ;;
			esac | sed "s|^|$page: |"
		done
	done
}

expect_nothing 'commands and options that pages name exist' "$(named_and_not_there)"
export HOME="$work/home"
do_page docs/tutorial.md # it installs what the others use
do_page README.md
for page in docs/howto/*.md; do
	[ ! -e "$page" ] || do_page "$page"
done
say_counts
