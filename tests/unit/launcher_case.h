/* SPDX-License-Identifier: MIT */
/*
 * launcher_case.h - run a launcher with the test as its quoitd, and counting_driver.h as its device
 *
 * There is one launcher, in a thread of its own, with one channel.  All functions assert success.
 */
#ifndef TESTS_LAUNCHER_CASE_H
#define TESTS_LAUNCHER_CASE_H

#include <stdbool.h>

#include <quoit/exec.h>

#include "counting_driver.h"
#include "quoit-exec/launcher_private.h"
#include "quoit-exec/launcher_reach.h"

#define QUOITD_CLOCK_STEP 1000u /* ns, of the device's clock */

/* Each of these sessions has a pinned region, one page shorter than these stretches. */
#define QUOITD_SESSIONS  8u
#define QUOITD_STRETCHES 3u
#define QUOITD_PINNED    (QUOITD_STRETCHES * REACH_BYTES - 4096)

/* profiled: jobs are ranges for a profiler.  Closing lets the device go on. */
void quoitd_open(bool profiled);
void quoitd_close(void);

/* Send the memory of a session that has left and comes again. */
void quoitd_send_memory(uint32_t session);

/* quoitd's side of the channel; and whether its bell was rung. */
struct quoit_exec_daemon_channel *quoitd_channel(void);
bool quoitd_heard_bell(void);

/*
 * An operation of session 0 on two buffers of a page; `id`: its place among requests; `after`: a
 * request before it, -1: none.  And one that is large, and so has a mark of its own.
 */
struct quoit_exec_request quoitd_job(uint32_t id, uint32_t out, uint32_t in, int after);
struct quoit_exec_request quoitd_large_job(uint32_t id, uint32_t out, uint32_t in, int after);

void quoitd_put(const struct quoit_exec_request *q);
void quoitd_publish(void);

/* How many answers are there. */
unsigned quoitd_answers(void);

/* Wait for this many answers, or for one, and take them; each must be good. */
void quoitd_expect_answers(unsigned n);
struct quoit_exec_answer quoitd_next_answer(void);

/* How many answers were taken; and one of these, 0 being the last. */
unsigned quoitd_answers_taken(void);
struct quoit_exec_answer quoitd_answer(unsigned back);

/* Wait until this many operations were put into streams, and no more. */
void quoitd_expect_runs(unsigned n);

void quoitd_nap(unsigned ms);

/* Put one request, and wait for its answer. */
struct quoit_exec_answer quoitd_run_alone(const struct quoit_exec_request *q);

/* Give the buffers of session 0 their places. */
struct counting_calls quoitd_warm_up(void);

#endif
