/* SPDX-License-Identifier: MIT */
/* metrics.c - the table of all counters and their metrics */
#include "metrics.h"

#include <stddef.h>

#include <quoit/stats.h>

#define DAEMON(COUNTER)  METRIC_OF_DAEMON, QUOIT_DAEMON_##COUNTER
#define REACTOR(COUNTER) METRIC_OF_REACTOR, QUOIT_REACTOR_##COUNTER
#define CORE(COUNTER)    METRIC_OF_CORE, QUOIT_CORE_##COUNTER
#define SESSION(COUNTER) METRIC_OF_SESSION, QUOIT_SESSION_##COUNTER
#define USER(COUNTER)    METRIC_OF_USER, QUOIT_SESSION_##COUNTER

/* All in one family, with a label for each. */
#define REFUSED(COUNTER)                                                                           \
	DAEMON(REFUSED_##COUNTER), METRIC_COUNT, "quoit_refusals",                                 \
		"Connections, sessions and rings that quoitd has refused."
#define KILLED(COUNTER)                                                                            \
	DAEMON(KILL_##COUNTER), METRIC_COUNT, "quoit_kills", "Connections that quoitd has ended."
#define WAITING(COUNTER)                                                                           \
	SESSION(WAIT_##COUNTER), METRIC_GAUGE, "quoit_session_jobs_waiting",                       \
		"Jobs of a session that wait, by what they wait for."

#define INVALID(COUNTER)                                                                           \
	REACTOR(REFUSED_##COUNTER), METRIC_COUNT, "quoit_reactor_jobs_refused",                    \
		"SQEs that a reactor refused as invalid jobs, by reason."

#define A_READING "a reading of the TSC: no rate of it says anything, and it stands still at rest"

const struct metric metrics[] = {
	{DAEMON(CONNECTIONS), METRIC_COUNT, "quoit_connections",
	 "Connections that quoitd has accepted."},
	{DAEMON(SESSIONS_OPENED), METRIC_COUNT, "quoit_sessions_opened",
	 "Sessions that were opened."},
	{DAEMON(SESSIONS_CLOSED), METRIC_COUNT, "quoit_sessions_closed",
	 "Sessions that have ended, for any reason."},
	{DAEMON(SESSIONS_STOPPED), METRIC_COUNT, "quoit_sessions_stopped",
	 "Connections that were ended because quoitd ended."},
	{DAEMON(HOST_LIMIT), METRIC_BYTES, "quoit_host_limit_bytes",
	 "Host memory for all leases, tables and rings."},
	{DAEMON(HOST_LEASED), METRIC_BYTES, "quoit_host_leased_bytes",
	 "Host memory that all leases, tables and rings have now."},
	{REFUSED(UID), {"reason", "uid"}},
	{REFUSED(CONNECTIONS), {"reason", "connections"}},
	{REFUSED(VERSION), {"reason", "version"}},
	{REFUSED(LEASE), {"reason", "lease"}},
	{REFUSED(RINGS), {"reason", "rings"}},
	{REFUSED(KERNELS), {"reason", "kernels"}},
	{KILLED(RETURN), {"reason", "return"}},
	{KILLED(PROTO), {"reason", "proto"}},
	{KILLED(SLOW_CTL), {"reason", "slow_ctl"}},
	{KILLED(HANDSHAKE), {"reason", "handshake"}},
	{KILLED(RING_TAIL), {"reason", "ring_tail"}},
	{KILLED(CQ_HEAD), {"reason", "cq_head"}},
	{KILLED(MEM_VANISHED), {"reason", "mem_vanished"}},
	{KILLED(ASKED), {"reason", "asked"}},
	{KILLED(SHORTAGE), {"reason", "shortage"}},
	{DAEMON(CLIENTS_DIED), METRIC_COUNT, "quoit_clients_died",
	 "Clients that went away with a session open."},
	{DAEMON(CLIENTS_LEFT), METRIC_COUNT, "quoit_clients_left",
	 "Clients that went away without a session open."},
	{DAEMON(EXECUTORS_DIED), METRIC_COUNT, "quoit_executors_died",
	 "Processes of modules and devices that died or were killed."},
	{DAEMON(DEVICES), METRIC_GAUGE, "quoit_devices",
	 "Devices that were there when quoitd started."},
	{DAEMON(DEVICES_LOST), METRIC_GAUGE, "quoit_devices_lost",
	 "Devices that are lost: jobs on them fail."},
	{DAEMON(DEVICE_LIMIT), METRIC_BYTES, "quoit_device_limit_bytes",
	 "Memory of each device that all leases together may have."},
	{DAEMON(DEVICE_LEASED), METRIC_BYTES, "quoit_device_leased_bytes",
	 "Memory of each device that leases have."},
	{DAEMON(MODULES), METRIC_GAUGE, "quoit_modules", "Plug-in modules of the configuration."},
	{DAEMON(MODULES_LOST), METRIC_GAUGE, "quoit_modules_lost",
	 "Plug-in modules that are lost or could not be started: their jobs fail."},
	{DAEMON(CLIENTS_NOWHERE), METRIC_COUNT, "quoit_clients_of_unknown_node",
	 "Sessions whose client's NUMA node was not known when they were opened."},
	{DAEMON(ABI), METRIC_LEFT_OUT, NULL, "it is a label of quoit_build_info"},
	{DAEMON(VERSION), METRIC_LEFT_OUT, NULL, "it is a label of quoit_build_info"},
	{DAEMON(LOG_SUPPRESSED), METRIC_COUNT, "quoit_log_lines_suppressed",
	 "Log lines that quoitd left out or dropped."},

	{REACTOR(SESSIONS), METRIC_GAUGE, "quoit_reactor_sessions", "Open sessions of a reactor."},
	{REACTOR(JOBS), METRIC_COUNT, "quoit_reactor_jobs", "Jobs (SQEs) fetched."},
	{REACTOR(OPEN), METRIC_GAUGE, "quoit_reactor_jobs_open",
	 "Jobs that a reactor has fetched and that have not ended."},
	{REACTOR(QUEUE_TICKS), METRIC_TICKS, "quoit_reactor_queue_seconds",
	 "Number of open jobs, summed up over time: its rate is the mean number of open jobs; "
	 "divided by the rate of jobs, the mean time that one is open."},
	{REACTOR(BUSY_TICKS), METRIC_TICKS, "quoit_reactor_busy_seconds",
	 "Time in which the reactor had open jobs or work."},
	{REACTOR(WORK_TICKS), METRIC_TICKS, "quoit_reactor_work_seconds",
	 "Time in which the reactor worked."},
	{REACTOR(POLL_TICKS), METRIC_TICKS, "quoit_reactor_poll_seconds",
	 "Time in which the reactor polled for work and found none; time that is neither polling "
	 "nor work it sleeps."},
	{REACTOR(TILE_TICKS), METRIC_TICKS, "quoit_reactor_tile_seconds",
	 "CPU time of cores that ran tiles for the reactor's sessions; a tile is a piece of a long "
	 "job."},
	{REACTOR(LOOPS), METRIC_COUNT, "quoit_reactor_loops", "Passes of the reactor's loop."},
	{REACTOR(SLEEPS), METRIC_COUNT, "quoit_reactor_sleeps",
	 "How often the reactor went to sleep."},
	{REACTOR(EXEC_REQUESTS), METRIC_COUNT, "quoit_reactor_executor_requests",
	 "Requests to processes of modules and devices."},
	{REACTOR(EXEC_ANSWERS), METRIC_COUNT, "quoit_reactor_executor_answers",
	 "Answers from processes of modules and devices."},
	{REACTOR(EXEC_BELLS), METRIC_COUNT, "quoit_reactor_executor_bells",
	 "How often a process of a module or device was woken."},
	{REACTOR(EXEC_QUERIES), METRIC_COUNT, "quoit_reactor_executor_event_queries",
	 "How often a device's driver was asked whether work is done."},
	{REACTOR(PEER_COPIES), METRIC_COUNT, "quoit_reactor_device_copies_direct",
	 "Copies that one device's process read from another device's memory."},
	{REACTOR(BYTES), METRIC_BYTES_COUNTED, "quoit_reactor_moved_bytes",
	 "Bytes that jobs read and wrote."},
	{REACTOR(CALLS), METRIC_COUNT, "quoit_reactor_calls",
	 "Calls of functions, services, locks and their kin that have come back."},
	{REACTOR(WAIT_NAMED), METRIC_GAUGE, "quoit_reactor_jobs_waiting_named",
	 "Jobs that wait for others, at a service, a lock or its kin."},
	{REACTOR(DEAR_WAKES), METRIC_COUNT, "quoit_reactor_dear_wakes",
	 "Wake-ups of clients that were slow and were left to the thread for slow wake-ups."},
	{INVALID(EINVAL), {"reason", "einval"}},
	{INVALID(ENOTSUP), {"reason", "enotsup"}},
	{INVALID(E2BIG), {"reason", "e2big"}},
	{INVALID(EBADF), {"reason", "ebadf"}},
	{INVALID(EACCES), {"reason", "eacces"}},
	{INVALID(EEXIST), {"reason", "eexist"}},
	{INVALID(ENODEV), {"reason", "enodev"}},
	{INVALID(EXDEV), {"reason", "exdev"}},
	{INVALID(OTHER), {"reason", "other"}},
	{REACTOR(HEARTBEAT), METRIC_LEFT_OUT, NULL, A_READING},
	{REACTOR(ALIVE), METRIC_LEFT_OUT, NULL, "It is quoit_silent_seconds."},

	{CORE(TILES), METRIC_COUNT, "quoit_core_tiles",
	 "Tiles that ran on this core; a tile is a piece of a long job that one core runs."},
	{CORE(TILE_TICKS), METRIC_TICKS, "quoit_core_tile_seconds",
	 "Time that tiles took on this core."},
	{CORE(AS_OF), METRIC_LEFT_OUT, NULL, A_READING},

	{USER(SUBMITTED), METRIC_COUNT, "quoit_user_jobs_fetched",
	 "Jobs (SQEs) of a user that were fetched."},
	{USER(FAILED), METRIC_COUNT, "quoit_user_jobs_failed", "Jobs of a user that failed."},
	{USER(QUEUED), METRIC_GAUGE, "quoit_user_jobs_queued", "Jobs of a user that are queued."},
	{USER(RUNNING), METRIC_GAUGE, "quoit_user_jobs_running", "Jobs of a user that run."},
	{USER(QUEUE_TICKS), METRIC_TICKS, "quoit_user_queue_seconds",
	 "Number of a user's open jobs, summed up over time."},
	{USER(CORE_TICKS), METRIC_TICKS, "quoit_user_core_seconds", "CPU time charged to a user."},
	{USER(EXECUTOR_TICKS), METRIC_TICKS, "quoit_user_executor_seconds",
	 "Time of modules and of devices' streams that a user had."},
	{USER(MEMORY_TICKS), METRIC_TICKS, "quoit_user_memory_wait_seconds",
	 "Time in which sessions of a user had jobs that waited for memory, summed up."},
	{USER(HOST_LEASE), METRIC_BYTES, "quoit_user_host_leased_bytes",
	 "Host memory leased to a user's sessions."},
	{USER(HOST_USED), METRIC_BYTES, "quoit_user_host_used_bytes",
	 "Host memory that a user's tensors use."},
	{USER(DEVICE_USED), METRIC_BYTES, "quoit_user_device_used_bytes",
	 "Device memory that a user's tensors use."},
	{USER(BYTES), METRIC_BYTES_COUNTED, "quoit_user_moved_bytes",
	 "Bytes that a user's jobs read and wrote."},

	{SESSION(SUBMITTED), METRIC_COUNT, "quoit_session_jobs_fetched", "Jobs (SQEs) fetched."},
	{SESSION(DONE), METRIC_COUNT, "quoit_session_jobs_done",
	 "Jobs of a session that succeeded."},
	{SESSION(FAILED), METRIC_COUNT, "quoit_session_jobs_failed",
	 "Jobs of a session that failed."},
	{SESSION(REFUSED), METRIC_COUNT, "quoit_session_jobs_refused",
	 "Jobs of a session that failed because their SQEs were invalid."},
	{SESSION(INLINE), METRIC_COUNT, "quoit_session_jobs_inline",
	 "Jobs of a session that the reactor ran itself."},
	{SESSION(TILED), METRIC_COUNT, "quoit_session_jobs_tiled",
	 "Jobs of a session that cores ran in tiles, as pieces."},
	{SESSION(DEVICE_JOBS), METRIC_COUNT, "quoit_session_jobs_on_devices",
	 "Jobs of a session that ran on devices."},
	{SESSION(DIRECT), METRIC_COUNT, "quoit_session_jobs_direct",
	 "Jobs of a session that ran on devices in GPU-direct mode."},
	{SESSION(DIRECT_STREAMED), METRIC_COUNT, "quoit_session_jobs_direct_streamed",
	 "Jobs of a session meant for GPU-direct mode that went through a stream."},
	{SESSION(MEMORY_WAITS), METRIC_COUNT, "quoit_session_jobs_waited_memory",
	 "Jobs of a session that had to wait for memory."},
	{SESSION(QUEUED), METRIC_GAUGE, "quoit_session_jobs_queued",
	 "Jobs of a session that are queued."},
	{WAITING(DATA), {"for", "data"}},
	{WAITING(MEMORY), {"for", "memory"}},
	{WAITING(TURN), {"for", "turn"}},
	{WAITING(SERVICE), {"for", "service"}},
	{WAITING(LOCK), {"for", "lock"}},
	{WAITING(FLAG), {"for", "flag"}},
	{WAITING(SEMAPHORE), {"for", "semaphore"}},
	{WAITING(BARRIER), {"for", "barrier"}},
	{WAITING(QUEUE), {"for", "queue"}},
	{SESSION(WAIT_NAMED), METRIC_LEFT_OUT, NULL,
	 "it is the sum of those that wait for services, locks and their kin"},
	{SESSION(NAMED_TICKS), METRIC_TICKS, "quoit_session_named_wait_seconds",
	 "Time in which the session did nothing but wait at services, locks and their kin, of waits "
	 "that are over."},
	{SESSION(RUNNING), METRIC_GAUGE, "quoit_session_jobs_running",
	 "Jobs of a session that run."},
	{SESSION(QUEUE_TICKS), METRIC_TICKS, "quoit_session_queue_seconds",
	 "Number of a session's open jobs, summed up over time."},
	{SESSION(BUSY_TICKS), METRIC_TICKS, "quoit_session_busy_seconds",
	 "Time in which the session had open jobs."},
	{SESSION(MEMORY_TICKS), METRIC_TICKS, "quoit_session_memory_wait_seconds",
	 "Time in which the session had jobs that waited for memory."},
	{SESSION(CORE_TICKS), METRIC_TICKS, "quoit_session_core_seconds",
	 "CPU time charged to the session."},
	{SESSION(TILE_TICKS), METRIC_TICKS, "quoit_session_tile_seconds",
	 "CPU time in tiles charged to the session; a tile is a piece of a long job."},
	{SESSION(EXECUTOR_TICKS), METRIC_TICKS, "quoit_session_executor_seconds",
	 "Time of modules and of devices' streams that the session had."},
	{SESSION(SQ_DEPTH), METRIC_GAUGE, "quoit_session_sq_depth",
	 "SQEs not yet fetched, in all rings of the session."},
	{SESSION(SQ_MOST), METRIC_GAUGE, "quoit_session_sq_depth_most",
	 "The most SQEs not yet fetched that one ring had."},
	{SESSION(CQ_DEPTH), METRIC_GAUGE, "quoit_session_cq_depth",
	 "CQEs not yet reaped, in all rings of the session."},
	{SESSION(CQ_MOST), METRIC_GAUGE, "quoit_session_cq_depth_most",
	 "The most CQEs not yet reaped that one ring was seen with."},
	{SESSION(WAKES), METRIC_COUNT, "quoit_session_client_wakes",
	 "How often the session's client was woken."},
	{SESSION(KICKS), METRIC_COUNT, "quoit_session_doorbells",
	 "How often the session's client woke its reactor through a ring's bell."},
	{SESSION(RINGS), METRIC_GAUGE, "quoit_session_rings", "Open rings of the session."},
	{SESSION(TENSORS), METRIC_GAUGE, "quoit_session_tensors",
	 "Tensors of the session that are alive."},
	{SESSION(HOST_LEASE), METRIC_BYTES, "quoit_session_host_leased_bytes",
	 "Host memory that the session may use now."},
	{SESSION(HOST_PROMISED), METRIC_BYTES, "quoit_session_host_promised_bytes",
	 "Host memory that the session was promised when it was opened."},
	{SESSION(HOST_MOST), METRIC_BYTES, "quoit_session_host_most_bytes",
	 "Host memory that the session's lease can grow to, if there is memory."},
	{SESSION(HOST_USED), METRIC_BYTES, "quoit_session_host_used_bytes",
	 "Host memory that the session's tensors use."},
	{SESSION(HOST_CACHED), METRIC_BYTES, "quoit_session_host_cached_bytes",
	 "Host memory that is free and kept for the session."},
	{SESSION(HOST_PEAK), METRIC_BYTES, "quoit_session_host_peak_bytes",
	 "The most host memory that the session's tensors have used."},
	{SESSION(HELD), METRIC_GAUGE, "quoit_session_tensors_held",
	 "Tensors that the session's program itself holds; jobs that use them wait for it."},
	{SESSION(HELD_TICKS), METRIC_TICKS, "quoit_session_held_seconds",
	 "Time in which the session's program held tensors."},
	{SESSION(CALLS), METRIC_COUNT, "quoit_session_calls",
	 "Calls of the session's own functions, and of services, that have returned."},
	{SESSION(CALLS_POSTED), METRIC_GAUGE, "quoit_session_calls_posted",
	 "Calls that the session's teams or services have, and did not return yet."},
	{SESSION(CALLS_WAITING), METRIC_GAUGE, "quoit_session_calls_waiting",
	 "Calls that are ready and wait until a team or service has room."},
	{SESSION(CALL_TICKS), METRIC_TICKS, "quoit_session_call_seconds",
	 "Time that the functions ran that the session called."},
	{SESSION(SERVED), METRIC_COUNT, "quoit_session_served",
	 "Calls of other sessions that the session's program has served."},
	{SESSION(SERVE_TICKS), METRIC_TICKS, "quoit_session_serve_seconds",
	 "Time in which it served them."},
	{SESSION(LANES), METRIC_GAUGE, "quoit_session_lanes",
	 "Threads of the session's program that run calls, by its own word."},
	{SESSION(SERVING), METRIC_GAUGE, "quoit_session_calls_serving",
	 "Calls of other sessions that the session's program has now."},
	{SESSION(SHARED), METRIC_BYTES, "quoit_session_shared_bytes",
	 "Size of the session's shared region, a part of the lease."},
	{SESSION(PINNED), METRIC_BYTES, "quoit_session_pinned_bytes",
	 "Size of the session's pinned region, a part of the lease."},
	{SESSION(PINNED_LOCKED), METRIC_BYTES, "quoit_session_pinned_locked_bytes",
	 "Bytes of the session's pinned region that cannot be paged out."},
	{SESSION(PINNED_REGISTERED), METRIC_BYTES, "quoit_session_pinned_registered_bytes",
	 "Bytes of the session's pinned region that are registered for files."},
	{SESSION(PINNED_REFUSED), METRIC_BYTES_COUNTED, "quoit_session_pinned_refused_bytes",
	 "Bytes of the session's pinned region that a device's driver did not register."},
	{SESSION(ARENA_AWAY), METRIC_BYTES, "quoit_session_arena_away_bytes",
	 "Bytes of the session's memory that lie on other NUMA nodes than its own."},
	{SESSION(DEVICE_LEASE), METRIC_BYTES, "quoit_session_device_leased_bytes",
	 "Memory that the session may use on each device."},
	{SESSION(DEVICE_USED), METRIC_BYTES, "quoit_session_device_used_bytes",
	 "Device memory that the session's tensors use."},
	{SESSION(BYTES), METRIC_BYTES_COUNTED, "quoit_session_moved_bytes",
	 "Bytes that jobs read and wrote."},
	{SESSION(CLIENT_NODE), METRIC_LEFT_OUT, NULL, "a number, not a figure; quoit ps has it"},
	{SESSION(AS_OF), METRIC_LEFT_OUT, NULL, A_READING},
	{0},
};

struct exposition_family metrics_family(const struct metric *m)
{
	bool counts = m->kind == METRIC_COUNT || m->kind == METRIC_TICKS ||
		      m->kind == METRIC_BYTES_COUNTED;
	bool bytes = m->kind == METRIC_BYTES || m->kind == METRIC_BYTES_COUNTED;

	return (struct exposition_family){
		.name = m->name,
		.type = counts ? EXPOSITION_COUNTER : EXPOSITION_GAUGE,
		.unit = bytes                     ? "bytes"
			: m->kind == METRIC_TICKS ? "seconds"
						  : NULL,
		.help = m->help,
	};
}

void metrics_write(struct exposition *e, const struct metric *m,
		   const struct exposition_label *labels, struct counter value, uint64_t hz)
{
	struct exposition_family family = metrics_family(m);

	if (m->kind == METRIC_LEFT_OUT || !value.known || (m->kind == METRIC_TICKS && !hz))
		return;
	exposition_family(e, &family);
	if (m->kind == METRIC_TICKS)
		exposition_real(e, labels, (double)value.value / (double)hz);
	else
		exposition_count(e, labels, value.value);
}
