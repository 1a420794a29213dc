/* SPDX-License-Identifier: MIT */
/*
 * test_device_ranges.c - a device's profiler is told the session, ring and index of each job, and
 * when it ends
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/exec.h>

#include "device.h"

TestSuite(device_ranges, .timeout = 60);

static char heard[4096];

static void read_ranges(const char *path)
{
	FILE *f = fopen(path, "re");

	cr_assert(f, "there is no profiler");
	heard[fread(heard, 1, sizeof heard - 1, f)] = '\0';
	fclose(f);
	unlink(path);
}

/* The second job of the second ring; the first one made its tensor. */
Test(device_ranges, a_job_is_named_by_its_session_its_ring_and_its_index)
{
	char path[] = "/tmp/quoit-ranges.XXXXXX", line[128];
	struct device_room r;
	struct quoit_info info;
	quoit_tensor x;

	if (!room_is_soft())
		cr_skip_test("it is the soft device's profiler");
	close(mkstemp(path));
	setenv("QUOIT_SOFT_RANGES", path, 1);
	r = room_open("--gpu=soft:1", 16);
	x = quoit_create_vector(r.d, QUOIT_F32, 64);
	cr_assert_eq(quoit_push(r.d, quoit_fill(x, 1.0)), 0);
	cr_assert_eq(quoit_wait_all(r.d, 20000), 0);
	quoit_get_info(r.s, &info);
	read_ranges(path);
	snprintf(line, sizeof line, "begin 1 operation %u job %llu\nend 1\n", QUOIT_OP_FILL,
		 (unsigned long long)QUOIT_EXEC_JOB(info.session, 1, 1));
	cr_expect_str_eq(heard, line);
	room_close(&r);
}
