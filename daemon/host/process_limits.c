/* SPDX-License-Identifier: MIT */
/* process_limits.c - setrlimit(2): raised, asked, explained */
#include "process_limits.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Fewer would hold no session of the least default lease (16 MiB). */
#define LEAST_BYTES (UINT64_C(128) << 20)

/*
 * A session reserves addresses, in one file of memory, for some 64 times its lease, and a default
 * lease is a 64th of --memory.  So many such sessions are to have room.
 */
#define SESSIONS 8u

struct limit {
	__rlimit_resource_t resource;
	int err; /* what a call says that meets it */
	const char *name, *of, *ulimit, *unit;
	uint64_t per; /* bytes, or things, of what `of` counts */
};

static const struct limit limits[] = {
	{RLIMIT_FSIZE, EFBIG, "RLIMIT_FSIZE", "KiB of a file", "-f", "LimitFSIZE", 1024},
	{RLIMIT_AS, ENOMEM, "RLIMIT_AS", "KiB", "-v", "LimitAS", 1024},
	{RLIMIT_DATA, ENOMEM, "RLIMIT_DATA", "KiB", "-d", "LimitDATA", 1024},
	{RLIMIT_NOFILE, EMFILE, "RLIMIT_NOFILE", "descriptors", "-n", "LimitNOFILE", 1},
	/* A thread's stack, too, is memory: where there is none for it the C library says EAGAIN.
	 */
	{RLIMIT_AS, EAGAIN, "RLIMIT_AS", "KiB", "-v", "LimitAS", 1024},
	{RLIMIT_DATA, EAGAIN, "RLIMIT_DATA", "KiB", "-d", "LimitDATA", 1024},
	{RLIMIT_NPROC, EAGAIN, "RLIMIT_NPROC", "threads", "-u", "LimitNPROC", 1},
};

#define LIMITS (sizeof limits / sizeof limits[0])

void process_limits_raise(void)
{
	struct rlimit limit;

	for (size_t i = 0; i < LIMITS; i++) {
		if (getrlimit(limits[i].resource, &limit) < 0)
			continue;
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(limits[i].resource, &limit);
	}
	(void)signal(SIGXFSZ, SIG_IGN);
}

/* As much as where nobody has changed RLIMIT_STACK. */
#define STACK_BYTES ((size_t)8 << 20)

void process_limits_set_stacks(void)
{
	pthread_attr_t attr;

	if (pthread_attr_init(&attr) != 0)
		return;
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	(void)pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

/*
 * Of the 128 TiB that a process has, half is for these; of it, a session may take a 256th of what
 * is left, which is enough for a lease of 4 GiB at first, and for 200 MiB behind five hundred of
 * these.  Where addresses are scarce, fewer sessions are to have room for more.
 *
 * Among several users, each has a quarter of its own, from which the first session takes as much,
 * and each further one the same part of what is left there, or at least an 8192nd of all, which is
 * enough for 128 MiB.  So the thousand connections that a user has by default take three eighths of
 * all, and two users who do so take nothing from the others: only where less is left than a
 * quarter has another session less.
 */
#ifdef __SANITIZE_THREAD__ /* which keeps most for itself */
#define SPAN_BYTES (UINT64_C(1) << 39)
#else
#define SPAN_BYTES (UINT64_C(1) << 46)
#endif
#define SPAN_PART        256u
#define SPAN_PART_SCARCE 16u
#define SPAN_QUARTER     4u
#define SPAN_LEAST_PART  8192u

static uint64_t soft(__rlimit_resource_t resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY
		       ? UINT64_MAX
		       : (uint64_t)limit.rlim_cur;
}

uint64_t process_limits_memory(void)
{
	uint64_t file = soft(RLIMIT_FSIZE), addresses = soft(RLIMIT_AS);
	uint64_t bytes = addresses == UINT64_MAX ? file : addresses / SESSIONS;

	bytes = file < bytes ? file : bytes;
	return bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t left_of(uint64_t all, uint64_t taken)
{
	return taken < all ? all - taken : 0;
}

uint64_t process_limits_span(uint64_t taken, uint64_t of_user, bool one_user)
{
	uint64_t addresses = soft(RLIMIT_AS) / 2, all = lesser(addresses, SPAN_BYTES), span, least;
	uint64_t part = addresses < SPAN_BYTES ? SPAN_PART_SCARCE : SPAN_PART;

	if (one_user)
		return lesser(left_of(all, taken) / part, soft(RLIMIT_FSIZE));
	part /= SPAN_QUARTER;
	span = left_of(all / SPAN_QUARTER, of_user) / part;
	/* Not of what is left for others, once half is gone. */
	least = taken < all / 2 ? all / SPAN_LEAST_PART : 0;
	span = lesser(span > least ? span : least, left_of(all, taken) / part);
	return lesser(span, soft(RLIMIT_FSIZE));
}

/* Each mapping counts: how many there are, and may be; false: far from it. */
static bool has_all_maps(unsigned long *ret_most)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned long maps = 0;
	int c;

	*ret_most = 0;
	if (f) {
		if (fscanf(f, "%lu", ret_most) != 1)
			*ret_most = 0;
		fclose(f);
	}
	f = fopen("/proc/self/maps", "re");
	while (f && (c = getc(f)) != EOF)
		maps += c == '\n';
	if (f)
		fclose(f);
	return *ret_most && maps + maps / 16 >= *ret_most;
}

void process_limits_explain(int err, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%s", strerror(-err));
	unsigned long most;

	for (size_t i = 0; i < LIMITS && n >= 0 && (size_t)n < size; i++) {
		uint64_t value = soft(limits[i].resource);

		if (limits[i].err == -err && value != UINT64_MAX)
			n += snprintf(ret + n, size - (size_t)n,
				      "; %s allows %llu %s (ulimit %s, %s=)", limits[i].name,
				      (unsigned long long)(value / limits[i].per), limits[i].of,
				      limits[i].ulimit, limits[i].unit);
	}
	if (err == -ENOMEM && n >= 0 && (size_t)n < size && has_all_maps(&most))
		snprintf(ret + n, size - (size_t)n,
			 "; all %lu mappings are used (sysctl vm.max_map_count)", most);
}
