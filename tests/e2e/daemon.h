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

#include <quoit/stats.h>

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

/*
 * Another one in the place of one that was killed or told to end, whether that has ended or not. As
 * daemon_start, but the folder stays when it cannot be.
 */
int daemon_start_again(struct daemon *d, const char *const *options);

/* For a daemon_prepare_fn: its log goes into a file of its folder.  -errno. */
int daemon_log_to_file(const struct daemon *d);

/*
 * How many lines of that file have these words.  Lines are written by a thread of quoitd's, so
 * it waits a few seconds for the expected number.
 */
unsigned daemon_log_count(const struct daemon *d, const char *words, unsigned expected);

/* Its topology file, as a string, cut off at `size`; "": it cannot be had. */
void daemon_topology(const struct daemon *d, char *text, size_t size);

/* Its totals file, to be read and unmapped; NULL: it cannot be had. */
const struct quoit_totals *daemon_totals(const struct daemon *d);
void daemon_totals_unmap(const struct quoit_totals *t);

/* A counter of one session (quoit/stats.h), as last published; UINT64_MAX: it cannot be had. */
uint64_t daemon_session_counter(const struct daemon *d, uint64_t session, unsigned counter);

/* Ask it to end, and remove its folder.  A daemon that does not end well aborts the test. */
void daemon_stop(struct daemon *d);

/* End it as a crash would; daemon_stop then only cleans up. */
void daemon_kill(struct daemon *d);

#endif
