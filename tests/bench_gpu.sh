#!/bin/sh
# SPDX-License-Identifier: MIT
# bench_gpu.sh BUILD [FILE] - jobs on the first GPU beside its driver called directly
#
# Prints the ratios and writes every sample to FILE (BUILD/bench-gpu.json).  77: there is none.
cd "$(dirname "$0")/.." || exit 2
build=${1:-build}
file=${2:-$build/bench-gpu.json}
unset QUOIT_SOCKET
export QUOIT_GPU="${QUOIT_GPU:-cuda}"

device=$("$build/quoit" run -- "$build/quoit" topo | grep '^device:')
case $device in
*', pid '*) echo "$device" ;;
*)
	echo "skipped: ${device:-no device}"
	exit 77
	;;
esac
"$build/quoit" bench device --json >"$file" || exit 1
awk '/"device_[a-z0-9_]*\/direct"/ { name = $1 } /"median"/ && name { print name, $2; name = "" }' "$file" |
	tr -d '":,'
