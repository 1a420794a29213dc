/* SPDX-License-Identifier: MIT */
/* kernels.c - images and kernels for LAUNCH jobs */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"

static int fill(int fd, const char *from, size_t size)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

	while (size) {
		ssize_t n = write(fd, from, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		from += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return fcntl(fd, F_ADD_SEALS, seals) < 0 ? -errno : 0;
}

/* A memfd with these bytes, sealed so that they cannot change, or -errno. */
static int make_sealed(const void *bytes, size_t size)
{
	int fd = memfd_create("quoit-kernels", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err = fd < 0 ? -errno : fill(fd, bytes, size);

	if (err < 0) {
		libquoit_text_set("cannot put %zu bytes into a memfd", size);
		if (fd >= 0)
			close(fd);
		return err;
	}
	return fd;
}

/* Send the request with a memfd of these bytes; returns the index in the reply. */
static int add(struct quoit_session *s, struct quoit_ctl *m, const void *bytes, size_t size,
	       uint32_t most)
{
	int fd = make_sealed(bytes, size), err;

	if (fd < 0)
		return fd;
	err = libquoit_control_ask(s, m, fd);
	close(fd);
	if (err)
		return err;
	return m->kernels.index < most ? (int)m->kernels.index : libquoit_text_refuse_reply();
}

static int refuse_image(int image)
{
	return libquoit_text_refuse(-EBADF, "there is no image %d: loading it has failed", image);
}

int quoit_load_image(struct quoit_session *s, unsigned device, const void *image, size_t size)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_IMAGE_ADD, .kernels = {.of = device}};

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	if (!size || size > QUOIT_MAX_IMAGE_BYTES) {
		return libquoit_text_refuse(-EFBIG, "the image has %zu bytes: allowed are 1 to %u",
					    size, QUOIT_MAX_IMAGE_BYTES);
	}
	return add(s, &m, image, size, QUOIT_MAX_IMAGES);
}

int quoit_unload_image(struct quoit_session *s, int image)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_IMAGE_REMOVE, .kernels = {.of = (uint32_t)image}};

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	return image < 0 ? refuse_image(image) : libquoit_control_ask(s, &m, -1);
}

int quoit_register_kernel(struct quoit_session *s, int image, const struct quoit_kernel_desc *desc)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_KERNEL_ADD, .kernels = {.of = (uint32_t)image}};

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	return image < 0 ? refuse_image(image) : add(s, &m, desc, sizeof *desc, QUOIT_MAX_KERNELS);
}
