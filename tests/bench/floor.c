/* SPDX-License-Identifier: MIT */
/* floor.c - measure the least that the hardware needs: bare rings between two processes */
#include "floor.h"

#include <errno.h>
#include <stdbool.h>

#include <quoit/pause.h>

#include "floor_process.h"

#define LINE      64
#define MAX_DEPTH 4096u
#define FLUSH     32u /* items published at once, one way */

struct request {
	uint64_t word[8];
};

struct completion {
	uint64_t id;
	uint64_t sum;
};

/* Each word has one writer and a cache line of its own. */
struct rings {
	_Alignas(LINE) uint64_t request_tail;
	_Alignas(LINE) uint64_t completion_tail;
	_Alignas(LINE) uint64_t head; /* floor_write: how many items the reader has taken */
	_Alignas(LINE) uint64_t total;
	uint64_t mask;
	uint64_t batch; /* the most items that are written or served before they are published */
	uint64_t wrong; /* floor_write: how many items the reader found changed */
	int32_t ready;  /* the server runs; its start is not measured */
	_Alignas(LINE) struct completion completion[MAX_DEPTH];
	_Alignas(LINE) struct request request[MAX_DEPTH];
};

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void publish(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Spin until *word differs from `old`; returns its new value. */
static uint64_t await_change(const uint64_t *word, uint64_t old)
{
	uint64_t value;

	while ((value = load(word)) == old)
		quoit_pause();
	return value;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void request_fill(struct request *r, uint64_t id)
{
	for (uint64_t i = 0; i < 8; i++)
		r->word[i] = id + i;
}

static uint64_t request_sum(const struct request *r)
{
	uint64_t sum = 0;

	for (int i = 0; i < 8; i++)
		sum += r->word[i];
	return sum;
}

static uint64_t expected_sum(uint64_t id)
{
	return 8 * id + 28;
}

static bool is_power_of_two(uint32_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

static void tell_ready(struct rings *r)
{
	__atomic_store_n(&r->ready, 1, __ATOMIC_RELEASE);
}

/* ---- requests and completions ---- */

/* A completion also gives its request's slot back, so the request ring needs no head. */
static void serve_requests(void *memory)
{
	struct rings *r = memory;
	uint64_t total = r->total, mask = r->mask, batch = r->batch, tail = 0;

	tell_ready(r);
	for (uint64_t done = 0; done < total;) {
		if (tail == done)
			tail = await_change(&r->request_tail, done);
		uint64_t end = smaller(tail, done + batch);

		for (; done < end; done++) {
			const struct request *request = &r->request[done & mask];

			r->completion[done & mask] =
				(struct completion){request->word[0], request_sum(request)};
		}
		publish(&r->completion_tail, done);
	}
}

/* How many of the completions from `done` to `tail` are wrong. */
static uint64_t check_completions(const struct rings *r, uint64_t done, uint64_t tail)
{
	uint64_t wrong = 0;

	for (; done < tail; done++) {
		const struct completion *c = &r->completion[done & r->mask];

		wrong += c->id != done || c->sum != expected_sum(done);
	}
	return wrong;
}

/* Drive requests `first` to `total`, `depth` in flight; returns how many completions were wrong. */
static uint64_t drive_requests(struct rings *r, uint64_t first, uint64_t total, uint64_t depth)
{
	uint64_t sent = first, done = first, wrong = 0;

	while (done < total) {
		uint64_t end = smaller(smaller(total, done + depth), sent + r->batch);

		if (sent < end) {
			for (; sent < end; sent++)
				request_fill(&r->request[sent & r->mask], sent);
			publish(&r->request_tail, sent);
		}
		uint64_t tail = load(&r->completion_tail);

		if (tail == done && sent == smaller(total, done + depth))
			tail = await_change(&r->completion_tail, done);
		wrong += check_completions(r, done, tail);
		done = tail;
	}
	return wrong;
}

/* ---- one way ---- */

static void serve_writes(void *memory)
{
	struct rings *r = memory;
	uint64_t total = r->total, mask = r->mask, wrong = 0;

	tell_ready(r);
	for (uint64_t done = 0; done < total;) {
		uint64_t tail = await_change(&r->request_tail, done);

		for (; done < tail; done++)
			wrong += request_sum(&r->request[done & mask]) != expected_sum(done);
		r->wrong = wrong;
		publish(&r->head, done);
	}
}

/* The nanoseconds spent on writing, without waits for room and the clock's own calls. */
static uint64_t drive_writes(struct rings *r, uint64_t total, uint64_t slots)
{
	uint64_t spent = 0, head = 0;

	for (uint64_t sent = 0; sent < total;) {
		uint64_t end = smaller(total, sent + FLUSH);

		while (end - head > slots)
			head = await_change(&r->head, head);
		uint64_t start = floor_now();

		for (; sent < end; sent++)
			request_fill(&r->request[sent & r->mask], sent);
		publish(&r->request_tail, sent);
		spent += floor_now() - start;
	}
	while (head < total)
		head = await_change(&r->head, head);
	return spent;
}

/* The time between two readings of the clock with nothing in between. */
static uint64_t clock_cost(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		uint64_t start = floor_now();

		least = smaller(least, floor_now() - start);
	}
	return least;
}

/* ---- both ---- */

/*
 * Both sides work at once only if a part of the items in flight is published while the rest is on
 * its way.  Measurements were best with a quarter, but at most 32.
 */
static uint64_t batch_of(uint32_t depth)
{
	return depth < 4 ? 1 : smaller(depth / 4, 32);
}

static void measure_requests(struct rings *r, const struct floor_params *p,
			     struct floor_result *ret)
{
	uint64_t warm_up = r->total - p->requests;
	uint64_t wrong = drive_requests(r, 0, warm_up, p->depth), start = floor_now();

	r->wrong = wrong + drive_requests(r, warm_up, r->total, p->depth);
	ret->ns = (double)(floor_now() - start) / (double)p->requests;
	ret->rate = 1e9 / ret->ns;
}

static void measure_writes(struct rings *r, const struct floor_params *p, struct floor_result *ret)
{
	uint64_t flushes = (p->requests + FLUSH - 1) / FLUSH;
	uint64_t clocks = flushes * clock_cost();
	uint64_t start = floor_now();
	uint64_t spent = drive_writes(r, p->requests, p->depth);
	uint64_t whole = floor_now() - start;

	ret->ns = (double)(spent > clocks ? spent - clocks : 0) / (double)p->requests;
	ret->rate = 1e9 * (double)p->requests / (double)whole;
}

/* warm_up: this many requests come first, and are not timed. */
static int measure(const struct floor_params *p, uint64_t warm_up, void (*serve)(void *memory),
		   void (*drive)(struct rings *r, const struct floor_params *p,
				 struct floor_result *ret),
		   struct floor_result *ret)
{
	struct floor_result result;
	cpu_set_t before;
	pid_t pid;
	int r;

	struct rings *rings = floor_map(sizeof(*rings));

	if (rings == NULL)
		return -errno;
	rings->total = warm_up + p->requests;
	rings->batch = batch_of(p->depth);
	rings->mask = 1;
	while (rings->mask + 1 < p->depth)
		rings->mask = rings->mask * 2 + 1;

	r = floor_pin(p->client_cpu, &before);
	if (r < 0)
		goto unmap;
	r = floor_fork(serve, rings, p->server_cpu, &pid);
	if (r < 0)
		goto unpin;
	while (!__atomic_load_n(&rings->ready, __ATOMIC_ACQUIRE))
		quoit_pause();
	drive(rings, p, &result);
	r = floor_join(pid);
	if (r == 0 && rings->wrong != 0)
		r = -EBADMSG;
	if (r == 0)
		*ret = result;
unpin:
	floor_unpin(&before);
unmap:
	floor_unmap(rings, sizeof(*rings));
	return r;
}

int floor_run(const struct floor_params *p, struct floor_result *ret)
{
	if (p->depth == 0 || p->depth > MAX_DEPTH || p->requests == 0)
		return -EINVAL;
	return measure(p, p->requests / 10, serve_requests, measure_requests, ret);
}

int floor_write(const struct floor_params *p, struct floor_result *ret)
{
	if (!is_power_of_two(p->depth) || p->depth < FLUSH || p->depth > MAX_DEPTH ||
	    p->requests == 0)
		return -EINVAL;
	return measure(p, 0, serve_writes, measure_writes, ret);
}
