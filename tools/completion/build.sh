#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh BUILD - make completion for bash and zsh in BUILD/completion from the tables in
# BUILD/tables
set -eu
cd "$(dirname "$0")/../.."
build=${1:?}
mkdir -p "$build/completion"
{
	cat tools/completion/quoit.bash
	awk -f tools/completion/tables.awk -v shell=bash -v tables="$build/tables"
} >"$build/completion/quoit"
awk -f tools/completion/tables.awk -v shell=zsh -v tables="$build/tables" >"$build/completion/tables.zsh"
sed -e "/^@TABLES@\$/r $build/completion/tables.zsh" -e '/^@TABLES@$/d' tools/completion/quoit.zsh >"$build/completion/_quoit"
rm "$build/completion/tables.zsh"
