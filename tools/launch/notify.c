/* SPDX-License-Identifier: MIT */
/* notify.c - tell the service manager what we do, as sd_notify(3) does */
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int notify_send(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t length = name ? strlen(name) : 0;
	int fd, err = 0;

	if (!length)
		return 0;
	if ((*name != '/' && *name != '@') || length >= sizeof to.sun_path)
		return -EINVAL;
	memcpy(to.sun_path, name, length);
	if (*name == '@') /* in the abstract namespace */
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0)
		err = -errno;
	close(fd);
	return err;
}
