/* SPDX-License-Identifier: MIT */
/* bench_trace.h - count the system calls of processes, by ptrace */
#ifndef QUOIT_TOOLS_BENCH_TRACE_H
#define QUOIT_TOOLS_BENCH_TRACE_H

#include <stdint.h>
#include <sys/types.h>

/* The traced client tells here what it is doing; shared memory. */
struct bench_trace {
	uint32_t ready;    /* set by the client once it has all its threads, or has failed */
	pid_t server;      /* a process that serves it, which it has told of by then; 0: none */
	uint32_t go;       /* set by the tracer once all threads are traced */
	uint32_t counting; /* set by the client while its calls are to be counted */
	int32_t result;    /* the client's result: 0 or a negative errno */
};

struct bench_trace_counts {
	uint64_t client, daemon, server;
	uint64_t marks; /* calls of BENCH_TRACE_MARK among the client's */
};

/* A call that nothing else makes: it proves that the counting works. */
#define BENCH_TRACE_MARK SYS_getppid

/*
 * Trace all threads of `daemon`, of `client`, a child that waits for trace->go, and of its server,
 * until the client exits; then detach from the daemon.  Counts the calls that they begin while
 * trace->counting is set.  0; -ENOTSUP: ptrace is refused; the client's result; -ECHILD: the client did not end well.
 */
int bench_trace_count(pid_t daemon, pid_t client, struct bench_trace *trace,
		      struct bench_trace_counts *ret);

#endif
