/* SPDX-License-Identifier: MIT */
/* test_follow.c - quoit top's readings of counter files that change and go, and its own cost */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "counters_case.h"
#include "read/runtime.h"
#include "top/follow.h"
#include "top/machine.h"

#define SECOND UINT64_C(1000000000)

/* ---- the files of a quoitd, which is this process ---- */

static char folder[] = "/tmp/quoit-follow-XXXXXX", socket_path[64];
static struct follow f;
static struct quoit_totals totals;
static struct quoit_session_stats session;
static struct quoit_session_latency latency;

static void put(const char *name, const void *bytes, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	close(fd);
}

static void put_totals(void)
{
	put(QUOIT_STATS_TOTALS, &totals, sizeof totals);
}

/* Session `number`, which has submitted this many jobs in so many seconds. */
static void put_session(uint64_t number, uint64_t submitted, uint64_t seconds)
{
	char name[64];

	session.session = number;
	session.value[QUOIT_SESSION_SUBMITTED] = submitted;
	session.value[QUOIT_SESSION_AS_OF] = seconds * SECOND;
	snprintf(name, sizeof name, QUOIT_STATS_SESSION, (unsigned long long)number);
	put(name, &session, sizeof session);
}

static void make_files(void)
{
	char path[128];

	cr_assert(mkdtemp(folder));
	snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
	snprintf(path, sizeof path, "%s/" QUOIT_STATS_PRIVATE, folder);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/" QUOIT_STATS_SESSIONS, folder);
	cr_assert_eq(mkdir(path, 0700), 0);
	counters_case_totals(&totals);
	totals.header.started_ns = runtime_now_ns();
	totals.header.tsc_hz = SECOND;
	totals.header.daemon_pid = (uint32_t)getpid();
	put_totals();
	counters_case_session(&session);
	session.header.daemon_pid = totals.header.daemon_pid;
	session.header.tsc_hz = SECOND;
	session.opened_ns = runtime_now_ns();
	session.pid = (uint32_t)getpid();
	session.uid = getuid();
	put_session(1, 100, 1);
	cr_assert_eq(follow_open(&f, socket_path), 0);
}

static void remove_files(void)
{
	char line[128];

	follow_close(&f);
	snprintf(line, sizeof line, "rm -r %s", folder);
	cr_expect_eq(system(line), 0);
}

TestSuite(follow, .init = make_files, .fini = remove_files);

static void look(void)
{
	cr_assert_eq(follow_read(&f, 0), 0);
}

static void expect(unsigned row, enum column column, const char *wanted)
{
	char text[FORMAT_CELL_BYTES];

	cr_assert_lt(row, f.row_count);
	columns_text(&f.rows[row], column, text, sizeof text);
	cr_expect_str_eq(text, wanted, "%s: %s, not %s", columns_key(column), text, wanted);
}

/* ---- sessions ---- */

Test(follow, means_of_a_session_are_since_the_reading_before)
{
	look();
	cr_assert_eq(f.row_count, 1);
	cr_expect_null(f.rows[0].before);
	put_session(1, 300, 3);
	look();
	expect(0, COLUMN_OF_SUBMITTED, "300");
	expect(0, COLUMN_OF_RATE, "100");
	put_session(1, 310, 4);
	look();
	expect(0, COLUMN_OF_RATE, "10.0");
}

Test(follow, sessions_come_and_go_and_keep_their_order)
{
	char path[128];

	look();
	put_session(12, 5, 1);
	put_session(3, 5, 1);
	look();
	cr_assert_eq(f.row_count, 3);
	expect(0, COLUMN_OF_SESSION, "1");
	expect(1, COLUMN_OF_SESSION, "3");
	expect(2, COLUMN_OF_SESSION, "12");
	snprintf(path, sizeof path, "%s/" QUOIT_STATS_SESSION, folder, 3ull);
	cr_assert_eq(unlink(path), 0);
	look();
	cr_assert_eq(f.row_count, 2);
	expect(0, COLUMN_OF_SESSION, "1");
	expect(1, COLUMN_OF_SESSION, "12");
}

Test(follow, a_damaged_file_is_counted_and_the_others_are_read)
{
	put(QUOIT_STATS_SESSIONS "/session.8", "no counters", 11);
	put(QUOIT_STATS_SESSIONS "/session.9", "", 0); /* it has just ended */
	look();
	cr_expect_eq(f.row_count, 1);
	cr_expect_eq(f.damaged, 1);
	cr_expect_eq(f.unreadable, 0);
}

Test(follow, a_session_has_the_memory_of_its_process)
{
	look();
	cr_assert_eq(f.row_count, 1);
	cr_expect(f.rows[0].process.known);
	cr_expect_gt(f.rows[0].process.resident_bytes, 100000);
	cr_expect_not(f.rows[0].process.faults_known, "they were not asked for");
	cr_assert_eq(follow_read(&f, PROCESS_NEED_FAULTS | PROCESS_NEED_SMAPS), 0);
	cr_expect(f.rows[0].process.faults_known && f.rows[0].process.minor_faults);
	cr_expect(f.rows[0].process.share_known && f.rows[0].process.share_bytes);
	session.opened_ns = 1; /* before this process began: it was another's */
	put_session(2, 1, 1);
	look();
	cr_expect_not(f.rows[1].process.known);
}

static unsigned open_descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	unsigned n = 0;

	cr_assert(list);
	while (readdir(list))
		n++;
	closedir(list);
	return n;
}

Test(follow, no_descriptor_is_left_of_sessions_and_of_quoitd)
{
	const unsigned before = open_descriptors();
	unsigned with_all;

	for (unsigned i = 2; i < 6; i++)
		put_session(i, 1, 1);
	look();
	cr_expect_eq(f.row_count, 5);
	with_all = open_descriptors();
	totals.header.started_ns++; /* a restart: all are opened anew */
	put_totals();
	look();
	cr_expect_eq(open_descriptors(), with_all);
	follow_close(&f);
	cr_assert_eq(follow_open(&f, socket_path), 0);
	cr_expect_eq(open_descriptors(), before);
}

/* ---- quoitd ---- */

Test(follow, after_a_restart_session_1_is_another_one)
{
	look();
	put_session(1, 200, 2);
	look();
	cr_expect_not_null(follow_before(&f));
	totals.header.started_ns++;
	put_totals();
	put_session(1, 50, 3);
	look();
	cr_expect_null(follow_before(&f));
	cr_assert_eq(f.row_count, 1);
	cr_expect_null(f.rows[0].before);
}

Test(follow, a_core_keeps_the_part_of_its_last_report)
{
	uint64_t *values = totals.core[1].value;

	look();
	cr_expect_lt(f.tiles[1], 0, "of one reading there is no part");
	values[QUOIT_CORE_AS_OF] += 1000;
	values[QUOIT_CORE_TILE_TICKS] += 250;
	put_totals();
	look();
	cr_expect_float_eq(f.tiles[1], 25, 1e-9);
	look();
	cr_expect_float_eq(f.tiles[1], 25, 1e-9, "it has not reported since");
	cr_expect_lt(f.tiles[3], 0, "there is no such core");
	values[QUOIT_CORE_AS_OF] += 1000;
	put_totals();
	look();
	cr_expect_float_eq(f.tiles[1], 0, 1e-9);
}

Test(follow, sessions_of_a_quoitd_whose_files_have_gone_are_closed)
{
	char path[128];

	look();
	expect(0, COLUMN_OF_STATE, "running");
	snprintf(path, sizeof path, "%s/" QUOIT_STATS_TOTALS, folder);
	cr_assert_eq(unlink(path), 0);
	cr_expect_eq(follow_read(&f, 0), -ENOENT);
	cr_expect_eq(f.row_count, 1, "the last reading stays");
	cr_expect_not(f.daemon_lives);
	cr_expect_not(f.want, "it is no shortage of ours");
	cr_expect_not(f.waiting);
	expect(0, COLUMN_OF_STATE, "closed");
}

/* As with a socket of systemd, which starts the next quoitd. */
Test(follow, a_dead_quoitd_whose_socket_is_listened_to_is_waited_for)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
	cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	cr_assert_eq(listen(listener, 1), 0);
	look();
	cr_expect(f.daemon_lives && !f.waiting);
	totals.header.daemon_pid = 0x7ffffffe; /* there is no such process */
	put_totals();
	look();
	cr_expect(!f.daemon_lives && f.waiting);
	close(listener);
	cr_assert_eq(follow_read(&f, 0), 0);
	cr_expect_not(f.waiting);
}

/* ---- latency ---- */

/* The jobs of session 1 that took so many ticks from their fetch to their end. */
static void put_latency(uint64_t ticks, uint64_t jobs)
{
	latency.count[QUOIT_PHASE_WHOLE][quoit_latency_bucket(ticks)] += jobs;
	latency.count[QUOIT_PHASE_RUN][quoit_latency_bucket(ticks)] += jobs;
	put(QUOIT_STATS_SESSIONS "/latency.1", &latency, sizeof latency);
}

static void make_latency(void)
{
	counters_case_latency(&latency);
	latency.session = 1;
	session.value[QUOIT_SESSION_BUSY_TICKS] = 1000 * SECOND; /* busy all the time */
	put_latency(1000, 90);
	put_session(1, 100, 1);
}

static void go_on(void)
{
	session.value[QUOIT_SESSION_BUSY_TICKS] += 1000 * SECOND;
	put_latency(50000, 10);
	put_session(1, 200, 2);
}

static void expect_near(double ns, double wanted)
{
	cr_expect_float_eq(ns, wanted, wanted / 50, "%g, not %g", ns, wanted);
}

Test(follow, the_limit_of_a_session_is_since_the_reading_before)
{
	make_latency();
	look();
	follow_look_at_latency(&f);
	expect_near(f.rows[0].limits.p50_ns, 1000);
	expect(0, COLUMN_OF_LIMIT, "run");
	go_on();
	look();
	follow_look_at_latency(&f);
	expect_near(f.rows[0].limits.p50_ns, 50000);
	look(); /* without a look at the latency */
	go_on();
	look();
	follow_look_at_latency(&f);
	expect_near(f.rows[0].limits.p50_ns, 1000);
}

Test(follow, each_session_has_the_limit_of_its_own_latency)
{
	make_latency();
	latency.session = 2;
	memset(latency.count, 0, sizeof latency.count);
	latency.count[QUOIT_PHASE_WHOLE][quoit_latency_bucket(3000)] = 1;
	put(QUOIT_STATS_SESSIONS "/latency.2", &latency, sizeof latency);
	put_session(2, 1, 1);
	look();
	follow_look_at_latency(&f);
	cr_assert_eq(f.row_count, 2);
	expect_near(f.rows[0].limits.p50_ns, 1000);
	expect_near(f.rows[1].limits.p50_ns, 3000);
}

Test(follow, the_chosen_session_has_its_growth_and_anew_all_of_it)
{
	make_latency();
	look();
	follow_choose(&f, 1);
	cr_assert(f.chosen.known);
	cr_expect_eq(f.chosen.session, 1);
	cr_expect_eq(latency_jobs(f.chosen.since, QUOIT_PHASE_WHOLE), 90);
	for (unsigned i = 0; i < 3; i++) {
		session.value[QUOIT_SESSION_AS_OF] += SECOND;
		put_latency(50000, 10 + i);
		put_session(1, 200 + i, 2 + i);
		look();
		follow_choose(&f, 1);
		cr_assert(f.chosen.known);
		cr_expect_eq(latency_jobs(f.chosen.since, QUOIT_PHASE_WHOLE), 10 + i);
		expect_near(f.chosen.span_ns, 1e9);
		expect_near(f.rows[0].limits.p50_ns, 50000);
	}
	chosen_forget(&f.chosen);
	follow_choose(&f, 1);
	cr_expect_eq(latency_jobs(f.chosen.since, QUOIT_PHASE_WHOLE), 90 + 10 + 11 + 12);
	put(QUOIT_STATS_SESSIONS "/latency.1", "damaged", 7);
	follow_choose(&f, 1);
	cr_expect_not(f.chosen.known);
}

/* ---- our own cost ---- */

/* The kernel counts it by and by. */
static uint64_t peak_bytes(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (uint64_t)r.ru_maxrss << 10;
}

static void work_for_ms(long ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* Beside others this program may get a small part of a core, so only the order is known. */
Test(machine, tells_what_top_itself_takes)
{
	static struct machine m;

	machine_open(&m);
	machine_read(&m);
	cr_expect_lt(m.own_percent, 0, "there was no reading before");
	cr_expect(m.own_bytes > peak_bytes() / 4 && m.own_bytes < 2 * peak_bytes(), "%lu of %lu",
		  m.own_bytes, peak_bytes());
	work_for_ms(50);
	machine_read(&m);
	cr_expect(m.own_percent > 0 && m.own_percent <= 101, "%f", m.own_percent);
	machine_close(&m);
}

Test(machine, nodes_have_memory_of_which_a_part_is_free)
{
	static struct machine m;
	unsigned nodes = 0;

	machine_open(&m);
	machine_read(&m);
	for (unsigned i = 0; i < MACHINE_NODES; i++)
		if (m.node[i].bytes > 0) {
			nodes++;
			cr_expect(m.node[i].free >= 0 && m.node[i].free <= m.node[i].bytes);
		}
	if (m.nodes)
		cr_expect_geq(nodes, 1);
	for (unsigned i = 0; i < MACHINE_CPUS; i++)
		cr_expect_leq(m.busy[i], 100.0);
	machine_close(&m);
}
