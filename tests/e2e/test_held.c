/* SPDX-License-Identifier: MIT */
/* test_held.c - tools name the place where a program acquired what its jobs wait for */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acquire.h"
#include "recording.h"
#include "rounds.h"
#include "tool.h"

#define PATIENCE_MS 60000
#define ROUNDS      20
#define HELD        40000 /* microseconds of each round */
#define REST        10000

/* The line of this file where hold acquires; it is the only cause that the session is slow. */
static char place[64];

/* A session, what it holds, and what is written from that. */
struct holder {
	struct fixture f;
	quoit_tensor held, copy;
};

static struct holder holder(void)
{
	struct holder h = {.f = begin()};

	h.held = shared(&h.f);
	h.copy = shared(&h.f);
	return h;
}

/* Jobs wait for most of the time for what the program has acquired; short holds hurt nobody. */
static void hold(void *arg)
{
	struct holder *h = arg;
	struct quoit_ring *q = h->f.q;
	void *at;

	acquire(q, h->copy, QUOIT_ACCESS_READ);
	release(q, h->copy);
	if (!*place)
		snprintf(place, sizeof place, "test_held.c:%d", __LINE__ + 1);
	cr_assert_eq(quoit_acquire(q, h->held, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at), 0);
	cr_assert_eq(quoit_push(q, quoit_add_int(h->held, h->held, 1)), 0);
	cr_assert_eq(quoit_push(q, quoit_copy(h->copy, h->held)), 0);
	cr_assert_eq(quoit_flush(q), 0);
	usleep(HELD); /* at work, while jobs wait */
	release(q, h->held);
	cr_assert_eq(quoit_wait_all(q, QUOIT_FOREVER), 0);
	usleep(REST);
}

/* Run a tool until it says these words, and this much behind them; and return all that it said. */
static const char *says(const struct fixture *f, const char *line, const char *words, int percent)
{
	static char said[16384];

	for (unsigned ms = 0; ms < PATIENCE_MS; ms += 20, usleep(20000)) {
		const char *at;
		int found = 0;

		cr_assert_eq(tool_run(said, sizeof said, "%s --socket=%s", line, f->d.socket), 0,
			     "%s", said);
		at = strstr(said, words);
		if (at && (!percent ||
			   (sscanf(at + strlen(words), "%d%%", &found) == 1 && found >= percent)))
			return said;
	}
	cr_assert_fail("not '%s' of %d %%: %s", words, percent, said);
	return said;
}

Test(held, limit_is_the_program_with_place_and_share, .timeout = 300)
{
	struct holder h = holder();
	struct rounds rounds;
	char words[128];

	hold(&h); /* now its place is known */
	rounds_begin(&rounds, hold, &h);
	snprintf(words, sizeof words, "Limited by data held by the program at %s for ", place);
	/* four fifths of each round, less what the machine adds */
	(void)says(&h.f, "top --batch -n1 --session=1", words, 50);
	(void)says(&h.f, "ps -o session,limit", " held", 0);
	rounds_end(&rounds);
	end(&h.f);
}

/* The same, but nothing waits for what is held: then it costs nothing. */
Test(held, holds_that_no_job_waits_for_are_no_limit)
{
	struct fixture f = begin();
	quoit_tensor a = shared(&f), x = create(f.q, N, 0);
	const char *said;
	void *at;

	for (int i = 0; i < ROUNDS; i++) {
		cr_assert_eq(quoit_acquire(f.q, a, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at), 0);
		cr_assert_eq(quoit_push(f.q, quoit_add_int(x, x, 1)), 0);
		cr_assert_eq(quoit_flush(f.q), 0);
		usleep(HELD / 8);
		release(f.q, a);
		cr_assert_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0);
	}
	said = says(&f, "top --batch -n1 --session=1", "Limited by ", 0);
	cr_expect_not(strstr(said, "held by the program"), "%s", said);
	end(&f);
}

/* The report of the recording has the place, and how long jobs waited for it. */
static void expect_report(const struct recording *r)
{
	unsigned long long holds = 0, held = 0, awaited = 0;
	char *page = recording_read(r, "report", "-o -"), words[128], *at;

	snprintf(words, sizeof words, "[\"%s\",", place);
	at = strstr(page, words);
	cr_assert(at);
	cr_expect_eq(sscanf(at + strlen(words), "%llu,%llu,%llu]", &holds, &held, &awaited), 3);
	cr_expect_eq(holds, ROUNDS);
	cr_expect_geq(awaited, ROUNDS * HELD * 1000ull / 2);
	cr_expect_geq(held, awaited);
	free(page);
}

Test(held, trace_has_a_track_with_each_hold)
{
	struct holder h = holder();
	struct recording r = recording_begin(&h.f.d, h.f.s);
	char words[128], *said;

	for (int i = 0; i < ROUNDS; i++)
		hold(&h);
	end(&h.f); /* and so the recorder ends */
	recording_end(&r);
	said = recording_read(&r, "trace json", "");
	cr_expect(strstr(said, "\"held by the program, ring 0\""), "its track");
	snprintf(words, sizeof words, "\"held at %s\"", place);
	cr_expect_eq(recording_times(said, words), ROUNDS);
	cr_expect_geq(recording_times(said, "\"held at acquire.h:"), ROUNDS, "of the copy");
	cr_expect_eq(recording_times(said, "\"jobs_waited_us\":"), ROUNDS);
	free(said);
	expect_report(&r);
	recording_remove(&r);
}
