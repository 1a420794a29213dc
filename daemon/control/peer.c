/* SPDX-License-Identifier: MIT */
/* peer.c - finds out about the process at the other end of a connection */
#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD /* Linux 6.5 */
#define SO_PEERPIDFD 77
#endif
#ifndef SO_PEERGROUPS /* Linux 4.13 */
#define SO_PEERGROUPS 59
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

int peer_groups(int socket, gid_t **ret, size_t *ret_count)
{
	socklen_t bytes = 0, length = sizeof(struct ucred);
	struct ucred peer;
	gid_t *gids;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return -errno;
	/* Without room the call fails, and says how much it needs. */
	if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &peer.gid, &bytes) == 0 ||
	    errno != ERANGE)
		bytes = 0;
	gids = malloc(bytes + sizeof *gids);
	if (!gids)
		return -ENOMEM;
	gids[0] = peer.gid;
	if (bytes && getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, gids + 1, &bytes) < 0)
		bytes = 0;
	*ret = gids;
	*ret_count = 1 + bytes / sizeof *gids;
	return 0;
}
