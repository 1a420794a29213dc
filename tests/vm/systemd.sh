#!/bin/sh
# SPDX-License-Identifier: MIT
# systemd.sh BUILD [container | machine] - test the shipped units under a real systemd
#
# In a systemd-nspawn container, at this machine's speed, and in a virtual machine with two NUMA
# nodes and cgroup v2 (QEMU emulates: it needs no /dev/kvm).  Both boot a Debian that root.sh makes
# once, with the files that `make install` installs, and run the tests of guest/ one by one.
# Default: both.  Exit status 77: the last line says what is missing.
b=${1:-build}
which=${2:-both}
here=$(dirname "$0")
vm=$PWD/$b/vm
payload=$vm/payload
passed=0 failed=0 skipped=0

skip() { # WHY
	echo "skipped: $1"
	exit 77
}

# Debian's packages of the libraries that our programs were linked with; the loader names some by
# their link.
libraries() {
	ldd "$b/quoitd" "$b/quoit" "$b/quoit-exec" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | sort -u |
		while read -r library; do
			dpkg -S "$library" 2>/dev/null || dpkg -S "/usr$library" 2>/dev/null || dpkg -S "${library#/usr}"
		done | sed 's/:.*//' | sort -u
}

# The README's program, with the installed library.
compile_hello() {
	awk -v name=hello.c -f tests/pages/block.awk README.md >"$vm/hello.c"
	${CC:-gcc} -std=c17 "$vm/hello.c" -I"$payload/tree/usr/local/include" -L"$payload/tree/usr/local/lib" -lquoit \
		-o "$payload/hello"
}

make_payload() {
	rm -rf "$payload"
	mkdir -p "$payload"
	make --no-print-directory install B="$b" DESTDIR="$payload/tree" PREFIX=/usr/local >"$vm/install.log" 2>&1 &&
		rm -rf "$payload"/tree/usr/local/share/man "$payload"/tree/usr/local/lib/*.a "$payload"/tree/usr/local/libexec/quoit/*cuda* &&
		compile_hello && cp "$b/tests/vm/client" "$b/tests/torture/hostile_shared" "$b/modules/sample.so" "$payload/" && cp -r "$here/guest" "$payload/"
}

# The report stays as it was written; the guest's other output is beside it.
count() { # NAME
	report=$vm/$1.report
	tr -d '\r\0' <"$report" >"$report.txt"
	echo "$1:"
	sed -e '/^END$/d' -e 's/^/  /' "$report.txt"
	passed=$((passed + $(grep -ac '^ok ' "$report.txt")))
	failed=$((failed + $(grep -ac '^not ok ' "$report.txt")))
	skipped=$((skipped + $(grep -ac '^skipped ' "$report.txt")))
	if ! grep -qax END "$report.txt"; then
		failed=$((failed + 1))
		echo "not ok $1: it ended before its tests; it said last:"
		tail -n 30 "$vm/$1.log" | sed 's/^/    /'
	fi
}

run_container() {
	: >"$payload/report"
	sh "$here/container.sh" "$vm" "$payload" 300 >"$vm/container.log" 2>&1
	mv "$payload/report" "$vm/container.report"
}

run_machine() {
	: >"$vm/machine.report"
	sh "$here/machine.sh" "$vm" "$payload" "$vm/machine.report" 800 >"$vm/machine.log" 2>&1
}

[ "$(id -u)" -eq 0 ] || skip 'a root file system is made, and systemd-nspawn run, by root alone'
for program in mmdebstrap systemd-nspawn qemu-system-x86_64 mke2fs; do
	command -v $program >/dev/null || skip "$program is not installed"
done
unshare --mount true 2>/dev/null || skip 'this root may not mount'
mkdir -p "$vm"
# shellcheck disable=SC2046
sh "$here/root.sh" "$vm" $(libraries) >"$vm/root.log" 2>&1 || { tail -n 20 "$vm/root.log"; exit 1; }
make_payload || { tail -n 20 "$vm/install.log"; exit 1; }
if [ "$which" != container ]; then
	sh "$here/kernel.sh" "$b" >"$vm/kernel.log" 2>&1 || { tail -n 20 "$vm/kernel.log"; exit 1; }
fi
[ "$which" = machine ] || { run_container; count container; }
[ "$which" = container ] || { run_machine; count machine; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
