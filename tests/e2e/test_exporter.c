/* SPDX-License-Identifier: MIT */
/* test_exporter.c - what quoit exporter serves, to whom, and how it withstands strangers */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <zlib.h>

#include <quoit.h>

#include "client.h"
#include "clock.h"
#include "daemon.h"
#include "exported.h"
#include "exporter.h"
#include "tool.h"

#define PATIENCE    6000 /* times 10 ms */
#define PATIENCE_MS 60000
#define FRESH_US    300000 /* a text is served for a little less */
#define OPENMETRICS "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"

/* Write its text into a file, as for a textfile collector. */
static int once(const struct daemon *d, const char *options, const char *into)
{
	char line[512];

	snprintf(line, sizeof line, "%s/quoit exporter --once %s --socket=%s >%s", tool_folder(),
		 options, d->socket, into);
	return system(line);
}

static void run_jobs(struct client *c, unsigned jobs)
{
	for (unsigned i = 0; i < jobs; i++)
		cr_assert_eq(quoit_push(c->q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	cr_assert_eq(quoit_wait_all(c->q, QUOIT_FOREVER), 0);
}

/* The value in the counter file. */
static double fetched(const struct daemon *d)
{
	const struct quoit_totals *t = daemon_totals(d);
	double sum = 0;

	cr_assert(t);
	for (unsigned i = 0; i < t->header.reactors; i++)
		sum += (double)__atomic_load_n(&t->reactor[i].value[QUOIT_REACTOR_JOBS],
					       __ATOMIC_RELAXED);
	daemon_totals_unmap(t);
	return sum;
}

/* ---- the text ---- */

Test(exporter, serves_the_counters_of_the_moment)
{
	static const char *const one[] = {"--reactors=1", NULL};
	struct http_answer a = {0};
	struct exporter e;
	struct client c;
	char line[256];
	const char *at;

	client_open(&c, one, NULL);
	exporter_start(&e, c.d.socket, NULL, NULL);
	run_jobs(&c, 1000);
	for (int i = 0; i < PATIENCE && fetched(&c.d) < 1000; i++)
		usleep(10000);
	exporter_metrics(&e, NULL, &a);
	cr_expect_str_eq(a.type, "text/plain; version=0.0.4; charset=utf-8");
	cr_expect_eq(exporter_value(a.body, "quoit_up"), 1, "%s", a.body);
	at = strstr(a.body, "\nquoit_reactor_jobs_total{reactor=\"0\",");
	cr_assert(at && sscanf(at, "\n%255s", line) == 1, "%s", a.body);
	cr_expect_eq(exporter_value(a.body, line), fetched(&c.d), "%s", a.body);
	cr_expect_eq(exporter_value(a.body, "quoit_sessions_opened_total"), 1, "%s", a.body);
	http_free(&a);
	exporter_stop(&e);
	client_close(&c);
}

Test(exporter, openmetrics_is_served_to_who_takes_it)
{
	struct http_answer a;
	struct exporter e;
	struct daemon d;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	exporter_start(&e, d.socket, NULL, NULL);
	exporter_metrics(&e, OPENMETRICS, &a);
	cr_expect_str_eq(a.type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
	cr_expect_str_eq(a.body + strlen(a.body) - 6, "# EOF\n", "%s", a.body);
	http_free(&a);
	exporter_stop(&e);
	daemon_stop(&d);
}

Test(exporter, a_daemon_that_dies_is_down_and_its_last_figures_are_served)
{
	static const char *const sessions[] = {"--sessions", NULL};
	char errors[80], said[4096] = "";
	struct http_answer a;
	struct exporter e;
	struct daemon d;
	FILE *from;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	snprintf(errors, sizeof errors, "%s/errors", d.folder);
	exporter_start(&e, d.socket, sessions, errors);
	daemon_kill(&d);
	for (int i = 0; i < 3; i++) {
		exporter_metrics(&e, NULL, &a);
		cr_expect_eq(exporter_value(a.body, "quoit_up"), 0, "%s", a.body);
		cr_expect(strstr(a.body, "quoit_reactor_jobs_total{"), "its last figures: %s",
			  a.body);
		http_free(&a);
	}
	from = fopen(errors, "re");
	cr_assert(from && fread(said, 1, sizeof said - 1, from));
	fclose(from);
	cr_expect(strstr(said, "is dead; these are its last figures\n"), "%s", said);
	cr_expect_eq(strchr(said, '\n'), said + strlen(said) - 1, "said once: %s", said);
	daemon_stop(&d);
	usleep(FRESH_US);
	exporter_metrics(&e, NULL, &a);
	cr_expect_eq(exporter_value(a.body, "quoit_up"), 0, "%s", a.body);
	cr_expect_not(strstr(a.body, "quoit_reactor"), "%s", a.body);
	http_free(&a);
	exporter_stop(&e);
}

/* Each reading would give another text; only as many may differ as the elapsed time allows. */
Test(exporter, all_who_ask_at_a_time_get_one_text)
{
	char path[96], kept[96];
	double began, up = -1, last;
	unsigned changes = 0;
	struct http_answer a;
	struct exporter e;
	struct daemon d;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	snprintf(path, sizeof path, "%s/totals", d.folder);
	snprintf(kept, sizeof kept, "%s/kept", d.folder);
	exporter_start(&e, d.socket, NULL, "/dev/null");
	began = clock_ms();
	for (int i = 0; i < 100; i++) {
		last = up;
		exporter_metrics(&e, NULL, &a);
		up = exporter_value(a.body, "quoit_up");
		http_free(&a);
		changes += i && up != last;
		cr_assert_eq(i % 2 ? rename(kept, path) : rename(path, kept), 0);
	}
	cr_expect_leq(changes, (clock_ms() - began) / 250 + 1, "%u in %.0f ms", changes,
		      clock_ms() - began);
	usleep(FRESH_US);
	exporter_metrics(&e, NULL, &a);
	cr_expect_eq(exporter_value(a.body, "quoit_up"), 1, "%s", a.body);
	http_free(&a);
	exporter_stop(&e);
	daemon_stop(&d);
}

/* Even a bad file is no crash, and the next good one is served. */
Test(exporter, a_totals_file_that_is_garbage_is_an_answer_that_says_so)
{
	char path[96], kept[96], random[4096];
	struct http_answer a;
	struct exporter e;
	struct daemon d;
	FILE *file;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	exporter_start(&e, d.socket, NULL, "/dev/null");
	snprintf(path, sizeof path, "%s/totals", d.folder);
	snprintf(kept, sizeof kept, "%s/kept", d.folder);
	cr_assert_eq(rename(path, kept), 0);
	memset(random, 0xa5, sizeof random);
	file = fopen(path, "we");
	cr_assert(file && fwrite(random, 1, sizeof random, file) && fclose(file) == 0);
	http_get(e.port, "/metrics", NULL, &a);
	cr_expect_eq(a.status, 503);
	cr_expect(strstr(a.body, "the totals file is damaged"), "%s", a.body);
	http_free(&a);
	cr_expect_eq(once(&d, "", "/dev/null 2>&1") >> 8, 1);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkfifo(path, 0600), 0);
	http_get(e.port, "/metrics", NULL, &a);
	cr_expect_eq(a.status, 503);
	http_free(&a);
	cr_assert_eq(rename(kept, path), 0);
	exporter_metrics(&e, NULL, &a);
	cr_expect_eq(exporter_value(a.body, "quoit_up"), 1, "%s", a.body);
	http_free(&a);
	exporter_stop(&e);
	daemon_stop(&d);
}

/* ---- the text, read by other parsers ---- */

/* A session that has run jobs, with a name that is not text. */
static void open_session(struct client *c)
{
	struct quoit_open_params p = {.name = "a\"b\\c\n\xff"};

	cr_assert_eq(daemon_start(&c->d, NULL), 0);
	p.socket = c->d.socket;
	cr_assert_eq(quoit_open(&p, &c->s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(c->s, NULL, &c->q), 0);
	run_jobs(c, 1000);
}

Test(exporter, services_locks_and_queues_are_told_to_who_asks_for_them)
{
	static const char *const options[] = {"--services", NULL}, *const none[] = {NULL};
	struct http_answer a = {0};
	struct exporter e;
	struct client c;
	char sample[160];

	client_open(&c, NULL, NULL);
	exported_use_things(c.s, c.q);
	exporter_start(&e, c.d.socket, options, NULL);
	snprintf(sample, sizeof sample,
		 "quoit_object_calls_waiting{kind=\"lock\",uid=\"%u\",user=\"%s\",name=\"ledger\"}",
		 geteuid(), getpwuid(geteuid())->pw_name);
	for (unsigned tries = 0; tries < PATIENCE; tries++) {
		http_free(&a);
		exporter_metrics(&e, NULL, &a);
		if (exporter_value(a.body, sample) > 0)
			break;
		usleep(10000);
	}
	cr_expect_eq(exporter_value(a.body, sample), 1, "%s", a.body);
	cr_expect(strstr(a.body, "name=\"rows\"} 1\n"), "%s", a.body);
	cr_expect(strstr(a.body, "\nquoit_lock_held{"));
	snprintf(sample, sizeof sample, "name=\"ledger\"} %d\n", getpid());
	cr_expect(strstr(a.body, sample), "its holder: %s", a.body);
	cr_expect(strstr(a.body, "name=\"settings\"} 1\n"), "its keys: %s", a.body);
	http_free(&a);
	exporter_stop(&e);
	exporter_start(&e, c.d.socket, none, NULL);
	exporter_metrics(&e, NULL, &a);
	cr_expect_not(strstr(a.body, "quoit_object"));
	http_free(&a);
	exporter_stop(&e);
	cr_assert_eq(quoit_close(c.s, QUOIT_CLOSE_CANCEL), 0);
	daemon_stop(&c.d);
}

Test(exporter, promtool_finds_nothing_wrong_with_names_and_units)
{
	char path[96], line[256];
	struct client c;

	if (system("command -v promtool >/dev/null"))
		cr_skip_test("promtool is missing");
	open_session(&c);
	exported_use_things(c.s, c.q);
	snprintf(path, sizeof path, "%s/metrics", c.d.folder);
	cr_assert_eq(once(&c.d, "--sessions --users --services", path), 0);
	snprintf(line, sizeof line, "promtool check metrics <%s", path);
	cr_expect_eq(system(line), 0);
	cr_assert_eq(quoit_close(c.s, QUOIT_CLOSE_CANCEL), 0);
	daemon_stop(&c.d);
}

Test(exporter, promtool_finds_the_alert_rules_right_and_they_tell_what_they_should)
{
	if (system("command -v promtool >/dev/null"))
		cr_skip_test("promtool is missing");
	cr_expect_eq(system("promtool check rules tools/exporter/alerts.yml"), 0);
	cr_expect_eq(system("promtool test rules tests/exporter/alerts_test.yml"), 0);
}

/* A rule or a panel about a metric that does not exist would stay silent for ever. */
Test(exporter, rules_and_panels_are_of_metrics_that_there_are)
{
	char path[96], line[512];
	struct exported x;
	int missing = -1;

	exported_begin(&x);
	snprintf(path, sizeof path, "%s/metrics", x.c.d.folder);
	snprintf(line, sizeof line,
		 "! grep -ohE '\\bquoit_[a-z_]+' tools/exporter/alerts.yml "
		 "tools/exporter/grafana.json | sort -u | "
		 "while read -r m; do grep -q \"^$m\\b\" %s || echo \"$m\"; done | grep .",
		 path);
	for (unsigned tries = 0; tries < PATIENCE && missing; tries++) {
		exported_work(&x, 100);
		cr_assert_eq(once(&x.c.d, "--sessions --users --services", path), 0);
		missing = system(line);
	}
	cr_expect_eq(missing, 0, "these are not told");
	exported_end(&x);
}

/* promtool reads only the old format. */
Test(exporter, a_strict_parser_of_openmetrics_takes_all_of_it)
{
	static const char *const sessions[] = {"--sessions", "--services", NULL};
	static const char program[] =
		"/usr/bin/python3 -c '"
		"import sys; from prometheus_client.openmetrics.parser import *; "
		"names = [f.name for f in text_string_to_metric_families(sys.stdin.read())]; "
		"sys.exit(not \"quoit_session_latency_seconds\" in names)'";
	struct http_answer a;
	struct exporter e;
	struct client c;
	FILE *to;

	if (system("/usr/bin/python3 -c 'import prometheus_client' 2>/dev/null"))
		cr_skip_test("python3-prometheus-client is missing");
	open_session(&c);
	exporter_start(&e, c.d.socket, sessions, NULL);
	exporter_metrics(&e, OPENMETRICS, &a);
	to = popen(program, "w");
	cr_assert(to);
	fputs(a.body, to);
	cr_expect_eq(pclose(to), 0, "%s", a.body);
	http_free(&a);
	exporter_stop(&e);
	client_close(&c);
}

/* ---- requests ---- */

struct request {
	char text[160];
	int status;
	char body[48]; /* the answer begins with this */
};

ParameterizedTestParameters(exporter, only_what_is_there_is_answered)
{
	static struct request rows[] = {
		{"GET / HTTP/1.0\r\n\r\n", 200, "quoit exporter: the metrics"},
		{"GET /metrics?x=y HTTP/1.1\r\nHost: localhost\r\n\r\n", 200,
		 "# TYPE quoit_up gauge"},
		{"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 200, ""},
		{"GET /metrics/ HTTP/1.0\r\n\r\n", 404, "quoit exporter: the metrics"},
		{"GET /metricsx HTTP/1.0\r\n\r\n", 404, "quoit exporter: the metrics"},
		{"GET /../../etc/passwd HTTP/1.0\r\n\r\n", 404, "quoit exporter: the metrics"},
		{"POST /metrics HTTP/1.0\r\nContent-Length: 9\r\n\r\nx", 405,
		 "quoit exporter: only"},
		{"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", 405,
		 "quoit"},
		{"DELETE /metrics HTTP/1.0\r\n\r\n", 405, "quoit exporter: only"},
		{"get /metrics HTTP/1.0\r\n\r\n", 405, "quoit exporter: only"},
	};

	return cr_make_param_array(struct request, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct request *row, exporter, only_what_is_there_is_answered)
{
	struct http_answer a;
	struct exporter e;

	exporter_start(&e, "/nowhere/quoitd.sock", NULL, "/dev/null");
	http_send(e.port, row->text, &a);
	cr_expect_eq(a.status, row->status, "%s: %d %s", row->text, a.status, a.head);
	cr_expect_eq(strncmp(a.body, row->body, strlen(row->body)), 0, "%s: %s", row->text, a.body);
	cr_expect((row->status == 405) == !!strstr(a.head, "\r\nAllow: GET, HEAD"), "%s", a.head);
	if (!strncmp(row->text, "HEAD", 4))
		cr_expect_str_eq(a.body, "");
	http_free(&a);
	exporter_stop(&e);
}

/* ---- compressed ---- */

static void inflate_body(const struct http_answer *a, char *ret, size_t size)
{
	z_stream z = {.next_in = (Bytef *)a->body,
		      .avail_in = (uInt)a->bytes,
		      .next_out = (Bytef *)ret,
		      .avail_out = (uInt)size - 1};

	cr_assert_eq(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	cr_expect_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	cr_expect_eq(z.avail_in, 0, "and nothing behind it");
	ret[z.total_out] = '\0';
	inflateEnd(&z);
}

Test(exporter, who_takes_gzip_gets_the_same_text_compressed)
{
	static const char *const takers[] = {"*/*\r\nAccept-Encoding: gzip", OPENMETRICS
					     "\r\nAccept-Encoding: deflate, GZIP;q=0.5"};
	static char text[HTTP_MOST];
	struct exporter e;
	struct daemon d;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	exporter_start(&e, d.socket, NULL, NULL);
	for (unsigned i = 0; i < sizeof takers / sizeof takers[0]; i++) {
		struct http_answer a;

		exporter_metrics(&e, takers[i], &a);
		cr_expect(strstr(a.head, "\r\nContent-Encoding: gzip\r\n"), "%s", a.head);
		cr_expect(strstr(a.head, "\r\nVary: Accept, Accept-Encoding\r\n"), "%s", a.head);
		inflate_body(&a, text, sizeof text);
		cr_expect_eq(exporter_value(text, "quoit_up"), 1, "%s", text);
		cr_expect_eq(strcmp(text + strlen(text) - 6, "# EOF\n") == 0, i == 1, "%s", text);
		cr_expect_lt(a.bytes * 3, strlen(text), "%zu bytes of %zu", a.bytes, strlen(text));
		http_free(&a);
	}
	exporter_stop(&e);
	daemon_stop(&d);
}

Test(exporter, who_does_not_take_gzip_gets_it_plain)
{
	static const char *const others[] = {"*/*\r\nAccept-Encoding: gzip;q=0", "*/*",
					     "*/*\r\nAccept-Encoding: x-gzip, br"};
	struct exporter e;

	exporter_start(&e, "/nowhere/quoitd.sock", NULL, "/dev/null");
	for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
		struct http_answer a;

		exporter_metrics(&e, others[i], &a);
		cr_expect_not(strstr(a.head, "Content-Encoding"), "%s", a.head);
		cr_expect_eq(exporter_value(a.body, "quoit_up"), 0, "%s", a.body);
		http_free(&a);
	}
	exporter_stop(&e);
}

/* ---- host names ---- */

/* A page at evil.example, which resolves to 127.0.0.1, makes a browser ask like this. */
Test(exporter, only_its_own_names_are_answered)
{
	static const char *const options[] = {"--host=mon.example,other.example", NULL};
	static const struct {
		const char *host;
		int status;
	} rows[] = {
		{"127.0.0.1:%u", 200},    {"localhost:%u", 200},    {"[::1]:%u", 200},
		{"10.1.2.3", 200},        {"MON.example.:%u", 200}, {"other.example", 200},
		{"evil.example:%u", 421}, {"evil.example", 421},    {"localhost.evil.example", 421},
		{"127.0.0.1.evil", 421},  {"[evil]:%u", 421},       {":%u", 421},
	};
	static const char *const paths[] = {"/metrics", "/", "/nothing"};
	struct exporter e;

	exporter_start(&e, "/nowhere/quoitd.sock", options, "/dev/null");
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		for (unsigned p = 0; p < sizeof paths / sizeof paths[0]; p++) {
			int status = rows[i].status == 200 && p == 2 ? 404 : rows[i].status;
			char host[80], request[256];
			struct http_answer a;

			snprintf(host, sizeof host, rows[i].host, e.port);
			snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n",
				 paths[p], host);
			http_send(e.port, request, &a);
			cr_expect_eq(a.status, status, "%s of %s: %d", paths[p], host, a.status);
			cr_expect(status != 421 || !strstr(a.body, "quoit_"), "%s", a.body);
			http_free(&a);
		}
	}
	exporter_stop(&e);
}

/* ---- strangers ---- */

static void expect_served(const struct exporter *e)
{
	struct http_answer a;

	exporter_metrics(e, NULL, &a);
	cr_expect(strstr(a.body, "quoit_up 0\n"), "%s", a.body);
	http_free(&a);
}

Test(exporter, a_request_without_end_is_refused)
{
	static const char start[] = "GET /metrics HTTP/1.0\r\nX: ";
	char *request = malloc(1 << 20);
	struct http_answer a;
	struct exporter e;

	cr_assert(request);
	memset(request, 'x', (1 << 20) - 1);
	memcpy(request, start, sizeof start - 1);
	request[(1 << 20) - 1] = '\0';
	exporter_start(&e, "/nowhere/quoitd.sock", NULL, "/dev/null");
	http_send(e.port, request, &a);
	cr_expect(a.status == 0 || (a.status >= 400 && a.status < 500), "%d", a.status);
	http_free(&a);
	memset(request, '/', 1 << 20);
	memcpy(request, "GET ", 4);
	request[(1 << 20) - 1] = '\0';
	http_send(e.port, request, &a);
	cr_expect(a.status == 0 || (a.status >= 400 && a.status < 500), "%d", a.status);
	http_free(&a);
	expect_served(&e);
	exporter_stop(&e);
	free(request);
}

/* So many that serving them one after the other would take longer than our limit. */
#define HANGING 600

Test(exporter, connections_that_hang_keep_nobody_away)
{
	static const char *const halves[] = {"", "G", "GET /metrics HT",
					     "GET /metrics HTTP/1.0\r\nAccept: "};
	struct exporter e;
	int fds[HANGING];

	exporter_start(&e, "/nowhere/quoitd.sock", NULL, "/dev/null");
	for (int i = 0; i < HANGING; i++) {
		const char *half = halves[i % 4];

		fds[i] = http_connect(e.port);
		cr_assert_geq(fds[i], 0, "%d: %s", i, strerror(-fds[i]));
		/* The exporter may have ended it already, to make room, before it says anything. */
		cr_assert(send(fds[i], half, strlen(half), MSG_NOSIGNAL) == (ssize_t)strlen(half) ||
				  errno == EPIPE || errno == ECONNRESET,
			  "%d: %s", i, strerror(errno));
	}
	expect_served(&e);
	expect_served(&e);
	for (int i = 0; i < HANGING; i++)
		close(fds[i]);
	exporter_stop(&e);
}

/* A byte now and then would defeat a time-out that only counts silence. */
Test(exporter, a_request_that_comes_byte_by_byte_is_ended)
{
	struct exporter e;
	int fd, i = 0;
	char byte;

	exporter_start(&e, "/nowhere/quoitd.sock", NULL, "/dev/null");
	fd = http_connect(e.port);
	cr_assert_geq(fd, 0);
	(void)send(fd, "GET /", 5, MSG_NOSIGNAL);
	while (i < 600 && send(fd, "x", 1, MSG_NOSIGNAL) == 1 &&
	       recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
		usleep(100000);
		i++;
	}
	cr_expect_lt(i, 600, "it is let go on for a minute");
	close(fd);
	expect_served(&e);
	exporter_stop(&e);
}

/* ---- the command line ---- */

Test(exporter, words_that_make_no_sense_are_named)
{
	static const char *const rows[][2] = {
		{"--listen localhost:80", "'localhost:80': expected ADDRESS:PORT"},
		{"--listen 127.0.0.1:70000", "'127.0.0.1:70000'"},
		{"--lisen x", "did you mean '--listen'?"},
		{"--host a/b", "invalid host name 'a/b'"},
		{"--most 0", "number of sessions '0' (1 to 256)"},
		{"--most 257", "number of sessions '257' (1 to 256)"},
		{"9090", "unexpected argument '9090'"},
	};
	char said[4096];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "exporter %s", rows[i][0]), 2, "%s",
			     rows[i][0]);
		cr_expect(strstr(said, rows[i][1]), "%s: %s", rows[i][0], said);
	}
}

Test(exporter, a_port_that_is_taken_is_said)
{
	struct exporter e;
	char said[4096];

	exporter_start(&e, "/nowhere/quoitd.sock", NULL, "/dev/null");
	cr_expect_eq(tool_run(said, sizeof said, "exporter --listen=127.0.0.1:%u", e.port), 1);
	cr_expect(strstr(said, "Address already in use"), "%s", said);
	exporter_stop(&e);
}
