/* SPDX-License-Identifier: MIT */
/* team_serve.c - take calls, run them, return them, and sleep until the next ones come */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "clock.h"
#include "mine.h"
#include "queue.h"
#include "seen.h"
#include "serve.h"
#include "slot.h"
#include "team.h"

#define SLICE_NS    250000000u /* longest sleep between two looks at the socket */
#define FULL_NAP_NS 20000u     /* the SQ is full: quoitd takes returns at once when it can */

/* ---- sleeping ---- */

static bool is_over(const struct quoit_team *t)
{
	return __atomic_load_n(&t->closing, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&t->ring->broken, __ATOMIC_RELAXED);
}

static void look_at_quoitd(struct quoit_ring *q)
{
	struct pollfd p = {.fd = q->socket};

	if (poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL))
		__atomic_store_n(&q->broken, -ECONNRESET, __ATOMIC_RELAXED);
}

/* Not FUTEX_PRIVATE: quoitd wakes us, too. */
static void sleep_once(struct quoit_team *t, uint64_t ns)
{
	struct timespec time = {.tv_nsec = (long)ns};
	uint32_t seen = QUOIT_RING_TAIL(&t->ring->cq, QUOIT_RING_ACQUIRE);

	libquoit_team_sleeps(t, 1);
	if (!libquoit_team_has_work(t) && !is_over(t))
		(void)syscall(SYS_futex, &t->ring->client->cq_tail, FUTEX_WAIT, seen, &time, NULL,
			      0);
	libquoit_team_sleeps(t, -1);
}

/* ---- taking ---- */

/* Copy CQE and entry of a slot, which may be overwritten meanwhile if another thread takes it. */
static void copy(const struct quoit_team *t, uint32_t index, struct taken *ret,
		 struct quoit_cqe *ret_cqe)
{
	const struct quoit_ring *q = t->ring;
	const uint32_t slot = index & q->cq_mask;

	quoit_ring_copy((uint64_t *)ret_cqe, (const uint64_t *)&q->cqes[slot],
			sizeof *ret_cqe / sizeof(uint64_t));
	quoit_ring_copy((uint64_t *)&ret->entry, (const uint64_t *)&q->calls[slot],
			offsetof(struct quoit_call_entry, tensor) / sizeof(uint64_t));
	ret->function = NULL;
	ret->left = 0;
	ret->caller = NULL;
	if (UNLIKELY(ret_cqe->res == QUOIT_CALLER_LEFT)) {
		ret->left = (uint32_t)ret_cqe->user_data;
		return;
	}
	if (ret_cqe->flags & QUOIT_CQE_ERROR || ret->entry.function >= t->count)
		return;
	ret->id = ret_cqe->user_data;
	ret->function = &t->functions[ret->entry.function];
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (ret->function->access[i] != '-')
			quoit_ring_copy((uint64_t *)&ret->entry.tensor[i],
					(const uint64_t *)&q->calls[slot].tensor[i],
					sizeof ret->entry.tensor[i] / sizeof(uint64_t));
}

static bool take_next(struct quoit_team *t, struct taken *ret)
{
	struct quoit_ring *q = t->ring;
	uint32_t *at = &q->client->cq_head, head = QUOIT_RING_LOAD(at, QUOIT_RING_ACQUIRE);
	struct quoit_cqe cqe;

	for (;;) {
		uint32_t ready = QUOIT_RING_TAIL(&q->cq, QUOIT_RING_ACQUIRE) - head; /* A1 */

		if (!ready)
			return false;
		if (ready > q->cq.entries) { /* others have taken many meanwhile, or quoitd lies */
			uint32_t again = QUOIT_RING_LOAD(at, QUOIT_RING_ACQUIRE);

			if (again == head) {
				__atomic_store_n(&q->broken, -EPROTO, __ATOMIC_RELAXED);
				return false;
			}
			head = again;
			continue;
		}
		if (ready > 1) /* its line comes while this call runs */
			__builtin_prefetch(&q->calls[(head + 1) & q->cq_mask]);
		copy(t, head, ret, &cqe);
		if (!__atomic_compare_exchange_n(at, &head, head + 1, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) /* R2 */
			continue;
		if (UNLIKELY(t->serve != NULL))
			libquoit_serve_note(t->serve, ret);
		if (ret->function) {
			seen_acquire(t->session);
			return true;
		}
		head++; /* a return was refused: nothing is to be done about it */
	}
}

/*
 * Take the next call; false: there is none.  Threads of a service take one after another, so that
 * a caller is held before another thread learns that it has left.
 */
static bool take(struct quoit_team *t, struct taken *ret)
{
	bool any;

	if (LIKELY(!t->serve))
		return take_next(t, ret);
	if (!libquoit_team_has_work(t))
		return false;
	pthread_mutex_lock(&t->serve->lock);
	any = take_next(t, ret);
	pthread_mutex_unlock(&t->serve->lock);
	return any;
}

/* ---- returning ---- */

struct answer {
	uint64_t id; /* of the call, by its CQE */
	uint64_t began;
	const struct quoit_exec_call *call;
	int result;
	struct results *results; /* of a service: memory for quoitd; NULL: none */
};

static void put_return(struct quoit_team *t, uint32_t index, const struct answer *a)
{
	const struct quoit_exec_call *c = a->call;
	uint64_t *to = slot_words(t->ring, index);

	to[0] = slot_header(QUOIT_OP_RETURN, 0, 0);
	to[1] = a->id;
	to[2] = c->value[0];
	to[3] = c->value[1];
	to[4] = (uint32_t)a->result | (uint64_t)(a->result < 0 ? c->field : 0) << 32;
	to[5] = a->began;
	to[6] = clock_ticks();
	to[7] = a->results ? libquoit_results_give(t, a->results, a->id) : 0;
}

/* Under the lock.  False: the SQ is full. */
static bool try_return(struct quoit_team *t, const struct answer *a)
{
	struct quoit_ring *q = t->ring;
	uint32_t index;

	if (!quoit_ring_reserve(&q->sq, &index))
		return false;
	slot_claim(q, index);
	put_return(t, index, a);
	(void)quoit_flush(q);
	return true;
}

static void return_call(struct quoit_team *t, const struct answer *a)
{
	const struct timespec nap = {.tv_nsec = FULL_NAP_NS};
	struct quoit_ring *q = t->ring;
	bool done = false, lies = false;

	seen_release(t->session);
	while (!done && !__atomic_load_n(&q->broken, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&t->returning);
		done = try_return(t, a);
		lies = !done && !quoit_ring_refresh(&q->sq);
		pthread_mutex_unlock(&t->returning);
		if (lies)
			__atomic_store_n(&q->broken, -EPROTO, __ATOMIC_RELAXED);
		if (done)
			return;
		(void)nanosleep(&nap, NULL);
		look_at_quoitd(q);
	}
	if (a->results)
		libquoit_results_drop(t, a->results);
}

/* Keep the words that a function said when it failed. */
static void note_text(struct quoit_team *t, const struct quoit_call_entry *e, int code,
		      const struct quoit_exec_call *c)
{
	struct team_text *to;

	if (code >= 0 || !*c->text)
		return;
	pthread_mutex_lock(&t->rest);
	to = &t->texts[t->text_count++ % TEAM_TEXTS];
	to->user_data = e->user_data;
	to->ring = e->ring;
	to->code = code;
	memcpy(to->text, c->text, sizeof to->text);
	to->text[sizeof to->text - 1] = '\0';
	pthread_mutex_unlock(&t->rest);
}

/* ---- running ---- */

/* All but the tensors. */
static void fill_head(const struct taken *k, struct quoit_exec_call *c)
{
	c->scalar[0].u = k->entry.scalar[0];
	c->scalar[1].u = k->entry.scalar[1];
	c->arg = k->entry.arg;
	c->field = 0;
	c->value[0] = c->value[1] = 0;
	c->piece = 0;
	c->pieces = 1;
	c->text[0] = '\0';
	c->uid = k->entry.uid;
	c->pid = k->entry.pid;
}

static int run(struct quoit_team *t, const struct quoit_function *f, struct quoit_exec_call *c)
{
	uint32_t pieces = f->pieces ? f->pieces(f->state, c) : 1;

	if (pieces <= 1)
		return team_result(f->run(f->state, c), c);
	if (pieces > QUOIT_MAX_PIECES) {
		snprintf(c->text, sizeof c->text, "pieces() returned %u: allowed are 1 to %u",
			 pieces, QUOIT_MAX_PIECES);
		return -E2BIG;
	}
	c->pieces = pieces;
	return libquoit_team_run_cut(t, f, c);
}

struct quoit_sqe libquoit_team_call(struct quoit_ring *q, const struct quoit_sqe *sqe)
{
	struct quoit_sqe call = *sqe;

	if (sqe->team >= QUOIT_TEAM_SERVICE) /* other processes run it */
		return call;
	q->has_calls = true;
	/* Its caller waits for it on a thread that would run other calls meanwhile. */
	if (q->inner)
		call.priority = QUOIT_PRIO_HIGH;
	return call;
}

/* A call of a service. */
static void run_served(struct quoit_team *t, const struct taken *k)
{
	struct quoit_exec_call c;
	struct answer a = {.id = k->id, .began = clock_ticks(), .call = &c};

	fill_head(k, &c);
	a.result = libquoit_serve_fill(t, k, &c, &a.results);
	if (!a.result)
		a.result = run(t, k->function, &c);
	if (UNLIKELY(!libquoit_is_mine(t->session->mine))) /* the function has forked: a child */
		return;
	if (a.result < 0)
		libquoit_serve_say(t, &c, &a.results);
	return_call(t, &a);
	libquoit_caller_drop(t->serve, k->caller);
}

static void run_call(struct quoit_team *t, const struct taken *k)
{
	struct quoit_exec_call c;
	struct answer a = {.id = k->id, .began = clock_ticks(), .call = &c};
	unsigned named = 0;

	fill_head(k, &c);
	a.result = libquoit_team_fill(t, k, &c, &named);
	if (UNLIKELY(a.result == -EPROTO)) {
		__atomic_store_n(&t->ring->broken, -EPROTO, __ATOMIC_RELAXED);
		return;
	}
	if (LIKELY(!a.result))
		a.result = run(t, k->function, &c);
	if (UNLIKELY(!libquoit_is_mine(t->session->mine))) /* the function has forked: a child */
		return;
	if (UNLIKELY(named))
		libquoit_team_unfill(t, k, named);
	note_text(t, &k->entry, a.result, &c);
	return_call(t, &a);
}

bool libquoit_team_take(struct quoit_team *t, struct team_work *ret)
{
	ret->team = t;
	ret->is_piece = libquoit_team_take_piece(t, &ret->cut, &ret->piece);
	return ret->is_piece || take(t, &ret->call);
}

void libquoit_team_run(struct team_work *w)
{
	struct team_inside outer;

	libquoit_team_pass_on(w->team);
	outer = libquoit_team_enter(w->team);
	if (w->is_piece)
		libquoit_team_run_piece(w->team, w->cut, w->piece);
	else if (UNLIKELY(w->team->serve != NULL))
		run_served(w->team, &w->call);
	else
		run_call(w->team, &w->call);
	libquoit_team_leave(outer);
}

/* ---- serving ---- */

static bool is_on_reactors_cpu(const struct quoit_team *t)
{
	const int reactor = t->session->info.reactor_cpu;

	return reactor >= 0 && sched_getcpu() == reactor;
}

/*
 * Look for a call for a short while.  Not for long on the reactor's CPU, where a look keeps the
 * reactor from posting one.
 */
static bool seek(struct quoit_team *t, struct team_work *ret)
{
	const uint64_t most = is_on_reactors_cpu(t) ? 0 : t->session->spin;
	uint64_t since = clock_ticks();
	bool any;

	libquoit_team_seek(t);
	do {
		for (int i = 0; i < 4; i++)
			quoit_pause();
		any = libquoit_team_has_work(t) && libquoit_team_take(t, ret);
	} while (!any && !is_over(t) && clock_ticks() - since < most);
	libquoit_team_sought(t);
	return any;
}

int libquoit_team_serve_until(struct quoit_team *t, uint64_t deadline)
{
	struct team_work work;
	int n = 0;

	while (!is_over(t)) {
		const bool ran = libquoit_team_take(t, &work) || seek(t, &work);
		uint64_t now;

		if (ran) {
			libquoit_team_run(&work);
			if (UNLIKELY(!libquoit_is_mine(t->session->mine)))
				return -EOWNERDEAD;
			n += n < INT_MAX;
		}
		now = deadline == NEVER ? 0 : clock_ns();
		if (now >= deadline)
			break;
		if (ran || libquoit_team_has_work(t))
			continue;
		if (t->serve)
			libquoit_results_reclaim(t);
		sleep_once(t, deadline - now < SLICE_NS ? deadline - now : SLICE_NS);
		look_at_quoitd(t->ring);
	}
	libquoit_team_pass_on(t); /* a wake-up may have been for another */
	return n;
}

void libquoit_team_refuse_all(struct quoit_team *t)
{
	const struct quoit_exec_call nothing = {0};
	struct taken k;

	while (take(t, &k))
		return_call(t,
			    &(struct answer){.id = k.id, .call = &nothing, .result = -ECANCELED});
}
