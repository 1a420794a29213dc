/* SPDX-License-Identifier: MIT */
/* sessions.c - read the sessions of a quoitd from their counter files */
#include "sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "legs.h"
#include "limit.h"
#include "runtime.h"

/* ---- reading ---- */

static int add(struct sessions *s, size_t *room, const struct counters_session *one)
{
	if (s->count == *room) {
		size_t more = *room ? 2 * *room : 16;
		void *list = realloc(s->list, more * sizeof *s->list);

		if (!list)
			return -ENOMEM;
		s->list = list;
		*room = more;
	}
	s->list[s->count++] = (struct session_row){
		.s = *one,
		.process = {.pid = one->pid, .uid = one->uid, .by_ns = one->opened_ns},
		.daemon_lives = s->daemon_lives && counters_is_of(one, &s->totals),
		.now_ns = runtime_now_ns()};
	return 0;
}

static int read_one(struct sessions *s, size_t *room, int directory, uint64_t number)
{
	struct counters_session one;
	int err = counters_read_session(directory, number, &one);

	if (!err)
		return add(s, room, &one);
	if (err == -EACCES)
		s->unreadable++;
	else if (err != -ENOENT) /* -ENOENT: it was closed after we read the directory */
		s->damaged++;
	return 0;
}

static int read_all(struct sessions *s, int directory)
{
	int fd = fcntl(directory, F_DUPFD_CLOEXEC, 0), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint64_t number;
	size_t room = 0;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	rewinddir(dir); /* the descriptor may have been read before */
	while (!err && (entry = readdir(dir)))
		if (counters_session_number(entry->d_name, &number))
			err = read_one(s, &room, directory, number);
	closedir(dir);
	columns_sort(&(struct column_choices){0}, s->list, s->count);
	return err;
}

int sessions_read(int directory, struct sessions *ret)
{
	int err;

	*ret = (struct sessions){0};
	err = counters_read_totals(directory, &ret->totals);
	if (err)
		return err;
	ret->state = daemon_state_look(directory, NULL, &ret->totals);
	ret->daemon_lives = ret->state != DAEMON_DEAD;
	return read_all(ret, directory);
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

void sessions_look_at_legs(struct session_row *rows, size_t count, int directory)
{
	struct legs *legs = malloc(sizeof *legs);

	for (size_t i = 0; legs && i < count; i++) {
		struct session_row whole = rows[i];

		whole.before = NULL; /* everything since the session was opened */
		if (legs_read(directory, whole.s.session, legs) == 0)
			limits_find(&whole.s, NULL, legs, columns_span_ns(&whole), &rows[i].limits);
	}
	free(legs);
}

void sessions_warn(const struct sessions *s, const char *command)
{
	(void)daemon_state_warn(command, s->state, &s->totals);
	if (s->damaged)
		fprintf(stderr,
			"quoit %s: %u files were left out: they are not session counters of this "
			"version\n",
			command, s->damaged);
}
