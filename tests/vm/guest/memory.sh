# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# memory.sh - test what happens when the service may not have more memory

small() { # LINE...: a service that may have 128 MiB
	fresh
	with_unit MemoryMax=128M
	configure "$@"
	systemctl start quoitd.service
	first=$(property MainPID)
}

events() { # NAME
	sed -n "s/^$1 //p" $cgroup/memory.events
}

nobody_was_killed() {
	is 0 events oom_kill
	is "$first" property MainPID
	is 0 property NRestarts
}

# Case 43 of the threat model.  Whatever quoitd.conf promises, quoitd promises no more than the
# cgroup has: a client that wants more gets an error, while quoitd has touched every page of the
# other leases.
leases_are_used() {
	small 'memory = 1G' 'uid-memory = 1G'
	begin a 1 alice fill 41943040
	begin b 1 bob fill 41943040
	has 'beyond: QUOIT_EPOISON' $work/a
	has 'all is there' $work/b
	[ "$(cat $cgroup/memory.current)" -gt 38000000 ] # the other half is arenas, which are the clients' own
	says EDQUOT as bob /payload/client lease 41943040
	as alice /payload/client lease 4194304
	nobody_was_killed
	in_journal 'memory is lowered to 112 MiB'
	await 30 says '2 sessions' property StatusText
	quit a
	quit b
}

# Case 32.  The kernel ends the process without leases, although others have far more memory.
module_leaks() {
	small 'module = /payload/sample.so' 'memory = 1G' 'uid-memory = 1G'
	begin a 1 alice fill 41943040
	begin b 1 bob fill 41943040
	is 'QUOIT_EEXEC, then 0' as alice /payload/client module 5
	[ "$(events oom_kill)" -ge 1 ]
	is "$first" property MainPID
	is 0 property NRestarts
	await 30 says '2 sessions' property StatusText
	quit a
	quit b
}

# Pages of an arena go to a swap, and are charged to a cgroup that is full and has no process; as
# root, and with a private quoitd.
pages_in_a_swap() {
	fresh
	systemctl stop quoitd.socket
	fallocate --length 64M /swap
	chmod 600 /swap
	mkswap /swap
	swapon /swap
	task=0
	QUOIT_BUILD=/usr/local/bin /payload/hostile_shared --short --only='pages that cannot come back' >$work/swap 2>&1 || task=$?
	cat $work/swap
	swapoff /swap
	rm /swap
	is 0 echo $task
	has 'ok       pages that cannot come back' $work/swap
	fresh
}
