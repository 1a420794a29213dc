/* SPDX-License-Identifier: MIT */
/*
 * slow_server.h - a file system with one file, whose server stops answering when told to.
 *
 * It speaks FUSE to the kernel by hand, so that a request can be left unanswered.  Nothing can
 * be read from the file: -EIO.
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
	struct slow_words *words; /* shared with it */
};

/* Mount it and serve.  0; -errno: it cannot be had here (no FUSE, or we may not). */
int slow_server_start(struct slow_server *v);

/* The file, opened for reading and writing.  -errno. */
int slow_server_open(const struct slow_server *v);

/* Both of these for a case, which is skipped where there is no FUSE, or has failed. */
bool slow_server_enter(struct stage *s, struct slow_server *v, int *ret_file);

/* From now on leave requests of this kind (enum fuse_opcode) unanswered; 0: none. */
void slow_server_hold(const struct slow_server *v, uint32_t opcode);

/* Wait until so many requests have been left unanswered; how many have. */
uint32_t slow_server_await(const struct slow_server *v, uint32_t requests);

/* Its death: whatever waits for it goes on. */
void slow_server_kill(struct slow_server *v);

#endif
