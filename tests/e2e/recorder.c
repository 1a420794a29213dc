/* SPDX-License-Identifier: MIT */
/* recorder.c - record sessions, and read their trace files */
#include "recorder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <criterion/criterion.h>

/* ---- requests ---- */

int recorder_connect(const struct daemon *d)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof addr.sun_path, "%s", d->socket);
	cr_assert_eq(connect(fd, (struct sockaddr *)&addr, sizeof addr), 0);
	return fd;
}

void recorder_send(int fd, uint64_t session, uint32_t records)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC,
			      .type = QUOIT_CTL_TRACE,
			      .seq = 1,
			      .trace = {.session = session, .records = records}};

	cr_assert_eq(send(fd, &m, sizeof m, 0), (ssize_t)sizeof m);
}

struct quoit_ctl recorder_ask(int fd, uint64_t session, uint32_t records)
{
	struct quoit_ctl m;

	recorder_send(fd, session, records);
	cr_assert_eq(recv(fd, &m, sizeof m, 0), (ssize_t)sizeof m);
	return m;
}

int recorder_open(const struct daemon *d, struct quoit_session *s)
{
	int fd = recorder_connect(d);
	struct quoit_ctl m = recorder_ask(fd, 0, 0);

	cr_assert_eq(m.result, 0, "%s", m.text);
	cr_assert_eq(m.trace.sessions, 1);
	cr_assert(recorder_has_begun(d, recorder_number(s)));
	return fd;
}

/* ---- files ---- */

uint64_t recorder_number(struct quoit_session *s)
{
	struct quoit_info info;

	quoit_get_info(s, &info);
	return info.session;
}

static void path_of(const struct daemon *d, uint64_t session, char *ret, size_t size)
{
	char name[48];

	snprintf(name, sizeof name, QUOIT_STATS_TRACE, (unsigned long long)session);
	snprintf(ret, size, "%s/%s", d->folder, name);
}

bool recorder_file_is(const struct daemon *d, uint64_t session, bool there)
{
	char path[256];

	path_of(d, session, path, sizeof path);
	for (int i = 0; i < RECORDER_PATIENCE; i++) {
		if ((access(path, F_OK) == 0) == there)
			return true;
		usleep(10000);
	}
	return false;
}

struct quoit_trace *recorder_read(const struct daemon *d, uint64_t session)
{
	struct quoit_trace *file;
	struct stat st;
	char path[256];
	int fd;

	path_of(d, session, path, sizeof path);
	fd = open(path, O_RDONLY);
	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(fstat(fd, &st), 0);
	file = malloc((size_t)st.st_size);
	cr_assert_eq(read(fd, file, (size_t)st.st_size), st.st_size);
	close(fd);
	return file;
}

struct quoit_trace *recorder_read_ended(const struct daemon *d, uint64_t session)
{
	struct quoit_trace *file = recorder_read(d, session);

	for (int i = 0; i < RECORDER_PATIENCE && !file->ended; i++) {
		free(file);
		usleep(10000);
		file = recorder_read(d, session);
	}
	cr_assert_eq(file->ended, 1);
	return file;
}

bool recorder_has_begun(const struct daemon *d, uint64_t session)
{
	bool begun = false;

	for (int i = 0; i < RECORDER_PATIENCE && !begun; i++) {
		struct quoit_trace *file = recorder_read(d, session);

		begun = file->head != 0;
		free(file);
		usleep(1000);
	}
	return begun;
}

const struct quoit_trace_record *recorder_record(const struct quoit_trace *file, uint64_t i)
{
	return (const struct quoit_trace_record *)(const void *)((const char *)file +
								 file->records_at) +
	       i;
}

uint64_t recorder_records(const struct quoit_trace *file)
{
	return file->head < file->records ? file->head : file->records;
}
