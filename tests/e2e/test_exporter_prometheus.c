/* SPDX-License-Identifier: MIT */
/*
 * test_exporter_prometheus.c - Prometheus scrapes quoit exporter, and answers the dashboard's
 * queries
 */
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <jansson.h>
#include <quoit.h>

#include "client.h"
#include "exporter.h"
#include "tool.h"

#define PROGRAM   "/usr/bin/prometheus"
#define DASHBOARD "tools/exporter/grafana.json"
#define PATIENCE  1200 /* times 50 ms */

/* ---- Prometheus ---- */

struct prometheus {
	pid_t pid;
	unsigned port;
	char folder[32];
};

static void write_config(const struct prometheus *p, unsigned exporter_port)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof path, "%s/prometheus.yml", p->folder);
	file = fopen(path, "we");
	cr_assert(file);
	fprintf(file,
		"global:\n"
		"  scrape_interval: 2s\n"
		"  scrape_timeout: 2s\n"
		"scrape_configs:\n"
		"- job_name: quoit\n"
		"  static_configs:\n"
		"  - targets: ['127.0.0.1:%u']\n",
		exporter_port);
	fclose(file);
}

static void become_prometheus(const struct prometheus *p, int log)
{
	char config[96], storage[96];
	char *argv[] = {
		PROGRAM, config, storage, "--web.listen-address=127.0.0.1:0", "--log.level=info",
		NULL};

	snprintf(config, sizeof config, "--config.file=%s/prometheus.yml", p->folder);
	snprintf(storage, sizeof storage, "--storage.tsdb.path=%s/data", p->folder);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0)
		execv(PROGRAM, argv);
	_exit(127);
}

/* The kernel chooses the port, since 9090 may be in use. */
static unsigned read_port(const char *log)
{
	static const char listening[] = "\"Listening on\" address=127.0.0.1:";
	char line[1024];
	FILE *from = fopen(log, "re");
	unsigned port = 0;

	while (from && !port && fgets(line, sizeof line, from)) {
		const char *at = strstr(line, listening);

		if (at)
			port = (unsigned)strtoul(at + sizeof listening - 1, NULL, 10);
	}
	if (from)
		fclose(from);
	return port;
}

static void start(struct prometheus *p, unsigned exporter_port)
{
	char log[64];
	FILE *file;

	*p = (struct prometheus){.folder = "/tmp/quoit-prom-XXXXXX"};
	cr_assert(mkdtemp(p->folder));
	write_config(p, exporter_port);
	snprintf(log, sizeof log, "%s/log", p->folder);
	file = fopen(log, "we");
	cr_assert(file);
	fflush(NULL);
	p->pid = fork();
	cr_assert_geq(p->pid, 0);
	if (p->pid == 0)
		become_prometheus(p, fileno(file));
	fclose(file);
	for (int i = 0; i < PATIENCE && !p->port; i++) {
		usleep(50000);
		p->port = read_port(log);
	}
	cr_assert(p->port, "it does not listen: see %s", log);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void stop(struct prometheus *p)
{
	kill(p->pid, SIGKILL);
	(void)waitpid(p->pid, NULL, 0);
	(void)nftw(p->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- queries ---- */

/* The answer, which the caller drops; NULL: there is none yet. */
static json_t *query(const struct prometheus *p, const char *expression)
{
	char path[3072] = "/api/v1/query?query=", *to = path + strlen(path);
	struct http_answer a;
	json_t *json;

	for (; *expression && to < path + sizeof path - 4; expression++)
		to += sprintf(to, "%%%02X", (unsigned char)*expression);
	http_get(p->port, path, NULL, &a);
	cr_assert_neq(a.status, 400, "%s", a.body);
	json = a.status == 200 ? json_loads(a.body, 0, NULL) : NULL;
	http_free(&a);
	return json;
}

/* How many series the answer has, and the value of the first. */
static size_t ask(const struct prometheus *p, const char *expression, double *ret)
{
	json_t *json = query(p, expression);
	json_t *result = json_object_get(json_object_get(json, "data"), "result");
	json_t *value = json_object_get(json_array_get(result, 0), "value");
	const char *text = json_string_value(json_array_get(value, 1));
	size_t count = json_array_size(result);

	*ret = text ? strtod(text, NULL) : -1;
	json_decref(json);
	return count;
}

/*
 * Wait until the answer has this value; a failure ends the test, which must be over in ten minutes.
 */
static void expect(const struct prometheus *p, const char *expression, double expected)
{
	double value = -1;

	for (int i = 0; i < PATIENCE && value != expected; i++) {
		usleep(50000);
		(void)ask(p, expression, &value);
	}
	cr_assert_eq(value, expected, "%s is %f, not %f", expression, value, expected);
}

/* ---- a quoitd with some work ---- */

struct setting {
	struct client c;
	struct quoit_session *on_device; /* NULL: none */
	struct quoit_ring *device_ring;
	struct exporter e;
	struct prometheus p;
};

static void begin(struct setting *s, const char *const *options)
{
	static const char *const told[] = {"--sessions", "--users", NULL};

	if (access(PROGRAM, X_OK) < 0)
		cr_skip_test("prometheus is missing");
	*s = (struct setting){.on_device = NULL};
	client_open(&s->c, options, NULL);
	exporter_start(&s->e, s->c.d.socket, told, "/dev/null");
	start(&s->p, s->e.port);
}

static void end(struct setting *s)
{
	stop(&s->p);
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

	begin(&s, NULL);
	expect(&s.p, "up{job=\"quoit\"}", 1);
	expect(&s.p, "quoit_up", 1);
	run_jobs(&s, 1234);
	expect(&s.p, "sum(quoit_reactor_jobs_total)", fetched(&s, 1234));
	run_jobs(&s, 1000);
	expect(&s.p, "sum(quoit_reactor_jobs_total)", fetched(&s, 2234));
	expect(&s.p, "quoit_sessions_opened_total", 1);
	daemon_kill(&s.c.d);
	expect(&s.p, "quoit_up", 0);
	expect(&s.p, "quoit_state{state=\"dead\"}", 1);
	expect(&s.p, "up{job=\"quoit\"}", 1);
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

	begin(&s, NULL);
	run_spread(&s);
	for (int i = 0;
	     i < PATIENCE && (p99 <= 0 || exact <= 0 || p99 > 1.3 * exact || p99 < exact / 1.3);
	     i++) {
		usleep(50000);
		exact = stat_p99(&s);
		(void)ask(&s.p, query_p99, &p99);
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

/* A session with memory of the soft device, which every machine has. */
static void open_on_device(struct setting *s)
{
	struct quoit_open_params p = {.socket = s->c.d.socket,
				      .host_bytes = UINT64_C(4) << 20,
				      .device_bytes = UINT64_C(32) << 20};

	cr_assert_eq(quoit_open(&p, &s->on_device), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(s->on_device, NULL, &s->device_ring), 0);
	cr_assert_eq(quoit_use_device(s->device_ring, 1), 0);
}

static void run_on_device(struct setting *s)
{
	quoit_tensor t = quoit_create_vector(s->device_ring, QUOIT_F32, 1u << 16);

	for (unsigned i = 0; i < 10; i++)
		cr_assert_eq(quoit_push(s->device_ring, quoit_fill(t, 1.0)), 0);
	cr_assert_eq(quoit_free(s->device_ring, t), 0);
	cr_assert_eq(quoit_wait_all(s->device_ring, QUOIT_FOREVER), 0);
}

/* Some rates need two scrapes, and the phases need a job that was timed. */
static void expect_series(const char *expression, void *arg)
{
	struct setting *s = arg;
	char filled[2048];
	size_t count = 0;
	double value;

	fill_in(expression, filled, sizeof filled);
	for (int i = 0; i < PATIENCE && !count; i++) {
		run_jobs(s, 100);
		run_on_device(s);
		count = ask(&s->p, filled, &value);
		if (!count)
			usleep(50000);
	}
	cr_assert_gt(count, 0, "there is nothing in %s", filled);
}

Test(exporter_prometheus, every_query_of_the_dashboard_has_an_answer)
{
	static const char *const soft[] = {"--gpu=soft", NULL};
	struct setting s;
	json_error_t why;
	json_t *dashboard = json_load_file(DASHBOARD, 0, &why);

	cr_assert(dashboard, "%s", why.text);
	begin(&s, soft);
	open_on_device(&s);
	run_jobs(&s, 1000);
	cr_expect_gt(each_expression(dashboard, expect_series, &s), 30);
	json_decref(dashboard);
	end(&s);
	cr_expect_eq(quoit_close(s.on_device, 0), 0);
	client_close(&s.c);
}
