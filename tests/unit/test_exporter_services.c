/* SPDX-License-Identifier: MIT */
/* test_exporter_services.c - the exporter's series of services, locks and their kin */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "answering.h"
#include "exporter/collect.h"
#include "exporter/collect_services.h"

#define ALICE 4000001u /* without names */
#define BOB   4000002u
#define MOST  1000u

/* ---- a quoitd that has only these ---- */

static struct quoit_service_reply services[MOST];
static unsigned count;
static bool silent;

static bool answer(struct quoit_ctl *m)
{
	const uint64_t least = m->services.service;

	if (silent)
		return false;
	m->result = -ENOENT;
	for (unsigned i = 0; i < count; i++)
		if (services[i].service >= least) {
			m->result = 0;
			m->service_reply = services[i];
			return true;
		}
	return true;
}

static void start(void)
{
	answering_start(answer);
}

TestSuite(exporter_services, .init = start, .fini = answering_stop);

static struct quoit_service_reply *add(uint32_t uid, uint32_t kind, const char *name)
{
	struct quoit_service_reply *s = &services[count++];

	*s = (struct quoit_service_reply){
		.service = 10 + count, .uid = uid, .kind = kind, .known = 1};
	snprintf(s->name, sizeof s->name, "%s", name);
	return s;
}

/* ---- the text ---- */

static char *text;

static void write_text_from(const char *path, bool openmetrics)
{
	struct exposition e = {.openmetrics = openmetrics};
	size_t size;

	free(text);
	e.out = open_memstream(&text, &size);
	cr_assert(e.out);
	cr_expect_eq(collect_services(&e, path, 1000000000), 0);
	fclose(e.out);
}

static void write_text(bool openmetrics)
{
	write_text_from(answering_path, openmetrics);
}

/* Does the text have this whole line? */
static bool has(const char *line)
{
	size_t n = strlen(line);
	const char *at = text;

	while ((at = strstr(at, line)) && !((at == text || at[-1] == '\n') && at[n] == '\n'))
		at++;
	return at != NULL;
}

static unsigned times(const char *words)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
		n++;
	return n;
}

#define OF(kind, name) "{kind=\"" kind "\",uid=\"4000001\",user=\"4000001\",name=\"" name "\"}"

Test(exporter_services, each_has_the_figures_of_its_kind)
{
	struct quoit_service_reply *s = add(ALICE, 0, "fft");

	s->servers = 2;
	s->lanes = 3;
	s->running = 5;
	s->waiting = 17;
	s->callers = 4;
	s->calls = 100;
	s->failed = 7;
	s->again = 1;
	s->ticks = 2500000000;
	s = add(ALICE, QUOIT_SYNC_LOCK, "ledger");
	s->waiting = 2;
	s->holder = 4711;
	add(ALICE, QUOIT_SYNC_FLAG, "go")->value = 1;
	add(ALICE, QUOIT_SYNC_SEMAPHORE, "slots")->value = 5;
	add(ALICE, QUOIT_SYNC_BARRIER, "start")->value = 3;
	s = add(ALICE, QUOIT_SYNC_QUEUE, "rows");
	s->value = 9;
	s->kib = 3;
	s = add(ALICE, QUOIT_SYNC_KEYSPACE, "settings");
	s->value = 8;
	s->kib = 7;
	add(ALICE, QUOIT_SYNC_TENSOR, "field")->value = 4096;
	write_text(false);
	cr_expect(has("quoit_service_threads" OF("service", "fft") " 3"), "%s", text);
	cr_expect(has("quoit_service_threads_busy" OF("service", "fft") " 3"));
	cr_expect(has("quoit_service_processes" OF("service", "fft") " 2"));
	cr_expect(has("quoit_object_calls_waiting" OF("service", "fft") " 19"), "two in processes");
	cr_expect(has("quoit_object_callers" OF("service", "fft") " 4"));
	cr_expect(has("quoit_object_calls_total" OF("service", "fft") " 100"));
	cr_expect(has("quoit_object_calls_failed_total" OF("service", "fft") " 7"));
	cr_expect(has("quoit_service_calls_again_total" OF("service", "fft") " 1"));
	cr_expect(has("quoit_service_run_seconds_total" OF("service", "fft") " 2.500000000"));
	cr_expect(has("quoit_object_calls_waiting" OF("lock", "ledger") " 2"));
	cr_expect(has("quoit_lock_held" OF("lock", "ledger") " 1"));
	cr_expect(has("quoit_flag_set" OF("flag", "go") " 1"));
	cr_expect(has("quoit_semaphore_available" OF("semaphore", "slots") " 5"));
	cr_expect(has("quoit_barrier_arrived" OF("barrier", "start") " 3"));
	cr_expect(has("quoit_queue_messages" OF("queue", "rows") " 9"));
	cr_expect(has("quoit_tensor_bytes" OF("tensor", "field") " 4096"));
	cr_expect(has("quoit_lock_holder_pid" OF("lock", "ledger") " 4711"));
	cr_expect(has("quoit_queue_used_bytes" OF("queue", "rows") " 3072"));
	cr_expect(has("quoit_keyspace_keys" OF("keyspace", "settings") " 8"));
	cr_expect(has("quoit_keyspace_used_bytes" OF("keyspace", "settings") " 7168"));
	cr_expect_eq(times("\nquoit_service_threads{"), 1, "a lock has none");
	cr_expect_eq(times("\nquoit_queue_messages{"), 1);
	cr_expect(has("quoit_objects_not_exported{reason=\"too_many\"} 0"));
}

/* They are hostile text, and readers reject a whole text that is not UTF-8. */
Test(exporter_services, names_can_break_no_line)
{
	struct quoit_service_reply *s = add(ALICE, QUOIT_SYNC_LOCK, "a\"b\\c\n\xff");

	s->waiting = 2;
	memset(add(ALICE, QUOIT_SYNC_NR, "")->name, 'x',
	       QUOIT_NAME_BYTES); /* and an unknown kind */
	memset(add(ALICE, QUOIT_SYNC_FLAG, "")->name, 'y', QUOIT_NAME_BYTES); /* without an end */
	write_text(true);
	cr_expect(has("quoit_object_calls_waiting" OF("lock", "a\\\"b\\\\x5cc\\\\x0a\\\\xff") " 2"),
		  "%s", text);
	cr_expect_eq(times("xx"), 0);
	cr_expect_eq(times("yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\"} 0"), 5);
}

Test(exporter_services, what_we_may_not_know_is_counted_only)
{
	add(ALICE, QUOIT_SYNC_LOCK, "hers");
	add(BOB, QUOIT_SYNC_LOCK, "his")->known = 0;
	write_text(false);
	cr_expect_eq(times("his"), 0);
	cr_expect(times("hers"));
	cr_expect(has("quoit_objects_not_exported{reason=\"unreadable\"} 1"), "%s", text);
}

/* The old one has no servers any more, but somebody still calls it. */
Test(exporter_services, two_of_one_name_are_one_series)
{
	add(ALICE, 0, "fft")->calls = 1;
	add(BOB, 0, "fft")->calls = 2;
	add(ALICE, 0, "fft")->calls = 3;
	write_text(false);
	cr_expect(has("quoit_object_calls_total" OF("service", "fft") " 3"), "%s", text);
	cr_expect_eq(times("quoit_object_calls_total{"), 2);
}

/* Each user may make 256 names; none keeps others away, and each shows those where calls wait. */
Test(exporter_services, series_are_bounded_and_users_take_turns)
{
	char name[32];

	for (unsigned i = 0; i < 256; i++) {
		snprintf(name, sizeof name, "a%03u", i);
		add(ALICE, QUOIT_SYNC_LOCK, name)->waiting = i == 200 ? 1 : 0;
	}
	add(BOB, QUOIT_SYNC_LOCK, "his");
	write_text(false);
	cr_expect_eq(times("\nquoit_lock_held{"), COLLECT_SERVICES);
	cr_expect_eq(times("name=\"his\"} 0\n"), 6, "%s", text);
	cr_expect(has("quoit_object_calls_waiting" OF("lock", "a200") " 1"), "%s", text);
	cr_expect(has("quoit_object_calls_waiting" OF("lock", "a000") " 0"));
	cr_expect_eq(times("name=\"a255\""), 0);
	cr_expect(has("quoit_objects_not_exported{reason=\"too_many\"} 129"));
}

Test(exporter_services, a_quoitd_that_does_not_answer_leaves_them_out)
{
	add(ALICE, QUOIT_SYNC_LOCK, "it");
	silent = true;
	write_text(false);
	cr_expect_str_eq(text, "");
	silent = false;
	write_text_from("/nowhere", false);
	cr_expect_str_eq(text, "");
}
