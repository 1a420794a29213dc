/* SPDX-License-Identifier: MIT */
/* test_key_watch.c - calls that wait for changes of keys are looked at in parts, and none is forgotten */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "backend/service/answers.h"
#include "backend/service/key_watch.h"
#include "base/tsc.h"
#include "reactor/reactor.h"

#define PART 32u /* calls that one pass looks at */

static struct reactor *reactor;
static struct service service;
static struct object object;
static struct caller *callers[3];
static struct keyspace *k;

static struct caller *open_caller(void)
{
	struct caller *c = calloc(1, sizeof *c);

	cr_assert(c);
	c->service = &service;
	c->reactor = reactor;
	c->keys = key_caller_new();
	cr_assert(c->keys);
	for (unsigned i = 0; i < CALLER_CALLS; i++) {
		c->call[i].caller = c;
		c->call[i].key = &c->keys->words[i];
	}
	return c;
}

static void open_keyspace(void)
{
	tsc_init();
	reactor = aligned_alloc(64, (sizeof *reactor + 63) / 64 * 64);
	k = keyspace_new(100, 0, false);
	cr_assert(reactor && k);
	memset(reactor, 0, sizeof *reactor);
	object = (struct object){.kind = QUOIT_SYNC_KEYSPACE, .keyspace = k};
	service.object = &object;
	service.home = reactor;
	for (unsigned i = 0; i < 3; i++)
		callers[i] = open_caller();
}

static void close_keyspace(void)
{
	for (unsigned i = 0; i < 3; i++) {
		key_caller_free(callers[i]->keys);
		free(callers[i]);
	}
	keyspace_free(k);
	free(reactor);
}

TestSuite(key_watch, .init = open_keyspace, .fini = close_keyspace);

static struct service_call *call_of(unsigned i)
{
	return &callers[i / CALLER_CALLS]->call[i % CALLER_CALLS];
}

static struct service_call *watch(unsigned i, const char *key, uint8_t arg, uint64_t since)
{
	struct service_call *call = call_of(i);

	strcpy(call->key->key, key);
	call->key->key_bytes = QUOIT_KEY_BYTES;
	call->entry.arg = arg;
	call->entry.scalar[0] = since;
	call->entry.tensor[0].given = 1;
	call->result = 1;
	key_watch(&object, call);
	return call;
}

static void put(const char *key)
{
	const struct key_text text = {key, (uint32_t)strlen(key)};

	cr_assert_eq(key_table_put(&k->table, text, NULL, 0, UINT64_MAX), 0);
	key_watch_wake(k, reactor, text);
}

static unsigned waiting(unsigned upto)
{
	unsigned n = 0;

	for (unsigned i = 0; i < upto; i++)
		n += call_of(i)->waits;
	return n;
}

Test(key_watch, one_pass_looks_at_some_and_the_next_ones_at_the_others)
{
	for (unsigned i = 0; i < 3 * PART + 1; i++)
		watch(i, "key", 0, 0);
	cr_expect_eq(COUNT_OF(service.waiting), 3 * PART + 1);
	cr_expect_not(key_watch_look(reactor), "nothing has changed");
	put("key");
	for (unsigned left = 3 * PART + 1; left > PART; left -= PART) {
		cr_expect_eq(waiting(3 * PART + 1), left);
		cr_expect(key_watch_look(reactor));
	}
	cr_expect(key_watch_look(reactor));
	cr_expect_eq(waiting(3 * PART + 1), 0);
	cr_expect_null(reactor->woken_keyspaces, "it can sleep");
	cr_expect_eq(call_of(0)->result, 0);
	cr_expect_eq(call_of(0)->key->state.revision, 1);
}

Test(key_watch, who_comes_in_the_midst_waits_for_the_next_change)
{
	struct service_call *late;

	for (unsigned i = 0; i < PART + 1; i++)
		watch(i, "key", 0, 0);
	put("key");
	cr_expect(key_watch_look(reactor));
	late = watch(PART + 1, "key", 0, 1);
	cr_expect(key_watch_look(reactor));
	cr_expect_null(reactor->woken_keyspaces);
	cr_expect(late->waits);
	put("key");
	cr_expect(key_watch_look(reactor));
	cr_expect_not(late->waits);
	cr_expect_eq(late->key->state.revision, 2);
}

Test(key_watch, a_key_wakes_those_of_its_prefixes_and_no_others)
{
	struct service_call *all = watch(0, "", QUOIT_WATCH_PREFIX, 0);
	struct service_call *shorter = watch(1, "ke", QUOIT_WATCH_PREFIX, 0);
	struct service_call *same = watch(2, "key", QUOIT_WATCH_PREFIX, 0);
	struct service_call *longer = watch(3, "keys", QUOIT_WATCH_PREFIX, 0);
	struct service_call *key = watch(4, "ke", 0, 0);

	put("key");
	while (key_watch_look(reactor))
		;
	cr_expect(!all->waits && !shorter->waits && !same->waits);
	cr_expect(longer->waits && key->waits);
	put("ke");
	while (key_watch_look(reactor))
		;
	cr_expect(longer->waits && !key->waits);
}

/* As objects.c withdraws it. */
static void withdraw(struct service_call *call)
{
	call_stop_waiting(call);
	key_watch_stopped(k, call);
}

Test(key_watch, what_is_withdrawn_while_its_bucket_is_woken_is_not_answered)
{
	for (unsigned i = 0; i < 2 * PART; i++)
		watch(i, "key", i % 2, 0);
	put("key");
	for (unsigned i = 0; i < 2 * PART; i++)
		if (i % 3)
			withdraw(call_of(i));
	while (key_watch_look(reactor))
		;
	cr_expect_eq(waiting(2 * PART), 0);
	for (unsigned i = 0; i < 2 * PART; i++)
		cr_expect_eq(call_of(i)->result, i % 3 ? 1 : 0);
	for (unsigned i = 0; i < QUOIT_KEY_BYTES; i++)
		cr_expect_eq(k->prefix_waits[i], 0);
}

Test(key_watch, a_keyspace_that_goes_is_looked_at_no_more)
{
	struct keyspace *first = keyspace_new(1, 0, false), *last = keyspace_new(1, 0, false);

	cr_assert(first && last);
	watch(0, "key", 0, 0);
	object.keyspace = first;
	watch(1, "key", 0, 0);
	object.keyspace = last;
	watch(2, "key", 0, 0);
	key_watch_wake(first, reactor, (struct key_text){"key", 3});
	put("key");
	key_watch_wake(last, reactor, (struct key_text){"key", 3});
	key_watch_end(reactor, first);
	key_watch_end(reactor, last);
	keyspace_free(first);
	keyspace_free(last);
	cr_expect(key_watch_look(reactor));
	cr_expect_not(call_of(0)->waits);
	cr_expect_not(key_watch_look(reactor));
	first = keyspace_new(1, 0, false);
	cr_assert(first);
	put("key"); /* nobody waits: nothing to look at */
	cr_expect_null(reactor->woken_keyspaces);
	keyspace_free(first);
}
