#!/bin/sh
# SPDX-License-Identifier: MIT
# new_operation.sh - test that a row of ops.def without arithmetic does not compile, on the CPU and
# for devices
#
# It adds a row to a copy of the headers, and compiles what runs the row's family.  Without nvcc the
# half for devices is skipped.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)

cpu() { # SOURCE
	gcc -std=gnu17 -D_GNU_SOURCE -DOP_ISA=base -I"$work/include" -iquote daemon -fsyntax-only "$1" 2>&1
}

device() { # SOURCE
	"$nvcc" -std=c++17 -arch=compute_90 -I"$work/include" -Icuda -ptx -o "$work/ptx" "$1" 2>&1
}

row() { # FAMILY TYPES: the number is free, the operation's name is `newest`
	rm -rf "$work/include"
	cp -r libclient/include "$work/include"
	echo "QUOIT_OP(200, NEWEST, newest, $1, \"WR--\", SAME, $2, 300, RERUN, \"newest\")" >>"$work/include/quoit/ops.def"
}

# It is the new row that the compiler names, not something else that is wrong.
refuses() { # WHERE SOURCE FAMILY TYPES
	row "$3" "$4"
	case $("$1" "$2") in
	*newest*) pass ;;
	*) fail "$2 does not compile with an operation of family $3 and types $4 that it has no code for" ;;
	esac
}

while read -r family types source kernels; do
	refuses cpu "daemon/ops/$source" "$family" "$types"
	[ -z "$nvcc" ] || refuses device "cuda/kernels/$kernels" "$family" "$types"
done <<END
FUNCTION N elementwise.c function.cu
GRADIENT F elementwise.c function.cu
ARITHMETIC N elementwise.c arithmetic.cu
BLEND N elementwise.c arithmetic.cu
REDUCTION F reduce.c reduce.cu
EXTREME N reduce.c reduce.cu
PLACE N reduce.c reduce.cu
RANDOM F random.c random.cu
END
if [ -z "$nvcc" ]; then
	echo 'new_operation: nvcc is missing: kernels of devices are not compiled'
	skipped=1
fi
say_counts
