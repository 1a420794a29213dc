/* SPDX-License-Identifier: MIT */
/* test_held.c - tools name the place where a program acquired what its jobs wait for */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acquire.h"
#include "tool.h"

#define ROUNDS 20
#define HELD   40000 /* microseconds of each round */
#define REST   10000

/* The line of this file where hold_rounds acquires; it is the only cause that it is slow. */
static char place[64];

/* Jobs wait for most of the time for what the program has acquired; short holds hurt nobody. */
static void hold_rounds(struct fixture *f)
{
	quoit_tensor a = shared(f), b = shared(f);
	void *at;

	for (int i = 0; i < ROUNDS; i++) {
		acquire(f->q, b, QUOIT_ACCESS_READ);
		release(f->q, b);
		snprintf(place, sizeof place, "test_held.c:%d", __LINE__ + 1);
		cr_assert_eq(quoit_acquire(f->q, a, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at), 0);
		cr_assert_eq(quoit_push(f->q, quoit_add_int(a, a, 1)), 0);
		cr_assert_eq(quoit_push(f->q, quoit_copy(b, a)), 0);
		cr_assert_eq(quoit_flush(f->q), 0);
		usleep(HELD); /* at work, while jobs wait */
		release(f->q, a);
		cr_assert_eq(quoit_wait_all(f->q, QUOIT_FOREVER), 0);
		usleep(REST);
	}
}

/* What a tool says, at last with these words in it. */
static const char *says(const struct fixture *f, const char *words, const char *line)
{
	static char said[16384];
	char all[256];

	snprintf(all, sizeof all, "%s --socket=%s", line, f->d.socket);
	for (int i = 0; i < 50; i++) { /* quoitd publishes a few times a second */
		cr_assert_eq(tool_run(said, sizeof said, "%s", all), 0, "%s", said);
		if (strstr(said, words))
			break;
		usleep(20000);
	}
	return said;
}

Test(held, limit_is_the_program_with_place_and_share)
{
	struct fixture f = begin();
	const char *said, *at;
	char words[128];
	int percent = 0;

	hold_rounds(&f);
	snprintf(words, sizeof words, "Limited by data held by the program at %s for ", place);
	said = says(&f, words, "top --batch -n1 --session=1");
	at = strstr(said, words);
	cr_assert(at, "%s", said);
	cr_expect_eq(sscanf(at + strlen(words), "%d%% of the time", &percent), 1, "%s", at);
	/* four fifths of each round, less what the machine adds */
	cr_expect(percent >= 50 && percent <= 95, "%d", percent);
	said = says(&f, " held", "ps -o session,limit");
	cr_expect(strstr(said, " held"), "%s", said);
	end(&f);
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
	said = says(&f, "Limited by ", "top --batch -n1 --session=1");
	cr_expect(strstr(said, "Limited by "), "%s", said);
	cr_expect_not(strstr(said, "held by the program"), "%s", said);
	end(&f);
}

static char path[] = "/tmp/quoit-held.XXXXXX";

/* How many times the words are in the text. */
static unsigned times(const char *text, const char *words)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
		n++;
	return n;
}

/* The report of the recording has the place, and how long jobs waited for it. */
static void expect_report(void)
{
	static char page[4 << 20];
	unsigned long long holds = 0, held = 0, awaited = 0;
	char words[128], *at;
	FILE *from;
	size_t n;

	snprintf(page, sizeof page, "%s/quoit report %s -o -", tool_folder(), path);
	from = popen(page, "r");
	cr_assert(from);
	n = fread(page, 1, sizeof page - 1, from);
	page[n] = '\0';
	cr_expect_eq(pclose(from), 0);
	snprintf(words, sizeof words, "[\"%s\",", place);
	at = strstr(page, words);
	cr_assert(at);
	cr_expect_eq(sscanf(at + strlen(words), "%llu,%llu,%llu]", &holds, &held, &awaited), 3);
	cr_expect_eq(holds, ROUNDS);
	cr_expect_geq(awaited, ROUNDS * HELD * 1000ull / 2);
	cr_expect_geq(held, awaited);
}

Test(held, trace_has_a_track_with_each_hold)
{
	static char said[4 << 20];
	struct fixture f = begin();
	char words[128], log[64];
	FILE *recorder, *from;
	size_t n;

	cr_assert_geq(mkstemp(path), 0);
	snprintf(said, sizeof said,
		 "exec %s/quoit trace record -p %d --socket=%s -o %s 2>/dev/null", tool_folder(),
		 getpid(), f.d.socket, path);
	snprintf(log, sizeof log, "%s", path);
	recorder = popen(said, "r");
	cr_assert(recorder);
	usleep(300000);
	hold_rounds(&f);
	usleep(300000);
	end(&f); /* and so the recorder ends */
	(void)pclose(recorder);
	snprintf(said, sizeof said, "%s/quoit trace json %s", tool_folder(), path);
	from = popen(said, "r");
	cr_assert(from);
	n = fread(said, 1, sizeof said - 1, from);
	said[n] = '\0';
	cr_expect_eq(pclose(from), 0);
	cr_expect(strstr(said, "\"held by the program, ring 0\""), "its track");
	snprintf(words, sizeof words, "\"held at %s\"", place);
	cr_expect_eq(times(said, words), ROUNDS, "%u", times(said, words));
	cr_expect_geq(times(said, "\"held at acquire.h:"), ROUNDS, "of b");
	cr_expect_eq(times(said, "\"jobs_waited_us\":"), ROUNDS, "%u",
		     times(said, "\"jobs_waited_us\":"));
	expect_report();
	unlink(path);
}
