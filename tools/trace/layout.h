/* SPDX-License-Identifier: MIT */
/*
 * layout.h - a recording: the file that `quoit trace record` writes.
 *
 * A header, then chunks, one behind the other: a chunk's head, and so many bytes as it says, a
 * multiple of 8.  All is little-endian, times are TSC of the machine that recorded; header.tsc and
 * header.real_ns are one moment, the first.  A reader skips chunks of a type that it does not know,
 * and what is behind the fields that it knows.  The last chunk is TRACE_END: where it is missing,
 * the recorder was killed or its disk was full, and what is there is good.
 */
#ifndef QUOIT_TOOLS_TRACE_LAYOUT_H
#define QUOIT_TOOLS_TRACE_LAYOUT_H

#include <stdint.h>

#include <quoit/trace.h>

#define TRACE_MAGIC      UINT64_C(0x43455254494f5551) /* "QUOITREC" */
#define TRACE_VERSION    1u
#define TRACE_MOST_CHUNK (1u << 20) /* bytes behind a chunk's head */

struct trace_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes; /* the first chunk is there */
	uint64_t tsc_hz;
	uint64_t tsc;
	uint64_t real_ns; /* CLOCK_REALTIME */
	uint32_t cpus;
	uint32_t reserved;
	/* Ended by a NUL, or cut off; any bytes. */
	char machine[64]; /* its name, */
	char system[64];  /* its kernel's, */
	char cpu[64];     /* and its cores' */
	char command[256];
};

enum trace_chunk_type {
	TRACE_NOTHING,
	TRACE_SESSION, /* when it is found, and again, with other figures, when nothing comes any
			  more */
	TRACE_RECORDS, /* struct quoit_trace_record[] of a session */
	TRACE_SITES,   /* struct trace_site[] of a session */
	TRACE_TOTALS,  /* struct trace_totals, and then its reactors and cores */
	TRACE_END,
};

struct trace_chunk {
	uint32_t type;
	uint32_t bytes;   /* behind this head */
	uint64_t session; /* its number; 0: of all */
};

struct trace_session {
	uint32_t uid, pid, reactor;
	int32_t cpu, node; /* the reactor's */
	uint32_t ended;
	uint64_t begun; /* its file */
	uint64_t dropped, events_dropped;
	uint64_t lost;      /* records that were overwritten before they were read */
	uint64_t unwritten; /* records for which the recording had no room */
	char name[32];      /* any bytes */
};

struct trace_site {
	uint32_t ring, site; /* as in a struct quoit_trace_event */
	char name[40];
};

struct trace_reactor {
	int32_t cpu, node;
	uint64_t work_ticks, poll_ticks; /* since quoitd has started */
};

struct trace_core {
	int32_t cpu, node;
	uint64_t tile_ticks;
};

struct trace_totals {
	uint64_t tsc;
	uint32_t reactors, cores;
};

enum trace_how {
	TRACE_DAEMON_DIED = 1,
	TRACE_FULL = 2, /* its size was reached */
};

struct trace_end {
	uint64_t tsc;
	uint64_t jobs, events, records;
	uint64_t dropped, events_dropped, lost, unwritten; /* of all sessions */
	uint64_t bytes;
	uint64_t cpu_ns, wall_ns; /* the recorder's */
	uint32_t sessions;
	uint32_t how; /* bits of enum trace_how */
};

QUOIT_STATIC_ASSERT(sizeof(struct trace_header) % 8 == 0, "chunks are aligned");
QUOIT_STATIC_ASSERT(sizeof(struct trace_chunk) == 16, "no padding");
QUOIT_STATIC_ASSERT(sizeof(struct trace_session) == 96, "no padding");
QUOIT_STATIC_ASSERT(sizeof(struct trace_site) == 48, "no padding");
QUOIT_STATIC_ASSERT(sizeof(struct trace_end) == 96, "no padding");

#endif
