/* SPDX-License-Identifier: MIT */
/*
 * tables.c - free lists of a session's tables
 *
 * A table starts as untouched zeros, so a session costs only the entries that it has used.  The
 * *_used counts say how many; freed entries are linked through a field of their own.
 */
#include <assert.h>
#include <string.h>

#include "session.h"

static uint32_t room(uint32_t most, uint32_t parts)
{
	return (uint32_t)((uint64_t)most * parts / TABLE_PARTS);
}

void tables_grow(struct session *s, uint32_t parts)
{
	s->table_parts = parts;
	s->views_room = room(s->max_views, parts);
	s->buffers_room = room(s->max_buffers, parts);
	s->jobs_room = room(s->max_jobs, parts);
	s->edges_room = room(s->max_edges, parts);
}

uint32_t tables_take_view(struct session *s)
{
	uint32_t i = s->free_view;

	if (i != NIL) {
		s->free_view = s->views[i].refs;
		return i;
	}
	return s->views_used < s->views_room ? s->views_used++ : NIL;
}

void tables_give_view(struct session *s, uint32_t view)
{
	s->views[view].refs = s->free_view;
	s->free_view = view;
}

uint32_t tables_take_buffer(struct session *s)
{
	uint32_t i = s->free_buffer;

	if (i != NIL) {
		s->free_buffer = s->buffers[i].next;
		return i;
	}
	return s->buffers_used < s->buffers_room ? s->buffers_used++ : NIL;
}

void tables_give_buffer(struct session *s, uint32_t buffer)
{
	s->buffers[buffer].next = s->free_buffer;
	s->free_buffer = buffer;
}

struct job *tables_take_job(struct session *s)
{
	uint32_t i = s->free_job;

	if (i != NIL)
		s->free_job = s->jobs[i].next;
	else if (s->jobs_used < s->jobs_room)
		i = s->jobs_used++;
	else
		return NULL;
	return &s->jobs[i];
}

void tables_give_job(struct session *s, struct job *job)
{
	job_become(s, job, JOB_FREE);
	job->next = s->free_job;
	s->free_job = job_index(s, job);
}

uint32_t tables_take_edge(struct session *s)
{
	uint32_t i = s->free_edge;

	if (i != NIL) {
		s->free_edge = s->edges[i].next;
		s->edges_open++;
		return i;
	}
	if (s->edges_used >= s->edges_room)
		return NIL;
	s->edges_open++;
	return s->edges_used++;
}

void tables_give_edge(struct session *s, uint32_t edge)
{
	s->edges[edge].next = s->free_edge;
	s->free_edge = edge;
	assert(s->edges_open > 0);
	s->edges_open--;
}
