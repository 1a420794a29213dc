/* SPDX-License-Identifier: MIT */
/* session_files.c - list and open the files of sessions */
#include "session_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quoit/trace.h>

#include "control.h"
#include "list.h"
#include "runtime.h"

#define ASK_MS        2000
#define ASKS_AGAIN_NS UINT64_C(10000000000)
#define SECOND_NS     UINT64_C(1000000000)

/*
 * More than a quoitd has.  A limit is needed, since a user may put any files into a folder of their
 * own.
 */
#define SESSIONS_MOST 16384u

static const char *const names[QUOIT_COUNTERS_KINDS] = {
	[QUOIT_COUNTERS_SESSION] = QUOIT_STATS_SESSION,
	[QUOIT_COUNTERS_LATENCY] = QUOIT_STATS_LATENCY,
	[QUOIT_COUNTERS_TRACE] = QUOIT_STATS_TRACE,
};

struct name {
	char text[48];
};

/* In the folder. */
static struct name name_of(enum quoit_counters_kind kind, uint64_t session)
{
	struct name name;

	snprintf(name.text, sizeof name.text, names[kind], (unsigned long long)session);
	memmove(name.text, QUOIT_STATS_NAME(name.text), strlen(QUOIT_STATS_NAME(name.text)) + 1);
	return name;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- the folder ---- */

/* A quoitd that starts makes another folder than the one before had. */
static void look_for_folder(struct session_files *f)
{
	struct stat st;

	if (fstatat(f->directory, QUOIT_STATS_SESSIONS, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		f->asks = errno == EACCES;
		close_fd(&f->folder);
		return;
	}
	if (f->folder >= 0 && st.st_ino == f->found.st_ino && st.st_dev == f->found.st_dev)
		return;
	close_fd(&f->folder);
	f->found = st;
	f->folder = openat(f->directory, QUOIT_STATS_SESSIONS,
			   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	f->asks = f->folder < 0 && errno == EACCES;
}

int session_files_open(struct session_files *f, const char *socket)
{
	*f = (struct session_files){.folder = -1, .connection = -1};
	snprintf(f->socket, sizeof f->socket, "%s", socket);
	f->directory = runtime_open_directory(socket);
	if (f->directory < 0)
		return f->directory;
	look_for_folder(f);
	return 0;
}

void session_files_close(struct session_files *f)
{
	session_files_rest(f);
	close_fd(&f->folder);
	close_fd(&f->directory);
}

/* ---- asking ---- */

void session_files_borrow(struct session_files *f, int connection)
{
	session_files_rest(f);
	f->connection = connection;
	f->borrowed = connection >= 0;
}

void session_files_rest(struct session_files *f)
{
	if (!f->borrowed)
		close_fd(&f->connection);
}

static int connect_to(struct session_files *f)
{
	if (f->connection < 0)
		f->connection = runtime_connect(f->socket, ASK_MS);
	return f->connection;
}

static int exchange(struct session_files *f, struct quoit_ctl *m, int *ret_fd)
{
	int err = connect_to(f);

	if (err < 0)
		return err == -ENOENT ? -ECONNREFUSED : err; /* -ENOENT would tell of a file */
	err = control_exchange(f->connection, m, ret_fd);
	if (err || m->type == QUOIT_CTL_COUNTERS)
		return err;
	if (ret_fd)
		close_fd(ret_fd);
	return -ECONNRESET; /* quoitd says why it ends the connection */
}

/* A stopped quoitd must not hold up each look of a tool that looks again and again. */
static int ask(struct session_files *f, struct quoit_ctl *m, int *ret_fd)
{
	int err;

	if (f->owed || runtime_now_ns() < f->asks_again_ns)
		return -EAGAIN;
	m->type = QUOIT_CTL_COUNTERS;
	m->seq = 1;
	err = exchange(f, m, ret_fd);
	if (!err)
		return m->result;
	session_files_rest(f);
	if (err == -EAGAIN) {
		f->owed = f->borrowed;
		f->asks_again_ns = runtime_now_ns() + ASKS_AGAIN_NS;
	}
	return err;
}

static int ask_for_file(struct session_files *f, enum quoit_counters_kind kind, uint64_t session)
{
	struct quoit_ctl m = {.counters = {.session = session, .kind = (uint16_t)kind}};
	int fd, err = ask(f, &m, &fd);

	if (err)
		return err;
	return fd < 0 ? -EPROTO : counters_check_file(fd);
}

/* ---- lists ---- */

static int add(struct session_list *list, uint64_t number)
{
	if (list->count == SESSIONS_MOST)
		return 0;
	if (list->count == list->room) {
		void *more = list_grow(list->number, &list->room, sizeof *list->number);

		if (!more)
			return -ENOMEM;
		list->number = more;
	}
	list->number[list->count++] = number;
	return 0;
}

/* One file for each number: a sign or a leading zero is refused. */
static bool number_in(const char *name, enum quoit_counters_kind kind, uint64_t *ret)
{
	const char *format = QUOIT_STATS_NAME(names[kind]);
	size_t length = strcspn(format, "%");

	if (strncmp(name, format, length) != 0)
		return false;
	*ret = strtoull(name + length, NULL, 10);
	return !strcmp(name, name_of(kind, *ret).text);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int list_folder(struct session_files *f, enum quoit_counters_kind kind,
		       struct session_list *ret)
{
	int fd = openat(f->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint64_t number;

	if (!dir) {
		err = -errno;
		close_fd(&fd);
		return err;
	}
	while (!err && (entry = readdir(dir)))
		if (number_in(entry->d_name, kind, &number))
			err = add(ret, number);
	closedir(dir);
	if (ret->count)
		qsort(ret->number, ret->count, sizeof *ret->number, by_number);
	return err;
}

/* The numbers rise, so that a program that plays quoitd cannot keep us here. */
static int list_asked(struct session_files *f, enum quoit_counters_kind kind,
		      struct session_list *ret)
{
	uint64_t from = 0;
	uint32_t count = QUOIT_COUNTERS_LISTED;

	while (count == QUOIT_COUNTERS_LISTED && ret->count < SESSIONS_MOST) {
		struct quoit_ctl m = {
			.counters = {.session = from, .kind = (uint16_t)kind, .list = 1}};
		int err = ask(f, &m, NULL);

		count = m.counters_reply.count;
		if (!err && count > QUOIT_COUNTERS_LISTED)
			err = -EPROTO;
		for (uint32_t i = 0; !err && i < count; i++) {
			uint64_t number = m.counters_reply.session[i];

			err = number < from || number == UINT64_MAX ? -EPROTO : add(ret, number);
			from = number + 1;
		}
		if (err)
			return err;
	}
	return 0;
}

int session_files_list(struct session_files *f, enum quoit_counters_kind kind,
		       struct session_list *ret)
{
	*ret = (struct session_list){0};
	look_for_folder(f);
	if (f->folder >= 0)
		return list_folder(f, kind, ret);
	return f->asks ? list_asked(f, kind, ret) : 0;
}

/* ---- files ---- */

int session_files_get(struct session_files *f, enum quoit_counters_kind kind, uint64_t session)
{
	int fd = -ENOENT, err;

	if (f->folder >= 0)
		fd = counters_open_file(f->folder, name_of(kind, session).text);
	if (fd != -EACCES && !f->asks)
		return fd;
	err = ask_for_file(f, kind, session);
	return err < 0 && fd == -EACCES ? fd : err;
}

int64_t session_files_read(struct session_files *f, enum quoit_counters_kind kind, uint64_t session,
			   void *buffer, size_t size)
{
	int fd = session_files_get(f, kind, session);
	int64_t n;

	if (fd < 0)
		return fd;
	n = counters_read_open(fd, buffer, size);
	close(fd);
	return n ? n : -ENOENT; /* the session has ended, and its file was emptied */
}

/* ---- changes ---- */

/* The time of a folder that we may not look into would do, too; but the totals are at hand. */
static bool have_changed_asked(struct session_files *f, const struct counters_totals *totals)
{
	uint64_t sum = totals->value[QUOIT_DAEMON_SESSIONS_OPENED].value +
		       totals->value[QUOIT_DAEMON_SESSIONS_CLOSED].value;
	uint64_t now = runtime_now_ns();

	if (!f->settled || sum != f->opened_and_closed) {
		f->opened_and_closed = sum;
		f->since_ns = now;
		f->settled = true;
	}
	return now - f->since_ns < SECOND_NS;
}

static bool has_folder_changed(struct session_files *f)
{
	struct timespec now;
	struct stat st;
	bool same;

	clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(f->folder, &st) < 0 || !st.st_nlink)
		return true;
	same = f->settled && st.st_mtim.tv_sec == f->changed.tv_sec &&
	       st.st_mtim.tv_nsec == f->changed.tv_nsec;
	f->changed = st.st_mtim;
	f->settled = now.tv_sec > st.st_mtim.tv_sec + 1;
	return !same;
}

bool session_files_have_changed(struct session_files *f, const struct counters_totals *totals)
{
	if (f->folder >= 0)
		return has_folder_changed(f);
	return !f->asks || have_changed_asked(f, totals);
}
