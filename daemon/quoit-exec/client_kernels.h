/* SPDX-License-Identifier: MIT */
/*
 * client_kernels.h - the images and kernels of one session, as quoitd has sent them to quoit-exec.
 */
#ifndef QUOIT_EXEC_CLIENT_KERNELS_H
#define QUOIT_EXEC_CLIENT_KERNELS_H

#include <stdbool.h>

#include <quoit/exec.h>

struct client_image {
	int fd; /* to be loaded; -1: the image is loaded, or there is none */
	uint64_t bytes;
	struct quoit_device_module *module; /* NULL: not loaded */
};

struct client_kernel {
	struct quoit_device_kernel *kernel; /* NULL: not found */
	bool launched;                      /* at least once since it was found */
	uint32_t image;
	struct quoit_kernel_desc desc;
};

struct client_kernels {
	struct client_image image[QUOIT_MAX_IMAGES];
	struct client_kernel kernel[QUOIT_MAX_KERNELS];
};

/*
 * Take a message of quoitd's.  *at is NULL before the first, and is made then.  fd is taken over.
 * 0; -EPROTO: the message is invalid; -ENOMEM.
 */
int client_kernels_take_image(struct client_kernels **at, const struct quoit_exec_image *m, int fd);
int client_kernels_take_kernel(struct client_kernels **at, const struct quoit_exec_kernel *m);

/* Free all; the modules are unloaded already.  NULL is fine. */
void client_kernels_free(struct client_kernels *b);

#endif
