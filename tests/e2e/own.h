/* SPDX-License-Identifier: MIT */
/*
 * own.h - a private quoitd with a soft device, and a session that brings kernels to it.
 */
#ifndef TESTS_OWN_H
#define TESTS_OWN_H

#include <quoit.h>

#include "device.h"

/* Of the fields that stencils are computed on. */
#define ROWS 40u
#define COLS 30u

/* A room whose session brings kernels, beside the room's own, which does not. */
struct own {
	struct device_room room;
	struct quoit_session *s;
	struct quoit_ring *q; /* creates on the device */
};

/* With the room's options and one more (NULL: none).  Ends the test if it fails. */
struct own own_open_with(const char *option);
struct own own_open(void);
void own_close(struct own *o);

/* One more such session, and its ring, which creates on the device. */
void bringer_open(const struct device_room *r, struct quoit_session **ret_s,
		  struct quoit_ring **ret_q);

/* The process of the user's own; it waits until there is one that is not `before`. */
pid_t own_process(const struct own *o, pid_t before);

/* Load an image, and register a kernel: they must succeed. */
int own_load(struct quoit_session *s);
int own_add(struct quoit_session *s, int image, const struct quoit_kernel_desc *d);

/* stencil5 of a field; the same where nothing is; and one that takes scalar 0 nanoseconds. */
struct quoit_kernel_desc own_stencil_desc(void);
int own_add_stencil(struct quoit_session *s);
int own_add_fault(struct quoit_session *s);
int own_add_spin(struct quoit_session *s);
struct quoit_sqe own_spin(int kernel, quoit_tensor t, uint64_t ns);

/* A stencil's result is that of the CPU. */
void own_expect_stencil(struct quoit_ring *q, int kernel);

#endif
