/* SPDX-License-Identifier: MIT */
/*
 * errands.h - what is done with a client's descriptors by threads that may hang.
 *
 * Whoever closes a descriptor of a client, or asks what it is, may have to wait for somebody
 * whom the client has chosen: the server of its file system (FUSE), or the peer of a TCP
 * socket that lingers.  That may take for ever, so no thread that serves others does it.
 *
 * A connection's errands are run one at a time, and of a user's connections ERRANDS_USER at
 * a time: what hangs holds up its own connection only, and holds it in its user's count of
 * connections until it is done.
 *
 * So is what takes long with a client's memory: to map it, to look whether it is all there, to give
 * it back.
 *
 * Whoever hangs up on a client goes through all that wait at its end (host/dear.h): for a user
 * for whom that is dear, it is an errand, too.
 *
 * Thread-safe, except errands_init, errands_checked, errands_ran and those that hang up, which are
 * the control thread's.
 */
#ifndef QUOITD_ERRANDS_H
#define QUOITD_ERRANDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "files.h"
#include "host/ctl_io.h"
#include "memory/shared.h"

#define ERRANDS_USER 4u

/* A connection of which more descriptors wait to be closed waits with the next one that it brings.
 */
#define ERRANDS_BEHIND 128u

/*
 * Descriptors of one connection that can wait to be closed: so many and those that it has just
 * brought, and what it holds beside: its files, images and the sockets of its rings; its pinned
 * region; those of a message that ends it, and of a doorbell that does; the one that is checked.
 */
#define ERRANDS_MOST                                                                               \
	(ERRANDS_BEHIND + QUOIT_MAX_FILES + QUOIT_MAX_IMAGES + 2 * QUOIT_MAX_RINGS +               \
	 2 * CTL_FDS_MOST + 3)

/* Memory of one connection that can wait to be dropped: a session never has more rings than that,
 * open or closed, and the arena. */
#define ERRANDS_MEMORY (2 * QUOIT_MAX_RINGS + 2)

struct errand_pool;
struct dear_users;

/* Of one connection; it must stay until errands_idle. */
struct errands {
	struct errand_pool *pool;
	struct errands *next; /* in the pool's queue, or among those under way */
	uid_t uid;
	struct dear_users *dear; /* the control thread's, of all users; NULL: it asks nobody */
	bool queued;             /* in one of the two */
	void (*task)(void *);    /* to be run with this; NULL: none */
	void *task_of;
	bool ran;     /* one was, which waits to be told; atomic */
	int check;    /* a descriptor to be looked at; -1: none */
	int hang_up;  /* a socket; -1: none */
	bool checked; /* with this outcome, which waits to be fetched; atomic: */
	int checked_fd, check_result;
	struct files_kind check_kind;
	uint32_t count;
	int close[ERRANDS_MOST];
	uint32_t memory_count,
		before_task; /* so many; and of these, that were there before the task */
	struct shared memory[ERRANDS_MEMORY];
};

/*
 * eventfd is written whenever an errand is done; writable: the file systems on which other users'
 * files are written to.  -errno.
 */
int errand_pool_new(int eventfd, const struct file_systems *writable, struct errand_pool **ret);

/* Ends the threads; those that hang, and what they use, are left to the end of the process. */
void errand_pool_free(struct errand_pool *p);

void errands_init(struct errands *e, struct errand_pool *p, uid_t uid, struct dear_users *dear);

/* Close a descriptor.  e NULL: no client is behind it, and it is closed here. */
void errands_close(struct errands *e, int fd);

/* Do more than ERRANDS_BEHIND wait to be closed? */
bool errands_are_behind(struct errands *e);

/* ctl_hang_up a connection's socket; where that cannot close it, ctl_drain and close it. */
void errands_hang_up(struct errands *e, int socket);

/* The same of a ring's; e NULL: no client is behind it. */
void errands_hang_up_ring(struct errands *e, int socket);

/* files_check a descriptor; one at a time. */
void errands_check(struct errands *e, int fd);

/* True, once: the check is done, *ret_fd is the caller's again, and *ret_result is its result. */
bool errands_checked(struct errands *e, int *ret_fd, int *ret_result, struct files_kind *ret_kind);

/*
 * Run a task, one at a time, before anything that the connection wants to have done later.  What it
 * works on must stay until errands_ran.
 */
void errands_run(struct errands *e, void (*task)(void *), void *of);

/* True, once: the task is done. */
bool errands_ran(struct errands *e);

/* Take this memory over, and drop it, behind a task that may be at work on it. */
void errands_drop(struct errands *e, struct shared *m);

/* Nothing is left to do, or to be fetched. */
bool errands_idle(struct errands *e);

#endif
