/* SPDX-License-Identifier: MIT */
/* client.h - what the files of the client of the tests under systemd share */
#ifndef TESTS_VM_CLIENT_H
#define TESTS_VM_CLIENT_H

#include <quoit.h>

#define CLIENT_LEASE (UINT64_C(64) << 20)

/* Say what went wrong; 1. */
int client_fail(const char *what, int err);

/* A session of that lease with one ring; *s is to be closed also where it fails. */
int client_enter(uint64_t lease, struct quoit_session **s, struct quoit_ring **q);

/* 2 x 3, in n places. */
int client_try_job(struct quoit_ring *q);

/* Tell whoever waits for us that we are there. */
void client_is_ready(void);

/* ---- tasks (client_memory.c) ---- */

int client_lease(const char *argument);
int client_fill(const char *argument);
int client_module(const char *argument);
int client_move(const char *argument);

#endif
