/* SPDX-License-Identifier: MIT */
/* canary.c - run a client that compares every bit */
#include "canary.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw_client.h"
#include "times.h"

#define SIDE          192u /* a GEMM of this size is cut into tiles */
#define MATRIX        (SIDE * SIDE)
#define PATIENCE_MS   30000 /* far longer than a round takes under a sanitizer */
#define PAUSE_US      500
#define WORDS_IN_TEXT 96

#define A_ROUND 8u /* small jobs after a round */

struct canary_words {
	_Atomic uint32_t rounds; /* counts begins and ends: odd while a round runs */
	_Atomic bool failed;
	char text[WORDS_IN_TEXT];
	_Atomic bool timed;
	struct times times;
};

/* ---- the client ---- */

/* Tensors: noise, its product with itself, a function of that, and a copy in the arena. */
enum { NOISE = 1, PRODUCT, CURVE, RESULT };

static struct quoit_sqe matrix(uint32_t handle, uint64_t offset)
{
	struct quoit_sqe sqe = raw_vector(handle, SIDE, offset);

	sqe.dim[2] = SIDE;
	return sqe;
}

static struct quoit_sqe gemm(void)
{
	struct quoit_sqe sqe = raw_job(QUOIT_OP_GEMM, PRODUCT, NOISE, NOISE);
	double one = 1;

	memcpy(&sqe.scalar[0], &one, sizeof one);
	return sqe;
}

static int run_round(struct raw_client *c)
{
	const struct quoit_sqe jobs[] = {
		matrix(NOISE, RAW_ARENA_NOT),
		matrix(PRODUCT, RAW_ARENA_NOT),
		matrix(CURVE, RAW_ARENA_NOT),
		matrix(RESULT, 0),
		{.opcode = QUOIT_OP_NORMAL, .tensor = {NOISE}, .scalar = {1, 0}},
		gemm(),
		raw_job(QUOIT_OP_TANH, CURVE, PRODUCT, 0),
		raw_job(QUOIT_OP_ADD, RESULT, CURVE, NOISE),
		raw_job(QUOIT_OP_FREE, NOISE, 0, 0),
		raw_job(QUOIT_OP_FREE, PRODUCT, 0, 0),
		raw_job(QUOIT_OP_FREE, CURVE, 0, 0),
		raw_job(QUOIT_OP_FREE, RESULT, 0, 0),
	};
	const unsigned count = sizeof jobs / sizeof jobs[0];
	struct quoit_cqe cqe;
	int err;

	memset(c->arena, 0xff, MATRIX * sizeof(float));
	for (unsigned i = 0; i < count; i++)
		if (!raw_submit(c, &jobs[i]))
			return -EAGAIN;
	for (unsigned i = 0; i < count; i++) {
		err = raw_reap(c, PATIENCE_MS, &cqe, NULL);
		if (err || cqe.res)
			return err ? err : cqe.res;
	}
	return 0;
}

static int time_small_jobs(struct raw_client *c, struct canary_words *w)
{
	const struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};

	for (unsigned i = 0; i < A_ROUND; i++) {
		uint64_t from = times_now_ns();
		int err = raw_run(c, nop);

		if (err)
			return err;
		times_add(&w->times, times_now_ns() - from);
	}
	return 0;
}

static void fail(struct canary_words *w, const char *what, int err, const char *text)
{
	snprintf(w->text, sizeof w->text, "%s: %s %.40s", what, strerror(-err), text);
	w->failed = true;
}

static void sing(const char *socket, struct canary_words *w)
{
	struct raw_wish wish = {.host_bytes = 2u << 20,
				.arena_bytes = 256u << 10,
				.max_tensors = 64,
				.sq_entries = 64};
	static uint8_t first[MATRIX * sizeof(float)];
	struct raw_client c;
	int err = raw_open(&c, socket, &wish);

	if (err) {
		fail(w, "cannot open a session", err, c.text);
		return;
	}
	for (bool again = false; !w->failed; again = true) {
		w->rounds++;
		err = run_round(&c);
		if (err)
			fail(w, "a job", err, c.text);
		else if (!again)
			memcpy(first, c.arena, sizeof first);
		else if (memcmp(first, c.arena, sizeof first))
			fail(w, "a round gave other bits", 0, "");
		w->rounds++;
		usleep(PAUSE_US);
		err = w->timed && !w->failed ? time_small_jobs(&c, w) : 0;
		if (err)
			fail(w, "a small job", err, c.text);
	}
}

static void become(uid_t uid)
{
	if (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
		_exit(1);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* ---- the test's side ---- */

int canary_start(struct canary *c, const char *socket, uid_t uid)
{
	void *shared = mmap(NULL, sizeof *c->words, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return -errno;
	c->words = shared;
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0) {
		become(uid);
		sing(socket, c->words);
		_exit(0);
	}
	return c->pid < 0 ? -errno : canary_check(c) ? -ECHILD : 0;
}

const char *canary_check(struct canary *c)
{
	/* the count at the end of the next round */
	uint32_t target = (c->words->rounds + 1u) / 2 * 2 + 2;

	for (int ms = 0; (int32_t)(c->words->rounds - target) < 0; ms++) {
		if (c->words->failed)
			return c->words->text;
		if (ms == PATIENCE_MS)
			return "does not get its jobs done";
		if (waitpid(c->pid, NULL, WNOHANG) == c->pid) {
			c->pid = -1;
			return "died";
		}
		usleep(1000);
	}
	return c->words->failed ? c->words->text : NULL;
}

void canary_time_anew(struct canary *c)
{
	times_clear(&c->words->times);
	c->words->timed = true;
}

uint64_t canary_p99_ns(const struct canary *c)
{
	return times_p99_ns(&c->words->times);
}

void canary_hold(const struct canary *c, bool still)
{
	(void)kill(c->pid, still ? SIGSTOP : SIGCONT);
}

void canary_stop(struct canary *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		(void)waitpid(c->pid, NULL, 0);
	}
	if (c->words)
		munmap(c->words, sizeof *c->words);
	*c = (struct canary){.pid = -1};
}
