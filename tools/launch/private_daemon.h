/* SPDX-License-Identifier: MIT */
/*
 * private_daemon.h - run a quoitd of our own that ends when we do.
 *
 * A keeper process stands between us and quoitd.  It holds one end of a pipe.  When the other end
 * is closed (by private_daemon_stop, or by our death of any kind) it stops quoitd and removes the
 * directory.  quoitd in turn dies with its keeper.
 */
#ifndef QUOIT_TOOLS_PRIVATE_DAEMON_H
#define QUOIT_TOOLS_PRIVATE_DAEMON_H

#include <limits.h>
#include <sys/types.h>

#include "read/runtime.h"

struct private_daemon {
	pid_t keeper; /* a child of ours, which ends when quoitd does; 0: already reaped */
	int lifeline;
	char socket[QUOIT_SOCKET_BYTES];
};

/*
 * Start quoitd (the one beside the running program, else of $PATH) with a socket in a fresh
 * directory of mode 0700 below $XDG_RUNTIME_DIR, $TMPDIR or /tmp, and wait until it is ready.
 * `options`, ended by NULL, are passed on; the log's level is "warning" unless they set another.
 * 0, or a negative errno after a message on stderr; -ETIMEDOUT: it hangs.
 */
int private_daemon_start(struct private_daemon *ret, const char *const *options);

/*
 * Become a quoitd that only checks these options (they include --check-config or the like).
 * Returns only if there is no quoitd, after a message on stderr.
 */
void private_daemon_check(const char *const *options);

/* Stop quoitd and wait until nothing is left of it. */
void private_daemon_stop(struct private_daemon *d);

/*
 * Find a file that is installed with us: beside the running program, or in ../libexec/quoit from
 * there; false: it is in neither.
 */
bool private_daemon_beside(const char *name, char ret[static PATH_MAX]);

#endif
