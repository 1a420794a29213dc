# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# lifecycle.sh - test reload, restart, stop, and the death of quoitd

# Does `quoit config` show this option in force?
in_force() { # OPTION
	quoit config | awk -v option="$1" '$1 == option { print $2 }'
}

reload_changes() {
	running
	begin here 1 alice stay
	configure 'uid-connections = 7'
	systemctl reload quoitd.service
	await 30 is 7 in_force uid-connections
	is active property ActiveState
	is '1000 x 2 x 2 = 4000' as alice /payload/hello
	await 30 says '1 session' property StatusText
	quit here
}

reload_broken() {
	running 'uid-connections = 7'
	begin here 1 alice stay
	configure 'uid-connections = 8' 'uid-conections = 9'
	fails systemctl reload quoitd.service
	await 30 in_journal "test.conf, line 2: unknown option 'uid-conections'"
	is active property ActiveState
	kill -HUP "$(property MainPID)" # by hand
	await 30 in_journal 'the configuration was not reloaded'
	is 7 in_force uid-connections
	is '1000 x 2 x 2 = 4000' as bob /payload/hello
	quit here
}

# Connected clients get -ECONNRESET, as documented; a client that connects while quoitd is away
# waits for it.
restart_under_clients() {
	running
	first=$(property MainPID)
	begin a 1 alice stay
	begin b 1 bob stay
	systemctl restart quoitd.service
	finish a
	finish b
	has 'lost: ECONNRESET, then back' $work/a
	fails is "$first" property MainPID
}

# 100 products of some 50 ms and more in a row: some are done, and none is lost without an error.
stop_drains() {
	running 'drain-ms = 1000'
	begin a 1 alice queue 500
	systemctl stop quoitd.service
	is success property Result
	finish a
	grep -E '^done [1-9][0-9]* cancelled [1-9][0-9]* reset 0 other 0$' $work/a
	is '1000 x 2 x 2 = 4000' as bob /payload/hello # systemd still listens
}

# The socket goes with RemoveOnStop=, and comes back.
stop_and_start() {
	running
	begin a 1 alice stay
	systemctl stop quoitd.socket quoitd.service
	fails test -e /run/quoit/quoitd.sock
	says 'ENOENT' as bob /payload/hello
	systemctl start quoitd.socket
	finish a
	is active property ActiveState
}

killed_is_restarted() {
	running
	first=$(property MainPID)
	begin a 1 alice stay
	kill -KILL "$first"
	finish a
	has 'lost: ECONNRESET, then back' $work/a
	is 1 property NRestarts
	is '1000 x 2 x 2 = 4000' as bob /payload/hello
}

# For the client it is as if quoitd was killed; quoitd says which thread was stuck.
watchdog_restarts() {
	fresh
	with_unit WatchdogSec=2
	configure 'inject-hang = reactor'
	systemctl start quoitd.service
	as alice /payload/client work 100 &
	rm $drop
	await 60 is 1 property NRestarts
	wait
	in_journal 'stuck: reactor'
	says 'Watchdog timeout' journalctl --quiet --no-pager --after-cursor="$cursor" UNIT=quoitd.service
	await 60 is active property ActiveState
	is '1000 x 2 x 2 = 4000' as bob /payload/hello
	is 1 property NRestarts
}

crowd_comes_back() {
	running 'uid-connections = 1024' 'lease = 1M'
	begin a 1000 alice crowd 1000
	systemctl restart quoitd.service
	finish a
}

# A start that fails for a temporary reason is repeated, five times a minute.  Then the socket is
# down, too, and says so until an administrator acts.
start_limit() {
	fresh
	with_unit 'ExecStart=' 'ExecStart=/bin/false' 'RestartSec=50ms'
	says ECONN as alice /payload/hello
	await 60 is failed property ActiveState
	await 30 is failed property ActiveState quoitd.socket
	says 'Start request repeated too quickly' journalctl --quiet --no-pager --after-cursor="$cursor" UNIT=quoitd.service
	fails as alice /payload/hello
	fresh
	is '1000 x 2 x 2 = 4000' as alice /payload/hello
}
