/* SPDX-License-Identifier: MIT */
/*
 * test_ls.c - `quoit ls` and `quoit calls`: their figures are those that the functions and their
 * caller count themselves, and users see what they may
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jansson.h>
#include <quoit/ctl.h>

#include "client.h"
#include "offer.h"
#include "tool.h"
#include "users.h"

#define PATIENCE_MS 60000
#define LANES       3

static char said[65536];

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- what the tools say ---- */

/* The only object that `quoit WORDS --json` prints; NULL: there is none.  The caller frees it. */
static json_t *one_of(const char *socket, const char *words)
{
	json_t *list, *one;

	(void)tool_run(said, sizeof said, "%s --json --socket=%s", words, socket);
	list = json_loads(said, 0, NULL);
	cr_assert(json_is_array(list), "%s: %s", words, said);
	cr_assert_leq(json_array_size(list), 1, "%s", said);
	one = json_incref(json_array_get(list, 0));
	json_decref(list);
	return one;
}

static double number(const json_t *one, const char *key)
{
	const json_t *value = json_object_get(one, key);

	cr_assert(json_is_number(value), "no number %s: %s", key, said);
	return json_number_value(value);
}

/* Ask until this count has this value: quoitd publishes a count a little later than a result. */
static json_t *await(const char *socket, const char *words, const char *key, double wanted)
{
	json_t *one = one_of(socket, words);

	for (unsigned ms = 0; !one || number(one, key) != wanted; ms += 10) {
		cr_assert_lt(ms, PATIENCE_MS, "%s is not %g: %s", key, wanted, said);
		json_decref(one);
		usleep(10000);
		one = one_of(socket, words);
	}
	return one;
}

/* ---- one user ---- */

struct fixture {
	struct client c;
	struct offer *o;
	pid_t server[2];
	struct quoit_service *service;
};

/* Two processes serve "fft", with LANES threads together, and this process calls it. */
static struct fixture begin(void)
{
	struct quoit_serve_params params = {.lanes = 1};
	struct fixture f = {.o = offer_make()};

	client_open(&f.c, NULL, NULL);
	for (unsigned i = 0; i < 2; i++) {
		params.lanes = i ? LANES - 1 : 1;
		f.server[i] = offer_serve(f.o, f.c.d.socket, "fft", &params, (struct offer_who){0});
	}
	cr_assert_eq(quoit_open_service(f.c.s, "fft", 0, &f.service), 0, "%s", quoit_open_text());
	return f;
}

static void end(struct fixture *f)
{
	for (unsigned i = 0; i < 2; i++)
		if (f->server[i])
			offer_end(f->server[i]);
	client_close(&f->c);
	offer_free(f->o);
}

static struct quoit_sqe call(const struct fixture *f, const char *name, uint64_t scalar)
{
	int function = quoit_find_service_function(f->service, name);

	cr_assert_geq(function, 0);
	return quoit_with_scalars(quoit_call(function, 0, 0, 0, 0), scalar, 0);
}

#define NAPS  20
#define FAILS 3

/* One after the other; returns the seconds for which this process had calls out. */
static double run_calls(struct fixture *f)
{
	double began = now_s();
	int err;

	for (unsigned i = 0; i < NAPS + FAILS; i++) {
		quoit_job job = client_start(&f->c, i < NAPS ? call(f, "nap", 2000 + 100 * i)
							     : call(f, "fail", 0));

		err = quoit_wait(f->c.q, job, PATIENCE_MS);
		cr_assert_eq(err, i < NAPS ? 0 : -EDOM, "call %u: %d (%s)", i, err,
			     quoit_error_text(f->c.q));
	}
	return now_s() - began;
}

static void expect_between(double least, double value, double most, const char *what)
{
	/* 1 %: the rate of the TSC is measured */
	cr_expect(value > 0.99 * least && value < 1.01 * most, "%s is %g, not %g to %g: %s", what,
		  value, least, most, said);
}

Test(ls, figures_are_those_that_the_functions_count)
{
	struct fixture f = begin();
	double out_s = run_calls(&f), inside_s = (double)f.o->ns / 1e9, time_s;
	json_t *one = await(f.c.d.socket, "ls", "calls", NAPS + FAILS);

	cr_expect_str_eq(json_string_value(json_object_get(one, "name")), "fft");
	cr_expect_str_eq(json_string_value(json_object_get(one, "mode")), "own");
	cr_expect_eq(number(one, "uid"), geteuid());
	cr_expect_eq(number(one, "servers"), 2);
	cr_expect_eq(number(one, "lanes"), LANES);
	cr_expect_eq(number(one, "callers"), 1);
	cr_expect_eq(number(one, "failed"), FAILS);
	cr_expect_eq(number(one, "waiting"), 0);
	cr_expect_eq(number(one, "running"), 0);
	cr_expect_eq(number(one, "again"), 0);
	time_s = number(one, "time_seconds");
	expect_between(inside_s, time_s, out_s, "the time that calls ran");
	cr_expect_float_eq(number(one, "mean_seconds"), time_s / (NAPS + FAILS), 1e-9);
	json_decref(one);
	end(&f);
}

/* The text of a column of this process's session, by quoit ps. */
static void expect_as_ps(const struct fixture *f, const json_t *one, const char *key)
{
	const char *text = json_string_value(json_object_get(one, key));

	cr_assert_eq(tool_run(said, sizeof said, "ps --socket=%s -p %d -o %s=", f->c.d.socket,
			      (int)getpid(), key),
		     0);
	said[strcspn(said, "\n")] = '\0';
	cr_expect_str_eq(text, said);
}

Test(ls, callers_have_the_figures_that_they_count_themselves)
{
	struct fixture f = begin();
	double out_s = run_calls(&f), inside_s = (double)f.o->ns / 1e9, time_s, waited_s;
	json_t *one = await(f.c.d.socket, "calls fft", "calls", NAPS + FAILS);
	struct quoit_info info;

	quoit_get_info(f.c.s, &info);
	cr_expect_str_eq(json_string_value(json_object_get(one, "service")), "fft");
	cr_expect_eq(number(one, "session"), (double)info.session);
	cr_expect_eq(number(one, "pid"), getpid());
	cr_expect_eq(number(one, "uid"), geteuid());
	cr_expect_eq(number(one, "failed"), FAILS);
	cr_expect_eq(number(one, "waiting"), 0);
	cr_expect_eq(number(one, "running"), 0);
	time_s = number(one, "time_seconds");
	waited_s = number(one, "waited_seconds");
	expect_between(inside_s, time_s, out_s, "the time that calls ran");
	expect_between(0, time_s + waited_s, out_s, "the time that calls were out");
	expect_between((double)f.o->longest_ns / 1e9, number(one, "longest_seconds"), out_s,
		       "the longest call");
	cr_expect_float_eq(number(one, "mean_seconds"), time_s / (NAPS + FAILS), 1e-9);
	cr_expect_float_eq(number(one, "wait_seconds"), waited_s / (NAPS + FAILS), 1e-9);
	expect_as_ps(&f, one, "command");
	expect_as_ps(&f, one, "user");
	json_decref(one);
	end(&f);
}

#define PASSES 10

/* A process may have got more calls than it has threads: then none of these waits for the next. */
static void expect_under_way(const struct fixture *f, const char *words)
{
	json_t *one = one_of(f->c.d.socket, words);

	for (unsigned ms = 0; number(one, "running") + number(one, "waiting") != PASSES; ms += 10) {
		cr_assert_lt(ms, PATIENCE_MS, "there are not %u: %s", PASSES, said);
		json_decref(one);
		usleep(10000);
		one = one_of(f->c.d.socket, words);
	}
	cr_expect_geq(number(one, "running"), LANES, "%s", said);
	cr_expect_eq(number(one, "calls"), 0);
	cr_expect(json_is_null(json_object_get(one, "mean_seconds")), "the mean of nothing");
	json_decref(one);
}

Test(ls, calls_under_way_run_or_wait)
{
	struct fixture f = begin();

	for (unsigned i = 0; i < PASSES; i++)
		cr_assert_eq(quoit_push(f.c.q, call(&f, "pass", 0)), 0);
	cr_assert_eq(quoit_flush(f.c.q), 0);
	for (unsigned ms = 0; __atomic_load_n(&f.o->begun, __ATOMIC_SEQ_CST) < LANES; ms++) {
		cr_assert_lt(ms, PATIENCE_MS);
		usleep(1000);
	}
	expect_under_way(&f, "ls");
	expect_under_way(&f, "calls");
	__atomic_store_n(&f.o->open, 1, __ATOMIC_SEQ_CST);
	cr_expect_eq(quoit_wait_all(f.c.q, PATIENCE_MS), 0);
	json_decref(await(f.c.d.socket, "ls", "running", 0));
	json_decref(await(f.c.d.socket, "calls", "waiting", 0));
	cr_expect_eq(f.o->begun, PASSES);
	end(&f);
}

Test(ls, a_service_is_there_as_long_as_somebody_serves_or_calls_it)
{
	struct fixture f = begin();
	const char *socket = f.c.d.socket;
	json_t *one;

	offer_end(f.server[0]);
	f.server[0] = 0;
	one = await(socket, "ls", "servers", 1);
	cr_expect_eq(number(one, "lanes"), LANES - 1);
	json_decref(one);
	offer_end(f.server[1]);
	f.server[1] = 0;
	one = await(socket, "ls", "servers", 0);
	cr_expect_eq(number(one, "callers"), 1);
	json_decref(one);
	cr_expect_eq(quoit_close_service(f.service), 0);
	for (unsigned ms = 0; (one = one_of(socket, "ls")); ms += 10) {
		cr_assert_lt(ms, PATIENCE_MS, "it is still there: %s", said);
		json_decref(one);
		usleep(10000);
	}
	cr_expect_eq(tool_run(said, sizeof said, "ls --socket=%s", socket), 1);
	cr_expect_eq(tool_run(said, sizeof said, "calls --socket=%s fft", socket), 1);
	cr_expect(strstr(said, "there is no service 'fft'"), "%s", said);
	end(&f);
}

Test(ls, who_holds_a_lock_and_how_many_wait_is_shown)
{
	struct client c;
	struct quoit_session *other;
	struct quoit_ring *q = NULL;
	quoit_job waits;
	json_t *one;
	int lock;

	client_open(&c, NULL, NULL);
	lock = quoit_open_lock(c.s, "ledger", NULL);
	cr_assert_geq(lock, 0, "%s", quoit_open_text());
	cr_expect_eq(quoit_run(c.q, quoit_lock(lock, 0), PATIENCE_MS), 0);
	other = client_session(&c, UINT64_C(1) << 20);
	cr_assert_eq(quoit_open_ring(other, NULL, &q), 0);
	lock = quoit_open_lock(other, "ledger", NULL);
	cr_assert_eq(quoit_start(q, quoit_lock(lock, 0), &waits), 0);
	cr_assert_eq(quoit_flush(q), 0);
	one = await(c.d.socket, "ls", "waiting", 1);
	cr_expect_str_eq(json_string_value(json_object_get(one, "kind")), "lock");
	cr_expect_eq(number(one, "holder"), getpid());
	cr_expect_eq(number(one, "callers"), 2);
	cr_expect_eq(number(one, "calls"), 1);
	cr_expect(json_is_null(json_object_get(one, "servers")), "%s", said);
	json_decref(one);
	cr_expect_eq(quoit_close(other, QUOIT_CLOSE_CANCEL), 0);
	client_close(&c);
}

/* ---- several users ---- */

#define CAROL 4000004u

static void ask(const struct daemon *d, const char *command, uid_t uid, gid_t gid,
		const char *column)
{
	const char *name = strcmp(command, "ls") == 0 ? "name" : "service";
	const char *words[] = {"quoit", command, "--socket", d->socket,      "--sort",
			       name,    "-o",    column,     "--no-headers", NULL};

	(void)users_run(uid, gid, said, sizeof said, words);
	for (char *at = said; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
}

/*
 * Expect that `quoit COMMAND` says this to this user with only this group, with a blank for a
 * newline; quoitd publishes a count a little later than a result.
 */
static void expect_said(const struct daemon *d, const char *command, uid_t uid, gid_t gid,
			const char *column, const char *wanted)
{
	ask(d, command, uid, gid, column);
	for (unsigned ms = 0; ms < 1000 && strcmp(said, wanted) != 0; ms += 10) {
		usleep(10000);
		ask(d, command, uid, gid, column);
	}
	cr_expect_str_eq(said, wanted, "to %u of %u, %s says: %s", uid, gid, command, said);
}

Test(ls, users_see_the_services_that_they_may_call)
{
	const struct quoit_serve_params own = {.lanes = 1},
					group = {.lanes = 1,
						 .mode = QUOIT_SERVE_GROUP,
						 .gid = USERS_GROUP},
					all = {.lanes = 1, .mode = QUOIT_SERVE_OTHERS};
	const struct offer_who alice = {USERS_ALICE, USERS_GROUP};
	struct offer *o = offer_make();
	pid_t server[3], caller[2];
	struct daemon d;

	users_start(&d, NULL);
	server[0] = offer_serve(o, d.socket, "own", &own, alice);
	server[1] = offer_serve(o, d.socket, "team", &group, alice);
	server[2] = offer_serve(o, d.socket, "all", &all, alice);
	expect_said(&d, "ls", USERS_ALICE, USERS_ALICE, "name", "all own team ");
	expect_said(&d, "ls", USERS_ALICE, USERS_ALICE, "mode", "all own group:4000003 ");
	expect_said(&d, "ls", USERS_BOB, USERS_BOB, "name", "4000001/all ");
	expect_said(&d, "ls", USERS_BOB, USERS_GROUP, "name", "4000001/all 4000001/team ");
	expect_said(&d, "ls", 0, 0, "name", "4000001/all 4000001/own 4000001/team ");

	caller[0] = offer_call(d.socket, "4000001/all", 5, (struct offer_who){USERS_BOB, 0});
	caller[1] = offer_call(d.socket, "own", 2, (struct offer_who){USERS_ALICE, 0});
	expect_said(&d, "calls", USERS_ALICE, USERS_ALICE, "uid,calls", "4000002 5 4000001 2 ");
	expect_said(&d, "calls", USERS_BOB, USERS_BOB, "service,uid,calls",
		    "4000001/all 4000002 5 ");
	expect_said(&d, "calls", CAROL, CAROL, "uid", "");
	expect_said(&d, "calls", 0, 0, "uid,calls", "4000002 5 4000001 2 ");
	for (unsigned i = 0; i < 3; i++)
		offer_end(server[i]);
	offer_end(caller[0]);
	offer_end(caller[1]);
	daemon_stop(&d);
	offer_free(o);
}
