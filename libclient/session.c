/* SPDX-License-Identifier: MIT */
/* session.c - open a session with quoitd, and close it */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "acquire.h"
#include "control.h"
#include "core.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"
#include "region.h"
#include "service.h"
#include "team.h"

/*
 * How long a wait spins before it sleeps: about the cost of a sleep and a wake-up for the other
 * side.  Not longer, since a worker of quoitd may want this very core.
 */
#define SPIN_NS 3000u

static uint64_t serial; /* of the last session that was opened */

static void hello_fill(struct quoit_hello *h, const struct quoit_open_params *p)
{
	const char *name = p->name ? p->name : program_invocation_short_name;

	h->abi_version = QUOIT_ABI_VERSION;
	h->sqe_size = sizeof(struct quoit_sqe);
	h->cqe_size = sizeof(struct quoit_cqe);
	h->features = QUOIT_FEATURE_MODULES |
		      (p->flags & QUOIT_OPEN_KERNELS ? QUOIT_FEATURE_KERNELS : 0) |
		      (p->flags & QUOIT_OPEN_DIRECT ? QUOIT_FEATURE_DIRECT : 0);
	h->host_bytes = p->host_bytes;
	h->device_bytes = p->device_bytes;
	h->arena_bytes = p->arena_bytes;
	h->pinned_bytes = p->pinned_bytes;
	h->shared_bytes = p->shared_bytes;
	h->max_tensors = p->max_tensors;
	h->cpu_hint = (uint32_t)(sched_getcpu() + 1); /* 0 if the CPU is not known */
	for (size_t i = 0; i < sizeof h->name - 1 && name[i]; i++)
		h->name[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
}

static int accept_hello(struct quoit_session *s, const struct quoit_hello_reply *r)
{
	const uint64_t shared = (uint64_t)r->shared_pages * QUOIT_CTL_PAGE;

	if (r->abi_version != QUOIT_ABI_VERSION) { /* quoitd should have refused us */
		libquoit_text_set(
			"libquoit has ABI %u, quoitd ABI %u: install both from one version",
			QUOIT_ABI_VERSION, r->abi_version);
		return -EPROTO;
	}
	if (r->arena_most < r->arena_bytes || r->arena_most > SIZE_MAX - shared ||
	    r->max_tensors < 2 || r->max_tensors > QUOIT_HANDLE_INDEX_MASK + 1 ||
	    r->arena_bytes > SIZE_MAX || r->max_entries > QUOIT_MAX_ENTRIES) {
		libquoit_text_set("quoitd granted invalid limits");
		return -EPROTO;
	}
	s->info = (struct quoit_info){.session = r->session,
				      .host_bytes = r->host_bytes,
				      .host_bytes_most = r->host_most,
				      .device_bytes = r->device_bytes,
				      .arena_bytes = r->arena_bytes,
				      .arena_bytes_most = r->arena_most,
				      .pinned_bytes = r->pinned_bytes,
				      .shared_bytes = shared,
				      .tsc_hz = r->tsc_hz ? r->tsc_hz : 1000000000u,
				      .max_tensors = r->max_tensors,
				      .max_jobs = r->max_jobs,
				      .devices = r->devices > UINT8_MAX ? UINT8_MAX : r->devices,
				      .reactor_cpu = (int32_t)(r->reactor_cpu - 1),
				      .direct = r->features & QUOIT_FEATURE_DIRECT};
	memcpy(s->info.ops, r->ops, sizeof s->info.ops);
	if (s->info.reactor_cpu >= 0 && !s->stays)
		/* now, so that no wait has to open a file */
		libquoit_cpus_near(&s->near, s->info.reactor_cpu);
	s->arena_bytes = r->arena_bytes;
	s->max_entries = r->max_entries;
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		s->spin = SPIN_NS * s->info.tsc_hz / 1000000000u;
	return 0;
}

/*
 * An arena that can grow needs larger tables.  If there is no memory for them, the arena keeps its
 * first size.
 */
static int open_arena(struct quoit_session *s)
{
	struct quoit_info *i = &s->info;
	int err =
		libquoit_arena_init(&s->arena, arena_base(s), i->arena_bytes, i->arena_bytes_most);

	if (err != -ENOMEM || i->arena_bytes_most == i->arena_bytes)
		return err;
	i->arena_bytes_most = i->arena_bytes;
	return libquoit_arena_init(&s->arena, arena_base(s), i->arena_bytes, i->arena_bytes);
}

static int open_tables(struct quoit_session *s)
{
	int err = libquoit_handle_pool_init(&s->handles, s->info.max_tensors);

	if (!err)
		err = open_arena(s);
	if (err)
		return err;
	s->tensors = mmap(NULL, s->info.max_tensors * sizeof *s->tensors, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->tensors != MAP_FAILED)
		return 0;
	s->tensors = NULL;
	return -ENOMEM;
}

static int hello(struct quoit_session *s, const struct quoit_open_params *p)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_HELLO};
	int err;

	hello_fill(&m.hello, p);
	err = libquoit_control_ask(s, &m, -1);
	return err ? err : accept_hello(s, &m.hello_reply);
}

/*
 * If this process's limits leave no room for an arena that can grow, the arena keeps its first
 * size.
 */
static int make_arena(struct quoit_session *s)
{
	struct quoit_info *i = &s->info;
	int err = libquoit_shared_make(&s->shared, "quoit-arena",
				       i->shared_bytes + i->arena_bytes_most);

	if (!err || i->arena_bytes_most == i->arena_bytes)
		return err;
	i->arena_bytes_most = i->arena_bytes;
	return libquoit_shared_make(&s->shared, "quoit-arena", i->shared_bytes + i->arena_bytes);
}

/* Hand the arena over empty, so that quoitd can choose its node; then allocate all pages. */
static int bring_arena(struct quoit_session *s)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_ARENA}, ready = {.type = QUOIT_CTL_READY};
	uint64_t bytes = s->info.shared_bytes + s->info.arena_bytes;
	int err;

	if (!bytes)
		return 0;
	err = make_arena(s);
	if (!err)
		err = libquoit_control_ask(s, &m, s->shared.fd);
	if (!err)
		err = libquoit_shared_fill(&s->shared, bytes, m.ring_reply.seals);
	return err ? err : libquoit_control_ask(s, &ready, -1);
}

/*
 * In a child of fork() the arena and the rings' pages are not mapped: do not touch their addresses.
 */
static void session_free(struct quoit_session *s)
{
	struct quoit_ring *next;

	libquoit_team_forget(s->mine);
	libquoit_team_free_all(s);
	libquoit_service_free_all(s);
	for (struct quoit_ring *q = s->rings; q; q = next) {
		next = q->next;
		libquoit_ring_free(q);
	}
	if (libquoit_is_mine(s->mine)) {
		libquoit_named_drop_all(s);
		libquoit_shared_drop(&s->shared);
	}
	if (s->tensors)
		munmap(s->tensors, s->info.max_tensors * sizeof *s->tensors);
	libquoit_arena_done(&s->arena);
	libquoit_handle_pool_done(&s->handles);
	if (s->socket >= 0)
		close(s->socket);
	libquoit_mine_free(s->mine);
	pthread_mutex_destroy(&s->control);
	pthread_mutex_destroy(&s->growing);
	pthread_mutex_destroy(&s->opening);
	pthread_mutex_destroy(&s->list);
	free(s);
}

int quoit_open(const struct quoit_open_params *params, struct quoit_session **ret)
{
	static const struct quoit_open_params defaults;
	struct quoit_session *s = calloc(1, sizeof *s);
	int err;

	(void)libquoit_text_refuse_memory(); /* unless another text says more */
	if (!s)
		return -ENOMEM;
	if (!params)
		params = &defaults;
	if (params->flags & ~QUOIT_OPEN_FLAGS) {
		free(s);
		return libquoit_text_refuse_flags(params->flags, QUOIT_OPEN_FLAGS,
						  "QUOIT_OPEN_FLAGS");
	}
	pthread_mutex_init(&s->control, NULL);
	pthread_mutex_init(&s->opening, NULL);
	pthread_mutex_init(&s->growing, NULL);
	pthread_mutex_init(&s->list, NULL);
	s->socket = s->shared.fd = -1;
	s->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
	s->stays = params->flags & QUOIT_OPEN_STAY;
	err = libquoit_mine_new(&s->mine);
	if (!err)
		err = libquoit_connect(params->socket, &s->socket);
	if (!err)
		err = hello(s, params);
	if (!err)
		err = bring_arena(s);
	if (!err) {
		libquoit_patience_end(s->socket);
		err = open_tables(s);
	}
	if (err) {
		session_free(s);
		return err;
	}
	libquoit_text_set("no error");
	*ret = s;
	return 0;
}

/*
 * The next ring that no function of a team has opened; those belong to functions that may still run,
 * and come and go.
 */
static struct quoit_ring *next_outer(struct quoit_session *s, const struct quoit_ring *after)
{
	struct quoit_ring *q;

	if (!libquoit_is_mine(
		    s->mine)) /* a wait has run a function that forks: the lock may be held */
		return NULL;
	pthread_mutex_lock(&s->list);
	q = after ? after->next : s->rings;
	while (q && q->inner)
		q = q->next;
	pthread_mutex_unlock(&s->list);
	return q;
}

int quoit_close(struct quoit_session *s, unsigned flags)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CLOSE, .end.flags = flags};
	int err = 0;

	if (flags & ~QUOIT_CLOSE_FLAGS)
		return libquoit_text_refuse_flags(flags, QUOIT_CLOSE_FLAGS, "QUOIT_CLOSE_CANCEL");
	if (!s)
		return 0;
	if (libquoit_is_mine(s->mine) && s->teams && libquoit_team_depth())
		return libquoit_text_refuse(-EDEADLK,
					    "a function cannot close a session with teams, which "
					    "waits until the function ends: close it where it was "
					    "opened");
	if (libquoit_is_mine(s->mine)) {
		/* Jobs of any ring may wait for what the program holds. */
		for (struct quoit_ring *q = NULL; (q = next_outer(s, q)) != NULL;)
			libquoit_acquire_release_all(q);
		/*
		 * Unread CQEs would hold up the jobs behind them: wait until all jobs have ended.
		 */
		if (!(flags & QUOIT_CLOSE_CANCEL))
			for (struct quoit_ring *q = NULL; (q = next_outer(s, q)) != NULL;)
				libquoit_ring_settle(q);
	}
	/* Here it may be a child, if a wait has run a function that forks. */
	if (libquoit_is_mine(s->mine)) {
		libquoit_team_close_all(s);
		err = libquoit_control_ask(s, &m, -1);
	}
	session_free(s);
	return err;
}

int quoit_find_op(struct quoit_session *s, const char *name)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_OP};
	int err;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	if (strlen(name) >= sizeof m.op.name)
		return libquoit_text_refuse(
			-ENOENT, "an operation's name has at most %zu characters, this one %zu",
			sizeof m.op.name - 1, strlen(name));
	memcpy(m.op.name, name, strlen(name));
	err = libquoit_control_ask(s, &m, -1);
	if (err)
		return err;
	return m.op.opcode < QUOIT_OP_NR ? (int)m.op.opcode : libquoit_text_refuse_reply();
}

int quoit_query_device(struct quoit_session *s, unsigned number, struct quoit_device_desc *ret)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_DEVICE, .device = {.number = number}};
	const struct quoit_device_reply *r = &m.device_reply;
	int err;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	err = libquoit_control_ask(s, &m, -1);
	if (err)
		return err;
	*ret = (struct quoit_device_desc){.bytes = r->bytes,
					  .jobs = r->jobs,
					  .jobs_direct = r->direct,
					  .jobs_streamed = r->streamed,
					  .units = r->units,
					  .up = r->state == QUOIT_DEVICE_UP,
					  .lost = r->state == QUOIT_DEVICE_LOST};
	memcpy(ret->name, r->name, sizeof ret->name - 1);
	memcpy(ret->address, r->address, sizeof ret->address - 1);
	if (ret->lost)
		libquoit_text_set("%.*s", (int)sizeof m.text, m.text);
	return 0;
}

void quoit_get_info(const struct quoit_session *s, struct quoit_info *ret)
{
	*ret = s->info;
	ret->arena_bytes = libquoit_arena_bytes(s);
}
