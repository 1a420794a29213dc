#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh - the include rule, the format, the licence lines
#
# Includes go down only: abi.h <- ring.h <- libclient; daemon/, cuda/ and tools/ include
# libclient/include/ and nothing of each other.
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0

check() { # NAME OUTPUT: nothing is good
	if [ -z "$2" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'lint: %s\n%s\n' "$1" "$2"
	fi
}

# Files that FOLDER includes with quotes must lie in it (or below its private folders).
own_includes() {
	git ls-files "$1/*.c" "$1/*.h" | while read -r f; do
		sed -n 's/^#include "\(.*\)"/\1/p' "$f" | while read -r i; do
			[ -f "$(dirname "$f")/$i" ] || [ -f "$1/$i" ] || echo "$f includes \"$i\""
		done
	done
}

for folder in libclient daemon tools cuda; do
	check "$folder/ includes only its own files and libclient/include" "$(own_includes $folder)"
done
check 'public headers include only public headers' \
	"$(grep -n '^#include "' libclient/include/quoit.h libclient/include/quoit/*)"
check 'abi.h includes only stdint.h and ops.def' \
	"$(grep -n '^#include' libclient/include/quoit/abi.h | grep -v -e '<stdint.h>' -e '<quoit/ops.def>')"
check 'ring.h includes no header of ours' "$(grep -n '^#include <quoit' libclient/include/quoit/ring.h)"
check 'libquoit needs only libc' \
	"$(grep -lE '#include <(hwloc|numa|liburing|jansson|ini)' libclient/*.c libclient/*.h)"
check 'every file has its licence line' \
	"$(git ls-files '*.c' '*.h' '*.sh' '*.def' '*.pml' Makefile | xargs grep -L 'SPDX-License-Identifier: MIT')"
if command -v clang-format >/dev/null; then
	check 'clang-format' "$(git ls-files '*.c' '*.h' | xargs clang-format --dry-run 2>&1 | grep -m 20 warning)"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
