/* SPDX-License-Identifier: MIT */
/*
 * backend_exec.h - jobs in executors: a reactor's side of its ports.
 *
 * A ready job of a module or a device waits in its session until the executor is up and has room,
 * then it is in flight there until its answer or the executor's death.  All functions
 * are the reactor's.
 */
#ifndef QUOITD_BACKEND_EXEC_H
#define QUOITD_BACKEND_EXEC_H

#include "reactor/reactor.h"

/* A ready job of a module or a device: queue it.  Never fails: what goes wrong ends the job. */
void exec_start(struct session *s, struct job *job);

/* Send what waits in this session as far as there is room; true: something was done. */
bool exec_send(struct reactor *r, struct session *s);

/* session.exec.had is as the executors say now. */
void exec_count_time(struct reactor *r, const struct session *s);

/*
 * For copies between devices (bridge.h), whose jobs wait like others': the next of them,
 * taken out of the queue, NULL: none; and one request for one of them, which the executor answers
 * as that leg.  0, -EBUSY: no room there now, -ENODEV: there is no executor to wait for.
 */
struct job *exec_next(struct session *s, uint32_t executor);
int exec_send_leg(struct exec_port *p, struct session *s, const struct job *job, uint8_t leg,
		  struct quoit_exec_request *q);

/*
 * One of a session's jobs, or a part of a copy, is neither waiting for the executor nor there any
 * more: what others may have there depends on how many sessions have some.  For each exec_start
 * but of a copy between devices, and each leg that was sent.
 */
void exec_share_leave(struct exec_port *p, struct session *s);

/* The session has so many jobs more in flight there, in the direct ring or not. */
void exec_count_flight(const struct exec_port *p, struct session *s, bool is_direct, int change);

/*
 * May the session, which is among those with jobs there, have one more in flight?  All places are
 * divided between users, by their shares, and those of a user between its sessions.
 */
bool exec_has_share(const struct exec_port *p, const struct session *s, bool is_direct);

/* Take answers, and the news that an executor came or died; true: there was something. */
bool exec_poll(struct reactor *r);

/* Sum up for the counter file: requests, answers, and wake-ups, each a system call. */
void exec_count(struct reactor *r);

/* Is the job in an executor? */
bool exec_has(const struct job *job);

/*
 * The deadline of a job that exec_has has passed.  If the executor works at it, it is
 * killed and the job ends with -ETIME; if it waits there behind others, only the job ends,
 * and the executor is killed should it later work at that for a tenth of a second.
 * Returns the time (TSC) at which to ask again; *ret_posted: its CQE was posted.
 */
uint64_t exec_overdue(struct reactor *r, struct session *s, struct job *job, bool *ret_posted);

/*
 * A dead client's job does not hold a module for longer than a second, and what a device has not
 * begun does not run.
 */
void exec_abandon(struct reactor *r, struct session *s);

/*
 * Have every executor give the session's memory back; the session has no jobs any more.
 * False: not yet, ask again (within EXEC_LEAVE_NS).  One that does not answer within a second is
 * killed, or not waited for while it works at another session's job.
 */
bool exec_leave(struct reactor *r, struct session *s);
#define EXEC_LEAVE_NS 50000000u

/* ---- sleep ---- */

/* How long a sleep may be (UINT64_MAX: for ever): nobody rings when there is room again. */
uint64_t exec_sleep_ns(struct reactor *r);

/* True: no answer has come; executors ring from now on. */
bool exec_may_sleep(struct reactor *r);
void exec_awake(struct reactor *r);

/* After a sleep: empty the sockets, notice who has hung up. */
void exec_drain(struct reactor *r);

#endif
