/* SPDX-License-Identifier: MIT */
/* plan_syscalls.c - count the system calls for a million jobs, of both sides together */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "bench.h"
#include "bench_trace.h"

/*
 * The client waits for its tracer, warms up, and then sets `counting`.  The tracer must see the one
 * marking call, or its count cannot be trusted.
 */
static int run_client(const struct bench *b, const struct bench_series *s,
		      struct bench_trace *trace)
{
	struct quoit_ring_params params = {.entries = 1024, .flags = QUOIT_RING_RAW};
	struct bench_client c;
	int err = bench_open(b, s->cores, &params, &c);

	if (err)
		return err;
	while (!__atomic_load_n(&trace->go, __ATOMIC_SEQ_CST))
		quoit_pause();
	err = bench_run_nops(c.ring, s->depth, s->count / 10);
	__atomic_store_n(&trace->counting, 1, __ATOMIC_SEQ_CST);
	if (!err)
		err = bench_run_nops(c.ring, s->depth, s->count);
	/* last, because its stop would let the daemon fall asleep */
	(void)syscall(BENCH_TRACE_MARK);
	__atomic_store_n(&trace->counting, 0, __ATOMIC_SEQ_CST);
	bench_close(&c);
	return err;
}

/* *ret: calls of both sides without the mark, the client's, the daemon's, and the mark. */
static int measure_calls(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_trace *trace = mmap(NULL, sizeof *trace, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct bench_trace_counts counts;
	pid_t client;
	int err;

	if (trace == MAP_FAILED)
		return -errno;
	client = fork();
	if (client == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		trace->result = run_client(b, s, trace);
		_exit(0);
	}
	err = client < 0 ? -errno
			 : bench_trace_count(b->daemon[s->cores].pid, client, trace, &counts);
	munmap(trace, sizeof *trace);
	if (err)
		return err;
	ret[0] = (double)(counts.client - counts.marks + counts.daemon);
	ret[1] = (double)(counts.client - counts.marks);
	ret[2] = (double)counts.daemon;
	ret[3] = (double)counts.marks;
	return counts.marks == 1 ? 0 : -EBADMSG;
}

static const struct bench_series series[] = {
	{"syscalls", "calls", BENCH_ALL_CORES, measure_calls, 256, 1000000},
	{"syscalls_client", "calls"},
	{"syscalls_daemon", "calls"},
	{"seeded_call_seen", "calls"},
	{NULL},
};

static const struct bench_ratio ratios[] = {{NULL}};

const struct bench_plan bench_syscalls = {
	"syscalls", "system calls of client and quoitd over 10^6 jobs, 256 in flight, by ptrace", 5,
	series, ratios};
