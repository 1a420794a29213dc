/* SPDX-License-Identifier: MIT */
/* service_load.c - processes that serve, and processes that call and know what must come back */
#include "service_load.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <quoit.h>

#define MIB     (UINT64_C(1) << 20)
#define SLOTS   12u
#define SMALL   8u     /* elements: the reactor copies them */
#define MIDDLE  4096u  /* workers do */
#define LARGE   60000u /* in several tiles */
#define WAIT_MS 60000u /* for somebody who serves */

static struct load *load; /* of this process */

/* ---- the functions ---- */

static void note_run(const struct quoit_exec_call *c)
{
	uint64_t id = c->scalar[1].u;

	atomic_fetch_add(&load->caller[id >> 32].ran[(uint32_t)id % LOAD_NUMBERS], 1);
}

static uint32_t length(const struct quoit_exec_call *c)
{
	return c->tensor[0].dim[3];
}

/* y = x * scalar + arg */
static int scale(void *state, struct quoit_exec_call *c)
{
	const struct quoit_exec_tensor *x = &c->tensor[1];
	int64_t *y = c->tensor[0].data;

	(void)state;
	if (c->piece == 0)
		note_run(c);
	for (uint32_t i = c->piece; i < length(c); i += c->pieces)
		y[i] = ((const int64_t *)x->data)[(int64_t)i * x->stride[3]] * c->scalar[0].i +
		       c->arg;
	return 0;
}

static uint32_t pieces(void *state, const struct quoit_exec_call *c)
{
	(void)state;
	return c->arg % 7 + 1;
}

/* y += scalar */
static int add(void *state, struct quoit_exec_call *c)
{
	int64_t *y = c->tensor[0].data;

	(void)state;
	note_run(c);
	for (uint32_t i = 0; i < length(c); i++)
		y[i] += c->scalar[0].i;
	return (int)c->arg;
}

static int fail(void *state, struct quoit_exec_call *c)
{
	(void)state;
	note_run(c);
	snprintf(c->text, sizeof c->text, "not %lld", (long long)c->scalar[0].i);
	return -EDOM;
}

/* As scale; it takes its time. */
static int slow(void *state, struct quoit_exec_call *c)
{
	const struct timespec nap = {.tv_nsec = 300000};

	(void)nanosleep(&nap, NULL);
	return scale(state, c);
}

static const struct quoit_function functions[] = {
	{.name = "scale", .access = "WR--", .run = scale},
	{.name = "cut", .access = "WR--", .run = scale, .pieces = pieces},
	{.name = "add", .access = "M---", .run = add},
	{.name = "fail", .access = "W---", .run = fail},
	{.name = "slow", .access = "WR--", .run = slow},
};
#define FUNCTIONS (sizeof functions / sizeof *functions)
enum function { SCALE, CUT, ADD, FAIL, SLOW };

/* ---- serving ---- */

static int serve(struct load *l, unsigned i)
{
	const struct quoit_open_params open = {
		.socket = l->socket, .host_bytes = 16 * MIB, .arena_bytes = 8 * MIB};
	const struct quoit_serve_params params = {.lanes = 2, .flags = QUOIT_TEAM_UNPINNED};
	const struct timespec nap = {.tv_nsec = 200000};
	struct quoit_session *s;
	struct quoit_team *team;

	if (quoit_open(&open, &s))
		return 10;
	if (quoit_serve(s, LOAD_NAME, functions, FUNCTIONS, &params, &team))
		return 11;
	atomic_store(&l->server[i].serves, true);
	while (!atomic_load(&l->server[i].leave))
		(void)nanosleep(&nap, NULL);
	if (quoit_close_team(team))
		return 12;
	return quoit_close(s, 0) ? 13 : 0;
}

/* ---- calling ---- */

struct slot {
	uint32_t n, stride; /* elements of x and y; of y */
	int64_t *x, *y;
	quoit_tensor tx, ty;
	enum function function;
	int64_t factor, before;
	uint8_t arg;
	uint32_t id;
	quoit_job job;
};

struct client {
	struct load *l;
	unsigned number; /* of the process */
	struct quoit_session *s;
	struct quoit_ring *q;
	struct quoit_service *service;
	int function[FUNCTIONS];
	struct slot slot[SLOTS];
	uint64_t random;
	uint32_t id;
};

static uint32_t draw(struct client *c, uint32_t below)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(c->random >> 33) % below;
}

__attribute__((format(printf, 2, 3))) static bool wrong(struct client *c, const char *format, ...)
{
	char *to = c->l->caller[c->number].wrong;
	va_list args;

	va_start(args, format);
	if (!*to)
		vsnprintf(to, sizeof c->l->caller[0].wrong, format, args);
	va_end(args);
	return false;
}

static bool make_slot(struct client *c, struct slot *k, unsigned i)
{
	static const uint32_t n[SLOTS] = {
		[SLOTS - 1] = LARGE, [SLOTS - 2] = MIDDLE, [SLOTS - 3] = MIDDLE};

	k->n = n[i] ? n[i] : SMALL;
	k->stride = i % 3 == 1 ? 2 : 1;
	k->x = quoit_alloc(c->s, k->n * sizeof *k->x);
	k->y = quoit_alloc(c->s, (uint64_t)k->n * k->stride * sizeof *k->y);
	if (!k->x || !k->y)
		return wrong(c, "no memory for slot %u", i);
	k->tx = quoit_create_in(
		c->q, &(struct quoit_shape){.dtype = QUOIT_I64, .dim = {1, 1, 1, k->n}}, k->x);
	k->ty = quoit_create_in(
		c->q,
		&(struct quoit_shape){.dtype = QUOIT_I64,
				      .dim = {1, 1, 1, k->n},
				      .stride = {(int32_t)(k->n * k->stride),
						 (int32_t)(k->n * k->stride),
						 (int32_t)(k->n * k->stride), (int32_t)k->stride}},
		k->y);
	for (uint32_t at = 0; at < k->n; at++)
		k->x[at] = draw(c, 1000000);
	return true;
}

static bool look_up(struct client *c)
{
	int err = quoit_open_service(c->s, LOAD_NAME, WAIT_MS, &c->service);

	if (err)
		return wrong(c, "no service: %d: %s", err, quoit_open_text());
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		c->function[i] = quoit_find_service_function(c->service, functions[i].name);
		if (c->function[i] < 0)
			return wrong(c, "no function '%s'", functions[i].name);
	}
	return true;
}

static bool open_client(struct client *c)
{
	const struct quoit_open_params open = {
		.socket = c->l->socket, .host_bytes = 16 * MIB, .arena_bytes = 8 * MIB};
	const struct quoit_ring_params ring = {.entries = 256};

	if (quoit_open(&open, &c->s) || quoit_open_ring(c->s, &ring, &c->q))
		return wrong(c, "no session: %s", quoit_open_text());
	for (unsigned i = 0; i < SLOTS; i++)
		if (!make_slot(c, &c->slot[i], i))
			return false;
	return look_up(c);
}

static bool start(struct client *c, struct slot *k)
{
	struct quoit_sqe sqe;
	uint64_t id;

	k->function = draw(c, FUNCTIONS);
	k->factor = draw(c, 100);
	k->before = draw(c, 100);
	k->arg = (uint8_t)draw(c, 100);
	k->id = c->id++ % LOAD_NUMBERS;
	id = (uint64_t)c->number << 32 | k->id;
	atomic_store(&c->l->caller[c->number].ran[k->id], 0);
	if (k->function == ADD && quoit_push(c->q, quoit_fill_int(k->ty, k->before)))
		return wrong(c, "a fill was refused");
	sqe = quoit_call(c->function[k->function], k->ty,
			 k->function == ADD || k->function == FAIL ? 0 : k->tx, 0, 0);
	sqe = quoit_op_arg(sqe, k->arg, (uint64_t)k->factor, id);
	sqe = quoit_with_priority(sqe, (uint8_t)draw(c, QUOIT_PRIO_NR));
	if (c->l->may & LOAD_MAY_LATE && !draw(c, 4))
		sqe = quoit_with_deadline(sqe, 1 + draw(c, 2000));
	return !quoit_start(c->q, sqe, &k->job) || wrong(c, "a call was refused");
}

static int64_t expected(const struct slot *k, uint32_t i)
{
	return k->function == ADD ? k->before + k->factor : k->x[i] * k->factor + k->arg;
}

static bool is_right(const struct slot *k)
{
	bool right = true;

	for (uint32_t i = 0; i < k->n; i++)
		right &= k->y[(uint64_t)i * k->stride] == expected(k, i);
	return right;
}

static bool may_fail(const struct load *l, int res)
{
	switch (res) {
	case -QUOIT_EEXEC:
		return l->may & LOAD_MAY_DIE;
	case -ECANCELED:
		return l->may & LOAD_MAY_CANCEL;
	case -ETIME:
		return l->may & LOAD_MAY_LATE;
	default:
		return false;
	}
}

static bool check_failure(struct client *c, const struct slot *k, int res, unsigned ran)
{
	char want[40], text[300];

	(void)quoit_strerror_wait(c->q, res, text, sizeof text);
	if (res != -EDOM || k->function != FAIL)
		return (may_fail(c->l, res) && ran <= 1) ||
		       wrong(c, "a call of '%s' ended with %d after %u runs: %s",
			     functions[k->function].name, res, ran, text);
	snprintf(want, sizeof want, "not %lld", (long long)k->factor);
	return ran == 1 && (strstr(text, want) || wrong(c, "'%s' is not in: %s", want, text));
}

static bool finish(struct client *c, struct slot *k)
{
	int res = quoit_wait(c->q, k->job, QUOIT_FOREVER);
	unsigned ran = atomic_load(&c->l->caller[c->number].ran[k->id]);

	atomic_fetch_add(&c->l->caller[c->number].ended, 1);
	if (res == -QUOIT_EEXEC)
		atomic_fetch_add(&c->l->caller[c->number].died, 1);
	if (res < 0)
		return check_failure(c, k, res, ran);
	if (k->function == FAIL || ran != 1 || res != (k->function == ADD ? k->arg : 0))
		return wrong(c, "a call of '%s' ended with %d after %u runs",
			     functions[k->function].name, res, ran);
	return is_right(k) || wrong(c, "a result of '%s', %u elements, is wrong",
				    functions[k->function].name, k->n);
}

/* Wait until quoitd has fetched all calls, and close the service: of a later one it knows nothing. */
static bool let_go(struct client *c)
{
	quoit_job job;

	if (quoit_start(c->q, quoit_nop(0), &job) || quoit_wait(c->q, job, QUOIT_FOREVER))
		return wrong(c, "a NOP failed");
	return !quoit_close_service(c->service) || wrong(c, "the service cannot be closed");
}

static bool call_round(struct client *c)
{
	bool reopens = c->l->may & LOAD_MAY_CANCEL && !draw(c, 8);

	for (unsigned i = 0; i < SLOTS; i++)
		if (!start(c, &c->slot[i]))
			return false;
	(void)quoit_flush(c->q);
	if (reopens && !let_go(c))
		return false;
	for (unsigned i = 0; i < SLOTS; i++)
		if (!finish(c, &c->slot[i]))
			return false;
	return !reopens || look_up(c);
}

static int run_client(struct load *l, unsigned i)
{
	struct client *c = calloc(1, sizeof *c);

	if (!c)
		return 20;
	c->l = l;
	c->number = i;
	c->random = (uint64_t)getpid();
	if (!open_client(c))
		return 21;
	while (!atomic_load(&l->stop))
		if (!call_round(c))
			return 22;
	if (quoit_close(c->s, 0))
		return 23;
	free(c);
	return 0;
}

/* ---- processes ---- */

struct load *load_new(const char *socket, uint32_t may)
{
	struct load *l =
		mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (l == MAP_FAILED)
		return NULL;
	l->socket = socket;
	l->may = may;
	return l;
}

void load_free(struct load *l)
{
	munmap(l, sizeof *l);
}

static pid_t start_process(struct load *l, unsigned i, int (*run)(struct load *l, unsigned i))
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	load = l;
	_exit(run(l, i));
}

pid_t load_server(struct load *l, unsigned i)
{
	atomic_store(&l->server[i].leave, false);
	atomic_store(&l->server[i].serves, false);
	return start_process(l, i, serve);
}

pid_t load_caller(struct load *l, unsigned i)
{
	return start_process(l, i, run_client);
}

uint64_t load_ended(const struct load *l)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < LOAD_CALLERS; i++)
		n += atomic_load(&l->caller[i].ended);
	return n;
}
