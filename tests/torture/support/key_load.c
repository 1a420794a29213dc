/* SPDX-License-Identifier: MIT */
/* key_load.c - processes that change the same few keys of a keyspace */
#include "key_load.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define WATCH_MS 3

struct worker {
	struct key_load *l;
	unsigned i;
	struct quoit_session *s;
	struct quoit_ring *q;
	int number;
	uint64_t random;
	uint64_t seen[KEY_KEYS]; /* the newest revision of each key that it knows; 0: none */
	uint64_t now;            /* the same of the keyspace */
	uint64_t *value;
};

struct key_load *key_load_new(const char *socket, uint32_t longest, bool may_die)
{
	struct key_load *l = mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (l == MAP_FAILED)
		return NULL;
	l->socket = socket;
	l->longest = longest;
	l->may_die = may_die;
	return l;
}

void key_load_free(struct key_load *l)
{
	munmap(l, sizeof *l);
}

uint64_t key_load_ended(const struct key_load *l)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < KEY_WORKERS; i++)
		n += atomic_load(&l->hand[i].events);
	return n;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t below(struct worker *w, uint32_t bound)
{
	w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % bound;
}

static void note_wrong(struct worker *w, const char *what, int err)
{
	char text[160] = "";

	if (err)
		quoit_strerror_wait(w->q, err, text, sizeof text);
	if (!*w->l->hand[w->i].wrong)
		snprintf(w->l->hand[w->i].wrong, sizeof w->l->hand[w->i].wrong, "%s: %s", what,
			 text);
	atomic_store(&w->l->stop, true);
}

/* ---- values: the number of the event, then the same and its place in each word ---- */

static uint32_t words_of(struct worker *w, uint64_t number)
{
	uint32_t most = w->l->longest / sizeof *w->value;

	return 1 + (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 40) % most;
}

static uint32_t make_value(struct worker *w, uint64_t number)
{
	uint32_t words = words_of(w, number);

	for (uint32_t i = 0; i < words; i++)
		w->value[i] = number ^ (uint64_t)i << 48;
	return words * (uint32_t)sizeof *w->value;
}

static uint64_t check_value(struct worker *w, uint64_t bytes)
{
	const uint64_t number = w->value[0];
	bool good = bytes == words_of(w, number) * sizeof *w->value;

	for (uint32_t i = 0; good && i < bytes / sizeof *w->value; i++)
		good = w->value[i] == (number ^ (uint64_t)i << 48);
	if (!good)
		note_wrong(w, "a value that nobody has put", 0);
	return number;
}

/* ---- calls ---- */

/* What a refused one has found. */
static uint64_t found(struct worker *w)
{
	struct quoit_error e;

	if (quoit_get_wait_error(w->q, &e) && e.field == QUOIT_FIELD_REVISION)
		return e.value[0];
	return 0;
}

static void call(struct worker *w, struct key_event *e)
{
	struct quoit_key_state state = {0};
	char key[8];

	snprintf(key, sizeof key, "k%u", e->key);
	switch ((enum key_op)e->op) {
	case KEY_PUT:
		e->result = quoit_put_value(w->q, w->number, key, w->value, make_value(w, e->value),
					    e->expected, &e->revision);
		break;
	case KEY_DELETE:
		e->result = quoit_delete_key(w->q, w->number, key, e->expected, &e->revision);
		break;
	case KEY_GET:
		e->result = quoit_get_value(w->q, w->number, key, w->value, w->l->longest, &state);
		if (!e->result)
			e->value = check_value(w, state.bytes);
		break;
	case KEY_WATCH:
		e->result =
			quoit_watch_key(w->q, w->number, key, e->expected, e->timeout_ms, &state);
		break;
	}
	if (e->op == KEY_GET || e->op == KEY_WATCH) {
		e->revision = state.revision;
		e->now = state.now;
	} else if (e->result) {
		e->revision = found(w);
	}
}

static void learn(struct worker *w, const struct key_event *e)
{
	const uint64_t newest = e->now ? e->now : e->result ? 0 : e->revision;

	w->now = newest > w->now ? newest : w->now;
	if (e->op == KEY_DELETE && !e->result)
		w->seen[e->key] = 0;
	else if (e->result != -ETIME)
		w->seen[e->key] = e->result == -ENOENT ? 0 : e->revision;
	if (e->result && e->result != -ENOENT && e->result != -EEXIST && e->result != -ESTALE &&
	    !(e->result == -ETIME && e->op == KEY_WATCH))
		note_wrong(w, "a call", e->result);
}

/* Of workers so many also wait for long. */
#define PATIENT 2u

/* For what it knows already; for what is to come, which is soon, or not within a short time. */
static void choose_watch(struct worker *w, struct key_event *e)
{
	if (w->seen[e->key] && below(w, 2)) {
		e->expected = w->seen[e->key] - 1;
		e->timeout_ms = QUOIT_FOREVER;
	} else {
		e->expected = w->now;
		e->timeout_ms = w->i >= PATIENT || below(w, 2) ? WATCH_MS : KEY_LONG_MS;
	}
}

static void choose(struct worker *w, struct key_event *e, uint32_t number)
{
	static const uint8_t ops[] = {KEY_PUT, KEY_PUT, KEY_PUT,    KEY_GET,
				      KEY_GET, KEY_GET, KEY_DELETE, KEY_WATCH};

	*e = (struct key_event){.op = ops[below(w, sizeof ops)],
				.key = (uint8_t)below(w, KEY_KEYS)};
	if (e->op == KEY_PUT)
		e->value = (uint64_t)(w->i + 1) << 32 | number;
	if (e->op == KEY_WATCH)
		choose_watch(w, e);
	else if (e->op != KEY_GET)
		e->expected = below(w, 4) ? w->seen[e->key] : QUOIT_ANY_REVISION;
}

static void work(struct worker *w)
{
	uint32_t n = atomic_load(&w->l->hand[w->i].events);

	for (; n < KEY_EVENTS && !atomic_load(&w->l->stop); n++) {
		struct key_event *e = &w->l->event[w->i][n];

		if (e->began) /* a process before this one was killed in it */
			continue;
		choose(w, e, n);
		e->began = now_ns();
		call(w, e);
		e->ended = now_ns();
		learn(w, e);
		atomic_store(&w->l->hand[w->i].events, n + 1);
	}
}

static int run(struct key_load *l, unsigned i)
{
	const struct quoit_open_params p = {.socket = l->socket};
	const struct quoit_sync_params room = {.value = KEY_KEYS,
					       .most = (l->longest + 512) * UINT64_C(6)};
	struct worker w = {.l = l, .i = i, .random = now_ns() ^ (uint64_t)i << 56};

	w.value = calloc(1, l->longest + sizeof *w.value);
	if (!w.value || quoit_open(&p, &w.s) || quoit_open_ring(w.s, NULL, &w.q))
		return 1;
	w.number = quoit_open_keyspace(w.s, KEY_NAME, &room);
	if (w.number < 0)
		return 2;
	work(&w);
	free(w.value);
	return quoit_close(w.s, 0) ? 3 : 0;
}

pid_t key_load_start(struct key_load *l, unsigned i)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(run(l, i));
}
