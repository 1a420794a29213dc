/* SPDX-License-Identifier: MIT */
/*
 * backend_exec.h - jobs in executors: a reactor's side of its ports.
 *
 * A ready job of a module or a device waits in its session until the executor is up and has room.
 * Then it is in flight until the executor answers or dies.  Only the reactor calls these functions.
 */
#ifndef QUOITD_BACKEND_EXEC_H
#define QUOITD_BACKEND_EXEC_H

#include "session/owner.h"

/* Queue a ready job of a module or a device.  Never fails: an error ends the job. */
int exec_start(struct reactor *r, struct session *s, struct job *job);

/* Send the session's waiting jobs as far as there is room; true: something was done. */
bool exec_send(struct reactor *r, struct session *s);

/* Update session.exec.ticks_used, the ticks used, from the executors' counters. */
void exec_count_time(struct reactor *r, const struct session *s);

/*
 * For copies between devices (bridge.h), whose jobs wait like others'.  exec_next takes the next of
 * them out of the queue; NULL: none.  exec_send_leg sends one request for such a job, which the
 * executor answers as that leg.  0; -EBUSY: no room now; -ENODEV: there is no executor to wait for.
 */
struct job *exec_next(struct session *s, uint32_t executor);
int exec_send_leg(struct exec_port *p, struct session *s, const struct job *job, uint8_t leg,
		  struct quoit_exec_request *q);

/*
 * A job of the session, or a leg of a copy, no longer waits for the executor and is not there:
 * other sessions' shares may grow.  Call it once for each exec_start except of a copy between
 * devices, and once for each leg that was sent.
 */
void exec_share_leave(struct exec_port *p, struct session *s);

/* Add `change` to the session's jobs in flight there, and in the direct ring if is_direct. */
void exec_count_flight(const struct exec_port *p, struct session *s, bool is_direct, int change);

/*
 * May the session, which has jobs there, have one more in flight?  All slots are divided between
 * users, by their shares, and a user's slots between its sessions.
 */
bool exec_has_share(const struct exec_port *p, const struct session *s, bool is_direct);

/* Take answers, and notice executors that came up or died; true: there was something. */
bool exec_poll(struct reactor *r);

/* Sum up for the counter file: requests, answers, bells (each a system call), queries. */
void exec_count(struct reactor *r);

/* Is the job in an executor? */
bool exec_has(const struct job *job);

/*
 * The deadline of a job in an executor (exec_has) has passed.  If the executor works at it and is a
 * module, or a user's own process at a launch, it is killed, and the job ends with -ETIME.
 * Otherwise only the job ends; such an executor is killed if it later works at the job for a tenth
 * of a second.  Returns the time (TSC) at which to ask again; *ret_posted: its CQE was posted.
 */
uint64_t exec_overdue(struct reactor *r, struct session *s, struct job *job, bool *ret_posted);

/*
 * If the session's client is dead: devices skip its jobs that have not begun, and after a second, a
 * module or a user's own process that still works at one is killed.
 */
void exec_abandon(struct reactor *r, struct session *s);

/*
 * Have every executor give the session's memory back; the session has no jobs any more.  False: not
 * yet, ask again (within EXEC_LEAVE_NS).  After a second without an answer the executor is killed,
 * or, if it works at another session's job, is no longer waited for.
 */
bool exec_leave(struct reactor *r, struct session *s);
#define EXEC_LEAVE_NS 50000000u

/* ---- sleep ---- */

/* How long a sleep may be, in ns (UINT64_MAX: for ever): executors do not ring for new room. */
uint64_t exec_sleep_ns(struct reactor *r);

/* True: no answer has come; executors ring from now on. */
bool exec_may_sleep(struct reactor *r);
void exec_awake(struct reactor *r);

/* After a sleep: empty the sockets, and kill executors that have hung up. */
void exec_drain(struct reactor *r);

#endif
