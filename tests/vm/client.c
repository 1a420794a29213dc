/* SPDX-License-Identifier: MIT */
/*
 * client.c - what the tests under systemd do as an ordinary user; each task says what came of it
 *
 * Usage: client TASK [ARGUMENT].  At the socket of the system, or $QUOIT_SOCKET.  Exit status: 0
 * where all went as the task's line below says, 1 where not, 2 for a wrong call.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <numaif.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <quoit.h>

#define LEASE       (UINT64_C(64) << 20)
#define LEASE_LEAST (UINT64_C(4) << 20)
#define BACK_MS     30000 /* in which a quoitd that went is to be back */
#define JOBS_MOST   1000u
#define CROWD_MOST  2000u
#define ROUNDS_MORE 5u
#define PAGE        4096u
#define PAGES       64u

static int fail(const char *what, int err)
{
	printf("%s: %s: %s\n", what, quoit_strerror(err), quoit_open_text());
	return 1;
}

static int enter(uint64_t lease, struct quoit_session **s, struct quoit_ring **q)
{
	struct quoit_open_params params = {
		.host_bytes = lease,
		.arena_bytes = lease < LEASE ? 65536 : UINT64_C(1) << 20,
		.max_tensors = 64,
	};
	int err;

	*s = NULL;
	err = quoit_open(s, &params);
	return err ? err : quoit_ring_open(q, *s, NULL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 2 x 3, in n places. */
static int try_job(struct quoit_ring *q)
{
	float six[100];
	quoit_tensor t = quoit_vector(q, QUOIT_F32, 100);
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
	struct pollfd p = {.fd = quoit_ring_fd(q)};

	while (!(p.revents & POLLHUP))
		(void)poll(&p, 1, -1);
	return try_job(q);
}

/* As a program would: each try a little later, and no two at the same times. */
static int come_back(uint64_t lease, struct quoit_session **s, struct quoit_ring **q)
{
	const double end = now() + BACK_MS / 1e3;
	useconds_t pause = 5000;
	int err;

	srand((unsigned)getpid());
	while ((err = enter(lease, s, q)) && now() < end) {
		(void)quoit_close(*s, 0);
		usleep(pause / 2 + (useconds_t)rand() % pause);
		pause = pause < 200000 ? pause * 2 : pause;
	}
	return err ? err : try_job(*q);
}

/* One session: `lost` and `back` tell what it said and saw when quoitd went, and how long it was
 * gone. */
static int stay_one(uint64_t lease, int *lost, double *away, int ready)
{
	struct quoit_session *s;
	struct quoit_ring *q;
	double since;
	int err = enter(lease, &s, &q);

	if (!err)
		err = try_job(q);
	if (err)
		return fail("open", err);
	if (write(ready, "", 1) != 1)
		return 1;
	*lost = await_end(q);
	since = now();
	(void)quoit_close(s, 0);
	err = come_back(lease, &s, &q);
	if (err)
		return fail("open again", err);
	*away = now() - since;
	return quoit_close(s, 0) != 0;
}

/* stay: a session that outlives its quoitd. */
static int stay(const char *argument)
{
	int lost;
	double away;

	(void)argument;
	if (stay_one(LEASE, &lost, &away, STDERR_FILENO))
		return 1;
	printf("lost: %s, then back\n", quoit_strerror(lost));
	return lost != -ECONNRESET;
}

/* crowd N: as many, each a process; stderr gets a byte for each that is there. */
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

/* queue N: that many products, one after the other, and how they ended; a byte to stderr once they
 * are in. */
static int queue(const char *argument)
{
	static quoit_job job[JOBS_MOST];
	unsigned n = (unsigned)strtoul(argument, NULL, 10);
	unsigned done = 0, cancelled = 0, reset = 0, other = 0;
	struct quoit_ring_params params = {.entries = 1024};
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor a, b;
	int err = enter(LEASE * 2, &s, &q);

	if (!err)
		err = quoit_ring_open(&q, s, &params);
	if (err || n > JOBS_MOST)
		return fail("open", err);
	a = quoit_matrix(q, QUOIT_F32, 1500, 1500);
	b = quoit_matrix(q, QUOIT_F32, 1500, 1500);
	(void)quoit_push(q, quoit_normal(a, 1, 0));
	for (unsigned i = 0; i < n; i++)
		(void)quoit_start(q, quoit_gemm(b, a, a, 0, 1, 0.5), &job[i]);
	(void)quoit_flush(q);
	(void)quoit_wait(q, job[0], QUOIT_FOREVER);
	(void)!write(STDERR_FILENO, "", 1);
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

/* One number of a product and its logarithms: the same each time, whoever computes it. */
static int compute(struct quoit_ring *q, float *ret)
{
	quoit_tensor a = quoit_matrix(q, QUOIT_F32, 300, 300);
	quoit_tensor b = quoit_matrix(q, QUOIT_F32, 300, 300);
	quoit_tensor c = quoit_vector(q, QUOIT_F32, 1);
	int err;

	(void)quoit_push(q, quoit_uniform(a, 7, 0));
	(void)quoit_push(q, quoit_gemm(b, a, a, 0, 1, 0));
	(void)quoit_push(q, quoit_log(b, b));
	(void)quoit_push(q, quoit_sum(c, b, QUOIT_AXIS_ALL));
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
 * work ROUNDS: the same result again and again; says how often, and how often it was another.  If
 * SIGTERM comes, a few rounds more from then on.
 */
static int work(const char *argument)
{
	unsigned rounds = 0, end = (unsigned)strtoul(argument, NULL, 10), bad = 0;
	struct quoit_session *s;
	struct quoit_ring *q;
	float first = 0, next;
	int err = enter(LEASE, &s, &q);

	(void)signal(SIGTERM, tell);
	while (!err && rounds < end) {
		err = compute(q, &next);
		if (!rounds++) {
			first = next;
			(void)!write(STDERR_FILENO, "", 1);
		}
		bad += fabsf(next - first) >
		       1e-3F * fabsf(first); /* kernels may sum in another order */
		if (is_told) {
			end = rounds + ROUNDS_MORE;
			is_told = 0;
		}
	}
	if (err)
		return fail("work", err);
	printf("%u times %g, %u of them wrong\n", rounds, (double)first, bad);
	return bad || !isfinite(first) || quoit_close(s, 0);
}

/* saturate: more jobs of microseconds than a reactor has time for, until a signal ends it. */
static int saturate(const char *argument)
{
	const struct quoit_open_params params = {.host_bytes = LEASE_LEAST};
	const struct quoit_ring_params raw = {.flags = QUOIT_RING_RAW, .entries = 4096};
	const struct timespec pause = {.tv_nsec = 200000};
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor x;
	int err = quoit_open(&s, &params), n;

	(void)argument;
	err = err ? err : quoit_ring_open(&q, s, &raw);
	if (err)
		return fail("saturate", err);
	x = quoit_vector(q, QUOIT_F32, 2048);
	(void)!write(STDERR_FILENO, "", 1);
	for (;;) {
		const struct quoit_cqe *cqe;
		struct quoit_sqe *sqe;

		while ((n = quoit_peek(q, &cqe)) > 0)
			quoit_release(q, (unsigned)n);
		if (n < 0)
			return fail("saturate", n);
		while ((sqe = quoit_sqe(q)) != NULL)
			*sqe = quoit_normal(x, 1, 0);
		(void)quoit_flush(q);
		nanosleep(&pause, NULL);
	}
}

/* lease BYTES: a session of that lease. */
static int lease(const char *argument)
{
	struct quoit_session *s;
	struct quoit_ring *q;
	int err = enter(strtoull(argument, NULL, 10), &s, &q);

	if (err)
		return fail("lease", err);
	err = try_job(q);
	printf("granted: %s\n", quoit_strerror(err));
	return err || quoit_close(s, 0);
}

/*
 * fill BYTES: a session of that lease, whose memory quoitd is the first to touch, all of it: half
 * is the arena.  And what is beyond.  It stays.
 */
static int fill(const char *argument)
{
	const uint64_t bytes = strtoull(argument, NULL, 10), each = UINT64_C(4) << 20;
	struct quoit_open_params params = {
		.host_bytes = bytes, .arena_bytes = bytes / 2, .max_tensors = 4096};
	const struct quoit_shape shape = {.dtype = QUOIT_I32,
					  .dim = {1, 1, 1, (uint32_t)(bytes / 8) - 1024}};
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor arena, more;
	int64_t got = 0, expected = (int64_t)(bytes / 8) - 1024;
	int *memory, err = quoit_open(&s, &params);

	if (!err)
		err = quoit_ring_open(&q, s, NULL);
	if (err)
		return fail("open", err);
	memory = quoit_alloc(s, (size_t)shape.dim[3] * sizeof *memory);
	arena = quoit_create_at(q, &shape, memory);
	(void)quoit_push(q, quoit_fill_int(arena, 1));
	for (uint64_t i = 0; i + 1 < bytes / 2 / each; i++)
		(void)quoit_push(q, quoit_fill_int(quoit_vector(q, QUOIT_I32, each / 4), 1));
	err = quoit_wait_all(q, QUOIT_FOREVER);
	if (err)
		return fail("fill", err);
	more = quoit_vector(q, QUOIT_I32, (uint32_t)(bytes / 8));
	(void)quoit_push(q, quoit_fill_int(more, 1));
	printf("beyond: %s\n", quoit_strerror(quoit_wait_tensor(q, more, QUOIT_FOREVER)));
	for (uint32_t i = 0; i < shape.dim[3]; i++)
		got += memory[i];
	printf("%s\n", got == expected ? "all is there" : "something is lost");
	fflush(stdout);
	(void)!write(STDERR_FILENO, "", 1);
	(void)pause();
	return got != expected;
}

/* module HOW: a job of the sample module that does that (modules/sample.c), and then a good one. */
static int module(const char *argument)
{
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor t;
	quoit_job job;
	int opcode, bad, err = enter(UINT64_C(1) << 20, &s, &q);

	if (err)
		return fail("open", err);
	opcode = quoit_op_find(s, "sample_sleep");
	if (opcode < 0)
		return fail("sample_sleep", opcode);
	t = quoit_vector(q, QUOIT_F32, 1);
	(void)quoit_start(q,
			  quoit_op_arg(quoit_op4((uint8_t)opcode, t, 0, 0, 0),
				       (uint8_t)strtoul(argument, NULL, 10), 0, 0),
			  &job);
	bad = quoit_wait(q, job, QUOIT_FOREVER);
	(void)quoit_start(q, quoit_op_arg(quoit_op4((uint8_t)opcode, t, 0, 0, 0), 0, 1, 0), &job);
	err = quoit_wait(q, job, QUOIT_FOREVER);
	printf("%s, then %s\n", quoit_strerror(bad), quoit_strerror(err));
	return bad != -QUOIT_EEXEC || err || quoit_close(s, 0);
}

/* flood SECONDS: sessions that come and go, each with something to be logged; how many. */
static int flood(const char *argument)
{
	const double end = now() + strtod(argument, NULL);
	unsigned n = 0, refused = 0;

	while (now() < end) {
		struct quoit_session *s;
		struct quoit_ring *q;

		refused += enter(n % 2 ? UINT64_C(1) << 50 : UINT64_C(1) << 20, &s, &q) != 0;
		(void)quoit_close(s, 0);
		n++;
	}
	printf("%u sessions, %u refused\n", n, refused);
	return !refused || refused == n;
}

/* ---- files ---- */

/* file PATH: its first bytes, as quoitd reads them and as we do. */
static int file(const char *path)
{
	static unsigned char theirs[1 << 20], ours[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC), index = -1;
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor t;
	quoit_job job;
	int err = fd < 0 ? -errno : enter(LEASE, &s, &q);

	if (!err)
		err = index = quoit_file_add(s, fd);
	if (err < 0)
		return fail(path, err);
	t = quoit_vector(q, QUOIT_I32, sizeof theirs / 4);
	err = quoit_start(q, quoit_file_read(t, index, 0), &job);
	if (!err)
		err = quoit_wait(q, job, QUOIT_FOREVER);
	if (err < 0)
		return fail("read", err);
	err = quoit_read(q, t, theirs, sizeof theirs);
	if (err || pread(fd, ours, sizeof ours, 0) != (ssize_t)sizeof ours)
		return fail("read", err);
	printf("%s\n", memcmp(theirs, ours, sizeof ours) ? "other bytes" : "the same bytes");
	return memcmp(theirs, ours, sizeof ours) || quoit_close(s, 0);
}

/* ---- memory of the arena ---- */

static unsigned pages_on(char *memory, int node)
{
	void *page[PAGES];
	int where[PAGES];
	unsigned n = 0;

	for (unsigned i = 0; i < PAGES; i++)
		page[i] = memory + (size_t)i * PAGE;
	if (move_pages(0, PAGES, page, NULL, where, 0) < 0)
		return 0;
	for (unsigned i = 0; i < PAGES; i++)
		n += where[i] == node;
	return n;
}

/* move NODE: bind the arena there, under quoitd, and use it. */
static int move(const char *argument)
{
	int node = (int)strtol(argument, NULL, 10), err;
	unsigned long mask = 1UL << node;
	const struct quoit_shape shape = {.dtype = QUOIT_I32,
					  .dim = {1, 1, 1, (PAGES + 1) * PAGE / 4}};
	struct quoit_session *s;
	struct quoit_ring *q;
	unsigned there;
	char *memory, *start;
	quoit_tensor t;

	err = enter(LEASE, &s, &q);
	memory = err ? NULL : quoit_alloc(s, (size_t)(PAGES + 1) * PAGE);
	if (!memory)
		return fail("open", err);
	start = memory + (PAGE - (uintptr_t)memory % PAGE) % PAGE;
	memset(memory, 1, (size_t)(PAGES + 1) * PAGE);
	printf("before: %u of %u pages on node %d\n", pages_on(start, node), PAGES, node);
	if (mbind(start, (size_t)PAGES * PAGE, MPOL_BIND, &mask, 65, MPOL_MF_MOVE) < 0)
		printf("mbind: %s\n", strerror(errno));
	t = quoit_create_at(q, &shape, memory);
	(void)quoit_push(q, quoit_fill_int(t, 42));
	err = quoit_wait_tensor(q, t, QUOIT_FOREVER);
	there = pages_on(start, node);
	printf("after: %u of %u pages on node %d, job: %s\n", there, PAGES, node,
	       quoit_strerror(err));
	err |= there != PAGES; /* or nothing was tried */
	for (size_t i = 0; i < PAGES * PAGE / sizeof(int); i++)
		err |= ((const int *)(const void *)start)[i] != 42;
	return err || quoit_close(s, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const char *argument);
	} tasks[] = {{"stay", stay},         {"crowd", crowd}, {"queue", queue},  {"work", work},
		     {"lease", lease},       {"flood", flood}, {"file", file},    {"move", move},
		     {"saturate", saturate}, {"fill", fill},   {"module", module}};

	for (unsigned i = 0; argc > 1 && i < sizeof tasks / sizeof tasks[0]; i++)
		if (!strcmp(argv[1], tasks[i].name))
			return tasks[i].run(argc > 2 ? argv[2] : "");
	fprintf(stderr, "usage: client TASK [ARGUMENT]\n");
	return 2;
}
