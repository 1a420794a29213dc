/* SPDX-License-Identifier: MIT */
/* explore_sched.c - coroutines, and a search over all their schedules */
#include "explore_sched.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "explore_memory.h"

#define STACK_BYTES 8192
#define MAX_DEPTH   4096      /* choices on one path */
#define SEEN_SLOTS  (1 << 23) /* of the hash set, which is full at three quarters */
#define LOG_LINES   512
#define LOG_WIDTH   96

enum thread_state {
	THREAD_READY,
	THREAD_CHOOSES,     /* it wants one of `alternatives` */
	THREAD_WAITS_BELL,  /* until the socket is readable */
	THREAD_WAITS_FUTEX, /* until woken */
	THREAD_DONE,
	THREAD_DEAD,
	THREAD_FAILED,
};

struct thread {
	enum thread_state state;
	uint32_t alternatives;
	char *live; /* the stack from here up is in use */
	ucontext_t context;
	_Alignas(16) char stack[STACK_BYTES];
};

/* Everything that a step can change: it is copied to go on, and copied back to try another way. */
struct world {
	struct explore_memory memory;
	struct thread thread[EXPLORE_THREADS];
	bool bell;
	uint32_t log_lines;
};

struct node {
	struct world world;
	uint32_t next; /* the first alternative not yet tried */
	uint32_t alternatives;
};

static struct world world;
struct explore_memory *explore_memory = &world.memory;

/* Not part of a state: either the same on every path, or meaningful only during one step. */
static const struct explore_scenario *scenario;
static struct explore_result *result;
static ucontext_t scheduler;
static int self;
static uint32_t chosen;
static uint64_t *seen;
static char log_text[LOG_LINES][LOG_WIDTH];

/* ---- called by threads ---- */

/* Nothing in this frame is needed after the switch, so a state's live stack starts above it. */
static __attribute__((noinline)) void thread_yield(enum thread_state state)
{
	world.thread[self].state = state;
	world.thread[self].live = __builtin_frame_address(0);
	swapcontext(&world.thread[self].context, &scheduler);
}

int explore_self(void)
{
	return self;
}

void explore_step(void)
{
	thread_yield(THREAD_READY);
}

uint32_t explore_choose(uint32_t n)
{
	if (n == 1)
		return 0;
	world.thread[self].alternatives = n;
	thread_yield(THREAD_CHOOSES);
	return chosen;
}

void explore_check(bool ok, const char *what)
{
	if (ok)
		return;
	snprintf(result->failure, sizeof(result->failure), "%s", what);
	thread_yield(THREAD_FAILED);
}

bool explore_is_dead(int thread)
{
	return world.thread[thread].state == THREAD_DEAD;
}

void explore_log(const char *format, ...)
{
	if (world.log_lines == LOG_LINES)
		return;
	char *line = log_text[world.log_lines++];
	int used = snprintf(line, LOG_WIDTH, "%*sthread %d: ", self * 40, "", self);
	va_list args;

	va_start(args, format);
	vsnprintf(line + used, (size_t)(LOG_WIDTH - used), format, args);
	va_end(args);
}

void explore_bell_send(void)
{
	explore_step();
	explore_log("sends");
	world.bell = true;
}

void explore_bell_wait(void)
{
	thread_yield(THREAD_WAITS_BELL);
	explore_log("wakes");
}

void explore_bell_drain(void)
{
	explore_step();
	explore_log("drains");
	world.bell = false;
}

static void futex_block(void)
{
	explore_log("sleeps");
	thread_yield(THREAD_WAITS_FUTEX);
	explore_log("wakes");
}

void explore_futex_sleep(void)
{
	explore_step();
	futex_block();
}

void explore_futex_wait(const uint32_t *word, uint32_t expected)
{
	explore_step();
	if (explore_kernel_load(word) == expected)
		futex_block();
}

void explore_futex_wake(void)
{
	explore_step();
	explore_log("futex wake");
	for (int i = 0; i < EXPLORE_THREADS; i++)
		if (world.thread[i].state == THREAD_WAITS_FUTEX)
			world.thread[i].state = THREAD_READY;
}

/* ---- states ---- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
	const char *at = bytes;

	for (; count >= sizeof(uint64_t); at += sizeof(uint64_t), count -= sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	for (; count > 0; at++, count--)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	return hash;
}

static uint64_t world_hash(void)
{
	uint64_t hash = hash_bytes(1, &world.memory, sizeof(world.memory));

	hash = hash_bytes(hash, &world.bell, sizeof(world.bell));
	for (int i = 0; i < EXPLORE_THREADS; i++) {
		const struct thread *t = &world.thread[i];

		hash = hash_bytes(hash, &t->state, sizeof(t->state));
		if (t->state == THREAD_DONE || t->state == THREAD_DEAD)
			continue;
		hash = hash_bytes(hash, &t->context, sizeof(t->context));
		hash = hash_bytes(hash, t->live, (size_t)(t->stack + STACK_BYTES - t->live));
	}
	return hash | 1; /* zero marks an empty place of the set */
}

/* True if this state is new. */
static bool world_enter(void)
{
	uint64_t hash = world_hash();
	uint32_t at = (uint32_t)(hash >> 42);

	for (; seen[at] != 0; at = (at + 1) % SEEN_SLOTS)
		if (seen[at] == hash)
			return false;
	seen[at] = hash;
	result->states++;
	return true;
}

/* ---- the search ---- */

static bool thread_can_run(const struct thread *t)
{
	return t->state == THREAD_READY || (t->state == THREAD_WAITS_BELL && world.bell);
}

static int thread_that_chooses(void)
{
	for (int i = 0; i < EXPLORE_THREADS; i++)
		if (world.thread[i].state == THREAD_CHOOSES)
			return i;
	return -1;
}

static bool can_kill(void)
{
	return scenario->mortal && world.thread[0].state < THREAD_DONE;
}

/* Between two steps the alternatives are the threads that can run, then death. */
static uint32_t count_alternatives(void)
{
	int chooser = thread_that_chooses();
	uint32_t count = 0;

	if (chooser >= 0)
		return world.thread[chooser].alternatives;
	for (int i = 0; i < EXPLORE_THREADS; i++)
		count += thread_can_run(&world.thread[i]);
	return count + can_kill();
}

static void thread_main(int nr)
{
	scenario->thread[nr]();
	thread_yield(THREAD_DONE);
}

static void thread_start(int nr)
{
	struct thread *t = &world.thread[nr];

	if (scenario->thread[nr] == NULL) {
		t->state = THREAD_DONE;
		return;
	}
	getcontext(&t->context);
	t->context.uc_stack.ss_sp = t->stack;
	t->context.uc_stack.ss_size = STACK_BYTES;
	t->live = t->stack;
	makecontext(&t->context, (void (*)(void))thread_main, 1, nr);
}

static void thread_resume(int nr)
{
	self = nr;
	result->steps++;
	swapcontext(&scheduler, &world.thread[nr].context);
}

static void take_alternative(uint32_t which)
{
	int chooser = thread_that_chooses();

	if (chooser >= 0) {
		chosen = which;
		thread_resume(chooser);
		return;
	}
	for (int i = 0; i < EXPLORE_THREADS; i++) {
		if (!thread_can_run(&world.thread[i]))
			continue;
		if (which-- == 0) {
			thread_resume(i);
			return;
		}
	}
	self = 0;
	explore_log("dies");
	world.thread[0].state = THREAD_DEAD;
}

/* No thread can go on: that is right only if all have come to their ends. */
static void check_end(void)
{
	for (int i = 0; i < EXPLORE_THREADS; i++)
		if (world.thread[i].state != THREAD_DONE && world.thread[i].state != THREAD_DEAD)
			snprintf(result->failure, sizeof(result->failure),
				 "thread %d sleeps and nobody is left to wake it", i);
	result->ends++;
}

static void node_open(struct node *n)
{
	n->alternatives = count_alternatives();
	n->next = 0;
	n->world = world;
	if (n->alternatives == 0)
		check_end();
}

static void search(struct node *path)
{
	uint32_t depth = 1;

	node_open(&path[0]);
	while (depth > 0 && result->failure[0] == '\0') {
		struct node *n = &path[depth - 1];

		if (n->next == n->alternatives) {
			depth--;
			continue;
		}
		world = n->world;
		take_alternative(n->next++);
		if (result->failure[0] != '\0' || !world_enter())
			continue;
		if (depth == MAX_DEPTH || result->states > SEEN_SLOTS / 4 * 3)
			snprintf(result->failure, sizeof(result->failure),
				 "cut off: too many states, or a path too long");
		else
			node_open(&path[depth++]);
	}
	if (result->failure[0] == '\0' && result->ends == 0)
		snprintf(result->failure, sizeof(result->failure), "no schedule comes to its end");
}

bool explore_run(const struct explore_scenario *s, bool verbose, struct explore_result *ret)
{
	struct node *path = malloc(MAX_DEPTH * sizeof(*path));

	*ret = (struct explore_result){0};
	scenario = s;
	result = ret;
	seen = calloc(SEEN_SLOTS, sizeof(*seen));
	if (path == NULL || seen == NULL) {
		snprintf(ret->failure, sizeof(ret->failure), "out of memory");
	} else {
		memset(&world, 0, sizeof(world));
		explore_memory_reset();
		s->setup();
		for (int i = 0; i < EXPLORE_THREADS; i++)
			thread_start(i);
		search(path);
	}
	free(seen);
	free(path);
	for (uint32_t i = 0; verbose && ret->failure[0] != '\0' && i < world.log_lines; i++)
		printf("    %s\n", log_text[i]);
	return ret->failure[0] == '\0';
}
