/* SPDX-License-Identifier: MIT */
/*
 * blocking_pool.h - threads that may hang, for what is done with a client's descriptors.
 *
 * A thread that closes a client's descriptor, or asks what it is, may have to wait for a process of
 * the client's choice: the server of its file system (FUSE), or the peer of a lingering TCP
 * socket.  That may take for ever, so no thread that serves others does it.
 *
 * A connection's blocking calls run one at a time, and those of a user's connections BLOCKING_USER at a
 * time.  A blocking call that hangs holds up only its own connection, which stays in its user's count of
 * connections until the blocking call is done.
 *
 * Long work on a client's memory is a blocking call, too: to map it, to check that all of it is there, to
 * give it back.
 *
 * A thread that hangs up on a client goes through all that waits at the client's end
 * (base/dear.h).  Where that is dear, it is a blocking call, too.
 *
 * Thread-safe, except blocking_init, blocking_checked, blocking_ran and both blocking_hang_up: only the
 * control thread calls these.
 */
#ifndef QUOITD_BLOCKING_POOL_H
#define QUOITD_BLOCKING_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/ctl_io.h"
#include "files.h"
#include "store/shared.h"

#define BLOCKING_USER 4u

/* A connection with more descriptors waiting to be closed may not bring another one yet. */
#define BLOCKING_BEHIND 128u

/*
 * Descriptors of one connection that can wait to be closed, at most: BLOCKING_BEHIND; those that the
 * connection holds: its files, images, ring sockets and pinned region; those of a message and of a
 * doorbell that end it; and the one being checked.
 */
#define BLOCKING_MOST                                                                              \
	(BLOCKING_BEHIND + QUOIT_MAX_FILES + QUOIT_MAX_IMAGES + 2 * QUOIT_MAX_RINGS +              \
	 2 * CTL_FDS_MOST + 3)

/*
 * Memory of one connection that can wait to be dropped: of all its rings, the arena, and a tensor
 * that got no name.
 */
#define BLOCKING_MEMORY (2 * QUOIT_MAX_RINGS + 3)

struct blocking_pool;
struct dear_users;

/* The blocking calls of one connection; it must stay until blocking_idle. */
struct blocking {
	struct blocking_pool *pool;
	struct blocking *next; /* in the pool's queue, or among those under way */
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
	int close[BLOCKING_MOST];
	/* Memory to drop, and how many of these must be dropped before the task. */
	uint32_t memory_count, before_task;
	struct shared memory[BLOCKING_MEMORY];
};

/*
 * eventfd is written whenever a blocking call is done.  writable: the file systems on which quoitd writes
 * other users' files.  0 or -errno.
 */
int blocking_pool_new(int eventfd, const struct file_systems *writable, struct blocking_pool **ret);

/* End the threads.  Those that hang, and what they use, stay until the process ends. */
void blocking_pool_free(struct blocking_pool *p);

/* A connection without blocking calls.  dear: of all users, or NULL. */
void blocking_init(struct blocking *e, struct blocking_pool *p, uid_t uid, struct dear_users *dear);

/* Close a descriptor.  e NULL: it is no client's, and is closed here. */
void blocking_close(struct blocking *e, int fd);

/* Do more than BLOCKING_BEHIND descriptors wait to be closed? */
bool blocking_is_behind(struct blocking *e);

/* Hang up a connection's socket: by ctl_hang_up, or by ctl_hang_up_full if that fails. */
void blocking_hang_up(struct blocking *e, int socket);

/* The same for a ring's socket.  e NULL: it is no client's. */
void blocking_hang_up_ring(struct blocking *e, int socket);

/* Run files_check on a descriptor; one at a time. */
void blocking_check(struct blocking *e, int fd);

/* True, once: the check is done; *ret_fd is the caller's again, the others hold its result. */
bool blocking_checked(struct blocking *e, int *ret_fd, int *ret_result,
		      struct files_kind *ret_kind);

/*
 * Run a task, one at a time, before anything that the connection asks for later.  What it works on
 * must stay until blocking_ran.
 */
void blocking_run(struct blocking *e, void (*task)(void *), void *of);

/* True, once: the task is done. */
bool blocking_ran(struct blocking *e);

/* Take over this memory and drop it, after a task that may be using it. */
void blocking_drop(struct blocking *e, struct shared *m);

/* Is nothing left to do or to be fetched? */
bool blocking_idle(struct blocking *e);

#endif
