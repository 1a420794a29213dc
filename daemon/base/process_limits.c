/* SPDX-License-Identifier: MIT */
/* process_limits.c - raises, reads and explains limits (setrlimit(2)) */
#include "process_limits.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* With less, no session with the least default lease (16 MiB) would fit. */
#define LEAST_BYTES (UINT64_C(128) << 20)

/*
 * A session reserves addresses, in one file of memory, for some 64 times its lease, and the default
 * lease is a 64th of --memory.  So many such sessions must fit.
 */
#define SESSIONS 8u

struct limit {
	__rlimit_resource_t resource;
	int err; /* the error of a call that meets the limit */
	const char *name, *of, *ulimit, *unit;
	uint64_t per; /* bytes, or things, in one of what `of` counts */
};

static const struct limit limits[] = {
	{RLIMIT_FSIZE, EFBIG, "RLIMIT_FSIZE", "KiB of a file", "-f", "LimitFSIZE", 1024},
	{RLIMIT_AS, ENOMEM, "RLIMIT_AS", "KiB", "-v", "LimitAS", 1024},
	{RLIMIT_DATA, ENOMEM, "RLIMIT_DATA", "KiB", "-d", "LimitDATA", 1024},
	{RLIMIT_NOFILE, EMFILE, "RLIMIT_NOFILE", "descriptors", "-n", "LimitNOFILE", 1},
	/* A thread's stack is memory, too: without room for it, the C library says EAGAIN. */
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

/* The usual RLIMIT_STACK. */
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
 * Half of the 128 TiB of addresses that a process has are for regions.  A session may take a 256th
 * of what is left of them.  That is enough for a lease of 4 GiB at first, and for half a GiB after
 * five hundred such sessions.  If addresses are scarce, a session may take a larger part: fewer
 * sessions, with more room each.
 *
 * Among several users, each user has a quarter for itself.  Its first session takes as much as
 * above, each further one the same part of what is left of the quarter, but at least an 8192nd of
 * all, which is enough for 128 MiB.  So the thousand connections that a user has by default take at
 * most three eighths of all, and two such users take nothing from the others: a session gets less
 * only when less than a quarter of all is left.
 */
#ifdef __SANITIZE_THREAD__ /* the sanitizer keeps most for itself */
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

/* Are nearly all mappings used that the kernel allows?  *ret_most: how many those are. */
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

struct process_limits_words process_limits_words(int err)
{
	struct process_limits_words words;

	process_limits_explain(err, words.text, sizeof words.text);
	return words;
}
