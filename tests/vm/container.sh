#!/bin/sh
# SPDX-License-Identifier: MIT
# container.sh VM PAYLOAD SECONDS - boot VM/root in a systemd-nspawn container, with PAYLOAD as
# /payload
#
# The tree is under an overlay, so that a run changes nothing in it.  Nothing is registered with
# this machine's systemd, which may not exist.  Run it as root.
set -eu
export vm=$1 payload=$2 limit=$3
# Our mounts go with this namespace.
exec unshare --mount --propagation=slave sh -c '
	mkdir -p /run/systemd/nspawn && mount -t tmpfs tmpfs /run/systemd/nspawn
	exec timeout --kill-after=5 "$limit" systemd-nspawn --quiet --boot --directory="$vm/root" --machine="quoit$$" \
		--volatile=overlay --bind="$payload:/payload" --register=no --keep-unit --link-journal=no \
		--private-users=no --private-network --console=read-only --capability=CAP_IPC_LOCK,CAP_SYS_NICE \
		--system-call-filter="@memlock @resources" \
		systemd.show_status=0 systemd.log_color=0 </dev/null'
