/* SPDX-License-Identifier: MIT */
/* slow_server.c - serve FUSE by hand: a root, a file, and requests that stay unanswered */
#include "slow_server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NODE    2u
#define FILE_BYTES   (1u << 20)
#define BUFFER_BYTES (1u << 18) /* the kernel requires room for the largest request */
#define WRITE_BYTES  (1u << 16)

struct slow_words {
	_Atomic uint32_t held; /* enum fuse_opcode */
	_Atomic uint32_t unanswered;
};

static void answer(int fuse, const struct fuse_in_header *in, int error, const void *body,
		   size_t size)
{
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof out + size), .error = error, .unique = in->unique};
	struct iovec v[2] = {{&out, sizeof out}, {(void *)(uintptr_t)body, size}};
	ssize_t n = writev(fuse, v, 2);

	(void)n;
}

static struct fuse_attr attr_of(uint64_t node)
{
	bool file = node == FILE_NODE;

	return (struct fuse_attr){.ino = node,
				  .size = file ? FILE_BYTES : 0,
				  .mode = file ? S_IFREG | 0666 : S_IFDIR | 0755,
				  .nlink = 1};
}

/* Attributes are valid for no time, so that the kernel asks for them each time. */
static void serve(int fuse, const struct fuse_in_header *in, const void *body)
{
	switch (in->opcode) {
	case FUSE_INIT: {
		const struct fuse_init_in *init = body;
		struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
					    .minor = init->minor < FUSE_KERNEL_MINOR_VERSION
							     ? init->minor
							     : FUSE_KERNEL_MINOR_VERSION,
					    .max_readahead = init->max_readahead,
					    .max_write = WRITE_BYTES};

		answer(fuse, in, 0, &out, sizeof out);
		break;
	}
	case FUSE_LOOKUP: {
		struct fuse_entry_out out = {.nodeid = FILE_NODE, .attr = attr_of(FILE_NODE)};

		answer(fuse, in, 0, &out, sizeof out);
		break;
	}
	case FUSE_GETATTR: {
		struct fuse_attr_out out = {.attr = attr_of(in->nodeid)};

		answer(fuse, in, 0, &out, sizeof out);
		break;
	}
	case FUSE_OPEN: {
		struct fuse_open_out out = {.open_flags = FOPEN_DIRECT_IO};

		answer(fuse, in, 0, &out, sizeof out);
		break;
	}
	case FUSE_STATFS: {
		struct fuse_statfs_out out = {.st = {.namelen = 255}};

		answer(fuse, in, 0, &out, sizeof out);
		break;
	}
	case FUSE_READ:
		answer(fuse, in, -EIO, NULL, 0);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(fuse, in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* these need no answer */
	default:
		answer(fuse, in, -ENOSYS, NULL, 0);
		break;
	}
}

static void run_server(int fuse, struct slow_words *words)
{
	static _Alignas(8) char buffer[BUFFER_BYTES];
	const struct fuse_in_header *in = (const void *)buffer;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		ssize_t n = read(fuse, buffer, sizeof buffer);

		if (n < 0 && errno != EINTR && errno != ENOENT)
			_exit(0); /* unmounted */
		if (n < (ssize_t)sizeof *in)
			continue;
		if (in->opcode == words->held)
			words->unanswered++;
		else
			serve(fuse, in, in + 1);
	}
}

static int mount_it(const struct slow_server *v, int fuse)
{
	char options[120];

	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other",
		 fuse, (unsigned)getuid(), (unsigned)getgid());
	return mount("quoit-slow", v->folder, "fuse", MS_NOSUID | MS_NODEV, options) < 0 ? -errno
											 : 0;
}

int slow_server_start(struct slow_server *v)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC), err;

	*v = (struct slow_server){.pid = -1, .folder = "/tmp/quoit-slow-XXXXXX"};
	if (fuse < 0)
		return -errno;
	v->words = mmap(NULL, sizeof *v->words, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (v->words == MAP_FAILED || !mkdtemp(v->folder)) {
		err = -errno;
		close(fuse);
		return err;
	}
	err = mount_it(v, fuse);
	if (err < 0) {
		(void)rmdir(v->folder);
		close(fuse);
		return err;
	}
	fflush(NULL);
	v->pid = fork();
	if (v->pid == 0)
		run_server(fuse, v->words);
	close(fuse);
	return 0;
}

int slow_server_open(const struct slow_server *v)
{
	char path[80];
	int fd;

	snprintf(path, sizeof path, "%s/file", v->folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool slow_server_enter(struct stage *s, struct slow_server *v, int *ret_file)
{
	if (slow_server_start(v) < 0) {
		s->skip = "no FUSE here, or not for us";
		return false;
	}
	*ret_file = slow_server_open(v);
	return CHECK(s, *ret_file >= 0);
}

void slow_server_hold(const struct slow_server *v, uint32_t opcode)
{
	v->words->unanswered = 0;
	v->words->held = opcode;
}

uint32_t slow_server_await(const struct slow_server *v, uint32_t requests)
{
	while (v->words->unanswered < requests)
		usleep(1000);
	return v->words->unanswered;
}

void slow_server_kill(struct slow_server *v)
{
	kill(v->pid, SIGKILL);
	(void)waitpid(v->pid, NULL, 0);
	(void)umount2(v->folder, MNT_DETACH);
	(void)rmdir(v->folder);
	munmap(v->words, sizeof *v->words);
}
