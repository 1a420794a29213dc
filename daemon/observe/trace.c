/* SPDX-License-Identifier: MIT */
/* trace.c - a session's trace file */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/tsc.h"
#include "session/owner.h"
#include "session_file.h"
#include "totals.h"

uint64_t trace_bytes(uint32_t records)
{
	return sizeof(struct quoit_trace) + records * sizeof(struct quoit_trace_record);
}

static uint64_t real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fill(struct quoit_trace *f, const struct session *s, const struct reactor *home,
		 uint32_t records)
{
	totals_fill_header(&f->header, (uint32_t)trace_bytes(records), sizeof *f, 0, 0);
	f->session = s->id;
	f->uid = s->uid;
	f->pid = (uint32_t)s->pid;
	f->reactor = home->index;
	f->cpu = (int32_t)home->cpu;
	f->node = home->node;
	f->records = records;
	f->records_at = sizeof *f;
	f->record_bytes = sizeof(struct quoit_trace_record);
	memcpy(f->name, s->name, sizeof f->name);
	/* The last: until it is set, the file is not complete. */
	f->begun_ns = real_ns();
	__atomic_store_n(&f->begun, tsc_raw(tsc_now()), __ATOMIC_RELEASE);
}

int trace_new(const struct session *s, int directory, const struct reactor *home, uint32_t records,
	      struct trace **ret)
{
	struct trace *t = calloc(1, sizeof *t);
	void *map;
	int err;

	*ret = NULL;
	if (!t)
		return -ENOMEM;
	t->fd = -1;
	t->session = s->id;
	t->bytes = trace_bytes(records);
	err = session_file_open(s, directory, QUOIT_STATS_TRACE, t->bytes, &t->fd, &map);
	t->file = map;
	if (err < 0) {
		trace_free(t, directory);
		return err;
	}
	t->record = (struct quoit_trace_record *)(t->file + 1);
	t->tick = tsc_from_ns(TRACE_TICK_NS);
	t->room = t->most = records / 2 < TRACE_AT_ONCE ? records / 2 : TRACE_AT_ONCE;
	t->allowance = 1;
	fill(t->file, s, home, records);
	*ret = t;
	return 0;
}

void trace_end(struct trace *t)
{
	__atomic_store_n(&t->file->ended, 1, __ATOMIC_RELEASE);
}

void trace_free(struct trace *t, int directory)
{
	if (t->file)
		munmap(t->file, t->bytes);
	session_file_remove(t->session, directory, QUOIT_STATS_TRACE, t->fd);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

struct quoit_trace_record *trace_next(struct trace *t, uint8_t kind, uint32_t ring)
{
	struct quoit_trace_record *r = &t->record[t->head & (t->file->records - 1)];

	*r = (struct quoit_trace_record){.kind = kind, .ring = (uint8_t)ring};
	return r;
}

void trace_put(struct trace *t)
{
	__atomic_store_n(&t->file->head, ++t->head, __ATOMIC_RELEASE);
}
