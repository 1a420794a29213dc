/* SPDX-License-Identifier: MIT */
/*
 * daemon.h - run a private quoitd for a test.
 *
 * The program is $QUOIT_BUILD/quoitd ("build" by default).  Its temporary folder has its socket and
 * counter files.  It dies with the test, however that ends.
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
 * Start it with these options in addition to its own (ended by NULL; options may be NULL), among them
 * --blas=built-in, and wait until it takes connections.  0 or -errno; -ECHILD: it ended before it was ready.
 */
int daemon_start(struct daemon *d, const char *const *options);

/* The same, with a function that is called in the new process before it becomes quoitd. */
typedef void daemon_prepare_fn(const struct daemon *d);
int daemon_start_prepared(struct daemon *d, const char *const *options, daemon_prepare_fn *prepare);

/*
 * Start another one in place of one that was killed or told to end, even if that has not ended yet.
 * Like daemon_start, but on failure the folder stays.
 */
int daemon_start_again(struct daemon *d, const char *const *options);

/* A daemon_prepare_fn that sends its log into a file of its folder.  -errno. */
int daemon_log_to_file(const struct daemon *d);

/*
 * How many lines of that file contain these words.  A thread of quoitd writes the lines, so this
 * waits some seconds for the expected number.
 */
unsigned daemon_log_count(const struct daemon *d, const char *words, unsigned expected);

/* Its topology file as a string, cut off at `size`; "": it could not be read. */
void daemon_topology(const struct daemon *d, char *text, size_t size);

/* Its totals file; the caller unmaps it; NULL: that failed. */
const struct quoit_totals *daemon_totals(const struct daemon *d);
void daemon_totals_unmap(const struct quoit_totals *t);

/* A counter of one session (quoit/stats.h), as last published; UINT64_MAX: it could not be read. */
uint64_t daemon_session_counter(const struct daemon *d, uint64_t session, unsigned counter);

/* Ask it to end, and remove its folder.  If it does not end well, the test aborts. */
void daemon_stop(struct daemon *d);

/* Kill it, like a crash; daemon_stop then only cleans up. */
void daemon_kill(struct daemon *d);

#endif
