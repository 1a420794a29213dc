/* SPDX-License-Identifier: MIT */
/* plan_queue.c - messages between processes: a queue of tensors beside a pipe */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "moved.h"
#include "rows.h"

#define NAME         "quoit-bench"
#define KIB          UINT64_C(1024)
#define MIB          (UINT64_C(1024) * KIB)
#define MESSAGES     1024u /* that the queue has room for, if they are small */
#define ROOM_BYTES   MIB   /* of the queue, if not two messages take more */
#define MOST_TENSORS 8u
#define TENSOR_BYTES (4 * MIB) /* of the tensors of one process, if not two take more */
#define WAIT_MS      20000     /* for the other process; else it has failed */

/* A process sleeps until a batch has ended, so small batches would mostly measure wake-ups. */
#define MOST_BATCH  256u       /* messages */
#define BATCH_BYTES (16 * MIB) /* if not one message takes more */
#define BATCHES     4u         /* in flight */

/* A series' depth is the size of its messages. */
static uint64_t message_bytes(const struct bench_series *s)
{
	return s->depth;
}

static uint64_t at_least(uint64_t a, uint64_t least)
{
	return a > least ? a : least;
}

static uint64_t at_most(uint64_t a, uint64_t most)
{
	return a < most ? a : most;
}

/* ---- one process ---- */

struct side {
	struct bench_client client;
	int queue;
	quoit_tensor tensor[MOST_TENSORS]; /* the messages take turns at them */
	unsigned tensors;
	unsigned batch;
};

/* Tensors of different contents.  Their pages are there then, and not made while we measure. */
static int make_tensors(struct side *side, uint64_t bytes, double first)
{
	struct quoit_ring *q = side->client.ring;
	int err = 0;

	side->tensors = (unsigned)at_least(at_most(TENSOR_BYTES / bytes, MOST_TENSORS), 2);
	for (unsigned i = 0; i < side->tensors && !err; i++) {
		side->tensor[i] =
			quoit_create_vector(q, QUOIT_F32, (uint32_t)(bytes / sizeof(float)));
		err = side->tensor[i] ? quoit_push(q, quoit_fill(side->tensor[i], first + i))
				      : -ENOSPC;
	}
	return err ? err : quoit_wait_all(q, QUOIT_FOREVER);
}

static int open_side(const struct bench *b, const struct bench_series *s, double first,
		     struct side *ret)
{
	const uint64_t bytes = message_bytes(s);
	const struct quoit_sync_params room = {.value = MESSAGES,
					       .most = at_least(ROOM_BYTES, 2 * bytes)};
	const struct quoit_ring_params ring = {.entries = 2048};
	int err = bench_open(b, s->cores, &ring, &ret->client);

	if (err)
		return err;
	ret->batch = (unsigned)at_least(at_most(BATCH_BYTES / bytes, MOST_BATCH), 1);
	ret->queue = quoit_open_queue(ret->client.session, NAME, &room);
	err = ret->queue < 0 ? ret->queue : make_tensors(ret, bytes, first);
	if (err)
		bench_close(&ret->client);
	return err;
}

/* Send, or receive, so many messages: as jobs that are put in long before their turn. */
static int move(struct side *side, enum quoit_sync_op op, uint64_t count)
{
	struct quoit_ring *q = side->client.ring;
	int err = 0;

	for (uint64_t i = 0; !err && i < count; i++) {
		err = quoit_push(q,
				 quoit_sync_job(side->queue, op, side->tensor[i % side->tensors]));
		if (!err && i % side->batch == side->batch - 1)
			err = quoit_window(q, BATCHES - 1, WAIT_MS);
	}
	if (!err)
		err = quoit_wait_all(q, WAIT_MS);
	return err ? err : quoit_count_failures(q, NULL) ? -EBADMSG : 0;
}

/* ---- two processes ---- */

/* As the scheduler likes: the reactor keeps one of the two busy. */
static void use_both(const struct bench *b)
{
	cpu_set_t both;

	CPU_ZERO(&both);
	CPU_SET((unsigned)b->client_cpu, &both);
	CPU_SET((unsigned)b->server_cpu, &both);
	(void)sched_setaffinity(0, sizeof both, &both);
}

static int send_all(const struct bench *b, const struct bench_series *s, const uint32_t *go)
{
	struct side side;
	int err = open_side(b, s, 1, &side);

	if (err)
		return err;
	err = move(&side, QUOIT_SYNC_SEND, s->count / 10);
	while (!err && !__atomic_load_n(go, __ATOMIC_ACQUIRE))
		usleep(10);
	if (!err)
		err = move(&side, QUOIT_SYNC_SEND, s->count);
	bench_close(&side.client);
	return err;
}

/* The last messages lie in the tensors, each with the content of its own sender's tensor. */
static int check(struct side *side)
{
	const struct quoit_shape begin = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 2}};
	struct quoit_ring *q = side->client.ring;
	int err = 0;

	for (unsigned i = 0; i < side->tensors && !err; i++)
		err = bench_expect(q, quoit_view(q, side->tensor[i], &begin, 0), 1 + i);
	return err;
}

static int receive_all(const struct bench *b, const struct bench_series *s, uint32_t *go,
		       double *ret_ns)
{
	struct side side;
	int err = open_side(b, s, -1000, &side);
	double start;

	if (err)
		return err;
	err = move(&side, QUOIT_SYNC_RECEIVE, s->count / 10);
	start = bench_now();
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	if (!err)
		err = move(&side, QUOIT_SYNC_RECEIVE, s->count);
	*ret_ns = (bench_now() - start) * 1e9 / (double)s->count;
	if (!err)
		err = check(&side);
	bench_close(&side.client);
	return err;
}

/* What each of the two processes does. */
struct ways {
	int (*send)(const struct bench *b, const struct bench_series *s, const uint32_t *go);
	int (*receive)(const struct bench *b, const struct bench_series *s, uint32_t *go,
		       double *ret_ns);
};

static int measure_ways(const struct bench *b, const struct bench_series *s,
			const struct ways *ways, double *ret_ns)
{
	uint32_t *go =
		mmap(NULL, sizeof *go, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err, status = 0;
	pid_t pid;

	if (go == MAP_FAILED)
		return -errno;
	use_both(b);
	pid = fork();
	if (!pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(ways->send(b, s, go) ? 1 : 0);
	}
	err = pid < 0 ? -errno : ways->receive(b, s, go, ret_ns);
	if (pid > 0) {
		if (err) /* it would wait for us */
			(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
	}
	munmap(go, sizeof *go);
	return err ? err : status ? -ECHILD : 0;
}

static int measure(const struct bench *b, const struct bench_series *s, double *ret_ns)
{
	static const struct ways copied = {send_all, receive_all};

	return measure_ways(b, s, &copied, ret_ns);
}

static int measure_moved(const struct bench *b, const struct bench_series *s, double *ret_us)
{
	static const struct ways moved = {moved_send, moved_receive};
	int err = measure_ways(b, s, &moved, ret_us);

	*ret_us /= 1e3;
	return err;
}

static int measure_rows(const struct bench *b, const struct bench_series *s, double *ret_ns)
{
	static const struct ways rows = {rows_send, rows_receive};

	return measure_ways(b, s, &rows, ret_ns);
}

/* As many messages at once by a pipe, which keeps no borders between them. */
static int measure_piped_rows(const struct bench *b, const struct bench_series *s, double *ret_ns)
{
	int err = bench_peer(b, s, ret_ns);

	*ret_ns /= BENCH_ROWS;
	return err;
}

/* Of messages of different sizes, the time of as many as have 1 MiB. */
static int measure_mib(const struct bench *b, const struct bench_series *s, double *ret)
{
	int err = measure(b, s, ret);

	*ret *= (double)MIB / (double)message_bytes(s) / 1e3;
	return err;
}

static const struct bench_series series[] = {
	{"queue_64", "ns", BENCH_ALL_CORES, measure, 64, 200000},
	{"pipe_64", "ns", 0, bench_peer, .peer = {"pipe", "64", "500000"}, .peer_word = "ns"},
	{"mq_64", "ns", 0, bench_peer, .peer = {"mq", "64", "200000"}, .peer_word = "ns"},
	{"rows_64", "ns", BENCH_ALL_CORES, measure_rows, 64, 2560000},
	{"pipe_rows_64", "ns", 0, measure_piped_rows, .peer = {"pipe", "16384", "20000"},
	 .peer_word = "ns"},
	{"queue_64k", "us/MiB", BENCH_ALL_CORES, measure_mib, 64 * KIB, 16000},
	{"queue_1m", "us/MiB", BENCH_ALL_CORES, measure_mib, MIB, 1000},
	{"pipe_1m", "us/MiB", 0, bench_peer, .peer = {"pipe", "1048576", "500"}, .peer_word = "us"},
	{"queue_16m", "us/MiB", BENCH_ALL_CORES, measure_mib, 16 * MIB, 60},
	{"moved_64k", "us", BENCH_ALL_CORES, measure_moved, 64 * KIB, 20000},
	{"moved_1m", "us", BENCH_ALL_CORES, measure_moved, MIB, 20000},
	{"moved_16m", "us", BENCH_ALL_CORES, measure_moved, 16 * MIB, 20000},
	{NULL},
};

static const struct bench_ratio ratios[] = {
	{"pipe_64/queue_64", "pipe_64", "queue_64"},
	{"mq_64/queue_64", "mq_64", "queue_64"},
	{"pipe_64/rows_64", "pipe_64", "rows_64"},
	{"mq_64/rows_64", "mq_64", "rows_64"},
	{"pipe_rows_64/rows_64", "pipe_rows_64", "rows_64"},
	{"pipe_1m/queue_1m", "pipe_1m", "queue_1m"},
	{"queue_16m/64k", "queue_16m", "queue_64k"},
	{"pipe_1m/moved_1m", "pipe_1m", "moved_1m"},
	{"moved_16m/64k", "moved_16m", "moved_64k"},
	{NULL},
};

const struct bench_plan bench_queue = {"queue", "messages between processes", 7, series, ratios};
