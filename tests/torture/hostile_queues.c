/* SPDX-License-Identifier: MIT */
/*
 * hostile_queues.c - queues that are full of work and of answers; for root only: it needs several
 * users
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tsc.h"
#include "fair/tenant.h"
#include "job/sched.h"
#include "ops/optable.h"
#include "scenes.h"
#include "stage.h"

#define MIB         (UINT64_C(1) << 20)
#define PATIENCE_MS 60000

static bool open_as(struct stage *s, struct raw_client *c, uid_t uid, const struct raw_wish *wish)
{
	bool good;

	raw_set_user(uid);
	good = stage_open(s, c, wish);
	raw_set_user(SCENE_MALLORY);
	return good;
}

/* ---- case 64: queues full of the longest jobs that a reactor runs itself ---- */

#define FLOODS      24u
#define FLOOD_JOBS  512u
#define FLOOD_SIZE  12000u /* normal numbers: a job slightly below SCHED_INLINE_NS */
#define SMALL_JOBS  100u
#define SMALL_LEAST 20u /* this many of them must have met the flood */
#define TRIES       3u  /* other programs may keep the machine busy */
/* between two jobs: meanwhile quoitd stops polling the ring, and must find it again */
#define PAUSE_US    300

struct flood {
	struct raw_client client[FLOODS];
	unsigned open;
};

/* Open sessions with a tensor each; each runs one job before. */
static bool open_flood(struct stage *s, struct flood *f)
{
	static const struct raw_wish wish = {.host_bytes = MIB,
					     .max_tensors = 4,
					     .sq_entries = FLOOD_JOBS,
					     .cq_entries = FLOOD_JOBS,
					     .flags = QUOIT_RING_STAMPS};

	for (f->open = 0; f->open < FLOODS; f->open++) {
		struct raw_client *c = &f->client[f->open];

		if (!stage_open(s, c, &wish))
			return false;
		CHECK(s, !raw_run(c, raw_vector(1, FLOOD_SIZE, RAW_ARENA_NOT)));
	}
	return true;
}

static void fill_queues(struct stage *s, struct flood *f)
{
	static struct quoit_sqe job[FLOOD_JOBS];

	for (unsigned i = 0; i < FLOOD_JOBS; i++)
		job[i] = raw_job(QUOIT_OP_NORMAL, 1, 0, 0);
	for (unsigned i = 0; i < f->open; i++)
		CHECK(s, raw_submit_all(&f->client[i], job, FLOOD_JOBS));
}

static bool is_over(const struct flood *f)
{
	for (unsigned i = 0; i < f->open; i++)
		if (raw_cq_tail(&f->client[i]) != FLOOD_JOBS + 1)
			return false;
	return true;
}

static const struct quoit_stamps *stamps_at(const struct raw_client *c, uint32_t cq_index)
{
	return &c->stamps[cq_index & (c->layout.cq_entries - 1)];
}

/* From the time when a job was in the SQ, or slightly later, until it began. */
struct wait {
	uint64_t from, to;
};

/* Run them one after the other while the flood lasts; returns how many. */
static unsigned run_small_jobs(struct stage *s, struct raw_client *c, const struct flood *f,
			       struct wait *ret)
{
	const struct quoit_sqe job = raw_job(QUOIT_OP_NORMAL, 1, 0, 0);
	unsigned n = 0;

	while (n < SMALL_JOBS && !is_over(f) && !s->bad) {
		const struct quoit_stamps *at = stamps_at(c, raw_cq_tail(c));
		struct quoit_cqe cqe;

		usleep(PAUSE_US);
		CHECK(s, raw_submit(c, &job));
		ret[n].from = tsc_now();
		CHECK(s, !raw_reap(c, PATIENCE_MS, &cqe, NULL) && !cqe.res);
		ret[n++].to = at->start;
	}
	return n;
}

/* How many jobs of the flood began meanwhile. */
static unsigned count_begun(const struct flood *f, const struct wait *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->open; i++)
		for (uint32_t k = 1; k <= FLOOD_JOBS; k++) {
			uint64_t start = stamps_at(&f->client[i], k)->start;

			n += start >= w->from && start < w->to;
		}
	return n;
}

static uint64_t shortest_ns(const struct flood *f)
{
	uint64_t least = UINT64_MAX, ticks;

	for (unsigned i = 0; i < f->open; i++)
		for (uint32_t k = 1; k <= FLOOD_JOBS; k++) {
			const struct quoit_stamps *at = stamps_at(&f->client[i], k);

			ticks = at->end - at->start;
			least = ticks < least ? ticks : least;
		}
	return least * 1000 / (f->client[0].info.tsc_hz / 1000000);
}

/*
 * How many jobs one user may run in a turn: those that fit into it, and the last one that a session
 * then begins.
 */
static unsigned jobs_of_a_turn(const struct flood *f)
{
	uint64_t predicted = FLOOD_SIZE * optable_find(QUOIT_OP_NORMAL)->cost / 1000 + SCHED_JOB_NS;

	return (unsigned)(TENANT_TURN_NS / shortest_ns(f) + 1 + SCHED_TURN_NS / predicted + 1);
}

static int compare(const void *a, const void *b)
{
	return (int)*(const unsigned *)a - (int)*(const unsigned *)b;
}

/*
 * The bound of tenant.h, counted in jobs and not in time: two turns of the only other user.  Nine
 * of ten jobs must keep it, since the reactor may lose its core while it looks for rings that have
 * work again.
 */
static bool are_within_bound(const struct flood *f, const struct wait *wait, unsigned n)
{
	unsigned begun[SMALL_JOBS], bound = 2 * jobs_of_a_turn(f);

	for (unsigned i = 0; i < n; i++)
		begun[i] = count_begun(f, &wait[i]);
	qsort(begun, n, sizeof *begun, compare);
	if (begun[n * 9 / 10] > bound)
		printf("  %u jobs before one of another user's, not %u\n", begun[n * 9 / 10],
		       bound);
	return begun[n * 9 / 10] <= bound;
}

static bool try_flood(struct stage *s, struct raw_client *bob)
{
	static struct wait wait[SMALL_JOBS];
	static struct flood f;
	bool good = false;
	unsigned n;

	if (open_flood(s, &f)) {
		fill_queues(s, &f);
		n = run_small_jobs(s, bob, &f, wait);
		for (unsigned i = 0; i < f.open; i++)
			CHECK(s, raw_await_posted(&f.client[i], FLOOD_JOBS + 1));
		good = CHECK(s, n >= SMALL_LEAST) && are_within_bound(&f, wait, n);
	}
	for (unsigned i = 0; i < f.open; i++)
		CHECK(s, stage_leave(s, &f.client[i]) == QUOIT_DAEMON_CLIENTS_LEFT);
	return good;
}

static void small_jobs_beside_full_queues(struct stage *s)
{
	static const struct raw_wish wish = {
		.host_bytes = MIB, .max_tensors = 4, .sq_entries = 8, .flags = QUOIT_RING_STAMPS};
	struct raw_client bob;
	bool good = false;

	if (!open_as(s, &bob, SCENE_BOB, &wish))
		return;
	CHECK(s, !raw_run(&bob, raw_vector(1, 4, RAW_ARENA_NOT)));
	for (unsigned i = 0; i < TRIES && !good && !s->bad; i++)
		good = try_flood(s, &bob);
	CHECK(s, good);
	CHECK(s, stage_leave(s, &bob) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- case 62: a client that is stopped with all its credits ---- */

#define STOPPED_ENTRIES 64u
#define OTHERS_JOBS     1000u

/* Reap every job once, in order, and then more of them. */
static bool reap_all(struct raw_client *c)
{
	struct quoit_cqe cqe;

	for (uint32_t i = 0; i < 2 * STOPPED_ENTRIES; i++)
		if (raw_reap(c, PATIENCE_MS, &cqe, NULL) || cqe.res || cqe.user_data != i)
			return false;
	for (uint32_t i = 0; i < 10 * STOPPED_ENTRIES; i++)
		if (raw_run(c, raw_job(QUOIT_OP_NORMAL, 1, 0, 0)))
			return false;
	return true;
}

/* Fill the CQ, and then the SQ, and stop; the exit status after continuing tells the result. */
static int be_stopped(const char *socket, _Atomic uint64_t *ret_session)
{
	static const struct raw_wish wish = {.host_bytes = MIB,
					     .max_tensors = 4,
					     .sq_entries = STOPPED_ENTRIES,
					     .cq_entries = STOPPED_ENTRIES};
	struct raw_client c;
	bool good;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (raw_open(&c, socket, &wish) || raw_run(&c, raw_vector(1, FLOOD_SIZE, RAW_ARENA_NOT)))
		return 1;
	*ret_session = c.info.session;
	for (uint32_t i = 0; i < 2 * STOPPED_ENTRIES; i++) {
		struct quoit_sqe job = raw_job(QUOIT_OP_NORMAL, 1, 0, 0);

		job.user_data = i;
		if (i == STOPPED_ENTRIES && !raw_await_posted(&c, STOPPED_ENTRIES + 1))
			return 1;
		if (!raw_submit(&c, &job))
			return 1;
	}
	(void)raise(SIGSTOP);
	good = reap_all(&c);
	raw_close(&c);
	return !good;
}

/* Wait until all its jobs are counted. */
static uint64_t core_ticks(const struct stage *s, uint64_t session, uint64_t jobs)
{
	for (unsigned ms = 0; ms < PATIENCE_MS; ms++) {
		if (daemon_session_counter(&s->daemon, session, QUOIT_SESSION_DONE) >= jobs)
			break;
		usleep(1000);
	}
	return daemon_session_counter(&s->daemon, session, QUOIT_SESSION_CORE_TICKS);
}

/* quoitd must not skip another session for its sake; others may use its part of each round. */
static void lend_its_share(struct stage *s, uint64_t session)
{
	static const struct raw_wish wish = {.host_bytes = MIB, .max_tensors = 4, .sq_entries = 64};
	const uint64_t its_jobs = STOPPED_ENTRIES + 1;
	uint64_t its, ours;
	struct raw_client c;

	if (!open_as(s, &c, SCENE_BOB, &wish))
		return;
	its = core_ticks(s, session, its_jobs);
	CHECK(s, !raw_run(&c, raw_vector(1, FLOOD_SIZE, RAW_ARENA_NOT)));
	for (unsigned i = 0; i < OTHERS_JOBS && !s->bad; i++)
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_NORMAL, 1, 0, 0)));
	ours = core_ticks(s, c.info.session, OTHERS_JOBS + 1);
	its = core_ticks(s, session, its_jobs) - its;
	if (!CHECK(s, its < ours / 4))
		printf("  %llu ticks went to it, %llu to the other\n", (unsigned long long)its,
		       (unsigned long long)ours);
	CHECK(s, daemon_session_counter(&s->daemon, session, QUOIT_SESSION_DONE) == its_jobs);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void client_that_is_stopped_with_all_its_credits(struct stage *s)
{
	_Atomic uint64_t *session = mmap(NULL, sizeof *session, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t pid;

	if (!CHECK(s, session != MAP_FAILED))
		return;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(be_stopped(s->daemon.socket, session));
	if (CHECK(s, waitpid(pid, &status, WUNTRACED) == pid) && CHECK(s, WIFSTOPPED(status))) {
		lend_its_share(s, *session);
		CHECK(s, !kill(pid, SIGCONT));
		CHECK(s, waitpid(pid, &status, 0) == pid && !status);
	}
	stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1); /* it closes without a message */
	munmap(session, sizeof *session);
}

static const struct stage_case cases[] = {
	{"small jobs beside full queues", small_jobs_beside_full_queues},
	{"client that is stopped with all its credits",
	 client_that_is_stopped_with_all_its_credits},
};
#define CASES (sizeof cases / sizeof cases[0])

int main(int argc, char **argv)
{
	static const char *const options[] = {"--reactors=1", NULL};
	const struct stage_scene scene = {.options = options};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	if (stage_has_users())
		stage_play(&stage, &scene, cases, CASES);
	else
		stage_skip(&stage, cases, CASES, "needs several users");
	return stage_end(&stage);
}
