/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - kernels that a client brings: what one is, and how it is launched.
 *
 * An image (a cubin or PTX; on a soft device the text "soft", which stands for its built-in
 * kernels) is loaded on one device and holds kernels by name.  A kernel is registered with all
 * that a launch needs but its tensors and two scalars, and gets a number; a job LAUNCH names
 * that number in sqe.arg.  Several registrations of one name, with other grids, are fine.
 *
 * No pointers, no implicit padding: quoitd and quoit-exec read the very same bytes.
 */
#ifndef QUOIT_KERNEL_H
#define QUOIT_KERNEL_H

#include <quoit/abi.h>

#define QUOIT_MAX_IMAGES        16u /* of one session */
#define QUOIT_MAX_IMAGE_BYTES   (16u << 20)
#define QUOIT_MAX_KERNELS       256u /* of one session */
#define QUOIT_MAX_KERNEL_ARGS   16u
#define QUOIT_MAX_KERNEL_BLOCK  1024u                /* threads */
#define QUOIT_MAX_KERNEL_SHARED (48u << 10)          /* bytes that a launch asks for */
#define QUOIT_MAX_KERNEL_GRID   UINT32_C(0x7fffffff) /* in x; 65535 in y and z */
#define QUOIT_KERNEL_NAME_BYTES 256

enum quoit_kernel_arg_kind {
	QUOIT_ARG_TENSOR = 1, /* the address of the first element of tensor `index` */
	QUOIT_ARG_SCALAR,     /* the low `bytes` of sqe.scalar[index] */
	QUOIT_ARG_CONSTANT,   /* the low `bytes` of value */
};

struct quoit_kernel_arg {
	uint8_t kind;  /* enum quoit_kernel_arg_kind */
	uint8_t bytes; /* 1, 2, 4 or 8; of a tensor 8.  It is aligned to that. */
	uint8_t index;
	uint8_t reserved[5];
	uint64_t value; /* of a constant; else 0 */
};

struct quoit_kernel_desc {
	char name[QUOIT_KERNEL_NAME_BYTES]; /* in its image, as the compiler wrote it; printable */
	uint32_t grid[3], block[3];         /* at least 1 each */
	uint32_t shared_bytes;              /* beside what the kernel declares itself */
	uint32_t args;
	/*
	 * A letter for each of four tensors: 'W' written, every element; 'M' read and written;
	 * 'R' read; '-' there is none.  Jobs are ordered by what is said here.  What the kernel
	 * really does is seen by nobody; beyond its tensors it reaches only what belongs to its
	 * user's process on that device.
	 */
	char access[8];
	struct quoit_kernel_arg arg[QUOIT_MAX_KERNEL_ARGS];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_kernel_arg) == 16, "no padding in an argument");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_kernel_desc) == 552, "no padding in a kernel");

#endif
