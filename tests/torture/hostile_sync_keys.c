/* SPDX-License-Identifier: MIT */
/*
 * hostile_sync_keys.c - keyspaces with odd keys, huge ones, crowds that wait at them, and memory that goes
 * while a value is copied: cases 103, 104 and 113 of the threat model
 *
 * After each case new sessions and new things must work, besides what the stage looks at.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "odd_names.h"
#include "scenes.h"
#include "serving.h"
#include "syncing.h"

#define MIB  (UINT64_C(1) << 20)
#define PAGE 4096u
#define ANY  QUOIT_ANY_REVISION

/* A party's tensors, all in its arena, and where they are. */
enum { STATE = SYNC_TENSOR, KEY, AFTER, OTHER_KEY, SMALL, VALUE, LONG, GAPS };
#define STATE_AT 0u
#define KEY_AT   64u
#define AFTER_AT 320u
#define OTHER_AT 640u
#define SMALL_AT 1024u
#define VALUE_AT 4096u /* QUOIT_VALUE_BYTES, and more for LONG */
#define SMALL_N  16u   /* floats */

static struct sync_words keyspace_of(const char *name, uint64_t keys, uint64_t bytes)
{
	struct sync_words w = sync_thing(name, QUOIT_SYNC_KEYSPACE, keys);

	w.most = bytes;
	return w;
}

static struct quoit_sqe integers(uint32_t handle, uint32_t n, uint64_t offset)
{
	struct quoit_sqe sqe = raw_vector(handle, n, offset);

	sqe.arg = (uint8_t)((sqe.arg & ~QUOIT_CREATE_DTYPE_MASK) | QUOIT_I64);
	return sqe;
}

static bool make_tensors(struct raw_client *c)
{
	struct quoit_sqe gaps = {.opcode = QUOIT_OP_VIEW,
				 .base = {GAPS, VALUE},
				 .dim = {1, 1, 1, 8},
				 .stride = {1, 1, 1, 2}};

	return !raw_run(c, integers(STATE, 4, STATE_AT)) &&
	       !raw_run(c, integers(KEY, 32, KEY_AT)) &&
	       !raw_run(c, integers(AFTER, 32, AFTER_AT)) &&
	       !raw_run(c, integers(OTHER_KEY, 32, OTHER_AT)) &&
	       !raw_run(c, raw_vector(SMALL, SMALL_N, SMALL_AT)) &&
	       !raw_run(c, raw_vector(VALUE, QUOIT_VALUE_BYTES / 4, VALUE_AT)) &&
	       !raw_run(c, raw_vector(LONG, QUOIT_VALUE_BYTES / 4 + 1, VALUE_AT)) &&
	       !raw_run(c, gaps);
}

static bool open_wide(struct stage *s, struct sync_party *p, struct sync_words w, uint32_t entries)
{
	const struct raw_wish wish = {.host_bytes = 2 * MIB,
				      .arena_bytes = 128 << 10,
				      .max_tensors = 64,
				      .sq_entries = entries};

	return stage_open(s, &p->c, &wish) && CHECK(s, make_tensors(&p->c)) &&
	       CHECK(s, !sync_ask(&p->c, &w, &p->number));
}

static bool open_party(struct stage *s, struct sync_party *p, const char *name)
{
	return open_wide(s, p, keyspace_of(name, 1000, MIB), SYNC_ENTRIES);
}

/* ---- jobs ---- */

static void set_key(struct sync_party *p, const char *key)
{
	memset(p->c.arena + KEY_AT, 0, QUOIT_KEY_BYTES);
	memcpy(p->c.arena + KEY_AT, key, strlen(key));
}

static struct quoit_key_state state_of(const struct sync_party *p)
{
	struct quoit_key_state state;

	memcpy(&state, p->c.arena + STATE_AT, sizeof state);
	return state;
}

static struct quoit_sqe job(const struct sync_party *p, enum quoit_sync_op op, uint64_t revision)
{
	struct quoit_sqe sqe = sync_job(p, op, revision);

	sqe.tensor[0] = STATE;
	sqe.tensor[1] = KEY;
	if (op == QUOIT_SYNC_PUT)
		sqe.scalar[1] = SMALL_N * 4;
	if (op == QUOIT_SYNC_PUT || op == QUOIT_SYNC_GET)
		sqe.tensor[2] = SMALL;
	if (op == QUOIT_SYNC_LIST)
		sqe.tensor[2] = VALUE;
	return sqe;
}

/* What was refused has poisoned what it should have written. */
static void heal(struct sync_party *p)
{
	static const uint32_t tensors[] = {STATE, KEY, AFTER, OTHER_KEY, LONG, SMALL};

	for (unsigned i = 0; i < sizeof tensors / sizeof *tensors; i++) {
		struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, tensors[i], 0, 0);

		fill.flags = tensors[i] < SMALL ? QUOIT_SQE_INT : 0;
		(void)raw_run(&p->c, fill);
	}
}

static int32_t put(struct sync_party *p, const char *key, float value)
{
	float *to = (float *)(void *)(p->c.arena + SMALL_AT);

	set_key(p, key);
	for (unsigned i = 0; i < SMALL_N; i++)
		to[i] = value;
	return raw_run(&p->c, job(p, QUOIT_SYNC_PUT, ANY));
}

static bool has(struct sync_party *p, const char *key, float value)
{
	const float *got = (const float *)(const void *)(p->c.arena + SMALL_AT);
	bool good;

	set_key(p, key);
	memset(p->c.arena + SMALL_AT, 0xff, SMALL_N * 4);
	good = !raw_run(&p->c, job(p, QUOIT_SYNC_GET, 0)) && state_of(p).bytes == SMALL_N * 4;
	for (unsigned i = 0; i < SMALL_N; i++)
		good &= got[i] == value;
	return good;
}

/* Whatever happened to it. */
static void check_works(struct stage *s, struct sync_party *p)
{
	heal(p);
	CHECK(s, !put(p, "works", 5) && has(p, "works", 5));
	CHECK(s, !raw_run(&p->c, job(p, QUOIT_SYNC_DELETE, ANY)));
	CHECK(s, raw_run(&p->c, job(p, QUOIT_SYNC_GET, 0)) == -ENOENT);
	heal(p);
}

/* ---- words ---- */

static const enum quoit_sync_op key_ops[] = {QUOIT_SYNC_PUT, QUOIT_SYNC_GET, QUOIT_SYNC_DELETE,
					     QUOIT_SYNC_LIST, QUOIT_SYNC_WATCH};

/* Each byte value at the beginning and in the midst; only what can be printed is let in. */
static void keys_of_all_sorts(struct stage *s)
{
	struct sync_party p;

	if (!open_party(s, &p, "keys"))
		return;
	for (unsigned i = 0; i < sizeof key_ops / sizeof *key_ops; i++)
		for (unsigned byte = 1; byte < 256; byte++) {
			const bool good = byte >= ' ' && byte <= '~';
			struct quoit_sqe sqe =
				job(&p, key_ops[i], key_ops[i] == QUOIT_SYNC_LIST ? 0 : ANY);
			int32_t res;

			set_key(&p, "abcdef");
			p.c.arena[KEY_AT + byte % 6] = (uint8_t)byte;
			if (key_ops[i] == QUOIT_SYNC_GET)
				sqe.scalar[0] = 0;
			sqe.deadline = 1000;
			res = raw_run(&p.c, sqe);
			CHECK(s, (res == -EINVAL) == !good);
			heal(&p);
		}
	for (unsigned i = 0; i < sizeof key_ops / sizeof *key_ops; i++) {
		memset(p.c.arena + KEY_AT, 'x', QUOIT_KEY_BYTES);
		CHECK(s, raw_run(&p.c, job(&p, key_ops[i], 0)) == -ENAMETOOLONG);
		heal(&p);
	}
	memset(p.c.arena + KEY_AT, 'x', QUOIT_KEY_BYTES - 1);
	CHECK(s, !raw_run(&p.c, job(&p, QUOIT_SYNC_PUT, 0)));
	set_key(&p, "");
	for (unsigned i = 0; i < sizeof key_ops / sizeof *key_ops; i++) {
		CHECK(s, raw_run(&p.c, job(&p, key_ops[i], 0)) ==
				 (key_ops[i] == QUOIT_SYNC_LIST ? 0 : -EINVAL));
		heal(&p);
	}
	check_works(s, &p);
	sync_leave(s, &p);
	sync_afresh(s);
}

static uint64_t one_of(struct stage *s, const uint64_t *values, unsigned count)
{
	return values[stage_random(s, count)];
}

/* Any tensors, scalars and words: each ends with some result, and the keyspace goes on. */
static void sqes_of_all_sorts(struct stage *s)
{
	static const uint64_t tensors[] = {0,    STATE,     KEY,  AFTER, SMALL, VALUE,
					   LONG, OTHER_KEY, GAPS, 50,    77,    UINT32_MAX};
	static const uint64_t scalars[] = {0,     1,     2,       63,         64,      65,
					   65536, 65537, 1 << 20, UINT32_MAX, ANY - 1, ANY};
	static const uint64_t args[] = {0, 0, 1, 2, 255};
	struct sync_party p;

	if (!open_party(s, &p, "sqes"))
		return;
	for (unsigned i = 0; i < stage_times(s, 20000, 1000000) && !s->bad; i++) {
		struct quoit_sqe sqe = job(&p, key_ops[stage_random(s, 5)], 0);

		for (unsigned k = stage_random(s, 4); k; k--)
			sqe.tensor[stage_random(s, 4)] = (uint32_t)one_of(s, tensors, 12);
		if (stage_random(s, 4) == 0) /* what other things do */
			sqe.function = (uint8_t)stage_random(s, QUOIT_SYNC_OP_NR);
		sqe.scalar[0] = one_of(s, scalars, 12);
		sqe.scalar[1] = one_of(s, scalars, 12);
		sqe.arg = (uint8_t)one_of(s, args, 5);
		sqe.deadline = 200;
		if (stage_random(s, 4) == 0)
			memset(p.c.arena + KEY_AT, 0, 64);
		for (unsigned k = 0; k < 4; k++)
			p.c.arena[KEY_AT + stage_random(s, 8)] = (uint8_t)stage_random(s, 140);
		CHECK(s, raw_run(&p.c, sqe) != -ECONNRESET);
		if (i % 8 == 0)
			heal(&p);
	}
	check_works(s, &p);
	sync_leave(s, &p);
	sync_afresh(s);
}

static void tensors_of_all_sorts(struct stage *s)
{
	static const struct {
		unsigned place;
		uint32_t tensor;
		int32_t result;
	} rows[] = {
		{0, KEY, -EINVAL},     {0, SMALL, -EINVAL}, {0, VALUE, -EINVAL},
		{0, 50, -EBADF},       {1, 0, -EBADF},      {1, SMALL, -EINVAL},
		{1, VALUE, -EMSGSIZE}, {1, GAPS, -ENOTSUP}, {2, 0, -EBADF},
		{2, LONG, -EMSGSIZE},  {2, GAPS, -ENOTSUP}, {2, STATE, -EINVAL},
		{3, AFTER, -EINVAL},   {3, 50, -EINVAL},
	};
	struct sync_party p;

	if (!open_party(s, &p, "tensors"))
		return;
	set_key(&p, "k");
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct quoit_sqe sqe = job(&p, QUOIT_SYNC_PUT, ANY);

		sqe.tensor[rows[i].place] = rows[i].tensor;
		if (!CHECK(s, raw_run(&p.c, sqe) == rows[i].result))
			printf("  row %u\n", i);
		heal(&p);
	}
	check_works(s, &p);
	sync_leave(s, &p);
	sync_afresh(s);
}

static int cancel(struct sync_party *p, uint32_t sq_index)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CANCEL,
			      .job = {.ring = p->c.ring, .sq_index = sq_index}};

	return raw_call_with(&p->c, &m, -1, NULL);
}

/* What other things take may be larger than a key: it is not copied as one, over what another call has. */
static void jobs_of_other_things(struct stage *s)
{
	struct sync_party p, one;
	struct quoit_sqe send;

	if (!open_party(s, &p, "other") || !open_party(s, &one, "other"))
		return;
	set_key(&p, "k");
	for (unsigned i = 0; i < 2; i++) {
		struct quoit_sqe sqe = job(&p, QUOIT_SYNC_WATCH, 0);

		sqe.tensor[0] = 0;
		sync_put(s, &p, sqe);
	}
	sync_await_waiting(s, &one, 2);
	CHECK(s, !cancel(&p, p.c.sq.next - 2) && sync_result(&p) == -ECANCELED);
	send = sync_job(&p, QUOIT_SYNC_SEND, SMALL);
	send.tensor[1] = LONG;
	memset(p.c.arena + VALUE_AT, 0x7f, QUOIT_VALUE_BYTES);
	sync_put(s, &p, send);
	CHECK(s, sync_result(&p) == -EINVAL);
	for (unsigned op = 0; op < 256; op++) {
		if (op >= QUOIT_SYNC_PUT && op <= QUOIT_SYNC_WATCH)
			continue;
		sync_put(s, &p, sync_job(&p, op, op == QUOIT_SYNC_SEND ? SMALL : 1));
		CHECK(s, sync_result(&p) < 0);
	}
	CHECK(s, !put(&one, "k", 1) && !sync_result(&p));
	check_works(s, &one);
	sync_leave_two(s, &p, &one);
	sync_afresh(s);
}

/* ---- sizes ---- */

/* What is asked for is charged, and comes back; what is too much is refused. */
static void sizes_of_all_sorts(struct stage *s)
{
	static const struct {
		uint64_t keys, bytes;
	} sizes[] = {{0, 0}, {1, 1}, {1, 64}, {100000, 1}, {1, 1 << 24}, {50000, 1 << 23}, {0, 7}};
	uint64_t before, used, limit;
	struct sync_party p;

	if (!open_party(s, &p, "before") || !sync_see_budget(s, &before, &limit))
		return;
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const struct sync_words w = keyspace_of("sizes", sizes[i].keys, sizes[i].bytes),
					other = keyspace_of("sizes", 7, 128);
		uint32_t number;

		CHECK(s, !sync_ask(&p.c, &w, &number));
		CHECK(s, sync_see_budget(s, &used, &limit) &&
				 used > before + sizes[i].bytes + sizes[i].keys * 128);
		CHECK(s, !sync_ask(&p.c, &other, &number)); /* it keeps its sizes */
		CHECK(s, !calling_close(&p.c, number) && !calling_close(&p.c, number));
		sync_await_budget(s, before);
	}
	for (unsigned i = 0; i < 3; i++) {
		const struct sync_words w =
			i == 0   ? keyspace_of("huge", 1, limit - before + 4096)
			: i == 1 ? keyspace_of("huge", (limit - before) / 128 + 1, 1)
				 : keyspace_of("huge", 1 << 30, UINT64_C(1) << 39);
		uint32_t number;

		CHECK(s, sync_ask(&p.c, &w, &number) == -EDQUOT);
		CHECK(s, is_plain(p.c.text) && strstr(p.c.text, "KiB"));
		stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
	}
	sync_await_budget(s, before);
	sync_leave(s, &p);
	sync_afresh(s);
}

/* Put keys as fast as it goes; each has its own tensor's bytes, so they go one after the other. */
static bool put_many(struct stage *s, struct sync_party *p, unsigned count)
{
	char key[16];

	for (unsigned i = 0; i < count; i++) {
		/* in no order */
		snprintf(key, sizeof key, "%08x", i * 2654435761u);
		if (!CHECK(s, !put(p, key, (float)i)))
			return false;
	}
	return true;
}

/* Lists, changes and waits go on in it as in a small one; and so do others when it goes. */
static void many_keys(struct stage *s)
{
	const unsigned count = stage_times(s, 20000, 1000000);
	struct sync_words w = keyspace_of("many", count + 1, 1);
	uint64_t before, limit, listed = 0;
	struct sync_party p, other;
	struct quoit_sqe list;

	if (!open_party(s, &other, "other") || !sync_see_budget(s, &before, &limit) ||
	    !open_wide(s, &p, w, SYNC_ENTRIES) || !put_many(s, &p, count))
		return;
	CHECK(s, put(&p, "one", 1) == 0 && put(&p, "two", 2) == -ENOSPC);
	heal(&p);
	list = job(&p, QUOIT_SYNC_LIST, 0);
	list.tensor[3] = AFTER;
	set_key(&p, "");
	memset(p.c.arena + AFTER_AT, 0, QUOIT_KEY_BYTES);
	while (CHECK(s, !raw_run(&p.c, list)) && state_of(&p).bytes) {
		const uint8_t *page = p.c.arena + VALUE_AT;
		uint64_t at = 0, end = state_of(&p).bytes;
		struct quoit_key_entry e = {0};

		CHECK(s, state_of(&p).keys == count + 1);
		for (; at < end; at += e.size, listed++)
			memcpy(&e, page + at, sizeof e);
		memcpy(p.c.arena + AFTER_AT, page + at - e.size + 16, 16);
	}
	CHECK(s, listed == count + 1);
	check_works(s, &other);
	sync_leave(s, &p);
	check_works(s, &other);
	sync_await_budget(s, before);
	sync_leave(s, &other);
	sync_afresh(s);
}

/* ---- crowds ---- */

#define SESSIONS 24u
#define WAITS    60u /* more than a session has there */

static bool open_crowd(struct stage *s, struct sync_party crowd[SESSIONS], const char *name)
{
	for (unsigned i = 0; i < SESSIONS; i++)
		if (!open_wide(s, &crowd[i], keyspace_of(name, 1000, MIB), SYNC_ENTRIES))
			return false;
	return true;
}

static void wait_all(struct stage *s, struct sync_party *p, uint8_t arg)
{
	for (unsigned k = 0; k < WAITS; k++) {
		struct quoit_sqe sqe = job(p, QUOIT_SYNC_WATCH, 0);

		sqe.tensor[0] = 0;
		sqe.arg = arg;
		sync_put(s, p, sqe);
	}
}

static void hear_all(struct stage *s, struct sync_party *p)
{
	for (unsigned k = 0; k < WAITS && !s->bad; k++)
		CHECK(s, !sync_result(p));
}

/* All wait for one key, or for prefixes of it; some die, some leave; one change wakes the others. */
static void crowds_that_wait_for_one_key(struct stage *s)
{
	struct sync_party one, crowd[SESSIONS];

	for (unsigned round = 0; round < stage_times(s, 3, 300) && !s->bad; round++) {
		if (!open_party(s, &one, "crowd") || !open_crowd(s, crowd, "crowd"))
			return;
		for (unsigned i = 0; i < SESSIONS; i++) {
			set_key(&crowd[i], i % 3 ? "wanted" : "want");
			wait_all(s, &crowd[i], i % 3 ? 0 : QUOIT_WATCH_PREFIX);
		}
		sync_await_waiting(s, &one, SESSIONS * WAITS);
		CHECK(s, !put(&one, "wan", 1) && !put(&one, "wantes", 1));
		for (unsigned i = 0; i < SESSIONS; i++)
			if (i % 3 == 0)
				hear_all(s, &crowd[i]);
		sync_await_waiting(s, &one, SESSIONS / 3 * 2 * WAITS);
		CHECK(s, !put(&one, "wanted", 1));
		for (unsigned i = 0; i < SESSIONS; i++)
			if (i % 5 == 1)
				stage_die(s, &crowd[i].c);
		for (unsigned i = 0; i < SESSIONS; i++) {
			if (i % 5 == 1)
				continue;
			if (i % 3)
				hear_all(s, &crowd[i]);
			sync_leave(s, &crowd[i]);
		}
		sync_await_waiting(s, &one, 0);
		check_works(s, &one);
		sync_leave(s, &one);
	}
	sync_afresh(s);
}

/* They never are what is waited for: each change looks at some of them, and nothing else suffers. */
static void crowds_that_wait_for_nothing(struct stage *s)
{
	struct sync_party one, crowd[SESSIONS];
	char key[256];

	if (!open_party(s, &one, "nothing") || !open_crowd(s, crowd, "nothing"))
		return;
	for (unsigned i = 0; i < SESSIONS; i++) {
		memset(key, 'x', sizeof key);
		key[10 * i] = '!'; /* every length of what begins as the key does */
		key[10 * i + 1] = '\0';
		set_key(&crowd[i], key);
		wait_all(s, &crowd[i], QUOIT_WATCH_PREFIX);
	}
	memset(key, 'x', sizeof key);
	key[255] = '\0';
	for (unsigned i = 0; i < stage_times(s, 2000, 200000) && !s->bad; i++)
		CHECK(s, !put(&one, key, (float)i));
	CHECK(s, has(&one, key, (float)(stage_times(s, 2000, 200000) - 1)));
	for (unsigned i = 0; i < SESSIONS; i++)
		if (i % 2)
			stage_die(s, &crowd[i].c);
		else
			sync_leave(s, &crowd[i]);
	sync_await_waiting(s, &one, 0);
	check_works(s, &one);
	sync_leave(s, &one);
	sync_afresh(s);
}

/* Jobs that are put in, and whose session ends at any moment. */
static void sessions_that_die_at_any_moment(struct stage *s)
{
	struct sync_party p, one;

	if (!open_party(s, &one, "deaths"))
		return;
	for (unsigned i = 0; i < stage_times(s, 150, 10000) && !s->bad; i++) {
		if (!open_party(s, &p, "deaths"))
			return;
		set_key(&p, "k");
		for (unsigned k = 0; k < 60; k++) {
			struct quoit_sqe sqe = job(&p, key_ops[stage_random(s, 5)], 0);

			sqe.tensor[0] = 0;
			if (sqe.function == QUOIT_SYNC_PUT || sqe.function == QUOIT_SYNC_DELETE)
				sqe.scalar[0] = ANY;
			sync_put(s, &p, sqe);
		}
		usleep(stage_random(s, 300));
		if (i % 4)
			stage_die(s, &p.c);
		else
			sync_leave(s, &p);
		if (i % 10 == 0)
			check_works(s, &one);
	}
	sync_await_waiting(s, &one, 0);
	check_works(s, &one);
	sync_leave(s, &one);
	sync_afresh(s);
}

static const struct stage_case cases[] = {
	STAGE_CASE(keys_of_all_sorts),
	STAGE_CASE(sqes_of_all_sorts),
	STAGE_CASE(tensors_of_all_sorts),
	STAGE_CASE(jobs_of_other_things),
	STAGE_CASE(sizes_of_all_sorts),
	STAGE_CASE(many_keys),
	STAGE_CASE(crowds_that_wait_for_one_key),
	STAGE_CASE(crowds_that_wait_for_nothing),
	STAGE_CASE(sessions_that_die_at_any_moment),
};

/* ---- holes ---- */

/* A page in the midst of the large value. */
static void punch(const struct sync_party *p)
{
	(void)madvise(p->c.arena + VALUE_AT + 4 * PAGE, PAGE, MADV_REMOVE);
}

static void expect_vanished(struct stage *s, struct sync_party *p, int32_t res)
{
	CHECK(s, res == -EFAULT || res == -ECONNRESET || res == -ECANCELED);
	stage_await_end(s, &p->c, QUOIT_DAEMON_KILL_MEM_VANISHED);
}

/* A value of which a part was lost is not put; one that cannot be got stays. */
static void holes_in_values(struct stage *s)
{
	struct sync_party p, one;

	if (!open_party(s, &one, "holes"))
		return;
	for (unsigned i = 0; i < stage_times(s, 30, 1000) && !s->bad; i++) {
		const bool puts = i % 2;
		struct quoit_sqe sqe;

		if (!open_party(s, &p, "holes"))
			return;
		memset(p.c.arena + VALUE_AT, 1, QUOIT_VALUE_BYTES);
		set_key(&p, "k");
		sqe = job(&p, QUOIT_SYNC_PUT, ANY);
		sqe.tensor[2] = VALUE;
		sqe.scalar[1] = QUOIT_VALUE_BYTES;
		if (puts)
			CHECK(s, !put(&one, "k", (float)i));
		else
			CHECK(s, !raw_run(&p.c, sqe));
		if (!puts)
			sqe = job(&p, QUOIT_SYNC_GET, 0);
		sqe.tensor[2] = VALUE;
		punch(&p);
		expect_vanished(s, &p, raw_run(&p.c, sqe));
		CHECK(s, !puts || has(&one, "k", (float)i));
		check_works(s, &one);
	}
	sync_leave(s, &one);
	sync_afresh(s);
}

static const struct stage_case holes[] = {
	STAGE_CASE(holes_in_values),
};

int main(int argc, char **argv)
{
	/* so that calls travel from reactor to reactor */
	static const char *const options[] = {"--reactors=3", NULL};
	static const char *const lax[] = {"--reactors=3", "--lax-memory", NULL};
	const struct stage_scene scene = {.options = options},
				 removable = {.options = lax, .prepare = scene_without_seals};
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 2;
	stage_play(&s, &scene, cases, sizeof cases / sizeof *cases);
	stage_play(&s, &removable, holes, sizeof holes / sizeof *holes);
	return stage_end(&s);
}
