/* SPDX-License-Identifier: MIT */
/* bringer.h - open a client that brings kernels, to a quoitd with a soft device, by hand. */
#ifndef TORTURE_BRINGER_H
#define TORTURE_BRINGER_H

#include <fcntl.h>

#include "ctl_client.h"

#define BRINGER_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* `spin`: one tensor; scalar 0 is its run time in nanoseconds. */
extern const struct quoit_kernel_desc bringer_good;

/* Play cases before a quoitd with a soft device that has room for all of them. */
void bringer_play(struct stage *s, const struct stage_case *cases, unsigned count);

/* Connect as this user (0: as raw_connect does) and offer kernels; returns the result. */
int bringer_hello(struct stage *s, struct raw_client *c, uid_t uid);

/* Open a session of this user that has offered kernels, with one ring.  A failure is noted. */
bool bringer_open(struct stage *s, struct raw_client *c, uid_t uid);
void bringer_leave(struct stage *s, struct raw_client *c);

/* Wait for this user's own process (0: the user that quoitd sees us as), other than `before`. */
pid_t bringer_await_process(struct stage *s, uid_t uid, pid_t before);

/* Wait until the user's own process has ended, so that quoitd is as it was before. */
void bringer_await_none(struct stage *s);

/* Make a memfd with these bytes (NULL: a hole) and these seals; -1: that failed. */
int bringer_memory(const void *bytes, size_t size, int seals);

/* Send a request about kernels: returns the reply's result, and its index.  fd is closed. */
int bringer_ask(struct stage *s, struct raw_client *c, uint16_t type, uint32_t of, int fd,
		uint32_t *ret_index);

/* Valid requests, and a job on tensor 1. */
int bringer_load(struct stage *s, struct raw_client *c, uint32_t *ret);
int bringer_add(struct stage *s, struct raw_client *c, uint32_t image,
		const struct quoit_kernel_desc *d, uint32_t *ret);
int bringer_launch(struct raw_client *c, uint32_t kernel, uint64_t ns);

/* Expect the session to work as if it were new, whatever it has asked for. */
void bringer_expect_works(struct stage *s, struct raw_client *c);

#endif
