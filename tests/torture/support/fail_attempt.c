/* SPDX-License-Identifier: MIT */
/* fail_attempt.c - choose the calls that are tried, and their errnos */
#include "fail_attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const names[FAIL_NR] = {
#define NAME(name, lasting, ...) #name,
	FAIL_CALLS(NAME)
#undef NAME
};

static struct fail_plan *plan;
static char plan_path[64] = "/tmp/quoit-fail-XXXXXX";

const struct fail_plan *attempt_plan(void)
{
	return plan;
}

bool attempt_make_plan(void)
{
	int fd = mkstemp(plan_path);
	void *map = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof *plan))
		map = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	plan = map;
	return map != MAP_FAILED;
}

void attempt_arm(const struct attempt *a)
{
	plan->nth = a->nth;
	plan->sticky = a->sticky;
	plan->count = plan->failed = 0;
	plan->calls = a->calls;
}

void attempt_disarm(void)
{
	plan->calls = 0;
}

/* Try every call with each of its errnos, from a first one on; returns how many have failed. */
static uint64_t try_every(struct stage *s, struct attempt a)
{
	uint64_t failed = 0;
	bool any;

	do {
		any = false;
		for (uint32_t i = 0; !s->bad && i < FAIL_ERRNOS; i++) {
			plan->pick = i;
			any |= a.try(s, &a);
		}
		failed += any;
		a.nth++;
	} while (any && !s->bad);
	return failed;
}

/* Try the first call of each function, and others two to three times as far as the one before. */
static uint64_t try_each_function(struct stage *s, struct attempt a)
{
	const uint64_t calls = a.calls;
	uint64_t failed = 0;

	for (unsigned call = 0; call < FAIL_NR; call++) {
		a.calls = calls & FAIL_BIT(call);
		a.nth = 1;
		plan->count = a.calls ? 1 : 0;
		while (a.nth <= plan->count && !s->bad) {
			plan->pick = stage_random(s, UINT16_MAX);
			failed += a.try(s, &a);
			a.nth = a.nth * 2 + stage_random(s, (uint32_t)a.nth);
		}
	}
	return failed;
}

/* Try calls that are at most this far apart. */
static uint64_t try_sample(struct stage *s, struct attempt a)
{
	uint64_t failed = 0;

	plan->pick = 0;
	while (!s->bad && a.try(s, &a)) {
		failed++;
		plan->pick = stage_random(s, UINT16_MAX);
		a.nth += 1 + stage_random(s, a.apart);
	}
	return failed;
}

uint64_t attempt_all(struct stage *s, struct attempt first)
{
	if (s->times)
		return try_every(s, first);
	return first.apart ? try_sample(s, first) : try_each_function(s, first);
}

const char *attempt_text(uint64_t nth, char *text, size_t size)
{
	snprintf(text, size, "call %lu (%s, %s)", (unsigned long)nth, names[plan->last],
		 strerrorname_np(plan->error));
	return text;
}

/*
 * A sanitizer's runtime aborts if another library comes before it, unless it is told to allow that.
 */
void attempt_preload(const struct daemon *d)
{
	const char *build = getenv("QUOIT_BUILD"), *options = getenv("ASAN_OPTIONS");
	char path[300], asan[500];

	(void)d;
	snprintf(asan, sizeof asan, "%s:verify_asan_link_order=0", options ? options : "");
	setenv("ASAN_OPTIONS", asan, 1);
	snprintf(path, sizeof path, "%s/modules/fail_calls.so", build ? build : "build");
	setenv("LD_PRELOAD", path, 1);
	setenv("FAIL_CALLS", plan_path, 1);
}

void attempt_done(void)
{
	unlink(plan_path);
}
