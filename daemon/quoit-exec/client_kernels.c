/* SPDX-License-Identifier: MIT */
/* client_kernels.c - keep the images and kernels that a session has brought */
#include "client_kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int make(struct client_kernels **at)
{
	if (*at)
		return 0;
	*at = calloc(1, sizeof **at);
	if (!*at)
		return -ENOMEM;
	for (uint32_t i = 0; i < QUOIT_MAX_IMAGES; i++)
		(*at)->image[i].fd = -1;
	return 0;
}

int client_kernels_take_image(struct client_kernels **at, const struct quoit_exec_image *m, int fd)
{
	int err = m->image < QUOIT_MAX_IMAGES && m->bytes && m->bytes <= QUOIT_MAX_IMAGE_BYTES
			  ? make(at)
			  : -EPROTO;

	if (!err && (*at)->image[m->image].fd >= 0)
		err = -EPROTO;
	if (err) {
		close(fd);
		return err;
	}
	/* A request to unload the module that had this number before may still be in the ring. */
	(*at)->image[m->image].fd = fd;
	(*at)->image[m->image].bytes = m->bytes;
	return 0;
}

int client_kernels_take_kernel(struct client_kernels **at, const struct quoit_exec_kernel *m)
{
	int err = m->kernel < QUOIT_MAX_KERNELS && m->image < QUOIT_MAX_IMAGES &&
				  m->desc.args <= QUOIT_MAX_KERNEL_ARGS
			  ? make(at)
			  : -EPROTO;

	if (!err)
		(*at)->kernel[m->kernel] =
			(struct client_kernel){.image = m->image, .desc = m->desc};
	return err;
}

void client_kernels_free(struct client_kernels *b)
{
	for (uint32_t i = 0; b && i < QUOIT_MAX_IMAGES; i++)
		if (b->image[i].fd >= 0)
			close(b->image[i].fd);
	free(b);
}
