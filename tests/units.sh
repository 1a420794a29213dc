#!/bin/sh
# SPDX-License-Identifier: MIT
# units.sh - test that the installed units are well-formed, and expose as little as we promise
#
# Tests under a real systemd test that they work.
. "$(dirname "$0")/counting.sh"
cd "$(dirname "$0")/.." || exit 1
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
export LC_ALL=C

command -v systemd-analyze >/dev/null || {
	echo 'skipped: systemd-analyze is missing'
	exit 77
}

# Units name the installed programs, so they are verified as installed.
make_tree() {
	make --no-print-directory install PREFIX="$tree/usr" >"$tree/log" 2>&1 || cat "$tree/log"
}

system_units() {
	find "$tree/usr/lib/systemd/system" -type f
}

# It prints nothing about a good unit; its exit status does not always tell of an error.
verify() { # [--user] UNIT...
	XDG_RUNTIME_DIR=$tree systemd-analyze verify --man=no "$@" 2>&1 || echo "status $?"
}

# Of ten.  A user's own manager can hardly give a service any of this: that unit asks only for
# settings that need no namespace.
too_exposed() {
	for unit in $(system_units | grep '\.service$'); do
		systemd-analyze security --no-pager --offline=true --threshold=10 "$unit" >"$tree/log" 2>&1 ||
			tail -n 1 "$tree/log"
	done
}

# Settings that other hardening must not bring: each of these breaks GPUs, or hides who users are.
set_wrongly() {
	for line in PrivateDevices=yes PrivateUsers=yes ProcSubset=pid DynamicUser=yes; do
		grep -nx "$line" "$tree/usr/lib/systemd/system/quoitd.service"
	done
	grep -qx 'DevicePolicy=closed' "$tree/usr/lib/systemd/system/quoitd.service" || echo 'DevicePolicy= is not closed'
}

# What both services have.
common_protection() {
	cat <<END
Restart=on-failure
LimitCORE=0
DevicePolicy=closed
AmbientCapabilities=
CapabilityBoundingSet=
NoNewPrivileges=yes
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
SystemCallArchitectures=native
IPAddressDeny=any
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateMounts=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RemoveIPC=yes
KeyringMode=private
UMask=0077
END
}

# Each of these protects users from quoitd, or quoitd from them, and none may be missing or weaker.
# The sum that systemd-analyze makes of them would hardly show one.
protection() { # UNIT
	case $1 in
	quoitd.service)
		common_protection
		cat <<END
User=quoit
Group=quoit
RuntimeDirectory=quoit
RuntimeDirectoryMode=0755
RuntimeDirectoryPreserve=yes
KillMode=mixed
WatchdogSec=30
RestartPreventExitStatus=2 77
OOMPolicy=continue
OOMScoreAdjust=-500
MemoryMax=80%
TasksMax=8192
LimitNOFILE=524288
LimitMEMLOCK=infinity
DeviceAllow=char-nvidia rw
DeviceAllow=char-nvidiactl rw
DeviceAllow=char-nvidia-frontend rw
DeviceAllow=char-nvidia-uvm rw
DeviceAllow=char-nvidia-caps rw
PrivateUsers=no
SystemCallFilter=~@privileged
RestrictAddressFamilies=AF_UNIX
PrivateNetwork=yes
ProcSubset=all
END
		;;
	quoit-exporter.service)
		common_protection
		cat <<END
DynamicUser=yes
RestartPreventExitStatus=2
OOMScoreAdjust=500
MemoryMax=128M
TasksMax=16
LimitNOFILE=1024
SystemCallFilter=~@privileged @resources
RestrictAddressFamilies=AF_INET AF_INET6
IPAddressAllow=localhost
PrivateDevices=yes
PrivateUsers=yes
ProcSubset=pid
END
		;;
	quoitd.socket) cat <<END ;;
ListenSequentialPacket=/run/quoit/quoitd.sock
SocketMode=0660
SocketGroup=quoit
DirectoryMode=0755
PassCredentials=yes
Backlog=512
RemoveOnStop=yes
END
	esac
}

missing_protection() {
	for unit in quoit-exporter.service quoitd.service quoitd.socket; do
		protection "$unit" | while read -r line; do
			grep -qxF "$line" "$tree/usr/lib/systemd/system/$unit" || echo "$unit lacks $line"
		done
	done
}

# A setting that is not in the list could be taken out without a failing test.
not_in_the_list() {
	for unit in quoit-exporter.service quoitd.service quoitd.socket; do
		sed -n '/^\[S[a-z]*\]/,/^\[Install\]/p' "$tree/usr/lib/systemd/system/$unit" |
			grep -E '^[A-Z][A-Za-z]*=' | grep -vE '^(Type|Exec[A-Za-z]*|Timeout[A-Za-z]*|RestartSec|Environment[A-Za-z]*)=' |
			while read -r line; do
				protection "$unit" | grep -qxF "$line" || echo "$unit: $line"
			done
	done
}

words_left() {
	grep -rnE '@[A-Z]+@' "$tree/usr/lib/systemd" "$tree/usr/lib/sysusers.d" "$tree/usr/lib/tmpfiles.d"
}

# Below a root of its own, without any users yet.
user_and_folder_not_made() {
	root=$tree/root
	mkdir -p "$root/etc"
	systemd-sysusers --root="$root" "$tree/usr/lib/sysusers.d/quoit.conf" 2>&1 | grep -v '^Creating '
	id=$(sed -n 's/^quoit:[^:]*:\([0-9]*:[0-9]*\):.*/\1/p' "$root/etc/passwd")
	grep -q "^quoit:[^:]*:${id#*:}:" "$root/etc/group" || echo 'there is no group quoit'
	[ "$(id -u)" -eq 0 ] || return # it cannot give the folder away
	systemd-tmpfiles --root="$root" --create "$tree/usr/lib/tmpfiles.d/quoit.conf" 2>&1
	[ "$(stat -c '%u:%g %a' "$root/run/quoit")" = "$id 755" ] || stat -c '%u:%g %a' "$root/run/quoit"
}

expect_nothing 'make install' "$(make_tree)"
# shellcheck disable=SC2046
expect_nothing 'the units of the system are in order' "$(verify $(system_units))"
expect_nothing "the user's unit is in order" "$(verify --user "$tree/usr/lib/systemd/user/quoitd.service")"
expect_nothing 'no service of the system is exposed more than 1.0' "$(too_exposed)"
expect_nothing 'nothing hides GPUs or users from quoitd' "$(set_wrongly)"
expect_nothing 'each line that protects is there' "$(missing_protection)"
expect_nothing 'each line is known to this test' "$(not_in_the_list)"
expect_nothing 'no word is left to be replaced' "$(words_left)"
expect_nothing 'the user, the group and the folder are made' "$(user_and_folder_not_made)"
say_counts
