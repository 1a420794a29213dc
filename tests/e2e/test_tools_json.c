/* SPDX-License-Identifier: MIT */
/* test_tools_json.c - the tools' --json output is complete and true */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "client.h"
#include "executor.h"
#include "tool.h"

#define SAID_BYTES (256u << 10)
#define PATIENCE   500 /* times 10 ms */

/* The object or array that `quoit COMMAND --json OPERANDS` prints; the caller frees it. */
static json_t *ask(const char *command, const char *operands, const char *socket, int status)
{
	static char said[SAID_BYTES];
	json_error_t error;
	json_t *json;

	cr_assert_eq(
		tool_run(said, sizeof said, "%s --json --socket=%s %s", command, socket, operands),
		status, "%s: %s", command, said);
	json = json_loads(said, 0, &error);
	cr_assert(json, "%s: %s: %s", command, error.text, said);
	return json;
}

static json_int_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	cr_assert(json_is_integer(value), "%s", key);
	return json_integer_value(value);
}

/* The counters of one session; the caller frees them. */
static json_t *counters_of(const struct client *c, const struct quoit_session *s)
{
	json_t *json = ask("ps", "", c->d.socket, 0), *one, *found = NULL;
	struct quoit_info info;
	size_t i;

	quoit_get_info(s, &info);
	json_array_foreach(json_object_get(json, "sessions"), i,
			   one) if (number(one, "session") == (json_int_t)info.session) found =
		json_incref(json_object_get(one, "counters"));
	cr_assert(found);
	json_decref(json);
	return found;
}

static json_int_t counter(const struct client *c, const struct quoit_session *s, const char *key)
{
	json_t *counters = counters_of(c, s);
	json_int_t value = number(counters, key);

	json_decref(counters);
	return value;
}

/* The reactor writes the counters when it sleeps: look again until it has. */
static json_int_t await_counter(const struct client *c, const struct quoit_session *s,
				const char *key, json_int_t least)
{
	json_int_t value = counter(c, s, key);

	for (int i = 0; i < PATIENCE && value < least; i++) {
		usleep(10000);
		value = counter(c, s, key);
	}
	return value;
}

/* A counter of the only reactor. */
static json_int_t of_reactor(const struct client *c, const char *key)
{
	json_t *json = ask("topo", "", c->d.socket, 0);
	json_int_t value = number(json_array_get(json_object_get(json, "reactors"), 0), key);

	json_decref(json);
	return value;
}

/* The totals are copied out ten times a second, less often on a busy machine. */
static json_int_t await_reactor(const struct client *c, const char *key, json_int_t least)
{
	json_int_t value = of_reactor(c, key);

	for (int i = 0; i < PATIENCE && value < least; i++) {
		usleep(10000);
		value = of_reactor(c, key);
	}
	return value;
}

static const char *const one_reactor[] = {"--reactors=1", NULL};

Test(tools_json, time_of_short_jobs_is_charged_to_their_session_alone)
{
	const struct quoit_sqe nop = quoit_nop(QUOIT_NO_TENSOR);
	struct quoit_session *idle;
	json_int_t charged;
	struct client c;
	quoit_tensor t;

	client_open(&c, one_reactor, NULL);
	idle = client_session(&c, UINT64_C(1) << 20);
	t = quoit_create_vector(c.q, QUOIT_F32, 64);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(quoit_push(c.q, quoit_add_scalar(t, t, 1)), 0);
		cr_assert_eq(quoit_push(c.q, nop), 0);
	}
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	cr_expect_geq(await_counter(&c, c.s, "jobs_done", 2000), 2000);
	cr_expect_eq(counter(&c, c.s, "jobs_tiled"), 0);
	charged = counter(&c, c.s, "core_ticks");
	cr_expect_gt(charged, 0);
	cr_expect_geq(await_reactor(&c, "work_ticks", charged), charged);
	cr_expect_geq(await_reactor(&c, "jobs", 2000), 2000);
	cr_expect_eq(counter(&c, idle, "core_ticks"), 0);
	quoit_close(idle, 0);
	client_close(&c);
}

Test(tools_json, time_of_long_jobs_is_that_of_their_tiles)
{
	struct client c;
	json_int_t tiles, charged;

	client_open(&c, one_reactor, NULL);
	client_busy(&c, client_large(&c), 4);
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	cr_expect_eq(await_counter(&c, c.s, "jobs_tiled", 4), 4);
	tiles = counter(&c, c.s, "tile_ticks");
	charged = counter(&c, c.s, "core_ticks");
	cr_expect_gt(tiles, 0);
	cr_expect_eq(await_reactor(&c, "tile_ticks", tiles), tiles);
	cr_expect_geq(charged, tiles);
	cr_expect_geq(await_reactor(&c, "work_ticks", charged - tiles), charged - tiles);
	client_close(&c);
}

Test(tools_json, a_job_in_an_executor_is_running)
{
	struct house h = house_open(8);
	struct client c = {.d = h.d, .s = h.s, .q = h.q};

	house_submit(h.q, house_nap(&h, QUOIT_NO_TENSOR, 1500, SLEEP_WELL), 1);
	cr_expect_eq(await_counter(&c, c.s, "jobs_running", 1), 1);
	cr_expect_eq(counter(&c, c.s, "jobs_queued"), 0);
	cr_expect_eq(house_reap(h.q, NULL).res, 0);
	cr_expect_eq(await_counter(&c, c.s, "jobs_done", 1), 1);
	cr_expect_eq(counter(&c, c.s, "jobs_running"), 0);
	house_close(&h);
}

Test(tools_json, ps_has_the_bytes_on_devices)
{
	const char *const soft[] = {"--gpu=soft", NULL};
	struct quoit_open_params p = {.host_bytes = UINT64_C(4) << 20,
				      .device_bytes = UINT64_C(32) << 20};
	struct quoit_session *s;
	struct quoit_ring *q;
	struct client c;
	quoit_tensor t;

	client_open(&c, soft, NULL);
	p.socket = c.d.socket;
	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	cr_assert_eq(quoit_use_device(q, 1), 0);
	t = quoit_create_vector(q, QUOIT_F32, 1u << 20);
	cr_assert_eq(quoit_push(q, quoit_fill(t, 1.0)), 0);
	cr_assert_eq(quoit_wait_all(q, 20000), 0);
	cr_expect_geq(await_counter(&c, s, "device_bytes_used", 4 << 20), 4 << 20);
	cr_expect_eq(await_counter(&c, s, "device_bytes_leased", 1), 32 << 20);
	cr_expect_eq(await_counter(&c, c.s, "device_bytes_used", 0), 0, "another's are not its");
	cr_assert_eq(quoit_free(q, t), 0);
	cr_assert_eq(quoit_wait_all(q, 20000), 0);
	for (int i = 0; i < PATIENCE && counter(&c, s, "device_bytes_used"); i++)
		usleep(10000);
	cr_expect_eq(counter(&c, s, "device_bytes_used"), 0);
	quoit_close(s, 0);
	client_close(&c);
}

Test(tools_json, ps_has_all_that_its_table_has)
{
	static const char *const keys[] = {"session",     "pid",       "uid",     "user",
					   "command",     "node",      "state",   "reactor",
					   "cpu_percent", "rss_bytes", "counters"};
	static const char *const counters[] = {"jobs_queued",     "jobs_running",
					       "jobs_done",       "jobs_failed",
					       "host_bytes_used", "host_bytes_leased"};
	struct client c;
	json_t *json, *one;

	client_open(&c, NULL, NULL);
	json = ask("ps", "", c.d.socket, 0);
	cr_expect(json_is_true(json_object_get(json, "daemon_lives")));
	one = json_array_get(json_object_get(json, "sessions"), 0);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		cr_expect(json_object_get(one, keys[i]), "%s", keys[i]);
	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
		cr_expect(json_object_get(json_object_get(one, "counters"), counters[i]), "%s",
			  counters[i]);
	json_decref(json);
	client_close(&c);
}

Test(tools_json, topo_says_what_was_found_and_chosen)
{
	static const char *const words[] = {
		"this machine: ", "node 0: ",  "reactors: 1, as configured",
		"workers: ",      "kernels: ", "memory: "};
	struct client c;
	const char *text;
	json_t *json;

	client_open(&c, one_reactor, NULL);
	json = ask("topo", "", c.d.socket, 0);
	cr_expect_eq(number(json, "daemon_pid"), c.d.pid);
	cr_expect(json_is_object(json_object_get(json, "counters")));
	cr_expect_eq(json_array_size(json_object_get(json, "reactors")), 1);
	text = json_string_value(json_object_get(json, "topology"));
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		cr_expect(strstr(text, words[i]), "%s: %s", words[i], text);
	json_decref(json);
	client_close(&c);
}

Test(tools_json, kill_has_a_result_for_each_session)
{
	char operands[64];
	struct quoit_info info;
	struct client c;
	json_t *json, *one;

	client_open(&c, NULL, NULL);
	quoit_get_info(c.s, &info);
	snprintf(operands, sizeof operands, "%llu 4711", (unsigned long long)info.session);
	json = ask("kill", operands, c.d.socket, 1);
	cr_assert_eq(json_array_size(json), 2);
	one = json_array_get(json, 0);
	cr_expect_eq(number(one, "session"), (json_int_t)info.session);
	cr_expect(json_is_true(json_object_get(one, "ended")));
	one = json_array_get(json, 1);
	cr_expect_eq(number(one, "session"), 4711);
	cr_expect(json_is_false(json_object_get(one, "ended")));
	cr_expect_neq(number(one, "errno"), 0);
	json_decref(json);
	(void)quoit_close(c.s, 0);
	daemon_stop(&c.d);
}

/* A user without others may have all of the cores, and gets all that was used. */
Test(tools_json, share_tells_what_a_user_gets_of_the_cores)
{
	json_t *json = NULL, *one = NULL;
	quoit_tensor large;
	double cores = 0;
	struct client c;

	client_open(&c, one_reactor, NULL);
	large = client_large(&c);
	/* The machine may have stood still for as long as the command looked. */
	for (unsigned tries = 0; tries < 100 && cores < 0.05; tries++) {
		json_decref(json);
		client_busy(&c, large, 2000 / CLIENT_EASE);
		json = ask("share", "", c.d.socket, 0);
		one = json_array_get(json, 0);
		cores = json_number_value(json_object_get(one, "cores"));
	}
	cr_expect_geq(cores, 0.05);
	cr_expect_float_eq(json_number_value(json_object_get(one, "gets_percent")), 100, 0.01);
	cr_expect_float_eq(json_number_value(json_object_get(one, "may_percent")), 100, 0.01);
	json_decref(json);
	(void)quoit_close(c.s, 0);
	daemon_stop(&c.d);
}

Test(tools_json, bench_has_each_sample_and_the_ratio)
{
	struct client c;
	json_t *json, *series, *ratios;

	client_open(&c, NULL, NULL);
	json = ask("bench", "submit --rounds 1", c.d.socket, 0);
	cr_expect_eq(number(json, "rounds"), 1);
	series = json_object_get(json, "series");
	ratios = json_object_get(json, "ratios");
	cr_expect_gt(json_object_size(series), 1, "ours and the floor's");
	cr_expect_gt(json_object_size(ratios), 0);
	for (void *i = json_object_iter(series); i; i = json_object_iter_next(series, i)) {
		json_t *value = json_object_iter_value(i);

		cr_expect(json_is_number(json_object_get(value, "median")));
		cr_expect_eq(json_array_size(json_object_get(value, "samples")), 1);
	}
	json_decref(json);
	client_close(&c);
}

Test(tools_json, bench_measures_only_what_was_asked_for)
{
	struct client c;
	json_t *json, *series, *ratios;

	client_open(&c, NULL, NULL);
	json = ask("bench", "nop --rounds 1 --only quoit_256_rate,floor_256", c.d.socket, 0);
	series = json_object_get(json, "series");
	ratios = json_object_get(json, "ratios");
	cr_expect(json_object_get(series, "quoit_256"), "measured with its rate");
	cr_expect_eq(json_object_size(series), 3);
	cr_expect(json_object_get(ratios, "nop_256_rate/floor"));
	cr_expect_eq(json_object_size(ratios), 1);
	json_decref(json);
	client_close(&c);
}
