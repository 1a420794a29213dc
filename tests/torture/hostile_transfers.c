/* SPDX-License-Identifier: MIT */
/*
 * hostile_transfers.c - transfers that never end, the end of quoitd, and the next quoitd
 *
 * A client lets quoitd write to a file whose inode it keeps locked itself (by a write of a page
 * that the server of another file system never sends), or read from such a server.  quoitd's thread
 * waits in the kernel, and not even SIGKILL ends it before the client lets go.  Others must not
 * notice.  quoitd ends when it is told to; when it is killed, its clients and the next quoitd find
 * it gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl_client.h"
#include "scenes.h"
#include "slow_server.h"

/* The most that any step may take; the long form has a limit for each. */
#define PATIENCE_MS 30000
#define SECOND_MS   1000
/* of an orderly end: its drain, and the time after which a transfer counts as hanging */
#define END_MS      3000

static const struct raw_wish wish = {
	.host_bytes = 1 << 20, .arena_bytes = 4096, .max_tensors = 64, .sq_entries = 8};

enum kind { LOCKED_INODE, SILENT_SERVER, NO_ATTRIBUTES };

struct scene {
	struct daemon d;
	const char *const *options;
	struct slow_server server;
	int slow, own; /* files */
	pid_t holder;
	struct raw_client other; /* a session of another user */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Did it end within the limit?  Not checked in the short form, which runs beside other tests. */
static bool is_soon(struct stage *s, const char *what, uint64_t since_ms, uint64_t limit_ms)
{
	uint64_t took = now_ms() - since_ms;
	bool good = took <= (s->times ? limit_ms : PATIENCE_MS);

	if (!CHECK(s, good))
		printf("%s: %llu ms\n", what, (unsigned long long)took);
	return good;
}

/* ---- the client ---- */

static char *slow_page;

static void *lock_inode(void *arg)
{
	(void)!pwrite(*(int *)arg, slow_page, 4096, 0);
	return NULL;
}

/* quoitd asks for a file's attributes, and gets no answer. */
static void ask_for_attributes(struct scene *v)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_ADD);
	static struct raw_client c;

	if (raw_open(&c, v->d.socket, &wish) || ctl_put(c.socket, &m, sizeof m, &v->slow, 1))
		_exit(1);
	slow_server_await(&v->server, 1);
}

/* Runs in a process of its own. */
static void hold(struct scene *v, enum kind kind, int ready)
{
	struct quoit_sqe job =
		raw_job(kind == LOCKED_INODE ? QUOIT_OP_FILE_WRITE : QUOIT_OP_FILE_READ, 1, 0, 0);
	pthread_t thread;
	struct raw_client c;
	uint32_t index;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (stage_has_users())
		scene_become(SCENE_MALLORY);
	if (kind == NO_ATTRIBUTES) {
		ask_for_attributes(v);
		(void)!write(ready, "", 1);
		for (;;)
			pause();
	}
	if (raw_open(&c, v->d.socket, &wish) ||
	    ctl_add_file(&c, kind == LOCKED_INODE ? v->own : v->slow, &index) ||
	    raw_run(&c, raw_vector(1, 1024, RAW_ARENA_NOT)) ||
	    raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0)))
		_exit(1);
	job.scalar[1] = index;
	if (kind == LOCKED_INODE) {
		(void)pthread_create(&thread, NULL, lock_inode, &v->own);
		slow_server_await(&v->server, 1);
	}
	(void)raw_submit(&c, &job);
	usleep(200000); /* until a thread of the kernel waits */
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static bool start_holder(struct stage *s, struct scene *v, enum kind kind)
{
	int ready[2];
	char byte;
	bool good;

	if (!CHECK(s, pipe2(ready, O_CLOEXEC) == 0))
		return false;
	fflush(NULL);
	v->holder = fork();
	if (v->holder == 0)
		hold(v, kind, ready[1]);
	close(ready[1]);
	good = read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	return CHECK(s, good);
}

/* ---- the scene ---- */

static bool enter(struct stage *s, struct scene *v, enum kind kind, const char *const *options)
{
	*v = (struct scene){.options = options, .holder = -1};
	if (!slow_server_enter(s, &v->server, &v->slow))
		return false;
	v->own = scene_file_on_disk();
	slow_page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, v->slow, 0);
	slow_server_hold(&v->server, kind == NO_ATTRIBUTES ? FUSE_GETATTR : FUSE_READ);
	if (!CHECK(s, v->own >= 0 && !daemon_start(&v->d, options)))
		return false;
	CHECK(s, chmod(v->d.folder, 0755) == 0);
	raw_set_user(stage_has_users() ? SCENE_ALICE : 0);
	return start_holder(s, v, kind) && CHECK(s, !raw_open(&v->other, v->d.socket, &wish)) &&
	       CHECK(s, !raw_run(&v->other, (struct quoit_sqe){.opcode = QUOIT_OP_NOP}));
}

static void leave(struct scene *v)
{
	int status;

	slow_server_kill(&v->server);
	if (v->holder > 0) {
		kill(v->holder, SIGKILL);
		(void)waitpid(v->holder, NULL, 0);
	}
	munmap(slow_page, 4096);
	close(v->slow);
	close(v->own);
	raw_close(&v->other);
	raw_set_user(0);
	while (waitpid(-1, &status, 0) > 0) /* threads that could not end before */
		;
}

/* The next quoitd in the same place starts within the limit, and serves a client. */
static void check_next(struct stage *s, struct scene *v, uint64_t since_ms, uint64_t limit_ms)
{
	struct raw_client c;
	int err = -ECHILD;

	while (err && now_ms() - since_ms < PATIENCE_MS) {
		err = daemon_start_again(&v->d, v->options);
		if (err)
			usleep(100000);
	}
	if (!CHECK(s, !err))
		return;
	is_soon(s, "the next quoitd is there", since_ms, limit_ms + SECOND_MS);
	CHECK(s, chmod(v->d.folder, 0755) == 0);
	if (CHECK(s, !raw_open(&c, v->d.socket, &wish))) {
		CHECK(s, !raw_run(&c, (struct quoit_sqe){.opcode = QUOIT_OP_NOP}));
		raw_close(&c);
	}
	daemon_stop(&v->d);
}

/* ---- the cases ---- */

static void end_it(struct stage *s, enum kind kind, const char *const *options, int signal)
{
	struct scene v;
	uint64_t start;

	if (enter(s, &v, kind, options)) {
		start = now_ms();
		kill(v.d.pid, signal);
		if (kind != NO_ATTRIBUTES) {
			CHECK(s, raw_has_ended(&v.other, PATIENCE_MS));
			is_soon(s, "its clients are told", start,
				signal == SIGKILL ? SECOND_MS : END_MS);
		}
		check_next(s, &v, start, signal == SIGKILL ? SECOND_MS : END_MS);
	}
	if (!s->skip)
		leave(&v);
}

static const char *const *usual(bool threads)
{
	static const char *const uring[] = {"--private=no", "--drain-ms=100", "--log=error", NULL};
	static const char *const others[] = {"--private=no", "--drain-ms=100", "--log=error",
					     "--no-io-uring", NULL};
	const char *const *options = threads ? others : uring;

	return stage_has_users() ? options : options + 1;
}

#define CASES(name, kind, threads)                                                                 \
	static void name##_and_it_is_killed(struct stage *s)                                       \
	{                                                                                          \
		end_it(s, kind, usual(threads), SIGKILL);                                          \
	}                                                                                          \
	static void name##_and_it_is_told_to_end(struct stage *s)                                  \
	{                                                                                          \
		end_it(s, kind, usual(threads), SIGTERM);                                          \
	}
CASES(a_write_waits_for_an_inode, LOCKED_INODE, false)
CASES(a_read_waits_for_a_server, SILENT_SERVER, false)
CASES(a_write_by_a_thread_waits_for_an_inode, LOCKED_INODE, true)
CASES(a_read_by_a_thread_waits_for_a_server, SILENT_SERVER, true)
#undef CASES

/* The dead process keeps its table of descriptors, but its lock and its socket no longer count. */
static void a_servers_word_on_a_file_is_missing_and_it_is_killed(struct stage *s)
{
	end_it(s, NO_ATTRIBUTES, usual(false), SIGKILL);
}

static const struct stage_case cases[] = {
	STAGE_CASE(a_write_waits_for_an_inode_and_it_is_killed),
	STAGE_CASE(a_read_waits_for_a_server_and_it_is_killed),
	STAGE_CASE(a_write_by_a_thread_waits_for_an_inode_and_it_is_killed),
	STAGE_CASE(a_read_by_a_thread_waits_for_a_server_and_it_is_killed),
	STAGE_CASE(a_servers_word_on_a_file_is_missing_and_it_is_killed),
	STAGE_CASE(a_write_waits_for_an_inode_and_it_is_told_to_end),
	STAGE_CASE(a_read_waits_for_a_server_and_it_is_told_to_end),
	STAGE_CASE(a_write_by_a_thread_waits_for_an_inode_and_it_is_told_to_end),
	STAGE_CASE(a_read_by_a_thread_waits_for_a_server_and_it_is_told_to_end),
};

int main(int argc, char **argv)
{
	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
