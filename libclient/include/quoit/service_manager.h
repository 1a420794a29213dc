/* SPDX-License-Identifier: MIT */
/*
 * service_manager.h - environment variables that a service manager sets for one process; its children must
 * not inherit them
 */
#ifndef QUOIT_SERVICE_MANAGER_H
#define QUOIT_SERVICE_MANAGER_H

#include <stdbool.h>
#include <string.h>

/* Is this "NAME=value" of the environment one of them?  See sd_notify(3), sd_listen_fds(3). */
static inline bool quoit_service_manager_tells(const char *variable)
{
	static const char *const names[] = {
		"NOTIFY_SOCKET=", "WATCHDOG_USEC=",  "WATCHDOG_PID=",   "LISTEN_FDS=",
		"LISTEN_PID=",    "LISTEN_PIDFDID=", "LISTEN_FDNAMES=", "FDSTORE="};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Remove all of them from an environment, in place. */
static inline void quoit_service_manager_leave(char **environment)
{
	char **to = environment;

	for (char **from = environment; *from; from++)
		if (!quoit_service_manager_tells(*from))
			*to++ = *from;
	*to = NULL;
}

#endif
