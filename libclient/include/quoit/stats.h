/* SPDX-License-Identifier: MIT */
/*
 * stats.h - the counter files: the tools read them without asking the daemon.
 *
 * They lie beside the socket: "totals" and "histograms" for all users, "topology" as text, and in
 * the folder "private/sessions" two for each session, "session.N" and "latency.N".  They can be
 * read while the daemon runs, hangs or is dead.  Root, quoitd's own user and the group of option
 * stats-group can look into the folder.  Other users ask quoitd for their own sessions' files
 * (QUOIT_CTL_COUNTERS, ctl.h).  Each file has one writer.  A reader reads it with read(), because a
 * session's file is emptied when the session ends, even under a mapping; and it checks magic,
 * version and sizes.  Each word is exact; words beside each other may be a burst apart.
 *
 * A session's counters are as of the reactor's last sleep, or at most a tenth of a second old; the
 * depths of its queues are at most a second old in quiet times.  A reactor's counters in the totals
 * and histograms are never newer than its sessions', so that they do not tell one user when a job
 * of another has ended.
 *
 * Times are ticks of the TSC, whose rate is in the header.  "queue_ticks" is the number of open
 * jobs, summed up over time; "busy_ticks" is the time with any open job.  jobs, queue_ticks and
 * time give the mean time that a job is open (Little's law).  Jobs that run at their fetch are in
 * neither, but a reactor's busy_ticks include the time that it works.
 *
 * "bytes_moved" counts, for each job that has succeeded, the bytes of all elements of each tensor
 * that its operation reads and of each that it writes; a tensor that is read and written counts
 * twice.  There are three exceptions.  A file's job counts the bytes that were read or written of
 * the file.  A COPY between the host and a device, or two devices, counts the bytes that it brought
 * to the other side, once.  A NOP counts nothing.  If quoitd serves several users, the files that
 * all users may read tell bytes in multiples of 1 MiB, because the bytes of single jobs would tell
 * the shapes of other users' tensors.
 *
 * The tables below name the counters, and the file contains these names.  So a tool of another
 * version can show counters that it does not know, and skip counters that are missing.
 */
#ifndef QUOIT_STATS_H
#define QUOIT_STATS_H

#include <quoit/abi.h>

#define QUOIT_STATS_MAGIC      0x53544f5151554f49ull
#define QUOIT_STATS_VERSION    2u
#define QUOIT_STATS_TOTALS     "totals"
#define QUOIT_STATS_PRIVATE    "private" /* a folder that is closed to other users */
#define QUOIT_STATS_SESSIONS   QUOIT_STATS_PRIVATE "/sessions" /* of sessions' files */
#define QUOIT_STATS_SESSION    QUOIT_STATS_SESSIONS "/session.%llu"
#define QUOIT_STATS_LATENCY    QUOIT_STATS_SESSIONS "/latency.%llu"
#define QUOIT_STATS_NAME(path) ((path) + sizeof QUOIT_STATS_SESSIONS) /* in that folder */
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
	X(CORE_TICKS, "core_ticks") /* charged to it: its reactor's time and tiles */              \
	X(TILE_TICKS, "tile_ticks") /* the tiles' part of core_ticks */                            \
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
	X(CLIENT_NODE, "client_node")           /* 1 + the client's node at hello; 0: not known */ \
	X(HOST_PROMISED, "host_bytes_promised") /* of its lease */                                 \
	X(HOST_MOST, "host_bytes_most")         /* the lease can grow to this */                   \
	X(SHARED, "shared_bytes")                                                                  \
	X(HELD, "tensors_held")     /* by the program (quoit_acquire) */                           \
	X(HELD_TICKS, "held_ticks") /* time with at least one of them */                           \
	/* its calls (quoit_call) of its own functions, and of services, that have returned */     \
	X(CALLS, "calls")                                                                          \
	X(CALLS_POSTED, "calls_posted")   /* handed to its teams or services, and not returned */  \
	X(CALLS_WAITING, "calls_waiting") /* ready, and not handed over yet */                     \
	X(CALL_TICKS, "call_ticks")       /* that the functions ran that it called */              \
	X(SERVED, "served") /* calls of other sessions (quoit_serve) that have returned */         \
	X(SERVE_TICKS, "serve_ticks") /* that those ran */                                         \
	X(SERVING, "calls_serving")   /* calls of other sessions that its program has now */       \
	/* jobs that wait for others, at something with a name; and at what */                     \
	X(WAIT_NAMED, "jobs_waiting_named")                                                        \
	X(WAIT_SERVICE, "jobs_waiting_service")                                                    \
	X(WAIT_LOCK, "jobs_waiting_lock")                                                          \
	X(WAIT_FLAG, "jobs_waiting_flag")                                                          \
	X(WAIT_SEMAPHORE, "jobs_waiting_semaphore")                                                \
	X(WAIT_BARRIER, "jobs_waiting_barrier")                                                    \
	X(WAIT_QUEUE, "jobs_waiting_queue")                                                        \
	X(NAMED_TICKS, "named_wait_ticks") /* time in which it did nothing but wait so */          \
	X(LANES, "lanes") /* threads of its program that run calls, by its own word */

/*
 * Of one reactor, and the daemon as a whole.  refused_*: SQEs that were not valid jobs, by errno.
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
	X(EXEC_QUERIES, "executor_event_queries") /* of processes that serve all users */          \
	X(PEER_COPIES, "device_copies_direct")                                                     \
	X(BYTES, "bytes_moved")                                                                    \
	X(DEAR_WAKES, "dear_wakes") /* wake-ups handed to the thread for expensive ones */         \
	X(REFUSED_EINVAL, "refused_einval")                                                        \
	X(REFUSED_ENOTSUP, "refused_enotsup")                                                      \
	X(REFUSED_E2BIG, "refused_e2big")                                                          \
	X(REFUSED_EBADF, "refused_ebadf")                                                          \
	X(REFUSED_EACCES, "refused_eacces")                                                        \
	X(REFUSED_EEXIST, "refused_eexist")                                                        \
	X(REFUSED_ENODEV, "refused_enodev")                                                        \
	X(REFUSED_EXDEV, "refused_exdev")                                                          \
	X(REFUSED_OTHER, "refused_other")                                                          \
	X(ALIVE, "alive_ns") /* CLOCK_BOOTTIME of the last sign of life; once a second */          \
	X(CALLS, "calls")    /* of its sessions, that have come back, as a session's */            \
	X(WAIT_NAMED, "jobs_waiting_named") /* as its sessions' */

/* Of one core: the work of its worker, below a reactor or alone.  Tiles take CPU time. */
#define QUOIT_CORE_STATS(X)                                                                        \
	X(AS_OF, "as_of_ticks")                                                                    \
	X(TILES, "tiles")                                                                          \
	X(TILE_TICKS, "tile_ticks")

/*
 * The phases of a job's latency, from its submit until its CQE was reaped.  Two kinds of jobs are
 * timed: one of each 64 (sample.h), which stands for all since the one before, and each that ran for
 * more than 10 us outside of its fetch.
 */
#define QUOIT_PHASES(X)                                                                            \
	X(SUBMIT, "submit_to_fetch") /* of samples; by the client's word */                        \
	X(DATA, "waiting_for_data")                                                                \
	X(MEMORY, "waiting_for_memory")                                                            \
	X(TURN, "waiting_for_a_turn")                                                              \
	X(RUN, "start_to_end")                                                                     \
	X(POST, "end_to_post")                                                                     \
	X(WHOLE, "fetch_to_end") /* DATA, MEMORY, TURN and RUN together */                         \
	X(REAP, "post_to_reap")  /* of one CQE of each 64; by the client's word */

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
	X(KILL_RETURN,                                                                             \
	  "kill_return") /* a call of a service that it did not have, or false results */          \
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
	X(DEVICES, "devices") /* found when quoitd started; includes lost ones */                  \
	X(DEVICES_LOST, "devices_lost")                                                            \
	X(MODULES, "modules") /* as configured */                                                  \
	X(MODULES_LOST, "modules_lost")                                                            \
	X(DEVICE_LIMIT, "device_bytes_limit")   /* of each device, for all leases together */      \
	X(DEVICE_LEASED, "device_bytes_leased") /* of each device: a lease is on every device */   \
	X(CLIENTS_NOWHERE, "clients_of_unknown_node") /* sessions without a known node */          \
	X(ABI, "abi_version")                         /* QUOIT_ABI_VERSION of quoitd */            \
	X(VERSION, "version_number")                  /* 1002003 is 1.2.3 */

#define QUOIT_STAT_ENUM_S(name, label) QUOIT_SESSION_##name,
#define QUOIT_STAT_ENUM_R(name, label) QUOIT_REACTOR_##name,
#define QUOIT_STAT_ENUM_C(name, label) QUOIT_CORE_##name,
#define QUOIT_STAT_ENUM_D(name, label) QUOIT_DAEMON_##name,
#define QUOIT_STAT_ENUM_P(name, label) QUOIT_PHASE_##name,
enum { QUOIT_SESSION_STATS(QUOIT_STAT_ENUM_S) QUOIT_SESSION_NR };
enum { QUOIT_REACTOR_STATS(QUOIT_STAT_ENUM_R) QUOIT_REACTOR_NR };
enum { QUOIT_CORE_STATS(QUOIT_STAT_ENUM_C) QUOIT_CORE_NR };
enum { QUOIT_DAEMON_STATS(QUOIT_STAT_ENUM_D) QUOIT_DAEMON_NR };
enum { QUOIT_PHASES(QUOIT_STAT_ENUM_P) QUOIT_PHASE_NR };

struct quoit_stats_header {
	uint64_t magic; /* QUOIT_STATS_MAGIC; 0: the file is being made */
	uint32_t version;
	uint32_t header_bytes;
	uint32_t file_bytes;
	uint32_t label_bytes;
	uint64_t tsc_hz;
	uint64_t started_ns; /* CLOCK_BOOTTIME */
	uint32_t daemon_pid;
	uint32_t counters; /* how many counters the first table has */
	uint32_t reactors; /* totals: how many blocks follow */
	/* inode number of the PID namespace that all PIDs belong to; 0: not known */
	uint32_t pid_namespace;
	/* totals: counters of each reactor; their labels follow those of the first table */
	uint32_t reactor_counters;
	uint32_t cores;    /* totals: how many blocks of cores there are */
	uint32_t cores_at; /* totals: their offset */
	/* totals: counters of each core; their labels follow the reactors' */
	uint32_t core_counters;
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
 * Counts by duration, in ticks of the TSC.  Each of the first 64 values is a bucket; after these
 * each power of two has 64 buckets, so that no bucket is wider than 1/64 of its values.  The last
 * bucket has all longer times.
 */
#define QUOIT_LATENCY_PARTS   64u
#define QUOIT_LATENCY_BUCKETS (35u * QUOIT_LATENCY_PARTS)

static inline uint32_t quoit_latency_bucket(uint64_t ticks)
{
	uint32_t shift =
		ticks < 2 * QUOIT_LATENCY_PARTS ? 0 : 57u - (uint32_t)__builtin_clzll(ticks);
	uint64_t bucket = shift * QUOIT_LATENCY_PARTS + (ticks >> shift);

	return bucket < QUOIT_LATENCY_BUCKETS ? (uint32_t)bucket : QUOIT_LATENCY_BUCKETS - 1;
}

/* The least value in a bucket; one less than the least value of the next bucket is its greatest. */
static inline uint64_t quoit_latency_least(uint32_t bucket)
{
	uint32_t shift = bucket < 2 * QUOIT_LATENCY_PARTS ? 0 : bucket / QUOIT_LATENCY_PARTS - 1;

	return (uint64_t)(bucket - shift * QUOIT_LATENCY_PARTS) << shift;
}

/* Of one operation in one session. */
struct quoit_operation_block {
	uint64_t jobs;  /* fetched */
	uint64_t timed; /* about how many of them the timed ones stand for */
	uint64_t ticks; /* how long these took, all together */
};

/* What the program has acquired at one place (QUOIT_OP_ACQUIRE_*), of the holds that have ended. */
struct quoit_site_held {
	uint64_t ticks; /* time in which it held some that jobs waited for */
	uint64_t until; /* time is counted up to here, by quoitd's clock */
};

/* The files tell call sites for at most this many rings of a session. */
#define QUOIT_SITE_RINGS 8u

/* What jobs wait for at something with a name. */
enum quoit_named_way {
	/* a thread of the service; the lock, flag, semaphore or barrier; room in the queue */
	QUOIT_NAMED_FIRST,
	/* somebody who serves it; a condition of the lock; a message of the queue */
	QUOIT_NAMED_SECOND,
	QUOIT_NAMED_WAYS,
};

/*
 * Something with a name that the session has open, or had: a service, a lock, a queue (sync.h).
 * ticks: time in which no job of the session ran, or waited for memory, a core or a device, until
 * one of its jobs that waited here went on.
 */
struct quoit_named_wait {
	uint64_t number; /* as in SERVICES (ctl.h); 0: nothing */
	uint32_t uid;    /* its user */
	uint32_t kind;   /* enum quoit_sync_kind; 0: a service */
	char name[32];   /* ended by zeros */
	uint64_t ticks[QUOIT_NAMED_WAYS];
	uint32_t jobs;           /* of the session that wait there now */
	uint32_t servers, lanes; /* of a service, now: rings that serve it, and threads in these */
	uint32_t reserved;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_named_wait) == 80, "no padding");

/* What the session does nothing but wait for now.  These ticks are in no row yet. */
struct quoit_named_now {
	uint64_t ticks; /* for so long; 0: for nothing, and the rest does not count */
	uint32_t row;
	uint32_t way; /* enum quoit_named_way */
};

/*
 * latency.N.  The labels are the phases' names, and the counts have the same order.  bytes_at is
 * the offset of the operations' bytes, which have the order of operation[]; held_at is that of what
 * the program held, by rings and sites as in site[]; 0: the file has none.  named_at is that of a
 * struct quoit_named_now, with `named` rows behind it; 0: the file has none.
 */
struct quoit_session_latency {
	struct quoit_stats_header header;
	uint64_t session;
	uint32_t buckets; /* of each phase */
	uint32_t parts;   /* of a power of two */
	uint32_t operations;
	uint32_t operations_at;
	uint32_t sites_at;
	uint32_t site_rings; /* one table of QUOIT_MAX_SITES for each ring, as the client has it */
	char label[QUOIT_PHASE_NR][QUOIT_LABEL_BYTES];
	uint32_t bytes_at;
	uint32_t held_at;
	uint32_t named_at, named;
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_operation_block operation[QUOIT_OP_NR];
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t bytes[QUOIT_OP_NR];
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t count[QUOIT_PHASE_NR][QUOIT_LATENCY_BUCKETS];
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_site site[QUOIT_SITE_RINGS][QUOIT_MAX_SITES];
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_site_held held[QUOIT_SITE_RINGS][QUOIT_MAX_SITES];
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_named_now named_now;
	struct quoit_named_wait named_wait[QUOIT_MAX_SERVICES];
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
 * histograms: how long jobs and tiles took, and how much each operation was used, since quoitd
 * started.  A session's jobs stay counted after its end.  Each job is counted as in its latency.N.
 */

/* What a row is about; skip rows whose kind you do not know. */
enum {
	/* the phases of all its sessions' jobs; those that only clients know stay 0 */
	QUOIT_OF_REACTOR = 1,
	/*
	 * jobs that ran there: start_to_end and end_to_post; a COPY between devices counts for its
	 * target
	 */
	QUOIT_OF_DEVICE,
	QUOIT_OF_CORE, /* "tile": the tiles of its worker */
};
#define QUOIT_TILE_LABEL "tile"

/* One row of counts, one for each bucket; the label says what they count. */
struct quoit_histogram_row {
	char label[QUOIT_LABEL_BYTES];
	uint32_t of;
	/* of the reactor or core, as in the totals; of the device, counted from 1 */
	uint32_t number;
	uint32_t reactor; /* a device has one row for each reactor: add them up */
	uint32_t reserved;
};

struct quoit_operation_totals {
	uint64_t jobs, timed, ticks; /* as in quoit_operation_block */
	uint64_t bytes;
};

/* header.file_bytes is the whole file's, header_bytes this head's, header.counters is 0. */
struct quoit_histograms {
	struct quoit_stats_header header;
	uint32_t buckets, parts; /* as in quoit_session_latency */
	uint32_t rows, row_bytes, rows_at;
	uint32_t counts_at; /* offset of the first row's counts; the others follow; 64 bits each */
	/* One table of operations for each of header.reactors, one after the other. */
	uint32_t operations, operation_bytes, operations_at;
	uint32_t reserved;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_histograms) == 112, "no padding");

#endif
