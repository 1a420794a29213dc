/* SPDX-License-Identifier: MIT */
/* client.h - functions that the files of the client of the tests under systemd share */
#ifndef TESTS_VM_CLIENT_H
#define TESTS_VM_CLIENT_H

#include <quoit.h>

#define CLIENT_LEASE (UINT64_C(64) << 20)

/* Print what went wrong; returns 1. */
int client_fail(const char *what, int err);

/* Open a session of that lease with one ring; the caller closes *s, even on failure. */
int client_enter(uint64_t lease, struct quoit_session **s, struct quoit_ring **q);

/* Compute 2 x 3 in n places. */
int client_try_job(struct quoit_ring *q);

/* Tell the test that we are ready. */
void client_is_ready(void);

/* ---- tasks (client_memory.c) ---- */

int client_lease(const char *argument);
int client_fill(const char *argument);
int client_module(const char *argument);
int client_move(const char *argument);

#endif
