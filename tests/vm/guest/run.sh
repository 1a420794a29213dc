#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - in the guest: install the payload's files, as a package would, and run the tests one by
# one
#
# Each gives a line of the report: "ok NAME", "not ok NAME WHY" or "skipped NAME: WHY".  The report
# ends with "END".
cd /payload || exit 1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin LC_ALL=C
exec </dev/null
if [ -c /dev/ttyS1 ]; then
	stty -F /dev/ttyS1 -opost
	exec 3>/dev/ttyS1
else
	exec 3>/payload/report
fi
. guest/library.sh
mkdir -p $work
await 60 sh -c 'systemctl is-system-running | grep -v starting'

install_tree() {
	cp -a tree/. /
	ldconfig
	# Ordinary users; eve may not use quoitd.
	cat >/etc/sysusers.d/quoit-tests.conf <<-USERS
		u alice 1001 - /home/alice /bin/sh
		u bob 1002 - /home/bob /bin/sh
		u carol 1003 - /home/carol /bin/sh
		u eve 1004 - /home/eve /bin/sh
		m alice quoit
		m bob quoit
		m carol quoit
	USERS
	systemd-sysusers
	for user in alice bob carol eve; do
		install -d -o $user -g $user -m 700 /home/$user
	done
	systemd-tmpfiles --create quoit.conf
	systemctl daemon-reload
	for program in quoitd quoit ../libexec/quoit/quoit-exec; do
		fails sh -c "ldd /usr/local/bin/$program | grep 'not found'"
	done
}

mkdir -p /etc/sysusers.d
try 'what make install installs is there, and its user' install_tree
if systemd-detect-virt --quiet --container; then
	. guest/container.sh
else
	. guest/machine.sh
fi
report END
