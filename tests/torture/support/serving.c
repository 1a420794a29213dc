/* SPDX-License-Identifier: MIT */
/* serving.c - services by hand: a session that serves, and one that calls */
#include "serving.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRIES 64u

static const struct raw_wish wish = {.host_bytes = 4 << 20,
				     .arena_bytes = SERVING_ARENA,
				     .max_tensors = 128,
				     .sq_entries = ENTRIES,
				     .cq_entries = 2 * ENTRIES};

static void set_name(char to[QUOIT_NAME_BYTES], const char *name)
{
	memset(to, 0, QUOIT_NAME_BYTES);
	memcpy(to, name, strlen(name));
}

/* ---- serving ---- */

int serving_add(struct serving *v, const char *name, const char *access)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_FUNCTION_ADD, .function.ring = v->team.ring};

	set_name(m.function.name, name);
	memcpy(m.function.access, access, QUOIT_MAX_TENSORS_PER_JOB);
	return raw_call_with(&v->c, &m, -1, NULL);
}

bool serving_open(struct stage *s, struct serving *v, const char *access)
{
	if (!stage_open(s, &v->c, &wish))
		return false;
	v->left = 0;
	v->team = v->c;
	v->team.pages = NULL;
	v->team.ring_fd = v->team.bell = -1;
	if (!CHECK(s, !raw_ring_open(&v->team, SERVING_SQ, SERVING_CQ, QUOIT_RING_CALLS)))
		return false;
	__atomic_store_n(&v->team.client->lanes, 1, __ATOMIC_RELAXED);
	return CHECK(s, !serving_add(v, "f", access));
}

int serving_ask(struct raw_client *c, const char name[QUOIT_NAME_BYTES], uint32_t ring,
		uint32_t mode, uint32_t gid)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVE,
			      .serve = {.ring = ring, .mode = mode, .gid = gid}};

	memcpy(m.serve.name, name, QUOIT_NAME_BYTES);
	return raw_call_with(c, &m, -1, NULL);
}

bool serving_begin(struct stage *s, struct serving *v, const char *name)
{
	char whole[QUOIT_NAME_BYTES];

	set_name(whole, name);
	return serving_open(s, v, "WR--") &&
	       CHECK(s, !serving_ask(&v->c, whole, v->team.ring, 0, 0));
}

void serving_drop(struct serving *v)
{
	v->team.socket = v->team.arena_fd = -1;
	v->team.arena = NULL;
	raw_close(&v->team);
}

void serving_leave(struct stage *s, struct serving *v)
{
	serving_drop(v);
	CHECK(s, stage_leave(s, &v->c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

void serving_die(struct stage *s, struct serving *v)
{
	serving_drop(v);
	stage_die(s, &v->c);
}

void serving_await_end(struct stage *s, struct serving *v, uint32_t reason)
{
	serving_drop(v);
	stage_await_end(s, &v->c, reason);
}

static const struct quoit_call_entry *entry_at(const struct raw_client *team, uint32_t index)
{
	const uint8_t *entries = (const uint8_t *)team->daemon + team->layout.calls;

	return (const struct quoit_call_entry *)entries + (index & (team->layout.cq_entries - 1));
}

bool serving_take(struct stage *s, struct serving *v, struct serving_call *ret)
{
	struct quoit_cqe cqe = {0};
	uint32_t index;

	*ret = (struct serving_call){0};
	do {
		index = v->team.cq.next;
		if (!CHECK(s, !raw_reap(&v->team, SERVING_PATIENCE_MS, &cqe, NULL)) ||
		    !CHECK(s, !cqe.flags && cqe.res >= 0))
			return false;
		v->left += cqe.res == QUOIT_CALLER_LEFT;
	} while (cqe.res == QUOIT_CALLER_LEFT);
	ret->id = cqe.user_data;
	ret->entry = *entry_at(&v->team, index);
	return CHECK(s, ret->entry.function == cqe.res && ret->entry.caller);
}

struct quoit_sqe serving_answer(uint64_t id, int32_t result, uint64_t place)
{
	return (struct quoit_sqe){.opcode = QUOIT_OP_RETURN,
				  .flags = QUOIT_SQE_QUIET,
				  .user_data = id,
				  .result = result,
				  .results =
					  place == SERVING_NOWHERE ? 0 : QUOIT_RESULTS_AT(place)};
}

/* Map the caller's memory, and read x there. */
static bool double_x(struct stage *s, struct serving *v, const struct serving_call *call)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CALLER,
			      .caller = {.ring = v->team.ring, .caller = call->entry.caller}};
	float *to = (float *)(void *)v->c.arena;
	int fd = -1;
	void *map;

	if (!CHECK(s, !raw_call_with(&v->c, &m, -1, &fd)) || !CHECK(s, fd >= 0))
		return false;
	map = mmap(NULL, m.caller.bytes, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (!CHECK(s, map != MAP_FAILED))
		return false;
	memcpy(to, (const uint8_t *)map + call->entry.tensor[1].place,
	       SERVING_FLOATS * sizeof(float));
	munmap(map, m.caller.bytes);
	for (unsigned i = 0; i < SERVING_FLOATS; i++)
		to[i] *= 2;
	return true;
}

void serving_double(struct stage *s, struct serving *v)
{
	struct serving_call call;
	struct quoit_sqe sqe;

	if (!serving_take(s, v, &call) || !double_x(s, v, &call))
		return;
	sqe = serving_answer(call.id, 0, 0);
	CHECK(s, raw_submit(&v->team, &sqe));
}

/* ---- calling ---- */

int calling_ask(struct raw_client *c, const char name[QUOIT_NAME_BYTES], uint32_t uid,
		uint32_t wait_ms, uint32_t reply_ms, uint32_t *ret)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICE,
			      .service = {.uid = uid, .wait_ms = wait_ms, .reply_ms = reply_ms}};
	int err;

	memcpy(m.service.name, name, QUOIT_NAME_BYTES);
	err = raw_call_with(c, &m, -1, NULL);
	*ret = m.service.number;
	return err;
}

int calling_find(struct raw_client *c, uint32_t service, const char name[QUOIT_NAME_BYTES],
		 uint8_t *ret)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICE_FUNCTION,
			      .service_function.service = service};
	int err;

	memcpy(m.service_function.name, name, QUOIT_NAME_BYTES);
	err = raw_call_with(c, &m, -1, NULL);
	*ret = (uint8_t)m.service_function.number;
	return err;
}

int calling_close(struct raw_client *c, uint32_t service)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICE_CLOSE, .service_function.service = service};

	return raw_call_with(c, &m, -1, NULL);
}

void calling_try_other_numbers(struct stage *s, struct raw_client *c, struct quoit_sqe sqe)
{
	static const uint32_t numbers[] = {1, 63, 64, 192, 256, UINT32_MAX};
	const unsigned own = sqe.team;

	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		CHECK(s, calling_close(c, numbers[i]) == -EBADF);
	for (unsigned team = 0; team < 256; team++) {
		sqe.team = (uint8_t)team;
		if (team != own)
			CHECK(s, raw_run(c, sqe) == -EINVAL);
	}
}

bool calling_open(struct stage *s, struct calling *k, const char *name, uint32_t wait_ms)
{
	char whole[QUOIT_NAME_BYTES], f[QUOIT_NAME_BYTES] = "f";

	set_name(whole, name);
	if (!stage_open(s, &k->c, &wish))
		return false;
	CHECK(s, !raw_run(&k->c, raw_vector(1, SERVING_FLOATS, 0)));
	CHECK(s, !raw_run(&k->c, raw_vector(2, SERVING_FLOATS, SERVING_X)));
	return CHECK(s, !calling_ask(&k->c, whole, QUOIT_SERVICE_OWN, wait_ms, 0, &k->service)) &&
	       CHECK(s, !calling_find(&k->c, k->service, f, &k->function));
}

struct quoit_sqe calling_call(const struct calling *k, uint64_t user_data)
{
	return (struct quoit_sqe){.opcode = QUOIT_OP_CALL,
				  .user_data = user_data,
				  .tensor = {1, 2},
				  .function = k->function,
				  .team = (uint8_t)(QUOIT_TEAM_SERVICE + k->service)};
}

void calling_spread(struct stage *s, struct calling *k)
{
	for (unsigned i = 0; i < CALLING_OUTPUTS; i++)
		CHECK(s, !raw_run(&k->c, raw_vector(3 + i, SERVING_FLOATS,
						    2 * SERVING_X + i * SERVING_RESULTS)));
}

struct quoit_sqe calling_call_to(const struct calling *k, unsigned i, uint64_t user_data)
{
	struct quoit_sqe sqe = calling_call(k, user_data);

	sqe.tensor[0] = 3 + i;
	return sqe;
}

int32_t calling_result(struct calling *k)
{
	struct quoit_cqe cqe;
	int err = raw_reap(&k->c, SERVING_PATIENCE_MS, &cqe, NULL);

	return err ? err : cqe.res;
}

void calling_try(struct stage *s, struct calling *k, struct serving *v)
{
	float *y = (float *)(void *)k->c.arena, *x = (float *)(void *)(k->c.arena + SERVING_X);
	struct quoit_sqe sqe = calling_call(k, 1);
	bool right = true;

	for (unsigned i = 0; i < SERVING_FLOATS; i++) {
		x[i] = (float)(stage_random(s, 1000) + 1);
		y[i] = 0;
	}
	CHECK(s, raw_submit(&k->c, &sqe));
	serving_double(s, v);
	CHECK(s, !calling_result(k));
	for (unsigned i = 0; i < SERVING_FLOATS; i++)
		right &= y[i] == 2 * x[i];
	CHECK(s, right);
}

/* ---- both ---- */

void serving_afresh(struct stage *s)
{
	struct calling k;
	struct serving v;

	if (!serving_begin(s, &v, "afresh") || !calling_open(s, &k, "afresh", 0))
		return;
	calling_try(s, &k, &v);
	calling_try(s, &k, &v);
	CHECK(s, stage_leave(s, &k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	if (!calling_open(s, &k, "afresh", 0))
		return;
	calling_try(s, &k, &v);
	CHECK(s, stage_leave(s, &k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	serving_leave(s, &v);
}

/* ---- couples ---- */

bool couple_open(struct stage *s, struct couple *p, uint32_t wait_ms)
{
	return serving_begin(s, &p->v, "couple") && calling_open(s, &p->k, "couple", wait_ms);
}

void couple_leave(struct stage *s, struct couple *p)
{
	CHECK(s, stage_leave(s, &p->k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	serving_leave(s, &p->v);
	serving_afresh(s);
}

void couple_call(struct stage *s, struct couple *p, uint64_t user_data)
{
	struct quoit_sqe sqe = calling_call(&p->k, user_data);

	CHECK(s, raw_submit(&p->k.c, &sqe));
}

/* Several can run at a time. */
void couple_call_to(struct stage *s, struct couple *p, unsigned i, uint64_t user_data)
{
	struct quoit_sqe sqe = calling_call_to(&p->k, i, user_data);

	CHECK(s, raw_submit(&p->k.c, &sqe));
}

/* quoitd has fetched all that was put into the caller's ring. */
void couple_await_fetched(struct stage *s, struct couple *p)
{
	for (unsigned ms = 0; raw_sq_head(&p->k.c) != p->k.c.sq.next; ms++) {
		if (!CHECK(s, ms < SERVING_PATIENCE_MS))
			return;
		usleep(1000);
	}
}

/* A call is under way; its name at the server. */
uint64_t couple_begin(struct stage *s, struct couple *p)
{
	struct serving_call taken;

	couple_call(s, p, 77);
	(void)serving_take(s, &p->v, &taken);
	return taken.id;
}

void couple_answer(struct stage *s, struct couple *p, struct quoit_sqe sqe)
{
	CHECK(s, raw_submit(&p->v.team, &sqe));
}

/* A return that quoitd refuses with this error. */
void serving_expect_refused(struct stage *s, struct raw_client *at, struct quoit_sqe sqe, int err)
{
	struct quoit_cqe cqe = {0};

	CHECK(s, raw_submit(at, &sqe));
	CHECK(s, !raw_reap(at, SERVING_PATIENCE_MS, &cqe, NULL));
	CHECK(s, cqe.res == err && cqe.flags & QUOIT_CQE_ERROR);
}

/* All that was put into the caller's ring has been fetched, and its other jobs have ended. */
void couple_settle(struct stage *s, struct couple *p)
{
	CHECK(s, !raw_run(&p->k.c, raw_job(QUOIT_OP_NOP, 0, 0, 0)));
}
