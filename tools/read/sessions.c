/* SPDX-License-Identifier: MIT */
/* sessions.c - read the sessions of a quoitd from their counter files */
#include "sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "latency.h"
#include "limit.h"
#include "list.h"
#include "runtime.h"

/* ---- reading ---- */

static int add(struct sessions *s, size_t *room, const struct counters_session *one)
{
	if (s->count == *room) {
		void *list = list_grow(s->list, room, sizeof *s->list);

		if (!list)
			return -ENOMEM;
		s->list = list;
	}
	s->list[s->count++] = (struct session_row){
		.s = *one,
		.process = {.pid = one->pid, .uid = one->uid, .by_ns = one->opened_ns},
		.daemon_lives = s->daemon_lives && counters_is_of(one, &s->totals),
		.now_ns = runtime_now_ns()};
	return 0;
}

static int read_file(struct session_files *files, uint64_t number, struct counters_session *ret)
{
	int fd = session_files_get(files, QUOIT_COUNTERS_SESSION, number), err;

	if (fd < 0)
		return fd;
	err = counters_read_session(fd, number, ret);
	close(fd);
	return err;
}

static int read_one(struct sessions *s, size_t *room, struct session_files *files, uint64_t number)
{
	struct counters_session one;
	int err = read_file(files, number, &one);

	if (!err)
		return add(s, room, &one);
	if (err == -EACCES)
		s->unreadable++;
	else if (files->asks && err == -EAGAIN)
		s->asked = err;
	else if (err != -ENOENT) /* -ENOENT: it was closed after we read the list */
		s->damaged++;
	return 0;
}

unsigned sessions_of_others(const struct counters_totals *t, size_t own)
{
	const struct counter *opened = &t->value[QUOIT_DAEMON_SESSIONS_OPENED];
	const struct counter *closed = &t->value[QUOIT_DAEMON_SESSIONS_CLOSED];
	uint64_t all = opened->known && closed->known ? opened->value - closed->value : 0;

	return all > own && all <= UINT32_MAX ? (unsigned)(all - own) : 0;
}

/* The result of asking quoitd, if we must, goes to s->asked. */
static int read_all(struct sessions *s, struct session_files *files)
{
	struct session_list list = {0};
	size_t room = 0;
	int err = 0;

	if (files->asks && s->state != DAEMON_UP)
		s->asked = -EAGAIN;
	else
		err = session_files_list(files, QUOIT_COUNTERS_SESSION, &list);
	for (size_t i = 0; i < list.count && (!err || files->asks); i++) {
		int failed = read_one(s, &room, files, list.number[i]);

		err = failed ? failed : err;
	}
	free(list.number);
	if (files->asks && err && err != -ENOMEM) {
		s->asked = err;
		err = 0;
	}
	if (files->asks && !s->asked)
		s->unreadable = sessions_of_others(&s->totals, s->count);
	columns_sort(&(struct column_choices){0}, s->list, s->count);
	return err;
}

int sessions_read(struct session_files *files, struct sessions *ret)
{
	int err;

	*ret = (struct sessions){0};
	err = counters_read_totals(files->directory, &ret->totals);
	if (err)
		return err;
	ret->state = daemon_state_look(files->directory, NULL, &ret->totals);
	ret->daemon_lives = ret->state != DAEMON_DEAD;
	err = read_all(ret, files);
	session_files_rest(files);
	return err;
}

void sessions_free(struct sessions *s)
{
	free(s->list);
	*s = (struct sessions){0};
}

/* ---- choosing ---- */

void sessions_filter(struct sessions *s, bool (*keep)(const struct session_row *row, void *arg),
		     void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		if (keep(&s->list[i], arg))
			s->list[kept++] = s->list[i];
	s->count = kept;
}

void sessions_look(struct sessions *s, unsigned needs)
{
	struct process **list = calloc(s->count ? s->count : 1, sizeof *list);

	if (!list || !process_is_here(s->totals.origin.pid_namespace)) {
		free(list);
		return;
	}
	for (size_t i = 0; i < s->count; i++)
		list[i] = &s->list[i].process;
	process_look(list, s->count, needs);
	free(list);
}

void sessions_look_at_latency(struct session_row *rows, size_t count, struct session_files *files)
{
	struct latency *latency = malloc(sizeof *latency);

	for (size_t i = 0; latency && i < count; i++) {
		struct session_row whole = rows[i];

		whole.before = NULL; /* everything since the session was opened */
		if (latency_read(files, whole.s.session, latency) == 0)
			limits_find(&whole.s, NULL, latency, columns_span_ns(&whole),
				    &rows[i].limits);
	}
	session_files_rest(files);
	free(latency);
}

void sessions_warn(const struct sessions *s, const char *command)
{
	(void)daemon_state_warn(command, s->state, &s->totals);
	if (s->asked)
		fprintf(stderr,
			"quoit %s: your sessions are not shown: quoitd alone can tell you about "
			"them, and it does not answer (%s)\n",
			command, strerror(-s->asked));
	if (s->damaged)
		fprintf(stderr,
			"quoit %s: %u files were left out: they are not session counters of this "
			"version\n",
			command, s->damaged);
}
