#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh BUILD PREFIX LIBEXECDIR SYSCONFDIR - the manual pages of docs/man, in BUILD/man
#
# A call that has no page of its own name gets one that is a link to the page it is on.
set -eu
cd "$(dirname "$0")/../.."
build=${1:?}
rm -rf "$build/man"
for source in docs/man/*.[1-8]; do
	page=${source##*/}
	folder=man${page##*.}
	mkdir -p "$build/man/$folder"
	awk -f docs/man/page.awk -v tables="$build/tables" -v library=libclient/include -v prefix="$2" \
		-v libexecdir="$3" -v sysconfdir="$4" "$source" >"$build/man/$folder/$page"
	for call in $(sed -n 's/^@calls //p' "$source"); do
		[ "$call.3" = "$page" ] || echo ".so man3/$page" >"$build/man/man3/$call.3"
	done
done
