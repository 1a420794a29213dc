/* SPDX-License-Identifier: MIT */
/* connect.c - find quoitd's socket, connect, and check who serves there */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <quoit/socket.h>

#include "library.h"

static int find_path(const char *path, struct sockaddr_un *ret)
{
	int err;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	err = quoit_socket_path(path, false, ret->sun_path);
	if (err < 0)
		libquoit_text_set("the socket's path is %s", err == -ENOENT ? "empty" : "too long");
	return err;
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
	if (!strcmp(path, QUOIT_SOCKET_SYSTEM) && !stat(QUOIT_SOCKET_SYSTEM_DIRECTORY, &st) &&
	    st.st_uid == peer.uid)
		return 0;
	libquoit_text_set("%s is served by uid %u, which is neither root nor uid %u", path,
			  (unsigned)peer.uid, (unsigned)geteuid());
	return -EACCES;
}

int libquoit_above_standard(int fd)
{
	int above;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd < 0 ? -errno : fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (above < 0)
		above = -errno;
	close(fd);
	return above;
}

int libquoit_connect(const char *path, int *ret_fd)
{
	char why[2 * QUOIT_SOCKET_BYTES];
	struct sockaddr_un address;
	int fd, err;

	err = find_path(path, &address);
	if (err < 0)
		return err;
	fd = libquoit_above_standard(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	if (fd < 0) {
		libquoit_text_set("no socket can be made: %s", strerrordesc_np(-fd));
		return fd;
	}
	if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
		err = -errno;
		quoit_socket_explain(address.sun_path, -err, why, sizeof why);
		libquoit_text_set("%s", why);
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
