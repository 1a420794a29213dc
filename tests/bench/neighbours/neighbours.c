/* SPDX-License-Identifier: MIT */
/*
 * neighbours.c - measure a user's small job while another user burdens the reactor
 *
 * Usage: neighbours [ROUNDS].  It runs $QUOIT_BUILD/quoitd for two users, so only root can run it.
 * Each round tries every neighbour once, after a measurement without it.  It prints a line for each
 * figure: name, median, least and greatest of ROUNDS (3).
 *
 *	NAME_alone_us   the median NOP of a user alone: one each half millisecond; the client sleeps
 *	                until it has ended
 *	NAME_us         the same beside the neighbour
 *	NAME/alone      the ratio of the two
 *	NAME_before_us  beside the neighbour before its named action begins; the client polls, one
 *	                NOP after the other
 *	NAME/before     the ratio of NAME_us to that
 *
 * The neighbours: ring_N and control_N set N epoll watches on their end of a ring's or the control
 * socket, and have it rung all the time; ending_N has N sessions, each with minutes of work, and
 * ends them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <quoit.h>
#include <quoit/pause.h>

#include "support/figures.h"
#include "configuration.h"
#include "daemon.h"
#include "raw_client.h"

enum { ALICE = 61001, BOB };

#define ROUNDS_MOST 64u
#define PINGS       2000u
#define PERIOD_US   500
#define SPINS       400000u
#define READY_MS    60000
#define SETTLE_US   300000

/* ---- Bob: a small job at a time ---- */

static double ping(struct quoit_ring *q, bool spins)
{
	const struct quoit_cqe *cqe;
	double begun = figures_now_us(), took;
	int n;

	*quoit_get_sqe(q) = quoit_nop(QUOIT_NO_TENSOR);
	n = spins ? quoit_flush(q) : quoit_wait_cqe(q, QUOIT_FOREVER);
	while (!n && !(n = quoit_peek(q, &cqe)))
		quoit_pause();
	took = figures_now_us() - begun;
	if (n < 0)
		_exit(1);
	quoit_release(q, (unsigned)n);
	return took;
}

struct pings {
	const char *socket;
	bool spins;
};

static double ping_many(const void *of)
{
	static double took[SPINS];
	const struct pings *p = of;
	const unsigned count = p->spins ? SPINS : PINGS;
	struct quoit_open_params params = {.socket = p->socket, .host_bytes = UINT64_C(8) << 20};
	struct quoit_ring_params raw = {.flags = QUOIT_RING_RAW};
	struct quoit_session *s;
	struct quoit_ring *q;

	if (quoit_open(&params, &s) || quoit_open_ring(s, &raw, &q))
		_exit(1);
	for (unsigned i = 0; i < count; i++) {
		took[i] = ping(q, p->spins);
		if (!p->spins)
			usleep(PERIOD_US);
	}
	figures_sort(took, count);
	return took[count / 2];
}

/* The median of Bob's jobs, in us. */
static double median_job(const struct daemon *d, bool spins)
{
	const struct pings p = {d->socket, spins};

	return figures_as(BOB, ping_many, &p);
}

/* ---- Alice: her action until she is killed ---- */

static const struct raw_wish small = {.host_bytes = 1u << 20,
				      .arena_bytes = 4096,
				      .max_tensors = 8,
				      .sq_entries = 8,
				      .cq_entries = 16};

struct neighbour;

/* Shared between Alice and the measuring process. */
struct scene {
	volatile bool ready; /* set by Alice: she has all that she needs, and waits */
	volatile bool begun; /* set for Alice: she may begin */
};

/* Returns only on failure: before `ready` is set, or after `begun`. */
typedef void neighbour_fn(const struct neighbour *n, const char *socket, struct scene *s);

struct neighbour {
	const char *name;
	unsigned count;
	bool spins; /* the jobs beside it are polled for */
	/* they are compared with jobs before it begins, since it has work of its own */
	bool before;
	neighbour_fn *run;
};

/* Set this many watches with few descriptors: each of some epolls watches each of some copies. */
static bool watch(int fd, unsigned count)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int copy[450], epoll = -1;
	unsigned copies = 0, each = count > 100000 ? 450 : 150;

	while (copies < each)
		if ((copy[copies++] = dup(fd)) < 0)
			return false;
	for (unsigned i = 0; i < count; i++) {
		if (i % each == 0 && (epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
			return false;
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, copy[i % each], &event))
			return false;
	}
	return true;
}

static void await_scene(struct scene *s)
{
	for (s->ready = true; !s->begun;)
		usleep(1000);
}

static void watch_ring(const struct neighbour *n, const char *socket, struct scene *s)
{
	const struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};
	struct raw_client c;
	char bytes[64];

	if (raw_open(&c, socket, &small) || !watch(c.bell, n->count))
		return;
	for (await_scene(s);;) {
		__atomic_fetch_add(&c.client->arm, 1, __ATOMIC_SEQ_CST);
		if (raw_run(&c, nop))
			return;
		while (recv(c.bell, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
			;
	}
}

static void watch_control(const struct neighbour *n, const char *socket, struct scene *s)
{
	struct raw_client c;
	unsigned count;

	if (raw_open(&c, socket, &small) || !watch(c.socket, n->count))
		return;
	for (await_scene(s);;) {
		struct quoit_ctl m = {.type = QUOIT_CTL_OP};

		strcpy(m.op.name, "nop");
		if (raw_call(&c, &m, NULL, 0, &count))
			return;
	}
}

/* A sum of 10^12 elements, which are all the same one. */
static bool begin_sum(struct raw_client *c)
{
	struct quoit_sqe view = {.opcode = QUOIT_OP_VIEW}, sum = raw_job(QUOIT_OP_SUM, 3, 2, 0);

	view.base[0] = 2;
	view.base[1] = 1;
	view.dim[0] = 1;
	view.dim[1] = 1024;
	view.dim[2] = view.dim[3] = 32768;
	view.stride[0] = 1; /* all strides 0 would mean dense */
	sum.arg = QUOIT_AXIS_ALL;
	return !raw_run(c, raw_vector(1, 1, RAW_ARENA_NOT)) && !raw_run(c, view) &&
	       !raw_run(c, raw_vector(3, 1, RAW_ARENA_NOT)) &&
	       !raw_run(c, raw_job(QUOIT_OP_FILL, 1, 0, 0)) && raw_submit(c, &sum);
}

/* CLOSE waits for the job. */
static void end_sessions(const struct neighbour *n, const char *socket, struct scene *s)
{
	const struct quoit_ctl end = {.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_CLOSE, .seq = 99};
	struct raw_client *c = calloc(n->count, sizeof *c);

	for (unsigned i = 0; i < n->count; i++)
		if (!c || raw_open(&c[i], socket, &small) || !begin_sum(&c[i]))
			return;
	await_scene(s);
	for (unsigned i = 0; i < n->count; i++)
		if (send(c[i].socket, &end, sizeof end, MSG_NOSIGNAL) < 0)
			return;
	for (;;)
		pause();
}

static const struct neighbour neighbours[] = {
	{"ring_20000", 20000, false, false, watch_ring},
	{"ring_200000", 200000, false, false, watch_ring},
	{"control_20000", 20000, false, false, watch_control},
	{"control_200000", 200000, false, false, watch_control},
	{"ending_1000", 1000, true, true, end_sessions},
};

#define NEIGHBOURS (sizeof neighbours / sizeof *neighbours)

/* Start Alice, and wait until she is ready. */
static pid_t move_in(const struct neighbour *n, const char *socket, struct scene *s)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (figures_become(ALICE))
			n->run(n, socket, s);
		_exit(1);
	}
	for (int ms = 0; ms < READY_MS && !s->ready; ms += 10) {
		figures_must(!waitpid(pid, NULL, WNOHANG), "a neighbour cannot be ready");
		usleep(10000);
	}
	figures_must(s->ready, "a neighbour is not ready");
	return pid;
}

static void move_out(pid_t pid)
{
	figures_must(!waitpid(pid, NULL, WNOHANG), "a neighbour has ended by itself");
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* ---- together ---- */

static void let_others_in(const struct daemon *d)
{
	(void)chmod(d->folder, 0755);
}

/* A new quoitd for each neighbour, so that it knows none from before. */
static void start(struct daemon *d)
{
	struct configuration configuration;
	const char *options[] = {configuration.option, NULL};

	figures_must(configuration_make(&configuration,
					"private = no\nreactors = 1\nmemory = 8G\n"
					"uid-memory = 7G\nuid-connections = 1100\n"),
		     "no temporary file");
	figures_must(daemon_start_prepared(d, options, let_others_in) == 0,
		     "quoitd does not start");
	figures_must(configuration_remove(&configuration), "a temporary file stays");
}

struct figures {
	double alone[ROUNDS_MOST], beside[ROUNDS_MOST], ratio[ROUNDS_MOST];
};

static void measure(const struct neighbour *n, struct figures *f, unsigned round)
{
	struct scene *s =
		mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct daemon d;
	pid_t alice;

	figures_must(s != MAP_FAILED, "no memory");
	start(&d);
	if (!n->before)
		f->alone[round] = median_job(&d, n->spins);
	alice = move_in(n, d.socket, s);
	if (n->before)
		f->alone[round] = median_job(&d, n->spins);
	s->begun = true;
	usleep(SETTLE_US);
	f->beside[round] = median_job(&d, n->spins);
	f->ratio[round] = f->beside[round] / f->alone[round];
	move_out(alice);
	daemon_stop(&d);
	munmap(s, sizeof *s);
}

int main(int argc, char **argv)
{
	const struct rlimit files = {65536, 65536}; /* quoitd inherits it */
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
	static struct figures figures[NEIGHBOURS];

	if (geteuid()) {
		fprintf(stderr, "neighbours: only root can be several users\n");
		return 77;
	}
	(void)setrlimit(RLIMIT_NOFILE, &files);
	if (!rounds || rounds > ROUNDS_MOST)
		rounds = 3;
	for (unsigned i = 0; i < rounds; i++)
		for (unsigned k = 0; k < NEIGHBOURS; k++)
			measure(&neighbours[k], &figures[k], i);
	for (unsigned k = 0; k < NEIGHBOURS; k++) {
		bool before = neighbours[k].before;

		figures_print(neighbours[k].name, before ? "_before_us" : "_alone_us",
			      figures[k].alone, rounds);
		figures_print(neighbours[k].name, "_us", figures[k].beside, rounds);
		figures_print(neighbours[k].name, before ? "/before" : "/alone", figures[k].ratio,
			      rounds);
	}
	return 0;
}
