/* SPDX-License-Identifier: MIT */
/*
 * kernels.h - the images and kernels that a session has brought (quoit/kernel.h).
 *
 * A registered kernel has a row of the operations' table of its own.  Its registration says what
 * ops.def says of the others, and the validator makes no difference.
 *
 * The session's reactor owns the table; backend_kernels.h tracks what the device's process knows of
 * it.
 */
#ifndef QUOITD_KERNELS_H
#define QUOITD_KERNELS_H

#include <stddef.h>

#include "session.h"

/* What the device's process that serves the session has made of an image or a kernel. */
enum kernel_state {
	KERNEL_NEW, /* not sent to this process */
	KERNEL_ASKED,
	KERNEL_THERE,
	KERNEL_BAD, /* it failed, see err */
};

struct image {
	int fd; /* a sealed memfd; -1: there is no such image */
	uint64_t bytes;
	uint32_t jobs; /* open jobs of its kernels */
	int32_t err;
	uint8_t device; /* counted from 1 */
	uint8_t state;  /* enum kernel_state */
	bool removed;   /* free it when its jobs have ended */
};

struct kernel {
	bool used;
	bool ready; /* the client knows its number */
	uint8_t image;
	uint8_t state;   /* enum kernel_state */
	uint8_t scalars; /* bit i: an argument is scalar i */
	int32_t err;
	struct op_row row;
	struct quoit_kernel_desc desc;
};

/*
 * A client's request on its way through the reactor to the device's process and back.  The
 * connection owns it; the reactor fills it in and returns it with its answer.
 */
struct kernels_ask {
	uint16_t type;                 /* QUOIT_CTL_IMAGE_ADD, ... */
	uint32_t of;                   /* as in its message: the device, or the image */
	int fd;                        /* IMAGE_ADD; -1 once it is the session's */
	uint64_t bytes;                /* its size */
	struct quoit_kernel_desc desc; /* KERNEL_ADD: checked by kernel_check */
	uint32_t index;
	char text[QUOIT_TEXT_BYTES]; /* why it was refused */
};

struct kernels {
	struct image image[QUOIT_MAX_IMAGES];
	struct kernel kernel[QUOIT_MAX_KERNELS];
	struct kernels_ask *ask;         /* waits for the device's process; NULL: none */
	char why[QUOIT_EXEC_TEXT_BYTES]; /* reason of the last err, from that process */
	bool waits;                      /* that process must be sent something */
};

/* An empty table; NULL: there is no memory. */
struct kernels *kernels_new(void);
/* Free it, and let `blocking` close its descriptors; k may be NULL. */
void kernels_free(struct kernels *k, struct blocking *blocking);

/* Does the registration make sense?  0, or -EINVAL with a text.  Pure. */
int kernel_check(const struct quoit_kernel_desc *d, char *text, size_t size);

/* The kernel that a LAUNCH names; NULL: none, or its client does not know its number yet. */
const struct kernel *kernels_find(const struct session *s, uint8_t number);

/* The device that a kernel is for. */
static inline uint8_t kernels_device(const struct session *s, const struct kernel *k)
{
	return s->kernels->image[k->image].device;
}

/*
 * Enter what is asked for, and set ask->index; the device's process is told later.  With ask->text:
 * -ENFILE: there are as many as allowed; -ENODEV, -EBADF: there is no such device, or image.
 */
int kernels_add_image(struct session *s, struct kernels_ask *ask);
int kernels_add_kernel(struct session *s, struct kernels_ask *ask);

/* From now on no job can name the image's kernels.  -EBADF: there is no such image. */
int kernels_remove_image(struct session *s, uint32_t image);

/* Free an image that has no jobs and that no process knows; or a kernel. */
void kernels_free_image(struct session *s, uint32_t image);
void kernels_free_kernel(struct session *s, uint32_t kernel);

/* An open job uses the kernel; it has ended. */
void kernels_hold(struct session *s, uint8_t number);
void kernels_drop(struct session *s, uint8_t number);

#endif
