#!/bin/sh
# SPDX-License-Identifier: MIT
# check_deps.sh - test deps.sh as root, in CI, on a terminal and without one
#
# dpkg-query, apt-get, sudo and id are replaced by ours: of three packages only "there" is
# installed, and commands are written down instead of run.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
deps=$PWD/tests/deps.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

make_command() { # NAME TEXT
	printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

mkdir "$work/bin"
make_command dpkg-query 'for p; do :; done; [ "$p" = there ] && echo "ii "'
make_command apt-get 'echo "$SUDO apt-get [$DEBIAN_FRONTEND] $*" >>"$RAN"'
make_command sudo 'SUDO=sudo exec "$@"'
make_command id 'echo "$USER_ID"'

# Run deps.sh as USER_ID, with CI set so; $said: its output, $ran: the commands that it ran.
try() { # USER_ID CI INPUT PACKAGE...
	user=$1 ci=$2 input=$3
	shift 3
	: >"$work/ran"
	line="env PATH=$work/bin:$PATH RAN=$work/ran USER_ID=$user CI=$ci SUDO= sh $deps $*"
	if [ "$input" = none ]; then
		said=$($line </dev/null 2>&1)
	else
		said=$(echo "$input" | script -qec "$line" /dev/null 2>&1)
	fi
	status=$?
	ran=$(cat "$work/ran")
}

expect() { # WHAT TEST-ARGUMENT...
	what=$1
	shift
	if test "$@"; then
		pass
	else
		fail "$what" "  status $status, said: $said, ran: $ran"
	fi
}

installs() { # PREFIX
	printf '%s apt-get [noninteractive] -o DPkg::Lock::Timeout=600 update -q\n' "$1"
	printf '%s apt-get [noninteractive] -o DPkg::Lock::Timeout=600 install -y --no-install-recommends one two' "$1"
}

try 0 false none there
expect 'nothing is run where nothing is missing' "$status $ran" = '0 '
try 0 false none one there two
expect 'root installs what is missing' "$status $ran" = "0 $(installs '')"
try 1000 true none one there two
expect 'CI installs with sudo' "$status $ran" = "0 $(installs sudo)"
try 1000 false none one there two
expect 'without a terminal nothing is run' "$status $ran" = '1 '
expect 'but the command is shown, and names what is missing' \
	-n "$(echo "$said" | grep 'sudo apt-get install .* one two$')"
try 1000 false y one there two
expect 'on a terminal a yes installs with sudo' "$status $ran" = "0 $(installs sudo)"
expect 'and the command was shown before' -n "$(echo "$said" | grep 'sudo apt-get install .* one two')"
try 1000 false n one there two
expect 'on a terminal a no does not' "$status $ran" = '1 '
said=$(make -n CC=no-such-compiler 2>&1)
case $said in
*"'no-such-compiler' is not found: \`make deps\` installs"*) pass ;;
*) fail 'without a compiler make says what gets one' "  said: $said" ;;
esac
said=$(make -n CC=no-such-compiler help 2>&1) || fail 'what needs no compiler goes without' "  said: $said"
say_counts
