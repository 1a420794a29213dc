# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# resources.sh - test how quoitd uses memory and CPUs that the machine gives and takes away
cgroup=/sys/fs/cgroup/system.slice/quoitd.service

both_nodes() {
	running
	quoit topo >$work/topo
	cat $work/topo
	[ "$(grep -c '^node [01]:' $work/topo)" = 2 ]
	has 'Max locked memory         unlimited' "/proc/$(property MainPID)/limits"
	fails in_journal 'cannot be locked'
	fails in_journal 'not bound'
}

nodes_of() { # PROCESS: of its session, and where its client ran
	quoit ps --no-headers -o node,clinode -p "$1" | tee /dev/stderr | xargs
}

# The unit hides clients' processes from quoitd, so clients tell it where they run.
near_its_client() {
	running
	is invisible property ProtectProc
	me=$(exec sh -c 'echo $PPID')
	for cpu in 0 1 0 1; do
		taskset -pc $cpu "$me"
		begin near$cpu 1 alice stay
		is "$cpu $cpu" nodes_of "$(cat "$work/near$cpu.pid")"
		quit near$cpu
	done
	taskset -pc 0,1 "$me"
	fails says 'could not be known' quoit topo
}

memory_limit() {
	running
	systemctl set-property --runtime quoitd.service MemoryMax=512M
	systemctl restart quoitd.service
	begin a 1 alice stay
	says EDQUOT as bob /payload/client lease 268435456
	as bob /payload/client lease 104857600
	as bob /payload/client work 2
	has 'oom_kill 0' $cgroup/memory.events
	quit a; 
	systemctl set-property --runtime quoitd.service MemoryMax=80%
}

used_us() {
	sed -n 's/^usage_usec //p' "$1/cpu.stat"
}

# The client only waits: its own time is a small part.
cpu_is_charged() {
	running
	mine=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
	theirs=$(used_us $cgroup)
	ours=$(used_us "$mine")
	as alice /payload/client work 60
	theirs=$(($(used_us $cgroup) - theirs))
	ours=$(($(used_us "$mine") - ours))
	[ $theirs -gt $((2 * ours)) ]
}

# The CPUs that any thread of quoitd may run on.
cpus_of_threads() {
	sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$(property MainPID)"/task/*/status | tr , '\n' | sort -u | paste -sd' '
}

allowed_cpus() {
	fresh
	with_unit AllowedCPUs=1
	systemctl start quoitd.service
	is 1 cpus_of_threads
	as alice /payload/client work 2
}

cpus_taken_away() {
	running
	begin a 1 alice work 100000
	systemctl set-property --runtime quoitd.service AllowedCPUs=0
	is 0 cat $cgroup/cpuset.cpus.effective
	await 60 in_journal '(1): their threads share the others'
	enough a
	as bob /payload/client work 2
	is 0 property NRestarts
	systemctl set-property --runtime quoitd.service AllowedCPUs=
}

cpu_switched_off() {
	running
	begin a 1 alice work 100000
	echo 0 >/sys/devices/system/cpu/cpu1/online
	await 60 in_journal '(1): their threads share the others'
	enough a
	as bob /payload/client work 2
	is 0 property NRestarts
	echo 1 >/sys/devices/system/cpu/cpu1/online
	await 60 in_journal 'CPUs again'
}

# Memory that both sides have mapped stays where quoitd has placed it.
arena_stays() {
	running
	as alice /payload/client move 0
	as alice /payload/client move 1
	is active property ActiveState
	is 0 property NRestarts
}

# Suspend to memory, for longer than jobs and the watchdog allow.  The counter of this machine's
# processors goes on.
suspended() {
	running
	begin a 1 alice stay
	for client in b c d; do
		begin $client 1 bob punctual 100000
	done
	since=$(date +%s)
	echo 0 >/sys/class/rtc/rtc0/wakealarm
	echo +10 >/sys/class/rtc/rtc0/wakealarm
	echo mem >/sys/power/state
	[ $(($(date +%s) - since)) -ge 8 ]
	quoit ps
	for client in b c d; do
		enough $client
	done
	await 30 says '1 session' property StatusText
	is 0 property NRestarts
	await 60 in_journal 'the machine was suspended'
	quit a
}

# One client sleeps, and one works; quoitd looks at its clock at least once a second.
clock_jumps() {
	running
	begin a 1 alice stay
	begin b 1 bob work 100000
	for step in '+1 year' '-2 years' '+1 year'; do
		date --set="$step"
		sleep 1
	done
	enough b
	await 30 says '1 session' property StatusText
	is 0 property NRestarts
	as bob /payload/client work 2
	quit a
}
