#!/bin/sh
# SPDX-License-Identifier: MIT
# quick.sh BUILD - run lint, and the unit tests and end-to-end tests that do not take long, as
# shipped
#
# For developers between two changes: several at a time, without sanitizers, in under two minutes
# from a built tree.  A test that fails beside others is run again alone.  `make check` has the last
# word.
cd "$(dirname "$0")/.." || exit 1
build=${1:-build} # and KIND NAME: run that alone
logs=$build/quick
export LC_ALL=C WERROR=1 QUOIT_BUILD=$build
unset QUOIT_SOCKET OPENBLAS_CORETYPE
failed=0

say() { # WHAT OUTCOME
	printf '  %-8s%s\n' "$2" "$1"
}

tests() { # KIND
	for source in tests/"$1"/test_*.c; do
		name=$(basename "$source" .c)
		grep -qx "$1/$name" tests/slow_tests || echo "$name"
	done
}

# Several run at once, and each appends its result.
run_tests() { # KIND HOW_MANY_AT_A_TIME
	tests "$1" | xargs -P "$2" -n 1 sh "$0" "$build" "$1"
	again=$(sed -n 's/^FAIL \([^ ]*\) .*/\1/p' "$logs/$1.outcomes")
	for name in $again; do
		if timeout 300 "$build/tests/$1/$name" >"$logs/$name.log" 2>&1; then
			say "$name (alone; beside others it failed)" ok
		else
			failed=$((failed + 1))
			say "$name" FAIL
			grep -a -A 3 -e 'Assertion Failed' -e CRASH "$logs/$name.log" | head -n 20 | sed 's/^/          /'
		fi
	done
	say "$(grep -c . "$logs/$1.outcomes") programs of tests/$1" ran
}

# xargs starts this: one test; its log stays.
if [ $# -eq 3 ]; then
	outcome=FAIL begun=$(date +%s)
	! timeout 300 "$build/tests/$2/$3" >"$logs/$3.log" 2>&1 || outcome=ok
	echo "$outcome $3 $(($(date +%s) - begun))" >>"$logs/$2.outcomes"
	exit
fi

rm -rf "$logs"
mkdir -p "$logs"
echo 'looking at includes, format and links (make lint)'
if ! sh tests/lint.sh >"$logs/lint.log" 2>&1; then
	failed=$((failed + 1))
	say lint FAIL
	sed 's/^/          /' "$logs/lint.log"
fi
# Make's lines are shown as they come: the first build is long.
echo 'building the tests (the first time takes about a minute on two idle cores)'
# shellcheck disable=SC2046
{
	make -j"$(nproc)" --no-print-directory B="$build" binaries "$build/liar/quoitd" "$build/liar/quoit-exec" \
		$(for kind in unit e2e; do tests $kind | sed "s|^|$build/tests/$kind/|"; done) 2>&1 || touch "$logs/make.failed"
} | sed -u -e '/ is up to date\.$/d' -e '/: Nothing to be done for /d' | tee "$logs/make.log"
[ ! -e "$logs/make.failed" ] || exit 1
echo 'running the tests'
run_tests unit $((2 * $(nproc)))
run_tests e2e $((3 * $(nproc)))
[ $failed -eq 0 ] || {
	echo "$failed failed; logs are in $logs"
	exit 1
}
echo 'all passed'
