/* SPDX-License-Identifier: MIT */
/* own.h - open a private quoitd with a soft device, and a session that brings kernels to it. */
#ifndef TESTS_OWN_H
#define TESTS_OWN_H

#include <quoit.h>

#include "device.h"

/* Size of the fields for stencils. */
#define ROWS 40u
#define COLS 30u

/* A session that brings kernels, in addition to the room's own session, which does not. */
struct own {
	struct device_room room;
	struct quoit_session *s;
	struct quoit_ring *q; /* creates tensors on the device */
};

/* Open a room with one more option (NULL: none).  Ends the test on failure. */
struct own own_open_with(const char *option);
struct own own_open(void);
void own_close(struct own *o);

/* Open one more such session, and its ring, which creates on the device. */
void bringer_open(const struct device_room *r, struct quoit_session **ret_s,
		  struct quoit_ring **ret_q);

/* The user's own process; waits until there is one other than `before`. */
pid_t own_process(const struct own *o, pid_t before);

/* Load an image, and register a kernel; asserts success. */
int own_load(struct quoit_session *s);
int own_add(struct quoit_session *s, int image, const struct quoit_kernel_desc *d);

/*
 * stencil5 of a field; the same with an address without memory; and a kernel that runs for scalar 0
 * nanoseconds.
 */
struct quoit_kernel_desc own_stencil_desc(void);
int own_add_stencil(struct quoit_session *s);
int own_add_fault(struct quoit_session *s);
int own_add_spin(struct quoit_session *s);
struct quoit_sqe own_spin(int kernel, quoit_tensor t, uint64_t ns);

/* Expect a stencil's result to be the CPU's. */
void own_expect_stencil(struct quoit_ring *q, int kernel);

#endif
