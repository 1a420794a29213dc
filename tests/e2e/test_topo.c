/* SPDX-License-Identifier: MIT */
/* test_topo.c - quoit topo: quoitd's own words, and a table of its reactors */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "client.h"
#include "daemon.h"
#include "tool.h"

TestSuite(topo, .timeout = 60);

#define TRIES 300

static char said[65536], wanted[32768];

static void run(const struct daemon *d)
{
	cr_assert_eq(tool_run(said, sizeof said, "topo --socket=%s", d->socket), 0, "%s", said);
}

static const char *table(void)
{
	const char *at = strstr(said, "\nREACTOR CPU NODE SESSIONS JOBS");

	cr_assert(at, "%s", said);
	return strchr(at + 1, '\n') + 1;
}

/* The file beside the socket. */
Test(topo, begins_with_the_words_of_quoitd)
{
	const char *options[] = {"--reactors=1", NULL};
	struct daemon d;

	cr_assert_eq(daemon_start(&d, options), 0);
	daemon_topology(&d, wanted, sizeof wanted);
	cr_assert_gt(strlen(wanted), 10);
	run(&d);
	cr_expect_eq(strncmp(said, wanted, strlen(wanted)), 0, "printed:\n%swanted:\n%s", said,
		     wanted);
	daemon_stop(&d);
}

Test(topo, a_reactor_has_its_core_its_sessions_and_its_parts_of_the_time)
{
	const char *options[] = {"--reactors=1", NULL};
	struct client c;
	unsigned reactor, cpu;
	char node[8], jobs[24], loops[24], sleeps[24];
	double work, poll;
	int sessions = -1;

	client_open(&c, options, NULL);
	/* The reactor copies its counters out now and then. */
	for (unsigned i = 0; i < TRIES && sessions != 1; i++) {
		run(&c.d);
		cr_assert_eq(sscanf(table(), "%u %u %7s %d %23s %23s %23s %lf %lf", &reactor, &cpu,
				    node, &sessions, jobs, loops, sleeps, &work, &poll),
			     9, "%s", table());
	}
	cr_expect_eq(reactor, 0);
	cr_expect_eq(sessions, 1);
	cr_expect(work >= 0 && poll >= 0 && work + poll <= 101, "%f %f", work, poll);
	client_close(&c);
}
