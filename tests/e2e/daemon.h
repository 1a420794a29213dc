/* SPDX-License-Identifier: MIT */
/*
 * daemon.h - a private quoitd of a test's own.
 *
 * The program is $QUOIT_BUILD/quoitd ("build" by default).  It lies in a temporary folder
 * with its socket and counter files, and dies with the test whatever happens to that.
 */
#ifndef TESTS_DAEMON_H
#define TESTS_DAEMON_H

#include <sys/types.h>

struct daemon {
	pid_t pid;
	char folder[64];
	char socket[100];
};

/*
 * Start it with these options besides its own (ended by NULL; options may be NULL) and wait
 * until it takes connections.  0 or -errno, -ECHILD: it ended before it was ready.
 */
int daemon_start(struct daemon *d, const char *const *options);

/* The same, with something done in the new process before it becomes quoitd. */
typedef void daemon_prepare_fn(const struct daemon *d);
int daemon_start_prepared(struct daemon *d, const char *const *options, daemon_prepare_fn *prepare);

/* Ask it to end, and remove its folder.  A daemon that does not end well aborts the test. */
void daemon_stop(struct daemon *d);

/* End it as a crash would; daemon_stop then only cleans up. */
void daemon_kill(struct daemon *d);

#endif
