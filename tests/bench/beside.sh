#!/bin/sh
# SPDX-License-Identifier: MIT
# beside.sh BUILD [PAIRS] - compare a product under `quoit run` beside the program's own busy
# threads with the same product by OpenBLAS in the program, in turn: the median of PAIRS ratios
# (21), and their spread
build=$1
pairs=${2:-21}
unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS
make -s B="$build" "$build/quoit-beside" >/dev/null || exit
pairs_of=$(mktemp) || exit
trap 'rm -f "$pairs_of"' EXIT
"$build/quoit" run -- "$build/quoit-beside" "$pairs" >"$pairs_of"
case $? in
0) awk -v pairs="$pairs" -v names=gemm_beside/blas -f tests/bench/ratios.awk "$pairs_of" ;;
77) echo 'gemm_beside/blas - - ratio' ;;
*) exit 1 ;;
esac
