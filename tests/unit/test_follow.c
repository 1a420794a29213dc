/* SPDX-License-Identifier: MIT */
/* test_follow.c - quoit top's readings where quoitd's files have gone, and its own cost */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "top/follow.h"
#include "top/machine.h"

/* ---- quoitd ---- */

Test(follow, sessions_of_a_quoitd_whose_files_have_gone_are_closed)
{
	char folder[] = "/tmp/quoit-follow-XXXXXX", socket[64], text[FORMAT_CELL_BYTES];
	struct follow f;

	cr_assert(mkdtemp(folder));
	snprintf(socket, sizeof socket, "%s/socket", folder);
	cr_assert_eq(follow_open(&f, socket), 0);
	f.rows = calloc(2, sizeof *f.rows);
	f.row_count = 2;
	f.daemon_lives = f.rows[0].daemon_lives = f.rows[1].daemon_lives = true;
	cr_expect_eq(follow_read(&f, 0), -ENOENT);
	cr_expect_eq(f.row_count, 2, "the last reading stays");
	cr_expect_not(f.daemon_lives);
	cr_expect_not(f.want, "it is no shortage of ours");
	for (unsigned i = 0; i < 2; i++) {
		columns_text(&f.rows[i], COLUMN_OF_STATE, text, sizeof text);
		cr_expect_str_eq(text, "closed");
	}
	follow_close(&f);
	rmdir(folder);
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
