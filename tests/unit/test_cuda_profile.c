/* SPDX-License-Identifier: MIT */
/* test_cuda_profile.c - what a profiler is told about an NVIDIA device's jobs, without a device */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <quoit/exec.h>

#include "profile.h"

static char heard[16384];

/* The profiler is tests/modules/nvtx/nvtx_notes.c. */
static void attach(char *notes)
{
	const char *build = getenv("QUOIT_BUILD");
	char path[4096], library[4096];
	int fd = mkstemp(notes);

	cr_assert_geq(fd, 0);
	close(fd);
	snprintf(path, sizeof path, "%s/modules/nvtx_notes.so", build ? build : "build");
	cr_assert(realpath(path, library), "%s", path);
	setenv("NVTX_INJECTION64_PATH", library, 1);
	setenv("QUOIT_NVTX_NOTES", notes, 1);
}

static void read_notes(const char *notes)
{
	FILE *f = fopen(notes, "re");

	cr_assert(f);
	heard[fread(heard, 1, sizeof heard - 1, f)] = '\0';
	fclose(f);
	unlink(notes);
}

/* Two jobs of which the first one ends last, as in two streams. */
Test(cuda_profile, a_job_is_a_range_with_its_operation_its_session_and_its_number)
{
	char notes[] = "/tmp/quoit-nvtx.XXXXXX", add[160], gemm[160];
	struct profile p;
	uint64_t first, second;

	attach(notes);
	profile_open(&p);
	cr_assert(p.domain, "the profiler was not loaded");
	first = profile_range_begin(&p, QUOIT_OP_ADD, QUOIT_EXEC_JOB(3, 1, 77));
	second = profile_range_begin(&p, QUOIT_OP_GEMM, QUOIT_EXEC_JOB(4, 0, 5));
	profile_range_end(&p, second);
	profile_range_end(&p, first);
	profile_close(&p);
	read_notes(notes);
	snprintf(add, sizeof add, "begin 1 quoit add category %u payload %llu\n", QUOIT_OP_ADD + 1,
		 3ull << 40 | 1ull << 32 | 77);
	snprintf(gemm, sizeof gemm, "begin 2 quoit gemm category %u payload %llu\nend 2\nend 1\n",
		 QUOIT_OP_GEMM + 1, 4ull << 40 | 5);
	cr_expect(strstr(heard, add), "%s", heard);
	cr_expect(strstr(heard, gemm), "%s", heard);
	snprintf(add, sizeof add, "category %u add\n", QUOIT_OP_ADD + 1);
	cr_expect(strstr(heard, add), "%s", heard);
}

Test(cuda_profile, what_is_put_into_a_stream_is_a_range_by_name)
{
	char notes[] = "/tmp/quoit-nvtx.XXXXXX";
	struct profile p;

	attach(notes);
	profile_open(&p);
	profile_begin(&p, PROFILE_COPY_IN);
	profile_end(&p);
	profile_close(&p);
	read_notes(notes);
	cr_expect(strstr(heard, "push quoit copy_in\npop\n"), "%s", heard);
}

Test(cuda_profile, without_a_profiler_there_is_no_domain)
{
	struct profile p;

	unsetenv("NVTX_INJECTION64_PATH");
	profile_open(&p);
	cr_expect_null(p.domain);
	profile_begin(&p, QUOIT_OP_ADD);
	profile_end(&p);
	profile_close(&p);
}
#else
Test(cuda_profile, what_a_profiler_hears)
{
	cr_skip_test("no CUDA toolkit here");
}
#endif
