/* SPDX-License-Identifier: MIT */
/*
 * queue_torture.c - processes that send to one queue and receive from it, give up, close it, and are
 * killed
 *
 * The queue has little room.  Each word of a message says whose it is and which one, so that a
 * receiver sees one that is torn, comes twice, overtakes, or was never sent.  Of one process that is
 * killed at most those messages are lost that it was about to look at.  quoitd has one reactor, or
 * two.  At the end the queue is as a new one, and then nothing of it is left.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

#include "forked.h"
#include "leftovers.h"
#include "queue_load.h"
#include "stage.h"

#define PATIENCE_MS 60000u
#define SHORT_MS    10

struct play {
	struct daemon d;
	struct queue_load *l;
	struct queue_hand *h; /* the parent's, which keeps the queue there */
	pid_t pid[QUEUE_WORKERS];
	unsigned kills;
};

/* ---- the play ---- */

static bool goes_well(struct stage *s, const struct play *p)
{
	for (unsigned i = 0; i < QUEUE_HANDS; i++)
		if (*p->l->hand[i].wrong) {
			printf("  process %u:\n", i);
			stage_check(s, false, __FILE__, __LINE__, p->l->hand[i].wrong);
		}
	return !s->bad;
}

static bool begin(struct stage *s, struct play *p, const char *reactors,
		  const struct queue_mode *mode)
{
	const char *const options[] = {"--reactors", reactors, NULL};

	*p = (struct play){.d.pid = -1};
	if (!CHECK(s, !daemon_start(&p->d, options)))
		return false;
	p->l = queue_load_new(p->d.socket, mode);
	if (!CHECK(s, p->l != NULL))
		return false;
	p->h = queue_hand_open(p->l, QUEUE_WORKERS);
	if (!CHECK(s, p->h != NULL) || !goes_well(s, p))
		return false;
	for (unsigned i = 0; i < QUEUE_WORKERS; i++)
		p->pid[i] = queue_load_start(p->l, i);
	return true;
}

/* Until so many more messages have been sent or received. */
static void let_run(struct stage *s, const struct play *p, uint64_t messages)
{
	const uint64_t until = queue_load_ended(p->l) + messages;

	for (unsigned ms = 0; queue_load_ended(p->l) < until && goes_well(s, p); ms++) {
		if (!CHECK(s, ms < PATIENCE_MS))
			return;
		usleep(1000);
	}
}

/* ---- deaths ---- */

/* Best while a message is being copied. */
static void await_job(struct stage *s, const struct play *p, unsigned i)
{
	for (unsigned k = 0; k < 2000 && !atomic_load(&p->l->hand[i].is_busy); k++)
		usleep(10);
	usleep(stage_random(s, 300));
}

static void kill_one(struct stage *s, struct play *p, unsigned i)
{
	forked_kill(s, p->pid[i]);
	p->kills++;
	p->pid[i] = queue_load_start(p->l, i);
}

static void kill_some(struct stage *s, struct play *p, unsigned kills)
{
	for (unsigned n = 0; n < kills && goes_well(s, p); n++) {
		unsigned i = stage_random(s, QUEUE_WORKERS);

		let_run(s, p, 40);
		if (n % 4)
			await_job(s, p, i);
		else
			usleep(stage_random(s, 2000));
		kill_one(s, p, i);
	}
}

/* ---- the end ---- */

/* One that waits for a message gets one; one that waits for room gets that. */
static void let_go(struct stage *s, struct play *p)
{
	if (queue_hand_send(p->h, 0, SHORT_MS) == -ETIME)
		CHECK(s, queue_hand_receive(p->h, SHORT_MS) != -EIO);
}

static bool has_exited(struct stage *s, struct play *p, unsigned i)
{
	int status = -1;

	if (p->pid[i] <= 0 || waitpid(p->pid[i], &status, WNOHANG) != p->pid[i])
		return false;
	if (!CHECK(s, status == 0))
		printf("  wait status of %u: %#x\n", i, (unsigned)status);
	p->pid[i] = -1;
	return true;
}

/* All end by themselves, well. */
static void await_exits(struct stage *s, struct play *p)
{
	unsigned left = QUEUE_WORKERS;

	for (unsigned ms = 0; left; ms++) {
		for (unsigned i = 0; i < QUEUE_WORKERS; i++)
			left -= has_exited(s, p, i);
		if (left && (!goes_well(s, p) || !CHECK(s, ms < PATIENCE_MS)))
			break;
		if (left)
			let_go(s, p);
		usleep(1000);
	}
	for (unsigned i = 0; i < QUEUE_WORKERS; i++)
		if (p->pid[i] > 0) {
			kill(p->pid[i], SIGKILL);
			(void)waitpid(p->pid[i], NULL, 0);
		}
}

/* Receive all that is there: so many. */
static unsigned drain(struct stage *s, struct play *p)
{
	unsigned n = 0;
	int res;

	while (!(res = queue_hand_receive(p->h, SHORT_MS)))
		n++;
	CHECK(s, res == -ETIME);
	return n;
}

/* Receive so many; there are no more. */
static void drain_all(struct stage *s, struct play *p, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		CHECK(s, !queue_hand_receive(p->h, (int)PATIENCE_MS));
	CHECK(s, drain(s, p) == 0);
}

/* What a process had received when it was killed may not have been noted. */
static void check_lost(struct stage *s, const struct play *p)
{
	const uint64_t lost = queue_load_lost(p->l), backward = atomic_load(&p->l->backward);
	const uint64_t rows = p->l->mode.may & QUEUE_MAY_ROWS ? QUEUE_ROWS : 1;
	const uint64_t most = p->kills * rows * p->l->mode.window;

	if (!CHECK(s, lost <= most) || !CHECK(s, backward <= most))
		printf("  %llu were lost, %llu came late, %u were killed\n",
		       (unsigned long long)lost, (unsigned long long)backward, p->kills);
}

/* All its room can be had: the most bytes, then the most messages. */
static void check_room(struct stage *s, struct play *p)
{
	const struct queue_mode *m = &p->l->mode;
	const uint64_t bytes = (m->size[0] * sizeof(uint64_t) + 63) / 64 * 64;
	uint64_t room = m->bytes / bytes;

	room = room < m->messages ? room : m->messages;
	for (unsigned round = 0; round < 2 && !s->bad; round++) {
		for (unsigned i = 0; i < m->sizes; i++) {
			CHECK(s, !queue_hand_send(p->h, i, (int)PATIENCE_MS));
			drain_all(s, p, 1);
		}
		for (uint64_t i = 0; i < room && !s->bad; i++)
			CHECK(s, !queue_hand_send(p->h, 0, (int)PATIENCE_MS));
		CHECK(s, queue_hand_send(p->h, 0, SHORT_MS) == -ETIME);
		drain_all(s, p, room);
	}
}

static void end(struct stage *s, struct play *p)
{
	(void)goes_well(s, p);
	atomic_store(&p->l->stop, true);
	await_exits(s, p);
	if (goes_well(s, p)) {
		(void)drain(s, p);
		check_lost(s, p);
		check_room(s, p);
		CHECK(s, p->l->mode.sizes == 1 || atomic_load(&p->l->retried));
	}
	(void)goes_well(s, p);
	CHECK(s, queue_hand_close(p->h));
	leftovers_await_none(s, &p->d);
	queue_load_free(p->l);
	daemon_stop(&p->d);
}

/* ---- cases ---- */

/* Many under way at once: they keep their order though some have their data late. */
static const struct queue_mode small = {
	.messages = 3, .bytes = 1024, .window = QUEUE_WINDOW, .sizes = 1, .size = {8}};

/* From one element to the whole queue; often the end of its memory is too near for the next one. */
static const struct queue_mode varied = {.messages = 4,
					 .bytes = 65536,
					 .window = 2,
					 .sizes = 6,
					 .size = {1, 8, 100, 1000, 4097, 8192}};

/* They are copied in several parts. */
static const struct queue_mode large = {
	.messages = 4, .bytes = 1 << 20, .window = 2, .sizes = 1, .size = {60000}};

/* As long as can be if three are sent at once. */
static const struct queue_mode long_rows = {
	.messages = 4, .bytes = 1 << 20, .window = 2, .sizes = 1, .size = {40000}};

static struct queue_mode which_may(const struct queue_mode *mode, uint32_t may)
{
	struct queue_mode m = *mode;

	m.may = may;
	return m;
}

static void all_go_on(struct stage *s, const char *reactors, struct queue_mode mode, uint32_t few)
{
	struct play p;

	if (!begin(s, &p, reactors, &mode))
		return;
	let_run(s, &p, stage_times(s, few, 50 * few));
	end(s, &p);
}

static void small_messages(struct stage *s)
{
	all_go_on(s, "1", small, 4000);
	all_go_on(s, "2", small, 4000);
}

static void rows(struct stage *s)
{
	all_go_on(s, "1", which_may(&small, QUEUE_MAY_ROWS), 3000);
	all_go_on(s, "2", which_may(&small, QUEUE_MAY_ROWS), 3000);
	all_go_on(s, "2", which_may(&long_rows, QUEUE_MAY_ROWS), 150);
	all_go_on(s, "2", which_may(&small, QUEUE_MAY_ROWS | QUEUE_MAY_LATE), 1000);
}

static void messages_of_many_sizes(struct stage *s)
{
	all_go_on(s, "1", varied, 2000);
	all_go_on(s, "2", varied, 2000);
}

static void large_messages(struct stage *s)
{
	all_go_on(s, "1", large, 200);
	all_go_on(s, "2", large, 200);
}

static void those_who_give_up(struct stage *s)
{
	all_go_on(s, "1", which_may(&small, QUEUE_MAY_LATE), 1500);
	all_go_on(s, "2", which_may(&small, QUEUE_MAY_LATE), 1500);
	all_go_on(s, "2", which_may(&varied, QUEUE_MAY_LATE), 600);
	all_go_on(s, "2", which_may(&large, QUEUE_MAY_LATE), 150);
}

static void those_who_close_it(struct stage *s)
{
	all_go_on(s, "1", which_may(&small, QUEUE_MAY_CLOSE), 1500);
	all_go_on(s, "2", which_may(&varied, QUEUE_MAY_CLOSE), 600);
}

static void with_deaths(struct stage *s, const char *reactors, struct queue_mode mode)
{
	struct play p;

	mode.may |= QUEUE_MAY_DIE;
	if (!begin(s, &p, reactors, &mode))
		return;
	kill_some(s, &p, stage_times(s, 12, 400));
	end(s, &p);
}

static void those_who_are_killed(struct stage *s)
{
	with_deaths(s, "1", small);
	with_deaths(s, "1", large);
	with_deaths(s, "2", large);
	with_deaths(s, "2", which_may(&long_rows, QUEUE_MAY_ROWS));
}

static void all_at_once(struct stage *s)
{
	with_deaths(s, "2", which_may(&small, QUEUE_MAY_LATE | QUEUE_MAY_CLOSE));
	with_deaths(s, "2", which_may(&small, QUEUE_MAY_LATE | QUEUE_MAY_CLOSE | QUEUE_MAY_ROWS));
	with_deaths(s, "2", which_may(&varied, QUEUE_MAY_LATE | QUEUE_MAY_CLOSE));
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(small_messages),         STAGE_CASE(rows),
		STAGE_CASE(messages_of_many_sizes), STAGE_CASE(large_messages),
		STAGE_CASE(those_who_give_up),      STAGE_CASE(those_who_close_it),
		STAGE_CASE(those_who_are_killed),   STAGE_CASE(all_at_once),
	};

	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof *cases);
}
