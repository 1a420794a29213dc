/* SPDX-License-Identifier: MIT */
/* test_client_session.c - opening and closing sessions and rings, against a fake quoitd */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>

#include "fake_daemon.h"

static struct quoit_session *open_session(struct fake_daemon *f)
{
	struct quoit_session *s = NULL;
	struct quoit_open_params p = {.socket = fake_path(f)};
	int err = quoit_open(&p, &s);

	cr_assert(err == 0, "%d: %s", err, quoit_open_text());
	return s;
}

Test(session, a_path_without_a_daemon_is_named)
{
	struct quoit_open_params p = {.socket = "/nowhere/quoitd.sock"};
	struct quoit_session *s;

	cr_assert_eq(quoit_open(&p, &s), -ENOENT);
	cr_assert_not_null(strstr(quoit_open_text(), "/nowhere/quoitd.sock"));
}

/* quoitd in its unit cannot look it up. */
Test(session, hello_says_on_which_cpu_the_client_runs)
{
	cpu_set_t all, one;

	cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		struct fake_daemon *f;

		if (!CPU_ISSET(cpu, &all))
			continue;
		f = fake_start(&(struct fake_options){0});
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
		quoit_close(open_session(f), 0);
		cr_expect_eq(fake_cpu_hint(f), (uint32_t)cpu + 1);
		fake_stop(f);
	}
}

Test(session, a_path_too_long_is_refused)
{
	char path[200];
	struct quoit_open_params p = {.socket = path};
	struct quoit_session *s;

	memset(path, 'x', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	cr_assert_eq(quoit_open(&p, &s), -ENAMETOOLONG);
}

/* Which socket is chosen, by what is given: each row has more than the one below. */
struct lookup {
	bool given, variable, runtime;
};

ParameterizedTestParameters(session, the_socket_is_the_first_of_those_that_are_named)
{
	static struct lookup rows[] = {{true, true, true},
				       {true, false, false},
				       {false, true, true},
				       {false, false, true}};

	return cr_make_param_array(struct lookup, rows, sizeof rows / sizeof *rows);
}

ParameterizedTest(struct lookup *row, session, the_socket_is_the_first_of_those_that_are_named)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_open_params p = {.socket = row->given ? fake_path(f) : NULL};
	char runtime[] = "/tmp/quoit-runtime-XXXXXX", folder[64], name[80];
	struct quoit_session *s;
	struct quoit_info info;

	if (!row->given && !row->variable && access("/run/quoit/quoitd.sock", F_OK) == 0)
		cr_skip_test("the system has a quoitd");
	cr_assert(mkdtemp(runtime));
	snprintf(folder, sizeof folder, "%s/quoit", runtime);
	snprintf(name, sizeof name, "%s/quoitd.sock", folder);
	cr_assert_eq(mkdir(folder, 0700), 0);
	if (!row->given && !row->variable)
		cr_assert_eq(symlink(fake_path(f), name), 0);
	setenv("QUOIT_SOCKET", row->given ? "/nowhere/quoitd.sock" : fake_path(f), 1);
	if (!row->variable)
		unsetenv("QUOIT_SOCKET");
	setenv("XDG_RUNTIME_DIR", row->runtime ? runtime : "", 1);
	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	quoit_get_info(s, &info);
	cr_assert_eq(info.session, 7);
	cr_assert_eq(quoit_close(s, 0), 0);
	fake_stop(f);
	(void)unlink(name);
	cr_assert(!rmdir(folder) && !rmdir(runtime));
}

Test(session, without_any_name_it_is_the_systems)
{
	struct quoit_session *s;

	if (access("/run/quoit/quoitd.sock", F_OK) == 0)
		cr_skip_test("the system has a quoitd");
	unsetenv("QUOIT_SOCKET");
	setenv("XDG_RUNTIME_DIR", "", 1);
	cr_assert_eq(quoit_open(NULL, &s), -ENOENT);
	cr_assert_not_null(strstr(quoit_open_text(), " /run/quoit/quoitd.sock"), "%s",
			   quoit_open_text());
}

struct bad_case {
	struct fake_options options;
	int err;
	char text[32];
};

/* Features that quoitd does not have are not reported; unknown ones are ignored. */
Test(session, it_has_the_features_that_both_know)
{
	const struct {
		uint64_t features;
		bool direct;
	} rows[] = {{0, false}, {QUOIT_FEATURE_DIRECT, true}, {~QUOIT_FEATURE_DIRECT, false}};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct fake_daemon *f =
			fake_start(&(struct fake_options){.features = rows[i].features});
		struct quoit_open_params p = {.socket = fake_path(f), .flags = QUOIT_OPEN_DIRECT};
		struct quoit_session *s;
		struct quoit_info info;

		cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
		quoit_get_info(s, &info);
		cr_expect_eq(info.direct, rows[i].direct, "%u", i);
		cr_assert_eq(quoit_close(s, 0), 0);
		fake_stop(f);
	}
}

/* In the middle of a request: one quoitd goes, and another of a newer version takes its place. */
Test(session, a_newer_quoitd_in_place_of_ours_is_named)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_session *s = open_session(f), *again;
	struct quoit_ring *q;
	struct quoit_open_params p = {.socket = fake_path(f)};
	quoit_tensor t;
	float one;

	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	t = quoit_create_vector(q, QUOIT_F32, 1);
	fake_replace(f, QUOIT_ABI_VERSION + 1);
	cr_expect_eq(quoit_read(q, t, &one, sizeof one), -ECONNRESET);
	cr_expect_eq(quoit_open(&p, &again), -EPROTO);
	cr_expect(strstr(quoit_open_text(), "quoitd ABI 8"), "%s", quoit_open_text());
	(void)quoit_close(s, 0);
	fake_stop(f);
}

ParameterizedTestParameters(session, what_no_quoitd_does_is_refused)
{
	static struct bad_case cases[] = {
		{{.refuse = -EDQUOT}, -EDQUOT, "refused by the test"},
		{{.wrong_seq = true}, -EPROTO, "invalid"},
		{{.end = true}, -ECONNRESET, "ended by the test"},
		/* Case 74 of the threat model: a newer quoitd, and an older one. */
		{{.version = QUOIT_ABI_VERSION + 1}, -EPROTO, "quoitd ABI 8"},
		{{.version = QUOIT_ABI_VERSION - 1}, -EPROTO, "quoitd ABI 6"},
		{{.version = QUOIT_ABI_VERSION - 1, .lax = true}, -EPROTO, "quoitd ABI 6"},
	};

	return cr_make_param_array(struct bad_case, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct bad_case *c, session, what_no_quoitd_does_is_refused)
{
	struct fake_daemon *f = fake_start(&c->options);
	struct quoit_open_params p = {.socket = fake_path(f)};
	struct quoit_session *s;

	cr_assert_eq(quoit_open(&p, &s), c->err);
	cr_assert(strstr(quoit_open_text(), c->text), "%s", quoit_open_text());
	fake_stop(f);
}

struct ring_case {
	struct quoit_ring_params params;
	unsigned count;
};

ParameterizedTestParameters(session, ring_sizes_that_make_no_sense_are_refused)
{
	static struct ring_case cases[] = {
		{{.entries = 7}, 1},
		{{.entries = 4}, 1},
		{{.entries = 2048}, 1}, /* the fake grants 1024 */
		{{.entries = 64, .cq_entries = 32}, 1},
		{{.entries = 64, .cq_entries = 100}, 1},
		{{.flags = 0x80}, 1},
		{{.entries = 64}, 0},
		{{.entries = 64}, QUOIT_MAX_RINGS + 1},
	};

	return cr_make_param_array(struct ring_case, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct ring_case *c, session, ring_sizes_that_make_no_sense_are_refused)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_session *s = open_session(f);
	struct quoit_ring *q[QUOIT_MAX_RINGS + 1];

	cr_assert_eq(quoit_open_rings(s, &c->params, c->count, q), -EINVAL);
	quoit_close(s, 0);
	fake_stop(f);
}

Test(session, rings_open_together_or_not_at_all)
{
	struct fake_daemon *f = fake_start(NULL); /* has room for eight */
	struct quoit_session *s = open_session(f);
	struct quoit_ring *q[8];

	cr_assert_eq(quoit_open_rings(s, NULL, 6, q), 0);
	cr_assert_eq(quoit_open_rings(s, NULL, 3, q), -EMFILE);
	cr_assert_eq(fake_closed(f), 0, "the others are none of its business");
	for (int i = 0; i < 6; i++)
		cr_assert_eq(quoit_close_ring(q[i]), 0);
	quoit_close(s, 0);
	fake_stop(f);
}

static int count_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += dup2(fd, fd) == fd;
	return n;
}

Test(session, closing_gives_every_descriptor_back)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_ring *q[2];
	struct quoit_session *s;
	int before = count_fds();

	s = open_session(f);
	cr_assert_eq(quoit_open_rings(s, NULL, 2, q), 0);
	cr_assert_eq(quoit_close_ring(q[0]), 0);
	cr_assert_eq(quoit_close(s, 0), 0);
	/* The fake's ends stay open: its client, the arena and two rings. */
	cr_assert_eq(count_fds(), before + 4);
	fake_stop(f);
}

Test(session, closing_waits_for_the_jobs)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_session *s = open_session(f);
	struct quoit_ring *q;

	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	quoit_push(q, quoit_fill(1, 0)); /* it is not even published */
	cr_assert_eq(quoit_close(s, 0), 0);
	cr_assert_eq(fake_sqe(f, 0).opcode, QUOIT_OP_FILL);
	fake_stop(f);
}

Test(session, closing_after_the_daemon_died_frees_all_the_same)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_session *s = open_session(f);
	struct quoit_ring *q;

	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	fake_kill(f);
	cr_assert_eq(quoit_close_ring(q), -ECONNRESET);
	cr_assert_eq(quoit_close(s, 0), -ECONNRESET);
	fake_stop(f);
}

#define ARENA 65536u

static struct quoit_session *open_growing(struct fake_daemon **ret)
{
	*ret = fake_start(&(struct fake_options){.arena_bytes = ARENA, .arena_most = 64 * ARENA});
	return open_session(*ret);
}

Test(session, a_growth_that_was_refused_is_not_asked_for_again_at_once)
{
	struct fake_daemon *f;
	struct quoit_session *s = open_growing(&f);
	struct timespec begun, now;
	uint32_t asked;
	void *memory = NULL;

	fake_refuse_arena(f, true);
	cr_assert_null(quoit_alloc(s, 8 * ARENA));
	asked = fake_arena_asked(f);
	cr_expect_eq(asked, 1);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (unsigned i = 0; i < 1000; i++)
		cr_assert_null(quoit_alloc(s, (8 + i % 8) * ARENA));
	clock_gettime(CLOCK_MONOTONIC, &now);
	cr_expect_leq(fake_arena_asked(f), asked + 1 + 10 * (unsigned)(now.tv_sec - begun.tv_sec));
	fake_refuse_arena(f, false);
	for (unsigned i = 0; !memory && i < 5000; i++) {
		usleep(1000);
		memory = quoit_alloc(s, 8 * ARENA);
	}
	cr_expect_not_null(memory, "it is asked for later");
	quoit_close(s, 0);
	fake_stop(f);
}

static void *grow_slowly(void *session)
{
	for (unsigned i = 2; i <= 32; i++)
		(void)quoit_alloc(session, i * ARENA);
	return NULL;
}

/* A real test only under ThreadSanitizer. */
Test(session, what_is_told_of_an_arena_that_grows_is_its_size_at_some_time)
{
	struct fake_daemon *f;
	struct quoit_session *s = open_growing(&f);
	struct quoit_info info = {0};
	uint64_t before = ARENA;
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, grow_slowly, s), 0);
	while (info.arena_bytes < 64 * ARENA) {
		quoit_get_info(s, &info);
		cr_assert_geq(info.arena_bytes, before);
		before = info.arena_bytes;
	}
	pthread_join(thread, NULL);
	quoit_close(s, 0);
	fake_stop(f);
}

Test(session, less_than_was_refused_is_asked_for_at_once)
{
	struct fake_daemon *f;
	struct quoit_session *s = open_growing(&f);

	fake_refuse_arena(f, true);
	cr_assert_null(quoit_alloc(s, 32 * ARENA));
	fake_refuse_arena(f, false);
	cr_expect_not_null(quoit_alloc(s, 2 * ARENA));
	quoit_close(s, 0);
	fake_stop(f);
}

/* The seals keep a client from giving pages back. */
Test(session, a_growth_that_was_refused_takes_no_pages)
{
	struct fake_daemon *f;
	struct quoit_session *s = open_growing(&f);

	fake_refuse_arena(f, true);
	cr_assert_null(quoit_alloc(s, 32 * ARENA));
	cr_expect_eq(fake_arena_allocated(f), ARENA);
	fake_refuse_arena(f, false);
	cr_expect_not_null(quoit_alloc(s, 2 * ARENA));
	cr_expect_eq(fake_arena_allocated(f), 3 * ARENA);
	cr_expect_str_eq(quoit_open_text(), "no error");
	quoit_close(s, 0);
	fake_stop(f);
}

Test(session, files_are_added_by_descriptor)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_session *s = open_session(f);

	cr_assert_eq(quoit_add_file(s, -1), -EBADF);
	cr_assert_eq(quoit_add_file(s, STDERR_FILENO), 0);
	cr_assert_eq(quoit_add_file(s, STDERR_FILENO), 1);
	cr_assert_eq(quoit_remove_file(s, 0), 0);
	cr_assert_eq(quoit_remove_file(s, -1), -EINVAL);
	quoit_close(s, 0);
	fake_stop(f);
}

/* ---- refusals ---- */

static bool said(const char *words)
{
	const bool is = strstr(quoit_open_text(), words);

	if (!is)
		cr_log_error("'%s' does not say '%s'", quoit_open_text(), words);
	return is;
}

Test(session, each_refused_call_says_why)
{
	struct fake_daemon *f;
	struct quoit_session *s = open_growing(&f);
	struct quoit_kernel_desc desc = {.args = 0};
	char name[200];

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	cr_expect_eq(quoit_add_file(s, -1), -EBADF);
	cr_expect(said("-1 is not a descriptor"));
	cr_expect_eq(quoit_add_file(s, 999999), -EBADF);
	cr_expect(said("999999 is not a descriptor"));
	cr_expect_eq(quoit_remove_file(s, -2), -EINVAL);
	cr_expect(said("no file -2"));
	cr_expect_eq(quoit_find_op(s, name), -ENOENT);
	cr_expect(said("this one 199"));
	cr_expect_eq(quoit_unload_image(s, -3), -EBADF);
	cr_expect(said("no image -3"));
	cr_expect_eq(quoit_register_kernel(s, -4, &desc), -EBADF);
	cr_expect(said("no image -4"));
	cr_expect_eq(quoit_load_image(s, 1, name, 0), -EFBIG);
	cr_expect(said("0 bytes"));
	cr_expect_null(quoit_alloc(s, 65 * ARENA));
	cr_expect(said("at most 4194304 bytes are allowed"));
	quoit_close(s, 0);
	fake_stop(f);
}

Test(session, flags_that_are_not_known_are_refused_and_named)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_session *s = open_session(f), *other = NULL;
	struct quoit_open_params open = {.socket = fake_path(f), .flags = QUOIT_OPEN_STAY | 0x40};
	struct quoit_ring_params ring = {.flags = QUOIT_RING_STAMPS | 0x80};
	struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 4}};
	struct quoit_ring *q;

	cr_expect_eq(quoit_open(&open, &other), -EINVAL);
	cr_expect(said("unknown flags 0x40: allowed are 0x7"));
	cr_expect_null(other);
	cr_expect_eq(quoit_open_ring(s, &ring, &q), -EINVAL);
	cr_expect(said("unknown flags 0x80: allowed are 0x30001 (QUOIT_RING_RAW"));
	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	cr_expect_eq(quoit_create(q, &shape, QUOIT_CREATE_PINNED | 0x20), QUOIT_NO_TENSOR);
	cr_expect(strstr(quoit_error_text(q), "unknown flags 0x20: allowed are 0x50 ("));
	cr_expect_eq(quoit_close(s, QUOIT_CLOSE_CANCEL | 0x2), -EINVAL);
	cr_expect(said("unknown flags 0x2: allowed are 0x1 (QUOIT_CLOSE_CANCEL)"));
	cr_expect_eq(quoit_close(NULL, 0x80000000u), -EINVAL);
	cr_expect_neq(quoit_create(q, &shape, 0), QUOIT_NO_TENSOR, "the session goes on");
	cr_expect_eq(quoit_close(s, QUOIT_CLOSE_CANCEL), 0);
	fake_stop(f);
}

Test(session, a_ring_that_closes_without_quoitd_says_why)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_session *s = open_session(f);
	struct quoit_ring *q;

	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	cr_expect(said("no error"));
	fake_kill(f);
	cr_expect_eq(quoit_close_ring(q), -ECONNRESET);
	cr_expect(said("quoitd has gone"));
	quoit_close(s, 0);
	fake_stop(f);
}

/* Does the call fail as in a child, and say so?  The text before it is another one. */
#define IS_REFUSED(call, text)                                                                     \
	(quoit_get_sqe(q) == NULL && quoit_open(&unknown, &other_session) == -EINVAL &&            \
	 (call) == -EOWNERDEAD && strstr(text, "fork()"))

/* What each refused call says in a child: how many calls say it not. */
static int ask_all(struct quoit_session *s, struct quoit_ring *q, quoit_tensor t, quoit_job job)
{
	const struct quoit_open_params unknown = {.flags = 0x80};
	struct quoit_kernel_desc desc = {.args = 0};
	struct quoit_session *other_session;
	struct quoit_device_desc device;
	struct quoit_shape shape;
	struct quoit_ring *other;
	char bytes[8] = {0};
	int bad = 0;

	bad += !IS_REFUSED(quoit_open_ring(s, NULL, &other), quoit_open_text());
	bad += !IS_REFUSED(quoit_add_file(s, 0), quoit_open_text());
	bad += !IS_REFUSED(quoit_remove_file(s, 0), quoit_open_text());
	bad += !IS_REFUSED(quoit_find_op(s, "exp"), quoit_open_text());
	bad += !IS_REFUSED(quoit_query_device(s, 1, &device), quoit_open_text());
	bad += !IS_REFUSED(quoit_load_image(s, 1, bytes, sizeof bytes), quoit_open_text());
	bad += !IS_REFUSED(quoit_unload_image(s, 0), quoit_open_text());
	bad += !IS_REFUSED(quoit_register_kernel(s, 0, &desc), quoit_open_text());
	bad += !IS_REFUSED(quoit_alloc(s, 1) ? 0 : -EOWNERDEAD, quoit_open_text());
	bad += !IS_REFUSED(quoit_close_ring(q), quoit_open_text());
	bad += !IS_REFUSED(quoit_close_ring(q), quoit_error_text(q));
	bad += !IS_REFUSED(quoit_get_fd(q), quoit_error_text(q));
	bad += !IS_REFUSED(quoit_get_shape(q, t, &shape) ? 0 : -EOWNERDEAD, quoit_error_text(q));
	bad += !IS_REFUSED(quoit_push(q, quoit_nop(0)), quoit_error_text(q));
	bad += !IS_REFUSED(quoit_wait(q, job, 0), quoit_error_text(q));
	bad += !IS_REFUSED(quoit_read(q, t, bytes, sizeof bytes), quoit_error_text(q));
	return bad;
}

/* The result of every call in a child, as bits of its exit status. */
static int try_all(struct quoit_session *s, struct quoit_ring *q, quoit_tensor t, quoit_job job)
{
	struct quoit_ring *other;
	struct quoit_shape shape;
	char bytes[8];
	int bad = 0;

	bad += quoit_push(q, quoit_nop(0)) != -EOWNERDEAD;
	bad += quoit_start(q, quoit_nop(0), &job) != -EOWNERDEAD;
	bad += quoit_flush(q) != -EOWNERDEAD;
	bad += quoit_wait(q, job, 0) != -EOWNERDEAD;
	bad += quoit_wait_all(q, 0) != -EOWNERDEAD;
	bad += quoit_window(q, 0, 0) != -EOWNERDEAD;
	bad += quoit_get_result(q, job) != -EOWNERDEAD;
	bad += quoit_cancel(q, job) != -EOWNERDEAD;
	bad += quoit_arm(q) != -EOWNERDEAD;
	bad += quoit_close_ring(q) != -EOWNERDEAD;
	bad += quoit_open_ring(s, NULL, &other) != -EOWNERDEAD;
	bad += quoit_free(q, t) != -EOWNERDEAD;
	bad += quoit_create_vector(q, QUOIT_F32, 1) != QUOIT_NO_TENSOR;
	bad += quoit_get_shape(q, t, &shape);
	bad += quoit_write(q, t, bytes, 8) != -EOWNERDEAD;
	bad += quoit_read(q, t, bytes, 8) != -EOWNERDEAD;
	bad += quoit_alloc(s, 1) != NULL;
	bad += quoit_add_file(s, 0) != -EOWNERDEAD;
	quoit_detach(q, job);
	bad += quoit_count_failures(q, NULL) != 0;
	bad += quoit_close(s, 0) != 0;
	return bad;
}

Test(session, a_child_is_told_that_the_session_is_not_its_own)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_session *s = open_session(f);
	struct quoit_ring *q;
	quoit_tensor t;
	quoit_job job;
	int status;
	pid_t pid;

	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	t = quoit_create_vector(q, QUOIT_F32, 2);
	quoit_start(q, quoit_nop(0), &job);
	pid = fork();
	if (pid == 0)
		_exit(ask_all(s, q, t, job) + try_all(s, q, t, job));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "%d calls went wrong", WEXITSTATUS(status));
	cr_assert_eq(quoit_wait(q, job, 1000), 0, "the parent's session goes on");
	cr_assert_eq(quoit_close(s, 0), 0);
	fake_stop(f);
}

Test(session, an_armed_descriptor_becomes_readable_and_hangs_up)
{
	struct fake_daemon *f = fake_start(NULL);
	struct quoit_session *s = open_session(f);
	struct quoit_ring *q;
	struct pollfd p = {.events = POLLIN};
	quoit_job job;

	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	p.fd = quoit_get_fd(q);
	cr_assert_eq(quoit_arm(q), 0);
	cr_assert_eq(poll(&p, 1, 0), 0);
	quoit_start(q, quoit_nop(0), &job);
	quoit_flush(q);
	cr_assert_eq(poll(&p, 1, 5000), 1);
	cr_assert_eq(quoit_arm(q), 1, "there is a CQE to reap first");
	cr_assert_eq(quoit_get_result(q, job), 0);
	cr_assert_eq(quoit_arm(q), 0);
	fake_kill(f);
	cr_assert_eq(poll(&p, 1, 5000), 1);
	cr_assert(p.revents & POLLHUP);
	cr_assert_eq(quoit_arm(q), -ECONNRESET);
	quoit_close(s, 0);
	fake_stop(f);
}
