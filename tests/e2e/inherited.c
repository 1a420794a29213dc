/* SPDX-License-Identifier: MIT */
#include "inherited.h"

#include <string.h>

#include "calls.h"

#define SOON_MS 10000

static const struct quoit_function functions[] = {
	{.name = "add_one", .access = "M---", .run = calls_add_one}};

/* ---- what is open ---- */

static void open_sync(struct inherited *i)
{
	const struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, 1}};
	const struct quoit_sync_params two = {.value = 2};

	i->lock = quoit_open_lock(i->f.s, "lock", NULL);
	i->flag = quoit_open_flag(i->f.s, "flag", NULL);
	i->semaphore = quoit_open_semaphore(i->f.s, "semaphore", &two);
	i->barrier = quoit_open_barrier(i->f.s, "barrier", &two);
	i->queue = quoit_open_queue(i->f.s, "queue", NULL);
	i->named = quoit_open_tensor(i->f.s, "tensor", &shape, NULL);
	i->keys = quoit_open_keyspace(i->f.s, "keyspace", NULL);
	cr_assert(i->lock > 0 && i->flag > 0 && i->semaphore > 0 && i->barrier > 0 &&
			  i->queue > 0 && i->named > 0 && i->keys > 0,
		  "%s", quoit_open_text());
}

struct inherited inherited_begin(void)
{
	struct inherited i = {.f = begin()};
	const struct quoit_ring_params raw = {.flags = QUOIT_RING_RAW};
	const struct quoit_team_params lanes = {.lanes = 2};
	const struct quoit_serve_params serve = {.lanes = 1};
	int function;

	cr_assert_eq(quoit_open_ring(i.f.s, &raw, &i.raw), 0);
	cr_assert_eq(quoit_open_team(i.f.s, functions, 1, &lanes, &i.team), 0);
	cr_assert_eq(quoit_serve(i.f.s, "own", functions, 1, &serve, &i.served), 0);
	cr_assert_eq(quoit_open_service(i.f.s, "own", SOON_MS, &i.service), 0);
	open_sync(&i);
	i.memory = quoit_alloc(i.f.s, 64);
	i.a = shared(&i.f);
	i.into = create(i.f.p, 1, 0);
	cr_assert_eq(quoit_push(i.f.q, quoit_fill_int(i.a, 4)), 0);
	function = quoit_find_service_function(i.service, "add_one");
	cr_assert_eq(run(i.f.q, quoit_call(function, i.a, 0, 0, 0)), 0); /* has mapped its caller */
	cr_assert_eq(quoit_run(i.f.q, quoit_lock(i.lock, 0), SOON_MS), 0);
	i.waits = start(i.f.p, quoit_receive(i.queue, i.into));
	i.at = acquire(i.f.q, i.a, QUOIT_ACCESS_WRITE);
	*quoit_get_sqe(i.raw) = quoit_nop(0);
	cr_assert_eq(quoit_wait_cqe(i.raw, SOON_MS), 0);
	return i;
}

static void expect_raw(struct quoit_ring *raw)
{
	const struct quoit_cqe *cqe;

	cr_assert_eq(quoit_peek(raw, &cqe), 1);
	cr_expect_eq(cqe->res, 0);
	quoit_release(raw, 1);
}

void inherited_end(struct inherited *i)
{
	const int own = quoit_find_function(i->team, "add_one");
	const int served = quoit_find_service_function(i->service, "add_one");
	struct fixture *f = &i->f;

	expect_raw(i->raw);
	cr_expect_eq(*i->at, 5);
	*i->at = 6;
	release(f->q, i->a);
	cr_expect_eq(run(f->q, quoit_call(own, i->a, 0, 0, 0)), 0);
	cr_expect_eq(run(f->q, quoit_call(served, i->a, 0, 0, 0)), 0);
	cr_expect_eq(quoit_run(f->q, quoit_unlock(i->lock, 0), SOON_MS), 0,
		     "it held the lock still");
	quoit_dealloc(f->s, i->memory);
	(void)quoit_cancel(f->p, i->waits); /* or it has received by now */
	end(f);
}

/* ---- the calls ---- */

/* What is returned is the call, as it is written here. */
#define REFUSED(call)                                                                              \
	do {                                                                                       \
		if ((call) != -EOWNERDEAD)                                                         \
			return #call;                                                              \
	} while (0)
#define HOLDS(call)                                                                                \
	do {                                                                                       \
		if (!(call))                                                                       \
			return #call;                                                              \
	} while (0)

static const char *try_session(struct inherited *i)
{
	struct quoit_session *s = i->f.s;
	struct quoit_kernel_desc desc = {.args = 0};
	struct quoit_device_desc device;
	struct quoit_ring *ring;
	struct quoit_info info = {0};

	REFUSED(quoit_open_ring(s, NULL, &ring));
	REFUSED(quoit_open_rings(s, NULL, 1, &ring));
	REFUSED(quoit_find_op(s, "exp"));
	REFUSED(quoit_query_device(s, 1, &device));
	REFUSED(quoit_load_image(s, 1, "soft", 4));
	REFUSED(quoit_unload_image(s, 0));
	REFUSED(quoit_register_kernel(s, 0, &desc));
	REFUSED(quoit_add_file(s, 0));
	REFUSED(quoit_remove_file(s, 0));
	HOLDS(!quoit_alloc(s, 64));
	quoit_dealloc(s, i->memory);
	quoit_get_info(s, &info);
	HOLDS(info.session);
	return "";
}

static const char *try_names(struct inherited *i)
{
	struct quoit_session *s = i->f.s;
	struct quoit_service *service;
	struct quoit_team *team;

	REFUSED(quoit_open_lock(s, "lock", NULL));
	REFUSED(quoit_open_flag(s, "flag", NULL));
	REFUSED(quoit_open_semaphore(s, "semaphore", NULL));
	REFUSED(quoit_open_barrier(s, "barrier", NULL));
	REFUSED(quoit_open_queue(s, "queue", NULL));
	REFUSED(quoit_open_tensor(s, "tensor", NULL, NULL));
	REFUSED(quoit_open_keyspace(s, "keyspace", NULL));
	REFUSED(quoit_close_sync(s, i->lock));
	REFUSED(quoit_open_team(s, functions, 1, NULL, &team));
	REFUSED(quoit_find_function(i->team, "add_one"));
	REFUSED(quoit_serve_team(i->team, 0));
	REFUSED(quoit_close_team(i->team));
	REFUSED(quoit_serve(s, "child", functions, 1, NULL, &team));
	REFUSED(quoit_serve_team(i->served, 0));
	REFUSED(quoit_close_team(i->served));
	REFUSED(quoit_open_service(s, "own", 0, &service));
	REFUSED(quoit_find_service_function(i->service, "add_one"));
	REFUSED(quoit_close_service(i->service));
	return "";
}

static const char *try_jobs(struct inherited *i, struct quoit_ring *q)
{
	const struct quoit_sqe nop = quoit_nop(0);
	struct quoit_stamps stamps;
	struct quoit_event event;
	struct quoit_error error;
	quoit_job job;

	REFUSED(quoit_push(q, quoit_nop(0)));
	REFUSED(quoit_push_sqe(q, &nop));
	REFUSED(quoit_push(q, quoit_call(i->lock, 0, 0, 0, 0)));
	REFUSED(quoit_push(q, quoit_send(i->queue, i->a)));
	REFUSED(quoit_start(q, quoit_nop(0), &job));
	REFUSED(quoit_start_sqe(q, &nop, &job));
	REFUSED(quoit_run(q, quoit_unlock(i->lock, 0), 100));
	REFUSED(quoit_run_at(q, quoit_lock(i->lock, 0), QUOIT_FOREVER, NULL));
	REFUSED(quoit_flush(q));
	REFUSED(quoit_get_result(q, i->waits));
	REFUSED(quoit_cancel(q, i->waits));
	REFUSED(quoit_record_event(q, &event));
	REFUSED(quoit_get_event(q, i->waits, &event));
	HOLDS(!quoit_get_job_error(q, i->waits, &error));
	HOLDS(!quoit_get_job_stamps(q, i->waits, &stamps));
	HOLDS(!quoit_get_wait_error(q, &error));
	HOLDS(quoit_count_failures(q, &error) == 0);
	quoit_detach(q, i->waits);
	return "";
}

static const char *try_waits(struct inherited *i, struct quoit_ring *q)
{
	quoit_job job = i->waits;
	quoit_tensor t;

	REFUSED(quoit_wait(q, job, QUOIT_FOREVER));
	REFUSED(quoit_wait_at(q, job, QUOIT_FOREVER, NULL));
	REFUSED(quoit_wait_n(q, &job, 1, 1, QUOIT_FOREVER));
	REFUSED(quoit_wait_n_at(q, &job, 1, 1, QUOIT_FOREVER, NULL));
	REFUSED(quoit_wait_any(q, &job, 1, QUOIT_FOREVER));
	REFUSED(quoit_wait_any_at(q, &job, 1, QUOIT_FOREVER, NULL));
	REFUSED(quoit_wait_all_of(q, &job, 1, QUOIT_FOREVER));
	REFUSED(quoit_wait_all_of_at(q, &job, 1, QUOIT_FOREVER, NULL));
	REFUSED(quoit_wait_tensor(q, i->a, QUOIT_FOREVER));
	REFUSED(quoit_wait_tensor_at(q, i->a, QUOIT_FOREVER, NULL));
	REFUSED(quoit_wait_all(q, QUOIT_FOREVER));
	REFUSED(quoit_wait_all_at(q, QUOIT_FOREVER, NULL));
	REFUSED(quoit_window(q, 0, QUOIT_FOREVER));
	REFUSED(quoit_window_at(q, 0, QUOIT_FOREVER, NULL));
	REFUSED(quoit_receive_next(q, i->queue, QUOIT_FOREVER, &t));
	REFUSED(quoit_receive_next_at(q, i->queue, QUOIT_FOREVER, &t, NULL));
	REFUSED(quoit_wait_cqe(q, QUOIT_FOREVER));
	REFUSED(quoit_arm(q));
	REFUSED(quoit_get_fd(q));
	return "";
}

static const char *try_tensors(struct inherited *i, struct quoit_ring *q)
{
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, 1}};
	quoit_job job;
	int32_t x[N] = {0};
	void *at;

	HOLDS(!quoit_create(q, &shape, 0));
	HOLDS(!quoit_create_in(q, &shape, i->memory));
	HOLDS(!quoit_create_matrix(q, QUOIT_F32, 1, 1));
	HOLDS(!quoit_create_vector(q, QUOIT_F32, 1));
	HOLDS(!quoit_view(q, i->a, &shape, 0));
	HOLDS(!quoit_attach_tensor(q, i->named));
	HOLDS(!quoit_get_shape(q, i->a, &shape));
	REFUSED(quoit_use_device(q, 0));
	REFUSED(quoit_free(q, i->a));
	REFUSED(quoit_write(q, i->a, x, sizeof x));
	REFUSED(quoit_write_at(q, i->a, x, sizeof x, NULL));
	REFUSED(quoit_read(q, i->a, x, sizeof x));
	REFUSED(quoit_read_at(q, i->a, x, sizeof x, NULL));
	REFUSED(quoit_acquire(q, i->a, QUOIT_ACCESS_READ, QUOIT_FOREVER, &at));
	REFUSED(quoit_acquire_at(q, i->a, QUOIT_ACCESS_READ, QUOIT_FOREVER, &at, NULL));
	REFUSED(quoit_start_acquire(q, i->a, QUOIT_ACCESS_READ, &job));
	REFUSED(quoit_start_acquire_at(q, i->a, QUOIT_ACCESS_READ, &job, NULL));
	REFUSED(quoit_get_pointer(q, i->a, &at));
	REFUSED(quoit_release_tensor(q, i->a));
	return "";
}

static const char *try_keys(struct inherited *i, struct quoit_ring *q)
{
	const int n = i->keys;
	struct quoit_key_state state;
	uint64_t revision;
	char x[64] = "";

	HOLDS(!quoit_create_key(q, "key"));
	REFUSED(quoit_put_value(q, n, "key", x, 1, 0, &revision));
	REFUSED(quoit_put_value_at(q, n, "key", x, 1, 0, &revision, NULL));
	REFUSED(quoit_get_value(q, n, "key", x, sizeof x, &state));
	REFUSED(quoit_get_value_at(q, n, "key", x, sizeof x, &state, NULL));
	REFUSED(quoit_delete_key(q, n, "key", 0, &revision));
	REFUSED(quoit_delete_key_at(q, n, "key", 0, &revision, NULL));
	REFUSED(quoit_list_keys(q, n, "", NULL, 0, x, sizeof x, &state));
	REFUSED(quoit_list_keys_at(q, n, "", NULL, 0, x, sizeof x, &state, NULL));
	REFUSED(quoit_watch_key(q, n, "key", 0, QUOIT_FOREVER, &state));
	REFUSED(quoit_watch_key_at(q, n, "key", 0, QUOIT_FOREVER, &state, NULL));
	REFUSED(quoit_watch_prefix(q, n, "", 0, QUOIT_FOREVER, &state));
	REFUSED(quoit_watch_prefix_at(q, n, "", 0, QUOIT_FOREVER, &state, NULL));
	return "";
}

/* Also what the child has no right to call here: nothing of it may touch the parent's pages. */
static const char *try_raw(struct quoit_ring *q)
{
	const struct quoit_cqe *cqe = NULL;
	struct quoit_sqe *sqe;

	REFUSED(quoit_push(q, quoit_nop(0)));
	HOLDS(!quoit_get_sqe(q));
	HOLDS(!quoit_get_sqes(q, 2, &sqe));
	REFUSED(quoit_flush(q));
	REFUSED(quoit_peek(q, &cqe));
	REFUSED(quoit_wait_cqe(q, QUOIT_FOREVER));
	REFUSED(quoit_get_cqe(q, 0)->res);
	REFUSED(quoit_get_cqe(q, 1)->res);
	REFUSED(quoit_get_error(q, 0)->code);
	HOLDS(!quoit_get_stamps(q, 0));
	quoit_release(q, 1);
	return "";
}

static const char *try_words(struct inherited *i)
{
	char text[300];

	REFUSED(quoit_push(i->f.q, quoit_nop(0)));
	HOLDS(strstr(quoit_error_text(i->f.q), "fork()"));
	HOLDS(strstr(quoit_strerror_wait(i->f.q, -EOWNERDEAD, text, sizeof text), "fork()"));
	HOLDS(quoit_strerror_wait(i->f.q, -EINVAL, text, sizeof text));
	HOLDS(quoit_get_session(i->f.q) == i->f.s);
	REFUSED(quoit_close_ring(i->f.q));
	REFUSED(quoit_close_ring(i->raw));
	return "";
}

const char *inherited_try(struct inherited *i, bool closes)
{
	const char *bad = try_session(i);

	if (!*bad)
		bad = try_names(i);
	if (!*bad)
		bad = try_jobs(i, i->f.q);
	if (!*bad)
		bad = try_jobs(i, i->f.p);
	if (!*bad)
		bad = try_waits(i, i->f.q);
	if (!*bad)
		bad = try_waits(i, i->f.p);
	if (!*bad)
		bad = try_tensors(i, i->f.q);
	if (!*bad)
		bad = try_keys(i, i->f.q);
	if (!*bad)
		bad = try_raw(i->raw);
	if (!*bad)
		bad = try_words(i);
	if (!*bad && closes && quoit_close(i->f.s, 0))
		bad = "quoit_close(s, 0)";
	return bad;
}
