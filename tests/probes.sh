#!/bin/sh
# SPDX-License-Identifier: MIT
# probes.sh BUILD - test that the USDT probes are those of quoit_probes(7), with those arguments
#
# tests/e2e/test_probes.c tests what tracers see.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

for tool in readelf mandoc; do
	command -v $tool >/dev/null || {
		echo "skipped: $tool is missing"
		exit 77
	}
done

# "quoitd:fetch 8 4 4 4" for every place of that probe: the bytes of its arguments, signed ones with
# a sign.
in_file() { # FILE NAME
	readelf -nW "$1" | awk -v object="$2" '
		/Provider: / { provider = $NF }
		/Name: / { name = $2 }
		/Semaphore: / { semaphore = $NF }
		/Arguments: / {
			if (provider != "quoit" || semaphore ~ /^0x0+$/)
				next
			line = object ":" name
			for (i = 2; i <= NF; i++)
				if ($i ~ /^-?[0-9]+@/)
					line = line " " substr($i, 1, index($i, "@") - 1)
			print line
		}' | sort -u
}

# The same from the manual.
in_manual() { # NAME
	mandoc -T ascii -O width=1000 "$build/man/man7/quoit_probes.7" | sed 's/.\x08//g' | awk -v object="$1" '
		$1 ~ "^" object ":[a-z]+$" { line = $1; next }
		line != "" && /[ui](32|64) / {
			n = split($0, argument, ",")
			for (i = 1; i <= n; i++) {
				split(argument[i], word, " ")
				line = line " " (word[1] ~ /^i/ ? "-" : "") substr(word[1], 2) / 8
			}
			print line
			line = ""
		}' | sort -u
}

differences() { # FILE NAME
	in_file "$build/$1" "$2" >"$work/file"
	in_manual "$2" >"$work/manual"
	[ -s "$work/file" ] || echo 'there are no probes'
	diff "$work/manual" "$work/file"
}

# A probe in a function that is inlined may have several places.
expect_nothing 'the probes of quoitd are those of the manual' "$(differences quoitd quoitd)"
expect_nothing 'the probes of libquoit are those of the manual' "$(differences libquoit.so.0 libquoit)"
expect_nothing 'the probes of libquoit.a are those of the manual' "$(differences examples/hello libquoit)"
expect_nothing 'public headers do not need sys/sdt.h' "$(grep -rl 'sdt\.h' libclient/include)"
say_counts
