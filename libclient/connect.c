/* SPDX-License-Identifier: MIT */
/* connect.c - find quoitd's socket, connect, and check who serves there */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "library.h"

#define SYSTEM_DIRECTORY "/run/quoit"
#define SOCKET_NAME      "/quoit/quoitd.sock" /* below /run or $XDG_RUNTIME_DIR */
#define SYSTEM_SOCKET    "/run" SOCKET_NAME

/* secure_getenv: a set-uid program talks to the system's daemon, whoever started it. */
static int find_path(const char *path, struct sockaddr_un *ret)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	int n;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!path)
		path = secure_getenv("QUOIT_SOCKET");
	if (!path && (access(SYSTEM_SOCKET, F_OK) == 0 || !runtime || !*runtime))
		path = SYSTEM_SOCKET;
	if (path)
		n = snprintf(ret->sun_path, sizeof ret->sun_path, "%s", path);
	else
		n = snprintf(ret->sun_path, sizeof ret->sun_path, "%s" SOCKET_NAME, runtime);
	if (n > 0 && (size_t)n < sizeof ret->sun_path)
		return 0;
	libquoit_text_set("the socket's path is %s", n ? "too long" : "empty");
	return n ? -ENAMETOOLONG : -ENOENT;
}

/*
 * Somebody else's process could sit at the path and feed us a ring.  Root and our
 * own uid may; at the system's path also who owns the directory, since nobody else
 * can have put the socket there.
 */
static int check_server(int fd, const char *path)
{
	struct ucred peer;
	socklen_t length = sizeof peer;
	struct stat st;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return -errno;
	if (peer.uid == 0 || peer.uid == geteuid())
		return 0;
	if (!strcmp(path, SYSTEM_SOCKET) && !stat(SYSTEM_DIRECTORY, &st) && st.st_uid == peer.uid)
		return 0;
	libquoit_text_set("%s is served by uid %u, which is neither root nor uid %u", path,
			  (unsigned)peer.uid, (unsigned)geteuid());
	return -EACCES;
}

int libquoit_connect(const char *path, int *ret_fd)
{
	struct sockaddr_un address;
	int fd, err;

	err = find_path(path, &address);
	if (err < 0)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		err = -errno;
		libquoit_text_set("no socket can be made: %s", strerrordesc_np(-err));
		return err;
	}
	if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
		err = -errno;
		libquoit_text_set("no quoitd at %s: %s", address.sun_path, strerrordesc_np(-err));
	} else {
		err = check_server(fd, address.sun_path);
	}
	if (err < 0) {
		close(fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}
