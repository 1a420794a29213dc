# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# machine.sh - run the tests that need a machine of their own: its cgroups, nodes, CPUs and clock
#
# It has CPU 0 on node 0, and CPU 1 on node 1.
. guest/activation.sh
. guest/resources.sh
. guest/memory.sh

try 'a job runs with every line of hardening on' hardened_job
try 'both nodes are used, and no line is logged that something is missing' both_nodes
try 'a session is near its client, which the unit hides from quoitd' near_its_client
try 'leases are half of MemoryMax=, and nobody is killed for memory' memory_limit
try 'whoever uses all of its lease has nobody killed for memory' leases_are_used
try 'a module that leaks is ended, and nobody else' module_leaks
try 'pages in a swap that cannot come back end their own session alone' pages_in_a_swap
try 'jobs are charged to the cgroup of the service' cpu_is_charged
try 'AllowedCPUs= is obeyed' allowed_cpus
try 'CPUs that are taken away while jobs run change no result' cpus_taken_away
try 'a CPU that is switched off changes no result' cpu_switched_off
try 'an arena that its client would move to another node stays and works on' arena_stays
try 'a suspend to memory is nobody'"'"'s time' suspended
try 'a clock that jumps by a year ends nothing' clock_jumps
