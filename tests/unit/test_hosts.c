/* SPDX-License-Identifier: MIT */
/* test_hosts.c - the host names by which the exporter may be asked */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "exporter/hosts.h"

static struct hosts hosts_with(const char *own, const char *name)
{
	struct hosts h;

	hosts_init(&h);
	snprintf(h.own, sizeof h.own, "%s", own);
	if (name)
		cr_assert(hosts_add(&h, name));
	return h;
}

Test(hosts, addresses_localhost_the_machine_and_what_was_added_are_answered)
{
	static const char *const good[] = {"127.0.0.1",     "127.0.0.1:19684", "[::1]",
					   "[fe80::1]:80",  "localhost",       "LocalHost:1",
					   "box",           "BOX.:19684",      "mon.example",
					   "mon.example:9", "8.8.8.8"};
	const struct hosts h = hosts_with("box", "mon.example");

	cr_expect(hosts_has(&h, NULL), "no browser asks so");
	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++)
		cr_expect(hosts_has(&h, good[i]), "%s", good[i]);
}

Test(hosts, others_are_not)
{
	static const char *const bad[] = {"",
					  ":80",
					  "evil.example",
					  "evil.example:19684",
					  "127.0.0.1.x",
					  "127.1",
					  "0x7f.0.0.1",
					  "2130706433",
					  "[::1",
					  "[]",
					  "[box]",
					  "boxer",
					  "bo",
					  "localhost.x",
					  "[127.0.0.1]",
					  "mon.example.x",
					  ".",
					  "box box"};
	const struct hosts h = hosts_with("box", "mon.example");
	char longest[2000];

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		cr_expect_not(hosts_has(&h, bad[i]), "%s", bad[i]);
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	cr_expect_not(hosts_has(&h, longest));
}

Test(hosts, a_machine_without_a_name_is_not_everybody)
{
	const struct hosts h = hosts_with("", NULL);

	cr_expect_not(hosts_has(&h, ""));
	cr_expect_not(hosts_has(&h, ":19684"));
	cr_expect_not(hosts_has(&h, "."));
}

Test(hosts, only_names_are_added_and_not_too_many)
{
	struct hosts h = hosts_with("box", NULL);
	char longest[300];

	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	cr_expect_not(hosts_add(&h, ""));
	cr_expect_not(hosts_add(&h, "a b"));
	cr_expect_not(hosts_add(&h, "a:1"));
	cr_expect_not(hosts_add(&h, longest));
	for (int i = 0; i < HOSTS_MOST; i++)
		cr_expect(hosts_add(&h, "a-1_b.example"));
	cr_expect_not(hosts_add(&h, "one.more"));
}
