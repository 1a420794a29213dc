/* SPDX-License-Identifier: MIT */
/*
 * hostile_reads.c - reads of files, while their server does not answer
 *
 * A session, and a user, can have a limited number of them under way.  They must not delay others'
 * transfers.
 */
#include <errno.h>
#include <linux/fuse.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl_client.h"
#include "scenes.h"
#include "slow_server.h"

#define WORDS       16u /* of a tensor that is read into */
#define PATIENCE_MS 60000
#define A_WHILE_MS  300

/* Reads that a session submits, and the most that may be under way: docs/limits.md. */
#define READS        20u
#define OF_A_SESSION 16u
#define OF_A_USER    32u

static const struct raw_wish wish = {
	.host_bytes = 1 << 20, .arena_bytes = 4096, .max_tensors = 64, .sq_entries = 32};

/* A transfer between tensor t and the session's first file. */
static struct quoit_sqe transfer(uint8_t opcode, uint32_t t)
{
	return raw_job(opcode, t, 0, 0);
}

/* A new session can write to its file and read it. */
static void check_transfers(struct stage *s)
{
	const int32_t bytes = WORDS * sizeof(float);
	struct raw_client c;
	int fd = scene_file_on_disk();
	uint32_t index;

	if (stage_open(s, &c, &wish)) {
		CHECK(s, !ctl_add_file(&c, fd, &index));
		CHECK(s, !raw_run(&c, raw_vector(1, WORDS, RAW_ARENA_NOT)));
		CHECK(s, raw_run(&c, transfer(QUOIT_OP_FILE_WRITE, 1)) == bytes);
		CHECK(s, raw_run(&c, transfer(QUOIT_OP_FILE_READ, 1)) == bytes);
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	close(fd);
}

/* Submit reads of a file that is no longer served, until this many hang. */
static bool hang_reads(struct stage *s, struct raw_client *c, struct slow_server *v, int fd,
		       unsigned hanging)
{
	uint32_t index;

	if (!stage_open(s, c, &wish))
		return false;
	CHECK(s, !ctl_add_file(c, fd, &index));
	for (uint32_t t = 1; t <= READS; t++)
		CHECK(s, !raw_run(c, raw_vector(t, WORDS, RAW_ARENA_NOT)));
	for (uint32_t t = 1; t <= READS; t++) {
		struct quoit_sqe read = transfer(QUOIT_OP_FILE_READ, t);

		CHECK(s, raw_submit(c, &read));
	}
	slow_server_await(v, hanging);
	return true;
}

static void reap_failures(struct stage *s, struct raw_client *c)
{
	struct quoit_cqe cqe;

	for (uint32_t i = 0; i < READS; i++)
		CHECK(s, !raw_reap(c, PATIENCE_MS, &cqe, NULL) && cqe.res < 0);
	CHECK(s, stage_leave(s, c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- of a session ---- */

static void hang_and_go(struct stage *s, bool dies)
{
	struct slow_server v;
	struct raw_client c;
	int fd;

	if (!slow_server_enter(s, &v, &fd))
		return;
	slow_server_hold(&v, FUSE_READ);
	if (hang_reads(s, &c, &v, fd, OF_A_SESSION)) {
		if (dies)
			stage_die(s, &c);
		CHECK(s, !canary_check(&s->canary));
		check_transfers(s);
		CHECK(s, slow_server_await(&v, 0) == OF_A_SESSION);
		CHECK(s, dies || !quoit_ring_peek(&c.cq));
		slow_server_kill(&v);
		if (!dies)
			reap_failures(s, &c);
	} else {
		slow_server_kill(&v);
	}
	close(fd);
}

static void hang(struct stage *s)
{
	hang_and_go(s, false);
}

static void hang_and_die(struct stage *s)
{
	hang_and_go(s, true);
}

/* Threads that moved bytes stay for a while, or for good, for later transfers. */
static void play_again(struct stage *s, void (*first)(struct stage *s),
		       void (*then)(struct stage *s))
{
	first(s);
	census_take(s->daemon.pid, &s->before);
	if (!s->skip && !s->bad)
		then(s);
}

static void reads_that_are_never_answered(struct stage *s)
{
	play_again(s, hang, hang);
}

static void client_dies_with_reads_that_are_never_answered(struct stage *s)
{
	play_again(s, hang, hang_and_die);
}

/* ---- of a user ---- */

/* A read of bytes that are there: it waits for other reads of its user, but not of others. */
static void check_waiting(struct stage *s, struct slow_server *v)
{
	const int32_t bytes = WORDS * sizeof(float);
	struct quoit_sqe read = transfer(QUOIT_OP_FILE_READ, 1);
	int fd = memfd_create("torture", MFD_CLOEXEC);
	struct quoit_cqe cqe;
	struct raw_client c;
	uint32_t index;

	CHECK(s, !ftruncate(fd, bytes));
	if (stage_open(s, &c, &wish)) {
		CHECK(s, !ctl_add_file(&c, fd, &index));
		CHECK(s, !raw_run(&c, raw_vector(1, WORDS, RAW_ARENA_NOT)));
		CHECK(s, raw_submit(&c, &read));
		CHECK(s, raw_reap(&c, A_WHILE_MS, &cqe, NULL) == -ETIME);
		if (stage_has_users()) {
			raw_set_user(SCENE_BOB);
			check_transfers(s);
			raw_set_user(SCENE_MALLORY);
		}
		CHECK(s, slow_server_await(v, 0) == OF_A_USER);
		slow_server_kill(v);
		CHECK(s, !raw_reap(&c, PATIENCE_MS, &cqe, NULL) && cqe.res == bytes);
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	} else {
		slow_server_kill(v);
	}
	close(fd);
}

static void hang_all(struct stage *s)
{
	struct raw_client c[OF_A_USER / OF_A_SESSION];
	struct slow_server v;
	unsigned n = 0;
	int fd;

	if (!slow_server_enter(s, &v, &fd))
		return;
	slow_server_hold(&v, FUSE_READ);
	while (n < OF_A_USER / OF_A_SESSION && hang_reads(s, &c[n], &v, fd, (n + 1) * OF_A_SESSION))
		n++;
	check_waiting(s, &v);
	while (n-- > 0)
		reap_failures(s, &c[n]);
	close(fd);
}

static void reads_of_one_user_that_are_never_answered(struct stage *s)
{
	play_again(s, hang_all, hang_all);
}

/* ---- and its bytes ---- */

/* Expect this CQE next. */
static bool next_is(struct raw_client *c, uint64_t user_data, int32_t res)
{
	struct quoit_cqe cqe;

	return !raw_reap(c, PATIENCE_MS, &cqe, NULL) && cqe.user_data == user_data &&
	       cqe.res == res;
}

/* The kernel still writes there: no other tensor gets those bytes, even if there are no others. */
static void tensor_that_is_freed_under_a_read(struct stage *s)
{
	enum { HALF = 160 << 10, READ_IT = 100, FILL_IT, OTHER }; /* elements; user_data */
	struct quoit_sqe read = transfer(QUOIT_OP_FILE_READ, 1);
	struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, 2, 0, 0);
	struct quoit_sqe other = {.opcode = QUOIT_OP_NOP, .user_data = OTHER};
	struct slow_server v;
	struct raw_client c;
	uint32_t index;
	int fd;

	if (!slow_server_enter(s, &v, &fd))
		return;
	slow_server_hold(&v, FUSE_READ);
	read.user_data = READ_IT;
	fill.user_data = FILL_IT;
	if (stage_open(s, &c, &wish)) {
		CHECK(s, !ctl_add_file(&c, fd, &index));
		CHECK(s, !raw_run(&c, raw_vector(1, HALF, RAW_ARENA_NOT)));
		CHECK(s, raw_submit(&c, &read));
		slow_server_await(&v, 1);
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FREE, 1, 0, 0)));
		CHECK(s, !raw_run(&c, raw_vector(2, HALF, RAW_ARENA_NOT)));
		CHECK(s, raw_submit(&c, &fill));
		CHECK(s, raw_submit(&c, &other) && next_is(&c, OTHER, 0));
		CHECK(s, !canary_check(&s->canary));
		CHECK(s, !quoit_ring_peek(&c.cq));
		slow_server_kill(&v);
		CHECK(s, raw_reap(&c, PATIENCE_MS, &(struct quoit_cqe){0}, NULL) == 0);
		CHECK(s, next_is(&c, FILL_IT, 0));
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	} else {
		slow_server_kill(&v);
	}
	close(fd);
}

static const struct stage_case cases[] = {
	{"reads that are never answered", reads_that_are_never_answered},
	{"client dies with reads that are never answered",
	 client_dies_with_reads_that_are_never_answered},
	{"reads of one user that are never answered", reads_of_one_user_that_are_never_answered},
	{"tensor that is freed under a read", tensor_that_is_freed_under_a_read},
};

int main(int argc, char **argv)
{
	static const char *const by_ring[] = {"--reactors=1", NULL};
	static const char *const by_threads[] = {"--reactors=1", "--no-io-uring", NULL};
	const struct stage_scene ring = {.options = by_ring}, threads = {.options = by_threads};
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 2;
	stage_play(&s, &ring, cases, sizeof cases / sizeof cases[0]);
	stage_play(&s, &threads, cases, sizeof cases / sizeof cases[0]);
	return stage_end(&s);
}
