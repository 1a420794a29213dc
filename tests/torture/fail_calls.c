/* SPDX-License-Identifier: MIT */
/*
 * fail_calls.c - let allocations and system calls of quoitd fail, one after the other
 *
 * It uses the calls of fail_plan.h, during quoitd's start, and while a client has a session, with a
 * module and a device.  The long form tries every call with each of its errnos; the short form
 * tries a few of each function in a session, and some of the start.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl_client.h"
#include "fail_attempt.h"
#include "fail_script.h"

/* The allocator's caches may keep this; a sanitizer's own memory is not quoitd's. */
#ifdef QUOIT_SANITIZE
#define SLACK UINT64_MAX / 2
#else
#define SLACK (UINT64_C(8) << 20)
#endif

#define WARM_SESSIONS 100

static char module[300]; /* quoitd's option */

static void expect_departure(struct stage *s, const struct script *p)
{
	static const uint32_t counters[] = {
		[LEFT] = QUOIT_DAEMON_CLIENTS_LEFT,
		[DIED] = QUOIT_DAEMON_CLIENTS_DIED,
		[ENDED] = QUOIT_DAEMON_KILL_SHORTAGE,
		[REFUSED] = QUOIT_DAEMON_REFUSED_CONNECTIONS,
	};

	if (p->departure != STAYED_OUT)
		stage_expect(s, counters[p->departure], 1);
}

static uint64_t departures(const struct stage *s)
{
	return stage_count(s, QUOIT_DAEMON_CLIENTS_LEFT) +
	       stage_count(s, QUOIT_DAEMON_CLIENTS_DIED) +
	       stage_count(s, QUOIT_DAEMON_KILL_SHORTAGE) +
	       stage_count(s, QUOIT_DAEMON_REFUSED_CONNECTIONS);
}

/* A session goes a moment after its connection. */
static void await_departure(const struct stage *s, uint64_t before)
{
	for (unsigned ms = 0; ms < 60000; ms++) {
		if (departures(s) > before && stage_count(s, QUOIT_DAEMON_SESSIONS_CLOSED) + 1 ==
						      stage_count(s, QUOIT_DAEMON_SESSIONS_OPENED))
			return; /* the canary's session stays */
		usleep(1000);
	}
}

/* ---- every call of a session ---- */

static void check_failure(struct stage *s, const struct script *p, int err, uint64_t nth)
{
	char text[80];
	/*
	 * If nothing can be sent, the reason cannot be, either; quoitd also sends none if it cannot
	 * read.
	 */
	bool mute = attempt_plan()->calls == FAIL_BIT(FAIL_sendmsg) ||
		    attempt_plan()->calls == FAIL_BIT(FAIL_recvmsg);
	bool silent = err == -ECONNRESET && !p->text[0] && !mute;

	if (!CHECK(s, !silent) || !CHECK(s, err >= -4099 && err != -ETIME))
		printf("  %s: %d %s\n", attempt_text(nth, text, sizeof text), err, p->text);
}

/* quoitd may also fail to read that the client has gone. */
static void correct_departure(const struct stage *s, struct script *p, uint64_t shortages)
{
	if (attempt_plan()->failed && attempt_plan()->last == FAIL_recvmsg &&
	    stage_count(s, QUOIT_DAEMON_KILL_SHORTAGE) > shortages)
		p->departure = ENDED;
}

static void check_return(struct stage *s, const struct census *before, uint64_t nth)
{
	struct census now;
	char text[120], call[80];

	for (unsigned ms = 0; ms < 2000; ms += 10) {
		census_take(s->daemon.pid, &now);
		if (census_is_back(before, &now, SLACK, text, sizeof text))
			return;
		usleep(10000);
	}
	printf("  after %s: %s\n", attempt_text(nth, call, sizeof call), text);
	CHECK(s, false);
}

/* Executors hear by sendmsg, too: their jobs wait while it fails. */
static struct script script_for(uint64_t calls)
{
	return (struct script){.alone = calls == FAIL_BIT(FAIL_sendmsg)};
}

/* Run one client while the Nth call fails, and a fresh one afterwards; false: no call failed. */
static bool try_call(struct stage *s, const struct attempt *a)
{
	uint64_t before = departures(s), shortages = stage_count(s, QUOIT_DAEMON_KILL_SHORTAGE);
	uint64_t leased = stage_count(s, QUOIT_DAEMON_HOST_LEASED);
	struct census census;
	struct script p = script_for(a->calls);
	char text[80];
	int err;

	census_take(s->daemon.pid, &census);
	attempt_arm(a);
	err = script_play(&p, s->daemon.socket);
	await_departure(s, before);
	correct_departure(s, &p, shortages);
	expect_departure(s, &p);
	if (err)
		check_failure(s, &p, err, a->nth);
	attempt_disarm();
	before++;
	err = script_play(&p, s->daemon.socket);
	if (!CHECK(s, !err))
		printf("  after %s: %d %s\n", attempt_text(a->nth, text, sizeof text), err, p.text);
	expect_departure(s, &p);
	await_departure(s, before);
	check_return(s, &census, a->nth);
	CHECK(s, stage_count(s, QUOIT_DAEMON_HOST_LEASED) == leased);
	return attempt_plan()->failed;
}

/*
 * The first case runs often, so that every cache is warm, and executors' rings have wrapped around.
 */
static void warm_up(struct stage *s, uint64_t calls)
{
	struct script p = script_for(calls);
	uint64_t before;

	do {
		before = departures(s);
		CHECK(s, !script_play(&p, s->daemon.socket));
		expect_departure(s, &p);
		await_departure(s, before);
	} while (!s->bad && stage_count(s, QUOIT_DAEMON_SESSIONS_OPENED) < WARM_SESSIONS);
	census_take(s->daemon.pid, &s->before);
}

static void try_calls(struct stage *s, uint64_t calls, bool sticky, uint32_t apart)
{
	const struct attempt first = {
		.calls = calls, .nth = 1, .sticky = sticky, .apart = apart, .try = try_call};

	warm_up(s, calls);
	/* The canary must not meet the failures. */
	kill(s->canary.pid, SIGSTOP);
	usleep(20000);
	CHECK(s, attempt_all(s, first) > 2); /* otherwise the module was not there */
	kill(s->canary.pid, SIGCONT);
}

static void session_survives_or_names_a_call_that_fails_once(struct stage *s)
{
	try_calls(s, FAIL_ALL, false, 0);
}

/* Calls that accept, receive and send are left out: they have cases of their own. */
static void session_survives_or_names_calls_that_fail_from_now_on(struct stage *s)
{
	const uint64_t talk =
		FAIL_BIT(FAIL_accept4) | FAIL_BIT(FAIL_recvmsg) | FAIL_BIT(FAIL_sendmsg);

	try_calls(s, FAIL_ALL & ~talk, true, 0);
}

static void requests_that_cannot_be_read_end_the_session(struct stage *s)
{
	try_calls(s, FAIL_BIT(FAIL_recvmsg), true, 3);
}

static void replies_that_cannot_be_sent_end_the_session(struct stage *s)
{
	try_calls(s, FAIL_BIT(FAIL_sendmsg), true, 3);
}

/* ---- every call of the start ---- */

static pid_t start(const char *folder, int *ret_ready, int *ret_log)
{
	const char *build = getenv("QUOIT_BUILD");
	char path[256], socket[128], ready_fd[32];
	int ready[2], log = memfd_create("log", MFD_CLOEXEC);
	pid_t pid;

	snprintf(path, sizeof path, "%s/quoitd", build ? build : "build");
	snprintf(socket, sizeof socket, "--socket=%s/s", folder);
	if (log < 0 || pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	snprintf(ready_fd, sizeof ready_fd, "--ready-fd=%d", ready[1]);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		(void)fcntl(ready[1], F_SETFD, 0);
		dup2(log, STDERR_FILENO);
		attempt_preload(NULL);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, "--private", "--log=error", "--gpu=soft", module, socket,
		      ready_fd, NULL);
		_exit(127);
	}
	close(ready[1]);
	*ret_ready = ready[0];
	*ret_log = log;
	return pid;
}

/*
 * quoitd must start all the same, and end when asked to; or say why not, and exit with 1, unless
 * the message itself failed.
 */
static void check_start(struct stage *s, const char *folder, uint64_t nth)
{
	int ready = -1, log = -1, status = 0;
	char text[512] = "", call[80], byte;
	pid_t pid = start(folder, &ready, &log);
	bool up, mute;

	if (!CHECK(s, pid > 0))
		return;
	up = read(ready, &byte, 1) == 1;
	attempt_disarm();
	mute = attempt_plan()->failed && attempt_plan()->last == FAIL_write;
	if (up || mute)
		kill(pid, SIGTERM);
	CHECK(s, waitpid(pid, &status, 0) == pid);
	(void)!pread(log, text, sizeof text - 1, 0);
	if (!CHECK(s, WIFEXITED(status) && (mute || !WEXITSTATUS(status) == up)) ||
	    !CHECK(s, up || mute || !strncmp(text, "quoitd: ", 8)))
		printf("  %s: wait status %#x, \"%s\"\n", attempt_text(nth, call, sizeof call),
		       (unsigned)status, text);
	close(ready);
	close(log);
}

static bool try_start(struct stage *s, const struct attempt *a)
{
	attempt_arm(a);
	check_start(s, a->folder, a->nth);
	return attempt_plan()->failed;
}

static void try_starts(struct stage *s, bool sticky)
{
	char folder[] = "/tmp/quoit-fail-folder-XXXXXX", path[80];
	const struct attempt first = {.calls = FAIL_ALL,
				      .nth = 1,
				      .sticky = sticky,
				      .apart = 24,
				      .folder = folder,
				      .try = try_start};

	if (!CHECK(s, mkdtemp(folder)))
		return;
	CHECK(s, attempt_all(s, first) > 5);
	snprintf(path, sizeof path, "%s/lock", folder);
	(void)unlink(path);
	CHECK(s, !rmdir(folder)); /* whatever happened, the folder is empty */
}

static void start_survives_or_names_a_call_that_fails_once(struct stage *s)
{
	try_starts(s, false);
}

static void start_survives_or_names_calls_that_fail_from_now_on(struct stage *s)
{
	try_starts(s, true);
}

int main(int argc, char **argv)
{
	static const struct stage_case sessions[] = {
		STAGE_CASE(session_survives_or_names_a_call_that_fails_once),
		STAGE_CASE(session_survives_or_names_calls_that_fail_from_now_on),
		STAGE_CASE(requests_that_cannot_be_read_end_the_session),
		STAGE_CASE(replies_that_cannot_be_sent_end_the_session),
	};
	static const struct stage_case starts[] = {
		STAGE_CASE(start_survives_or_names_a_call_that_fails_once),
		STAGE_CASE(start_survives_or_names_calls_that_fail_from_now_on),
	};
	const char *build = getenv("QUOIT_BUILD");
	const char *const options[] = {"--gpu=soft", "--log=error", module, NULL};
	const struct stage_scene scene = {.options = options, .prepare = attempt_preload};
	struct stage s;

	if (!stage_init(&s, argc, argv) || !attempt_make_plan())
		return 1;
	snprintf(module, sizeof module, "--module=%s/modules/sample.so", build ? build : "build");
	stage_play(&s, &scene, sessions, sizeof sessions / sizeof sessions[0]);
	stage_play_alone(&s, starts, sizeof starts / sizeof starts[0]);
	attempt_done();
	return stage_end(&s);
}
