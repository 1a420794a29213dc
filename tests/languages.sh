#!/bin/sh
# SPDX-License-Identifier: MIT
# languages.sh BUILD - test quoit.h with every C and C++, and the library without the header
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${1:?}") || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
from=tests/languages
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror'
# The headers for programs and modules; all others are quoitd's own.
headers='quoit quoit/exec quoit/half quoit/kernel'

includes() {
	for header in $headers; do
		echo "#include <$header.h>"
	done
	echo 'int main(void) { return 0; }'
}

compile() { # COMPILER LANGUAGE STANDARD ARGUMENT...
	compiler=$1 language=$2 standard=$3
	shift 3
	"$compiler" -x "$language" -std="$standard" $warnings -Ilibclient/include "$@" 2>&1
}

# Run it under a quoitd of its own.
works() { # NAME PROGRAM ARGUMENT...
	name=$1
	shift
	said=$(timeout 60 "$build/quoit" run -- "$@" 2>&1) && pass || fail "$name" "$said"
}

available() {
	command -v "$1" >/dev/null && return
	echo "languages: $1 is missing"
	skipped=$((skipped + 1))
	return 1
}

includes >"$work/headers"
for language in c:c99 c:gnu99 c:c11 c:c17 c:c2x c++:c++11 c++:c++14 c++:c++17 c++:c++20; do
	standard=${language#*:}
	language=${language%:*}
	for compiler in gcc clang; do
		available $compiler || continue
		expect_nothing "$compiler says nothing about the headers as $standard" \
			"$(compile $compiler $language $standard -fsyntax-only "$work/headers")"
		expect_nothing "nor about a program" \
			"$(compile $compiler $language $standard -c -o "$work/$compiler-$standard.o" $from/builders.c)"
	done
done
for standard in c99 c2x c++11 c++20; do
	gcc "$work/gcc-$standard.o" -L"$build" -Wl,-rpath,"$build" -lquoit -o "$work/$standard" &&
		works "a program in $standard" "$work/$standard"
done

# A builder alone does nothing, so an unused result must be an error.
printf '%s\n' '#include <quoit.h>' 'void forgotten(quoit_tensor t);' 'void forgotten(quoit_tensor t) { quoit_fill(t, 1); }' >"$work/forgotten"
for compiler in gcc clang; do
	available $compiler || continue
	case $(compile $compiler c c17 -c -o /dev/null "$work/forgotten") in
	*unused-result*) pass ;;
	*) fail "$compiler warns about a builder whose SQE is not pushed" ;;
	esac
done

# Where an integer or bits belong, a floating-point number is refused and every valid one taken.
scalars() { # COMPILER LANGUAGE STANDARD EXPRESSION
	printf '%s\n' '#include <quoit.h>' 'struct quoit_sqe built(quoit_tensor t, struct quoit_sqe sqe, float f, long double l, int i, bool b);' \
		'struct quoit_sqe built(quoit_tensor t, struct quoit_sqe sqe, float f, long double l, int i, bool b)' \
		"{ (void)t; (void)sqe; (void)f; (void)l; (void)i; (void)b; return $4; }" >"$work/scalar"
	"$1" -x "$2" -std="$3" -w -Ilibclient/include -fsyntax-only "$work/scalar" 2>&1
}
wrong='fill_int(t, 1.5)
fill_int(t, f)
add_int(t, t, l)
sub_int(t, t, 2.0)
mul_int(t, t, f)
div_int(t, t, 2.0f)
min_int(t, t, 1e3)
max_int(t, t, 1.0L)
pow_int(t, t, 0.5)
compare_int(t, t, QUOIT_CMP_LT, 0.5)
axpby_int(t, 1.0, t, 2, t)
axpby_int(t, 1, t, f, t)
op_int(sqe, 0, 1.0, 0)
op_int(sqe, 0, 1, 0.5)
op_arg(sqe, 0, 1.0, 0)
op_arg(sqe, 0, 0, f)
with_scalars(sqe, 1.5, 0)
with_scalars(sqe, 0, l)'
right='fill_int(t, i)
fill_int(t, b)
add_int(t, t, 7ull)
sub_int(t, t, (short)1)
mul_int(t, t, INT64_MIN)
div_int(t, t, 2u)
min_int(t, t, 1l)
max_int(t, t, QUOIT_CMP_LT)
pow_int(t, t, 3)
compare_int(t, t, QUOIT_CMP_LT, i)
axpby_int(t, 1u, t, i, t)
op_int(sqe, 0, i, 1)
op_arg(quoit_op_int(sqe, 0, i, 1), 0, quoit_bits(1.5), 1)
with_scalars(quoit_with_scalars(sqe, 1, 2), quoit_float_bits(f), 1)
fill(t, 1)
add_scalar(t, t, i)'
for language in c:c11 c:c2x c++:c++11 c++:c++20; do
	for compiler in gcc clang; do
		available $compiler || continue
		while read -r call; do
			case $(scalars $compiler "${language%:*}" "${language#*:}" "quoit_$call") in
			*floating* | *deleted*) pass ;;
			*) fail "$compiler refuses $call in ${language#*:}" ;;
			esac
		done <<-END
			$wrong
		END
		while read -r call; do
			expect_nothing "$compiler takes $call in ${language#*:}" \
				"$(scalars $compiler "${language%:*}" "${language#*:}" "quoit_$call")"
		done <<-END
			$right
		END
	done
done

gcc -std=gnu17 -Wall -Ilibclient/include $from/loaded.c -o "$work/loaded" -ldl && works 'dlopen' "$work/loaded" "$build/libquoit.so.0"
if available gfortran; then
	gfortran -Wall -J"$work" $from/product.f90 -L"$build" -Wl,-rpath,"$build" -lquoit -o "$work/product" &&
		works 'Fortran' "$work/product" || fail 'Fortran'
fi
say_counts
