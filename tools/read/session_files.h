/* SPDX-License-Identifier: MIT */
/*
 * session_files.h - list and open the files of sessions.
 *
 * They lie in a folder beside the socket that only root, quoitd's own user and the group of option
 * stats-group may look into.  Other users ask quoitd for their own sessions' files, so they get
 * none from a quoitd that hangs.  A group's members ask for what the group may not read, too.
 */
#ifndef QUOIT_TOOLS_SESSION_FILES_H
#define QUOIT_TOOLS_SESSION_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include <quoit/ctl.h>
#include <quoit/socket.h>

#include "counters.h"

struct session_files {
	int directory;     /* of the socket, with the totals */
	int folder;        /* of the sessions' files; -1: there is none, or it is closed to us */
	struct stat found; /* the folder when it was last looked for */
	bool asks;         /* the folder is closed to us */
	char socket[QUOIT_SOCKET_BYTES];
	int connection; /* to quoitd; -1: none */
	bool borrowed;  /* it is the caller's */
	bool owed;      /* a reply did not come in time, and the caller must read it first */
	uint64_t asks_again_ns; /* quoitd did not answer: when to try again (CLOCK_BOOTTIME) */
	/* session_files_have_changed: what it saw last, and whether it may believe that again */
	struct timespec changed;
	uint64_t opened_and_closed, since_ns;
	bool settled;
};

/* Open the directory of this socket; 0 or -errno.  Close it in either case. */
int session_files_open(struct session_files *f, const char *socket);
void session_files_close(struct session_files *f);

/*
 * Ask on this connection, which records (QUOIT_CTL_TRACE) and stays the caller's; -1: no longer.
 * If a reply does not come in time, nothing is asked until the caller has read it, and has cleared
 * `owed`.
 */
void session_files_borrow(struct session_files *f, int connection);

/* Numbers of sessions, in order. */
struct session_list {
	uint64_t *number;
	size_t count, room;
};

/*
 * List the sessions that have a file of this kind.  0 or -errno, with a part of the list; -EAGAIN:
 * quoitd does not answer.  Free ret->number in either case.
 */
int session_files_list(struct session_files *f, enum quoit_counters_kind kind,
		       struct session_list *ret);

/*
 * Open a session's file; a descriptor of a regular file, or -errno.  -ENOENT: there is none;
 * -EACCES: it is not ours to read; -EBADMSG: it is not a regular file.
 */
int session_files_get(struct session_files *f, enum quoit_counters_kind kind, uint64_t session);

/* Read the whole file, at most `size` bytes; its length or -errno, as session_files_get. */
int64_t session_files_read(struct session_files *f, enum quoit_counters_kind kind, uint64_t session,
			   void *buffer, size_t size);

/*
 * May sessions have come or gone since the last call?  totals: as they are now.  Changes within one
 * tick of a clock look like none; so the answer is yes for a second after a change.
 */
bool session_files_have_changed(struct session_files *f, const struct counters_totals *totals);

/* All is read for now: end the connection, since quoitd has few to give. */
void session_files_rest(struct session_files *f);

#endif
