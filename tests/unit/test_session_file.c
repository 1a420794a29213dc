/* SPDX-License-Identifier: MIT */
/* test_session_file.c - who may read a session's files, and what an operation's times add up to */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/tsc.h"
#include "core_case.h"
#include "job/record.h"
#include "observe/latency.h"
#include "observe/session_file.h"
#include "observe/session_folder.h"
#include "observe/session_stats.h"
#include "observe/trace.h"
#include "reactor/reactor.h"

#define RECORDS 1024

static char path[] = "/tmp/quoit-session-file-XXXXXX";
static int folder, kept;
static struct session *s;
static struct reactor *reactor;

static void open_folder(void)
{
	tsc_init();
	cr_assert(mkdtemp(path));
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(folder, 0);
	umask(0); /* the rights are those that are asked for */
	kept = session_folder_make(folder);
	cr_assert_geq(kept, 0);
	reactor = aligned_alloc(64, (sizeof *reactor + 63) / 64 * 64);
	cr_assert(reactor);
	memset(reactor, 0, sizeof *reactor);
	s = core_session(16);
	s->reactor = reactor;
	s->uid = getuid();
}

static void close_folder(void)
{
	char command[64];

	core_session_free(s);
	free(reactor);
	close(kept);
	close(folder);
	snprintf(command, sizeof command, "rm -r %s", path);
	cr_expect_eq(system(command), 0);
}

TestSuite(session_file, .init = open_folder, .fini = close_folder);

static mode_t mode_of(const char *format)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof name, format, (unsigned long long)s->id);
	cr_assert_eq(fstatat(folder, name, &st, 0), 0, "%s", name);
	cr_expect_eq(st.st_uid, getuid());
	return st.st_mode & 07777;
}

Test(session_file, its_counters_its_times_and_its_trace_are_read_by_no_other_user)
{
	struct trace *trace;

	cr_assert_eq(session_stats_open(s, folder, 0, -1), 0);
	cr_assert_eq(latency_open(s, folder), 0);
	cr_assert_eq(trace_new(s, folder, reactor, RECORDS, &trace), 0);
	cr_expect_eq(mode_of(QUOIT_STATS_SESSION) & 077, 0);
	cr_expect_eq(mode_of(QUOIT_STATS_LATENCY) & 077, 0);
	cr_expect_eq(mode_of(QUOIT_STATS_TRACE) & 077, 0);
	trace_end(trace);
	trace_free(trace, folder);
}

/* Tools read the file before the session's reactor writes it for the first time. */
Test(session_file, its_counters_say_from_the_first_moment_where_its_client_is)
{
	s->client_node = 1 + 3;
	s->memory.promise = 12345;
	cr_assert_eq(session_stats_open(s, folder, 0, -1), 0);
	cr_expect_eq(s->stats->value[QUOIT_SESSION_CLIENT_NODE], 1 + 3);
	cr_expect_eq(s->stats->value[QUOIT_SESSION_HOST_PROMISED], 12345);
	cr_expect_neq(s->stats->value[QUOIT_SESSION_AS_OF], 0);
}

/* One job of each 64 is timed, and stands for all of them. */
Test(session_file, an_operations_time_counts_each_job_that_a_timed_one_stands_for)
{
	const struct quoit_operation_block *o;
	uint64_t jobs = 0;

	cr_assert_eq(latency_open(s, folder), 0);
	latency_add_run(s, QUOIT_OP_ADD, 1000, 64);
	latency_add_run(s, QUOIT_OP_ADD, 300, 1);
	o = &s->latency->operation[QUOIT_OP_ADD];
	cr_expect_eq(o->timed, 65);
	cr_expect_eq(o->ticks, 64 * 1000 + 300);
	for (unsigned i = 0; i < QUOIT_LATENCY_BUCKETS; i++)
		jobs += s->latency->count[QUOIT_PHASE_RUN][i];
	cr_expect_eq(jobs, 65);
}

/* Its reader must know that there were more jobs than it sees. */
Test(session_file, a_trace_counts_the_jobs_that_found_no_room)
{
	struct trace *trace;
	struct job job = {0};
	uint64_t head;

	cr_assert_eq(trace_new(s, folder, reactor, RECORDS, &trace), 0);
	s->trace = trace;
	trace->room = 1;
	head = trace->head;
	record_count_job(core_ring(s), &job, 0);
	cr_expect_eq(trace->dropped, 0);
	cr_expect_eq(trace->head, head + 1);
	record_count_job(core_ring(s), &job, 0);
	record_count_job(core_ring(s), &job, 0);
	cr_expect_eq(trace->dropped, 2);
	cr_expect_eq(trace->head, head + 1);
	s->trace = NULL;
	trace_end(trace);
	trace_free(trace, folder);
}
