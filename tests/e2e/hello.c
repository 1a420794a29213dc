/* SPDX-License-Identifier: MIT */
/* hello.c - open a session without libquoit */
#include "hello.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <quoit/ctl.h>

static int ask(int fd, struct quoit_ctl *m)
{
	if (send(fd, m, sizeof *m, MSG_NOSIGNAL) != sizeof *m ||
	    recv(fd, m, sizeof *m, 0) != sizeof *m)
		return -ECONNRESET;
	return m->result;
}

int hello_say(const char *path, uint32_t cpu_hint)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC,
			      .type = QUOIT_CTL_HELLO,
			      .seq = 1,
			      .hello = {.abi_version = QUOIT_ABI_VERSION,
					.sqe_size = sizeof(struct quoit_sqe),
					.cqe_size = sizeof(struct quoit_cqe),
					.host_bytes = UINT64_C(1) << 20,
					.cpu_hint = cpu_hint}};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
	err = connect(fd, (struct sockaddr *)&at, sizeof at) < 0 ? -errno : ask(fd, &m);
	if (err)
		close(fd);
	return err ? err : fd;
}
