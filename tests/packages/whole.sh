#!/bin/sh
# SPDX-License-Identifier: MIT
# whole.sh - in the guest: test the whole life of the packages
cd /payload || exit 1
. guest/life.sh
try 'an older version is installed: user, socket, no service yet' first_install
try "the README's program is compiled with pkg-config, and runs under quoit run" compile_and_run
try 'an ordinary user of the group uses the service, another is refused' through_the_service
try 'manual and completion are there' manual_and_completion
try 'an upgrade keeps socket and configuration, and starts what runs again' upgrade
try 'an upgrade does not start what does not run' upgrade_at_rest
try 'an upgrade of a configuration that makes no sense says so, and ends nothing' upgrade_of_no_sense
try 'quoit-cuda is installed and purged without a device' cuda
try 'what is removed runs no more, and its configuration stays' removal
try 'a purge leaves the user, and no file' purge
try 'it can be installed again' again
report END
