/* SPDX-License-Identifier: MIT */
/* peer.c - the process at the other end of a connection */
#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD /* Linux 6.5 */
#define SO_PEERPIDFD 77
#endif

int peer_open(int socket, pid_t pid)
{
	socklen_t length = sizeof(int);
	int pidfd;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0)
		return pidfd;
	return errno == ENOPROTOOPT ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

bool peer_has_ended(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return pidfd >= 0 && poll(&p, 1, 0) > 0;
}
