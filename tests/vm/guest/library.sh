# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# library.sh - functions for the tests in the guest
#
# A test is a function whose every command must succeed.  If one does not, the test's trace and the
# journal since its start are reported.  Tests wait for conditions, with limits that only failures
# reach.
work=/run/quoit-tests
etc=/usr/local/etc/quoit
drop=$etc/quoitd.conf.d/test.conf
unit_drop=/run/systemd/system/quoitd.service.d/test.conf

# In a container LimitMEMLOCK= has no effect, and with the container's hard limit quoitd does not
# serve several users.
caps=0000000000000000
if systemd-detect-virt --quiet --container; then
	caps=0000000000004000
	mkdir -p /run/systemd/system/quoitd.service.d
	printf '%s\n' '[Service]' CapabilityBoundingSet=CAP_IPC_LOCK AmbientCapabilities=CAP_IPC_LOCK \
		>/run/systemd/system/quoitd.service.d/container.conf
	systemctl daemon-reload
fi

report() { # TEXT
	printf '%s\n' "$1" >&3
}

# Uptime in hundredths of a second, since a test may set the clock.
ticks() {
	read -r up rest </proc/uptime
	echo "${up%.*}${up#*.}"
}

# A test that exits with 77 is skipped, and its last line says why.
try() { # NAME FUNCTION
	start=$(ticks)
	journalctl --quiet --sync
	cursor=$(journalctl --quiet --lines=0 --show-cursor | sed 's/^-- cursor: //')
	(
		set -ex
		"$2"
	) >$work/log 2>&1 3>&-
	status=$?
	took=$(($(ticks) - start))
	took=$((took / 100)).$((took % 100 / 10))s
	case $status in
	0) report "ok $1 ($took)" ;;
	77) report "skipped $1: $(tail -n 1 $work/log)" ;;
	*)
		report "not ok $1 ($took) status $status after: $(grep -a '^+' $work/log | tail -n 1)"
		tail -n 25 $work/log | sed 's/^/    /' >&3
		systemctl status --no-pager --lines=0 quoitd.service quoitd.socket 2>&1 | sed 's/^/    /' >&3
		journalctl --quiet --no-pager --after-cursor="$cursor" --output=short-monotonic \
			_SYSTEMD_UNIT=init.scope + _SYSTEMD_UNIT=quoitd.service + _SYSTEMD_UNIT=quoit-exporter.service |
			tail -n 40 | sed 's/^/    journal: /' >&3
		;;
	esac
}

skip() { # WHY
	echo "$1"
	exit 77
}

# exec: the command replaces the shell, so that the process is the command's.
exec=
as() { # USER COMMAND...
	user=$1
	shift
	$exec setpriv --reuid="$user" --regid="$user" --init-groups --inh-caps=-all env -i HOME="/home/$user" PATH="$PATH" "$@"
}

await() { # SECONDS COMMAND...: until it succeeds
	case $- in *x*) traced=-x ;; *) traced=+x ;; esac
	{ set +x; } 2>/dev/null
	end=$(($(ticks) + $1 * 100))
	shift
	until "$@" >$work/awaited 2>&1; do
		if [ "$(ticks)" -gt $end ]; then
			echo "waited in vain for: $*"
			cat $work/awaited
			return 1
		fi
		sleep 0.1
	done
	set $traced
}

fails() { # COMMAND...
	! "$@"
}

property() { # NAME [UNIT]
	systemctl show --property="$1" --value "${2:-quoitd.service}"
}

has() { # WORDS FILE
	grep -aF -e "$1" "$2"
}

is() { # TEXT COMMAND...: that is what it prints
	wanted=$1
	shift
	[ "$("$@")" = "$wanted" ]
}

says() { # WORDS COMMAND...: it prints these words somewhere, whether or not it succeeds
	wanted=$1
	shift
	"$@" >$work/said 2>&1 || true
	cat $work/said
	grep -qaF -e "$wanted" $work/said
}

# The journal of quoitd since the test's start.
journal() {
	journalctl --quiet --sync
	journalctl --quiet --no-pager --after-cursor="$cursor" --output="${1:-cat}" -u quoitd.service
}

in_journal() { # WORDS
	says "$1" journal
}

# Start a task that keeps running, and wait until it has written BYTES bytes to $work/NAME.
begin() { # NAME BYTES USER TASK [ARGUMENT]
	begun=$1
	bytes=$2
	user=$3
	shift 3
	{ set +x; } 2>/dev/null # no trace among its bytes
	: >"$work/$begun.ready"
	exec=exec as "$user" /payload/client "$@" >"$work/$begun" 2>"$work/$begun.ready" &
	echo $! >"$work/$begun.pid"
	set -x
	await 60 is_ready "$begun" "$bytes"
}

is_ready() { # NAME BYTES
	[ "$(stat -c %s "$work/$1.ready")" -ge "$2" ] || {
		cat "$work/$1"
		return 1
	}
}

# Wait for its end; returns its exit status.
finish() { # NAME
	task=0
	wait "$(cat "$work/$1.pid")" || task=$?
	cat "$work/$1"
	return $task
}

# For work: let it go on for a little, and then end.
enough() { # NAME
	kill -TERM "$(cat "$work/$1.pid")"
	finish "$1"
}

quit() { # NAME
	kill "$(cat "$work/$1.pid")"
	wait "$(cat "$work/$1.pid")" || true
}

# Set options of quoitd for this test, and lines of its unit.
configure() { # LINE...
	mkdir -p "${drop%/*}"
	printf '%s\n' "$@" >$drop
}

with_unit() { # LINE...
	mkdir -p "${unit_drop%/*}"
	{
		echo '[Service]'
		printf '%s\n' "$@"
	} >$unit_drop
	systemctl daemon-reload
}

# As after boot: nothing of an earlier test, the socket listening, and quoitd not running.
fresh() {
	systemctl stop quoitd.socket quoitd.service
	rm -f $drop
	if [ -e $unit_drop ]; then
		rm -f $unit_drop
		systemctl daemon-reload
	fi
	systemctl reset-failed quoitd.service quoitd.socket || true
	systemctl start quoitd.socket
}

# The same, but with quoitd running, with these options.
running() { # [LINE...]
	fresh
	configure "$@"
	systemctl start quoitd.service
}
