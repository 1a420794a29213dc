/* SPDX-License-Identifier: MIT */
/* syncing.c - locks, flags, semaphores, barriers, queues and keyspaces by hand */
#include "syncing.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ctl_client.h"
#include "scenes.h"

/* ---- SYNC ---- */

int sync_ask(struct raw_client *c, const struct sync_words *w, uint32_t *ret)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SYNC,
			      .sync = {.uid = w->uid,
				       .kind = w->kind,
				       .flags = w->flags,
				       .mode = w->mode,
				       .gid = w->gid,
				       .value = w->value,
				       .most = w->most}};
	int err;

	if (!w->uid)
		m.sync.uid = QUOIT_SERVICE_OWN;
	else if (w->uid == SYNC_UID_ROOT)
		m.sync.uid = 0;
	memcpy(m.sync.name, w->name, QUOIT_NAME_BYTES);
	err = raw_call_with(c, &m, -1, NULL);
	*ret = m.sync.number;
	return err;
}

struct sync_words sync_thing(const char *name, enum quoit_sync_kind kind, uint64_t value)
{
	struct sync_words w = {.kind = (uint16_t)kind, .value = value};

	memcpy(w.name, name, strlen(name));
	return w;
}

struct sync_words sync_flagged(struct sync_words w, uint16_t flags)
{
	w.flags = flags;
	return w;
}

/* ---- budgets ---- */

bool sync_see_budget(struct stage *s, uint64_t *used, uint64_t *limit)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_USER};
	struct raw_client c;
	int err;

	m.user.uid = stage_has_users() ? (uint32_t)SCENE_MALLORY : (uint32_t)getuid();
	if (!CHECK(s, !raw_connect(&c, s->daemon.socket)))
		return false;
	err = raw_call_with(&c, &m, -1, NULL);
	ctl_leave(s, &c);
	*used = m.user_reply.host_bytes;
	*limit = m.user_reply.host_limit;
	return CHECK(s, !err);
}

void sync_await_budget(struct stage *s, uint64_t expected)
{
	uint64_t used = 0, limit;

	for (unsigned ms = 0; sync_see_budget(s, &used, &limit) && used != expected; ms++) {
		if (!CHECK(s, ms < SYNC_PATIENCE_MS))
			return;
		usleep(1000);
	}
}

/* ---- parties ---- */

static bool open_session(struct stage *s, struct sync_party *p, uint32_t entries)
{
	const struct raw_wish wish = {.host_bytes = 4 << 20,
				      .arena_bytes = 64 << 10,
				      .max_tensors = 128,
				      .sq_entries = entries};

	return stage_open(s, &p->c, &wish) &&
	       CHECK(s, !raw_run(&p->c, raw_vector(SYNC_TENSOR, 16, 0)));
}

bool sync_open_wide(struct stage *s, struct sync_party *p, struct sync_words w, uint32_t entries)
{
	return open_session(s, p, entries) && CHECK(s, !sync_ask(&p->c, &w, &p->number));
}

bool sync_open(struct stage *s, struct sync_party *p, struct sync_words w)
{
	return sync_open_wide(s, p, w, SYNC_ENTRIES);
}

bool sync_open_new(struct stage *s, struct sync_party *p, struct sync_words w)
{
	int err;

	if (!open_session(s, p, SYNC_ENTRIES))
		return false;
	w.flags |= QUOIT_SYNC_MUST_BE_NEW;
	for (unsigned ms = 0; (err = sync_ask(&p->c, &w, &p->number)) < 0; ms++) {
		if (ms == SYNC_PATIENCE_MS)
			break;
		usleep(1000);
	}
	return CHECK(s, !err);
}

struct quoit_sqe sync_job(const struct sync_party *p, enum quoit_sync_op op, uint64_t n)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_CALL,
				.function = (uint8_t)op,
				.team = (uint8_t)(QUOIT_TEAM_SERVICE + p->number)};

	if (op == QUOIT_SYNC_WAIT_CONDITION)
		sqe.arg = (uint8_t)n;
	else if (op >= QUOIT_SYNC_SEND && op <= QUOIT_SYNC_PEEK)
		sqe.tensor[0] = (uint32_t)n;
	else
		sqe.scalar[0] = n;
	if (op >= QUOIT_SYNC_PUT && op <= QUOIT_SYNC_WATCH)
		sqe.tensor[1] = SYNC_TENSOR;
	if (op == QUOIT_SYNC_PUT)
		sqe.tensor[2] = SYNC_TENSOR;
	else if (op == QUOIT_SYNC_GET || op == QUOIT_SYNC_LIST)
		sqe.tensor[2] = SYNC_FRESH;
	return sqe;
}

struct quoit_sqe sync_notify(const struct sync_party *p, uint8_t condition, uint64_t n)
{
	struct quoit_sqe sqe = sync_job(p, QUOIT_SYNC_NOTIFY, n);

	sqe.arg = condition;
	return sqe;
}

void sync_put(struct stage *s, struct sync_party *p, struct quoit_sqe sqe)
{
	CHECK(s, raw_submit(&p->c, &sqe));
}

int32_t sync_result(struct sync_party *p)
{
	struct quoit_cqe cqe;
	int err = raw_reap(&p->c, SYNC_PATIENCE_MS, &cqe, NULL);

	return err ? err : cqe.res;
}

int32_t sync_run(struct sync_party *p, enum quoit_sync_op op, uint64_t n)
{
	return raw_run(&p->c, sync_job(p, op, n));
}

/* Jobs that wait, of all sessions; the thing is the user's newest one that this session has. */
static bool count_waiting(struct sync_party *p, uint32_t *ret)
{
	struct quoit_ctl callers, m = {.type = QUOIT_CTL_SERVICES};

	for (; !raw_call_with(&p->c, &m, -1, NULL);
	     m = (struct quoit_ctl){.type = QUOIT_CTL_SERVICES,
			 .services.service = m.service_reply.service + 1}) {
		uint64_t next = 0;

		for (;;) {
			callers = (struct quoit_ctl){
				.type = QUOIT_CTL_CALLERS,
				.services = {.service = m.service_reply.service, .caller = next}};
			if (raw_call_with(&p->c, &callers, -1, NULL))
				break;
			next = callers.caller_reply.caller + 1;
			if (callers.caller_reply.session == p->c.info.session) {
				*ret = m.service_reply.waiting;
				return true;
			}
		}
	}
	return false;
}

void sync_await_waiting(struct stage *s, struct sync_party *p, uint32_t waiting)
{
	uint32_t n = UINT32_MAX;

	for (unsigned ms = 0; n != waiting; ms++) {
		if (!CHECK(s, count_waiting(p, &n)) || !CHECK(s, ms < SYNC_PATIENCE_MS))
			return;
		if (n != waiting)
			usleep(1000);
	}
}

void sync_begin(struct stage *s, struct sync_party *p, enum quoit_sync_op op, uint64_t n,
		uint32_t waiting)
{
	sync_put(s, p, sync_job(p, op, n));
	sync_await_waiting(s, p, waiting);
}

void sync_leave(struct stage *s, struct sync_party *p)
{
	CHECK(s, stage_leave(s, &p->c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

void sync_leave_two(struct stage *s, struct sync_party *a, struct sync_party *b)
{
	sync_leave(s, a);
	sync_leave(s, b);
}

/* ---- afresh ---- */

static bool open_two(struct stage *s, struct sync_party *a, struct sync_party *b,
		     struct sync_words w)
{
	return sync_open_new(s, a, w) && sync_open(s, b, w);
}

static void try_lock(struct stage *s)
{
	struct sync_party a, b;

	if (!open_two(s, &a, &b, sync_thing("afresh-lock", QUOIT_SYNC_LOCK, 0)))
		return;
	CHECK(s, !sync_run(&a, QUOIT_SYNC_LOCK_IT, 0));
	sync_begin(s, &b, QUOIT_SYNC_LOCK_IT, 0, 1);
	sync_begin(s, &a, QUOIT_SYNC_WAIT_CONDITION, 7, 1);
	CHECK(s, !sync_result(&b));
	CHECK(s, !raw_run(&b.c, sync_notify(&b, 7, 1)));
	CHECK(s, !sync_run(&b, QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, !sync_result(&a));
	CHECK(s, sync_run(&b, QUOIT_SYNC_UNLOCK, 0) == -EPERM);
	CHECK(s, !sync_run(&a, QUOIT_SYNC_UNLOCK, 0));
	sync_leave_two(s, &a, &b);
}

static void try_flag(struct stage *s)
{
	struct sync_party a, b;

	if (!open_two(s, &a, &b, sync_thing("afresh-flag", QUOIT_SYNC_FLAG, 0)))
		return;
	sync_begin(s, &a, QUOIT_SYNC_WAIT_FLAG, 0, 1);
	CHECK(s, !sync_run(&b, QUOIT_SYNC_SET_FLAG, 0));
	CHECK(s, !sync_result(&a));
	sync_leave_two(s, &a, &b);
}

static void try_semaphore(struct stage *s)
{
	struct sync_party a, b;

	if (!open_two(s, &a, &b, sync_thing("afresh-semaphore", QUOIT_SYNC_SEMAPHORE, 3)))
		return;
	CHECK(s, !sync_run(&a, QUOIT_SYNC_TAKE, 2));
	sync_begin(s, &b, QUOIT_SYNC_TAKE, 3, 1);
	CHECK(s, !sync_run(&a, QUOIT_SYNC_GIVE, 2));
	CHECK(s, !sync_result(&b));
	sync_leave_two(s, &a, &b);
}

static void try_barrier(struct stage *s)
{
	struct sync_party a, b;

	if (!open_two(s, &a, &b, sync_thing("afresh-barrier", QUOIT_SYNC_BARRIER, 2)))
		return;
	for (unsigned i = 0; i < 2; i++) {
		sync_begin(s, &a, QUOIT_SYNC_ARRIVE, 0, 1);
		CHECK(s, sync_run(&b, QUOIT_SYNC_ARRIVE, 0) == 1);
		CHECK(s, sync_result(&a) == 0);
	}
	sync_leave_two(s, &a, &b);
}

static void try_queue(struct stage *s)
{
	struct sync_party a, b;

	if (!open_two(s, &a, &b, sync_thing("afresh-queue", QUOIT_SYNC_QUEUE, 1)))
		return;
	sync_begin(s, &a, QUOIT_SYNC_RECEIVE, SYNC_TENSOR, 1);
	a.c.arena[0] = 0;
	b.c.arena[0] = 42;
	CHECK(s, !sync_run(&b, QUOIT_SYNC_SEND, SYNC_TENSOR));
	CHECK(s, !sync_result(&a) && a.c.arena[0] == 42);
	CHECK(s, !sync_run(&b, QUOIT_SYNC_SEND, SYNC_TENSOR));
	sync_begin(s, &b, QUOIT_SYNC_SEND, SYNC_TENSOR, 1);
	CHECK(s, !sync_run(&a, QUOIT_SYNC_RECEIVE, SYNC_TENSOR));
	CHECK(s, !sync_result(&b));
	sync_leave_two(s, &a, &b);
}

static void try_keyspace(struct stage *s)
{
	struct sync_party a, b;

	if (!open_two(s, &a, &b, sync_thing("afresh-keyspace", QUOIT_SYNC_KEYSPACE, 1)))
		return;
	strcpy((char *)a.c.arena, "key");
	strcpy((char *)b.c.arena, "key");
	sync_begin(s, &a, QUOIT_SYNC_WATCH, 0, 1);
	CHECK(s, !sync_run(&b, QUOIT_SYNC_PUT, 0));
	CHECK(s, !sync_result(&a));
	CHECK(s, sync_run(&a, QUOIT_SYNC_PUT, 0) == -EEXIST);
	CHECK(s, sync_run(&a, QUOIT_SYNC_DELETE, 2) == -ESTALE);
	CHECK(s, !sync_run(&a, QUOIT_SYNC_DELETE, 1));
	sync_leave_two(s, &a, &b);
}

void sync_afresh(struct stage *s)
{
	try_lock(s);
	try_flag(s);
	try_semaphore(s);
	try_barrier(s);
	try_queue(s);
	try_keyspace(s);
}
