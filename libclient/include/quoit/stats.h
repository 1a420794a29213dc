/* SPDX-License-Identifier: MIT */
/*
 * stats.h - the counter files: what the tools read, without asking the daemon.
 *
 * They lie beside the socket: "totals" and "histograms" for everybody, "session.N" and "legs.N" for
 * the session's uid and root, "topology" as text.  They can be read while the daemon
 * runs, hangs or is dead.  One writer per file; a reader reads it (a session's is emptied when that
 * is over, under whoever has it mapped), and checks magic, version and sizes: a
 * word is exact, words beside each other may be a burst apart.  A session's are as of
 * the reactor's last sleep, or a tenth of a second old, and how deep its queues are a
 * second where it is quiet; what a reactor says in the
 * totals and histograms is never newer than the latter, so that nobody learns there when a job of
 * somebody else has ended.
 *
 * Times are ticks of the TSC, whose rate is in the header.  "queue_ticks" is the number of
 * open jobs, summed up over time, "busy_ticks" the time with any; from the first two of
 * jobs, queue_ticks and time follows the third (J. Little).  Jobs that run at their fetch
 * are in neither, but a reactor's busy_ticks have the time that it works.
 *
 * "bytes_moved" has, of each job that has succeeded, the bytes of all elements of each tensor that
 * its operation reads and of each that it writes, as their types are wide; of one that is read and
 * written, both.  Three exceptions: a file's job has what was read or written of the file; a COPY
 * between the host and a device, or two devices, what it has brought to the other side, once; a
 * NOP, which only waits, nothing.  Where quoitd serves several users, what all may read tells bytes
 * in multiples of 1 MiB: those of single jobs would be the shapes of somebody's tensors.
 *
 * Counters are named by the tables below, which are in the file, so that a tool
 * of another version can show what it does not know, and skip what is not there.
 */
#ifndef QUOIT_STATS_H
#define QUOIT_STATS_H

#include <quoit/abi.h>

#define QUOIT_STATS_MAGIC      0x53544f5151554f49ull
#define QUOIT_STATS_VERSION    2u
#define QUOIT_STATS_TOTALS     "totals"
#define QUOIT_STATS_SESSION    "session.%llu"
#define QUOIT_STATS_LEGS       "legs.%llu"
#define QUOIT_STATS_TOPOLOGY   "topology"
#define QUOIT_STATS_CONFIG     "config"
#define QUOIT_STATS_HISTOGRAMS "histograms"
#define QUOIT_LABEL_BYTES      24
#define QUOIT_MAX_REACTORS     64
#define QUOIT_MAX_CORES        1024

/* QUOIT_STAT(NAME, "label"): of one session */
#define QUOIT_SESSION_STATS(X)                                                                     \
	X(SUBMITTED, "jobs_fetched")                                                               \
	X(DONE, "jobs_done")                                                                       \
	X(FAILED, "jobs_failed")                                                                   \
	X(INLINE, "jobs_inline")                                                                   \
	X(TILED, "jobs_tiled")                                                                     \
	X(QUEUED, "jobs_queued")                                                                   \
	X(RUNNING, "jobs_running")                                                                 \
	X(WAIT_DATA, "jobs_waiting_data")                                                          \
	X(WAIT_MEMORY, "jobs_waiting_memory")                                                      \
	X(WAIT_TURN, "jobs_waiting_turn")                                                          \
	X(QUEUE_TICKS, "queue_ticks")                                                              \
	X(BUSY_TICKS, "busy_ticks")                                                                \
	X(MEMORY_TICKS, "memory_wait_ticks")                                                       \
	X(SQ_DEPTH, "sq_depth")                                                                    \
	X(SQ_MOST, "sq_depth_most")                                                                \
	X(CQ_DEPTH, "cq_depth")                                                                    \
	X(CQ_MOST, "cq_depth_most")                                                                \
	X(REFUSED, "jobs_refused")                                                                 \
	X(MEMORY_WAITS, "jobs_waited_memory")                                                      \
	X(WAKES, "client_wakes")                                                                   \
	X(KICKS, "doorbells")                                                                      \
	X(HOST_LEASE, "host_bytes_leased")                                                         \
	X(HOST_USED, "host_bytes_used")                                                            \
	X(HOST_CACHED, "host_bytes_cached")                                                        \
	X(HOST_PEAK, "host_bytes_peak")                                                            \
	X(AS_OF, "as_of_ticks")                                                                    \
	X(CORE_TICKS, "core_ticks") /* charged to it: of its reactor, and in tiles */              \
	X(TILE_TICKS, "tile_ticks") /* the latter of these */                                      \
	X(RINGS, "rings")                                                                          \
	X(TENSORS, "tensors")                                                                      \
	X(PINNED, "pinned_bytes")                                                                  \
	X(PINNED_LOCKED, "pinned_bytes_locked")                                                    \
	X(PINNED_REGISTERED, "pinned_bytes_registered")                                            \
	X(PINNED_REFUSED, "pinned_bytes_refused")                                                  \
	X(DEVICE_LEASE, "device_bytes_leased")                                                     \
	X(DEVICE_USED, "device_bytes_used")                                                        \
	X(DEVICE_JOBS, "jobs_on_devices")                                                          \
	X(DIRECT, "jobs_direct")                                                                   \
	X(DIRECT_STREAMED, "jobs_direct_streamed")                                                 \
	X(BYTES, "bytes_moved")                                                                    \
	X(EXECUTOR_TICKS, "executor_ticks") /* of modules, and of each of a device's streams */    \
	X(ARENA_AWAY,                                                                              \
	  "arena_bytes_away") /* on other nodes than the session's when it was handed over */      \
	X(CLIENT_NODE, "client_node") /* 1 + the node its client ran on at hello; 0: not known */  \
	X(HOST_PROMISED, "host_bytes_promised") /* of its lease, which grows up to, */             \
	X(HOST_MOST, "host_bytes_most")         /* at the most */

/* Of one reactor, and the daemon as a whole; refused_: SQEs that were no valid jobs, by the errno.
 */
#define QUOIT_REACTOR_STATS(X)                                                                     \
	X(LOOPS, "loops")                                                                          \
	X(SLEEPS, "sleeps")                                                                        \
	X(WORK_TICKS, "work_ticks")                                                                \
	X(POLL_TICKS, "poll_ticks")                                                                \
	X(JOBS, "jobs")                                                                            \
	X(OPEN, "jobs_open")                                                                       \
	X(QUEUE_TICKS, "queue_ticks")                                                              \
	X(BUSY_TICKS, "busy_ticks")                                                                \
	X(SESSIONS, "sessions")                                                                    \
	X(TILE_TICKS, "tile_ticks")                                                                \
	X(HEARTBEAT, "heartbeat_ticks")                                                            \
	X(EXEC_REQUESTS, "executor_requests")                                                      \
	X(EXEC_ANSWERS, "executor_answers")                                                        \
	X(EXEC_BELLS, "executor_bells")                                                            \
	X(EXEC_QUERIES, "executor_event_queries") /* of processes for everybody */                 \
	X(PEER_COPIES, "device_copies_direct")                                                     \
	X(BYTES, "bytes_moved")                                                                    \
	X(DEAR_WAKES, "dear_wakes") /* handed to the thread for these */                           \
	X(REFUSED_EINVAL, "refused_einval")                                                        \
	X(REFUSED_ENOTSUP, "refused_enotsup")                                                      \
	X(REFUSED_E2BIG, "refused_e2big")                                                          \
	X(REFUSED_EBADF, "refused_ebadf")                                                          \
	X(REFUSED_EACCES, "refused_eacces")                                                        \
	X(REFUSED_EEXIST, "refused_eexist")                                                        \
	X(REFUSED_ENODEV, "refused_enodev")                                                        \
	X(REFUSED_EXDEV, "refused_exdev")                                                          \
	X(REFUSED_OTHER, "refused_other")                                                          \
	X(ALIVE, "alive_ns") /* CLOCK_BOOTTIME of when it told this; once a second, if alive */

/* Of one core: what its worker does, below a reactor or alone.  Tiles take CPU time. */
#define QUOIT_CORE_STATS(X)                                                                        \
	X(AS_OF, "as_of_ticks")                                                                    \
	X(TILES, "tiles")                                                                          \
	X(TILE_TICKS, "tile_ticks")

/*
 * The legs of a job's way through quoitd.  Timed are one job of each 64 (sample.h), which stands
 * for all since the one before, and each that ran for more than 10 us outside of its fetch.
 */
#define QUOIT_LEGS(X)                                                                              \
	X(SUBMIT, "submit_to_fetch") /* of samples; as the client says */                          \
	X(DATA, "waiting_for_data")                                                                \
	X(MEMORY, "waiting_for_memory")                                                            \
	X(TURN, "waiting_for_a_turn")                                                              \
	X(RUN, "start_to_end")                                                                     \
	X(POST, "end_to_post")                                                                     \
	X(WHOLE, "fetch_to_end")                                                                   \
	X(REAP, "post_to_reap") /* of one CQE of each 64; as the client says */

/* Reasons why a connection or a session was ended, or a request refused. */
#define QUOIT_DAEMON_STATS(X)                                                                      \
	X(CONNECTIONS, "connections")                                                              \
	X(SESSIONS_OPENED, "sessions_opened")                                                      \
	X(SESSIONS_CLOSED, "sessions_closed")                                                      \
	X(HOST_LIMIT, "host_bytes_limit")                                                          \
	X(HOST_LEASED, "host_bytes_leased")                                                        \
	X(REFUSED_UID, "refused_uid")                                                              \
	X(REFUSED_CONNECTIONS, "refused_connections")                                              \
	X(REFUSED_VERSION, "refused_version")                                                      \
	X(REFUSED_LEASE, "refused_lease")                                                          \
	X(KILL_PROTO, "kill_proto")                                                                \
	X(KILL_SLOW_CTL, "kill_slow_ctl")                                                          \
	X(KILL_HANDSHAKE, "kill_handshake")                                                        \
	X(KILL_RING_TAIL, "kill_ring_tail")                                                        \
	X(KILL_CQ_HEAD, "kill_cq_head")                                                            \
	X(KILL_MEM_VANISHED, "kill_mem_vanished")                                                  \
	X(KILL_ASKED, "kill_asked")                                                                \
	X(CLIENTS_DIED, "clients_died")                                                            \
	X(CLIENTS_LEFT, "clients_left")                                                            \
	X(SESSIONS_STOPPED, "sessions_stopped")                                                    \
	X(EXECUTORS_DIED, "executors_died")                                                        \
	X(LOG_SUPPRESSED, "log_lines_suppressed")                                                  \
	X(KILL_SHORTAGE, "kill_shortage")                                                          \
	X(REFUSED_RINGS, "refused_rings")                                                          \
	X(REFUSED_KERNELS, "refused_kernels")                                                      \
	X(DEVICES, "devices") /* that were there when quoitd started; lost ones too */             \
	X(DEVICES_LOST, "devices_lost")                                                            \
	X(MODULES, "modules") /* as configured */                                                  \
	X(MODULES_LOST, "modules_lost")                                                            \
	X(DEVICE_LIMIT, "device_bytes_limit")         /* of each device, for all leases */         \
	X(DEVICE_LEASED, "device_bytes_leased")       /* of each device: a lease is of all */      \
	X(CLIENTS_NOWHERE, "clients_of_unknown_node") /* sessions that are near nobody */          \
	X(ABI, "abi_version")                         /* QUOIT_ABI_VERSION of quoitd */            \
	X(VERSION, "version_number")                  /* 1002003 is 1.2.3 */

#define QUOIT_STAT_ENUM_S(name, label) QUOIT_SESSION_##name,
#define QUOIT_STAT_ENUM_R(name, label) QUOIT_REACTOR_##name,
#define QUOIT_STAT_ENUM_C(name, label) QUOIT_CORE_##name,
#define QUOIT_STAT_ENUM_D(name, label) QUOIT_DAEMON_##name,
#define QUOIT_STAT_ENUM_L(name, label) QUOIT_LEG_##name,
enum { QUOIT_SESSION_STATS(QUOIT_STAT_ENUM_S) QUOIT_SESSION_NR };
enum { QUOIT_REACTOR_STATS(QUOIT_STAT_ENUM_R) QUOIT_REACTOR_NR };
enum { QUOIT_CORE_STATS(QUOIT_STAT_ENUM_C) QUOIT_CORE_NR };
enum { QUOIT_DAEMON_STATS(QUOIT_STAT_ENUM_D) QUOIT_DAEMON_NR };
enum { QUOIT_LEGS(QUOIT_STAT_ENUM_L) QUOIT_LEG_NR };

struct quoit_stats_header {
	uint64_t magic; /* QUOIT_STATS_MAGIC; 0: the file is being made */
	uint32_t version;
	uint32_t header_bytes;
	uint32_t file_bytes;
	uint32_t label_bytes;
	uint64_t tsc_hz;
	uint64_t started_ns; /* CLOCK_BOOTTIME */
	uint32_t daemon_pid;
	uint32_t counters;         /* of the first table */
	uint32_t reactors;         /* totals: how many blocks follow */
	uint32_t pid_namespace;    /* that all PIDs are of: its inode's number; 0: not known */
	uint32_t reactor_counters; /* totals: of each, their labels behind those of the first table
				    */
	uint32_t cores;            /* totals: how many blocks there are at */
	uint32_t cores_at;         /* this offset, */
	uint32_t core_counters;    /* of each so many, their labels behind the reactors' */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_stats_header) == 72, "no padding");

/* session.N */
struct quoit_session_stats {
	struct quoit_stats_header header;
	uint64_t session;
	uint32_t uid;
	uint32_t pid; /* in the daemon's PID namespace */
	uint32_t reactor;
	int32_t node;
	uint64_t opened_ns; /* CLOCK_BOOTTIME */
	uint64_t ended;     /* 1: the session is over */
	char name[32];
	char label[QUOIT_SESSION_NR][QUOIT_LABEL_BYTES];
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t value[QUOIT_SESSION_NR];
};

/*
 * How many took how long, ticks of the TSC: each of the first 64 is a bucket, then each power of
 * two has 64, so that none is wider than 1/64 of what is in it.  The last one has all that is
 * longer.
 */
#define QUOIT_LEG_PARTS   64u
#define QUOIT_LEG_BUCKETS (35u * QUOIT_LEG_PARTS)

static inline uint32_t quoit_leg_bucket(uint64_t ticks)
{
	uint32_t shift = ticks < 2 * QUOIT_LEG_PARTS ? 0 : 57u - (uint32_t)__builtin_clzll(ticks);
	uint64_t bucket = shift * QUOIT_LEG_PARTS + (ticks >> shift);

	return bucket < QUOIT_LEG_BUCKETS ? (uint32_t)bucket : QUOIT_LEG_BUCKETS - 1;
}

/* The least that a bucket has; that of the bucket behind it is one more than its most. */
static inline uint64_t quoit_leg_least(uint32_t bucket)
{
	uint32_t shift = bucket < 2 * QUOIT_LEG_PARTS ? 0 : bucket / QUOIT_LEG_PARTS - 1;

	return (uint64_t)(bucket - shift * QUOIT_LEG_PARTS) << shift;
}

/* Of one operation in one session. */
struct quoit_operation_block {
	uint64_t jobs;  /* fetched */
	uint64_t timed; /* about so many of them have run: what the timed ones stand for, */
	uint64_t ticks; /* for so long, all together */
};

/* Of so many rings of a session it is told where the program waited on them. */
#define QUOIT_SITE_RINGS 8u

/*
 * legs.N; the labels are the legs', in whose order the counts are.  Behind them, before all tables,
 * is where the bytes of the operations are, in the same order as these; 0: they are not told.
 */
struct quoit_session_legs {
	struct quoit_stats_header header;
	uint64_t session;
	uint32_t buckets; /* of each leg */
	uint32_t parts;   /* of a power of two */
	uint32_t operations;
	uint32_t operations_at;
	uint32_t sites_at;
	uint32_t site_rings; /* a table of QUOIT_MAX_SITES each, as the client has it */
	char label[QUOIT_LEG_NR][QUOIT_LABEL_BYTES];
	uint32_t bytes_at;
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_operation_block operation[QUOIT_OP_NR];
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t bytes[QUOIT_OP_NR];
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t count[QUOIT_LEG_NR][QUOIT_LEG_BUCKETS];
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_site site[QUOIT_SITE_RINGS][QUOIT_MAX_SITES];
};

struct quoit_reactor_block {
	QUOIT_ALIGNED(QUOIT_LINE) int32_t cpu;
	int32_t node;
	uint64_t value[QUOIT_REACTOR_NR];
};

struct quoit_core_block {
	QUOIT_ALIGNED(QUOIT_LINE) int32_t cpu;
	int32_t node;
	uint64_t value[QUOIT_CORE_NR];
};

/* totals */
struct quoit_totals {
	struct quoit_stats_header header;
	char daemon_label[QUOIT_DAEMON_NR][QUOIT_LABEL_BYTES];
	char reactor_label[QUOIT_REACTOR_NR][QUOIT_LABEL_BYTES];
	char core_label[QUOIT_CORE_NR][QUOIT_LABEL_BYTES];
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t value[QUOIT_DAEMON_NR];
	struct quoit_reactor_block reactor[QUOIT_MAX_REACTORS];
	struct quoit_core_block core[QUOIT_MAX_CORES];
};

/*
 * histograms: how long jobs and tiles took, and what was done of each operation, since quoitd has
 * started.  Sessions are in it as long as they live and thereafter, each job as in its legs.N.
 */

/* Whose: of what you do not know, skip the row. */
enum {
	QUOIT_OF_REACTOR = 1, /* the legs of all its sessions; those that clients tell stay 0 */
	QUOIT_OF_DEVICE,      /* of those jobs that ran there: start_to_end and end_to_post; a COPY
				 between devices is the target's */
	QUOIT_OF_CORE,        /* "tile": of its worker's tiles */
};
#define QUOIT_TILE_LABEL "tile"

/* One row of counts, as many as there are buckets; what they count is the label. */
struct quoit_histogram_row {
	char label[QUOIT_LABEL_BYTES];
	uint32_t of;
	uint32_t number;  /* of the reactor, of the core, as in the totals; of the device, from 1 */
	uint32_t reactor; /* a device has rows of each reactor: add them up */
	uint32_t reserved;
};

struct quoit_operation_totals {
	uint64_t jobs, timed, ticks; /* as in quoit_operation_block */
	uint64_t bytes;
};

/* header.file_bytes is all; header_bytes is this head's, header.counters is 0. */
struct quoit_histograms {
	struct quoit_stats_header header;
	uint32_t buckets, parts; /* as in quoit_session_legs */
	uint32_t rows, row_bytes, rows_at;
	uint32_t counts_at; /* of the first row, one behind the other; 64 bits each */
	/* Of each of header.reactors a table of so many blocks, one behind the other. */
	uint32_t operations, operation_bytes, operations_at;
	uint32_t reserved;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_histograms) == 112, "no padding");

#endif
