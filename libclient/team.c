/* SPDX-License-Identifier: MIT */
/* team.c - open and close teams; their functions, and the words of those that failed */
#include "team.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "control.h"
#include "mine.h"
#include "refusal.h"
#include "serve.h"

#define DEFAULT_ENTRIES 256u
#define LANES_MOST      1024u

/* ---- functions ---- */

static int add_function(struct quoit_team *t, unsigned i)
{
	const struct quoit_function *f = &t->functions[i];
	struct quoit_ctl m = {.type = QUOIT_CTL_FUNCTION_ADD, .function = {.ring = t->ring->index}};
	int err;

	memcpy(m.function.name, f->name, strlen(f->name));
	memcpy(m.function.access, f->access, QUOIT_MAX_TENSORS_PER_JOB);
	err = libquoit_control_ask(t->session, &m, -1);
	if (!err && m.function.number != i)
		return libquoit_text_refuse_reply();
	return err;
}

static int add_functions(struct quoit_team *t)
{
	int err = 0;

	for (unsigned i = 0; i < t->count && !err; i++)
		err = add_function(t, i);
	return err;
}

static int refuse_access(const struct quoit_function *f)
{
	return libquoit_text_refuse(
		-EINVAL,
		"function '%s': access is \"%.16s\": give one letter of W, M, R, "
		"w, r or - for each of the %u tensors of a call",
		f->name, f->access ? f->access : "", QUOIT_MAX_TENSORS_PER_JOB);
}

static int check_function(const struct quoit_function *f, unsigned i)
{
	if (!f->name || !*f->name || strlen(f->name) >= QUOIT_NAME_BYTES)
		return libquoit_text_refuse(-EINVAL,
					    "function %u: its name must have 1 to %u characters", i,
					    QUOIT_NAME_BYTES - 1);
	if (!f->run)
		return libquoit_text_refuse(-EINVAL, "function '%s' has no run", f->name);
	if (!f->access || strlen(f->access) != QUOIT_MAX_TENSORS_PER_JOB ||
	    strspn(f->access, "WMRwr-") != QUOIT_MAX_TENSORS_PER_JOB)
		return refuse_access(f);
	return 0;
}

static int check(const struct quoit_function *functions, unsigned count,
		 const struct quoit_team_params *p)
{
	const uint32_t known = QUOIT_TEAM_NO_LANES | QUOIT_TEAM_UNPINNED;
	int err = 0;

	if (p->flags & ~known)
		return libquoit_text_refuse_flags(p->flags, known,
						  "QUOIT_TEAM_NO_LANES, QUOIT_TEAM_UNPINNED");
	if (p->lanes > LANES_MOST || (p->lanes && p->flags & QUOIT_TEAM_NO_LANES))
		return libquoit_text_refuse(
			-EINVAL,
			"the team cannot have %u lanes: allowed are 0 to %u, and with "
			"QUOIT_TEAM_NO_LANES none",
			p->lanes, LANES_MOST);
	if (!functions)
		return libquoit_text_refuse(
			-EINVAL, "%u functions are announced, and functions is NULL", count);
	if (!count || count > QUOIT_MAX_FUNCTIONS)
		return libquoit_text_refuse(-EINVAL,
					    "a team cannot have %u functions: allowed are 1 to %u",
					    count, QUOIT_MAX_FUNCTIONS);
	for (unsigned i = 0; i < count && !err; i++)
		err = check_function(&functions[i], i);
	return err;
}

int quoit_find_function(const struct quoit_team *team, const char *name)
{
	if (!libquoit_is_mine(team->session->mine))
		return libquoit_text_refuse_child();
	if (team->serve)
		return libquoit_text_refuse(
			-ENOENT,
			"the functions of this team are called by the service's "
			"name: quoit_open_service(\"%s\")",
			team->serve->name);
	for (unsigned i = 0; i < team->count; i++)
		if (!strcmp(team->functions[i].name, name))
			return (int)(team->ring->index << 8 | i);
	return libquoit_text_refuse(-ENOENT, "the team has no function '%s'", name);
}

/* ---- open and close ---- */

static void team_free(struct quoit_team *t)
{
	if (t->serve)
		libquoit_serve_end(t);
	for (unsigned i = 0; t->functions && i < t->count; i++) {
		free((char *)(uintptr_t)t->functions[i].name);
		free((char *)(uintptr_t)t->functions[i].access);
	}
	free(t->functions);
	free(t->lanes);
	if (libquoit_is_mine(t->session->mine)) { /* a child's threads wait nowhere */
		pthread_mutex_destroy(&t->returning);
		pthread_mutex_destroy(&t->rest);
		pthread_cond_destroy(&t->left);
	}
	free(t);
}

static struct quoit_team *team_new(struct quoit_session *s, const struct quoit_function *functions,
				   unsigned count)
{
	struct quoit_team *t = calloc(1, sizeof *t);
	bool whole = true;

	if (!t)
		return NULL;
	t->session = s;
	pthread_mutex_init(&t->returning, NULL);
	pthread_mutex_init(&t->rest, NULL);
	pthread_cond_init(&t->left, NULL);
	t->functions = calloc(count, sizeof *t->functions);
	t->count = t->functions ? count : 0;
	for (unsigned i = 0; i < t->count; i++) {
		t->functions[i] = functions[i];
		t->functions[i].name = strdup(functions[i].name);
		t->functions[i].access = strdup(functions[i].access);
		whole &= t->functions[i].name && t->functions[i].access;
	}
	if (t->functions && whole)
		return t;
	team_free(t);
	return NULL;
}

static void enter(struct quoit_session *s, struct quoit_team *t)
{
	pthread_mutex_lock(&s->list);
	t->next = s->teams;
	s->teams = t;
	__atomic_store_n(&s->laneless, s->laneless + t->laneless, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&s->list);
}

static void leave(struct quoit_session *s, const struct quoit_team *t)
{
	struct quoit_team **at = &s->teams;

	pthread_mutex_lock(&s->list);
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	__atomic_store_n(&s->laneless, s->laneless - t->laneless, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&s->list);
}

/* End threads and ring, and free the team, which is in no list. */
static int end(struct quoit_team *t)
{
	int err = 0;

	if (t->ring) {
		libquoit_team_stop_lanes(t);
		err = libquoit_ring_close_team(t->ring);
	}
	team_free(t);
	return err;
}

/* Start so many threads as the parameters say, which may be one for each CPU. */
static int start_lanes(struct quoit_team *t, const struct quoit_team_params *p)
{
	unsigned lanes = p->lanes;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (sched_getaffinity(0, sizeof cpus, &cpus) < 0) /* more CPUs than fit */
		CPU_ZERO(&cpus);
	if (!lanes && !t->laneless)
		lanes = CPU_COUNT(&cpus) ? (unsigned)CPU_COUNT(&cpus) : 1;
	return libquoit_team_start_lanes(t, lanes, p->flags & QUOIT_TEAM_UNPINNED ? NULL : &cpus);
}

int libquoit_team_open(struct quoit_session *s, const struct quoit_function *functions,
		       unsigned count, const struct quoit_team_params *p,
		       int (*prepare)(struct quoit_team *t, const void *of), const void *of,
		       struct quoit_team **ret)
{
	struct quoit_team *t;
	int err = check(functions, count, p);

	if (err)
		return err;
	t = team_new(s, functions, count);
	if (!t)
		return libquoit_text_refuse_memory();
	t->laneless = p->flags & QUOIT_TEAM_NO_LANES;
	err = libquoit_ring_open_team(s, p->entries ? p->entries : DEFAULT_ENTRIES, &t->ring);
	if (!err)
		err = add_functions(t);
	if (!err && prepare)
		err = prepare(t, of);
	if (!err)
		err = start_lanes(t, p);
	if (err) {
		char text[QUOIT_TEXT_BYTES];

		snprintf(text, sizeof text, "%s", quoit_open_text());
		(void)end(t);
		return libquoit_text_refuse(err, "%s", text);
	}
	enter(s, t);
	libquoit_text_set("no error");
	*ret = t;
	return 0;
}

int quoit_open_team(struct quoit_session *s, const struct quoit_function *functions, unsigned count,
		    const struct quoit_team_params *params, struct quoit_team **ret)
{
	static const struct quoit_team_params defaults;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	return libquoit_team_open(s, functions, count, params ? params : &defaults, NULL, NULL,
				  ret);
}

int quoit_close_team(struct quoit_team *team)
{
	if (!team)
		return 0;
	if (!libquoit_is_mine(team->session->mine))
		return libquoit_text_refuse_child();
	if (libquoit_team_depth())
		return libquoit_text_refuse(-EDEADLK,
					    "a function cannot close a team, which waits until the "
					    "function ends: close it where it was opened");
	leave(team->session, team);
	return end(team);
}

/* Also if a function ends the thread. */
static void stop_serving(void *team)
{
	libquoit_team_joins(team, -1);
	libquoit_team_enters(team, -1);
}

int quoit_serve_team(struct quoit_team *team, int timeout_ms)
{
	int n;

	if (!libquoit_is_mine(team->session->mine))
		return libquoit_text_refuse_child();
	libquoit_team_enters(team, 1);
	libquoit_team_joins(team, 1);
	pthread_cleanup_push(stop_serving, team);
	n = libquoit_team_serve_until(team, clock_deadline(timeout_ms));
	if (n == -EOWNERDEAD)
		libquoit_text_refuse_child();
	else if (!n && __atomic_load_n(&team->ring->broken, __ATOMIC_RELAXED))
		n = -ECONNRESET;
	pthread_cleanup_pop(1);
	return n;
}

void libquoit_team_close_all(struct quoit_session *s)
{
	struct quoit_team *t;

	while ((t = s->teams) != NULL)
		(void)quoit_close_team(t);
}

void libquoit_team_free_all(struct quoit_session *s)
{
	struct quoit_team *t;

	while ((t = s->teams) != NULL) {
		s->teams = t->next;
		libquoit_ring_free(t->ring);
		team_free(t);
	}
}

/* ---- words ---- */

bool libquoit_team_function(struct quoit_session *s, const struct quoit_error *e,
			    char ret[QUOIT_NAME_BYTES])
{
	bool known = false;

	if (e->opcode != QUOIT_OP_CALL)
		return false;
	pthread_mutex_lock(&s->list);
	for (const struct quoit_team *t = s->teams; t && !known; t = t->next) {
		known = t->ring->index == e->team && e->function < t->count;
		if (known)
			snprintf(ret, QUOIT_NAME_BYTES, "%s", t->functions[e->function].name);
	}
	pthread_mutex_unlock(&s->list);
	return known;
}

static bool find_text(struct quoit_team *t, const struct quoit_error *e,
		      char ret[QUOIT_CALL_TEXT_BYTES])
{
	bool any = false;

	pthread_mutex_lock(&t->rest);
	for (uint32_t i = 0; i < TEAM_TEXTS && !any; i++) {
		/* the newest first, since names of jobs come again */
		const struct team_text *text = &t->texts[(t->text_count - 1 - i) % TEAM_TEXTS];

		any = text->code && text->code == e->code && text->user_data == e->cause &&
		      text->ring == e->ring;
		if (any)
			memcpy(ret, text->text, sizeof text->text);
	}
	pthread_mutex_unlock(&t->rest);
	return any;
}

bool libquoit_team_text(struct quoit_session *s, const struct quoit_error *e,
			char ret[QUOIT_CALL_TEXT_BYTES])
{
	bool any = false;

	if (e->opcode != QUOIT_OP_CALL)
		return false;
	pthread_mutex_lock(&s->list);
	for (struct quoit_team *t = s->teams; t && !any; t = t->next)
		any = find_text(t, e, ret);
	pthread_mutex_unlock(&s->list);
	return any;
}
