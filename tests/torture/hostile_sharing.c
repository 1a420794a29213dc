/* SPDX-License-Identifier: MIT */
/* hostile_sharing.c - clients that write to pages that are not theirs, or that others write, too */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

#include "scenes.h"
#include "stage.h"

#define ENTRIES 16u

static const struct raw_wish small = {.host_bytes = 1u << 20,
				      .arena_bytes = 64u << 10,
				      .max_tensors = 64,
				      .sq_entries = ENTRIES,
				      .cq_entries = ENTRIES};

/* ---- pages that quoitd writes ---- */

/* The pages may have any contents: quoitd reads none of them, and its next words are right. */
static void noise_in_the_daemons_pages(struct stage *s)
{
	struct raw_client c;
	uint8_t *page;

	if (!stage_open(s, &c, &small))
		return;
	page = (uint8_t *)c.daemon;
	for (uint32_t n = 0; n < stage_times(s, 200, 20000) && !s->bad; n++) {
		uint32_t slot = n & (ENTRIES - 1);

		for (uint32_t at = 0; at < c.layout.daemon_bytes; at += sizeof at) {
			uint32_t noise = stage_random(s, UINT32_MAX);

			memcpy(page + at, &noise, sizeof noise);
		}
		*raw_slot(&c, n) = (struct quoit_sqe){.opcode = QUOIT_OP_NOP, .user_data = n};
		raw_set_tail(&c, n + 1);
		CHECK(s, raw_await_posted(&c, n + 1));
		CHECK(s, raw_sq_head(&c) == n + 1);
		CHECK(s, c.cqes[slot].user_data == n && !c.cqes[slot].res && !c.cqes[slot].flags);
		raw_set_cq_head(&c, n + 1);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- several users of one ring ---- */

/* Write a slot while others write it, too. */
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

		if (tail - raw_sq_head(r->client) >= ENTRIES)
			raw_set_cq_head(r->client, raw_cq_tail(r->client));
		else {
			scribble(r->client, tail, &job);
			raw_set_tail(r->client, tail + 1);
		}
	}
	return NULL;
}

static void two_threads_on_one_ring(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 4, 200) && !s->bad; i++) {
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
		raw_submit_nops(&c, 5);
		_exit(raw_reap_good(&c, 5) ? 0 : 1);
	}
	CHECK(s, waitpid(pid, NULL, 0) == pid);
	CHECK(s, raw_cq_tail(&c) == 5);
	c.sq.next = c.sq.published = c.sq.cached_head = c.cq.next = c.cq.cached_tail = 5;
	raw_submit_nops(&c, 5);
	CHECK(s, raw_reap_good(&c, 5));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void parent_and_child_submit_at_once(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 10, 500) && !s->bad; i++) {
		struct raw_client c;
		pid_t pid;

		if (!stage_open(s, &c, &small))
			return;
		pid = fork();
		for (unsigned n = 0; n < 20; n++)
			raw_submit_nops(&c, 3);
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
	int status = 0, err;
	pid_t pid;

	if (stage_has_users())
		CHECK(s, !seteuid(SCENE_MALLORY));
	err = quoit_open(&p, &session);
	if (stage_has_users())
		CHECK(s, !seteuid(0));
	if (!CHECK(s, !err) || !CHECK(s, !quoit_open_ring(session, NULL, &ring)))
		return;
	CHECK(s, !quoit_push(ring, quoit_nop(0)));
	pid = fork();
	if (pid == 0)
		_exit(quoit_push(ring, quoit_nop(0)) == -EOWNERDEAD &&
				      quoit_wait_all(ring, 1000) == -EOWNERDEAD
			      ? 0
			      : 1);
	CHECK(s, waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(s, !quoit_wait_all(ring, 30000));
	CHECK(s, !quoit_close(session, 0));
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
}

static const struct stage_case cases[] = {
	{"noise in the daemon's pages", noise_in_the_daemons_pages},
	{"two threads on one ring", two_threads_on_one_ring},
	{"child uses the ring", child_uses_the_ring},
	{"parent and child submit at once", parent_and_child_submit_at_once},
	{"child of a library client", child_of_a_library_client},
};

int main(int argc, char **argv)
{
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}
