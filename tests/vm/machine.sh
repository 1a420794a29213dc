#!/bin/sh
# SPDX-License-Identifier: MIT
# machine.sh VM PAYLOAD REPORT SECONDS - boot VM/root in QEMU on two NUMA nodes, with PAYLOAD as
# /payload
#
# Output of the guest to /dev/ttyS1 goes to REPORT.  The root is a snapshot, so that a run changes
# nothing in it.  QEMU emulates, so that /dev/kvm is not needed; times mean nothing.  Root is not
# needed, either.  Each node has one CPU: with more CPUs than this machine has, all would take
# longer.
set -eu
vm=$1 payload=$2 report=$3 limit=$4
mke2fs -q -F -t ext4 -O ^has_journal -d "$payload" "$vm/payload.ext4" $(($(du -sm "$payload" | cut -f1) + 64))M
# The kernel does not test its ciphers: under emulation that has hung before our programs began.
exec timeout --kill-after=5 "$limit" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -M q35 \
	-smp 2,sockets=2 -m 1536M \
	-object memory-backend-ram,id=m0,size=768M -object memory-backend-ram,id=m1,size=768M \
	-numa node,nodeid=0,cpus=0,memdev=m0 -numa node,nodeid=1,cpus=1,memdev=m1 \
	-nodefaults -no-user-config -display none -serial stdio -serial "file:$report" -no-reboot \
	-drive "if=none,id=r,format=raw,snapshot=on,file=$vm/root.ext4" \
	-drive "if=none,id=p,format=raw,cache=unsafe,file=$vm/payload.ext4" \
	-device nvme,id=nv,serial=v -device nvme-ns,bus=nv,nsid=1,drive=r -device nvme-ns,bus=nv,nsid=2,drive=p \
	-kernel "$vm/vmlinuz" -append "root=/dev/nvme0n1 rw console=ttyS0 quiet panic=-1 mitigations=off audit=0 \
cryptomgr.notests systemd.show_status=0 systemd.log_color=0" </dev/null
