/* SPDX-License-Identifier: MIT */
/*
 * slow_server.h - mount a file system with one file, whose server stops answering when told to.
 *
 * It speaks FUSE to the kernel by hand, so that a request can be left unanswered.  Reading the file
 * gives -EIO.
 */
#ifndef TORTURE_SLOW_SERVER_H
#define TORTURE_SLOW_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "stage.h"

struct slow_words;

struct slow_server {
	pid_t pid;
	char folder[64];
	struct slow_words *words; /* shared with the server */
};

/* Mount it and serve.  0; -errno: it is not possible here (no FUSE, or no permission). */
int slow_server_start(struct slow_server *v);

/* Open the file for reading and writing.  -errno. */
int slow_server_open(const struct slow_server *v);

/* Do both for a case; the case is skipped if there is no FUSE, and fails on other errors. */
bool slow_server_enter(struct stage *s, struct slow_server *v, int *ret_file);

/* From now on leave requests of this kind (enum fuse_opcode) unanswered; 0: none. */
void slow_server_hold(const struct slow_server *v, uint32_t opcode);

/* Wait until this many requests are unanswered; returns how many are. */
uint32_t slow_server_await(const struct slow_server *v, uint32_t requests);

/* Kill the server, so that all that waits for it goes on. */
void slow_server_kill(struct slow_server *v);

#endif
