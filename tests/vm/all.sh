#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh BUILD - run every test that needs a machine, or an init, of its own
here=$(dirname "$0")
status=0
for test in placement systemd; do
	sh "$here/$test.sh" "$1"
	result=$?
	[ $result -eq 0 ] || [ $result -eq 77 ] || status=1
done
make --no-print-directory B="$1" deb && sh "$here/../packages.sh" "$1" fresh
result=$?
[ $result -eq 0 ] || [ $result -eq 77 ] || status=1
exit $status
