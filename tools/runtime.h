/* SPDX-License-Identifier: MIT */
/* runtime.h - where quoitd is: the directory beside its socket, and is it alive */
#ifndef QUOIT_TOOLS_RUNTIME_H
#define QUOIT_TOOLS_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/socket.h>

#include "counters.h"

/*
 * The socket that is `given`, NULL: the one that programs find, for `quoit COMMAND`.  False after a
 * line on stderr: that is no path.
 */
bool runtime_find_socket(const char *command, const char *given, char ret[QUOIT_SOCKET_BYTES]);

/* Open the directory of the socket, where the counter files lie; a descriptor or -errno. */
int runtime_open_directory(const char *socket);

typedef int runtime_show_fn(int directory, const char *socket, void *arg);

/*
 * Do `show` with the directory of the socket, `given` or the one that programs find, for `quoit
 * COMMAND`.  What it returns, or 1 after a line on stderr where that, or finding it, was a -errno.
 */
int runtime_show(const char *command, const char *given, runtime_show_fn *show, void *arg);

/* Connect to the socket; a descriptor with `timeout_ms` on its receives, or -errno. */
int runtime_connect(const char *socket, unsigned timeout_ms);

/*
 * Does the daemon that wrote the totals of this directory still run?  Looked up, not asked, so it
 * is true of a daemon that hangs.
 */
bool runtime_daemon_lives(int directory, const struct counters_origin *origin);

/* A quoitd that is well tells its counters once a second, whatever it does. */
#define RUNTIME_SILENT_S 5.0

/* For how long it has not, of the reactor that is silent for longest; 0: not known. */
double runtime_silence_s(const struct counters_totals *t, unsigned *ret_reactor);

/* CLOCK_BOOTTIME, the clock of the counter files. */
uint64_t runtime_now_ns(void);

#endif
