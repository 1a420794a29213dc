/* SPDX-License-Identifier: MIT */
/* hello_limits.c - works out what a session may have: its lease, arena, tables and devices */
#include "hello_limits.h"

#include <stdio.h>

#include "base/process_limits.h"

#define DEFAULT_TENSORS 16384u

/*
 * A session that asks for no lease is promised this part of what its user may have, so that a
 * thousand such sessions fit, with their tables.  It is promised at most MOST_PROMISED and at least
 * HELLO_LEAST_BYTES.
 */
#define PROMISE_PART  4096u
#define MOST_PROMISED (UINT64_C(16) << 20)

/* The arena is this part of a lease, unless the client asks for another size. */
#define ARENA_PART 8u

/* A CQE counts pages of the shared region in 31 bits. */
#define SHARED_MOST (UINT64_C(1) << 43)

/* A session starts with tables for so many jobs in flight; it asks for more when it needs them. */
#define FIRST_JOBS 256u

static uint64_t whole_pages(uint64_t bytes)
{
	return bytes > UINT64_MAX - PAGE_BYTES
		       ? bytes & ~(uint64_t)(PAGE_BYTES - 1)
		       : (bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

static bool is_clean_name(const char name[QUOIT_NAME_BYTES])
{
	unsigned n = 0;

	while (n < QUOIT_NAME_BYTES && name[n]) {
		if (name[n] < ' ' || name[n] > '~')
			return false;
		n++;
	}
	if (n == QUOIT_NAME_BYTES)
		return false;
	for (; n < QUOIT_NAME_BYTES; n++)
		if (name[n])
			return false;
	return true;
}

static void say_no_device(const struct control *control, uint64_t bytes, char *text, size_t size)
{
	int n = snprintf(text, size,
			 "%llu bytes on a device, but there is none: ", (unsigned long long)bytes);

	executors_missing(control->executors, control->gpu, text + n, size - (size_t)n);
}

/*
 * Devices are shared: a job may be predicted to take this part of gpu-ms alone, so that it ends in
 * time beside others, too.
 */
#define JOB_PART 4u

static void describe_devices(const struct control *control, struct session_limits *ret)
{
	ret->devices = executors_devices(control->executors);
	ret->first_device = control->config->modules;
	ret->device_job_ns = control->config->gpu_ms * (UINT64_C(1000000) / JOB_PART);
	for (uint32_t i = 0; i < ret->devices; i++) {
		const struct quoit_device_info *d = executors_device(control->executors, i + 1);

		ret->speed[i] = (struct device_speed){d->units, d->flags};
	}
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The fewest parts of the tables that hold FIRST_JOBS jobs. */
static uint32_t first_parts(uint32_t max_jobs)
{
	uint32_t parts = 1;

	while (parts < TABLE_PARTS && max_jobs / TABLE_PARTS * parts < FIRST_JOBS)
		parts *= 2;
	return parts;
}

/* A lease can grow to three quarters of what its user may have, as far as there are addresses. */
static uint64_t most_lease(const struct connection *c, const struct session_limits *limits)
{
	uint64_t most = budget_memory_alone(c->control->budget, c->uid) / 4 * 3;
	const struct user *user = users_find(&c->control->users, c->uid);
	uint64_t span = process_limits_span(c->control->span, user ? user->span : 0,
					    c->control->config->is_private);
	struct session_limits trial = *limits;

	if (most >= REGION_LEASE_END)
		most = REGION_LEASE_END - 1;
	for (trial.host_most = most; trial.host_most > limits->host_bytes;
	     trial.host_most -= trial.host_most / 8)
		if (session_span(&trial) <= span)
			return trial.host_most & ~(uint64_t)(PAGE_BYTES - 1);
	return limits->host_bytes;
}

static uint64_t most_arena(const struct session_limits *limits)
{
	uint64_t most = limits->host_most / ARENA_PART & ~(uint64_t)(PAGE_BYTES - 1);

	return most > limits->arena_bytes ? most : limits->arena_bytes;
}

/*
 * The client asks for no lease: it is promised a part, plus the memory that it names, and the lease
 * grows (lease.h).
 */
static void choose_growth(const struct connection *c, const struct quoit_hello *h,
			  const struct user_rule *may, struct session_limits *ret)
{
	uint64_t promise = budget_memory_alone(c->control->budget, c->uid) / PROMISE_PART;

	promise = promise > MOST_PROMISED ? MOST_PROMISED : promise;
	promise = whole_pages(promise < HELLO_LEAST_BYTES ? HELLO_LEAST_BYTES : promise);
	ret->arena_bytes = whole_pages(h->arena_bytes ? h->arena_bytes : promise / ARENA_PART);
	ret->host_bytes = add(add(promise, add(ret->pinned_bytes, ret->shared_bytes)),
			      h->arena_bytes ? ret->arena_bytes : 0);
	if (!h->max_tensors)
		ret->table_parts = first_parts(ret->max_jobs);
	ret->host_most = most_lease(c, ret);
	ret->host_soft = may->value[RULE_LEASE] & ~(uint64_t)(PAGE_BYTES - 1);
	if (ret->host_soft > ret->host_most)
		ret->host_soft = ret->host_most;
	if (ret->host_soft < ret->host_bytes)
		ret->host_soft = ret->host_bytes;
	if (!h->arena_bytes)
		ret->arena_most = most_arena(ret);
}

/* The client's memfd begins with the shared region. */
static void add_shared(struct session_limits *ret)
{
	ret->arena_bytes = add(ret->arena_bytes, ret->shared_bytes);
	if (ret->arena_most)
		ret->arena_most = add(ret->arena_most, ret->shared_bytes);
}

bool hello_limits(const struct connection *c, const struct quoit_hello *h,
		  struct session_limits *ret, char *text, size_t size)
{
	const struct control *control = c->control;
	const struct budget_user *user = budget_of(control->budget, c->uid);
	const struct config *config = control->config;

	*ret = (struct session_limits){0};
	describe_devices(control, ret);
	ret->device_bytes = whole_pages(h->device_bytes ? h->device_bytes : control->device_lease);
	ret->host_bytes = whole_pages(h->host_bytes ? h->host_bytes : user->may.value[RULE_LEASE]);
	ret->arena_bytes =
		whole_pages(h->arena_bytes ? h->arena_bytes : ret->host_bytes / ARENA_PART);
	ret->pinned_bytes = whole_pages(h->pinned_bytes);
	ret->shared_bytes = whole_pages(h->shared_bytes);
	ret->max_tensors = h->max_tensors ? h->max_tensors : DEFAULT_TENSORS;
	if (ret->max_tensors > config->max_tensors && !h->max_tensors)
		ret->max_tensors = (uint32_t)config->max_tensors;
	ret->max_jobs = (uint32_t)config->max_jobs;
	ret->eager = config->eager;
	ret->direct = h->features & QUOIT_FEATURE_DIRECT;
	if (user->may.grows && !h->host_bytes && !ret->eager)
		choose_growth(c, h, &user->may, ret);
	add_shared(ret);
	if (ret->host_bytes < HELLO_LEAST_BYTES)
		snprintf(text, size, "a lease of %llu bytes is too small: at least %llu are needed",
			 (unsigned long long)ret->host_bytes,
			 (unsigned long long)HELLO_LEAST_BYTES);
	else if (ret->arena_bytes > ret->host_bytes ||
		 ret->pinned_bytes > ret->host_bytes - ret->arena_bytes)
		snprintf(
			text, size,
			"arena (%llu bytes), shared (%llu) and pinned memory (%llu) exceed the lease "
			"(%llu)",
			(unsigned long long)(ret->arena_bytes - ret->shared_bytes),
			(unsigned long long)ret->shared_bytes,
			(unsigned long long)ret->pinned_bytes, (unsigned long long)ret->host_bytes);
	else if (ret->shared_bytes > SHARED_MOST)
		snprintf(text, size, "shared_bytes is %llu: at most %llu are allowed",
			 (unsigned long long)ret->shared_bytes, (unsigned long long)SHARED_MOST);
	else if (ret->max_tensors < 2 || ret->max_tensors > config->max_tensors)
		snprintf(text, size, "max_tensors is %u: allowed are 2 to %llu", ret->max_tensors,
			 (unsigned long long)config->max_tensors);
	else if (h->device_bytes && !ret->devices)
		say_no_device(control, h->device_bytes, text, size);
	else if (!is_clean_name(h->name))
		snprintf(text, size,
			 "the session's name must be printable ASCII, filled up with zeros");
	else
		return true;
	return false;
}
