# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# container.sh - run the tests that need no machine of their own, in their order
. guest/activation.sh
. guest/lifecycle.sh
. guest/journal.sh
. guest/shares.sh

try 'the first client of an ordinary user starts quoitd' first_client_starts
try 'quoitd is active only once it is ready, and says how it is' active_when_ready
try 'who is not in the group is refused' others_are_refused
try 'a job runs with every line of hardening on' hardened_job
try 'quoit ps shows root all, and users their own' ps_by_user
try 'clients of three users get what their shares say, also of one that is changed' three_users_three_shares
try 'a restart ends sessions with ECONNRESET, and the next is served' restart_under_clients
try 'stop runs queued jobs to the deadline, and cancels the others' stop_drains
try 'stop and start again' stop_and_start
try 'a reload changes what it can, under clients' reload_changes
try 'a reload with an error keeps what was in force' reload_broken
try 'a killed quoitd is started again' killed_is_restarted
try 'one whose reactor is stuck is started again' watchdog_restarts
try 'a thousand clients are back within 5 s of a restart' crowd_comes_back
try 'what cannot start is not tried for ever' start_limit
try 'lines about a client say whose it is' fields_are_there
try 'a flood of log lines is cut, and counted' flood_is_cut
try 'the exporter answers' exporter_answers
try 'a user runs a quoitd of its own' user_unit
