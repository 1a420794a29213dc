/* SPDX-License-Identifier: MIT */
/*
 * kernels.h - the images and kernels that a session has brought (quoit/kernel.h).
 *
 * A registered kernel is a row of the operations' table of its own: what ops.def says of the
 * others, its registration says of it, and the validator makes no difference.
 *
 * The table is its reactor's; what the device's process knows of it is backend_kernels.h.
 */
#ifndef QUOITD_KERNELS_H
#define QUOITD_KERNELS_H

#include <stddef.h>

#include "session.h"

/* What the device's process that serves the session has made of an image or a kernel. */
enum brought_state {
	BROUGHT_NEW, /* it has not been told, or that was another process */
	BROUGHT_ASKED,
	BROUGHT_THERE,
	BROUGHT_BAD, /* it could not, see err */
};

struct image {
	int fd; /* a sealed memfd; -1: there is none of this number */
	uint64_t bytes;
	uint32_t jobs; /* open, of its kernels */
	int32_t err;
	uint8_t device; /* counted from 1 */
	uint8_t state;  /* enum brought_state */
	bool removed;   /* and to be freed when its jobs have ended */
};

struct kernel {
	bool used;
	bool ready; /* the client has been told its number */
	uint8_t image;
	uint8_t state;   /* enum brought_state */
	uint8_t scalars; /* bit i: an argument is scalar i */
	int32_t err;
	struct op_row row;
	struct quoit_kernel_desc desc;
};

/*
 * A request of the client's on its way through the reactor to the device's process and back: the
 * connection's, which the reactor fills in and gives back with its answer.
 */
struct kernels_ask {
	uint16_t type;                 /* QUOIT_CTL_IMAGE_ADD, ... */
	uint32_t of;                   /* as in its message */
	int fd;                        /* IMAGE_ADD; -1 once it is the session's */
	uint64_t bytes;                /* of that */
	struct quoit_kernel_desc desc; /* KERNEL_ADD: kernel_check has been */
	uint32_t index;
	char text[QUOIT_TEXT_BYTES]; /* of a refusal */
};

struct kernels {
	struct image image[QUOIT_MAX_IMAGES];
	struct kernel kernel[QUOIT_MAX_KERNELS];
	struct kernels_ask *ask;         /* waits for the device's process; NULL: none does */
	char why[QUOIT_EXEC_TEXT_BYTES]; /* of the last err, as that process has it */
	bool waits;                      /* something is to be told to that process */
};

/* An empty table; NULL: there is no memory. */
struct kernels *kernels_new(void);
/* Its descriptors are closed by `errands`.  NULL is fine. */
void kernels_free(struct kernels *k, struct errands *errands);

/* Is this a registration that makes sense?  0; -EINVAL with a text.  Pure. */
int kernel_check(const struct quoit_kernel_desc *d, char *text, size_t size);

/* The kernel that a LAUNCH names, NULL: there is none, or its client has not been told yet. */
const struct kernel *kernels_find(const struct session *s, uint8_t number);

/* The device that a kernel is for. */
static inline uint8_t kernels_device(const struct session *s, const struct kernel *k)
{
	return s->kernels->image[k->image].device;
}

/*
 * Enter what is asked for, ask->index; the process has not been told yet.  -ENFILE: there are
 * as many as there may be; -ENODEV, -EBADF: no such device, image; with ask->text.
 */
int kernels_add_image(struct session *s, struct kernels_ask *ask);
int kernels_add_kernel(struct session *s, struct kernels_ask *ask);

/* No job can name its kernels any more.  -EBADF: there is no such image. */
int kernels_remove_image(struct session *s, uint32_t image);

/* The image has no jobs any more, and nobody knows of it. */
void kernels_free_image(struct session *s, uint32_t image);
void kernels_free_kernel(struct session *s, uint32_t kernel);

/* An open job has the kernel. */
void kernels_hold(struct session *s, uint8_t number);
void kernels_drop(struct session *s, uint8_t number);

#endif
