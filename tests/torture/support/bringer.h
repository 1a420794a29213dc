/* SPDX-License-Identifier: MIT */
/*
 * bringer.h - a client that brings kernels, to a quoitd with a soft device, by hand.
 */
#ifndef TORTURE_BRINGER_H
#define TORTURE_BRINGER_H

#include <fcntl.h>

#include "ctl_client.h"

#define BRINGER_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* `spin`: one tensor, and scalar 0 says for how many nanoseconds. */
extern const struct quoit_kernel_desc bringer_good;

/* Play cases before a quoitd with a soft device that has room for all of them. */
void bringer_play(struct stage *s, const struct stage_case *cases, unsigned count);

/* Connect as this user (0: as raw_connect does) and offer kernels: the result of that. */
int bringer_hello(struct stage *s, struct raw_client *c, uid_t uid);

/* A session of this user's that has offered kernels, with one ring.  A failure is noted. */
bool bringer_open(struct stage *s, struct raw_client *c, uid_t uid);
void bringer_leave(struct stage *s, struct raw_client *c);

/* The process of this user's own (0: of who we are to quoitd), another one than `before`. */
pid_t bringer_await_process(struct stage *s, uid_t uid, pid_t before);

/* The user's own process has ended, so that quoitd is as it was before. */
void bringer_await_none(struct stage *s);

/* A memfd of so many bytes (NULL: of a hole) with these seals; -1: it cannot be had. */
int bringer_memory(const void *bytes, size_t size, int seals);

/* A request about kernels: the reply's result, and its index.  fd is closed. */
int bringer_ask(struct stage *s, struct raw_client *c, uint16_t type, uint32_t of, int fd,
		uint32_t *ret_index);

/* Good requests, and a job on tensor 1. */
int bringer_load(struct stage *s, struct raw_client *c, uint32_t *ret);
int bringer_add(struct stage *s, struct raw_client *c, uint32_t image,
		const struct quoit_kernel_desc *d, uint32_t *ret);
int bringer_launch(struct raw_client *c, uint32_t kernel, uint64_t ns);

/* The session is as good as new, whatever it has asked for. */
void bringer_expect_works(struct stage *s, struct raw_client *c);

#endif
