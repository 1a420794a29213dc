/* SPDX-License-Identifier: MIT */
/* serve.c - make a service of a team, and end it */
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "mine.h"
#include "refusal.h"
#include "service.h"
#include "team.h"

/* What quoit_serve was asked for, beside the team. */
struct offer {
	const char *name;
	const struct quoit_serve_params *params;
};

static int check(const struct offer *o)
{
	const struct quoit_serve_params *p = o->params;

	if (!libquoit_is_service_name(o->name))
		return libquoit_refuse_service_name(o->name);
	if (p->mode & ~QUOIT_SERVE_MODE)
		return libquoit_text_refuse(-EINVAL,
					    "unknown mode %#o: allowed are %#o (QUOIT_SERVE_GROUP, "
					    "QUOIT_SERVE_OTHERS)",
					    p->mode & ~QUOIT_SERVE_MODE, QUOIT_SERVE_MODE);
	if (p->gid && !(p->mode & QUOIT_SERVE_GROUP))
		return libquoit_text_refuse(
			-EINVAL, "group %u is named, and the mode has no QUOIT_SERVE_GROUP",
			p->gid);
	return 0;
}

static int tell(struct quoit_team *t, const struct offer *o)
{
	struct quoit_ctl m = {
		.type = QUOIT_CTL_SERVE,
		.serve = {.ring = t->ring->index, .mode = o->params->mode, .gid = o->params->gid}};

	memcpy(m.serve.name, o->name, strlen(o->name));
	return libquoit_control_ask(t->session, &m, -1);
}

/* Calls may come as soon as quoitd knows, and threads only afterwards: the state is there before. */
static int begin(struct quoit_team *t, const void *of)
{
	const struct offer *o = of;

	t->serve = calloc(1, sizeof *t->serve);
	if (!t->serve)
		return libquoit_text_refuse_memory();
	memcpy(t->serve->name, o->name, strlen(o->name));
	t->serve->mode = o->params->mode;
	pthread_mutex_init(&t->serve->lock, NULL);
	pthread_cond_init(&t->serve->mapped, NULL);
	return tell(t, o);
}

void libquoit_serve_end(struct quoit_team *t)
{
	libquoit_callers_end(t);
	libquoit_results_end(t);
	if (libquoit_is_mine(t->session->mine)) { /* a child's threads wait nowhere */
		pthread_mutex_destroy(&t->serve->lock);
		pthread_cond_destroy(&t->serve->mapped);
	}
	free(t->serve);
	t->serve = NULL;
}

int quoit_serve(struct quoit_session *s, const char *name, const struct quoit_function *functions,
		unsigned count, const struct quoit_serve_params *params, struct quoit_team **ret)
{
	static const struct quoit_serve_params defaults;
	const struct offer o = {.name = name, .params = params ? params : &defaults};
	const struct quoit_team_params team = {
		.lanes = o.params->lanes, .flags = o.params->flags, .entries = o.params->entries};
	int err;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	err = check(&o);
	return err ? err : libquoit_team_open(s, functions, count, &team, begin, &o, ret);
}
