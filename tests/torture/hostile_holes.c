/* SPDX-License-Identifier: MIT */
/* hostile_holes.c - clients that remove pages of the arena while jobs work on them */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl_client.h"
#include "scenes.h"

#define MIB   (UINT64_C(1) << 20)
#define SIDE  512u  /* a GEMM of this side is cut into tiles */
#define SHORT 1000u /* elements: the reactor runs such a job itself */

struct puncher {
	const struct raw_client *client;
	_Atomic bool stop;
};

static void *punch_on(void *arg)
{
	struct puncher *p = arg;

	while (!p->stop) {
		(void)madvise(p->client->arena, p->client->info.arena_bytes, MADV_REMOVE);
		usleep(100);
	}
	return NULL;
}

/* Tensors in addition to the squares 1 to 3. */
enum { ONE = 4, PLACE, INDEX, GATHERED, TABLE, NUMBERS };

/* For each rule of ops.def: a job's tensors and its argument. */
static const struct {
	const char *shape;
	uint8_t arg;
	uint32_t tensor[QUOIT_MAX_TENSORS_PER_JOB];
} operands[] = {
	{"SAME", 0, {1, 2, 3}},
	{"CAST", 0, {NUMBERS, 1}},
	{"PERM", QUOIT_PERM(0, 1, 3, 2), {3, 1}},
	{"ROLL", 3, {1, 2}},
	{"GATHER", 3, {GATHERED, TABLE, INDEX}},
	{"SELECT", 0, {1, NUMBERS, 2, 3}},
	{"COMPARE", QUOIT_CMP_LT, {NUMBERS, 1, 2}},
	{"GEMM", 0, {3, 1, 2}},
	{"REDUCE", QUOIT_AXIS_ALL, {ONE, 3}},
	{"ARGMAX", QUOIT_AXIS_ALL, {PLACE, 3}},
	{"LOSS", 0, {ONE, 1, 2, 3}},
	{"FILE", 0, {3}},
};

static const struct operation {
	uint8_t opcode;
	const char *access, *shape;
} operations[] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	{nr, access, #shape},
#include <quoit/ops.def>
#undef QUOIT_OP
};

/* Make a job of this operation; false: its rule is not in the table. */
static bool make_job(const struct operation *op, struct quoit_sqe *ret)
{
	const double one = 1;

	for (size_t i = 0; i < sizeof operands / sizeof operands[0]; i++) {
		if (strcmp(operands[i].shape, op->shape))
			continue;
		*ret = raw_job(op->opcode, 0, 0, 0);
		if (strcmp(op->shape, "FILE")) /* otherwise arg is an offset */
			memcpy(&ret->scalar[0], &one, sizeof one);
		ret->arg = operands[i].arg;
		for (unsigned k = 0; k < QUOIT_MAX_TENSORS_PER_JOB; k++)
			ret->tensor[k] = op->access[k] == '-' ? 0 : operands[i].tensor[k];
		return true;
	}
	return false;
}

static struct quoit_sqe vector(uint32_t handle, uint8_t dtype, uint32_t n, uint64_t offset)
{
	struct quoit_sqe sqe = raw_vector(handle, n, offset);

	sqe.arg = (uint8_t)(QUOIT_CREATE_ARENA | dtype);
	return sqe;
}

static struct quoit_sqe square(uint32_t handle, uint8_t dtype, uint64_t offset)
{
	struct quoit_sqe sqe = vector(handle, dtype, SIDE, offset);

	sqe.dim[2] = SIDE;
	return sqe;
}

static bool make_tensors(struct raw_client *c)
{
	const uint64_t at = 4 * MIB; /* of the short ones */
	const struct quoit_sqe creates[] = {
		square(1, QUOIT_F32, 0),
		square(2, QUOIT_F32, MIB),
		square(3, QUOIT_F32, 2 * MIB),
		square(NUMBERS, QUOIT_I32, 3 * MIB),
		vector(ONE, QUOIT_F32, 1, at),
		vector(PLACE, QUOIT_I64, 1, at + 64),
		vector(INDEX, QUOIT_I32, SHORT, at + 4096),
		vector(GATHERED, QUOIT_F32, SHORT, at + 16384),
		vector(TABLE, QUOIT_F32, SHORT, at + 32768),
	};
	bool good = true;

	for (size_t i = 0; i < sizeof creates / sizeof creates[0]; i++)
		good &= !raw_run(c, creates[i]);
	return good;
}

/* Does it compute on the host? */
static bool computes(const struct operation *op)
{
	static const char *const elsewhere[] = {"NONE",    "FILE",    "LAUNCH",
						"ACQUIRE", "RELEASE", "CALL"};

	for (unsigned i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (!strcmp(op->shape, elsewhere[i]))
			return false;
	return true;
}

static bool moves_a_file(const struct operation *op)
{
	return !strcmp(op->shape, "FILE");
}

/* Run one operation until the session has met a hole, or for this many jobs. */
static void holes_during_one(struct stage *s, const struct operation *op, uint32_t jobs)
{
	static const struct raw_wish wish = {.host_bytes = 16 * MIB,
					     .arena_bytes = 8 * MIB,
					     .max_tensors = 64,
					     .sq_entries = 64};
	struct raw_client c;
	struct puncher p = {.client = &c};
	struct quoit_sqe job;
	pthread_t thread;
	int fd = scene_file_on_disk(), result = 0;
	uint32_t file, reason;

	if (!stage_open(s, &c, &wish) || !CHECK(s, make_tensors(&c)))
		return;
	CHECK(s, !ctl_add_file(&c, fd, &file) && !file);
	CHECK(s, make_job(op, &job));
	pthread_create(&thread, NULL, punch_on, &p);
	while (jobs-- && result >= 0)
		result = raw_run(&c, job);
	p.stop = true;
	pthread_join(thread, NULL);
	close(fd);
	reason = stage_leave(s, &c);
	if (!CHECK(s, reason == QUOIT_DAEMON_CLIENTS_LEFT ||
			      reason == QUOIT_DAEMON_KILL_MEM_VANISHED) ||
	    !CHECK(s, result >= 0 || result == -EFAULT || result == -ECONNRESET))
		printf("  operation %u: %d\n", op->opcode, result);
}

/* Run every operation of a kind with tensors in the arena, inline and tiled. */
static void holes_during(struct stage *s, bool (*kind)(const struct operation *op))
{
	for (unsigned n = 0; n < stage_times(s, 1, 40) && !s->bad; n++)
		for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
			if (kind(&operations[i]))
				holes_during_one(s, &operations[i], stage_random(s, 10));
}

static void holes_during_jobs(struct stage *s)
{
	holes_during(s, computes);
}

/* Threads that moved bytes stay for a while, or for good, for later transfers. */
static void holes_during_transfers(struct stage *s)
{
	holes_during(s, moves_a_file);
	census_take(s->daemon.pid, &s->before);
	holes_during(s, moves_a_file);
}

static const struct stage_case cases[] = {
	{"holes during jobs", holes_during_jobs},
	{"holes during transfers", holes_during_transfers},
};

int main(int argc, char **argv)
{
	static const char *const by_threads[] = {"--no-io-uring", "--lax-memory", NULL};
	const struct stage_scene scene = {.options = scene_lax, .prepare = scene_without_seals},
				 threads = {.options = by_threads, .prepare = scene_without_seals};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	stage_play(&stage, &scene, cases, sizeof cases / sizeof cases[0]);
	stage_play(&stage, &threads, &cases[1], 1);
	return stage_end(&stage);
}
