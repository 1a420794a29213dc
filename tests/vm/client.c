/* SPDX-License-Identifier: MIT */
/*
 * client.c - an ordinary user's tasks in the tests under systemd; each prints its result
 *
 * Usage: client TASK [ARGUMENT].  It uses the system's socket, or $QUOIT_SOCKET.  Exit status 0:
 * all went as the task's comment says; 1: it did not; 2: a wrong call.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define LEASE_LEAST (UINT64_C(4) << 20)
#define BACK_MS     30000 /* a quoitd that went must be back within this time */
#define JOBS_MOST   1000u
#define CROWD_MOST  2000u
#define ROUNDS_MORE 5u

int client_fail(const char *what, int err)
{
	printf("%s: %s: %s\n", what, quoit_strerror(err), quoit_open_text());
	return 1;
}

int client_enter(uint64_t lease, struct quoit_session **s, struct quoit_ring **q)
{
	struct quoit_open_params params = {
		.host_bytes = lease,
		.arena_bytes = lease < CLIENT_LEASE ? 65536 : UINT64_C(1) << 20,
		.max_tensors = 64,
	};
	int err;

	*s = NULL;
	err = quoit_open(&params, s);
	return err ? err : quoit_open_ring(*s, NULL, q);
}

void client_is_ready(void)
{
	(void)!write(STDERR_FILENO, "", 1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int client_try_job(struct quoit_ring *q)
{
	float six[100];
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 100);
	int err;

	(void)quoit_push(q, quoit_fill(t, 2));
	(void)quoit_push(q, quoit_mul_scalar(t, t, 3));
	err = quoit_read(q, t, six, sizeof six);
	(void)quoit_free(q, t);
	for (unsigned i = 0; !err && i < 100; i++)
		err = six[i] == 6 ? 0 : -EILSEQ; /* NOLINT: both are exact */
	return err;
}

/* ---- when quoitd goes ---- */

static int await_end(struct quoit_ring *q)
{
	struct pollfd p = {.fd = quoit_get_fd(q)};

	while (!(p.revents & POLLHUP))
		(void)poll(&p, 1, -1);
	return client_try_job(q);
}

/* As a program would: each try a little later, and no two programs at the same times. */
static int come_back(uint64_t lease, struct quoit_session **s, struct quoit_ring **q)
{
	const double end = now() + BACK_MS / 1e3;
	useconds_t pause = 5000;
	int err;

	srand((unsigned)getpid());
	while ((err = client_enter(lease, s, q)) && now() < end) {
		(void)quoit_close(*s, 0);
		usleep(pause / 2 + (useconds_t)rand() % pause);
		pause = pause < 200000 ? pause * 2 : pause;
	}
	return err ? err : client_try_job(*q);
}

/* Outlive a quoitd: *lost gets the error when it went, *away the seconds without a session. */
static int stay_one(uint64_t lease, int *lost, double *away, int ready)
{
	struct quoit_session *s;
	struct quoit_ring *q;
	double since;
	int err = client_enter(lease, &s, &q);

	if (!err)
		err = client_try_job(q);
	if (err)
		return client_fail("open", err);
	if (write(ready, "", 1) != 1)
		return 1;
	*lost = await_end(q);
	since = now();
	(void)quoit_close(s, 0);
	err = come_back(lease, &s, &q);
	if (err)
		return client_fail("open again", err);
	*away = now() - since;
	return quoit_close(s, 0) != 0;
}

/* stay: run a session that outlives its quoitd. */
static int stay(const char *argument)
{
	int lost;
	double away;

	(void)argument;
	if (stay_one(CLIENT_LEASE, &lost, &away, STDERR_FILENO))
		return 1;
	printf("lost: %s, then back\n", quoit_strerror(lost));
	return lost != -ECONNRESET;
}

/* crowd N: run N sessions, each in a process; stderr gets a byte for each that is open. */
static int crowd(const char *argument)
{
	unsigned n = (unsigned)strtoul(argument, NULL, 10), bad = 0;
	double slowest = 0, away;
	int report[2], status, lost;

	if (!n || n > CROWD_MOST || pipe(report) < 0)
		return 2;
	for (unsigned i = 0; i < n; i++) {
		if (fork())
			continue;
		status = stay_one(UINT64_C(1) << 20, &lost, &away, STDERR_FILENO);
		if (write(report[1], &away, sizeof away) < 0)
			status = 1;
		fflush(stdout);
		_exit(status);
	}
	close(report[1]);
	while (read(report[0], &away, sizeof away) == (ssize_t)sizeof away)
		slowest = fmax(slowest, away);
	while (wait(&status) > 0)
		bad += status != 0;
	printf("%u of %u back, the last after %.1f s\n", n - bad, n, slowest);
	return bad || slowest > 5;
}

/* ---- jobs ---- */

/*
 * queue N: run N products in a row, and tell how they ended; a byte to stderr once they are
 * submitted.
 */
static int queue(const char *argument)
{
	static quoit_job job[JOBS_MOST];
	unsigned n = (unsigned)strtoul(argument, NULL, 10);
	unsigned done = 0, cancelled = 0, reset = 0, other = 0;
	struct quoit_ring_params params = {.entries = 1024};
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor a, b;
	int err = client_enter(CLIENT_LEASE * 2, &s, &q);

	if (!err)
		err = quoit_open_ring(s, &params, &q);
	if (err || n > JOBS_MOST)
		return client_fail("open", err);
	a = quoit_create_matrix(q, QUOIT_F32, 1500, 1500);
	b = quoit_create_matrix(q, QUOIT_F32, 1500, 1500);
	(void)quoit_push(q, quoit_normal(a, 1, 0));
	for (unsigned i = 0; i < n; i++)
		(void)quoit_start(q, quoit_gemm(b, a, a, 0, 1, 0.5), &job[i]);
	(void)quoit_flush(q);
	(void)!quoit_wait(q, job[0], QUOIT_FOREVER);
	client_is_ready();
	for (unsigned i = 1; i < n; i++) {
		err = quoit_wait(q, job[i], QUOIT_FOREVER);
		done += err == 0;
		cancelled += err == -ECANCELED;
		reset += err == -ECONNRESET;
		other += err && err != -ECANCELED && err != -ECONNRESET;
		if (err && err != -ECANCELED && err != -ECONNRESET)
			printf("job %u: %s\n", i, quoit_strerror(err));
	}
	printf("done %u cancelled %u reset %u other %u\n", done, cancelled, reset, other);
	return 0;
}

static uint32_t deadline_us; /* deadline of the jobs; 0: none */

static struct quoit_sqe in_time(struct quoit_sqe sqe)
{
	return quoit_with_deadline(sqe, deadline_us);
}

/* One number of a product and its logarithms, which is always the same. */
static int compute(struct quoit_ring *q, float *ret)
{
	quoit_tensor a = quoit_create_matrix(q, QUOIT_F32, 128, 128);
	quoit_tensor b = quoit_create_matrix(q, QUOIT_F32, 128, 128);
	quoit_tensor c = quoit_create_vector(q, QUOIT_F32, 1);
	int err;

	(void)quoit_push(q, in_time(quoit_uniform(a, 7, 0)));
	(void)quoit_push(q, in_time(quoit_gemm(b, a, a, 0, 1, 0)));
	(void)quoit_push(q, in_time(quoit_log(b, b)));
	(void)quoit_push(q, in_time(quoit_sum(c, b, QUOIT_AXIS_ALL)));
	err = quoit_read(q, c, ret, sizeof *ret);
	(void)quoit_free(q, a);
	(void)quoit_free(q, b);
	(void)quoit_free(q, c);
	return err;
}

static volatile sig_atomic_t is_told;

static void tell(int signal)
{
	(void)signal;
	is_told = 1;
}

/*
 * work ROUNDS: compute the same result again and again; prints how often, and how often it
 * differed.  After SIGTERM it does a few more rounds.
 */
static int work(const char *argument)
{
	unsigned rounds = 0, end = (unsigned)strtoul(argument, NULL, 10), bad = 0;
	struct quoit_session *s;
	struct quoit_ring *q;
	float first = 0, next;
	int err = client_enter(CLIENT_LEASE, &s, &q);

	(void)signal(SIGTERM, tell);
	while (!err && rounds < end) {
		err = compute(q, &next);
		if (!rounds++) {
			first = next;
			client_is_ready();
		}
		bad += fabsf(next - first) >
		       1e-3F * fabsf(first); /* kernels may sum in another order */
		if (is_told) {
			end = rounds + ROUNDS_MORE;
			is_told = 0;
		}
	}
	if (err)
		return client_fail("work", err);
	printf("%u times %g, %u of them wrong\n", rounds, (double)first, bad);
	return bad || !isfinite(first) || quoit_close(s, 0);
}

/* punctual ROUNDS: as work, but each of its jobs has five seconds. */
static int punctual(const char *argument)
{
	deadline_us = 5000000;
	return work(argument);
}

/* saturate: run more jobs of microseconds than a reactor has time for, until a signal ends it. */
static int saturate(const char *argument)
{
	const struct quoit_open_params params = {.host_bytes = LEASE_LEAST};
	const struct quoit_ring_params raw = {.flags = QUOIT_RING_RAW, .entries = 4096};
	const struct timespec pause = {.tv_nsec = 200000};
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor x;
	int err = quoit_open(&params, &s), n;

	(void)argument;
	err = err ? err : quoit_open_ring(s, &raw, &q);
	if (err)
		return client_fail("saturate", err);
	x = quoit_create_vector(q, QUOIT_F32, 2048);
	client_is_ready();
	for (;;) {
		const struct quoit_cqe *cqe;
		struct quoit_sqe *sqe;

		while ((n = quoit_peek(q, &cqe)) > 0)
			quoit_release(q, (unsigned)n);
		if (n < 0)
			return client_fail("saturate", n);
		while ((sqe = quoit_get_sqe(q)) != NULL)
			*sqe = quoit_normal(x, 1, 0);
		(void)quoit_flush(q);
		nanosleep(&pause, NULL);
	}
}

/* flood SECONDS: open and close sessions, each with something to be logged; prints how many. */
static int flood(const char *argument)
{
	const double end = now() + strtod(argument, NULL);
	unsigned n = 0, refused = 0;

	while (now() < end) {
		struct quoit_session *s;
		struct quoit_ring *q;

		refused += client_enter(n % 2 ? UINT64_C(1) << 50 : UINT64_C(1) << 20, &s, &q) != 0;
		(void)quoit_close(s, 0);
		n++;
	}
	printf("%u sessions, %u refused\n", n, refused);
	return !refused || refused == n;
}

/* ---- files ---- */

/* file PATH: compare its first bytes as quoitd reads them with those that we read. */
static int file(const char *path)
{
	static unsigned char theirs[1 << 20], ours[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC), index = -1;
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor t;
	quoit_job job;
	int err = fd < 0 ? -errno : client_enter(CLIENT_LEASE, &s, &q);

	if (!err)
		err = index = quoit_add_file(s, fd);
	if (err < 0)
		return client_fail(path, err);
	t = quoit_create_vector(q, QUOIT_I32, sizeof theirs / 4);
	err = quoit_start(q, quoit_read_file(t, index, 0), &job);
	if (!err)
		err = quoit_wait(q, job, QUOIT_FOREVER);
	if (err < 0)
		return client_fail("read", err);
	err = quoit_read(q, t, theirs, sizeof theirs);
	if (err || pread(fd, ours, sizeof ours, 0) != (ssize_t)sizeof ours)
		return client_fail("read", err);
	printf("%s\n", memcmp(theirs, ours, sizeof ours) ? "other bytes" : "the same bytes");
	return memcmp(theirs, ours, sizeof ours) || quoit_close(s, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const char *argument);
	} tasks[] = {{"stay", stay},        {"crowd", crowd},          {"queue", queue},
		     {"work", work},        {"lease", client_lease},   {"flood", flood},
		     {"file", file},        {"move", client_move},     {"saturate", saturate},
		     {"fill", client_fill}, {"module", client_module}, {"punctual", punctual}};

	for (unsigned i = 0; argc > 1 && i < sizeof tasks / sizeof tasks[0]; i++)
		if (!strcmp(argv[1], tasks[i].name))
			return tasks[i].run(argc > 2 ? argv[2] : "");
	fprintf(stderr, "usage: client TASK [ARGUMENT]\n");
	return 2;
}
