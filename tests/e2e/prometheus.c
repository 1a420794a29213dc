/* SPDX-License-Identifier: MIT */
/* prometheus.c - run Prometheus for a test, and ask it */
#include "prometheus.h"

#include <fcntl.h>
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

#include "http.h"

#define PROGRAM  "/usr/bin/prometheus"
#define PATIENCE 1200 /* times 50 ms */

/* rules: NULL: without. */
static void write_config(const struct prometheus *p, unsigned exporter_port, const char *rules)
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
		"  evaluation_interval: 2s\n"
		"%s%s%s"
		"scrape_configs:\n"
		"- job_name: quoit\n"
		"  static_configs:\n"
		"  - targets: ['127.0.0.1:%u']\n",
		rules ? "rule_files: ['" : "", rules ? rules : "", rules ? "']\n" : "",
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

bool prometheus_is_there(void)
{
	return access(PROGRAM, X_OK) == 0;
}

void prometheus_start(struct prometheus *p, unsigned exporter_port, const char *rules)
{
	char log[64];
	FILE *file;

	*p = (struct prometheus){.folder = "/tmp/quoit-prom-XXXXXX"};
	cr_assert(mkdtemp(p->folder));
	write_config(p, exporter_port, rules);
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

void prometheus_stop(struct prometheus *p)
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

size_t prometheus_ask(const struct prometheus *p, const char *expression, double *ret)
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

void prometheus_expect(const struct prometheus *p, const char *expression, double expected)
{
	double value = -1;

	for (int i = 0; i < PATIENCE && value != expected; i++) {
		usleep(50000);
		(void)prometheus_ask(p, expression, &value);
	}
	cr_assert_eq(value, expected, "%s is %f, not %f", expression, value, expected);
}
