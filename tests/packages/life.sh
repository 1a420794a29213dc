# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# life.sh - in the guest: test packages from the first installation to a purge
#
# newer/ of the payload has the packages, older/ those of another version.  The report has the form
# of tests/vm.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive
exec </dev/null 3>/payload/report
. guest/library.sh
. guest/shares.sh
etc=/etc/quoit
drop=$etc/quoitd.conf.d/test.conf
mkdir -p $work
await 60 sh -c 'systemctl is-system-running | grep -v starting'
conf=$etc/quoitd.conf
packages='quoitd quoit-tools libquoit-dev libquoit0'
# Install documentation, too.
rm -f /etc/dpkg/dpkg.cfg.d/*
for user in alice bob carol eve; do
	useradd --create-home --shell /bin/sh $user
done

# Leave out files of other programs: logs, caches, backups of the list of users, dpkg's and
# systemd's own notes.
files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /payload -o -path /run/quoit-tests \
		-o -path /var/log -o -path /var/cache -o -path /var/lib/dpkg -o -path /home \
		-o -path /run/systemd -o -path /run/log -o -path /run/udev -o -path /run/credentials -o -path /run/user \) -prune -o -print
	find /run/quoit /run/systemd/generator* 2>/dev/null || true
}

noted() { # WHEN
	files | grep -v -e '^/etc/[a-z]*-$' -e '^/etc/\.pwd\.lock$' -e '^/var/lib/systemd/' -e '/deb-systemd-.*-helper-' |
		sort -u >$work/files.$1
}

install_all() { # FOLDER
	dpkg -i "/payload/$1"/quoitd_*.deb "/payload/$1"/quoit-tools_*.deb "/payload/$1"/libquoit0_*.deb \
		"/payload/$1"/libquoit-dev_*.deb
}

version() {
	for package in $packages; do
		dpkg-query -W -f '${db:Status-Abbrev}${Version}\n' $package
	done | sort -u
}

first_install() {
	noted before
	install_all older
	is "ii $(cat older/version)" version
	getent passwd quoit
	systemctl is-enabled quoitd.socket
	systemctl is-active quoitd.socket
	fails systemctl is-active quoitd.service
	fails systemctl is-enabled quoit-exporter.service
	is 'quoit:quoit 755' stat -c '%U:%G %a' /run/quoit
	for program in /usr/bin/quoitd /usr/bin/quoit /usr/libexec/quoit/*; do
		fails sh -c "ldd $program | grep 'not found'"
	done
	quoitd --check-config --config=$conf
}

# As a user writes it, only with the flags of pkg-config.
compile_and_run() {
	cp /payload/hello.c /home/alice/
	as alice sh -ec 'cd; gcc -std=c17 -Wall -Wextra -Werror hello.c $(pkg-config --cflags --libs libquoit) -o hello'
	readelf -d /home/alice/hello | grep 'NEEDED.*libquoit.so.0'
	is '1000 x 2 x 2 = 4000' as alice quoit run -- /home/alice/hello
	as alice sh -ec 'cd; gcc -std=c17 hello.c -static $(pkg-config --static --cflags --libs libquoit) -o hello-static'
	is '1000 x 2 x 2 = 4000' as alice quoit run -- /home/alice/hello-static
	for example in /usr/share/doc/libquoit-dev/examples/*.c; do
		case $example in */cholesky.c) continue ;; esac # it needs LAPACK, which is not here
		gcc -std=gnu17 -D_GNU_SOURCE "$example" -lquoit -lm -o $work/example
	done
}

through_the_service() {
	for user in alice bob carol; do
		usermod --append --groups quoit $user
	done
	systemctl stop quoitd.socket
	systemctl start quoitd.socket
	is '1000 x 2 x 2 = 4000' as alice /home/alice/hello
	systemctl is-active quoitd.service
	is quoit stat -c %U "/proc/$(property MainPID)"
	says SESSION as alice quoit ps
	as alice quoit topo
	says 'Permission denied' as eve /home/alice/hello
}

manual_and_completion() {
	for page in man1/quoit.1 man3/quoit_push.3 man5/quoitd.conf.5 man7/quoit_ops.7 man8/quoitd.8; do
		[ -e /usr/share/man/$page.gz ]
	done
	[ -e /usr/share/bash-completion/completions/quoit ]
	[ -e /usr/share/zsh/site-functions/_quoit ]
}

# A client with a session hears that it has ended, and finds the new quoitd.
upgrade() {
	echo '# kept' >>$conf
	begin staying 1 alice stay
	systemctl is-active quoitd.service
	was=$(property MainPID)
	socket=$(property ActiveEnterTimestampMonotonic quoitd.socket)
	install_all newer
	is "ii $(cat newer/version)" version
	is "$socket" property ActiveEnterTimestampMonotonic quoitd.socket
	systemctl is-active quoitd.service
	[ "$(property MainPID)" != "$was" ]
	has '# kept' $conf
	finish staying
	is '1000 x 2 x 2 = 4000' as alice /home/alice/hello
	fails sh -c 'ls /proc/*/exe -l 2>/dev/null | grep "quoit.*(deleted)"'
}

# An upgrade does not start a service that does not run.
upgrade_at_rest() {
	systemctl stop quoitd.service
	install_all newer
	systemctl is-active quoitd.socket
	fails systemctl is-active quoitd.service
}

# If the new quoitd could not start, the upgrade leaves the old one at work, and says so.
upgrade_of_no_sense() {
	systemctl start quoitd.service
	was=$(property MainPID)
	configure 'reactorz = 1'
	says "did you mean 'reactors'" install_all newer
	has 'one that runs goes on' $work/said
	is "ii $(cat newer/version)" version
	is "$was" property MainPID
	is '1000 x 2 x 2 = 4000' as alice /home/alice/hello
	rm $drop
}

cuda() {
	set -- newer/quoit-cuda_*.deb
	[ -e "$1" ] || skip 'quoit-cuda was not built: no nvcc'
	dpkg -i "$1"
	[ -e /usr/libexec/quoit/quoit-cuda.so ]
	is '1000 x 2 x 2 = 4000' as alice quoit run -- /home/alice/hello
	dpkg -P quoit-cuda
}

removal() {
	rm -rf "${drop%/*}"
	echo '# kept' >>$conf
	is '1000 x 2 x 2 = 4000' as alice /home/alice/hello
	systemctl enable --now quoit-exporter.service
	dpkg -r $packages
	fails systemctl is-active quoit-exporter.service
	fails systemctl is-active quoitd.socket
	fails systemctl is-active quoitd.service
	fails sh -c 'cat /proc/[0-9]*/comm | grep -x quoitd'
	[ ! -e /usr/bin/quoitd ]
	has '# kept' $conf
}

purge() {
	dpkg -P $packages
	noted after
	fails grep . <<-LEFT
		$(comm -13 $work/files.before $work/files.after)
	LEFT
	fails grep . <<-GONE
		$(comm -23 $work/files.before $work/files.after)
	GONE
	getent passwd quoit # stays
}

again() {
	install_all newer
	systemctl is-active quoitd.socket
	is '1000 x 2 x 2 = 4000' as alice /home/alice/hello
}
