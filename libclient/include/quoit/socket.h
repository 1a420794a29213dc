/* SPDX-License-Identifier: MIT */
/*
 * socket.h - where quoitd's socket is: one rule for the daemon and for its clients.
 *
 * An option that names a path comes first, then $QUOIT_SOCKET.  Otherwise a client takes the
 * system's socket if it exists, else the user's own, in $XDG_RUNTIME_DIR.  A user without such a
 * folder gets the system's socket.
 */
#ifndef QUOIT_SOCKET_H
#define QUOIT_SOCKET_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUOIT_SOCKET_BYTES            108 /* sun_path's size */
#define QUOIT_SOCKET_SYSTEM_DIRECTORY "/run/quoit"
#define QUOIT_SOCKET_SYSTEM           QUOIT_SOCKET_SYSTEM_DIRECTORY "/quoitd.sock"

/* For people, in an error: how to start a quoitd. */
#define QUOIT_SOCKET_START                                                                         \
	"start one: `systemctl start quoitd.socket`, or `quoit run -- PROGRAM` for one program"

/*
 * Write the socket's path into ret.  `named`: the path of an option, or NULL.  `own`: pass over the
 * system's socket, as a quoitd does that belongs to a user.  0, -ENOENT for an empty path, or
 * -ENAMETOOLONG.
 *
 * secure_getenv: a set-uid program talks to the system's quoitd, whatever user started it.
 */
static inline int quoit_socket_path(const char *named, bool own, char ret[QUOIT_SOCKET_BYTES])
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR"), *below = "";
	int n;

	if (!named)
		named = secure_getenv("QUOIT_SOCKET");
	if (!named && (!runtime || !*runtime || (!own && access(QUOIT_SOCKET_SYSTEM, F_OK) == 0)))
		named = QUOIT_SOCKET_SYSTEM;
	if (!named) {
		named = runtime;
		below = "/quoit/quoitd.sock";
	}
	n = snprintf(ret, QUOIT_SOCKET_BYTES, "%s%s", named, below);
	if (n <= 0)
		return -ENOENT;
	return n < QUOIT_SOCKET_BYTES ? 0 : -ENAMETOOLONG;
}

/* The first folder on the way to a path that we may not search; false: there is none. */
static inline bool quoit_socket_closed_folder(const char *path, char ret[QUOIT_SOCKET_BYTES])
{
	for (const char *end = path; (end = strchr(end + 1, '/'));) {
		snprintf(ret, QUOIT_SOCKET_BYTES, "%.*s", (int)(end - path), path);
		if (access(ret, X_OK) < 0 && errno == EACCES)
			return true;
	}
	return false;
}

/* Explain to people why a connection to this path failed with this errno. */
static inline void quoit_socket_explain(const char *path, int error, char *ret, size_t size)
{
	const char *why = strerrordesc_np(error), *runtime = secure_getenv("XDG_RUNTIME_DIR");
	char folder[QUOIT_SOCKET_BYTES];

	if (error == ENOENT && runtime && *runtime && !strncmp(path, runtime, strlen(runtime)) &&
	    access(QUOIT_SOCKET_SYSTEM, F_OK) < 0)
		snprintf(ret, size, "no quoitd, neither at %s nor at %s; " QUOIT_SOCKET_START,
			 QUOIT_SOCKET_SYSTEM, path);
	else if (error == EACCES && quoit_socket_closed_folder(path, folder))
		snprintf(ret, size,
			 "no access to quoitd at %s: the folder %s is closed to this user", path,
			 folder);
	else if (error == EACCES)
		snprintf(ret, size,
			 "no access to quoitd at %s: %s; it takes membership in the socket's group",
			 path, why);
	else if (error == ENOENT || error == ECONNREFUSED)
		snprintf(ret, size, "no quoitd at %s: %s; " QUOIT_SOCKET_START, path, why);
	else
		snprintf(ret, size, "no quoitd at %s: %s", path, why);
}

#endif
