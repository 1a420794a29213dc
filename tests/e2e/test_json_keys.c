/* SPDX-License-Identifier: MIT */
/*
 * test_json_keys.c - quoit_json(7) describes every key that --json prints, in the section of its
 * command
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "client.h"
#include "offer.h"
#include "tool.h"

#define PAGE       "docs/man/quoit_json.7"
#define SAID_BYTES (1u << 20)
#define KEYS_MOST  160

static char said[SAID_BYTES];

/* ---- the manual page ---- */

struct keys {
	char key[KEYS_MOST][48];
	bool seen[KEYS_MOST];
	unsigned count;
};

/* Read the keys of `quoit COMMAND`, behind ".Ss quoit COMMAND". */
static void read_page(const char *command, struct keys *ret)
{
	char line[512], section[48];
	FILE *page = fopen(PAGE, "re");
	bool here = false;

	cr_assert(page);
	snprintf(section, sizeof section, ".Ss quoit %s\n", command);
	*ret = (struct keys){.count = 0};
	while (fgets(line, sizeof line, page)) {
		if (!strncmp(line, ".Ss", 3) || !strncmp(line, ".Sh", 3))
			here = !strcmp(line, section);
		if (here && sscanf(line, ".It Cm %47s", ret->key[ret->count]) == 1) {
			ret->count++;
			cr_assert_lt(ret->count, KEYS_MOST);
		}
	}
	fclose(page);
	cr_assert_gt(ret->count, 0, "the page has no keys of quoit %s", command);
}

static void expect_key(struct keys *k, const char *key, const char *command)
{
	bool found = false;

	for (unsigned i = 0; i < k->count; i++)
		if (!strcmp(k->key[i], key))
			/* a column and a counter may have the same name */
			found = k->seen[i] = true;
	cr_expect(found, "%s of quoit %s is not in " PAGE, key, command);
}

/* ---- the output ---- */

/* Are the keys in here names of other things: nodes, series or ratios? */
static bool has_names(const char *key)
{
	return !strcmp(key, "node_bytes") || !strcmp(key, "series") || !strcmp(key, "ratios");
}

static void walk(struct keys *k, json_t *value, bool names, const char *command)
{
	const char *key;
	json_t *below;
	size_t i;

	json_array_foreach(value, i, below) walk(k, below, false, command);
	json_object_foreach(value, key, below)
	{
		if (!names)
			expect_key(k, key, command);
		walk(k, below, has_names(key), command);
	}
}

static json_t *ask(const char *socket, const char *command, const char *operands)
{
	json_error_t error;
	json_t *json;

	(void)tool_run(said, sizeof said, "%s --json --socket=%s %s 2>/dev/null", command, socket,
		       operands);
	json = json_loads(said, 0, &error);
	cr_assert(json, "%s: %s: %s", command, error.text, said);
	return json;
}

/* unused: keys of the page that belong to other forms of the command. */
static void expect_documented(const char *socket, const char *command, const char *operands,
			      const char *unused)
{
	json_t *json = ask(socket, command, operands);
	struct keys k;

	read_page(command, &k);
	walk(&k, json, false, command);
	for (unsigned i = 0; i < k.count; i++)
		cr_expect(k.seen[i] || strstr(unused, k.key[i]),
			  "%s is in " PAGE ", and quoit %s does not print it", k.key[i], command);
	json_decref(json);
}

Test(json_keys, each_is_in_the_manual_and_the_manual_has_no_other, .timeout = 120)
{
	struct client c;

	client_open(&c, NULL, NULL);
	expect_documented(c.d.socket, "ps", "", "");
	expect_documented(c.d.socket, "topo", "", "");
	expect_documented(c.d.socket, "stat", "", "reactor");
	expect_documented(c.d.socket, "stat", "--reactors", "");
	expect_documented(c.d.socket, "config", "", "");
	expect_documented(c.d.socket, "share", "", "file");
	expect_documented(c.d.socket, "kill", "4711", "");
	expect_documented(c.d.socket, "doctor", "--no-measure", "");
	expect_documented(c.d.socket, "bench", "submit --rounds 1", "");
	client_close(&c);
}

Test(json_keys, of_services_and_their_callers_too)
{
	struct quoit_service *service;
	struct offer *o = offer_make();
	struct client c;
	pid_t server;

	client_open(&c, NULL, NULL);
	server = offer_serve(o, c.d.socket, "fft", NULL, (struct offer_who){0});
	cr_assert_eq(quoit_open_service(c.s, "fft", 0, &service), 0, "%s", quoit_open_text());
	expect_documented(c.d.socket, "ls", "", "");
	expect_documented(c.d.socket, "calls", "", "");
	offer_end(server);
	client_close(&c);
	offer_free(o);
}

/* ---- times and units ---- */

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	cr_assert(json_is_number(value), "%s", key);
	return json_number_value(value);
}

static void expect_recent(const json_t *object, const char *key)
{
	double ago = (double)time(NULL) - number(object, key);

	cr_expect(ago > -2 && ago < 100, "%s was %g s ago", key, ago);
}

Test(json_keys, times_are_seconds_since_1970)
{
	struct client c;
	json_t *ps, *topo, *stat, *one;

	client_open(&c, NULL, NULL);
	ps = ask(c.d.socket, "ps", "");
	topo = ask(c.d.socket, "topo", "");
	stat = ask(c.d.socket, "stat", "");
	one = json_array_get(json_object_get(ps, "sessions"), 0);
	expect_recent(one, "start_time_seconds");
	cr_expect_lt(number(one, "etime_seconds"), 100);
	expect_recent(ps, "daemon_start_time_seconds");
	expect_recent(topo, "daemon_start_time_seconds");
	expect_recent(json_array_get(json_object_get(topo, "reactors"), 0), "alive_time_seconds");
	expect_recent(stat, "time_seconds");
	json_decref(ps);
	json_decref(topo);
	json_decref(stat);
	client_close(&c);
}

/* "%cpu", "bytes/s" and the like are titles, not names of fields. */
Test(json_keys, no_key_needs_quotes_in_a_program)
{
	static const char *const commands[] = {"ps", "topo", "stat"};
	struct keys k;

	for (size_t i = 0; i < 3; i++) {
		read_page(commands[i], &k);
		for (unsigned n = 0; n < k.count; n++)
			for (const char *at = k.key[n]; *at; at++)
				cr_expect(islower((unsigned char)*at) ||
						  isdigit((unsigned char)*at) || *at == '_',
					  "%s", k.key[n]);
	}
}
