/* SPDX-License-Identifier: MIT */
/*
 * test_exporter_answer.c - how many texts the exporter keeps for slow readers
 *
 * The test plays libmicrohttpd: a reader has the text that was queued for it until the test says
 * that it was sent.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "exporter/answer.h"
#include "exporter/microhttpd.h"

#define READERS  (ANSWER_TEXTS + 2)
#define STALE_US ((ANSWER_FRESH_MS + 30) * 1000)

struct MHD_Response {
	unsigned refs, number;
	MHD_ContentReaderFreeCallback let_go;
	void *of;
};

struct MHD_Connection {
	struct MHD_Response *gets;
	const char *accepts, *encodings;
};

static struct answers answers;
static struct hosts hosts;
static struct collect collect = {.socket = "/no/such/folder/quoitd.sock"};
static struct MHD_Connection reader[READERS];
static unsigned made, alive;

/* ---- the library ---- */

static struct MHD_Response *create(size_t size, void *text, MHD_ContentReaderFreeCallback let_go,
				   void *of)
{
	struct MHD_Response *r = calloc(1, sizeof *r);

	cr_assert(r && size && text);
	*r = (struct MHD_Response){.refs = 1, .number = ++made, .let_go = let_go, .of = of};
	alive++;
	return r;
}

static void destroy(struct MHD_Response *r)
{
	if (--r->refs)
		return;
	r->let_go(r->of);
	free(r);
	alive--;
}

static enum MHD_Result queue(struct MHD_Connection *c, unsigned status, struct MHD_Response *r)
{
	cr_expect_eq(status, MHD_HTTP_OK);
	c->gets = r;
	r->refs++;
	return MHD_YES;
}

static enum MHD_Result add_header(struct MHD_Response *r, const char *name, const char *value)
{
	(void)r;
	(void)name;
	(void)value;
	return MHD_YES;
}

static const char *look_up(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *key)
{
	(void)kind;
	if (!strcmp(key, MHD_HTTP_HEADER_ACCEPT))
		return c->accepts;
	return !strcmp(key, MHD_HTTP_HEADER_ACCEPT_ENCODING) ? c->encodings : NULL;
}

/* ---- readers ---- */

static void open_all(void)
{
	mhd = (struct microhttpd){.create_response_from_buffer_with_free_callback_cls = create,
				  .destroy_response = destroy,
				  .queue_response = queue,
				  .add_response_header = add_header,
				  .lookup_connection_value = look_up};
	answers.collect = &collect;
	answers.hosts = &hosts;
}

static void finish(unsigned i)
{
	if (reader[i].gets)
		destroy(reader[i].gets);
	reader[i].gets = NULL;
}

static void close_all(void)
{
	for (unsigned i = 0; i < READERS; i++)
		finish(i);
	answers_free(&answers);
	cr_expect_eq(alive, 0, "nothing is left behind");
}

TestSuite(exporter_answer, .init = open_all, .fini = close_all);

/* The number of the text that it gets. */
static unsigned ask(unsigned i)
{
	cr_assert_eq(answer_request(&answers, &reader[i], "/metrics", "GET"), MHD_YES);
	return reader[i].gets->number;
}

/* Let `count` clients ask, each when the last text has become old; no client reads. */
static void ask_in_turn(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		cr_expect_eq(ask(i), i + 1, "one of its own");
		usleep(STALE_US);
	}
}

Test(exporter_answer, of_slow_readers_four_have_texts_of_their_own_and_the_others_the_last)
{
	ask_in_turn(ANSWER_TEXTS);
	for (unsigned i = ANSWER_TEXTS; i < READERS; i++) {
		cr_expect_eq(ask(i), ANSWER_TEXTS, "however old it is");
		usleep(STALE_US);
	}
	cr_expect_eq(alive, ANSWER_TEXTS);
}

Test(exporter_answer, whoever_has_read_first_makes_room_for_a_new_text)
{
	ask_in_turn(ANSWER_TEXTS);
	finish(1);
	cr_expect_eq(alive, ANSWER_TEXTS - 1);
	cr_expect_eq(ask(1), ANSWER_TEXTS + 1);
	cr_expect_eq(reader[0].gets->number, 1, "who reads keeps what it has");
	cr_expect_eq(alive, ANSWER_TEXTS);
}

Test(exporter_answer, the_last_is_for_all_until_somebody_has_read_an_older_one)
{
	ask_in_turn(ANSWER_TEXTS - 1);
	cr_expect_eq(ask(ANSWER_TEXTS - 1), ANSWER_TEXTS);
	finish(ANSWER_TEXTS - 1);
	cr_expect_eq(alive, ANSWER_TEXTS, "it is kept for who asks next");
	usleep(STALE_US);
	cr_expect_eq(ask(ANSWER_TEXTS - 1), ANSWER_TEXTS);
	finish(0);
	cr_expect_eq(ask(0), ANSWER_TEXTS + 1);
}

Test(exporter_answer, each_format_has_its_own)
{
	reader[ANSWER_TEXTS].accepts = "application/openmetrics-text; version=1.0.0";
	ask_in_turn(ANSWER_TEXTS);
	cr_expect_eq(ask(ANSWER_TEXTS), ANSWER_TEXTS + 1);
	cr_expect_eq(ask(ANSWER_TEXTS + 1), ANSWER_TEXTS, "of the first, there are enough");
	reader[ANSWER_TEXTS + 1].encodings = "br, gzip";
	finish(ANSWER_TEXTS + 1);
	cr_expect_eq(ask(ANSWER_TEXTS + 1), ANSWER_TEXTS + 2, "compressed, it is another one");
}
