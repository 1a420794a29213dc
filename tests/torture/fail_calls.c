/* SPDX-License-Identifier: MIT */
/* fail_calls.c - every allocation and system call of quoitd fails, one after the other */
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
#include "fail_plan.h"

/* What allocator caches may keep; a sanitizer's own memory is not quoitd's. */
#ifdef QUOIT_SANITIZE
#define SLACK UINT64_MAX / 2
#else
#define SLACK (UINT64_C(8) << 20)
#endif

static const char *const names[FAIL_NR] = {
#define NAME(name, error) #name,
	FAIL_CALLS(NAME)
#undef NAME
};

/* ---- the plan ---- */

static struct fail_plan *plan;
static char plan_path[64] = "/tmp/quoit-fail-XXXXXX";

static bool make_plan(void)
{
	int fd = mkstemp(plan_path);
	void *map = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof *plan))
		map = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	plan = map;
	return map != MAP_FAILED;
}

static void arm(uint32_t calls, uint64_t nth, bool sticky)
{
	plan->nth = nth;
	plan->sticky = sticky;
	plan->count = plan->failed = 0;
	plan->calls = calls;
}

static void disarm(void)
{
	plan->calls = 0;
}

/*
 * In the process that becomes quoitd.  The module stands before a sanitizer's runtime, which would
 * hide from it who calls; without being told, the runtime takes that for a mistake.
 */
static void preload(const struct daemon *d)
{
	const char *build = getenv("QUOIT_BUILD"), *options = getenv("ASAN_OPTIONS");
	char path[300], asan[500];

	(void)d;
	snprintf(asan, sizeof asan, "%s:verify_asan_link_order=0", options ? options : "");
	setenv("ASAN_OPTIONS", asan, 1);
	snprintf(path, sizeof path, "%s/modules/fail_calls.so", build ? build : "build");
	setenv("LD_PRELOAD", path, 1);
	setenv("FAIL_CALLS", plan_path, 1);
}

/* ---- what a client does while calls fail ---- */

enum departure { STAYED_OUT, LEFT, DIED, ENDED, REFUSED };

struct script {
	struct raw_client c;
	char text[QUOIT_TEXT_BYTES]; /* of a refusal or end */
	enum departure departure;
};

static int call(struct script *p, struct quoit_ctl m, int fd)
{
	struct quoit_ctl answer;
	int err = ctl_ask(p->c.socket, &m, fd, &answer);

	memcpy(p->c.text, answer.text, sizeof p->c.text);
	if (!err && answer.type == QUOIT_CTL_END)
		err = -ECONNRESET;
	return err ? err : answer.result;
}

static int say_hello(struct script *p)
{
	struct quoit_ctl m = ctl_hello();
	int err;

	m.hello.host_bytes = 8 << 20;
	m.hello.pinned_bytes = 1 << 20;
	err = call(p, m, -1);
	if (!err)
		p->departure = DIED;
	return err;
}

/* Jobs that need new pages and tiles. */
static int run_jobs(struct script *p)
{
	enum { BIG = 300000, SMALL = 100 };
	const struct quoit_sqe jobs[] = {
		raw_vector(1, BIG, RAW_ARENA_NOT),
		raw_vector(2, SMALL, RAW_ARENA_NOT),
		{.opcode = QUOIT_OP_UNIFORM, .tensor = {1}, .scalar = {1, 0}},
		{.opcode = QUOIT_OP_UNIFORM, .tensor = {2}, .scalar = {1, 0}},
		raw_job(QUOIT_OP_TANH, 1, 1, 0),
		raw_job(QUOIT_OP_FREE, 1, 0, 0),
		raw_job(QUOIT_OP_FREE, 2, 0, 0),
	};

	for (unsigned i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
		int res = raw_run(&p->c, jobs[i]);

		if (res < 0)
			return res;
	}
	return 0;
}

static int use_session(struct script *p, int file)
{
	struct quoit_ctl rings = ctl_request(QUOIT_CTL_RING_OPEN);
	struct quoit_ctl close_ring = ctl_request(QUOIT_CTL_RING_CLOSE);
	struct quoit_ctl add = ctl_request(QUOIT_CTL_FILE_ADD);
	struct quoit_ctl drop = ctl_request(QUOIT_CTL_FILE_REMOVE);
	struct quoit_ctl leave = ctl_request(QUOIT_CTL_CLOSE);
	int err;

	rings.ring_open = (struct quoit_ring_open){8, 0, QUOIT_RING_STAMPS, 3};
	close_ring.job.ring = 1;
	err = call(p, rings, -1);
	if (!err)
		err = raw_ring_open(&p->c, 8, 0, 0);
	if (!err)
		err = call(p, add, file);
	if (!err)
		err = run_jobs(p);
	if (!err)
		err = call(p, drop, -1);
	if (!err)
		err = call(p, close_ring, -1);
	if (!err) {
		p->departure = LEFT; /* once it is read, whether or not the answer comes */
		err = call(p, leave, -1);
	}
	return err;
}

static int play(struct script *p, const char *socket)
{
	int file = memfd_create("torture", MFD_CLOEXEC);
	int err = raw_connect(&p->c, socket);

	p->departure = STAYED_OUT;
	if (!err) {
		p->departure = LEFT;
		err = say_hello(p);
		if (!err)
			err = use_session(p, file);
		if (err == -ECONNRESET)
			p->departure = strstr(p->c.text, "its ") || !p->c.text[0] ? ENDED : REFUSED;
		memcpy(p->text, p->c.text, sizeof p->text);
		raw_close(&p->c);
	}
	close(file);
	return err;
}

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

/* Sessions come back after their connections. */
static void await_departure(const struct stage *s, uint64_t before)
{
	for (unsigned ms = 0; ms < 60000; ms++) {
		if (departures(s) > before && stage_count(s, QUOIT_DAEMON_SESSIONS_CLOSED) + 1 ==
						      stage_count(s, QUOIT_DAEMON_SESSIONS_OPENED))
			return; /* the canary's is open */
		usleep(1000);
	}
}

/* ---- every call of a session ---- */

static void check_failure(struct stage *s, const struct script *p, int err, uint64_t nth)
{
	/* If nothing can be sent, the reason cannot; nor does it pass what cannot be read. */
	bool mute = plan->calls == 1u << FAIL_sendmsg || plan->calls == 1u << FAIL_recvmsg;
	bool silent = err == -ECONNRESET && !p->text[0] && !mute;

	if (!CHECK(s, !silent) || !CHECK(s, err >= -4099 && err != -ETIME))
		printf("  call %lu (%s): %d %s\n", (unsigned long)nth, names[plan->last], err,
		       p->text);
}

/* That the client has gone is news that can fail to be read, too. */
static void correct_departure(const struct stage *s, struct script *p, uint64_t shortages)
{
	if (plan->failed && plan->last == FAIL_recvmsg &&
	    stage_count(s, QUOIT_DAEMON_KILL_SHORTAGE) > shortages)
		p->departure = ENDED;
}

static void check_return(struct stage *s, const struct census *before, uint64_t nth)
{
	struct census now;
	char text[120];

	for (unsigned ms = 0; ms < 2000; ms += 10) {
		census_take(s->daemon.pid, &now);
		if (census_is_back(before, &now, SLACK, text, sizeof text))
			return;
		usleep(10000);
	}
	printf("  call %lu (%s): %s\n", (unsigned long)nth, names[plan->last], text);
	CHECK(s, false);
}

/* One client while the Nth call fails, and a fresh one afterwards; false: no call failed. */
static bool try_call(struct stage *s, uint32_t calls, uint64_t nth, bool sticky)
{
	uint64_t before = departures(s), shortages = stage_count(s, QUOIT_DAEMON_KILL_SHORTAGE);
	uint64_t leased = stage_count(s, QUOIT_DAEMON_HOST_LEASED);
	struct census census;
	struct script p;
	int err;

	census_take(s->daemon.pid, &census);
	arm(calls, nth, sticky);
	err = play(&p, s->daemon.socket);
	await_departure(s, before);
	correct_departure(s, &p, shortages);
	expect_departure(s, &p);
	if (err)
		check_failure(s, &p, err, nth);
	disarm();
	before++;
	err = play(&p, s->daemon.socket);
	if (!CHECK(s, !err))
		printf("  after call %lu (%s): %d %s\n", (unsigned long)nth, names[plan->last], err,
		       p.text);
	expect_departure(s, &p);
	await_departure(s, before);
	check_return(s, &census, nth);
	CHECK(s, stage_count(s, QUOIT_DAEMON_HOST_LEASED) == leased);
	return plan->failed;
}

static void try_calls(struct stage *s, uint32_t calls, bool sticky, uint64_t least)
{
	uint64_t nth = 1, before = departures(s);
	struct script p;

	/* The canary must not meet the failures. */
	kill(s->canary.pid, SIGSTOP);
	usleep(20000);
	CHECK(s, !play(&p, s->daemon.socket)); /* so that every cache is warm */
	expect_departure(s, &p);
	await_departure(s, before);
	while (!s->bad && try_call(s, calls, nth, sticky))
		nth += s->times ? 1 : 1 + stage_random(s, 4);
	kill(s->canary.pid, SIGCONT);
	CHECK(s, nth > least); /* or the module was not there */
}

static void session_survives_or_names_a_call_that_fails_once(struct stage *s)
{
	try_calls(s, FAIL_ALL, false, 30);
}

/* But it takes connections, hears them and says what it has to say: those have their own cases. */
static void session_survives_or_names_calls_that_fail_from_now_on(struct stage *s)
{
	const uint32_t talk = 1u << FAIL_accept4 | 1u << FAIL_recvmsg | 1u << FAIL_sendmsg;

	try_calls(s, FAIL_ALL & ~talk, true, 30);
}

static void requests_that_cannot_be_read_end_the_session(struct stage *s)
{
	try_calls(s, 1u << FAIL_recvmsg, true, 5);
}

static void replies_that_cannot_be_sent_end_the_session(struct stage *s)
{
	try_calls(s, 1u << FAIL_sendmsg, true, 5);
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
		preload(NULL);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, "--private", "--log=error", socket, ready_fd, NULL);
		_exit(127);
	}
	close(ready[1]);
	*ret_ready = ready[0];
	*ret_log = log;
	return pid;
}

/* It starts all the same, and ends when asked to; or says why not, and exits with 1. */
static void check_start(struct stage *s, const char *folder, uint64_t nth)
{
	int ready = -1, log = -1, status = 0;
	char text[512] = "", byte;
	pid_t pid = start(folder, &ready, &log);
	bool up;

	if (!CHECK(s, pid > 0))
		return;
	up = read(ready, &byte, 1) == 1;
	disarm();
	if (up)
		kill(pid, SIGTERM);
	CHECK(s, waitpid(pid, &status, 0) == pid);
	(void)!pread(log, text, sizeof text - 1, 0);
	if (!CHECK(s, WIFEXITED(status) && WEXITSTATUS(status) == !up) ||
	    !CHECK(s, up || !strncmp(text, "quoitd: ", 8)))
		printf("  call %lu (%s): wait status %#x, \"%s\"\n", (unsigned long)nth,
		       names[plan->last], (unsigned)status, text);
	close(ready);
	close(log);
}

static void try_starts(struct stage *s, bool sticky)
{
	char folder[] = "/tmp/quoit-fail-folder-XXXXXX", path[80];
	uint64_t nth = 0;

	if (!CHECK(s, mkdtemp(folder)))
		return;
	do {
		nth += s->times ? 1 : 1 + stage_random(s, 8);
		arm(FAIL_ALL, nth, sticky);
		check_start(s, folder, nth);
	} while (plan->failed && !s->bad);
	CHECK(s, nth > 20);
	snprintf(path, sizeof path, "%s/lock", folder);
	(void)unlink(path);
	CHECK(s, !rmdir(folder)); /* whatever happened, nothing else was left */
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
#define CASE(f)                                                                                    \
	{                                                                                          \
#f, f                                                                              \
	}
	static const struct stage_case sessions[] = {
		CASE(session_survives_or_names_a_call_that_fails_once),
		CASE(session_survives_or_names_calls_that_fail_from_now_on),
		CASE(requests_that_cannot_be_read_end_the_session),
		CASE(replies_that_cannot_be_sent_end_the_session),
	};
	static const struct stage_case starts[] = {
		CASE(start_survives_or_names_a_call_that_fails_once),
		CASE(start_survives_or_names_calls_that_fail_from_now_on),
	};
#undef CASE
	static const struct stage_scene scene = {.prepare = preload};
	struct stage s;

	if (!stage_init(&s, argc, argv) || !make_plan())
		return 1;
	stage_play(&s, &scene, sessions, sizeof sessions / sizeof sessions[0]);
	stage_play_alone(&s, starts, sizeof starts / sizeof starts[0]);
	unlink(plan_path);
	return stage_end(&s);
}
