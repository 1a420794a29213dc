/* SPDX-License-Identifier: MIT */
/* plan_sync.c - locks and barriers between processes */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define PROCESSES 8u
#define NAME      "quoit-bench"
#define SECTION_S 0.5 /* for so long processes lock and unlock */

/* ---- one process ---- */

static int lock_each(struct quoit_ring *q, int lock, quoit_tensor t, uint64_t count)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		err = quoit_push(q, quoit_lock(lock, t));
		if (!err)
			err = quoit_run(q, quoit_unlock(lock, t), QUOIT_FOREVER);
	}
	return err;
}

/* Nobody else wants the lock. */
static int measure_lock(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_client c;
	quoit_tensor t;
	double start;
	int err = bench_open(b, s->cores, NULL, &c), lock;

	if (err)
		return err;
	lock = quoit_open_lock(c.session, NAME, NULL);
	t = quoit_create_vector(c.ring, QUOIT_F32, 1);
	err = lock < 0 ? lock : lock_each(c.ring, lock, t, s->count / 10);
	start = bench_now();
	if (!err)
		err = lock_each(c.ring, lock, t, s->count);
	*ret = (bench_now() - start) * 1e9 / (double)s->count;
	bench_close(&c);
	return err;
}

/* ---- several processes ---- */

/* What they share. */
struct table {
	uint32_t ready;
	uint32_t go;
	uint32_t stop;
	uint64_t sections; /* no atomic: the lock guards it */
	uint64_t mine[PROCESSES];
	double seconds[PROCESSES];
};

struct crowd {
	const struct bench *b;
	const struct bench_series *s;
	struct table *t;
	pid_t pid[PROCESSES];
	unsigned started;
};

typedef int work_fn(struct crowd *c, unsigned number, const struct bench_client *client);

static void wait_for(const uint32_t *word, uint32_t least)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < least)
		usleep(100);
}

static _Noreturn void be_one(struct crowd *c, unsigned number, work_fn *work)
{
	struct bench_client client;
	cpu_set_t both;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&both);
	CPU_SET((unsigned)c->b->client_cpu, &both);
	CPU_SET((unsigned)c->b->server_cpu, &both);
	(void)sched_setaffinity(0, sizeof both, &both);
	if (bench_open(c->b, c->s->cores, NULL, &client) < 0)
		_exit(1);
	_exit(work(c, number, &client) ? 1 : 0);
}

/* The processes have come; `go` lets them begin. */
static int start_crowd(struct crowd *c, work_fn *work)
{
	c->t = mmap(NULL, sizeof *c->t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->t == MAP_FAILED)
		return -errno;
	for (; c->started < PROCESSES; c->started++) {
		pid_t pid = fork();

		if (pid < 0)
			return -errno;
		if (!pid)
			be_one(c, c->started, work);
		c->pid[c->started] = pid;
	}
	wait_for(&c->t->ready, PROCESSES);
	return 0;
}

static void begin(struct crowd *c)
{
	__atomic_fetch_add(&c->t->ready, 1, __ATOMIC_ACQ_REL);
	wait_for(&c->t->go, 1);
}

static int join_crowd(struct crowd *c)
{
	int err = 0;

	for (unsigned i = 0; i < c->started; i++) {
		int status = 0;

		(void)waitpid(c->pid[i], &status, 0);
		err = status ? -ECHILD : err;
	}
	return err;
}

static int lock_until_told(struct crowd *c, unsigned number, const struct bench_client *client)
{
	int lock = quoit_open_lock(client->session, NAME, NULL), err = lock < 0 ? lock : 0;

	begin(c);
	while (!err && !__atomic_load_n(&c->t->stop, __ATOMIC_RELAXED)) {
		err = quoit_run(client->ring, quoit_lock(lock, 0), QUOIT_FOREVER);
		if (err)
			break;
		c->t->sections++;
		c->t->mine[number]++;
		err = quoit_run(client->ring, quoit_unlock(lock, 0), QUOIT_FOREVER);
	}
	return err;
}

/* ret[0]: time of a section; ret[1]: as it would be if each process got as few as the last one. */
static int measure_sections(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct crowd c = {.b = b, .s = s};
	uint64_t sum = 0, least = UINT64_MAX;
	int err = start_crowd(&c, lock_until_told);
	double start = bench_now(), ns;

	if (err)
		return err;
	__atomic_store_n(&c.t->go, 1, __ATOMIC_RELEASE);
	usleep((useconds_t)(SECTION_S * 1e6));
	__atomic_store_n(&c.t->stop, 1, __ATOMIC_RELAXED);
	ns = (bench_now() - start) * 1e9;
	err = join_crowd(&c);
	for (unsigned i = 0; i < PROCESSES; i++) {
		sum += c.t->mine[i];
		least = c.t->mine[i] < least ? c.t->mine[i] : least;
	}
	ret[0] = ns / (double)sum;
	ret[1] = ns / (double)least / PROCESSES;
	if (!err && sum != c.t->sections) /* two were in at a time */
		err = -EBADMSG;
	munmap(c.t, sizeof *c.t);
	return err;
}

static int arrive_often(struct crowd *c, unsigned number, const struct bench_client *client)
{
	const struct quoit_sync_params eight = {.value = PROCESSES};
	int barrier = quoit_open_barrier(client->session, NAME, &eight);
	int err = barrier < 0 ? barrier : 0;
	double start;

	begin(c);
	start = bench_now();
	for (uint64_t i = 0; err >= 0 && i < c->s->count; i++)
		err = quoit_run(client->ring, quoit_arrive(barrier, 0), QUOIT_FOREVER);
	c->t->seconds[number] = bench_now() - start;
	return err < 0 ? err : 0;
}

static int measure_barrier(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct crowd c = {.b = b, .s = s};
	int err = start_crowd(&c, arrive_often);

	if (err)
		return err;
	__atomic_store_n(&c.t->go, 1, __ATOMIC_RELEASE);
	err = join_crowd(&c);
	*ret = c.t->seconds[0] * 1e6 / (double)s->count;
	munmap(c.t, sizeof *c.t);
	return err;
}

static const struct bench_series series[] = {
	{"nop", "ns", BENCH_ALL_CORES, bench_nops_each, 1, 100000},
	{"lock_unlock", "ns", BENCH_ALL_CORES, measure_lock, 1, 50000},
	{"section_8", "ns", BENCH_ALL_CORES, measure_sections},
	{"section_8_last", "ns", BENCH_ALL_CORES, NULL},
	{"barrier_8", "us", BENCH_ALL_CORES, measure_barrier, PROCESSES, 2000},
	{"pthread_barrier_8", "us", 0, bench_peer, .peer = {"barriers", "8", "2000"},
	 .peer_word = "us"},
	{NULL},
};

static const struct bench_ratio ratios[] = {
	{"lock_unlock/nop", "lock_unlock", "nop"},
	{"last/section_8", "section_8_last", "section_8"},
	{"barrier_8/pthread", "barrier_8", "pthread_barrier_8"},
	{NULL},
};

const struct bench_plan bench_sync = {"sync", "locks and barriers between processes", 7, series,
				      ratios};
