/* SPDX-License-Identifier: MIT */
/* test_topo.c - quoit topo: quoitd's own words, and a table of its reactors */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* ---- what a dead quoitd has left ---- */

static void write_at(const struct daemon *d, const char *name, size_t at, const void *bytes,
		     size_t size)
{
	char path[160];
	int fd;

	snprintf(path, sizeof path, "%s/%s", d->folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(pwrite(fd, bytes, size, (off_t)at), (ssize_t)size);
	close(fd);
}

#define SET(d, member, number)                                                                     \
	write_at(d, QUOIT_STATS_TOTALS, offsetof(struct quoit_totals, member),                     \
		 &(const uint64_t){number}, sizeof(uint64_t))

static void set_node(const struct daemon *d, int32_t node)
{
	write_at(d, QUOIT_STATS_TOTALS, offsetof(struct quoit_totals, reactor[1].node), &node,
		 sizeof node);
}

Test(topo, of_clients_whose_node_is_not_known_it_says_what_follows)
{
	const char *options[] = {"--reactors=2", NULL};
	struct daemon d;

	cr_assert_eq(daemon_start(&d, options), 0);
	daemon_kill(&d);
	SET(&d, value[QUOIT_DAEMON_CLIENTS_NOWHERE], 0);
	run(&d);
	cr_expect_null(strstr(said, "could not be known"), "%s", said);
	SET(&d, value[QUOIT_DAEMON_CLIENTS_NOWHERE], 3);
	set_node(&d, daemon_totals(&d)->reactor[0].node);
	run(&d);
	cr_expect(strstr(said, "\nsessions whose client's node could not be known: 3; there is one "
			       "to choose from"),
		  "%s", said);
	set_node(&d, daemon_totals(&d)->reactor[0].node + 1);
	run(&d);
	cr_expect(strstr(said, "known: 3; they were placed near no client"), "%s", said);
	daemon_stop(&d);
}

Test(topo, figures_are_each_below_their_title_and_parts_of_an_unknown_time_are_dashes)
{
	const char *options[] = {"--reactors=1", NULL};
	struct daemon d;
	char line[9][24];

	cr_assert_eq(daemon_start(&d, options), 0);
	daemon_kill(&d);
	SET(&d, reactor[0].value[QUOIT_REACTOR_SESSIONS], 11);
	SET(&d, reactor[0].value[QUOIT_REACTOR_JOBS], 22);
	SET(&d, reactor[0].value[QUOIT_REACTOR_LOOPS], 33);
	SET(&d, reactor[0].value[QUOIT_REACTOR_SLEEPS], 44);
	run(&d);
	cr_assert_eq(sscanf(table(), "%23s %23s %23s %23s %23s %23s %23s %23s %23s", line[0],
			    line[1], line[2], line[3], line[4], line[5], line[6], line[7], line[8]),
		     9);
	cr_expect_str_eq(line[0], "0");
	cr_expect_str_eq(line[3], "11");
	cr_expect_str_eq(line[4], "22");
	cr_expect_str_eq(line[5], "33");
	cr_expect_str_eq(line[6], "44");
	cr_expect_str_eq(line[7], "-");
	cr_expect_str_eq(line[8], "-");
	daemon_stop(&d);
}

Test(topo, no_byte_of_the_words_reaches_the_terminal_unless_it_can_be_printed)
{
	struct daemon d;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	daemon_kill(&d);
	write_at(&d, QUOIT_STATS_TOPOLOGY, 0, "\x1b[1m\x7f ~\xff", 8);
	run(&d);
	cr_expect(strstr(said, "?[1m? ~?"), "%s", said);
	cr_expect_null(strchr(said, '\x1b'));
	daemon_stop(&d);
}
