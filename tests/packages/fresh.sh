#!/bin/sh
# SPDX-License-Identifier: MIT
# fresh.sh - in the guest: test packages on a fresh machine, as its administrator and its users see
# them
cd /payload || exit 1
. guest/life.sh
try 'the packages are installed: user, socket, no service yet' first_install
try "the README's program is compiled with pkg-config, and runs under quoit run" compile_and_run
try 'systemctl start quoitd.socket: an ordinary user of the group uses the service, another is refused' through_the_service
try 'three users get what their shares say, also of one that is changed' three_users_three_shares
try 'quoit ps shows root all, and users their own' ps_by_user
try 'an upgrade keeps socket and configuration, and starts what runs again' upgrade
try 'an upgrade of a configuration that makes no sense says so, and ends nothing' upgrade_of_no_sense
try 'what is removed runs no more, and its configuration stays' removal
try 'a purge leaves the user, and no file' purge
report END
