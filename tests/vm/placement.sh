#!/bin/sh
# SPDX-License-Identifier: MIT
# placement.sh BUILD - test where quoitd runs and where its memory lies, on virtual NUMA machines, and
# that it survives memory that breaks
#
# QEMU emulates, so it needs neither /dev/kvm nor root, and says nothing about speed.  The kernel is
# $VM_KERNEL, or one of /boot that we may read, or Debian's, fetched once and not installed.  Exit
# status 77: there is no QEMU or no kernel; the last line says which.
b=${1:-build}
tree=$b/vm/tree
limit=120 # seconds a boot
passed=0 failed=0 skipped=0

skip() { # WHY
	echo "skipped: $1"
	exit 77
}

find_kernel() {
	for kernel in "$VM_KERNEL" /boot/vmlinuz-*; do
		[ ! -r "$kernel" ] || { echo "$kernel"; return; }
	done
	sh "$(dirname "$0")/kernel.sh" "$b" && echo "$b/vm/vmlinuz"
}

# Our programs and their libraries; the kernel starts /init.
make_tree() {
	rm -rf "$tree" && mkdir -p "$tree/lib64" "$tree/dev" "$tree/tmp"
	cp "$b/tests/vm/placement" "$tree/init" && cp "$b/quoitd" "$b/quoit-exec" "$b/quoit" "$tree/" || return 1
	ldd "$tree/init" "$tree/quoitd" "$tree/quoit-exec" "$tree/quoit" | sed -n 's/[^/]*\(\/[^ ]*\) (0x.*/\1/p' |
		sort -u | while read -r library; do
		mkdir -p "$tree$(dirname "$library")" && cp -L "$library" "$tree$library"
	done
	(cd "$tree" && find . -print0 | cpio --null --create --format=newc --quiet) >"$b/vm/initrd"
}

# A machine of two nodes with two cores of two threads each.  QEMU gives threads only to Intel's
# CPUs.  One thread emulates all eight: with one for each, boots hung now and then, and were no
# faster.  The kernel does not test its ciphers: under emulation that has hung before our programs
# began.
run_machine() { # NAME QEMU-OPTION...
	name=$1
	shift
	timeout $limit qemu-system-x86_64 -accel tcg,thread=single -cpu max,vendor=GenuineIntel -M q35 -m 512M \
		-smp 8,sockets=2,cores=2,threads=2 "$@" -nodefaults -no-user-config -display none -serial stdio \
		-no-reboot -kernel "$kernel" -initrd "$b/vm/initrd" \
		-append "console=ttyS0 quiet panic=-1 cryptomgr.notests machine=$name" </dev/null 2>&1 |
		tr -d '\r' >"$b/vm/$name.log"
}

# Try again if only QEMU and the kernel have printed anything: an emulated kernel sometimes hangs
# while it boots.
boot() { # NAME QEMU-OPTION...
	for try in 1 2 3; do
		run_machine "$@"
		! grep -qav -e '^qemu-system-' -e '^\[ *[0-9]' "$b/vm/$name.log" || break
		echo "$1: boot $try came to nothing"
	done
	echo "$name:"
	grep -av -e '^[0-9]* passed' -e 'reboot: Power down' "$b/vm/$name.log"
	line=$(grep -a '^[0-9]* passed, [0-9]* failed' "$b/vm/$name.log")
	[ -n "$line" ] || { echo "FAIL $name: it did not report"; line='0 passed, 1 failed, 0 skipped'; }
	passed=$((passed + ${line%% passed*}))
	line=${line#*, }
	failed=$((failed + ${line%% failed*}))
	line=${line#*, }
	skipped=$((skipped + ${line%% skipped*}))
}

command -v qemu-system-x86_64 >/dev/null || skip 'qemu-system-x86_64 is not installed'
command -v cpio >/dev/null || skip 'cpio is not installed'
kernel=$(find_kernel) || skip 'no kernel image in /boot that can be read, and none could be fetched'
make_tree || { echo "FAIL the programs are not built"; exit 1; }
boot two_nodes -object memory-backend-ram,id=m0,size=256M -object memory-backend-ram,id=m1,size=256M \
	-numa node,nodeid=0,cpus=0-3,memdev=m0 -numa node,nodeid=1,cpus=4-7,memdev=m1 \
	-device pxb-pcie,id=far,bus=pcie.0,bus_nr=128,numa_node=1 -device pcie-root-port,id=far_port,bus=far,chassis=1 \
	-device bochs-display,bus=far_port # on node 1: what a device of ours says that it is
boot one_memory -object memory-backend-ram,id=m0,size=512M \
	-numa node,nodeid=0,cpus=0-3,memdev=m0 -numa node,nodeid=1,cpus=4-7
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
