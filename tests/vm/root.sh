#!/bin/sh
# SPDX-License-Identifier: MIT
# root.sh DIR PACKAGE... - make DIR/root: a small Debian with systemd as its init, and these
# packages
#
# It has the release and the sources of this machine, with whose libraries our programs were linked;
# it is made again when the packages change.  As root; 25 s, 180 MB.
set -eu
dir=$1
shift
# dbus and PAM: for users' own managers.  libmicrohttpd and OpenBLAS: our programs load them by
# name.
packages=$(printf '%s\n' systemd systemd-sysv dbus libpam-systemd libmicrohttpd12 libopenblas0-pthread "$@" |
	sort -u | paste -sd, -)
. /etc/os-release
[ "$(cat "$dir/root.made" 2>/dev/null)" != "$VERSION_CODENAME $packages" ] || exit 0

# apt's lists are as new as those by which our own packages came.
if [ -e /etc/apt/sources.list.d/debian.sources ]; then
	sources=/etc/apt/sources.list.d/debian.sources
elif grep -q '^deb ' /etc/apt/sources.list 2>/dev/null; then
	sources=/etc/apt/sources.list
else
	sources=
fi

rm -rf --one-file-system "$dir/root" "$dir/root.made" "$dir/root.ext4"
mkdir -p "$dir"
# In a mount namespace of its own: it mounts this machine's /sys and /dev/shm there, and if it is
# interrupted these mounts would stay, in the way of removing the folder.
# shellcheck disable=SC2086
unshare --mount --propagation=private \
	mmdebstrap --quiet --mode=root --format=directory --variant=essential --include="$packages" \
	--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
	--dpkgopt='path-exclude=/usr/share/i18n/*' \
	"$VERSION_CODENAME" "$dir/root" $sources >&2

etc=$dir/root/etc
echo guest >"$etc/hostname"
: >"$etc/machine-id"
: >"$etc/fstab"
mkdir -p "$dir/root/payload"
# Units that would start by themselves and are not tested.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer \
	e2scrub_reap.service getty@tty1.service serial-getty@ttyS0.service console-getty.service \
	systemd-timesyncd.service systemd-networkd.service systemd-pcrphase.service; do
	ln -sf /dev/null "$etc/systemd/system/$unit"
done
cat >"$etc/systemd/system/quoit-tests.service" <<'UNIT'
[Unit]
Description=Quoit's tests
After=multi-user.target
[Service]
Type=exec
ExecStart=/bin/sh -c 'mountpoint -q /payload || mount /dev/nvme0n2 /payload; exec sh /payload/guest/run.sh'
ExecStopPost=systemctl poweroff --no-block --force
UNIT
mkdir -p "$etc/systemd/system/multi-user.target.wants"
ln -sf ../quoit-tests.service "$etc/systemd/system/multi-user.target.wants/quoit-tests.service"
size=$(du -sm "$dir/root" | cut -f1)
mke2fs -q -t ext4 -O ^has_journal -d "$dir/root" "$dir/root.ext4" $((size + 256))M
echo "$VERSION_CODENAME $packages" >"$dir/root.made"
