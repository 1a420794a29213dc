/* SPDX-License-Identifier: MIT */
/* connect.c - find quoitd's socket, connect, and check the server's user */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <quoit/socket.h>
#include <quoit/uid.h>

#include "clock.h"
#include "control.h"
#include "library.h"
#include "refusal.h"

static int find_path(const char *path, struct sockaddr_un *ret)
{
	int err;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	err = quoit_socket_path(path, false, ret->sun_path);
	if (err < 0)
		libquoit_text_set("the socket's path is %s", err == -ENOENT ? "empty" : "too long");
	return err;
}

static bool is_trusted(uid_t uid)
{
	return (uid == 0 || uid == geteuid()) && quoit_uid_is_told(uid);
}

/*
 * Could only root, we and this user have created the socket at the path?  Yes, if its folder
 * belongs to that user, and other users may not write to the folder or to one above it.
 */
static bool is_path_of(uid_t uid, const char *path)
{
	char copy[QUOIT_SOCKET_BYTES], *folder, *end;
	struct stat st;
	bool is = true;

	snprintf(copy, sizeof copy, "%s", path);
	folder = quoit_uid_is_told(uid) ? realpath(dirname(copy), NULL) : NULL;
	if (!folder)
		return false;
	is = stat(folder, &st) == 0 && st.st_uid == uid;
	for (end = folder + strlen(folder); is && end; end = strrchr(folder, '/')) {
		*end = '\0';
		is = stat(*folder ? folder : "/", &st) == 0 && !(st.st_mode & 022) &&
		     (st.st_uid == uid || is_trusted(st.st_uid));
	}
	free(folder);
	return is;
}

/*
 * Another user's process could serve the path and feed us a ring.  So we trust only root, our own
 * uid, and the owner of the path; the user of the system's quoitd owns its folder.
 */
static int check_server(int fd, const char *path)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return libquoit_text_refuse(-errno, "cannot ask which user serves %s: %s", path,
					    strerrordesc_np(errno));
	if (is_trusted(peer.uid) || is_path_of(peer.uid, path))
		return 0;
	if (!quoit_uid_is_told(peer.uid))
		libquoit_text_set(
			"the user that serves %s is unknown in this user namespace, and is not "
			"trusted",
			path);
	else
		libquoit_text_set(
			"%s is served by uid %u, which is neither root nor uid %u, and is not "
			"trusted: the folder is not its own, or others may write to it or to one "
			"above",
			path, (unsigned)peer.uid, (unsigned)geteuid());
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

/* connect() waits if many connections wait to be accepted, as when quoitd is stopped. */
static int connect_patiently(int fd, const struct sockaddr_un *address)
{
	uint64_t began_ns = clock_ns();
	int err = libquoit_patience_begin(fd);

	while (!err && connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			err = -errno;
		else if (errno == EAGAIN && !libquoit_patience_left(fd, began_ns))
			err = -ETIMEDOUT;
	}
	return err;
}

int libquoit_connect(const char *path, int *ret_fd)
{
	char why[3 * QUOIT_SOCKET_BYTES];
	struct sockaddr_un address;
	int fd, err;

	err = find_path(path, &address);
	if (err < 0)
		return err;
	fd = libquoit_above_standard(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	if (fd < 0) {
		libquoit_text_set("cannot make a socket: %s", strerrordesc_np(-fd));
		return fd;
	}
	err = connect_patiently(fd, &address);
	if (err == -ETIMEDOUT) {
		/* the callee has set the text */
	} else if (err < 0) {
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
