/* SPDX-License-Identifier: MIT */
/*
 * test_service_calls.c - functions of other processes run as jobs: their data and failures, and
 * processes that come and go
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/stats.h>

#include "acquire.h"
#include "calls.h"
#include "tool.h"
#include "users.h"

#define WAIT_MS 10000u /* for what comes in milliseconds, on a busy machine */

/* ---- the functions ---- */

/* The first two are outputs, the first of which is optional: a sum and a difference. */
static int both(void *state, struct quoit_exec_call *c)
{
	(void)state;
	for (uint64_t i = 0; i < calls_elements(&c->tensor[1]); i++) {
		const int32_t a = *calls_element(&c->tensor[2], i),
			      b = *calls_element(&c->tensor[3], i);

		if (c->tensor[0].data)
			*calls_element(&c->tensor[0], i) = a + b;
		*calls_element(&c->tensor[1], i) = a - b;
	}
	return 0;
}

static int fail(void *state, struct quoit_exec_call *c)
{
	(void)state;
	c->field = QUOIT_FIELD_SCALAR0;
	c->value[0] = 41;
	c->value[1] = 42;
	snprintf(c->text, sizeof c->text, "row %d of the matrix is empty", (int)c->scalar[0].i);
	return -EDOM;
}

/* Whose process serves, and who calls. */
static int server_of(void *state, struct quoit_exec_call *c)
{
	(void)state;
	(void)c;
	return (int)getpid();
}

static int caller_of(void *state, struct quoit_exec_call *c)
{
	(void)state;
	return c->uid == getuid() ? (int)c->pid : -EPERM;
}

static int uid_of(void *state, struct quoit_exec_call *c)
{
	(void)state;
	return (int)c->uid;
}

/* 1 if the caller's memory could be written; it must be refused by the kernel. */
static int open_for_writing(void *state, struct quoit_exec_call *c)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *at = (void *)((uintptr_t)c->tensor[0].data / page * page);

	(void)state;
	return mprotect(at, page, PROT_READ | PROT_WRITE) == 0 || errno != EACCES;
}

/* In memory that all processes of the test share. */
static struct gate *gate;

static int pass(void *state, struct quoit_exec_call *c)
{
	(void)state;
	(void)c;
	gate_pass(gate);
	return (int)getpid();
}

/* When it is let go, it calls another function of its own service, and waits for that. */
static struct {
	struct quoit_session *s;
	int function;
} nest;

static int nested(void *state, struct quoit_exec_call *c)
{
	struct quoit_ring *q;
	int err;

	(void)pass(state, c);
	err = quoit_open_ring(nest.s, NULL, &q);
	if (err)
		return err;
	err = quoit_wait(q, start(q, quoit_call(nest.function, 0, 0, 0, 0)), QUOIT_FOREVER);
	quoit_close_ring(q);
	return err;
}

static int die(void *state, struct quoit_exec_call *c)
{
	(void)state;
	(void)c;
	raise(SIGKILL);
	return 0;
}

static const struct quoit_function functions[] = {
	{.name = "add_one", .access = "M---", .run = calls_add_one},
	{.name = "scale", .access = "WR--", .run = calls_scale},
	{.name = "both", .access = "wWRR", .run = both},
	{.name = "fail", .access = "w---", .run = fail},
	{.name = "count", .access = "rrrr", .run = calls_count},
	{.name = "server_of", .access = "----", .run = server_of},
	{.name = "caller_of", .access = "----", .run = caller_of},
	{.name = "uid_of", .access = "----", .run = uid_of},
	{.name = "open_for_writing", .access = "R---", .run = open_for_writing},
	{.name = "pass", .access = "w---", .run = pass},
	{.name = "nested", .access = "----", .run = nested},
	{.name = "fill_piece", .access = "W---", .run = calls_fill_piece, .pieces = calls_pieces},
	{.name = "die", .access = "w---", .run = die},
};

#define COUNT (sizeof functions / sizeof *functions)

/* ---- processes that serve ---- */

struct server {
	pid_t pid;
	int stop; /* a byte: it is to end */
};

static void serve_until_told(const struct daemon *d, const struct quoit_serve_params *params,
			     uint64_t arena, int ready, int stop)
{
	struct quoit_open_params p = {.arena_bytes = arena, .socket = d->socket};
	struct quoit_session *s;
	struct quoit_team *team;
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (quoit_open(&p, &s) || quoit_serve(s, "tests", functions, COUNT, params, &team)) {
		fprintf(stderr, "%s\n", quoit_open_text());
		_exit(1);
	}
	if (write(ready, &byte, 1) != 1)
		_exit(2);
	(void)!read(stop, &byte, 1);
	if (quoit_close_team(team) || quoit_close(s, 0))
		_exit(3);
	_exit(0);
}

/* Become this user, with this additional group. */
static int become(uid_t uid, gid_t group)
{
	return setgroups(1, &group) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid);
}

/* uid 0: as the test's user. */
static struct server begin_server_of(const struct daemon *d,
				     const struct quoit_serve_params *params, uint64_t arena,
				     uid_t uid)
{
	struct server server;
	int ready[2], stop[2];
	char byte;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(stop, O_CLOEXEC), 0);
	fflush(NULL);
	server.pid = fork();
	cr_assert_geq(server.pid, 0);
	if (!server.pid) {
		close(stop[1]);
		close(ready[0]);
		if (uid && become(uid, USERS_GROUP))
			_exit(4);
		serve_until_told(d, params, arena, ready[1], stop[0]);
	}
	close(ready[1]);
	close(stop[0]);
	cr_assert_eq(read(ready[0], &byte, 1), 1, "it does not serve");
	close(ready[0]);
	server.stop = stop[1];
	return server;
}

static struct server begin_server_as(const struct daemon *d,
				     const struct quoit_serve_params *params, uint64_t arena)
{
	return begin_server_of(d, params, arena, 0);
}

static struct server begin_server(const struct daemon *d)
{
	return begin_server_as(d, NULL, MIB);
}

/* It ends as it was told to, or by this signal. */
static void end_server(struct server *server, int by)
{
	int status;

	if (by)
		kill(server->pid, by);
	else
		cr_assert_eq(write(server->stop, "", 1), 1);
	close(server->stop);
	cr_assert_eq(waitpid(server->pid, &status, 0), server->pid);
	if (by)
		cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == by, "%#x", (unsigned)status);
	else
		cr_expect(WIFEXITED(status) && !WEXITSTATUS(status), "%#x", (unsigned)status);
}

/* ---- a session that calls ---- */

struct calls {
	struct fixture f;
	struct server server;
	struct quoit_service *service;
};

static void make_gate(void)
{
	gate = mmap(NULL, sizeof *gate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(gate, MAP_FAILED);
}

static struct quoit_service *open_service(struct quoit_session *s, unsigned wait_ms)
{
	struct quoit_service *service = NULL;

	cr_assert_eq(quoit_open_service(s, "tests", wait_ms, &service), 0, "%s", quoit_open_text());
	return service;
}

static struct calls begin_calls_waiting(const struct quoit_serve_params *params, unsigned wait_ms)
{
	struct calls c = {0};

	make_gate();
	c.f = begin();
	c.server = begin_server_as(&c.f.d, params, MIB);
	c.service = open_service(c.f.s, wait_ms);
	return c;
}

static struct calls begin_calls(const struct quoit_serve_params *params)
{
	return begin_calls_waiting(params, WAIT_MS);
}

static void end_calls(struct calls *c)
{
	cr_expect_eq(quoit_close_service(c->service), 0, "%s", quoit_open_text());
	end_server(&c->server, 0);
	end(&c->f);
}

static struct quoit_sqe call(const struct quoit_service *service, const char *name, quoit_tensor a,
			     quoit_tensor b)
{
	const int f = quoit_find_service_function(service, name);

	cr_assert_geq(f, 0, "%s", quoit_open_text());
	return quoit_call(f, a, b, 0, 0);
}

/* 0, 1, 2, ... */
static void write_numbers(struct quoit_ring *q, quoit_tensor t)
{
	int32_t numbers[N];

	for (unsigned i = 0; i < N; i++)
		numbers[i] = (int32_t)i;
	cr_assert_eq(quoit_write(q, t, numbers, sizeof numbers), 0, "%s", quoit_error_text(q));
}

/* The sentence of the failure that the last wait returned has these words. */
static void expect_words(struct quoit_ring *q, int err, const char *words)
{
	char text[512];

	quoit_strerror_wait(q, err, text, sizeof text);
	cr_expect(strstr(text, words), "%s", text);
}

/* ---- data ---- */

Test(service_calls, calls_and_operations_take_turns_on_the_data)
{
	struct calls c = begin_calls(NULL);
	quoit_tensor a = shared(&c.f), b = create(c.f.q, N, 0);

	cr_assert_eq(quoit_push(c.f.q, quoit_fill_int(a, 5)), 0);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(quoit_push(c.f.q, call(c.service, "add_one", a, 0)), 0);
		cr_assert_eq(quoit_push(c.f.q, quoit_add_int(a, a, 1)), 0);
	}
	cr_assert_eq(quoit_push(c.f.q, quoit_copy(b, a)), 0);
	expect_all(c.f.q, b, 205);
	end_calls(&c);
}

Test(service_calls, call_gets_its_scalars_and_its_argument)
{
	struct calls c = begin_calls(NULL);
	quoit_tensor x = shared(&c.f), out = shared(&c.f);
	struct quoit_sqe sqe = call(c.service, "scale", out, x);

	cr_assert_eq(quoit_push(c.f.q, quoit_fill_int(x, 3)), 0);
	cr_assert_eq(quoit_push(c.f.q, quoit_op_arg(sqe, 9, (uint64_t)-7, 0)), 0);
	expect_all(c.f.q, out, -12);
	end_calls(&c);
}

Test(service_calls, views_are_read_and_written_by_their_strides)
{
	struct calls c = begin_calls(NULL);
	quoit_tensor x = shared(&c.f), out = shared(&c.f), back, odd;
	struct quoit_shape backwards = {
		.dtype = QUOIT_I32, .dim = {1, 1, 1, N / 2}, .stride = {1, 1, 1, -2}};
	struct quoit_shape every_other = {
		.dtype = QUOIT_I32, .dim = {1, 1, 1, N / 2}, .stride = {1, 1, 1, 2}};
	int32_t got[N];

	write_numbers(c.f.q, x);
	cr_assert_eq(quoit_push(c.f.q, quoit_fill_int(out, -1)), 0);
	back = quoit_view(c.f.q, x, &backwards, (N - 1) * sizeof(int32_t));
	odd = quoit_view(c.f.q, out, &every_other, sizeof(int32_t));
	cr_assert_eq(
		quoit_push(c.f.q, quoit_with_scalars(call(c.service, "scale", odd, back), 1, 0)),
		0);
	cr_assert_eq(quoit_push(c.f.q, call(c.service, "add_one", odd, 0)), 0);
	cr_assert_eq(quoit_read(c.f.q, out, got, sizeof got), 0, "%s", quoit_error_text(c.f.q));
	for (int i = 0; i < (int)N; i++)
		cr_assert_eq(got[i], i % 2 ? (int)N - i + 1 : -1, "element %d is %d", i, got[i]);
	end_calls(&c);
}

Test(service_calls, one_call_may_have_several_outputs)
{
	struct calls c = begin_calls(NULL);
	const int f = quoit_find_service_function(c.service, "both");
	quoit_tensor sum = create(c.f.q, 5, QUOIT_CREATE_SHARED),
		     difference = create(c.f.q, 5, QUOIT_CREATE_SHARED),
		     a = create(c.f.q, 5, QUOIT_CREATE_SHARED),
		     b = create(c.f.q, 5, QUOIT_CREATE_SHARED);
	int32_t got[5];

	cr_assert_eq(quoit_push(c.f.q, quoit_fill_int(a, 30)), 0);
	cr_assert_eq(quoit_push(c.f.q, quoit_fill_int(b, 4)), 0);
	cr_expect_eq(run(c.f.q, quoit_call(f, sum, difference, a, b)), 0);
	cr_assert_eq(quoit_read(c.f.q, sum, got, sizeof got), 0);
	cr_expect_eq(got[4], 34);
	cr_assert_eq(quoit_read(c.f.q, difference, got, sizeof got), 0);
	cr_expect_eq(got[4], 26);
	cr_expect_eq(run(c.f.q, quoit_call(f, 0, difference, b, a)), 0);
	cr_assert_eq(quoit_read(c.f.q, difference, got, sizeof got), 0);
	cr_expect_eq(got[0], -26);
	end_calls(&c);
}

Test(service_calls, optional_tensors_may_be_left_out_and_the_arena_serves)
{
	struct calls c = begin_calls(NULL);
	const int f = quoit_find_service_function(c.service, "count");
	struct quoit_shape shape = {.dtype = QUOIT_F64, .dim = {1, 1, 1, 8}};
	void *memory = quoit_alloc(c.f.s, 64);
	quoit_tensor a = shared(&c.f), b = quoit_create_in(c.f.q, &shape, memory);

	cr_expect_eq(run(c.f.q, quoit_call(f, 0, 0, 0, 0)), 0);
	cr_expect_eq(run(c.f.q, quoit_call(f, a, 0, b, 0)), 5);
	cr_expect_eq(run(c.f.q, quoit_call(f, a, a, b, a)), 15);
	end_calls(&c);
}

Test(service_calls, tensors_without_elements_are_served)
{
	struct calls c = begin_calls(NULL);
	struct quoit_shape none = {.dtype = QUOIT_I32, .dim = {1, 1, 0, 4}};
	quoit_tensor a = quoit_create(c.f.q, &none, QUOIT_CREATE_SHARED),
		     b = quoit_create(c.f.q, &none, QUOIT_CREATE_SHARED);
	int err = run(c.f.q, call(c.service, "scale", a, b));

	cr_expect_eq(err, 0, "%d", err);
	cr_expect_eq(run(c.f.q, call(c.service, "add_one", a, 0)), 0);
	end_calls(&c);
}

Test(service_calls, function_is_told_who_calls)
{
	struct calls c = begin_calls(NULL);

	cr_expect_eq(run(c.f.q, call(c.service, "caller_of", 0, 0)), (int)getpid());
	cr_expect_eq(run(c.f.q, call(c.service, "server_of", 0, 0)), (int)c.server.pid);
	end_calls(&c);
}

Test(service_calls, call_in_pieces_does_each_once)
{
	struct calls c = begin_calls(&(struct quoit_serve_params){.lanes = 3});
	quoit_tensor a = shared(&c.f);
	int32_t got[N];

	for (int round = 0; round < 50; round++)
		cr_assert_eq(run(c.f.q, call(c.service, "fill_piece", a, 0)), 7);
	cr_assert_eq(quoit_read(c.f.q, a, got, sizeof got), 0);
	for (unsigned i = 0; i < N; i++)
		cr_assert_eq(got[i], (int32_t)(i * 4 / N));
	cr_expect_eq(run(c.f.q, quoit_with_scalars(call(c.service, "fill_piece", a, 0), 2, 0)), -2);
	end_calls(&c);
}

/* As many at a time as there may be: memory for results is freed as it is used. */
Test(service_calls, results_of_many_calls_need_the_memory_of_a_few)
{
	struct calls c = begin_calls(&(struct quoit_serve_params){.lanes = 2});
	quoit_tensor a[8];

	for (int i = 0; i < 8; i++) {
		a[i] = create(c.f.q, 64 * 1024, QUOIT_CREATE_SHARED); /* a quarter of the arena */
		cr_assert_eq(quoit_push(c.f.q, quoit_fill_int(a[i], i)), 0);
	}
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < 8; i++)
			cr_assert_eq(quoit_push(c.f.q, call(c.service, "add_one", a[i], 0)), 0);
	cr_assert_eq(quoit_wait_all(c.f.q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_count_failures(c.f.q, NULL), 0u);
	for (int i = 0; i < 8; i++)
		cr_expect_eq(acquire(c.f.q, a[i], QUOIT_ACCESS_READ)[64 * 1024 - 1], i + 20);
	end_calls(&c);
}

/* ---- failures ---- */

Test(service_calls, failure_reaches_readers_with_its_words)
{
	struct calls c = begin_calls(NULL);
	quoit_tensor a = shared(&c.f), b = create(c.f.q, N, 0);
	struct quoit_error e;
	int err;

	cr_assert_eq(quoit_push(c.f.q, quoit_with_scalars(call(c.service, "fail", a, 0), 17, 0)),
		     0);
	cr_assert_eq(quoit_push(c.f.q, quoit_copy(b, a)), 0);
	err = quoit_wait_tensor(c.f.q, b, QUOIT_FOREVER);
	cr_expect_eq(err, -QUOIT_EPOISON);
	cr_assert(quoit_get_wait_error(c.f.q, &e));
	cr_expect_eq(e.code, -EDOM);
	cr_expect_eq(e.opcode, QUOIT_OP_CALL);
	cr_expect_eq(e.field, QUOIT_FIELD_SCALAR0);
	cr_expect_eq(e.value[0], 41u);
	cr_expect_eq(e.value[1], 42u);
	expect_words(c.f.q, err, "row 17 of the matrix is empty");
	err = run(c.f.q, quoit_with_scalars(call(c.service, "fail", 0, 0), 18, 0));
	cr_expect_eq(err, -EDOM);
	expect_words(c.f.q, err, "row 18 of the matrix is empty");
	end_calls(&c);
}

Test(service_calls, tensor_that_the_caller_cannot_reach_is_refused)
{
	struct calls c = begin_calls(NULL);
	int err = run(c.f.q, call(c.service, "add_one", create(c.f.q, N, 0), 0));

	cr_expect_eq(err, -ENOTSUP);
	expect_words(c.f.q, err, "QUOIT_CREATE_SHARED");
	end_calls(&c);
}

Test(service_calls, results_that_do_not_fit_in_the_arena_are_told)
{
	struct calls c = {.f = begin()};
	struct quoit_session *large;
	struct quoit_ring *q;
	quoit_tensor a;
	int err;

	make_gate();
	c.server = begin_server_as(&c.f.d, NULL, MIB / 4);
	cr_assert_eq(quoit_open(&(struct quoit_open_params){.host_bytes = 600 * MIB,
							    .shared_bytes = 300 * MIB,
							    .socket = c.f.d.socket},
				&large),
		     0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(large, NULL, &q), 0);
	c.service = open_service(large, 0);
	a = create(q, 280 * MIB / 4, QUOIT_CREATE_SHARED);
	err = run(q, call(c.service, "fill_piece", a, 0));
	cr_expect_eq(err, -ENOMEM, "%d", err);
	expect_words(q, err, "arena_bytes");
	cr_expect_eq(quoit_close(large, 0), 0);
	end_server(&c.server, 0);
	end(&c.f);
}

Test(service_calls, function_that_there_is_not_is_refused)
{
	struct calls c = begin_calls(NULL);
	const int first = quoit_find_service_function(c.service, "add_one");
	quoit_job job;

	cr_expect_eq(quoit_find_service_function(c.service, "unknown"), -ENOENT);
	cr_expect(strstr(quoit_open_text(), "no function"), "%s", quoit_open_text());
	cr_expect_eq(quoit_find_service_function(c.service, ""), -ENOENT);
	cr_expect_eq(quoit_find_service_function(c.service,
						 "a-name-that-is-longer-than-any-name-may-be"),
		     -ENOENT);
	cr_expect_eq(quoit_find_service_function(c.service, "add_one"), first);
	cr_expect_eq(quoit_find_service_function(c.service, "scale"), first + 1);
	cr_expect_eq(quoit_start(c.f.q, quoit_call(-ENOENT, 0, 0, 0, 0), &job), -EINVAL);
	cr_expect(strstr(quoit_error_text(c.f.q), "quoit_find_service_function"), "%s",
		  quoit_error_text(c.f.q));
	cr_expect_eq(run(c.f.q, quoit_call(first + (int)COUNT, 0, 0, 0, 0)), -EINVAL);
	cr_expect_eq(run(c.f.q, quoit_call(first + (1 << 8), 0, 0, 0, 0)), -EINVAL);
	end_calls(&c);
}

/* ---- who serves, who calls ---- */

Test(service_calls, another_session_of_one_process_may_call)
{
	struct fixture f = begin();
	struct quoit_session *s = NULL;
	struct quoit_team *team;
	struct quoit_service *service;
	quoit_tensor a = shared(&f);

	make_gate();
	cr_assert_eq(
		quoit_open(&(struct quoit_open_params){.arena_bytes = MIB, .socket = f.d.socket},
			   &s),
		0);
	cr_assert_eq(quoit_serve(s, "tests", functions, COUNT, NULL, &team), 0, "%s",
		     quoit_open_text());
	cr_expect_eq(quoit_find_function(team, "add_one"), -ENOENT);
	cr_expect(strstr(quoit_open_text(), "quoit_open_service(\"tests\")"), "%s",
		  quoit_open_text());
	service = open_service(f.s, 0);
	for (int i = 0; i < 50; i++)
		cr_assert_eq(quoit_push(f.q, call(service, "add_one", a, 0)), 0);
	expect_all(f.q, a, 50);
	cr_expect_eq(quoit_close_service(service), 0);
	cr_expect_eq(quoit_close_team(team), 0);
	cr_expect_eq(quoit_close(s, 0), 0);
	end(&f);
}

/* It reads and writes its own memory as any caller's. */
Test(service_calls, session_may_call_what_it_serves)
{
	struct fixture f = begin();
	struct quoit_team *team;
	struct quoit_service *service;
	quoit_tensor a = shared(&f);

	make_gate();
	cr_assert_eq(quoit_serve(f.s, "tests", functions, COUNT, NULL, &team), 0, "%s",
		     quoit_open_text());
	service = open_service(f.s, 0);
	for (int i = 0; i < 50; i++)
		cr_assert_eq(quoit_push(f.q, call(service, "add_one", a, 0)), 0);
	expect_all(f.q, a, 50);
	end(&f);
}

static void *serve_forever(void *team)
{
	return (void *)(intptr_t)quoit_serve_team(team, QUOIT_FOREVER);
}

Test(service_calls, threads_of_the_program_serve)
{
	struct fixture f = begin();
	struct quoit_session *s;
	struct quoit_team *team;
	struct quoit_service *service;
	quoit_tensor a = shared(&f);
	pthread_t thread;
	void *served;

	make_gate();
	cr_assert_eq(quoit_open(&(struct quoit_open_params){.socket = f.d.socket}, &s), 0);
	cr_assert_eq(quoit_serve(s, "tests", functions, COUNT,
				 &(struct quoit_serve_params){.flags = QUOIT_TEAM_NO_LANES}, &team),
		     0, "%s", quoit_open_text());
	service = open_service(f.s, 0);
	cr_assert_eq(pthread_create(&thread, NULL, serve_forever, team), 0);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(quoit_push(f.q, call(service, "add_one", a, 0)), 0);
	expect_all(f.q, a, 20);
	cr_expect_eq(quoit_close_team(team), 0);
	pthread_join(thread, &served);
	cr_expect_eq((intptr_t)served, 20);
	cr_expect_eq(quoit_close(s, 0), 0);
	end(&f);
}

struct caller {
	const struct daemon *d;
	pthread_t thread;
	int rounds;
};

static void *call_many(void *arg)
{
	const struct caller *c = arg;
	struct fixture f = {0};
	struct quoit_service *service;
	quoit_tensor a, b;

	cr_assert_eq(quoit_open(&(struct quoit_open_params){.host_bytes = 16 * MIB,
							    .shared_bytes = MIB,
							    .socket = c->d->socket},
				&f.s),
		     0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(f.s, NULL, &f.q), 0);
	service = open_service(f.s, WAIT_MS);
	a = shared(&f);
	b = shared(&f);
	cr_assert_eq(quoit_push(f.q, quoit_fill_int(a, 0)), 0);
	for (int i = 0; i < c->rounds; i++) {
		cr_assert_eq(quoit_push(f.q, call(service, "add_one", a, 0)), 0);
		cr_assert_eq(
			quoit_push(f.q, quoit_with_scalars(call(service, "scale", b, a), 2, 0)), 0);
	}
	expect_all(f.q, a, c->rounds);
	expect_all(f.q, b, 2 * c->rounds);
	cr_expect_eq(quoit_count_failures(f.q, NULL), 0u);
	cr_expect_eq(quoit_close(f.s, 0), 0);
	return NULL;
}

#define CALLERS 3

Test(service_calls, several_sessions_call_several_processes_at_once)
{
	struct fixture f = begin();
	struct caller caller[CALLERS];
	struct server one, other;

	make_gate();
	one = begin_server(&f.d);
	other = begin_server(&f.d);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < CALLERS; i++) {
			caller[i] = (struct caller){.d = &f.d, .rounds = 200 + i};
			cr_assert_eq(pthread_create(&caller[i].thread, NULL, call_many, &caller[i]),
				     0);
		}
		for (int i = 0; i < CALLERS; i++)
			pthread_join(caller[i].thread, NULL);
	}
	end_server(&one, 0);
	end_server(&other, 0);
	end(&f);
}

Test(service_calls, calls_go_to_a_process_with_a_free_thread)
{
	struct calls c = begin_calls(&(struct quoit_serve_params){.lanes = 1});
	struct server other =
		begin_server_as(&c.f.d, &(struct quoit_serve_params){.lanes = 1}, MIB);
	quoit_job job[2];
	int pid[2];

	for (int i = 0; i < 2; i++)
		job[i] = start(c.f.p, call(c.service, "pass", 0, 0));
	gate_await(gate, 2); /* else this never ends */
	gate_open(gate);
	for (int i = 0; i < 2; i++)
		pid[i] = quoit_wait(c.f.p, job[i], QUOIT_FOREVER);
	cr_expect_eq(pid[0] + pid[1], (int)(c.server.pid + other.pid));
	cr_expect_neq(pid[0], pid[1]);
	end_server(&other, 0);
	end_calls(&c);
}

/* ---- processes that come and go ---- */

Test(service_calls, name_that_nobody_serves_is_not_there)
{
	struct fixture f = begin();
	struct quoit_service *service;

	cr_expect_eq(quoit_open_service(f.s, "tests", 0, &service), -ENOENT);
	cr_expect(strstr(quoit_open_text(), "tests"), "%s", quoit_open_text());
	cr_expect_eq(quoit_open_service(f.s, "tests", 30, &service), -ENOENT);
	cr_expect_eq(quoit_open_service(f.s, "tests", QUOIT_SERVICE_MOST_MS + 1, &service),
		     -EINVAL);
	cr_expect_eq(quoit_open_service(f.s, "no name", 0, &service), -EINVAL);
	cr_expect_eq(quoit_open_service(f.s, "nobody-of-that-name/tests", 0, &service), -ENOENT);
	end(&f);
}

static void *open_late(void *session)
{
	return open_service(session, WAIT_MS);
}

/* Other threads ask quoitd meanwhile. */
Test(service_calls, service_is_waited_for)
{
	struct fixture f = begin();
	struct server server;
	pthread_t opener;
	void *service;

	make_gate();
	cr_assert_eq(pthread_create(&opener, NULL, open_late, f.s), 0);
	usleep(20000);
	for (int i = 0; i < 3; i++)
		cr_expect_lt(quoit_find_op(f.s, "no-such-operation"), 0);
	server = begin_server(&f.d);
	pthread_join(opener, &service);
	cr_expect_eq(run(f.q, call(service, "server_of", 0, 0)), (int)server.pid);
	end_server(&server, 0);
	end(&f);
}

Test(service_calls, service_goes_on_when_its_process_is_started_again)
{
	struct calls c = begin_calls(NULL);
	quoit_tensor a = shared(&c.f);
	quoit_job job;

	cr_assert_eq(quoit_push(c.f.q, quoit_fill_int(a, 1)), 0);
	cr_expect_eq(run(c.f.q, call(c.service, "add_one", a, 0)), 0);
	end_server(&c.server, 0);
	job = start(c.f.q, call(c.service, "add_one", a, 0));
	usleep(20000);
	cr_expect_eq(quoit_get_result(c.f.q, job), -EINPROGRESS);
	c.server = begin_server(&c.f.d);
	cr_expect_eq(quoit_wait(c.f.q, job, QUOIT_FOREVER), 0);
	end_server(&c.server, SIGKILL);
	c.server = begin_server(&c.f.d);
	cr_expect_eq(run(c.f.q, call(c.service, "add_one", a, 0)), 0);
	expect_all(c.f.q, a, 4);
	end_calls(&c);
}

static void expect_unserved(unsigned wait_ms, const char *words)
{
	struct calls c = begin_calls_waiting(NULL, wait_ms);
	struct quoit_sqe sqe = call(c.service, "server_of", 0, 0);
	int err;

	end_server(&c.server, 0);
	err = run(c.f.q, sqe);
	cr_expect_eq(err, -ENOENT, "%d", err);
	expect_words(c.f.q, err, words);
	cr_expect_eq(quoit_close_service(c.service), 0);
	end(&c.f);
}

Test(service_calls, call_that_nobody_serves_any_more_fails_at_once)
{
	expect_unserved(0, "no process serves its service");
}

Test(service_calls, call_that_nobody_serves_any_more_fails_after_its_wait)
{
	expect_unserved(60, "no process has served its service for 60 ms");
}

Test(service_calls, call_dies_with_its_process_and_the_others_do_not)
{
	struct calls c = begin_calls(NULL);
	quoit_tensor a = shared(&c.f);
	struct server other;
	char words[64];
	int err;

	cr_assert_eq(quoit_push(c.f.q, call(c.service, "die", a, 0)), 0);
	err = quoit_wait_tensor(c.f.q, a, QUOIT_FOREVER);
	cr_expect(err == -QUOIT_EEXEC || err == -QUOIT_EPOISON, "%d", err);
	snprintf(words, sizeof words, "process %d, which served it, has gone", (int)c.server.pid);
	expect_words(c.f.q, err, words);
	end_server(&c.server, SIGKILL);
	other = begin_server(&c.f.d);
	cr_expect_eq(run(c.f.q, call(c.service, "server_of", 0, 0)), (int)other.pid);
	c.server = other;
	end_calls(&c);
}

static void *close_it(void *team)
{
	return (void *)(intptr_t)quoit_close_team(team);
}

Test(service_calls, calls_that_did_not_begin_go_to_another_process)
{
	struct fixture f = begin();
	struct quoit_session *s;
	struct quoit_team *team;
	struct quoit_service *service;
	struct server other;
	pthread_t closer;
	quoit_job job[8];
	void *result;
	int own = 0;

	make_gate();
	cr_assert_eq(quoit_open(&(struct quoit_open_params){.socket = f.d.socket}, &s), 0);
	cr_assert_eq(quoit_serve(s, "tests", functions, COUNT,
				 &(struct quoit_serve_params){.lanes = 1}, &team),
		     0);
	service = open_service(f.s, WAIT_MS);
	for (int i = 0; i < 8; i++)
		job[i] = start(f.p, call(service, "pass", 0, 0));
	gate_await(gate, 1);
	other = begin_server(&f.d);
	cr_assert_eq(pthread_create(&closer, NULL, close_it, team), 0);
	usleep(20000);
	gate_open(gate);
	pthread_join(closer, &result);
	cr_expect_eq((intptr_t)result, 0);
	for (int i = 0; i < 8; i++) {
		int pid = quoit_wait(f.p, job[i], QUOIT_FOREVER);

		cr_expect(pid == (int)getpid() || pid == (int)other.pid, "%d", pid);
		own += pid == (int)getpid();
	}
	cr_expect_eq(own, 1);
	cr_expect_eq(quoit_close(s, 0), 0);
	end_server(&other, 0);
	end(&f);
}

/* No other process serves, so the call can only be run by the one that closes. */
Test(service_calls, function_that_calls_its_own_service_ends_while_that_closes)
{
	struct fixture f = begin();
	struct quoit_service *service;
	struct quoit_team *team;
	pthread_t closer;
	quoit_job job;
	void *result;

	make_gate();
	cr_assert_eq(quoit_serve(f.s, "tests", functions, COUNT,
				 &(struct quoit_serve_params){.lanes = 1}, &team),
		     0);
	service = open_service(f.s, WAIT_MS);
	nest.s = f.s;
	nest.function = quoit_find_service_function(service, "server_of");
	job = start(f.p, call(service, "nested", 0, 0));
	gate_await(gate, 1);
	cr_assert_eq(pthread_create(&closer, NULL, close_it, team), 0);
	usleep(20000);
	gate_open(gate);
	pthread_join(closer, &result);
	cr_expect_eq((intptr_t)result, 0);
	cr_expect_eq(quoit_wait(f.p, job, QUOIT_FOREVER), (int)getpid());
	end(&f);
}

Test(service_calls, calls_that_no_process_has_are_cancelled_with_their_service)
{
	struct calls c = begin_calls(&(struct quoit_serve_params){.lanes = 1});
	quoit_job job[100];
	int cancelled = 0;

	for (int i = 0; i < 100; i++)
		job[i] = start(c.f.p, call(c.service, "pass", 0, 0));
	gate_await(gate, 1);
	settle(c.f.p);
	cr_expect_eq(quoit_close_service(c.service), 0, "%s", quoit_open_text());
	settle(c.f.p);
	gate_open(gate);
	for (int i = 0; i < 100; i++) {
		int res = quoit_wait(c.f.p, job[i], QUOIT_FOREVER);

		cr_expect(res == -ECANCELED || res == (int)c.server.pid, "%d", res);
		cancelled += res == -ECANCELED;
	}
	cr_expect_geq(cancelled, 80);
	c.service = NULL;
	end_calls(&c);
}

Test(service_calls, service_that_was_opened_twice_is_closed_twice)
{
	struct calls c = begin_calls(NULL);
	struct quoit_service *again = open_service(c.f.s, 0);
	const struct quoit_sqe sqe = call(again, "server_of", 0, 0);

	cr_expect_eq(quoit_close_service(c.service), 0);
	cr_expect_eq(run(c.f.q, sqe), (int)c.server.pid);
	cr_expect_eq(quoit_close_service(again), 0);
	cr_expect_eq(run(c.f.q, sqe), -EINVAL);
	c.service = open_service(c.f.s, 0);
	cr_expect_eq(run(c.f.q, call(c.service, "server_of", 0, 0)), (int)c.server.pid);
	end_calls(&c);
}

/* A caller that dies while its call runs: the process goes on for others. */
Test(service_calls, caller_that_dies_holds_up_nobody)
{
	struct calls c = begin_calls(&(struct quoit_serve_params){.lanes = 2});
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct fixture f = {0};

		if (quoit_open(&(struct quoit_open_params){.host_bytes = 16 * MIB,
							   .shared_bytes = MIB,
							   .socket = c.f.d.socket},
			       &f.s) ||
		    quoit_open_ring(f.s, NULL, &f.q))
			_exit(1);
		(void)start(f.q, call(open_service(f.s, WAIT_MS), "pass", shared(&f), 0));
		gate_await(gate, 1);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && !WEXITSTATUS(status), "%#x", (unsigned)status);
	cr_expect_eq(run(c.f.q, call(c.service, "server_of", 0, 0)), (int)c.server.pid);
	gate_open(gate);
	cr_expect_eq(run(c.f.q, call(c.service, "pass", shared(&c.f), 0)), (int)c.server.pid);
	end_calls(&c);
}

/* ---- who may do what ---- */

Test(service_calls, memory_of_a_caller_cannot_be_written)
{
	struct calls c = begin_calls(NULL);

	cr_expect_eq(run(c.f.q, call(c.service, "open_for_writing", shared(&c.f), 0)), 0);
	end_calls(&c);
}

/* In a process of its own: 0: it called as itself; 1: the service is not there for it. */
static int call_as(const struct daemon *d, uid_t uid, gid_t group)
{
	struct quoit_service *service;
	struct quoit_session *s;
	struct quoit_ring *q;
	char name[32];
	int err;

	snprintf(name, sizeof name, "%u/tests", USERS_ALICE);
	if (become(uid, group))
		return 2;
	if (quoit_open(&(struct quoit_open_params){.host_bytes = 4 * MIB, .socket = d->socket},
		       &s) ||
	    quoit_open_ring(s, NULL, &q))
		return 3;
	if (quoit_open_service(s, "tests", 0, &service) != -ENOENT)
		return 4; /* its own user serves none */
	err = quoit_open_service(s, name, 0, &service);
	if (err)
		return err == -ENOENT ? 1 : 5;
	return run(q, call(service, "uid_of", 0, 0)) == (int)uid ? 0 : 6;
}

static int status_as(const struct daemon *d, uid_t uid, gid_t group)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(call_as(d, uid, group));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define CAROL 4000004u

static void expect_callers(const struct daemon *d, uint32_t mode, int member, int other)
{
	const struct quoit_serve_params params = {
		.mode = mode, .gid = mode & QUOIT_SERVE_GROUP ? USERS_GROUP : 0};
	struct server server = begin_server_of(d, &params, MIB, USERS_ALICE);

	cr_expect_eq(status_as(d, USERS_BOB, USERS_GROUP), member, "mode %#o: a member", mode);
	cr_expect_eq(status_as(d, CAROL, CAROL), other, "mode %#o: another", mode);
	end_server(&server, 0);
}

Test(service_calls, service_is_there_for_those_whom_its_mode_names)
{
	struct daemon d;

	users_start(&d, NULL);
	make_gate();
	expect_callers(&d, 0, 1, 1);
	expect_callers(&d, QUOIT_SERVE_GROUP, 0, 1);
	expect_callers(&d, QUOIT_SERVE_OTHERS, 0, 0);
	daemon_stop(&d);
}

/* ---- what is refused ---- */

Test(service_calls, what_no_service_can_have_is_refused)
{
	struct calls c = begin_calls(NULL);
	struct quoit_team *team;
	struct quoit_function few[] = {functions[1], functions[0]};

	cr_expect_eq(quoit_serve(c.f.s, "a name", functions, 1, NULL, &team), -EINVAL);
	cr_expect(strstr(quoit_open_text(), "printable characters"), "%s", quoit_open_text());
	cr_expect_eq(quoit_serve(c.f.s, "alice/tests", functions, 1, NULL, &team), -EINVAL);
	cr_expect_eq(quoit_serve(c.f.s, "new", functions, 0, NULL, &team), -EINVAL);
	cr_expect_eq(quoit_serve(c.f.s, "new", functions, 1,
				 &(struct quoit_serve_params){.mode = 2}, &team),
		     -EINVAL);
	cr_expect_eq(quoit_serve(c.f.s, "new", functions, 1, &(struct quoit_serve_params){.gid = 5},
				 &team),
		     -EINVAL);
	cr_expect_eq(quoit_serve(c.f.s, "new", functions, 1,
				 &(struct quoit_serve_params){.mode = QUOIT_SERVE_GROUP,
							      .gid = 123456789},
				 &team),
		     -EPERM);
	cr_expect_eq(quoit_serve(c.f.s, "tests", few, 2, NULL, &team), -EINVAL);
	cr_expect(*quoit_open_text() && strcmp(quoit_open_text(), "no error"), "%s",
		  quoit_open_text());
	end_calls(&c);
}

Test(service_calls, session_closes_with_its_services)
{
	struct calls c = begin_calls(NULL);
	quoit_tensor a = shared(&c.f);

	for (int i = 0; i < 200; i++)
		cr_assert_eq(quoit_push(c.f.q, call(c.service, "add_one", a, 0)), 0);
	cr_expect_eq(quoit_close(c.f.s, 0), 0);
	end_server(&c.server, 0);
	daemon_stop(&c.f.d);
}

/* ---- the example ---- */

Test(service_calls, example_sorts_rows)
{
	char said[4096];
	const char *folder = tool_folder();

	cr_expect_eq(tool_run(said, sizeof said,
			      "run -- sh -c '%s/examples/service serve sorts & "
			      "%s/examples/service call sorts; r=$?; kill $!; wait; exit $r'",
			      folder, folder),
		     0, "%s", said);
	cr_expect(strstr(said, "the bits of qsort"), "%s", said);
}
