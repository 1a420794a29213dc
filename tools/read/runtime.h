/* SPDX-License-Identifier: MIT */
/* runtime.h - find quoitd's directory beside its socket, and find out whether quoitd lives */
#ifndef QUOIT_TOOLS_RUNTIME_H
#define QUOIT_TOOLS_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/socket.h>

#include "counters.h"

/*
 * The socket to use: `given`, or the one that programs find if that is NULL.  False after a line on
 * stderr for `quoit COMMAND`: it is not a valid path.
 */
bool runtime_find_socket(const char *command, const char *given, char ret[QUOIT_SOCKET_BYTES]);

/* Open the socket's directory, which has the counter files; a descriptor or -errno. */
int runtime_open_directory(const char *socket);

typedef int runtime_show_fn(int directory, const char *socket, void *arg);

/*
 * Call `show` with the directory of the socket: `given`, or the one that programs find.  Returns
 * its result.  If that, or the search, was a -errno, prints a line on stderr for `quoit COMMAND`
 * and returns 1.
 */
int runtime_show(const char *command, const char *given, runtime_show_fn *show, void *arg);

/*
 * Connect to the socket; returns a descriptor whose receives time out after `timeout_ms`, or
 * -errno.
 */
int runtime_connect(const char *socket, unsigned timeout_ms);

/*
 * Does the daemon that wrote the totals of this directory still run?  Looks, and does not ask it,
 * so that the answer is right for a daemon that hangs.
 */
bool runtime_daemon_lives(int directory, const struct counters_origin *origin);

/* The seconds of a tick of quoitd's counters, by the totals beside the socket; 0: not known. */
double runtime_tick_s(const char *socket);

/* A healthy quoitd updates its counters once a second, even under load. */
#define RUNTIME_SILENT_S 5.0

/* How long ago the most silent reactor has updated its counters; 0: not known. */
double runtime_silence_s(const struct counters_totals *t, unsigned *ret_reactor);

/* CLOCK_BOOTTIME, the clock of the counter files. */
uint64_t runtime_now_ns(void);

#endif
