/* SPDX-License-Identifier: MIT */
/* near.h - see which of two processes a service's calls go to, one on each of two nodes */
#ifndef TESTS_VM_NEAR_H
#define TESTS_VM_NEAR_H

/*
 * Two processes serve a service of the quoitd at this socket, each pinned to one of these CPUs, and
 * this process, pinned to one after the other, calls it.  NULL: each time the process on the same
 * CPU had all calls while it had a free thread, and the other one had those beyond; else what went
 * wrong.  This process stays pinned.
 */
const char *calls_go_to_the_near_process(const char *socket, const unsigned cpu[2]);

#endif
