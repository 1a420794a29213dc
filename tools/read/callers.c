/* SPDX-License-Identifier: MIT */
/* callers.c - the names of the programs behind sessions that call services */
#include "callers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

static bool is_here(const struct session_files *files)
{
	struct counters_totals *t = malloc(sizeof *t);
	bool here = t && counters_read_totals(files->directory, t) == 0 &&
		    process_is_here(t->origin.pid_namespace);

	free(t);
	return here;
}

void callers_open(struct callers *c, const char *socket)
{
	c->opened = session_files_open(&c->files, socket) == 0;
	c->here = c->opened && is_here(&c->files);
}

void callers_close(struct callers *c)
{
	session_files_close(&c->files);
}

static bool read_session(struct callers *c, uint64_t number, struct counters_session *ret)
{
	int fd = c->opened ? session_files_get(&c->files, QUOIT_COUNTERS_SESSION, number) : -1;
	int err = fd < 0 ? fd : counters_read_session(fd, number, ret);

	if (fd >= 0)
		close(fd);
	return !err;
}

static void read_comm(uint32_t pid, char ret[FORMAT_CELL_BYTES])
{
	char path[32], name[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/comm", pid);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof name, file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	format_escape(name, ret, FORMAT_CELL_BYTES);
}

void callers_command(struct callers *c, uint64_t session, uint32_t pid, char ret[FORMAT_CELL_BYTES])
{
	struct counters_session s;

	*ret = '\0';
	if (read_session(c, session, &s))
		format_escape(s.name, ret, FORMAT_CELL_BYTES);
	else if (c->here && pid)
		read_comm(pid, ret);
}
