/* SPDX-License-Identifier: MIT */
/*
 * serving.h - services by hand: a session that serves, and one that calls.
 *
 * Both follow the protocol as far as a case lets them; a case sends what breaks it.
 */
#ifndef TORTURE_SERVING_H
#define TORTURE_SERVING_H

#include "stage.h"

#define SERVING_PATIENCE_MS 20000
#define SERVING_SQ          32u /* entries of a team's SQ and CQ */
#define SERVING_CQ          64u
#define SERVING_ARENA       (64u << 10)
#define SERVING_FLOATS      16u   /* elements of both tensors of a call */
#define SERVING_RESULTS     64u   /* bytes of its results */
#define SERVING_X           4096u /* where x lies in the caller's arena; y lies at 0 */

/* ---- serving ---- */

/* A session with an ordinary ring (c) and a team's (team), which has a function "f". */
struct serving {
	struct raw_client c, team;
	unsigned left; /* callers that left, as it has heard */
};

/* With one thread, as it says.  False: noted. */
bool serving_open(struct stage *s, struct serving *v, const char *access);

/* Another function of the team: 0 or quoitd's error. */
int serving_add(struct serving *v, const char *name, const char *access);

/* SERVE, with any words: 0 or quoitd's error. */
int serving_ask(struct raw_client *c, const char name[QUOIT_NAME_BYTES], uint32_t ring,
		uint32_t mode, uint32_t gid);

/* Open one that serves this name to its own user: it can be called at once.  False: noted. */
bool serving_begin(struct stage *s, struct serving *v, const char *name);

/* Unmap the team's ring, which quoitd still has: for one that the case ends itself. */
void serving_drop(struct serving *v);

/* Leave politely; go without a message; the same after quoitd has ended the session. */
void serving_leave(struct stage *s, struct serving *v);
void serving_die(struct stage *s, struct serving *v);
void serving_await_end(struct stage *s, struct serving *v, uint32_t reason);

/* The next call that comes: its name and its entry.  False: noted. */
struct serving_call {
	uint64_t id;
	struct quoit_call_entry entry;
};
bool serving_take(struct stage *s, struct serving *v, struct serving_call *ret);

/* A RETURN with this result, and with results from this place of the arena on. */
#define SERVING_NOWHERE UINT64_MAX
struct quoit_sqe serving_answer(uint64_t id, int32_t result, uint64_t place);

/* Take a call, compute y = 2 x as its function should, and return it. */
void serving_double(struct stage *s, struct serving *v);

/* ---- calling ---- */

/* A session with y (handle 1) and x (handle 2) in its arena, which calls a service's "f". */
struct calling {
	struct raw_client c;
	uint32_t service;
	uint8_t function;
};

/* SERVICE, SERVICE_FUNCTION and SERVICE_CLOSE, with any words: 0 or quoitd's error. */
int calling_ask(struct raw_client *c, const char name[QUOIT_NAME_BYTES], uint32_t uid,
		uint32_t wait_ms, uint32_t reply_ms, uint32_t *ret);
int calling_find(struct raw_client *c, uint32_t service, const char name[QUOIT_NAME_BYTES],
		 uint8_t *ret);
int calling_close(struct raw_client *c, uint32_t service);

/* c has opened only what this job calls: no other number can be closed or called. */
void calling_try_other_numbers(struct stage *s, struct raw_client *c, struct quoit_sqe sqe);

/* Calls that nobody serves wait for so long.  False: noted. */
bool calling_open(struct stage *s, struct calling *k, const char *name, uint32_t wait_ms);

/* y = f(x) */
struct quoit_sqe calling_call(const struct calling *k, uint64_t user_data);

/* Make more outputs, so that several calls can run; the same call with output i of them. */
#define CALLING_OUTPUTS 64u
void calling_spread(struct stage *s, struct calling *k);
struct quoit_sqe calling_call_to(const struct calling *k, unsigned i, uint64_t user_data);

/* The result of the next job that ends, or raw_reap's error. */
int32_t calling_result(struct calling *k);

/* Call, have it served, and look at y. */
void calling_try(struct stage *s, struct calling *k, struct serving *v);

/* ---- both ---- */

/* Whatever happened before: a new server and a new caller work. */
void serving_afresh(struct stage *s);

/* ---- couples ---- */

/* A server and a caller of its service "couple". */
struct couple {
	struct serving v;
	struct calling k;
};

bool couple_open(struct stage *s, struct couple *p, uint32_t wait_ms);

/* Both leave, and then new ones work. */
void couple_leave(struct stage *s, struct couple *p);

/* Submit a call; the same with output i of several. */
void couple_call(struct stage *s, struct couple *p, uint64_t user_data);
void couple_call_to(struct stage *s, struct couple *p, unsigned i, uint64_t user_data);

/* Submit one and take it: its name at the server. */
uint64_t couple_begin(struct stage *s, struct couple *p);

/* Submit a RETURN; one that quoitd refuses with this error. */
void couple_answer(struct stage *s, struct couple *p, struct quoit_sqe sqe);
void serving_expect_refused(struct stage *s, struct raw_client *at, struct quoit_sqe sqe, int err);

/* quoitd has fetched all that was put into the caller's ring; it is alive. */
void couple_await_fetched(struct stage *s, struct couple *p);
void couple_settle(struct stage *s, struct couple *p);

#endif
