/* SPDX-License-Identifier: MIT */
/*
 * test_exporter_alerts.c - alerts about services, locks and queues: programs with one cause each,
 * and programs that look as if they had it
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "exporter.h"
#include "offer.h"
#include "parties.h"
#include "prometheus.h"
#include "rounds.h"

TestSuite(exporter_alerts, .timeout = 600);

#define PATIENCE 1200 /* times 50 ms */
#define ROUND_US 20000

/* ---- the rules, which wait for seconds instead of minutes ---- */

struct watch {
	char rules[32];
	struct exporter e;
	struct prometheus p;
};

/* A minute stays, so that work that a busy machine holds up for seconds is none that is stuck. */
static void hasten(const char *into)
{
	char line[256];

	snprintf(line, sizeof line,
		 "sed -E 's/for: [0-9]+[sm]/for: 3s/; s/\\[[0-9]+m\\]/[1m]/g' "
		 "tools/exporter/alerts.yml >%s",
		 into);
	cr_assert_eq(system(line), 0);
}

static struct watch watch_begin(const struct daemon *d)
{
	static const char *const told[] = {"--services", NULL};
	struct watch w = {.rules = "/tmp/quoit-rules-XXXXXX"};
	int fd = mkstemp(w.rules);

	cr_assert_geq(fd, 0);
	close(fd);
	hasten(w.rules);
	exporter_start(&w.e, d->socket, told, "/dev/null");
	prometheus_start(&w.p, w.e.port, w.rules);
	return w;
}

static void watch_end(struct watch *w)
{
	prometheus_stop(&w->p);
	exporter_stop(&w->e);
	unlink(w->rules);
}

/* This alert of a thing with a name is told, and no other is. */
static void expect_alert(const struct daemon *d, const char *alert, const char *name)
{
	struct watch w = watch_begin(d);
	char query[256];
	double value;

	snprintf(query, sizeof query,
		 "count(ALERTS{alertstate=\"firing\",alertname=\"%s\",name=\"%s\"})", alert, name);
	prometheus_expect(&w.p, query, 1);
	snprintf(query, sizeof query, "ALERTS{alertstate=\"firing\",name!=\"\",alertname!=\"%s\"}",
		 alert);
	cr_expect_eq(prometheus_ask(&w.p, query, &value), 0, "others, too");
	watch_end(&w);
}

/* Prometheus has often seen that calls wait there, and nothing is told. */
static void expect_no_alert(const struct daemon *d, const char *kind)
{
	struct watch w = watch_begin(d);
	char query[256];
	double value = 0;

	snprintf(query, sizeof query,
		 "count_over_time((quoit_object_calls_waiting{kind=\"%s\"} > 0)[10m:1s])", kind);
	for (int i = 0; i < PATIENCE && value < 20; i++, usleep(50000))
		(void)prometheus_ask(&w.p, query, &value);
	cr_expect_geq(value, 20, "%s: %f", query, value);
	cr_expect_eq(prometheus_ask(&w.p, "count_over_time(ALERTS{name!=\"\"}[10m]) > 1", &value),
		     0);
	watch_end(&w);
}

static void need_prometheus(void)
{
	if (!prometheus_is_there())
		cr_skip_test("prometheus is missing");
}

/* ---- locks ---- */

/* It gives up, and tries again: that is no sign that the lock is passed on. */
static void try_lock(void *arg)
{
	struct party *p = arg;

	cr_expect_eq(
		quoit_run(p->q, quoit_with_deadline(quoit_lock(p->number, 0), ROUND_US), SOON_MS),
		-ETIME);
}

Test(exporter_alerts, lock_that_is_not_passed_on_is_told)
{
	struct parties t;
	struct party c;
	struct rounds r;

	need_prometheus();
	t = parties_begin_with(quoit_open_lock, NULL);
	c = party_open(&t.f.d);
	c.number = party_number(quoit_open_lock(c.s, PARTIES_NAME, NULL));
	cr_assert_eq(quoit_run(t.b.q, quoit_lock(t.b.number, 0), SOON_MS), 0);
	(void)party_start(&t.a, quoit_lock(t.a.number, 0));
	rounds_begin(&r, try_lock, &c);
	expect_alert(&t.f.d, "QuoitLockStuck", PARTIES_NAME);
	rounds_end(&r);
	quoit_close(c.s, 0);
	parties_end(&t);
}

static void lock_for_long(void *arg)
{
	struct party *p = arg;

	cr_assert_eq(quoit_run(p->q, quoit_lock(p->number, 0), SOON_MS), 0);
	usleep(ROUND_US);
	cr_assert_eq(quoit_run(p->q, quoit_unlock(p->number, 0), SOON_MS), 0);
}

Test(exporter_alerts, lock_that_is_passed_on_is_not_told)
{
	struct parties t;
	struct rounds a, b;

	need_prometheus();
	t = parties_begin_with(quoit_open_lock, NULL);
	rounds_begin(&a, lock_for_long, &t.a);
	rounds_begin(&b, lock_for_long, &t.b);
	expect_no_alert(&t.f.d, "lock");
	rounds_end(&a);
	rounds_end(&b);
	parties_end(&t);
}

/* Nobody holds the lock meanwhile. */
Test(exporter_alerts, wait_for_a_condition_is_not_told)
{
	struct parties t;

	need_prometheus();
	t = parties_begin_with(quoit_open_lock, NULL);
	cr_assert_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	(void)party_start(&t.a, quoit_wait_condition(t.a.number, 0, 0));
	expect_no_alert(&t.f.d, "lock");
	parties_end(&t);
}

/* ---- queues ---- */

#define MESSAGES 4

static quoit_tensor row(struct party *p)
{
	quoit_tensor x = quoit_create_vector(p->q, QUOIT_F32, 16);

	cr_assert_eq(quoit_push(p->q, quoit_fill(x, 1)), 0);
	return x;
}

static struct parties fill_queue(void)
{
	const struct quoit_sync_params params = {.value = MESSAGES};
	struct parties t = parties_begin_with(quoit_open_queue, &params);
	quoit_tensor x = row(&t.a);

	for (unsigned i = 0; i < 2 * MESSAGES; i++)
		(void)party_start(&t.a, quoit_send(t.a.number, x));
	return t;
}

Test(exporter_alerts, queue_that_stays_full_is_told)
{
	struct parties t;

	need_prometheus();
	t = fill_queue();
	expect_alert(&t.f.d, "QuoitQueueFull", PARTIES_NAME);
	parties_end(&t);
}

/* Receive the oldest and send one more, so that it is always full. */
static void pass_one(void *arg)
{
	struct party *p = arg;
	quoit_tensor x = row(p), y = row(p);

	cr_assert_eq(quoit_push(p->q, quoit_send(p->number, x)), 0);
	cr_assert_eq(quoit_run(p->q, quoit_receive(p->number, y), SOON_MS), 0);
	cr_assert_eq(quoit_free(p->q, x), 0);
	cr_assert_eq(quoit_free(p->q, y), 0);
	usleep(ROUND_US);
}

Test(exporter_alerts, full_queue_that_moves_is_not_told)
{
	struct parties t;
	struct rounds r;

	need_prometheus();
	t = fill_queue();
	rounds_begin(&r, pass_one, &t.b);
	expect_no_alert(&t.f.d, "queue");
	rounds_end(&r);
	parties_end(&t);
}

Test(exporter_alerts, empty_queue_is_not_told)
{
	struct parties t;

	need_prometheus();
	t = parties_begin_with(quoit_open_queue, NULL);
	(void)party_start(&t.a, quoit_receive(t.a.number, row(&t.a)));
	expect_no_alert(&t.f.d, "queue");
	parties_end(&t);
}

/* ---- services ---- */

struct served {
	struct parties t;
	struct offer *o;
	pid_t server;
	struct quoit_service *service;
};

static struct served serve(void)
{
	const struct quoit_serve_params one = {.lanes = 1};
	struct served s = {.t = parties_begin(), .o = offer_make()};

	s.server = offer_serve(s.o, s.t.f.d.socket, "fft", &one, (struct offer_who){0});
	cr_assert_eq(quoit_open_service(s.t.a.s, "fft", QUOIT_SERVICE_MOST_MS, &s.service), 0, "%s",
		     quoit_open_text());
	return s;
}

static void end_served(struct served *s)
{
	parties_end(&s->t);
	offer_end(s->server);
	offer_free(s->o);
}

static void call(struct served *s, const char *name, unsigned calls)
{
	int function = quoit_find_service_function(s->service, name);

	cr_assert_geq(function, 0);
	for (unsigned i = 0; i < calls; i++)
		(void)party_start(
			&s->t.a, quoit_with_scalars(quoit_call(function, 0, 0, 0, 0), ROUND_US, 0));
}

Test(exporter_alerts, service_that_nobody_serves_is_told)
{
	struct served s;

	need_prometheus();
	s = serve();
	offer_end(s.server);
	s.server = 0;
	call(&s, "nap", 3);
	expect_alert(&s.t.f.d, "QuoitServiceUnserved", "fft");
	parties_end(&s.t);
	offer_free(s.o);
}

Test(exporter_alerts, service_of_which_no_call_returns_is_told)
{
	struct served s;

	need_prometheus();
	s = serve();
	call(&s, "pass", 4);
	expect_alert(&s.t.f.d, "QuoitServiceStuck", "fft");
	end_served(&s);
}

#define NAPS 32

static void nap_long(void *arg)
{
	struct party *p = arg;

	for (unsigned i = 0; i < NAPS; i++)
		cr_assert_eq(quoit_push(p->q, quoit_with_scalars(quoit_call(p->number, 0, 0, 0, 0),
								 ROUND_US, 0)),
			     0);
	cr_assert_eq(quoit_wait_all(p->q, QUOIT_FOREVER), 0);
}

Test(exporter_alerts, service_with_a_backlog_is_not_told)
{
	struct served s;
	struct rounds r;

	need_prometheus();
	s = serve();
	s.t.a.number = party_number(quoit_find_service_function(s.service, "nap"));
	rounds_begin(&r, nap_long, &s.t.a);
	expect_no_alert(&s.t.f.d, "service");
	rounds_end(&r);
	end_served(&s);
}
