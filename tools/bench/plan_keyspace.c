/* SPDX-License-Identifier: MIT */
/* plan_keyspace.c - a key's value put and got, each as a plain call and as a job */
#include <errno.h>

#include "bench.h"

#define NAME "quoit-bench"
#define KEY  "settings/rate"

/* Before the warm-up there is one change of the key, and so one revision. */
#define FIRST UINT64_C(1)

struct store {
	struct bench_client client;
	int keys;
	quoit_tensor key, value; /* of the jobs */
};

static int put(const struct store *st, uint64_t value)
{
	return quoit_put_value(st->client.ring, st->keys, KEY, &value, sizeof value,
			       QUOIT_ANY_REVISION, NULL);
}

/* The key's value is FIRST, and that of the jobs' tensor is not. */
static int open_store(const struct bench *b, const struct bench_series *s, struct store *ret)
{
	int err = bench_open(b, s->cores, NULL, &ret->client);
	struct quoit_ring *q = ret->client.ring;

	if (err)
		return err;
	ret->keys = quoit_open_keyspace(ret->client.session, NAME, NULL);
	ret->key = quoit_create_key(q, KEY);
	ret->value = quoit_create_vector(q, QUOIT_I64, 1);
	err = ret->keys < 0 ? ret->keys : ret->key && ret->value ? put(ret, FIRST) : -ENOSPC;
	if (!err)
		err = quoit_run(q, quoit_fill_int(ret->value, -1), QUOIT_FOREVER);
	if (err)
		bench_close(&ret->client);
	return err;
}

/* The key has this value, and so many changes behind it. */
static int check(const struct store *st, int64_t value, uint64_t changes)
{
	struct quoit_key_state state = {0};
	int64_t is = 0;
	int err = quoit_get_value(st->client.ring, st->keys, KEY, &is, sizeof is, &state);

	return err ? err : is == value && state.revision == changes ? 0 : -EBADMSG;
}

/* All changes of a measurement, and those of its warm-up. */
static uint64_t all_of(const struct bench_series *s)
{
	return s->count + s->count / 10;
}

/* ---- plain calls ---- */

static int put_each(const struct store *st, uint64_t first, uint64_t count)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++)
		err = put(st, first + i);
	return err;
}

static int measure_put(const struct bench *b, const struct bench_series *s, double *ret)
{
	const uint64_t warm_up = s->count / 10;
	struct store st;
	double start;
	int err = open_store(b, s, &st);

	if (err)
		return err;
	err = put_each(&st, FIRST + 1, warm_up);
	start = bench_now();
	if (!err)
		err = put_each(&st, FIRST + 1 + warm_up, s->count);
	*ret = (bench_now() - start) * 1e9 / (double)s->count;
	if (!err)
		err = check(&st, (int64_t)(FIRST + all_of(s)), FIRST + all_of(s));
	bench_close(&st.client);
	return err;
}

static int get_each(const struct store *st, uint64_t count)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		uint64_t value = 0;

		err = quoit_get_value(st->client.ring, st->keys, KEY, &value, sizeof value, NULL);
		if (!err && value != FIRST)
			err = -EBADMSG;
	}
	return err;
}

static int measure_get(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct store st;
	double start;
	int err = open_store(b, s, &st);

	if (err)
		return err;
	err = get_each(&st, s->count / 10);
	start = bench_now();
	if (!err)
		err = get_each(&st, s->count);
	*ret = (bench_now() - start) * 1e9 / (double)s->count;
	bench_close(&st.client);
	return err;
}

/* ---- jobs, whose tensors are there ---- */

static int measure_put_job(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct store st;
	struct quoit_sqe sqe;
	int err = open_store(b, s, &st);

	if (err)
		return err;
	sqe = quoit_put_job(st.keys, st.key, st.value, sizeof(int64_t), QUOIT_ANY_REVISION, 0);
	err = bench_repeat_each(st.client.ring, sqe, s->count, ret);
	if (!err)
		err = check(&st, -1, FIRST + all_of(s));
	bench_close(&st.client);
	return err;
}

static int measure_get_job(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct store st;
	int64_t value = 0;
	int err = open_store(b, s, &st);

	if (err)
		return err;
	err = bench_repeat_each(st.client.ring, quoit_get_job(st.keys, st.key, st.value, 0),
				s->count, ret);
	if (!err)
		err = quoit_read(st.client.ring, st.value, &value, sizeof value);
	if (!err && value != (int64_t)FIRST)
		err = -EBADMSG;
	bench_close(&st.client);
	return err;
}

static const struct bench_series series[] = {
	{"nop", "ns", BENCH_ALL_CORES, bench_nops_each, 1, 100000},
	{"put_job", "ns", BENCH_ALL_CORES, measure_put_job, 1, 50000},
	{"get_job", "ns", BENCH_ALL_CORES, measure_get_job, 1, 50000},
	{"put", "ns", BENCH_ALL_CORES, measure_put, 1, 20000},
	{"get", "ns", BENCH_ALL_CORES, measure_get, 1, 20000},
	{NULL},
};

static const struct bench_ratio ratios[] = {
	{"put_job/nop", "put_job", "nop"},
	{"get_job/nop", "get_job", "nop"},
	{"put/nop", "put", "nop"},
	{"get/nop", "get", "nop"},
	{NULL},
};

const struct bench_plan bench_keyspace = {"keyspace", "values of keys that programs share", 7,
					  series, ratios};
