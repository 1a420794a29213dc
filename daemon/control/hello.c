/* SPDX-License-Identifier: MIT */
/* hello.c - opens sessions: checks the version, leases memory, chooses the reactor */
#include "hello.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hang_injection.h"
#include "base/log.h"
#include "base/process_limits.h"
#include "base/tsc.h"
#include "charge.h"
#include "memory/bind.h"
#include "observe/legs.h"
#include "observe/session_stats.h"
#include "ops/optable.h"
#include "recorder.h"

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

/* A session starts with tables for so many jobs in flight; it asks for more when it needs them. */
#define FIRST_JOBS 256u

static uint64_t whole_pages(uint64_t bytes)
{
	return bytes > UINT64_MAX - PAGE_BYTES
		       ? bytes & ~(uint64_t)(PAGE_BYTES - 1)
		       : (bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

static int check_version(struct connection *c, const struct quoit_hello *h,
			 struct quoit_ctl *answer)
{
	if (h->abi_version == QUOIT_ABI_VERSION && h->sqe_size == sizeof(struct quoit_sqe) &&
	    h->cqe_size == sizeof(struct quoit_cqe))
		return 0;
	snprintf(answer->text, sizeof answer->text,
		 "client has ABI %u (SQE %u, CQE %u), quoitd ABI %u (SQE %zu, CQE %zu): install "
		 "both from one version",
		 h->abi_version, h->sqe_size, h->cqe_size, QUOIT_ABI_VERSION,
		 sizeof(struct quoit_sqe), sizeof(struct quoit_cqe));
	totals_count(c->control->totals, QUOIT_DAEMON_REFUSED_VERSION);
	return -EPROTO;
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
	ret->host_bytes =
		add(add(promise, ret->pinned_bytes), h->arena_bytes ? ret->arena_bytes : 0);
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

/* Fill in the defaults.  False: the request makes no sense, and the text says why. */
static bool choose_limits(const struct connection *c, const struct quoit_hello *h,
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
	ret->max_tensors = h->max_tensors ? h->max_tensors : DEFAULT_TENSORS;
	if (ret->max_tensors > config->max_tensors && !h->max_tensors)
		ret->max_tensors = (uint32_t)config->max_tensors;
	ret->max_jobs = (uint32_t)config->max_jobs;
	ret->eager = config->eager;
	ret->direct = h->features & QUOIT_FEATURE_DIRECT;
	if (user->may.grows && !h->host_bytes && !ret->eager)
		choose_growth(c, h, &user->may, ret);
	if (ret->host_bytes < HELLO_LEAST_BYTES)
		snprintf(text, size, "a lease of %llu bytes is too small: at least %llu are needed",
			 (unsigned long long)ret->host_bytes,
			 (unsigned long long)HELLO_LEAST_BYTES);
	else if (ret->arena_bytes > ret->host_bytes ||
		 ret->pinned_bytes > ret->host_bytes - ret->arena_bytes)
		snprintf(text, size,
			 "arena (%llu bytes) and pinned memory (%llu) exceed the lease (%llu)",
			 (unsigned long long)ret->arena_bytes,
			 (unsigned long long)ret->pinned_bytes,
			 (unsigned long long)ret->host_bytes);
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

static void return_lease(struct connection *c)
{
	charge_return_memory(c, c->leased);
	charge_return_device(c, c->device_leased);
}

/* A client that asks for no device memory may need none: it gets the default if that is left. */
static int lease_device(struct connection *c, bool asked, struct session_limits *limits,
			struct quoit_ctl *answer)
{
	uint64_t left;
	int err;

	if (!asked && budget_device_left(c->control->budget, c->uid) < limits->device_bytes)
		limits->device_bytes = 0;
	err = charge_device(c, limits->device_bytes, &left);
	if (err < 0)
		snprintf(answer->text, sizeof answer->text,
			 "cannot lease %llu bytes on each device: this user has %llu left; ask for "
			 "less, or close sessions",
			 (unsigned long long)limits->device_bytes, (unsigned long long)left);
	return err;
}

/* A session that brings kernels uses its devices in processes that its user has for itself. */
static int take_own(struct connection *c, const struct quoit_hello *h,
		    struct session_limits *limits, struct quoit_ctl *answer)
{
	int first;

	limits->kernels = h->features & QUOIT_FEATURE_KERNELS && limits->devices;
	if (!limits->kernels)
		return 0;
	first = executors_take_own(c->control->executors, c->uid);
	if (first < 0) {
		snprintf(answer->text, sizeof answer->text,
			 "%d users bring kernels already, the most that quoitd allows; try again "
			 "once one has ended",
			 CONFIG_OWN_USERS);
		totals_count(c->control->totals, QUOIT_DAEMON_REFUSED_KERNELS);
		return first;
	}
	limits->first_device = (uint32_t)first;
	c->has_own = true;
	return 0;
}

static void give_own(struct connection *c)
{
	if (c->has_own)
		executors_give_own(c->control->executors, c->uid);
	c->has_own = false;
}

/* Charge a slab on each device, beside the lease.  A session that cannot have one uses streams. */
static void grant_direct(struct connection *c, struct session_limits *limits)
{
	uint64_t left;

	if (limits->direct)
		limits->direct =
			limits->devices && limits->device_bytes &&
			budget_device_left(c->control->budget, c->uid) >= QUOIT_DIRECT_SLAB_BYTES &&
			charge_device(c, QUOIT_DIRECT_SLAB_BYTES, &left) == 0;
}

static unsigned long long mib_of(uint64_t bytes, bool up)
{
	return (bytes >> 20) + (up && bytes & ((1u << 20) - 1));
}

/* In MiB, to leave room for what the user can do.  Absurdly long sentences are cut off. */
static void say_no_lease(const struct connection *c, uint64_t bytes, uint64_t tables, uint64_t left,
			 struct quoit_ctl *answer)
{
	uint64_t all = budget_memory_of(c->control->budget, c->uid);
	char text[2 * QUOIT_TEXT_BYTES];

	snprintf(text, sizeof text,
		 "a lease of %llu MiB and %llu for tables: %llu of %llu are left; ask for less, "
		 "close sessions, or raise memory",
		 mib_of(bytes, true), mib_of(tables, true), mib_of(left, false),
		 mib_of(all, false));
	snprintf(answer->text, sizeof answer->text, "%.*s", (int)sizeof answer->text - 1, text);
}

static int lease(struct connection *c, bool asked_device, struct session_limits *limits,
		 struct quoit_ctl *answer)
{
	uint64_t tables = session_cost(limits), left;
	uint64_t bytes =
		limits->host_bytes > UINT64_MAX - tables ? UINT64_MAX : limits->host_bytes + tables;
	int err = charge_memory(c, bytes, &left);

	if (err < 0)
		say_no_lease(c, limits->host_bytes, tables, left, answer);
	if (!err)
		err = lease_device(c, asked_device, limits, answer);
	if (err < 0)
		return_lease(c);
	else
		grant_direct(c, limits);
	return err;
}

/* The CPU on which the client last ran, from /proc; UINT32_MAX: it cannot be read. */
static uint32_t look_up_cpu(pid_t pid)
{
	char path[32], line[1024];
	unsigned cpu = UINT32_MAX;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof line, f)) {
		char *p = strrchr(line, ')'); /* the name may hold anything; field 39 is the CPU */

		for (int field = 2; p && field < 39; field++)
			p = strchr(p + 1, ' ');
		if (p)
			(void)sscanf(p, " %u", &cpu);
	}
	if (f)
		fclose(f);
	return cpu;
}

/*
 * The node on which the client last ran; -1: not known.  Where quoitd cannot see its process in
 * /proc (ProtectProc= of the unit, another PID namespace), the client's own hint counts: a wrong
 * hint harms only the client.
 */
static int32_t client_node(const struct connection *c, const struct quoit_hello *h)
{
	int32_t node = placement_node(c->control->plan, look_up_cpu(c->pid));

	return node < 0 && h->cpu_hint ? placement_node(c->control->plan, h->cpu_hint - 1) : node;
}

/* Note the client's node; count clients without a known one, for `quoit topo` and `quoit ps`. */
static void note_node(const struct control *control, struct session *s, int32_t node)
{
	s->client_node = (uint32_t)(node + 1);
	if (node < 0)
		totals_count(control->totals, QUOIT_DAEMON_CLIENTS_NOWHERE);
}

/* Bind the session's memory to its reactor's node, and the pinned part to the device's node. */
static void bind_memory(const struct control *control, struct session *s,
			const struct placement_core *core, const struct placement_device *device)
{
	if (control->features->missing[FEATURE_MBIND] || control->plan->nr_memories <= 1)
		return;
	if (core->memory_node >= 0)
		bind_session(s, core->memory_node);
	if (device && device->memory_node >= 0 && device->memory_node != core->memory_node)
		bind_pinned(s, device->memory_node);
}

static void log_counters(const struct session *s, int err)
{
	if (err < 0)
		log_session(s, "cannot make the counter file of session %llu: %s",
			    (unsigned long long)s->id, strerror(-err));
}

/* The reactor with the fewest sessions of this user; of several, the one with the fewest in all. */
static uint32_t find_home(const struct control *control, const struct user *user, int32_t node)
{
	uint64_t load[QUOIT_MAX_REACTORS];

	for (uint32_t i = 0; i < control->reactor_count; i++)
		load[i] = (uint64_t)user->tenant[i].homes << 32 | control->sessions_of[i];
	return placement_home(control->plan, node, load);
}

static void hand_over(struct connection *c, struct session *s, const struct quoit_hello *h)
{
	struct control *control = c->control;
	const struct placement_core *core;
	const struct placement_device *device = NULL;
	struct mail m = {.type = MAIL_SESSION_ADD, .session = s};
	int32_t node = client_node(c, h);

	hang_at(HANG_CONTROL);
	note_node(control, s, node);
	if (h->device_bytes)
		device = placement_device_near(control->places->device, control->places->count,
					       node);
	c->reactor = find_home(control, s->user, device ? device->node : node);
	core = placement_reactor(control->plan, c->reactor);
	control->sessions_of[c->reactor]++;
	s->user->tenant[c->reactor].homes++;
	s->reactor = &control->reactors[c->reactor];
	bind_memory(control, s, core, device);
	log_counters(s, session_stats_open(s, control->directory, c->reactor, (int32_t)core->node));
	log_counters(s, LEGS_ON ? legs_open(s, control->directory) : 0);
	recorder_meet(control, s);
	mailbox_send(&s->reactor->inbox, &m);
}

static void fill_reply(const struct session *s, struct quoit_hello_reply *r)
{
	r->features = QUOIT_FEATURE_MODULES | (s->kernels ? QUOIT_FEATURE_KERNELS : 0) |
		      (s->direct ? QUOIT_FEATURE_DIRECT : 0);
	r->session = s->id;
	r->host_bytes = s->memory.promise;
	r->host_most = s->memory.most;
	r->arena_bytes = s->arena_bytes;
	r->arena_most = s->arena_most;
	r->pinned_bytes = s->pinned_bytes;
	r->device_bytes = s->device[0].lease;
	r->devices = s->devices;
	r->max_tensors = s->max_tensors;
	r->max_jobs = s->max_jobs;
	r->max_entries = QUOIT_MAX_ENTRIES;
	r->tsc_hz = tsc_hz();
	optable_bitmap(r->ops);
}

/* Make the session, and join it to its user. */
static int make_session(struct connection *c, const struct session_limits *limits,
			struct session **ret)
{
	struct control *control = c->control;
	struct user *user;
	const struct budget_user *b = budget_of(control->budget, c->uid);
	int err = users_join(&control->users, c->uid, (uint32_t)b->may.value[RULE_SHARE], &user);

	if (err < 0)
		return err;
	err = session_new(limits, ++control->next_session, ret);
	if (err < 0) {
		users_leave(&control->users, user);
		return err;
	}
	(*ret)->user = user;
	(*ret)->uid = c->uid;
	(*ret)->pid = c->pid;
	(*ret)->blocking = &c->blocking;
	c->lease = c->lease_peak = limits->host_bytes;
	c->arena_bytes = c->arena_peak = limits->arena_bytes;
	c->span = session_span(limits);
	control->span += c->span;
	user->span += c->span;
	return 0;
}

int session_admit(struct connection *c, const struct quoit_hello *hello, struct quoit_ctl *answer,
		  struct session **ret)
{
	char why[QUOIT_TEXT_BYTES - sizeof "cannot make a session: "];
	struct session_limits limits;
	int err = check_version(c, hello, answer);

	answer->hello_reply.abi_version = QUOIT_ABI_VERSION;
	if (!err && !choose_limits(c, hello, &limits, answer->text, sizeof answer->text))
		err = hello->device_bytes && !limits.devices ? -ENODEV : -EINVAL;
	if (!err)
		err = take_own(c, hello, &limits, answer);
	if (!err)
		err = lease(c, hello->device_bytes != 0, &limits, answer);
	if (err < 0) {
		give_own(c);
		return err;
	}
	err = make_session(c, &limits, ret);
	if (err < 0) {
		return_lease(c);
		give_own(c);
		process_limits_explain(err, why, sizeof why);
		snprintf(answer->text, sizeof answer->text, "cannot make a session: %s", why);
		return err;
	}
	memcpy((*ret)->name, hello->name, sizeof(*ret)->name);
	fill_reply(*ret, &answer->hello_reply);
	hand_over(c, *ret, hello);
	if (c->control->reactors[c->reactor].is_pinned)
		answer->hello_reply.reactor_cpu = c->control->reactors[c->reactor].cpu + 1;
	return 0;
}
