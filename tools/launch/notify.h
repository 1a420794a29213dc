/* SPDX-License-Identifier: MIT */
/*
 * notify.h - tell the service manager what we do, as sd_notify(3) does.  One datagram is not worth
 * libsystemd, which every start of `quoit` would load.
 */
#ifndef QUOIT_TOOLS_NOTIFY_H
#define QUOIT_TOOLS_NOTIFY_H

/* Send this state, "READY=1" or the like.  Without a service manager nothing happens; 0 or -errno. */
int notify_send(const char *state);

#endif
