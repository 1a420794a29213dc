/* SPDX-License-Identifier: MIT */
/* memory.c - map the memory that quoitd sends */
#include "memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

union descriptors {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(QUOIT_EXEC_REGIONS * sizeof(int))];
};

static unsigned take_fds(struct msghdr *msg, int fds[QUOIT_EXEC_REGIONS])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	size_t bytes;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	bytes = c->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(c), bytes);
	return (unsigned)(bytes / sizeof(int));
}

/* Map the regions that have bytes; each takes the next descriptor. */
static void map(struct memory *m, const struct quoit_exec_memory *from, const int *fds,
		unsigned count)
{
	unsigned next = 0;

	*m = (struct memory){.known = true};
	for (unsigned i = 0; i < QUOIT_EXEC_REGIONS && !m->err; i++) {
		void *base;

		if (!from->bytes[i])
			continue;
		if (next == count) {
			m->err = -EPROTO;
			break;
		}
		base = mmap(NULL, from->bytes[i], PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_NORESERVE, fds[next++], 0);
		if (base == MAP_FAILED) {
			m->err = -errno;
			break;
		}
		m->base[i] = base;
		m->bytes[i] = from->bytes[i];
	}
}

void memory_unmap(struct memory *m)
{
	for (unsigned i = 0; i < QUOIT_EXEC_REGIONS; i++)
		if (m->base[i])
			(void)munmap(m->base[i], m->bytes[i]);
	client_kernels_free(m->kernels);
	*m = (struct memory){0};
}

/* Each kind of message has a length of its own, and begins with its slot. */
union message {
	uint32_t slot;
	struct quoit_exec_memory memory;
	struct quoit_exec_image image;
	struct quoit_exec_kernel kernel;
};

/* Take one message.  Descriptors that it keeps are set to -1. */
static int take(struct memory *slots, const union message *m, size_t size, int *fds, unsigned count)
{
	struct memory *slot = &slots[m->slot];
	int fd = count ? fds[0] : -1;

	if (size == sizeof m->memory && !slot->known) {
		map(slot, &m->memory, fds, count);
		return 0;
	}
	if (size == sizeof m->kernel && slot->known)
		return client_kernels_take_kernel(&slot->kernels, &m->kernel);
	if (size != sizeof m->image || !slot->known || count != 1)
		return -EPROTO;
	fds[0] = -1;
	return client_kernels_take_image(&slot->kernels, &m->image, fd);
}

int memory_receive(int socket, struct memory *slots)
{
	for (;;) {
		union descriptors control;
		union message message;
		struct iovec data = {&message, sizeof message};
		struct msghdr msg = {.msg_iov = &data,
				     .msg_iovlen = 1,
				     .msg_control = control.bytes,
				     .msg_controllen = sizeof control.bytes};
		int fds[QUOIT_EXEC_REGIONS];
		unsigned count;
		ssize_t n = recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		int err;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -ECONNRESET;
		if (n == 0)
			return -ECONNRESET;
		if (n == 1)
			continue;
		count = take_fds(&msg, fds);
		if ((size_t)n < sizeof message.image || message.slot >= QUOIT_EXEC_SLOTS)
			return -EPROTO;
		err = take(slots, &message, (size_t)n, fds, count);
		for (unsigned i = 0; i < count; i++)
			if (fds[i] >= 0)
				(void)close(fds[i]);
		if (err)
			return err;
	}
}
