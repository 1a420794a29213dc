/* SPDX-License-Identifier: MIT */
/*
 * hostile_fields.c - clients that change an SQE while quoitd reads it
 *
 * Whatever words quoitd read, they must be one snapshot that passed its checks: no byte beside a
 * tensor is written, and one job has one value.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stage.h"

#define ENTRIES     64u
#define PATIENCE_MS 30000
#define GAP         4096u /* bytes of pattern between the tensors in the arena */
#define PATTERN     0xa5u
#define BIG         4096u
#define LITTLE      16u

static const struct raw_wish wish = {.host_bytes = 4u << 20,
				     .arena_bytes = 1u << 20,
				     .max_tensors = 64,
				     .sq_entries = ENTRIES,
				     .cq_entries = 2 * ENTRIES};

/* ---- tensors with a pattern between them ---- */

static const struct {
	uint8_t dtype;
	uint32_t rows, columns;
} shapes[] = {
	{QUOIT_F32, 1, BIG}, {QUOIT_F32, 1, BIG},    {QUOIT_F32, 1, BIG}, {QUOIT_F32, 1, LITTLE},
	{QUOIT_I32, 1, BIG}, {QUOIT_I32, 1, LITTLE}, {QUOIT_I64, 1, 1},   {QUOIT_F32, 64, 64},
	{QUOIT_F32, 4, 4},   {QUOIT_F32, 1, 1},
};
#define TENSORS (sizeof shapes / sizeof shapes[0]) /* handles 1, 2, ... */
#define ALIKE   3u                                 /* the first ones have one shape */

static uint32_t bytes_of(unsigned tensor)
{
	return shapes[tensor].rows * shapes[tensor].columns *
	       (shapes[tensor].dtype == QUOIT_I64 ? 8 : 4);
}

static uint32_t offset_of(unsigned tensor)
{
	uint32_t at = GAP;

	for (unsigned i = 0; i < tensor; i++)
		at += bytes_of(i) + GAP;
	return at;
}

static bool make_tensors(struct raw_client *c)
{
	memset(c->arena, PATTERN, c->info.arena_bytes);
	for (unsigned i = 0; i < TENSORS; i++) {
		struct quoit_sqe sqe = raw_vector(i + 1, shapes[i].columns, offset_of(i));

		sqe.arg = QUOIT_CREATE_ARENA | shapes[i].dtype;
		sqe.dim[2] = shapes[i].rows;
		memset(c->arena + offset_of(i), 0, bytes_of(i));
		if (raw_run(c, sqe))
			return false;
	}
	return true;
}

static bool gaps_are_intact(const struct raw_client *c)
{
	uint32_t at = 0;

	for (unsigned i = 0; i <= TENSORS; i++) {
		uint32_t end = i < TENSORS ? offset_of(i) : (uint32_t)c->info.arena_bytes;

		for (; at < end; at++)
			if (c->arena[at] != PATTERN)
				return false;
		at += i < TENSORS ? bytes_of(i) : 0;
	}
	return true;
}

/* ---- the hammer: a thread that changes fields at full speed ---- */

struct hammer {
	struct raw_client *client;
	const struct quoit_sqe *variant; /* fields are taken from any of these */
	unsigned variants;
	uint64_t random;
	_Atomic bool stop;
};

static uint32_t draw(struct hammer *h, uint32_t below)
{
	h->random = h->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(h->random >> 33) % below;
}

/*
 * It writes half words, so that words are torn, too; into the slot or line that quoitd reads now.
 */
static void *hammer(void *arg)
{
	const unsigned halves = sizeof(struct quoit_sqe) / sizeof(uint32_t);
	struct hammer *h = arg;

	while (!h->stop) {
		uint32_t tail = QUOIT_RING_LOAD(&h->client->client->sq_tail, QUOIT_RING_RELAXED);
		uint32_t *slot = draw(h, 3) ? (uint32_t *)raw_slot(h->client, tail - 1 + draw(h, 2))
					    : (uint32_t *)h->client->client->sq;
		const uint32_t *from = (const uint32_t *)&h->variant[draw(h, h->variants)];
		unsigned i = draw(h, halves);

		if (i == 2 || i == 3 || slot + i == &h->client->client->sq_tail)
			/* user_data and the tail stay, so that the end can be recognised */
			continue;
		__atomic_store_n(&slot[i],
				 slot + i == &h->client->client->sq_first ? ~from[i] : from[i],
				 __ATOMIC_RELAXED);
	}
	return NULL;
}

static void put(const struct raw_client *c, uint32_t index, const struct quoit_sqe *sqe)
{
	uint64_t *slot = (uint64_t *)raw_slot(c, index);
	const uint64_t *from = (const uint64_t *)sqe;

	for (unsigned i = 0; i < sizeof *sqe / sizeof *from; i++)
		__atomic_store_n(&slot[i], from[i], __ATOMIC_RELAXED);
}

static bool submit(struct raw_client *c, const struct quoit_sqe *sqe)
{
	uint32_t index;

	if (!quoit_ring_reserve(&c->sq, &index))
		return false;
	put(c, index, sqe);
	if (quoit_ring_submit_line(&c->sq, (const uint64_t *)sqe, QUOIT_SQ_CARRIES,
				   &c->daemon->need_wake))
		raw_ring_bell(c);
	return true;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void drop_cqes(struct raw_client *c)
{
	quoit_ring_release(&c->cq, quoit_ring_peek(&c->cq));
}

/* Submit base again and again under the hammer; true: the session has survived. */
static bool pound(struct stage *s, struct hammer *h, const struct quoit_sqe *base, uint64_t ms)
{
	struct quoit_sqe last = {.opcode = QUOIT_OP_NOP, .flags = QUOIT_SQE_AFTER_ALL};
	struct raw_client *c = h->client;
	uint64_t end = now_ms() + ms;
	struct quoit_cqe cqe = {0};
	pthread_t thread;

	h->stop = false;
	pthread_create(&thread, NULL, hammer, h);
	while (now_ms() < end) {
		(void)submit(c, base);
		while (raw_sq_head(c) != c->sq.next && !raw_has_ended(c, 0))
			;
		drop_cqes(c);
	}
	h->stop = true;
	pthread_join(thread, NULL);
	last.user_data = UINT64_MAX;
	while (!submit(c, &last)) {
		if (!CHECK(s, !raw_has_ended(c, 0)))
			return false;
		drop_cqes(c);
	}
	while (cqe.user_data != UINT64_MAX)
		if (!CHECK(s, !raw_reap(c, PATIENCE_MS, &cqe, NULL)))
			return false;
	return true;
}

/* ---- cases ---- */

static const uint8_t opcodes[] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help) nr,
#include <quoit/ops.def>
#undef QUOIT_OP
};

/* The control operations name other memory, and have a case of their own. */
static bool is_job(uint8_t opcode)
{
	return opcode < QUOIT_OP_CREATE || opcode > QUOIT_OP_FREE;
}

/* Usually of one shape, so that many mixtures are valid jobs. */
static uint32_t draw_tensor(struct hammer *h)
{
	return 1 + draw(h, draw(h, 6) ? ALIKE : TENSORS + 1);
}

/* The job's variants: other operations, tensors, scalars, arguments, bits. */
static void make_variants(struct hammer *h, struct quoit_sqe *variant, uint8_t opcode)
{
	static const uint8_t others[] = {QUOIT_OP_FILL, QUOIT_OP_ADD, QUOIT_OP_TANH, QUOIT_OP_COPY};

	for (unsigned i = 0; i < h->variants; i++) {
		struct quoit_sqe *v = &variant[i];

		*v = raw_job(draw(h, 2) ? opcode : others[draw(h, 4)], draw_tensor(h),
			     draw(h, 4) ? draw_tensor(h) : 0, draw(h, 2) ? draw_tensor(h) : 0);
		v->tensor[3] = draw(h, 4) ? 0 : draw_tensor(h);
		v->arg = (uint8_t)(draw(h, 2) ? 0 : draw(h, 5));
		v->scalar[0] = draw(h, 3);
		v->flags = (uint8_t)(draw(h, 8) ? 0 : draw(h, 8));
		v->link = draw(h, 8) ? 0 : draw(h, 100);
		v->deadline = draw(h, 8) ? 0 : 1;
		v->priority = (uint8_t)(draw(h, 8) ? 0 : draw(h, 4));
	}
	variant[0].opcode = opcode;
}

static void fields_change_during_submit(struct stage *s)
{
	struct quoit_sqe variant[32];
	struct raw_client c;
	struct hammer h = {.client = &c, .variant = variant, .variants = 32, .random = 1};

	if (!stage_open(s, &c, &wish) || !CHECK(s, make_tensors(&c)))
		return;
	for (unsigned i = 0; i < sizeof opcodes && !s->bad; i++) {
		if (!is_job(opcodes[i]))
			continue;
		make_variants(&h, variant, opcodes[i]);
		CHECK(s, pound(s, &h, &variant[0], stage_times(s, 80, 2000)));
		CHECK(s, gaps_are_intact(&c));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* Offset and dims inside and outside of the arena; then a write to the tensor that it became. */
static void shape_changes_during_create(struct stage *s)
{
	struct quoit_sqe variant[6], fill = raw_job(QUOIT_OP_FILL, 40, 0, 0);
	struct quoit_sqe end = raw_job(QUOIT_OP_FREE, 40, 0, 0);
	uint64_t finish = now_ms() + stage_times(s, 500, 30000);
	struct raw_client c;
	struct hammer h = {.client = &c, .variant = variant, .variants = 6, .random = 1};
	pthread_t thread;

	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned i = 0; i < 6; i++)
		variant[i] =
			raw_vector(40, i & 1 ? 16 : 1u << 17, i & 2 ? 64 : c.info.arena_bytes - 64);
	variant[4].dim[2] = 1u << 31;
	variant[5].offset = UINT64_MAX - 63;
	pthread_create(&thread, NULL, hammer, &h);
	while (now_ms() < finish) {
		(void)submit(&c, &variant[3]);
		(void)submit(&c, &fill);
		(void)submit(&c, &end);
		drop_cqes(&c);
	}
	h.stop = true;
	pthread_join(thread, NULL);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

#define ONE UINT64_C(0x3ff0000000000000) /* 1.0 and 2.0 */
#define TWO UINT64_C(0x4000000000000000)

static void *flip_scalar(void *arg)
{
	struct hammer *h = arg;

	while (!h->stop)
		for (unsigned i = 0; i < ENTRIES; i++) {
			uint64_t value = draw(h, 2) ? ONE : TWO;

			__atomic_store_n(&raw_slot(h->client, i)->scalar[0], value,
					 __ATOMIC_RELAXED);
		}
	return NULL;
}

/* One FILL has one value, although the word changes while it runs. */
static void value_changes_during_the_job(struct stage *s)
{
	struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, 1, 0, 0);
	unsigned seen[2] = {0};
	struct raw_client c;
	struct hammer h = {.client = &c, .random = 1};
	pthread_t thread;

	if (!stage_open(s, &c, &wish) || !CHECK(s, make_tensors(&c)))
		return;
	pthread_create(&thread, NULL, flip_scalar, &h);
	fill.scalar[0] = ONE;
	for (unsigned n = 0; n < stage_times(s, 3000, 300000) && !s->bad; n++) {
		const float *out = (const float *)(const void *)(c.arena + offset_of(0));
		struct quoit_cqe cqe;

		CHECK(s, submit(&c, &fill) && !raw_reap(&c, PATIENCE_MS, &cqe, NULL) && !cqe.res);
		CHECK(s, out[0] == 1 || out[0] == 2);
		for (unsigned i = 1; i < BIG; i++)
			if (out[i] != out[0] && !CHECK(s, out[i] == out[0]))
				break;
		seen[out[0] == 2]++;
	}
	h.stop = true;
	pthread_join(thread, NULL);
	if (!seen[0] || !seen[1])
		s->skip = "the word never changed in time";
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* The tail is published before the second half of the SQE: every half is checked as it is. */
static void halves_of_two_jobs(struct stage *s)
{
	struct quoit_sqe jobs[8];
	struct raw_client c;
	struct hammer h = {.variants = 8, .random = 7};

	if (!stage_open(s, &c, &wish) || !CHECK(s, make_tensors(&c)))
		return;
	for (unsigned n = 0; n < stage_times(s, 20000, 2000000) && !s->bad; n++) {
		const struct quoit_sqe *late = &jobs[draw(&h, 8)];
		struct quoit_cqe cqe;
		uint32_t index;

		if (n % 64 == 0)
			make_variants(&h, jobs, opcodes[draw(&h, sizeof opcodes)]);
		if (!is_job(jobs[0].opcode))
			continue;
		index = c.sq.next;
		CHECK(s, submit(&c, &jobs[draw(&h, 8)]));
		for (unsigned i = 4; i < 8; i++)
			__atomic_store_n((uint64_t *)raw_slot(&c, index) + i, late->word[i - 2],
					 __ATOMIC_RELAXED);
		while (QUOIT_RING_LOAD(&c.daemon->sq_head, QUOIT_RING_ACQUIRE) != c.sq.next &&
		       raw_reap(&c, 0, &cqe, NULL) != -ECONNRESET)
			;
		drop_cqes(&c);
	}
	CHECK(s, gaps_are_intact(&c));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static const struct stage_case cases[] = {
	{"fields change during submit", fields_change_during_submit},
	{"shape changes during create", shape_changes_during_create},
	{"value changes during the job", value_changes_during_the_job},
	{"halves of two jobs", halves_of_two_jobs},
};

int main(int argc, char **argv)
{
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}
