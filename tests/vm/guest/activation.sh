# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# activation.sh - test the first client, who may be a client, and what clients see

first_client_starts() {
	fresh
	is inactive property ActiveState
	is '1000 x 2 x 2 = 4000' as alice /payload/hello
	is active property ActiveState
	is "$(stat -c %u /proc/self/../"$(property MainPID)")" id -u quoit
}

# systemctl start returns after READY=1, and from then on quoitd serves clients.
active_when_ready() {
	fresh
	is notify property Type
	systemctl start quoitd.service
	is active property ActiveState
	says ' reactor' property StatusText
	says '0 sessions' property StatusText
	begin here 1 alice stay
	await 30 says '1 session' property StatusText
	says 'Status: "' systemctl status --no-pager quoitd.service
	quit here
	await 30 says '0 sessions' property StatusText
}

others_are_refused() {
	running
	says "no access to quoitd at /run/quoit/quoitd.sock: Permission denied; it takes membership in the socket's group" as eve /payload/hello
	fails as eve /payload/hello
	is '1000 x 2 x 2 = 4000' as bob /payload/hello
}

# Every line that systemd-analyze knows is in force, and a job of each kind runs.
hardened_job() {
	running
	pid=$(property MainPID)
	has 'NoNewPrivs:	1' "/proc/$pid/status"
	has 'Seccomp:	2' "/proc/$pid/status"
	fails is '' property SystemCallFilter
	has "CapEff:	$caps" "/proc/$pid/status"
	head -c 2097152 /dev/urandom >/home/alice/bytes
	chown alice /home/alice/bytes
	as alice /payload/client file /home/alice/bytes
	as alice /payload/client work 5
	is 0 property NRestarts
}
