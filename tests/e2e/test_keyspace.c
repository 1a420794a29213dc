/* SPDX-License-Identifier: MIT */
/* test_keyspace.c - keys and values that sessions share */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parties.h"

#define ANY QUOIT_ANY_REVISION

static uint64_t put(struct party *p, const char *key, const char *value)
{
	uint64_t revision = 0;

	cr_assert_eq(quoit_put_value(p->q, p->number, key, value, strlen(value), ANY, &revision), 0,
		     "%s", quoit_error_text(p->q));
	return revision;
}

static void expect(struct party *p, const char *key, const char *value)
{
	struct quoit_key_state state = {0};
	char got[256] = "";

	cr_expect_eq(quoit_get_value(p->q, p->number, key, got, sizeof got - 1, &state), 0);
	cr_expect_str_eq(got, value);
	cr_expect_eq(state.bytes, strlen(value));
}

static void expect_text(struct party *p, int error, const char *part)
{
	char text[256];

	quoit_strerror_wait(p->q, error, text, sizeof text);
	cr_expect(strstr(text, part), "%s", text);
}

Test(keyspace, what_one_puts_another_gets)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	struct quoit_key_state state = {0};
	char byte = 'x';

	cr_expect_eq(put(&t.a, "alpha", "one"), 1);
	cr_expect_eq(put(&t.b, "beta/2", ""), 2);
	expect(&t.b, "alpha", "one");
	expect(&t.a, "beta/2", "");
	cr_expect_eq(put(&t.b, "alpha", "three"), 3);
	expect(&t.a, "alpha", "three");
	cr_expect_eq(quoit_get_value(t.a.q, t.a.number, "beta/2", &byte, 0, &state), 0);
	cr_expect(state.revision == 2 && state.now == 3 && !state.bytes && state.keys == 2);
	cr_expect_eq(quoit_get_value(t.a.q, t.a.number, "gamma", &byte, 1, &state), -ENOENT);
	expect_text(&t.a, -ENOENT, "get of keyspace 'it'");
	expect_text(&t.a, -ENOENT, "there is no such key");
	parties_end(&t);
}

Test(keyspace, a_value_is_put_if_the_key_has_the_revision)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	const int a = t.a.number, b = t.b.number;
	uint64_t revision = 0;

	cr_expect_eq(quoit_put_value(t.a.q, a, "k", "1", 1, 5, NULL), -ESTALE);
	expect_text(&t.a, -ESTALE, "there is no such key");
	cr_expect_eq(quoit_put_value(t.a.q, a, "k", "1", 1, 0, &revision), 0);
	cr_expect_eq(quoit_put_value(t.b.q, b, "k", "2", 1, 0, NULL), -EEXIST);
	expect_text(&t.b, -EEXIST, "of revision 1");
	cr_expect_eq(quoit_put_value(t.b.q, b, "k", "2", 1, revision, &revision), 0);
	cr_expect_eq(quoit_put_value(t.a.q, a, "k", "3", 1, 1, NULL), -ESTALE);
	expect_text(&t.a, -ESTALE, "has revision 2, not 1");
	expect(&t.a, "k", "2");
	cr_expect_eq(quoit_delete_key(t.a.q, a, "k", 1, NULL), -ESTALE);
	cr_expect_eq(quoit_delete_key(t.a.q, a, "k", 2, &revision), 0);
	cr_expect_eq(revision, 3);
	cr_expect_eq(quoit_delete_key(t.a.q, a, "k", ANY, NULL), -ENOENT);
	cr_expect_eq(quoit_put_value(t.b.q, b, "k", "4", 1, 2, NULL), -ESTALE);
	cr_expect_eq(quoit_put_value(t.b.q, b, "k", "4", 1, 0, &revision), 0);
	cr_expect_eq(revision, 4, "no revision comes twice");
	parties_end(&t);
}

Test(keyspace, values_of_all_sizes_come_back_as_they_were)
{
	static const unsigned sizes[] = {1, 7, 8, 74, 75, 76, 326, 327, 4096, 65535, 65536};
	const struct quoit_sync_params room = {.value = 20, .most = 1 << 20};
	struct parties t = parties_begin_with(quoit_open_keyspace, &room);
	static uint8_t value[65536 + sizeof sizes], got[65537]; /* each begins elsewhere in it */
	struct quoit_key_state state;
	char key[8];

	for (unsigned i = 0; i < sizeof value; i++)
		value[i] = (uint8_t)(i * 7 + i / 251);
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		snprintf(key, sizeof key, "k%u", i);
		cr_expect_eq(quoit_put_value(t.a.q, t.a.number, key, value + i, sizes[i], 0, NULL),
			     0);
	}
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		snprintf(key, sizeof key, "k%u", i);
		memset(got, 0xee, sizeof got);
		cr_expect_eq(quoit_get_value(t.b.q, t.b.number, key, got, sizeof got, &state), 0);
		cr_expect_eq(state.bytes, sizes[i]);
		cr_expect_eq(memcmp(got, value + i, sizes[i]), 0);
		cr_expect_eq(got[sizes[i]], 0xee, "what is behind it is left as it is");
		cr_expect_eq(quoit_get_value(t.b.q, t.b.number, key, got, sizes[i] - 1, &state),
			     -EMSGSIZE);
		cr_expect_eq(state.bytes, sizes[i], "it says how long it is");
	}
	cr_expect_eq(quoit_put_value(t.a.q, t.a.number, "k", value, 65537, 0, NULL), -EMSGSIZE);
	parties_end(&t);
}

Test(keyspace, a_full_one_refuses_and_takes_again)
{
	const struct quoit_sync_params room = {.value = 2, .most = 4096};
	struct parties t = parties_begin_with(quoit_open_keyspace, &room);
	const int a = t.a.number;
	static char value[5000];

	cr_expect_eq(quoit_put_value(t.a.q, a, "long", value, sizeof value, 0, NULL), -ENOSPC);
	expect_text(&t.a, -ENOSPC, "0 of 2 keys, and 0 of 4096 bytes");
	cr_expect_eq(quoit_put_value(t.a.q, a, "long", value, 4000, 0, NULL), 0);
	put(&t.a, "two", "2");
	cr_expect_eq(quoit_put_value(t.b.q, t.b.number, "three", "3", 1, 0, NULL), -ENOSPC);
	put(&t.b, "two", "two");
	cr_expect_eq(quoit_delete_key(t.b.q, t.b.number, "long", ANY, NULL), 0);
	put(&t.b, "three", "3");
	parties_end(&t);
}

Test(keyspace, keys_are_printable_text_of_up_to_255_bytes)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	static const char *const bad[] = {"", "a\nb", "\033[1m", "\x7f", "caf\xc3\xa9", "\xff"};
	static const char *const good[] = {"..", "/", "a b", "~", " "};
	char longest[257];

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_expect_eq(quoit_put_value(t.a.q, t.a.number, bad[i], "", 0, ANY, NULL), -EINVAL,
			     "%u", i);
	expect_text(&t.a, -EINVAL, "byte 0 of the key is 0xff");
	for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
		put(&t.a, good[i], good[i]);
	for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
		expect(&t.b, good[i], good[i]);
	memset(longest, 'x', sizeof longest - 1);
	longest[256] = '\0';
	cr_expect_eq(quoit_put_value(t.a.q, t.a.number, longest, "", 0, ANY, NULL), -ENAMETOOLONG);
	longest[255] = '\0';
	put(&t.a, longest, "all");
	expect(&t.b, longest, "all");
	parties_end(&t);
}

/* ---- lists ---- */

static unsigned list(struct party *p, const char *prefix, uint64_t since, size_t size, char *ret)
{
	const struct quoit_key_entry *e = NULL;
	struct quoit_key_state state;
	char page[65536], last[256] = "";
	unsigned pages = 0;

	for (*ret = '\0';; pages++) {
		cr_assert_eq(quoit_list_keys(p->q, p->number, prefix, *last ? last : NULL, since,
					     page, size, &state),
			     0);
		if (!state.bytes)
			return pages;
		for (e = NULL; (e = quoit_next_entry(page, state.bytes, e)) != NULL;) {
			strcat(strcat(ret, e->key), " ");
			strcpy(last, e->key);
		}
	}
}

Test(keyspace, keys_are_listed_in_order_by_pages_that_fit)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	char all[4096];
	struct quoit_key_state state;
	const struct quoit_key_entry *e;
	uint64_t page[8];

	cr_expect_eq(list(&t.a, "", 0, 64, all), 0);
	for (const char *s = "ehbgdcfa"; *s; s++) {
		char key[] = "x/?";

		key[2] = *s;
		put(&t.a, key, key);
	}
	put(&t.a, "w", "");
	put(&t.a, "y", "longer");
	cr_expect_eq(list(&t.b, "x/", 0, sizeof page, all), 4, "24 bytes each");
	cr_expect_str_eq(all, "x/a x/b x/c x/d x/e x/f x/g x/h ");
	cr_expect_eq(list(&t.b, "", 0, 65536, all), 1);
	cr_expect_str_eq(all, "w x/a x/b x/c x/d x/e x/f x/g x/h y ");
	put(&t.b, "x/d", "new");
	list(&t.b, "", 9, 65536, all);
	cr_expect_str_eq(all, "x/d y ", "those that have changed since");
	cr_expect_eq(quoit_list_keys(t.a.q, t.a.number, "y", NULL, 0, page, sizeof page, &state),
		     0);
	cr_expect(state.bytes == 24 && state.keys == 1 && state.revision == 10 && state.now == 11);
	e = quoit_next_entry(page, state.bytes, NULL);
	cr_expect(e->revision == 10 && e->bytes == 6 && !strcmp(e->key, "y"));
	cr_expect_null(quoit_next_entry(page, state.bytes, e));
	cr_expect_eq(quoit_list_keys(t.a.q, t.a.number, "", NULL, 0, page, 16, &state), -EMSGSIZE);
	parties_end(&t);
}

Test(keyspace, a_page_has_at_most_256_keys)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	static char page[65536];
	struct quoit_key_state state;
	char key[16];

	for (unsigned i = 0; i < 600; i++) {
		snprintf(key, sizeof key, "%u", i);
		put(&t.a, key, "");
	}
	cr_expect_eq(quoit_list_keys(t.a.q, t.a.number, "", NULL, 0, page, sizeof page, &state), 0);
	cr_expect_eq(state.bytes, QUOIT_LIST_KEYS * 24);
	cr_expect_eq(state.keys, 600);
	parties_end(&t);
}

/* ---- waiting ---- */

/* A wait of the first party, as a job; its state. */
struct wait {
	quoit_tensor key, state;
	quoit_job job;
};

static struct wait start_wait(struct party *p, const char *key, unsigned flags, uint64_t since)
{
	struct wait w = {quoit_create_key(p->q, key), quoit_create_vector(p->q, QUOIT_I64, 4), 0};

	w.job = party_start(p, quoit_watch_job(p->number, w.key, flags, since, w.state));
	return w;
}

static struct quoit_key_state await(struct party *p, const struct wait *w)
{
	struct quoit_key_state state = {0};

	cr_expect_eq(quoit_wait(p->q, w->job, SOON_MS), 0);
	cr_expect_eq(quoit_read(p->q, w->state, &state, sizeof state), 0);
	return state;
}

Test(keyspace, who_waits_for_a_key_is_told_of_its_next_change)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	struct quoit_key_state state;
	struct wait w = start_wait(&t.a, "k", 0, 0);

	party_waits(&t.a, w.job);
	put(&t.b, "j", "");
	put(&t.b, "kk", "");
	party_waits(&t.a, w.job);
	put(&t.b, "k", "value");
	state = await(&t.a, &w);
	cr_expect(state.revision == 3 && state.now == 3 && state.bytes == 5);
	w = start_wait(&t.a, "k", 0, state.now);
	party_waits(&t.a, w.job);
	cr_expect_eq(quoit_delete_key(t.b.q, t.b.number, "k", ANY, NULL), 0);
	state = await(&t.a, &w);
	cr_expect(state.revision == 0 && state.now == 4, "it is gone");
	parties_end(&t);
}

Test(keyspace, a_change_before_the_wait_is_not_missed)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	struct quoit_key_state state;

	put(&t.b, "k", "");
	cr_expect_eq(quoit_watch_key(t.a.q, t.a.number, "k", 0, SOON_MS, &state), 0);
	cr_expect_eq(state.revision, 1);
	cr_expect_eq(quoit_watch_key(t.a.q, t.a.number, "k", 1, SHORT_MS, &state), -ETIME);
	cr_expect_eq(quoit_delete_key(t.b.q, t.b.number, "k", ANY, NULL), 0);
	cr_expect_eq(quoit_watch_key(t.a.q, t.a.number, "k", 1, SOON_MS, &state), 0);
	cr_expect(state.revision == 0 && state.now == 2);
	put(&t.b, "k", "");
	cr_expect_eq(quoit_delete_key(t.b.q, t.b.number, "k", ANY, NULL), 0);
	cr_expect_eq(quoit_watch_key(t.a.q, t.a.number, "k", 2, SOON_MS, &state), 0,
		     "it was there meanwhile");
	cr_expect_eq(quoit_watch_key(t.a.q, t.a.number, "k", state.now, SHORT_MS, &state), -ETIME);
	parties_end(&t);
}

Test(keyspace, who_waits_for_a_prefix_is_told_of_any_key_with_it)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	struct wait w = start_wait(&t.a, "x/", QUOIT_WATCH_PREFIX, 0);
	struct wait all = start_wait(&t.a, "", QUOIT_WATCH_PREFIX, 0);
	struct quoit_key_state state;
	char keys[256];

	put(&t.b, "w", "");
	state = await(&t.a, &all);
	cr_expect(state.revision == 1 && state.keys == 1);
	party_waits(&t.a, w.job);
	put(&t.b, "x/long name", "");
	state = await(&t.a, &w);
	cr_expect(state.revision == 2 && state.now == 2 && state.keys == 1);
	put(&t.b, "x/", "");
	put(&t.b, "x/y", "");
	cr_expect_eq(quoit_watch_prefix(t.a.q, t.a.number, "x/", 2, SOON_MS, &state), 0);
	cr_expect(state.revision == 4 && state.keys == 3);
	list(&t.a, "x/", 2, 4096, keys);
	cr_expect_str_eq(keys, "x/ x/y ");
	w = start_wait(&t.a, "x/", QUOIT_WATCH_PREFIX, state.now);
	cr_expect_eq(quoit_delete_key(t.b.q, t.b.number, "x/", ANY, NULL), 0);
	state = await(&t.a, &w);
	cr_expect(state.revision == 4 && state.now == 5 && state.keys == 2, "a deletion, too");
	cr_expect_eq(quoit_watch_prefix(t.a.q, t.a.number, "x/", state.now, SHORT_MS, &state),
		     -ETIME);
	parties_end(&t);
}

Test(keyspace, a_wait_can_be_cancelled_and_be_late)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	struct wait w = start_wait(&t.a, "k", 0, 0);
	quoit_tensor key = quoit_create_key(t.a.q, "k");
	quoit_job late;

	party_waits(&t.a, w.job);
	cr_expect_eq(quoit_cancel(t.a.q, w.job), 0);
	cr_expect_eq(quoit_wait(t.a.q, w.job, SOON_MS), -ECANCELED);
	late = party_start(&t.a,
			   quoit_with_deadline(quoit_watch_job(t.a.number, key, 0, 0, 0), 1000));
	cr_expect_eq(quoit_wait(t.a.q, late, SOON_MS), -ETIME);
	w = start_wait(&t.a, "k", QUOIT_WATCH_PREFIX, 0);
	cr_expect_eq(quoit_close_sync(t.a.s, t.a.number), 0);
	cr_expect_eq(quoit_wait(t.a.q, w.job, SOON_MS), -ECANCELED);
	put(&t.b, "k", "");
	parties_end(&t);
}

/* More than one pass looks at, and than the calls that a session has there. */
#define WATCHERS 300u

Test(keyspace, all_who_wait_are_told)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	quoit_tensor key = quoit_create_key(t.a.q, "k"), other = quoit_create_key(t.a.q, "j");
	quoit_job never = party_start(&t.a, quoit_watch_job(t.a.number, other, 0, 0, 0));

	for (unsigned i = 0; i < WATCHERS; i++)
		cr_assert_eq(quoit_push(t.a.q, quoit_watch_job(t.a.number, key, i % 2, 0, 0)), 0);
	cr_assert_eq(quoit_flush(t.a.q), 0);
	put(&t.a, "z", "");
	party_waits(&t.a, never);
	put(&t.b, "k", "");
	cr_expect_eq(quoit_cancel(t.a.q, never), 0);
	cr_expect_eq(quoit_wait(t.a.q, never, SOON_MS), -ECANCELED);
	cr_expect_eq(quoit_wait_all(t.a.q, SOON_MS), 0);
	parties_end(&t);
}

/* ---- jobs ---- */

Test(keyspace, what_a_job_has_computed_is_put_and_got_by_jobs)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	quoit_tensor x = quoit_create_matrix(t.a.q, QUOIT_F32, 20, 30), sum;
	quoit_tensor y = quoit_create_matrix(t.b.q, QUOIT_F32, 20, 31);
	const struct quoit_shape first = {.dtype = QUOIT_F32, .dim = {1, 1, 20, 30}};
	quoit_tensor of_a = quoit_create_key(t.a.q, "field"),
		     of_b = quoit_create_key(t.b.q, "field");
	quoit_tensor state = quoit_create_vector(t.b.q, QUOIT_I64, 4);
	static float longer[1000];
	struct quoit_key_state s;
	float value;

	for (unsigned i = 0; i < 1000; i++)
		longer[i] = 7;
	cr_expect_eq(quoit_put_value(t.b.q, t.b.number, "longer", longer, sizeof longer, ANY, NULL),
		     0);
	cr_assert_eq(quoit_push(t.a.q, quoit_fill(x, 1)), 0);
	cr_assert_eq(quoit_push(t.a.q, quoit_add(x, x, x)), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(t.a.number, of_a, x, 2400, 0, 0), SOON_MS), 0);
	cr_expect_eq(quoit_run(t.b.q, quoit_get_job(t.b.number, of_b, y, state), SOON_MS), 0);
	sum = quoit_create_vector(t.b.q, QUOIT_F32, 1);
	cr_assert_eq(
		quoit_push(t.b.q, quoit_sum(sum, quoit_view(t.b.q, y, &first, 0), QUOIT_AXIS_ALL)),
		0);
	cr_expect_eq(quoit_read(t.b.q, sum, &value, sizeof value), 0);
	cr_expect_eq(value, 1200);
	cr_assert_eq(quoit_push(t.b.q, quoit_sum(sum, y, QUOIT_AXIS_ALL)), 0);
	cr_expect_eq(quoit_read(t.b.q, sum, &value, sizeof value), 0);
	cr_expect_eq(value, 1200, "zeros behind it");
	cr_expect_eq(quoit_read(t.b.q, state, &s, sizeof s), 0);
	cr_expect(s.revision == 2 && s.bytes == 2400 && s.keys == 2);
	parties_end(&t);
}

Test(keyspace, what_is_refused_poisons_what_it_should_have_written)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	quoit_tensor key = quoit_create_key(t.a.q, "k"),
		     x = quoit_create_vector(t.a.q, QUOIT_F32, 8);
	quoit_tensor state = quoit_create_vector(t.a.q, QUOIT_I64, 4);
	const int a = t.a.number;

	cr_assert_eq(quoit_push(t.a.q, quoit_fill(x, 1)), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, key, x, 32, 7, state), SOON_MS), -ESTALE);
	cr_expect_eq(quoit_wait_tensor(t.a.q, state, SOON_MS), -QUOIT_EPOISON);
	cr_expect_eq(quoit_wait_tensor(t.a.q, x, SOON_MS), 0, "it was only read");
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, key, x, 32, 0, state), SOON_MS), 0);
	cr_expect_eq(quoit_wait_tensor(t.a.q, state, SOON_MS), 0);
	party_poison(&t.a, x);
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, key, x, 32, ANY, 0), SOON_MS),
		     -QUOIT_EPOISON);
	cr_expect_eq(quoit_run(t.a.q, quoit_get_job(a, key, x, 0), SOON_MS), 0);
	cr_expect_eq(quoit_wait_tensor(t.a.q, x, SOON_MS), 0, "all of it is written");
	parties_end(&t);
}

Test(keyspace, tensors_that_do_not_fit_are_refused)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);
	const struct quoit_shape gaps = {
		.dtype = QUOIT_I64, .dim = {1, 1, 1, 4}, .stride = {1, 1, 1, 2}};
	quoit_tensor key = quoit_create_key(t.a.q, "k"),
		     x = quoit_create_vector(t.a.q, QUOIT_I64, 8);
	quoit_tensor strided = quoit_view(t.a.q, x, &gaps, 0);
	quoit_tensor large = quoit_create_vector(t.a.q, QUOIT_F32, 16385);
	quoit_tensor floats = quoit_create_vector(t.a.q, QUOIT_F32, 8);
	quoit_tensor other = quoit_create_vector(t.a.q, QUOIT_I64, 33);
	const int a = t.a.number;
	struct quoit_sqe sqe;

	cr_assert_eq(quoit_push(t.a.q, quoit_fill_int(x, 1)), 0);
	cr_assert_eq(quoit_push(t.a.q, quoit_fill(large, 1)), 0);
	cr_assert_eq(quoit_push(t.a.q, quoit_fill_int(other, 1)), 0);
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, key, strided, 8, ANY, 0), SOON_MS),
		     -ENOTSUP);
	expect_text(&t.a, -ENOTSUP, "tensor 2 is not dense");
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, key, large, 8, ANY, 0), SOON_MS), -EMSGSIZE);
	expect_text(&t.a, -EMSGSIZE, "tensor 2 has 65540 bytes, allowed are 65536");
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, key, x, 65, ANY, 0), SOON_MS), -EINVAL);
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, other, x, 8, ANY, 0), SOON_MS), -EMSGSIZE);
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, key, x, 8, ANY, floats), SOON_MS), -EINVAL);
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, key, x, 8, ANY, other), SOON_MS), -EINVAL);
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, 0, x, 8, ANY, 0), SOON_MS), -EBADF);
	cr_expect_eq(quoit_run(t.a.q, quoit_put_job(a, key, 0, 0, ANY, 0), SOON_MS), -EBADF);
	cr_expect_eq(quoit_run(t.a.q, quoit_watch_job(a, key, 2, 0, 0), SOON_MS), -EINVAL);
	sqe = quoit_get_job(a, key, x, 0);
	sqe.scalar[0] = 1;
	cr_expect_eq(quoit_run(t.a.q, sqe, SOON_MS), -EINVAL);
	sqe = quoit_delete_job(a, key, ANY, 0);
	sqe.tensor[2] = x;
	cr_expect_eq(quoit_run(t.a.q, sqe, SOON_MS), -EINVAL);
	cr_expect_eq(quoit_run(t.a.q, quoit_lock(a, 0), SOON_MS), -EINVAL);
	expect_text(&t.a, -EINVAL, "it is a keyspace");
	parties_end(&t);
}

/* ---- what is left ---- */

Test(keyspace, plain_calls_leave_no_tensor_and_no_memory)
{
	struct fixture f = begin();
	const struct quoit_open_params p = {
		.socket = f.d.socket, .max_tensors = 16, .arena_bytes = 65536};
	struct party one = {0};
	struct quoit_key_state state;
	static char value[20000];

	cr_assert_eq(quoit_open(&p, &one.s), 0);
	cr_assert_eq(quoit_open_ring(one.s, NULL, &one.q), 0);
	one.number = party_number(quoit_open_keyspace(one.s, "it", NULL));
	for (unsigned i = 0; i < 200; i++) {
		put(&one, "k", "value");
		cr_expect_eq(quoit_put_value(one.q, one.number, "l", value, 20000, ANY, NULL), 0);
		expect(&one, "k", "value");
		cr_expect_eq(quoit_put_value(one.q, one.number, "k", value, 20000, 0, NULL),
			     -EEXIST);
		cr_expect_eq(quoit_get_value(one.q, one.number, "m", value, 20000, NULL), -ENOENT);
		cr_expect_eq(quoit_put_value(one.q, one.number, "\n", value, 9, 0, NULL), -EINVAL);
		cr_expect_eq(quoit_watch_key(one.q, one.number, "m", 0, 1, &state), -ETIME);
		cr_expect_eq(quoit_get_value(one.q, 7, "k", value, 9, NULL), -EINVAL);
	}
	cr_expect_eq(quoit_close(one.s, 0), 0);
	end(&f);
}

Test(keyspace, it_stays_as_long_as_a_session_has_it)
{
	struct parties t = parties_begin_with(quoit_open_keyspace, NULL);

	put(&t.a, "k", "kept");
	cr_expect_eq(quoit_close(t.a.s, 0), 0);
	expect(&t.b, "k", "kept");
	t.a = party_open(&t.f.d);
	cr_expect_eq(quoit_close_sync(t.b.s, t.b.number), 0);
	t.a.number =
		party_number(quoit_open_keyspace(t.a.s, "other", NULL)); /* it has gone by then */
	t.b.number = party_number(quoit_open_keyspace(t.b.s, PARTIES_NAME, NULL));
	cr_expect_eq(quoit_get_value(t.b.q, t.b.number, "k", NULL, 0, NULL), -ENOENT);
	parties_end(&t);
}

/* ---- compare and set, of many ---- */

#define HANDS   4u
#define EACH    400
#define COUNTER "counter"

/* Add 1 to the counter EACH times, and put a key for each number that it has made. */
static int count_on(struct party *p, int who)
{
	int number = quoit_open_keyspace(p->s, PARTIES_NAME, NULL);
	struct quoit_key_state state;
	uint64_t value, revision;
	char key[32];

	for (int i = 0; i < EACH;) {
		int err = quoit_get_value(p->q, number, COUNTER, &value, sizeof value, &state);

		if (err)
			return err;
		value++;
		err = quoit_put_value(p->q, number, COUNTER, &value, sizeof value, state.revision,
				      &revision);
		if (err == -ESTALE)
			continue;
		snprintf(key, sizeof key, "%u", (unsigned)value);
		if (err || revision <= state.revision ||
		    quoit_put_value(p->q, number, key, &who, sizeof who, 0, NULL))
			return -EIO;
		i++;
	}
	return 0;
}

Test(keyspace, each_of_many_compare_and_sets_happens_once)
{
	const struct quoit_sync_params room = {.value = HANDS * EACH + 1};
	struct parties t = parties_begin_with(quoit_open_keyspace, &room);
	uint64_t value = 0;
	pid_t pid[HANDS];
	struct quoit_key_state state;
	char all[64];

	cr_assert_eq(quoit_put_value(t.a.q, t.a.number, COUNTER, &value, sizeof value, 0, NULL), 0);
	fflush(NULL);
	for (unsigned i = 0; i < HANDS; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct party p = party_open(&t.f.d);

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(count_on(&p, (int)i) != 0);
		}
	}
	for (unsigned i = 0; i < HANDS; i++) {
		int status = -1;

		waitpid(pid[i], &status, 0);
		cr_expect_eq(status, 0);
	}
	cr_expect_eq(quoit_get_value(t.a.q, t.a.number, COUNTER, &value, sizeof value, &state), 0);
	cr_expect_eq(value, HANDS * EACH);
	cr_expect_eq(state.keys, HANDS * EACH + 1);
	cr_expect_eq(state.now, 2 * HANDS * EACH + 1, "no change was made twice, and none more");
	cr_expect_eq(quoit_list_keys(t.a.q, t.a.number, COUNTER, NULL, 0, all, sizeof all, &state),
		     0);
	parties_end(&t);
}
