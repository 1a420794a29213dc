/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - kernels that a client brings: how they are described and launched.
 *
 * An image (a cubin or PTX; on a soft device the text "soft", which stands for its built-in
 * kernels) is loaded on one device and holds kernels by name.  A registration names a kernel, and
 * has all that a launch needs except its tensors and two scalars; it gets a number, which a LAUNCH
 * job puts into sqe.arg.  A kernel may be registered several times, with different grids.
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
	uint8_t bytes; /* 1, 2, 4 or 8; of a tensor 8.  It is aligned to this size. */
	uint8_t index;
	uint8_t reserved[5];
	uint64_t value; /* the value of a constant; else 0 */
};

struct quoit_kernel_desc {
	/* the name in its image, as the compiler wrote it; printable */
	char name[QUOIT_KERNEL_NAME_BYTES];
	uint32_t grid[3], block[3]; /* at least 1 each */
	uint32_t shared_bytes;      /* in addition to the bytes that the kernel declares itself */
	uint32_t args;
	/*
	 * A letter for each of four tensors: 'W': every element is written; 'M': read and written;
	 * 'R': read; '-': there is none.  Quoit orders jobs by these letters, and cannot check them
	 * against the kernel.  Beyond its tensors the kernel reaches only memory of its user's
	 * process on that device.
	 */
	char access[8];
	struct quoit_kernel_arg arg[QUOIT_MAX_KERNEL_ARGS];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_kernel_arg) == 16, "no padding in an argument");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_kernel_desc) == 552, "no padding in a kernel");

#endif
