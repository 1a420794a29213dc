/* SPDX-License-Identifier: MIT */
/*
 * test_exporter_prometheus.c - Prometheus scrapes quoit exporter, and answers the dashboard's
 * queries
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <jansson.h>
#include <quoit.h>

#include "client.h"
#include "exported.h"
#include "exporter.h"
#include "prometheus.h"
#include "tool.h"

#define DASHBOARD "tools/exporter/grafana.json"
#define PATIENCE  1200 /* times 50 ms */

/* ---- a quoitd with some work ---- */

struct setting {
	struct client c;
	struct exporter e;
	struct prometheus p;
};

static void begin(struct setting *s)
{
	static const char *const told[] = {"--sessions", "--users", NULL};

	if (!prometheus_is_there())
		cr_skip_test("prometheus is missing");
	client_open(&s->c, NULL, NULL);
	exporter_start(&s->e, s->c.d.socket, told, "/dev/null");
	prometheus_start(&s->p, s->e.port, NULL);
}

static void end(struct setting *s)
{
	prometheus_stop(&s->p);
	exporter_stop(&s->e);
}

static void run_jobs(struct setting *s, unsigned jobs)
{
	for (unsigned i = 0; i < jobs; i++)
		cr_assert_eq(quoit_push(s->c.q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	cr_assert_eq(quoit_wait_all(s->c.q, QUOIT_FOREVER), 0);
}

/* The value in the counter file, once it has all. */
static double fetched(const struct setting *s, double at_least)
{
	double sum = 0;

	for (int i = 0; i < PATIENCE && sum < at_least; i++) {
		const struct quoit_totals *t = daemon_totals(&s->c.d);

		cr_assert(t);
		sum = 0;
		for (unsigned r = 0; r < t->header.reactors; r++)
			sum += (double)__atomic_load_n(&t->reactor[r].value[QUOIT_REACTOR_JOBS],
						       __ATOMIC_RELAXED);
		daemon_totals_unmap(t);
		if (sum < at_least)
			usleep(50000);
	}
	return sum;
}

Test(exporter_prometheus, scrapes_what_the_counter_file_says)
{
	struct setting s;

	begin(&s);
	prometheus_expect(&s.p, "up{job=\"quoit\"}", 1);
	prometheus_expect(&s.p, "quoit_up", 1);
	run_jobs(&s, 1234);
	prometheus_expect(&s.p, "sum(quoit_reactor_jobs_total)", fetched(&s, 1234));
	run_jobs(&s, 1000);
	prometheus_expect(&s.p, "sum(quoit_reactor_jobs_total)", fetched(&s, 2234));
	prometheus_expect(&s.p, "quoit_sessions_opened_total", 1);
	daemon_kill(&s.c.d);
	prometheus_expect(&s.p, "quoit_up", 0);
	prometheus_expect(&s.p, "quoit_state{state=\"dead\"}", 1);
	prometheus_expect(&s.p, "up{job=\"quoit\"}", 1);
	end(&s);
	quoit_close(s.c.s, 0);
	daemon_stop(&s.c.d);
}

/* ---- percentiles ---- */

static double stat_p99(const struct setting *s)
{
	char said[4096];
	json_t *json;
	double p99;

	cr_assert_eq(tool_run(said, sizeof said, "stat --json --socket=%s", s->c.d.socket), 0);
	json = json_loads(said, 0, NULL);
	p99 = json_number_value(json_object_get(json, "p99_seconds"));
	json_decref(json);
	return p99;
}

/* Run jobs of many sizes, each for more than 10 us, so that all are timed. */
static void run_spread(struct setting *s)
{
	quoit_tensor t[20];

	for (unsigned i = 0; i < 20; i++)
		t[i] = quoit_create_vector(s->c.q, QUOIT_F32, 20000u * (i + 1));
	for (unsigned round = 0; round < 30; round++)
		for (unsigned i = 0; i < 20; i++) {
			cr_assert_eq(quoit_push(s->c.q, quoit_normal(t[i], i, round)), 0);
			cr_assert_eq(quoit_wait_all(s->c.q, QUOIT_FOREVER), 0);
		}
}

/* Both since the start: sums of buckets, not rates. */
Test(exporter_prometheus, percentiles_are_near_those_of_quoit_stat)
{
	static const char query_p99[] = "histogram_quantile(0.99, quoit_job_seconds_bucket)";
	struct setting s;
	double p99 = -1, exact = -1;

	begin(&s);
	run_spread(&s);
	for (int i = 0;
	     i < PATIENCE && (p99 <= 0 || exact <= 0 || p99 > 1.3 * exact || p99 < exact / 1.3);
	     i++) {
		usleep(50000);
		exact = stat_p99(&s);
		(void)prometheus_ask(&s.p, query_p99, &p99);
	}
	cr_expect(p99 < 1.3 * exact && p99 > exact / 1.3, "%g, and quoit stat says %g", p99, exact);
	end(&s);
	client_close(&s.c);
}

/* ---- the dashboard ---- */

/* Replace the variables as Grafana would. */
static void fill_in(const char *expression, char *ret, size_t size)
{
	static const char *const variables[][2] = {
		{"$__rate_interval", "20s"}, {"$instance", ".*"}, {"$__range", "20s"}};
	size_t used = 0;

	while (*expression && used + 8 < size) {
		size_t i = 0;

		while (i < 3 && strncmp(expression, variables[i][0], strlen(variables[i][0])) != 0)
			i++;
		if (i < 3) {
			used += (size_t)sprintf(ret + used, "%s", variables[i][1]);
			expression += strlen(variables[i][0]);
		} else {
			ret[used++] = *expression++;
		}
	}
	ret[used] = '\0';
	cr_assert_not(strchr(ret, '$'), "a variable that nobody knows: %s", ret);
}

/* Call each() for every string under the key "expr", at any depth. */
static unsigned each_expression(const json_t *json, void (*each)(const char *, void *), void *arg)
{
	const char *key;
	json_t *value;
	size_t i;
	unsigned n = 0;

	json_object_foreach((json_t *)(size_t)json, key, value)
	{
		if (!strcmp(key, "expr") && json_is_string(value)) {
			each(json_string_value(value), arg);
			n++;
		}
		n += each_expression(value, each, arg);
	}
	json_array_foreach(json, i, value) n += each_expression(value, each, arg);
	return n;
}

struct scraped {
	struct exported x;
	struct exporter e;
	struct prometheus p;
};

/* Some rates need two scrapes, and the phases need a job that was timed. */
static void expect_series(const char *expression, void *arg)
{
	struct scraped *s = arg;
	char filled[2048];
	size_t count = 0;
	double value;

	fill_in(expression, filled, sizeof filled);
	for (int i = 0; i < PATIENCE && !count; i++) {
		exported_work(&s->x, 100);
		count = prometheus_ask(&s->p, filled, &value);
		if (!count)
			usleep(50000);
	}
	cr_assert_gt(count, 0, "there is nothing in %s", filled);
}

Test(exporter_prometheus, every_query_of_the_dashboard_has_an_answer)
{
	static const char *const told[] = {"--sessions", "--users", "--services", NULL};
	struct scraped s;
	json_error_t why;
	json_t *dashboard = json_load_file(DASHBOARD, 0, &why);

	if (!prometheus_is_there())
		cr_skip_test("prometheus is missing");
	cr_assert(dashboard, "%s", why.text);
	exported_begin(&s.x);
	exporter_start(&s.e, s.x.c.d.socket, told, "/dev/null");
	prometheus_start(&s.p, s.e.port, NULL);
	exported_work(&s.x, 1000);
	cr_expect_gt(each_expression(dashboard, expect_series, &s), 60);
	json_decref(dashboard);
	prometheus_stop(&s.p);
	exporter_stop(&s.e);
	exported_end(&s.x);
}
