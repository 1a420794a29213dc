/* SPDX-License-Identifier: MIT */
/*
 * test_named_waits.c - the tools say for what a session waits of others: programs with one cause
 * each, and programs that look as if they had it
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <quoit/ctl.h>

#include "clock.h"
#include "offer.h"
#include "parties.h"
#include "recording.h"
#include "rounds.h"
#include "tool.h"
#include "users.h"

TestSuite(named_waits, .timeout = 300);

#define PATIENCE_MS 60000
#define ROUNDS      20
#define ROUND_US    20000

/* ---- what the tools say ---- */

static char said[65536];

static uint64_t session_of(struct quoit_session *s)
{
	struct quoit_info info;

	quoit_get_info(s, &info);
	return info.session;
}

/* Run a tool until it says these words: quoitd publishes a few times a second. */
static bool says(const struct daemon *d, const char *words, const char *line)
{
	for (unsigned ms = 0; ms < PATIENCE_MS; ms += 20) {
		(void)tool_run(said, sizeof said, "%s --socket=%s", line, d->socket);
		if (strstr(said, words))
			return true;
		usleep(20000);
	}
	return false;
}

/* The page of a session in `quoit top` names this limit, and has its share of the time. */
static void expect_limit(const struct daemon *d, struct quoit_session *s, const char *words)
{
	char line[64], all[256];
	const char *at;
	int percent = 0;

	snprintf(line, sizeof line, "top --batch -n1 --session=%" PRIu64, session_of(s));
	snprintf(all, sizeof all, "Limited by %s", words);
	cr_assert(says(d, all, line), "not '%s': %s", all, said);
	at = strstr(strstr(said, all), " for ");
	while (at && sscanf(at, " for %d%% of the time", &percent) != 1)
		at = strstr(at + 1, " for ");
	cr_assert(at, "%s", said);
	cr_expect(percent >= 25 && percent <= 100, "%d", percent);
}

static void expect_other_limit(const struct daemon *d, struct quoit_session *s,
			       const char *not_words)
{
	char line[64];

	usleep(300000); /* so that all that was done is told */
	snprintf(line, sizeof line, "top --batch -n1 --session=%" PRIu64, session_of(s));
	cr_assert(says(d, "Limited by ", line), "%s", said);
	cr_expect_not(strstr(said, not_words), "%s", said);
}

/* What `quoit ps` says of the session in these columns. */
static void expect_ps(const struct daemon *d, struct quoit_session *s, const char *columns,
		      const char *words)
{
	char line[128];

	snprintf(line, sizeof line, "ps --no-headers -o session,%s", columns);
	for (unsigned ms = 0; ms < PATIENCE_MS; ms += 20) {
		char wanted[128], found[128] = "";
		const char *at;

		(void)tool_run(said, sizeof said, "%s --socket=%s", line, d->socket);
		for (at = said; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
			if (strtoull(at, NULL, 10) == session_of(s))
				snprintf(found, sizeof found, "%.*s", (int)strcspn(at, "\n"), at);
		snprintf(wanted, sizeof wanted, "%" PRIu64 " %s", session_of(s), words);
		for (char *c = found; *c; c++) /* one blank each */
			while (c[0] == ' ' && (c[1] == ' ' || c == found))
				memmove(c, c + 1, strlen(c));
		if (!strncmp(found, wanted, strlen(wanted)))
			return;
		usleep(20000);
	}
	cr_assert_fail("not '%s': %s", words, said);
}

/* ---- what quoitd counts ---- */

static struct quoit_session_latency latency_of(const struct daemon *d, struct quoit_session *s)
{
	static struct quoit_session_latency l;
	char name[160];
	int fd;

	snprintf(name, sizeof name, "%s/private/sessions/latency.%" PRIu64, d->folder,
		 session_of(s));
	fd = open(name, O_RDONLY);
	cr_assert_geq(fd, 0, "%s", name);
	cr_assert_eq(read(fd, &l, sizeof l), sizeof l);
	close(fd);
	return l;
}

/* Milliseconds that the session stalled for what has this name, once it has no open job. */
static double stalled_ms(const struct daemon *d, struct quoit_session *s, const char *name)
{
	struct quoit_session_latency l;
	double ms = 0;

	for (unsigned tries = 0; tries < 100; tries++, usleep(10000)) /* all is told by then */
		if (!daemon_session_counter(d, session_of(s), QUOIT_SESSION_RUNNING) && tries > 20)
			break;
	l = latency_of(d, s);
	for (unsigned i = 0; i < QUOIT_MAX_SERVICES; i++)
		if (!strcmp(l.named_wait[i].name, name))
			ms += 1e3 * (double)(l.named_wait[i].ticks[0] + l.named_wait[i].ticks[1]) /
			      (double)l.header.tsc_hz;
	return ms;
}

/* ---- locks ---- */

static int hold_lock(struct party *p, int argument)
{
	(void)argument;
	p->number = quoit_open_lock(p->s, PARTIES_NAME, NULL);
	return p->number < 0 ? p->number : quoit_run(p->q, quoit_lock(p->number, 0), SOON_MS);
}

Test(named_waits, who_holds_the_lock_is_named_while_others_wait)
{
	struct fixture f = begin();
	struct party a = party_open(&f.d);
	pid_t holder = party_fork(&f.d, 0, hold_lock, 0);
	char words[128];

	a.number = party_number(quoit_open_lock(a.s, PARTIES_NAME, NULL));
	(void)party_start(&a, quoit_lock(a.number, 0));
	snprintf(words, sizeof words, "waits for the lock it of PID %d for ", holder);
	expect_limit(&f.d, a.s, words);
	expect_ps(&f.d, a.s, "state,wait,named,limit", "queued lock 1 lock");
	party_kill(holder);
	quoit_close(a.s, QUOIT_CLOSE_CANCEL);
	end(&f);
}

/* Both have it in turn, for as long as the test looks. */
static void lock_in_turn(void *arg)
{
	struct parties *t = arg;
	quoit_job job;

	cr_assert_eq(quoit_run(t->a.q, quoit_lock(t->a.number, 0), SOON_MS), 0);
	job = party_start(&t->b, quoit_lock(t->b.number, 0));
	usleep(ROUND_US);
	cr_assert_eq(quoit_run(t->a.q, quoit_unlock(t->a.number, 0), SOON_MS), 0);
	cr_assert_eq(quoit_wait(t->b.q, job, SOON_MS), 0);
	cr_assert_eq(quoit_run(t->b.q, quoit_unlock(t->b.number, 0), SOON_MS), 0);
}

Test(named_waits, waits_for_a_lock_that_are_over_count)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	struct rounds r;

	rounds_begin(&r, lock_in_turn, &t);
	expect_limit(&t.f.d, t.b.s, "waits for the lock it");
	rounds_end(&r);
	parties_end(&t);
}

Test(named_waits, lock_that_nobody_else_wants_is_no_limit)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 1u << 20);

	for (unsigned i = 0; i < 10 * ROUNDS; i++) {
		cr_assert_eq(quoit_push(t.a.q, quoit_lock(t.a.number, x)), 0);
		cr_assert_eq(quoit_push(t.a.q, quoit_fill(x, i)), 0);
		cr_assert_eq(quoit_push(t.a.q, quoit_unlock(t.a.number, x)), 0);
	}
	cr_assert_eq(quoit_wait_all(t.a.q, QUOIT_FOREVER), 0);
	expect_other_limit(&t.f.d, t.a.s, "the lock");
	parties_end(&t);
}

Test(named_waits, wait_for_a_condition_is_not_one_for_its_lock)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);

	cr_assert_eq(quoit_run(t.a.q, quoit_lock(t.a.number, 0), SOON_MS), 0);
	(void)party_start(&t.a, quoit_wait_condition(t.a.number, 0, 0));
	expect_limit(&t.f.d, t.a.s, "waits for a condition of the lock it for ");
	parties_end(&t);
}

/* ---- flags, semaphores, barriers ---- */

Test(named_waits, flag_that_is_not_set_is_named)
{
	struct parties t = parties_begin_with(quoit_open_flag, NULL);

	(void)party_start(&t.a, quoit_wait_flag(t.a.number, 0));
	expect_limit(&t.f.d, t.a.s, "waits for the flag it for ");
	expect_ps(&t.f.d, t.a.s, "state,wait,named,limit", "queued flag 1 flag");
	parties_end(&t);
}

/* A wait that is always there, as for a sign to stop: the program works all the time. */
Test(named_waits, wait_beside_the_work_is_no_limit)
{
	struct parties t = parties_begin_with(quoit_open_flag, NULL);
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 1u << 20);
	quoit_job stop = party_start(&t.a, quoit_wait_flag(t.a.number, 0));

	for (unsigned i = 0; i < 50 * ROUNDS; i++)
		cr_assert_eq(quoit_push(t.a.q, quoit_exp(x, x)), 0);
	cr_assert_eq(quoit_wait_tensor(t.a.q, x, QUOIT_FOREVER), 0);
	cr_assert_eq(quoit_run(t.b.q, quoit_set_flag(t.b.number, 0), SOON_MS), 0);
	cr_assert_eq(quoit_wait(t.a.q, stop, SOON_MS), 0);
	expect_other_limit(&t.f.d, t.a.s, "the flag");
	parties_end(&t);
}

/* The flag is set while a long job runs: the session did not wait for it. */
Test(named_waits, waits_that_end_beside_a_long_job_are_no_stall)
{
	struct parties t = parties_begin_with(quoit_open_flag, NULL);
	struct client c = {.s = t.a.s, .q = t.a.q};
	struct quoit_sqe giant = client_giant(&c);
	quoit_job flag = party_start(&t.a, quoit_wait_flag(t.a.number, 0));
	quoit_job job = party_start(&t.a, giant);
	const double began = clock_ms();
	double all_ms;

	usleep(5 * ROUND_US);
	cr_assert_eq(quoit_run(t.b.q, quoit_set_flag(t.b.number, 0), SOON_MS), 0);
	cr_assert_eq(quoit_wait(t.a.q, flag, SOON_MS), 0);
	all_ms = clock_ms() - began;
	if (quoit_get_result(t.a.q, job) != -EINPROGRESS)
		cr_skip("the job has ended before the flag was set");
	cr_assert_eq(quoit_wait(t.a.q, job, QUOIT_FOREVER), 0);
	cr_expect_lt(stalled_ms(&t.f.d, t.a.s, PARTIES_NAME), all_ms / 2);
	parties_end(&t);
}

/* Such jobs run when they are fetched: at no look is one open. */
Test(named_waits, wait_beside_small_jobs_is_no_stall)
{
	struct parties t = parties_begin_with(quoit_open_flag, NULL);
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 4);
	quoit_job flag = party_start(&t.a, quoit_wait_flag(t.a.number, 0));
	const double began = clock_ms();
	double worked = 0, last, all;

	for (last = began; worked < 500; last = clock_ms()) {
		cr_assert_eq(quoit_push(t.a.q, quoit_fill(x, 1)), 0);
		cr_assert_eq(quoit_wait_tensor(t.a.q, x, QUOIT_FOREVER), 0);
		if (clock_ms() - last < 5)
			worked += clock_ms() - last;
	}
	cr_assert_eq(quoit_run(t.b.q, quoit_set_flag(t.b.number, 0), SOON_MS), 0);
	cr_assert_eq(quoit_wait(t.a.q, flag, SOON_MS), 0);
	all = clock_ms() - began;
	/* while the machine stood still, the session may have done nothing but wait */
	cr_expect_lt(stalled_ms(&t.f.d, t.a.s, PARTIES_NAME), all - worked / 2);
	parties_end(&t);
}

/* Jobs wait for what the program holds; the flag would come next. */
static void hold_on(void *arg)
{
	struct party *p = arg;
	const struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, N}};
	quoit_tensor x = quoit_create(p->q, &shape, QUOIT_CREATE_SHARED);
	void *at;

	cr_assert_eq(quoit_acquire(p->q, x, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at), 0);
	cr_assert_eq(quoit_push(p->q, quoit_add_int(x, x, 1)), 0);
	cr_assert_eq(quoit_flush(p->q), 0);
	usleep(ROUND_US);
	cr_assert_eq(quoit_release_tensor(p->q, x), 0);
	cr_assert_eq(quoit_wait_tensor(p->q, x, QUOIT_FOREVER), 0);
	cr_assert_eq(quoit_free(p->q, x), 0);
}

Test(named_waits, wait_is_not_blamed_for_what_the_program_holds)
{
	struct parties t = parties_begin_with(quoit_open_flag, NULL);
	struct rounds r;

	(void)party_start(&t.a, quoit_wait_flag(t.a.number, 0));
	rounds_begin(&r, hold_on, &t.a);
	expect_limit(&t.f.d, t.a.s, "data held by the program at test_named_waits.c:");
	rounds_end(&r);
	parties_end(&t);
}

/* While the program holds what a job waits for, the flag is not what the session waits for. */
Test(named_waits, session_whose_program_holds_does_not_stall)
{
	const struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, N}};
	struct parties t = parties_begin_with(quoit_open_flag, NULL);
	quoit_tensor x = quoit_create(t.a.q, &shape, QUOIT_CREATE_SHARED);
	struct quoit_session_latency l;
	void *at;

	(void)party_start(&t.a, quoit_wait_flag(t.a.number, 0));
	cr_assert_eq(quoit_acquire(t.a.q, x, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at), 0);
	(void)party_start(&t.a, quoit_add_int(x, x, 1));
	expect_ps(&t.f.d, t.a.s, "data,named", "1 1");
	usleep(200000);
	l = latency_of(&t.f.d, t.a.s);
	cr_expect_eq(l.named_now.ticks, 0);
	cr_assert_eq(quoit_release_tensor(t.a.q, x), 0);
	parties_end(&t);
}

/* It waits for a flag, too, but each time it goes on when it gets the lock. */
Test(named_waits, wait_that_lasts_is_not_blamed_for_others)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	int a = party_number(quoit_open_flag(t.a.s, "stop", NULL));
	int b = party_number(quoit_open_flag(t.b.s, "stop", NULL));
	quoit_job flag = party_start(&t.b, quoit_wait_flag(b, 0));
	double lock_ms, flag_ms;

	for (unsigned i = 0; i < ROUNDS; i++)
		lock_in_turn(&t);
	cr_assert_eq(quoit_run(t.a.q, quoit_set_flag(a, 0), SOON_MS), 0);
	cr_assert_eq(quoit_wait(t.b.q, flag, SOON_MS), 0);
	lock_ms = stalled_ms(&t.f.d, t.b.s, PARTIES_NAME);
	flag_ms = stalled_ms(&t.f.d, t.b.s, "stop");
	cr_expect_gt(lock_ms, ROUNDS * ROUND_US / 2e3);
	cr_expect_lt(flag_ms, lock_ms / 2, "%g of %g", flag_ms, lock_ms);
	parties_end(&t);
}

Test(named_waits, semaphore_that_has_too_few_is_named)
{
	struct parties t =
		parties_begin_with(quoit_open_semaphore, &(struct quoit_sync_params){.value = 1});

	cr_assert_eq(quoit_run(t.b.q, quoit_take(t.b.number, 1, 0), SOON_MS), 0);
	(void)party_start(&t.a, quoit_take(t.a.number, 1, 0));
	expect_limit(&t.f.d, t.a.s, "waits for the semaphore it for ");
	expect_ps(&t.f.d, t.a.s, "state,wait,named,limit", "queued semaphore 1 semaphore");
	parties_end(&t);
}

Test(named_waits, barrier_where_others_are_late_is_named)
{
	struct parties t =
		parties_begin_with(quoit_open_barrier, &(struct quoit_sync_params){.value = 2});

	(void)party_start(&t.a, quoit_arrive(t.a.number, 0));
	expect_limit(&t.f.d, t.a.s, "waits for others at the barrier it for ");
	expect_ps(&t.f.d, t.a.s, "state,wait,named,limit", "queued barrier 1 barrier");
	parties_end(&t);
}

/* ---- queues ---- */

#define MESSAGES 4

Test(named_waits, full_queue_is_the_limit_of_senders)
{
	struct parties t = parties_begin_with(quoit_open_queue,
					      &(struct quoit_sync_params){.value = MESSAGES});
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 16);

	cr_assert_eq(quoit_push(t.a.q, quoit_fill(x, 1)), 0);
	for (unsigned i = 0; i < 2 * MESSAGES; i++)
		(void)party_start(&t.a, quoit_send(t.a.number, x));
	expect_limit(&t.f.d, t.a.s, "waits for room in the queue it, which is full, for ");
	expect_ps(&t.f.d, t.a.s, "state,wait,named,limit", "queued queue 4 queue-full");
	parties_end(&t);
}

Test(named_waits, empty_queue_is_the_limit_of_receivers)
{
	struct parties t = parties_begin_with(quoit_open_queue,
					      &(struct quoit_sync_params){.value = MESSAGES});
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 16);

	(void)party_start(&t.a, quoit_receive(t.a.number, x));
	expect_limit(&t.f.d, t.a.s, "waits for messages of the queue it, which is empty, for ");
	expect_ps(&t.f.d, t.a.s, "state,wait,named,limit", "queued queue 1 queue-empty");
	parties_end(&t);
}

/* The receiver is the slow one: it never waits, and its sender does. */
Test(named_waits, who_finds_messages_is_not_limited_by_the_queue)
{
	struct parties t = parties_begin_with(quoit_open_queue,
					      &(struct quoit_sync_params){.value = MESSAGES});
	quoit_tensor x = quoit_create_vector(t.a.q, QUOIT_F32, 16);
	quoit_tensor y = quoit_create_vector(t.b.q, QUOIT_F32, 16);
	quoit_tensor large = quoit_create_vector(t.b.q, QUOIT_F32, 1u << 20);

	cr_assert_eq(quoit_push(t.a.q, quoit_fill(x, 1)), 0);
	for (unsigned i = 0; i < 2 * ROUNDS + 2 * MESSAGES; i++)
		cr_assert_eq(quoit_push(t.a.q, quoit_send(t.a.number, x)), 0);
	cr_assert_eq(quoit_flush(t.a.q), 0);
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		cr_assert_eq(quoit_run(t.b.q, quoit_receive(t.b.number, y), SOON_MS), 0);
		for (unsigned k = 0; k < 10; k++)
			cr_assert_eq(quoit_push(t.b.q, quoit_exp(large, large)), 0);
		cr_assert_eq(quoit_wait_tensor(t.b.q, large, QUOIT_FOREVER), 0);
	}
	expect_other_limit(&t.f.d, t.b.s, "the queue");
	expect_limit(&t.f.d, t.a.s, "waits for room in the queue it, which is full, for ");
	parties_end(&t);
}

/* ---- who sees what ---- */

/* As this user: lock what has this name, or wait for it for ever.  Returns its PID. */
static pid_t lock_as(const struct daemon *d, uid_t uid, const char *name, bool waits)
{
	const struct quoit_sync_params params = {.mode = uid == USERS_ALICE ? QUOIT_SERVE_OTHERS
									    : 0};
	int ready[2];
	char byte = 0;
	pid_t pid;

	cr_assert_eq(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct party p;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setgroups(0, NULL) < 0 || setgid(uid) < 0 || setuid(uid) < 0)
			_exit(2);
		p = party_open(d);
		p.number = party_number(quoit_open_lock(p.s, name, &params));
		if (waits)
			(void)party_start(&p, quoit_lock(p.number, 0));
		else if (quoit_run(p.q, quoit_lock(p.number, 0), SOON_MS) < 0)
			_exit(3);
		if (write(ready[1], &byte, 1) != 1)
			_exit(4);
		for (;;)
			pause();
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* What top says of this session to this user, once it names the lock. */
static void expect_said(const struct daemon *d, uid_t uid, const char *session, const char *words)
{
	const char *const line[] = {"quoit", "top",      "--batch", "-n1",
				    session, "--socket", d->socket, NULL};

	for (unsigned ms = 0; ms < PATIENCE_MS; ms += 20) {
		(void)users_run(uid, uid, said, sizeof said, line);
		if (strstr(said, words))
			return;
		usleep(20000);
	}
	cr_assert_fail("to %u, not '%s': %s", uid, words, said);
}

/* Who waits sees for what; only the lock's user, and root, see whose it is. */
Test(named_waits, holder_is_told_to_those_who_may_know_it)
{
	pid_t alice, bob;
	struct daemon d;
	char words[64];

	users_start(&d, NULL);
	alice = lock_as(&d, USERS_ALICE, "it", false);
	bob = lock_as(&d, USERS_BOB, "4000001/it", true);
	expect_said(&d, USERS_BOB, "--session=2", "Limited by waits for the lock 4000001/it for ");
	snprintf(words, sizeof words, "waits for the lock 4000001/it of PID %d for ", alice);
	expect_said(&d, 0, "--session=2", words);
	expect_said(&d, USERS_BOB, "--session=2", "Limited by waits for the lock 4000001/it for ");
	party_kill(bob);
	party_kill(alice);
	daemon_stop(&d);
}

/* ---- services ---- */

struct served {
	struct fixture f;
	struct party a;
	struct offer *o;
	pid_t server;
	struct quoit_service *service;
};

static struct served serve(unsigned lanes)
{
	const struct quoit_serve_params params = {.lanes = lanes};
	struct served s = {.f = begin(), .o = offer_make()};

	s.a = party_open(&s.f.d);
	s.server = offer_serve(s.o, s.f.d.socket, "fft", &params, (struct offer_who){0});
	cr_assert_eq(quoit_open_service(s.a.s, "fft", QUOIT_SERVICE_MOST_MS, &s.service), 0, "%s",
		     quoit_open_text());
	return s;
}

static void end_served(struct served *s)
{
	if (s->server)
		offer_end(s->server);
	quoit_close(s->a.s, QUOIT_CLOSE_CANCEL);
	end(&s->f);
	offer_free(s->o);
}

static struct quoit_sqe call(const struct served *s, const char *name, uint64_t scalar)
{
	int function = quoit_find_service_function(s->service, name);

	cr_assert_geq(function, 0);
	return quoit_with_scalars(quoit_call(function, 0, 0, 0, 0), scalar, 0);
}

Test(named_waits, service_that_is_short_of_threads_is_named_with_their_number)
{
	struct served s = serve(1);

	for (unsigned i = 0; i < 4; i++)
		(void)party_start(&s.a, call(&s, "pass", 0));
	expect_limit(&s.f.d, s.a.s,
		     "waits for the service fft, which has too few threads (1 of 1 busy, 3 calls "
		     "wait), for ");
	expect_ps(&s.f.d, s.a.s, "wait,limit", "service threads");
	end_served(&s);
}

/* Four at a time: one runs, and of the others one waits in the process itself. */
static void call_four(void *arg)
{
	struct served *s = arg;

	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(quoit_push(s->a.q, call(s, "nap", ROUND_US)), 0);
	cr_assert_eq(quoit_wait_all(s->a.q, QUOIT_FOREVER), 0);
}

Test(named_waits, waits_for_threads_that_are_over_count)
{
	struct served s = serve(1);
	struct rounds r;

	rounds_begin(&r, call_four, &s);
	expect_limit(&s.f.d, s.a.s, "waits for the service fft, which has too few threads");
	rounds_end(&r);
	end_served(&s);
}

/* Of calls that wait at a time, each moment counts once. */
Test(named_waits, stall_is_no_longer_than_the_time)
{
	struct served s = serve(1);
	const double began = clock_ms();
	double all_ms, ms;

	for (unsigned i = 0; i < ROUNDS / 4; i++)
		call_four(&s);
	all_ms = clock_ms() - began;
	ms = stalled_ms(&s.f.d, s.a.s, "fft");
	cr_expect_gt(ms, ROUNDS * ROUND_US / 2e3);
	cr_expect_leq(ms, all_ms);
	end_served(&s);
}

/* It is slow, but no call waits: more threads would not help this caller. */
Test(named_waits, service_that_has_threads_enough_is_not_short_of_them)
{
	struct served s = serve(2);

	for (unsigned i = 0; i < ROUNDS; i++)
		cr_assert_eq(quoit_run(s.a.q, call(&s, "nap", ROUND_US), SOON_MS), 0);
	expect_other_limit(&s.f.d, s.a.s, "the service");
	end_served(&s);
}

Test(named_waits, service_that_nobody_serves_is_named)
{
	struct served s = serve(1);

	offer_end(s.server);
	s.server = 0;
	(void)party_start(&s.a, call(&s, "nap", 1));
	expect_limit(&s.f.d, s.a.s, "waits for the service fft, which nobody serves, for ");
	expect_ps(&s.f.d, s.a.s, "state,wait,named,limit", "queued service 1 unserved");
	end_served(&s);
}

/* The process that serves has no jobs of its own. */
Test(named_waits, program_that_serves_is_not_idle)
{
	struct served s = serve(1);
	char line[128];

	(void)party_start(&s.a, call(&s, "pass", 0));
	snprintf(line, sizeof line, "ps --no-headers -o pid,state,serving,lanes -p %d", s.server);
	cr_expect(says(&s.f.d, " serving 1 1\n", line), "%s", said);
	__atomic_store_n(&s.o->open, 1, __ATOMIC_SEQ_CST);
	cr_expect(says(&s.f.d, "idle", line), "%s", said);
	end_served(&s);
}

/* ---- all sessions together ---- */

Test(named_waits, jobs_that_wait_for_others_are_counted_for_the_machine)
{
	struct parties t = parties_begin_with(quoit_open_flag, NULL);

	(void)party_start(&t.a, quoit_wait_flag(t.a.number, 0));
	(void)party_start(&t.b, quoit_wait_flag(t.b.number, 0));
	cr_expect(says(&t.f.d, "\"jobs_waiting_named\":2.0", "stat --json"), "%s", said);
	cr_expect(says(&t.f.d, "2 wait for others", "top --batch -n1"), "%s", said);
	cr_expect_eq(quoit_run(t.f.q,
			       quoit_set_flag(
				       party_number(quoit_open_flag(t.f.s, PARTIES_NAME, NULL)), 0),
			       SOON_MS),
		     0);
	cr_expect(says(&t.f.d, "\"jobs_waiting_named\":0.0", "stat --json"), "%s", said);
	cr_expect_not(strstr(said, "\"calls_per_second\":0.0,"), "%s", said);
	parties_end(&t);
}

/* ---- recordings ---- */

Test(named_waits, trace_and_report_have_each_wait_for_a_lock_by_its_name)
{
	struct parties t = parties_begin_with(quoit_open_lock, NULL);
	struct recording r = recording_begin(&t.f.d, t.b.s);
	unsigned long long n = 0, waited = 0, stalled = 0;
	const char *at;
	char *text;

	for (unsigned i = 0; i < ROUNDS; i++)
		lock_in_turn(&t);
	parties_end(&t);
	recording_end(&r);
	text = recording_read(&r, "trace json", "");
	cr_expect_geq(recording_times(text, "\"waits for lock it\""), ROUNDS);
	cr_expect_eq(recording_times(text, "\"unlock of lock it\""), 2 * ROUNDS);
	cr_expect(strstr(text, "\"waits for others, ring 0\""), "its track");
	free(text);
	text = recording_read(&r, "report", "-o -");
	at = strstr(text, "[\"waits for lock it\",");
	cr_assert(at);
	cr_expect_eq(sscanf(strchr(at, ','), ",%llu,%llu,%llu]", &n, &waited, &stalled), 3, "%.60s",
		     at);
	cr_expect_eq(n, 2 * ROUNDS);
	cr_expect_geq(waited, ROUNDS * ROUND_US * UINT64_C(900));
	cr_expect_geq(stalled, waited / 2);
	cr_expect_leq(stalled, waited);
	free(text);
	recording_remove(&r);
}

Test(named_waits, trace_has_a_track_for_each_process_that_serves)
{
	struct served s = serve(1);
	struct recording r = recording_begin(&s.f.d, s.a.s);
	const uint64_t session = session_of(s.a.s);
	char *text, words[64];

	for (unsigned i = 0; i < ROUNDS / 4; i++)
		call_four(&s);
	end_served(&s);
	recording_end(&r);
	text = recording_read(&r, "trace json", "");
	snprintf(words, sizeof words, "\"service fft, PID %d\"", s.server);
	cr_expect(strstr(text, words), "%s", words);
	snprintf(words, sizeof words, "\"call of session %" PRIu64 "\"", session);
	cr_expect_eq(recording_times(text, words), ROUNDS);
	cr_expect_eq(recording_times(text, "\"call of service fft\""), ROUNDS);
	cr_expect_geq(recording_times(text, "\"waits for service fft\""), ROUNDS / 2);
	free(text);
	recording_remove(&r);
}
