#!/bin/sh
# SPDX-License-Identifier: MIT
# cholesky.sh BUILD [RUNS] - compare the example `cholesky` (2048, tiles on a team and Quoit's
# products) with LAPACK's dpotrf in two threads, in turn: the median of RUNS ratios (11), and their
# spread
build=$1
runs=${2:-11}
unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS
if [ ! -x "$build/examples/cholesky" ]; then
	echo 'cholesky/dpotrf - - ratio'
	exit
fi
for _ in $(seq "$runs"); do
	"$build/quoit" run -- "$build/examples/cholesky" 2048 || exit
done | sed -n 's/.*in tiles: \([0-9.]*\) ms; dpotrf: \([0-9.]*\) ms;.*/\1 \2/p' |
	awk -v pairs="$runs" -v names=cholesky/dpotrf -f tests/bench/ratios.awk
