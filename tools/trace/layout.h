/* SPDX-License-Identifier: MIT */
/*
 * layout.h - the file that `quoit trace record` writes: a recording.
 *
 * It has a header, then chunks, one after the other: a chunk's head, and the bytes that it
 * announces, a multiple of 8.  All is little-endian.  Times are TSC of the machine that recorded;
 * header.tsc and header.real_ns are one moment, the first.  A reader skips chunks of types that it
 * does not know, and fields behind those that it knows.  The last chunk is TRACE_END.  If that is
 * missing, the recorder was killed or its disk was full; the rest of the file is valid.
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
	uint32_t header_bytes; /* offset of the first chunk */
	uint64_t tsc_hz;
	uint64_t tsc;
	uint64_t real_ns; /* CLOCK_REALTIME */
	uint32_t cpus;
	uint32_t reserved;
	/* Texts end with a NUL or are cut off, and may have any bytes. */
	char machine[64]; /* the machine's name */
	char system[64];  /* the kernel's name */
	char cpu[64];     /* the cores' name */
	char command[256];
};

enum trace_chunk_type {
	TRACE_NOTHING,
	TRACE_SESSION, /* written when the session is found, and again with its last figures */
	TRACE_RECORDS, /* struct quoit_trace_record[] of a session */
	TRACE_SITES,   /* struct trace_site[] of a session */
	TRACE_TOTALS,  /* struct trace_totals, followed by the reactors and cores */
	TRACE_END,
	TRACE_NAMES, /* struct trace_name[] of what a session's calls are of */
};

struct trace_chunk {
	uint32_t type;
	uint32_t bytes;   /* that follow this head */
	uint64_t session; /* the session's number; 0: of all */
};

struct trace_session {
	uint32_t uid, pid, reactor;
	int32_t cpu, node; /* of the reactor */
	uint32_t ended;
	uint64_t begun; /* begin of the session's trace file */
	uint64_t dropped, events_dropped;
	uint64_t lost;      /* records that were overwritten before they were read */
	uint64_t unwritten; /* records for which the recording had no room */
	char name[32];      /* any bytes */
};

struct trace_site {
	uint32_t ring, site; /* as in struct quoit_trace_event */
	char name[40];
};

/* A service, a lock or its kin. */
struct trace_name {
	uint64_t number; /* as in struct quoit_trace_named */
	uint32_t uid;    /* its user */
	uint32_t kind;   /* enum quoit_sync_kind; 0: a service */
	char name[32];   /* ends with a NUL or is cut off, and may have any bytes */
};

struct trace_reactor {
	int32_t cpu, node;
	uint64_t work_ticks, poll_ticks; /* since quoitd started */
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
	TRACE_FULL = 2, /* the file has reached its size */
};

struct trace_end {
	uint64_t tsc;
	uint64_t jobs, events, records;
	uint64_t dropped, events_dropped, lost, unwritten; /* sums over all sessions */
	uint64_t bytes;
	uint64_t cpu_ns, wall_ns; /* of the recorder */
	uint32_t sessions;
	uint32_t how; /* bits of enum trace_how */
};

QUOIT_STATIC_ASSERT(sizeof(struct trace_header) % 8 == 0, "chunks are aligned");
QUOIT_STATIC_ASSERT(sizeof(struct trace_chunk) == 16, "no padding");
QUOIT_STATIC_ASSERT(sizeof(struct trace_session) == 96, "no padding");
QUOIT_STATIC_ASSERT(sizeof(struct trace_site) == 48, "no padding");
QUOIT_STATIC_ASSERT(sizeof(struct trace_name) == 48, "no padding");
QUOIT_STATIC_ASSERT(sizeof(struct trace_end) == 96, "no padding");

#endif
