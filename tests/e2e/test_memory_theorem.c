/* SPDX-License-Identifier: MIT */
/*
 * test_memory_theorem.c - a program that runs one job at a time also runs with any number of jobs
 * in flight, and no other program does.
 *
 *	test_memory_theorem [--seed N] [--rounds N] [options of Criterion]
 *
 * If a real device is to be tested ($QUOIT_TEST_GPU), only the tests that need a device run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "daemon.h"
#include "device.h"
#include "theorem.h"

static uint64_t first_seed = 1;
/* Of the plain test; the others take a part of it.  With sanitizers a round takes three times as long. */
#ifdef QUOIT_SANITIZE
static uint64_t rounds = 75;
#else
static uint64_t rounds = 150;
#endif

/* Skip the test if this machine has fewer devices. */
static void skip_without(struct daemon *d, unsigned devices)
{
	struct quoit_open_params p = {.socket = d->socket};
	struct quoit_session *s;
	struct quoit_info info;

	cr_assert_eq(quoit_open(&p, &s), 0);
	quoit_get_info(s, &info);
	cr_assert_eq(quoit_close(s, 0), 0);
	if (info.devices >= devices)
		return;
	daemon_stop(d);
	cr_skip_test("there is one device");
}

/* option: of quoitd; NULL: none. */
static void run_rounds(uint64_t count, struct theorem_options options, const char *option)
{
	const char *all[] = {option, NULL};
	struct daemon d;
	bool good = true;

	if (!room_is_soft() && !options.devices)
		cr_skip_test("it needs no device");
	room_adapt(all);
	cr_assert_eq(daemon_start(&d, all), 0);
	if (!room_is_soft())
		skip_without(&d, options.devices);
	for (uint64_t i = 0; good && i < count; i++) {
		options.seed = first_seed + i;
		good = theorem_round(d.socket, &options, stderr);
	}
	daemon_stop(&d);
	cr_assert(good);
}

Test(memory_theorem, a_deep_queue_ends_as_one_job_at_a_time, .timeout = 600)
{
	run_rounds(rounds, (struct theorem_options){.steps = 300, .rings = 1}, NULL);
}

Test(memory_theorem, it_holds_for_what_is_promised_of_a_lease_that_grows, .timeout = 600)
{
	run_rounds(rounds / 3, (struct theorem_options){.steps = 300, .rings = 1, .growing = true},
		   "--memory=256M");
}

Test(memory_theorem, it_holds_with_few_entries_for_jobs, .timeout = 600)
{
	run_rounds(rounds / 3, (struct theorem_options){.steps = 300, .rings = 1}, "--max-jobs=64");
}

Test(memory_theorem, rings_that_fit_together_never_lack_bytes, .timeout = 600)
{
	run_rounds(rounds / 3, (struct theorem_options){.steps = 200, .rings = 3}, NULL);
}

Test(memory_theorem, cancels_and_deadlines_change_only_what_depends_on_them, .timeout = 600)
{
	run_rounds(rounds / 3, (struct theorem_options){.steps = 300, .rings = 1, .cancels = true},
		   NULL);
}

/* ---- with a device ---- */

Test(memory_theorem, it_holds_on_a_device_and_between_it_and_the_host, .timeout = 600)
{
	run_rounds(rounds / 2, (struct theorem_options){.steps = 300, .rings = 1, .devices = 1},
		   "--gpu=soft");
}

Test(memory_theorem, rings_that_fit_together_never_lack_bytes_on_a_device, .timeout = 600)
{
	run_rounds(rounds / 3, (struct theorem_options){.steps = 200, .rings = 3, .devices = 1},
		   "--gpu=soft");
}

Test(memory_theorem, cancels_change_only_what_depends_on_them_on_a_device, .timeout = 600)
{
	run_rounds(
		rounds / 3,
		(struct theorem_options){.steps = 300, .rings = 1, .devices = 1, .cancels = true},
		"--gpu=soft");
}

/* ---- with two devices ---- */

Test(memory_theorem, it_holds_between_two_devices, .timeout = 600)
{
	run_rounds(rounds / 2, (struct theorem_options){.steps = 300, .rings = 1, .devices = 2},
		   "--gpu=soft:2");
}

Test(memory_theorem, cancels_change_only_what_depends_on_them_between_devices, .timeout = 600)
{
	run_rounds(
		rounds / 3,
		(struct theorem_options){.steps = 200, .rings = 2, .devices = 2, .cancels = true},
		"--gpu=soft:2");
}

/* Remove our options from the command line. */
static int own_options(int argc, char **argv)
{
	int kept = 1;

	for (int i = 1; i < argc; i++) {
		if (i + 1 < argc && !strcmp(argv[i], "--seed"))
			first_seed = strtoull(argv[++i], NULL, 0);
		else if (i + 1 < argc && !strcmp(argv[i], "--rounds"))
			rounds = strtoull(argv[++i], NULL, 0);
		else
			argv[kept++] = argv[i];
	}
	argv[kept] = NULL;
	return kept;
}

int main(int argc, char **argv)
{
	struct criterion_test_set *tests = criterion_initialize();
	int result = 0;

	argc = own_options(argc, argv);
	if (criterion_handle_args(argc, argv, true))
		result = !criterion_run_all_tests(tests);
	criterion_finalize(tests);
	return result;
}
