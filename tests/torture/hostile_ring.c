/* SPDX-License-Identifier: MIT */
/* hostile_ring.c - clients that lie about indices, or write where they must not */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

#include "stage.h"

#define ENTRIES     16u
#define PATIENCE_MS 60000

static const struct raw_wish small = {.host_bytes = 1u << 20,
				      .arena_bytes = 64u << 10,
				      .max_tensors = 64,
				      .sq_entries = ENTRIES,
				      .cq_entries = ENTRIES};

static void set_tail(const struct raw_client *c, uint32_t tail)
{
	QUOIT_RING_STORE(&c->client->sq_tail, tail, QUOIT_RING_SEQ_CST);
	raw_ring_bell(c);
}

static void set_cq_head(const struct raw_client *c, uint32_t head)
{
	QUOIT_RING_STORE(&c->client->cq_head, head, QUOIT_RING_SEQ_CST);
}

static uint32_t sq_head(const struct raw_client *c)
{
	return QUOIT_RING_LOAD(&c->daemon->sq_head, QUOIT_RING_ACQUIRE);
}

static uint32_t cq_tail(const struct raw_client *c)
{
	return QUOIT_RING_LOAD(&c->daemon->cq_tail, QUOIT_RING_ACQUIRE);
}

/* Wait until so many CQEs lie there, without reading them. */
static bool await_posted(struct raw_client *c, uint32_t tail)
{
	for (int ms = 0; cq_tail(c) != tail; ms++) {
		if (ms == PATIENCE_MS || raw_has_ended(c, 0))
			return false;
		usleep(1000);
	}
	return true;
}

static void submit_nops(struct raw_client *c, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP, .user_data = c->sq.next};

		(void)raw_submit(c, &nop);
	}
}

static bool reap(struct raw_client *c, unsigned count)
{
	struct quoit_cqe cqe;

	for (unsigned i = 0; i < count; i++)
		if (raw_reap(c, PATIENCE_MS, &cqe, NULL) || cqe.res)
			return false;
	return true;
}

/* ---- the SQ tail ---- */

static void tail_beyond_the_ring(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	set_tail(&c, ENTRIES + 1);
	CHECK(s, raw_has_ended(&c, PATIENCE_MS));
	CHECK(s, sq_head(&c) == 0 && cq_tail(&c) == 0); /* no slot was read */
	stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
}

static void tail_below_the_head(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	submit_nops(&c, 4);
	CHECK(s, reap(&c, 4));
	set_tail(&c, 3);
	stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
}

/* Taken back before quoitd looked, or not: a smaller batch, or a tail below the head. */
static void tail_taken_back(struct stage *s)
{
	for (unsigned i = 0; i < (s->full ? 5000 : 50); i++) {
		struct raw_client c;

		if (!stage_open(s, &c, &small))
			return;
		usleep(stage_random(s, 500));
		QUOIT_RING_STORE(&c.client->sq_tail, 8, QUOIT_RING_SEQ_CST);
		set_tail(&c, 4);
		for (int ms = 0; cq_tail(&c) < 4 && !raw_has_ended(&c, 1) && ms < PATIENCE_MS; ms++)
			;
		CHECK(s, cq_tail(&c) == 4 || cq_tail(&c) == 8);
		if (cq_tail(&c) == 8)
			stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
		else
			(void)stage_leave(s, &c);
	}
}

static uint32_t random_tail(struct stage *s, uint32_t head)
{
	if (stage_random(s, 2))
		return head - 2 + stage_random(s, ENTRIES + 5);
	return stage_random(s, UINT32_MAX);
}

static void tail_at_random(struct stage *s)
{
	for (unsigned i = 0; i < (s->full ? 100000 : 200); i++) {
		uint32_t head = stage_random(s, ENTRIES), tail = random_tail(s, head);
		struct raw_client c;

		if (!stage_open(s, &c, &small))
			return;
		submit_nops(&c, head);
		CHECK(s, reap(&c, head));
		memset(c.sqes, 0, ENTRIES * sizeof *c.sqes);
		set_tail(&c, tail);
		if (tail - head > ENTRIES) {
			stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
			continue;
		}
		CHECK(s, reap(&c, tail - head));
		CHECK(s, sq_head(&c) == tail && cq_tail(&c) == tail);
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
}

struct flapper {
	uint32_t *word;
	uint32_t values[2];
	_Atomic bool stop;
};

static void *flap(void *arg)
{
	struct flapper *f = arg;

	for (unsigned i = 0; !f->stop; i++)
		QUOIT_RING_STORE(f->word, f->values[i & 1], QUOIT_RING_RELAXED);
	return NULL;
}

/* What was checked is what is used: a valid batch, or none and the end. */
static void tail_changed_all_the_time(struct stage *s)
{
	for (unsigned i = 0; i < (s->full ? 5000 : 50); i++) {
		struct flapper f = {.values = {5, ENTRIES + 9}};
		struct raw_client c;
		pthread_t thread;

		if (!stage_open(s, &c, &small))
			return;
		f.word = &c.client->sq_tail;
		pthread_create(&thread, NULL, flap, &f);
		raw_ring_bell(&c);
		CHECK(s, raw_has_ended(&c, PATIENCE_MS));
		f.stop = true;
		pthread_join(thread, NULL);
		CHECK(s, sq_head(&c) == 0 || sq_head(&c) == 5);
		CHECK(s, cq_tail(&c) == sq_head(&c));
		stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
	}
}

/* The short form of this is in ring_torture.c, where the indices can be chosen. */
static void indices_wrap(struct stage *s)
{
	const struct raw_wish large = {.host_bytes = 1u << 20, .sq_entries = 4096};
	const uint64_t jobs = (UINT64_C(1) << 32) + 100000;
	struct raw_client c;

	if (!s->full) {
		s->skip = "2^32 jobs take minutes: --full";
		return;
	}
	if (!stage_open(s, &c, &large))
		return;
	for (uint64_t done = 0; done < jobs && !s->bad;) {
		uint32_t posted = cq_tail(&c);

		done += posted - c.cq.next;
		c.cq.next = posted;
		set_cq_head(&c, posted);
		CHECK(s, posted - sq_head(&c) == 0 || sq_head(&c) - posted <= 8192);
		QUOIT_RING_STORE(&c.client->sq_tail, sq_head(&c) + 4096, QUOIT_RING_SEQ_CST);
		if (QUOIT_RING_LOAD(&c.daemon->need_wake, QUOIT_RING_SEQ_CST))
			raw_ring_bell(&c);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- the CQ head ---- */

/* As many jobs as quoitd will ask us for the head: more than half of the CQ is unread. */
#define MANY (ENTRIES / 2 + 2)

static void cq_head_ahead_of_the_tail(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	submit_nops(&c, MANY);
	CHECK(s, await_posted(&c, MANY));
	set_cq_head(&c, MANY + 1);
	submit_nops(&c, 1);
	stage_await_end(s, &c, QUOIT_DAEMON_KILL_CQ_HEAD);
}

static void cq_head_jumps_back(struct stage *s)
{
	static const uint32_t steps[] = {1, ENTRIES};

	for (unsigned i = 0; i < 2; i++) {
		struct raw_client c;

		if (!stage_open(s, &c, &small))
			return;
		submit_nops(&c, MANY);
		CHECK(s, reap(&c, MANY));
		submit_nops(&c, MANY); /* quoitd looks at the head meanwhile */
		CHECK(s, await_posted(&c, 2 * MANY));
		set_cq_head(&c, MANY - steps[i]);
		submit_nops(&c, 1);
		CHECK(s, raw_has_ended(&c, PATIENCE_MS));
		CHECK(s, cq_tail(&c) == 2 * MANY);
		for (uint32_t n = MANY; n < 2 * MANY; n++) /* unread ones were not overwritten */
			CHECK(s, c.cqes[n % ENTRIES].user_data == n);
		stage_await_end(s, &c, QUOIT_DAEMON_KILL_CQ_HEAD);
	}
}

static void cq_head_never_moves(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	submit_nops(&c, ENTRIES);
	CHECK(s, await_posted(&c, ENTRIES));
	submit_nops(&c, ENTRIES);
	for (int ms = 0; ms < 300; ms += 10) {
		CHECK(s, cq_tail(&c) == ENTRIES && sq_head(&c) == ENTRIES);
		usleep(10000);
	}
	for (uint32_t n = 0; n < ENTRIES; n++)
		CHECK(s, c.cqes[n].user_data == n);
	CHECK(s, reap(&c, 2 * ENTRIES)); /* and goes on as soon as there is room */
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- pages that are not ours ---- */

/* Does a store end a process that tries it? */
static bool store_is_deadly(const void *at)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		(void)signal(SIGSEGV, SIG_DFL);
		*(uint8_t *)(uintptr_t)at = 1;
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static bool fails_with(long result, int error)
{
	return result < 0 && errno == error;
}

static void write_to_the_daemons_pages(struct stage *s)
{
	struct raw_client c;
	uint8_t *page;
	uint32_t bytes;
	struct iovec from, to;

	if (!stage_open(s, &c, &small))
		return;
	submit_nops(&c, 3);
	CHECK(s, reap(&c, 3));
	page = (uint8_t *)(uintptr_t)c.daemon;
	bytes = c.layout.daemon_bytes;
	from = (struct iovec){(void *)(uintptr_t) "scribble", 8};
	to = (struct iovec){page, 8};
	CHECK(s, store_is_deadly(page));
	CHECK(s, fails_with(mprotect(page, bytes, PROT_READ | PROT_WRITE), EACCES));
	CHECK(s, fails_with(pwrite(c.daemon_fd, "scribble", 8, 0), EBADF));
	CHECK(s, fails_with(process_vm_writev(getpid(), &from, 1, &to, 1, 0), EFAULT));
	CHECK(s,
	      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c.daemon_fd, 0) == MAP_FAILED);
	CHECK(s, fails_with(madvise(page, bytes, MADV_REMOVE), EACCES));
	CHECK(s, fails_with(ftruncate(c.daemon_fd, 0), EINVAL));
	CHECK(s, fails_with(fallocate(c.daemon_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
				      bytes),
			    EBADF));
	CHECK(s, sq_head(&c) == 3 && cq_tail(&c) == 3 && c.cqes[2].user_data == 2);
	submit_nops(&c, 3);
	CHECK(s, reap(&c, 3));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- several who think that the ring is theirs ---- */

/* A slot while others write it too. */
static void scribble(const struct raw_client *c, uint32_t index, const struct quoit_sqe *sqe)
{
	uint64_t *slot = (uint64_t *)raw_slot(c, index);
	const uint64_t *from = (const uint64_t *)sqe;

	for (unsigned i = 0; i < sizeof *sqe / sizeof *from; i++)
		__atomic_store_n(&slot[i], from[i], __ATOMIC_RELAXED);
}

struct rival {
	struct raw_client *client;
	uint32_t handle;
	_Atomic bool *stop;
};

static void *rival(void *arg)
{
	struct rival *r = arg;
	const struct quoit_sqe job = raw_job(QUOIT_OP_FILL, r->handle, 0, 0);

	while (!*r->stop) {
		uint32_t tail = QUOIT_RING_LOAD(&r->client->client->sq_tail, QUOIT_RING_RELAXED);

		if (tail - sq_head(r->client) >= ENTRIES)
			set_cq_head(r->client, cq_tail(r->client));
		else {
			scribble(r->client, tail, &job);
			set_tail(r->client, tail + 1);
		}
	}
	return NULL;
}

static void two_threads_on_one_ring(struct stage *s)
{
	for (unsigned i = 0; i < (s->full ? 200 : 4); i++) {
		_Atomic bool stop = false;
		struct rival rivals[2];
		struct raw_client c;
		pthread_t threads[2];

		if (!stage_open(s, &c, &small))
			return;
		for (uint32_t n = 0; n < 2; n++) {
			CHECK(s, !raw_run(&c, raw_vector(n + 1, 100, RAW_ARENA_NOT)));
			rivals[n] = (struct rival){&c, n + 1, &stop};
		}
		for (unsigned n = 0; n < 2; n++)
			pthread_create(&threads[n], NULL, rival, &rivals[n]);
		usleep(100000);
		stop = true;
		for (unsigned n = 0; n < 2; n++)
			pthread_join(threads[n], NULL);
		(void)stage_leave(s, &c);
	}
}

/* The child uses the parent's pages and sockets, then goes; the parent's session stays. */
static void child_uses_the_ring(struct stage *s)
{
	struct raw_client c;
	pid_t pid;

	if (!stage_open(s, &c, &small))
		return;
	pid = fork();
	if (pid == 0) {
		submit_nops(&c, 5);
		_exit(reap(&c, 5) ? 0 : 1);
	}
	CHECK(s, waitpid(pid, NULL, 0) == pid);
	CHECK(s, cq_tail(&c) == 5);
	c.sq.next = c.sq.published = c.sq.cached_head = c.cq.next = c.cq.cached_tail = 5;
	submit_nops(&c, 5);
	CHECK(s, reap(&c, 5));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void parent_and_child_submit_at_once(struct stage *s)
{
	for (unsigned i = 0; i < (s->full ? 500 : 10); i++) {
		struct raw_client c;
		pid_t pid;

		if (!stage_open(s, &c, &small))
			return;
		pid = fork();
		for (unsigned n = 0; n < 20; n++)
			submit_nops(&c, 3);
		if (pid == 0)
			_exit(0);
		CHECK(s, waitpid(pid, NULL, 0) == pid);
		(void)stage_leave(s, &c);
	}
}

static void child_of_a_library_client(struct stage *s)
{
	struct quoit_open_params p = {.socket = s->daemon.socket, .host_bytes = 1u << 20};
	struct quoit_session *session;
	struct quoit_ring *ring;
	int status = 0;
	pid_t pid;

	if (!CHECK(s, !quoit_open(&session, &p)) ||
	    !CHECK(s, !quoit_ring_open(&ring, session, NULL)))
		return;
	CHECK(s, !quoit_push(ring, quoit_nop(0)));
	pid = fork();
	if (pid == 0)
		_exit(quoit_push(ring, quoit_nop(0)) == -EOWNERDEAD &&
				      quoit_wait_all(ring, 1000) == -EOWNERDEAD
			      ? 0
			      : 1);
	CHECK(s, waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(s, !quoit_wait_all(ring, PATIENCE_MS));
	CHECK(s, !quoit_close(session, 0));
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
}

static const struct stage_case cases[] = {
	{"tail beyond the ring", tail_beyond_the_ring},
	{"tail below the head", tail_below_the_head},
	{"tail taken back", tail_taken_back},
	{"tail at random", tail_at_random},
	{"tail changed all the time", tail_changed_all_the_time},
	{"indices wrap", indices_wrap},
	{"CQ head ahead of the tail", cq_head_ahead_of_the_tail},
	{"CQ head jumps back", cq_head_jumps_back},
	{"CQ head never moves", cq_head_never_moves},
	{"writes to the daemon's pages", write_to_the_daemons_pages},
	{"two threads on one ring", two_threads_on_one_ring},
	{"child uses the ring", child_uses_the_ring},
	{"parent and child submit at once", parent_and_child_submit_at_once},
	{"child of a library client", child_of_a_library_client},
};

int main(int argc, char **argv)
{
	const struct stage_scene scene = {0};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	stage_play(&stage, &scene, cases, sizeof cases / sizeof cases[0]);
	return stage_end(&stage);
}
