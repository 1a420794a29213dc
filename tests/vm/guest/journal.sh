# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# journal.sh - test quoitd's reports: the journal, the exporter; and a user's own quoitd

# By the fields of lines about a client, which other lines do not have.
fields_are_there() {
	running 'uid-connections = 1'
	pid=$(property MainPID)
	as alice /payload/hello
	begin b 1 bob stay
	fails as bob /payload/hello
	quit b
	journalctl --quiet --sync
	journalctl --quiet --no-pager --after-cursor="$cursor" --output=json QUOIT_UID=1001 >$work/alice
	journalctl --quiet --no-pager --after-cursor="$cursor" --output=json QUOIT_UID=1002 >$work/bob
	has '"_SYSTEMD_UNIT":"quoitd.service"' $work/alice
	has "\"_PID\":\"$pid\"" $work/alice
	has '"QUOIT_SESSION":"1"' $work/alice
	has '"QUOIT_REASON":"refused_' $work/bob
	fails has '"QUOIT_UID":"1001"' $work/bob
	in_journal 'listening on'
	fails says 'listening on' journalctl --quiet --no-pager --after-cursor="$cursor" --output=json _PID="$pid" QUOIT_UID=1001
}

# A user gets ten lines a second; journald, which cuts at ten thousand, has cut nothing.
flood_is_cut() {
	running
	as alice /payload/client flood 3
	is '1000 x 2 x 2 = 4000' as bob /payload/hello
	in_journal 'lines left out'
	[ "$(journal | wc -l)" -lt 100 ]
	fails in_journal Suppressed
}

# Fetch the exporter's page with tools that every system has.
scrape() {
	bash -c 'exec 3<>/dev/tcp/127.0.0.1/19684 && printf "GET /metrics HTTP/1.0\r\n\r\n" >&3 && cat <&3'
}

exporter_answers() {
	running
	as alice /payload/client work 100
	systemctl start quoit-exporter.service
	await 30 says 'quoit_operation_jobs_total{operation="gemm"}' scrape
	scrape >$work/page
	head -n 1 $work/page | grep ' 200 '
	grep -E '^quoit_operation_jobs_total\{operation="gemm"\} [1-9]' $work/page
	is active property ActiveState quoit-exporter.service
	systemctl stop quoit-exporter.service
}

# The quoitd of a user who stays without being logged in.  The system's quoitd is stopped, since it
# would be found first.
user_unit() {
	fresh
	systemctl stop quoitd.socket
	mkdir -p /var/lib/systemd/linger
	touch /var/lib/systemd/linger/eve
	systemctl start user@1004.service
	own systemctl --user start quoitd.service
	is active own systemctl --user is-active quoitd.service
	is '1000 x 2 x 2 = 4000' own /payload/hello
	own systemctl --user stop quoitd.service
	systemctl stop user@1004.service
	rm /var/lib/systemd/linger/eve
	fresh
}

own() { # COMMAND...: as eve, who has a manager of her own
	as eve env XDG_RUNTIME_DIR=/run/user/1004 "$@"
}
