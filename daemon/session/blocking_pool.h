/* SPDX-License-Identifier: MIT */
/*
 * blocking_pool.h - threads that may hang, for what is done with a client's descriptors.
 *
 * A thread that closes a client's descriptor, or asks what it is, may have to wait for a process of
 * the client's choice: the server of its file system (FUSE), or the peer of a lingering TCP
 * socket.  That may take for ever, so no thread that serves others does it.
 *
 * A connection's errands run one at a time, and those of a user's connections ERRANDS_USER at a
 * time.  An errand that hangs holds up only its own connection, which stays in its user's count of
 * connections until the errand is done.
 *
 * Long work on a client's memory is an errand, too: to map it, to check that all of it is there, to
 * give it back.
 *
 * A thread that hangs up on a client goes through all that waits at the client's end
 * (base/dear.h).  Where that is dear, it is an errand, too.
 *
 * Thread-safe, except errands_init, errands_checked, errands_ran and both errands_hang_up: only the
 * control thread calls these.
 */
#ifndef QUOITD_BLOCKING_POOL_H
#define QUOITD_BLOCKING_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "files.h"
#include "base/ctl_io.h"
#include "store/shared.h"

#define ERRANDS_USER 4u

/* A connection with more descriptors waiting to be closed may not bring another one yet. */
#define ERRANDS_BEHIND 128u

/*
 * Descriptors of one connection that can wait to be closed, at most: ERRANDS_BEHIND; those that the
 * connection holds: its files, images, ring sockets and pinned region; those of a message and of a
 * doorbell that end it; and the one being checked.
 */
#define ERRANDS_MOST                                                                               \
	(ERRANDS_BEHIND + QUOIT_MAX_FILES + QUOIT_MAX_IMAGES + 2 * QUOIT_MAX_RINGS +               \
	 2 * CTL_FDS_MOST + 3)

/* Memory of one connection that can wait to be dropped: of all its rings, and the arena. */
#define ERRANDS_MEMORY (2 * QUOIT_MAX_RINGS + 2)

struct errand_pool;
struct dear_users;

/* The errands of one connection; it must stay until errands_idle. */
struct errands {
	struct errand_pool *pool;
	struct errands *next; /* in the pool's queue, or among those under way */
	uid_t uid;
	struct dear_users *dear; /* of all users, for the control thread; NULL: not used */
	bool queued;             /* in one of the two lists */
	void (*task)(void *);    /* task to run; NULL: none */
	void *task_of;
	bool ran;     /* a task was run and not yet reported; atomic */
	int check;    /* a descriptor to check; -1: none */
	int hang_up;  /* a socket to hang up; -1: none */
	bool checked; /* a check is done and not yet reported; atomic */
	int checked_fd, check_result;
	struct files_kind check_kind;
	uint32_t count;
	int close[ERRANDS_MOST];
	/* Memory to drop, and how many of these must be dropped before the task. */
	uint32_t memory_count, before_task;
	struct shared memory[ERRANDS_MEMORY];
};

/*
 * eventfd is written whenever an errand is done.  writable: the file systems on which quoitd writes
 * other users' files.  0 or -errno.
 */
int errand_pool_new(int eventfd, const struct file_systems *writable, struct errand_pool **ret);

/* End the threads.  Those that hang, and what they use, stay until the process ends. */
void errand_pool_free(struct errand_pool *p);

/* A connection without errands.  dear: of all users, or NULL. */
void errands_init(struct errands *e, struct errand_pool *p, uid_t uid, struct dear_users *dear);

/* Close a descriptor.  e NULL: it is no client's, and is closed here. */
void errands_close(struct errands *e, int fd);

/* Do more than ERRANDS_BEHIND descriptors wait to be closed? */
bool errands_are_behind(struct errands *e);

/* Hang up a connection's socket: by ctl_hang_up, or by ctl_drain and close if that fails. */
void errands_hang_up(struct errands *e, int socket);

/* The same for a ring's socket.  e NULL: it is no client's. */
void errands_hang_up_ring(struct errands *e, int socket);

/* Run files_check on a descriptor; one at a time. */
void errands_check(struct errands *e, int fd);

/* True, once: the check is done; *ret_fd is the caller's again, the others hold its result. */
bool errands_checked(struct errands *e, int *ret_fd, int *ret_result, struct files_kind *ret_kind);

/*
 * Run a task, one at a time, before anything that the connection asks for later.  What it works on
 * must stay until errands_ran.
 */
void errands_run(struct errands *e, void (*task)(void *), void *of);

/* True, once: the task is done. */
bool errands_ran(struct errands *e);

/* Take over this memory and drop it, after a task that may be using it. */
void errands_drop(struct errands *e, struct shared *m);

/* Is nothing left to do or to be fetched? */
bool errands_idle(struct errands *e);

#endif
