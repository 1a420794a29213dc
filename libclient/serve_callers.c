/* SPDX-License-Identifier: MIT */
/* serve_callers.c - the memory of those who call a service, mapped for reading */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control.h"
#include "mine.h"
#include "refusal.h"
#include "serve.h"
#include "team.h"

/* ---- the table ---- */

/* Where the caller is linked, or would be. */
static struct caller **find(struct serve *v, uint32_t number)
{
	struct caller **at = &v->caller[number % CALLER_BUCKETS];

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

static void caller_free(struct caller *c)
{
	if (c->base)
		munmap((void *)(uintptr_t)c->base, c->bytes);
	free(c);
}

static void unlink_caller(struct serve *v, struct caller *c)
{
	*find(v, c->number) = c->next;
	caller_free(c);
}

static struct caller *hold(struct serve *v, uint32_t number)
{
	struct caller **at = find(v, number);

	if (!*at) {
		*at = calloc(1, sizeof **at);
		if (!*at)
			return NULL;
		(*at)->number = number;
	}
	(*at)->calls++;
	return *at;
}

/* Its calls were taken before, so each has held it. */
static void leave(struct serve *v, uint32_t number)
{
	struct caller *c = *find(v, number);

	if (!c)
		return;
	c->left = true;
	if (!c->calls)
		unlink_caller(v, c);
}

void libquoit_serve_note(struct serve *v, struct taken *k)
{
	if (k->left)
		leave(v, k->left);
	else if (k->function)
		k->caller = hold(v, k->entry.caller);
}

void libquoit_caller_drop(struct serve *v, struct caller *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&v->lock);
	/* Of one that was never mapped nobody says that it has left. */
	if (!--c->calls && (c->left || c->state == CALLER_UNMAPPED))
		unlink_caller(v, c);
	pthread_mutex_unlock(&v->lock);
}

/* In a child of fork() nothing is mapped there. */
void libquoit_callers_end(struct quoit_team *t)
{
	const bool is_mine = libquoit_is_mine(t->session->mine);

	for (unsigned i = 0; i < CALLER_BUCKETS; i++) {
		struct caller *c;

		while ((c = t->serve->caller[i]) != NULL) {
			t->serve->caller[i] = c->next;
			if (!is_mine)
				c->base = NULL;
			caller_free(c);
		}
	}
}

/* ---- mapping ---- */

static int ask(struct quoit_team *t, uint32_t number, struct shared *ret)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CALLER,
			      .caller = {.ring = t->ring->index, .caller = number}};
	int fd, err = libquoit_control_call(t->session, &m, NULL, 0, &fd, 1);

	if (err)
		return err;
	err = libquoit_shared_look(fd, m.caller.bytes, "caller", ret);
	close(fd);
	return err;
}

/* Only one thread asks; if it fails, the next one that waits tries for itself. */
int libquoit_caller_map(struct quoit_team *t, struct caller *c)
{
	struct serve *v = t->serve;
	struct shared memory = {.fd = -1};
	int err = 0;

	pthread_mutex_lock(&v->lock);
	while (c->state == CALLER_ASKED)
		pthread_cond_wait(&v->mapped, &v->lock);
	if (c->state == CALLER_UNMAPPED) {
		c->state = CALLER_ASKED;
		pthread_mutex_unlock(&v->lock);
		err = ask(t, c->number, &memory);
		pthread_mutex_lock(&v->lock);
		c->state = err ? CALLER_UNMAPPED : CALLER_MAPPED;
		c->base = memory.base;
		c->bytes = memory.bytes;
		pthread_cond_broadcast(&v->mapped);
	}
	pthread_mutex_unlock(&v->lock);
	return err;
}
