/* SPDX-License-Identifier: MIT */
/* session.c - makes and unmakes a session: its tables and regions */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/huge_pages.h"
#include "base/memfd.h"
#include "blocking_pool.h"
#include "kernels.h"

/* Dependency edges per open job: most jobs have one to three. */
#define EDGES_PER_JOB 4

/* With --eager leases do not bound memory: regions are this many times larger. */
#define EAGER_FACTOR 64u

/* Sizes of the tables, and their places in the state memfd. */
struct layout {
	uint32_t max_views, max_buffers, max_edges;
	uint64_t region_bytes; /* for which the pageable region is made */
	uint64_t tensors, views, buffers, jobs, edges, words;
	uint64_t map[FIXED_REGIONS], owners[FIXED_REGIONS];
	uint64_t bytes;
};

/* Place a table behind the last one, on a cache line of its own. */
static uint64_t place(struct layout *l, uint64_t count, uint64_t size)
{
	uint64_t at = l->bytes;

	l->bytes = (at + count * size + QUOIT_LINE - 1) & ~(uint64_t)(QUOIT_LINE - 1);
	return at;
}

static uint32_t parts_of(const struct session_limits *limits)
{
	return limits->table_parts ? limits->table_parts : TABLE_PARTS;
}

static uint64_t most_of(const struct session_limits *limits)
{
	return limits->host_most ? limits->host_most : limits->host_bytes;
}

static uint64_t fixed_bytes(const struct session_limits *limits, enum fixed_region region)
{
	return region == FIXED_PINNED ? limits->pinned_bytes : limits->shared_bytes;
}

static void lay_out(const struct session_limits *limits, struct layout *l)
{
	*l = (struct layout){.max_edges = limits->max_jobs * EDGES_PER_JOB};
	/* A job keeps a freed tensor's view alive, so there are more views than tensors. */
	l->max_views = limits->max_tensors + QUOIT_MAX_TENSORS_PER_JOB * limits->max_jobs;
	l->max_buffers = l->max_views;
	l->region_bytes = most_of(limits) * (limits->eager ? EAGER_FACTOR : 1);
	l->tensors = place(l, limits->max_tensors, sizeof(struct tensor));
	l->views = place(l, l->max_views, sizeof(struct view));
	l->buffers = place(l, l->max_buffers, sizeof(struct buffer));
	l->jobs = place(l, limits->max_jobs, sizeof(struct job));
	l->edges = place(l, l->max_edges, sizeof(struct edge));
	for (unsigned i = FIXED_PINNED; i < FIXED_REGIONS; i++) {
		l->map[i] = place(l, pinned_map_words(fixed_bytes(limits, i)), sizeof(uint64_t));
		l->owners[i] = place(l, pinned_owners(fixed_bytes(limits, i)), sizeof(uint32_t));
	}
	l->bytes = (l->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES; /* for region_overhead */
	l->words = place(l, region_words(l->region_bytes, l->max_buffers), sizeof(uint32_t));
}

/* Copies between the host and one device need no bridge. */
static bool has_bridge(const struct session_limits *limits)
{
	return limits->devices > 1;
}

/*
 * Page tables of all mappings of a session but the region, as if every page were used once.
 * Without a budget (eager) there is nothing to count.
 */
static uint64_t page_tables(const struct session_limits *limits, const struct layout *l)
{
	if (limits->eager)
		return 0;
	return page_table_bytes(limits->arena_bytes) + page_table_bytes(limits->pinned_bytes) +
	       page_table_bytes(l->bytes);
}

/*
 * Cost of the region: pieces of each class may have been anywhere in it, and the kernel keeps a
 * page table as long as its mapping exists.
 */
static uint64_t region_cost(const struct session_limits *limits, const struct layout *l)
{
	return limits->eager ? l->bytes - l->words
			     : region_overhead(limits->host_bytes, l->region_bytes, l->max_buffers);
}

/* Bytes of the tables that grow, if so many parts may be used. */
static uint64_t table_bytes(const struct layout *l, uint64_t max_jobs, uint32_t parts)
{
	uint64_t bytes = l->max_views * sizeof(struct view) +
			 l->max_buffers * sizeof(struct buffer) + max_jobs * sizeof(struct job) +
			 l->max_edges * sizeof(struct edge);

	/* Each table begins and ends within a page. */
	return parts >= TABLE_PARTS ? bytes : bytes / TABLE_PARTS * parts + 8 * PAGE_BYTES;
}

uint64_t session_cost(const struct session_limits *limits)
{
	struct layout l;

	lay_out(limits, &l);
	return l.views + (l.words - l.map[FIXED_PINNED]) +
	       table_bytes(&l, limits->max_jobs, parts_of(limits)) + region_cost(limits, &l) +
	       page_tables(limits, &l) + sizeof(struct session) +
	       sizeof(struct quoit_session_stats) + sizeof(struct quoit_session_latency) +
	       QUOIT_OP_NR * sizeof(struct quoit_operation_totals) +
	       (has_bridge(limits) ? BRIDGE_BYTES : 0) +
	       (limits->kernels ? sizeof(struct kernels) : 0);
}

uint64_t session_growth_cost(const struct session *s, uint64_t from, uint64_t lease)
{
	return region_overhead(lease, s->region_most, s->max_buffers) -
	       region_overhead(from, s->region_most, s->max_buffers);
}

uint64_t session_tables_cost(const struct session *s, uint32_t parts)
{
	const struct layout l = {.max_views = s->max_views,
				 .max_buffers = s->max_buffers,
				 .max_edges = s->max_edges};

	return table_bytes(&l, s->max_jobs, parts);
}

uint64_t session_span(const struct session_limits *limits)
{
	struct layout l;

	lay_out(limits, &l);
	return region_span(l.region_bytes, l.max_buffers);
}

static int open_tables(struct session *s, const struct session_limits *limits)
{
	struct layout l;
	uint8_t *base;
	int err;

	lay_out(limits, &l);
	s->max_tensors = limits->max_tensors;
	s->max_jobs = limits->max_jobs;
	s->max_views = l.max_views;
	s->max_buffers = l.max_buffers;
	s->max_edges = l.max_edges;
	s->state_bytes = l.bytes;
	s->state_fd = memfd_create_sealed("quoit-session", l.bytes);
	if (s->state_fd < 0)
		return s->state_fd;
	err = memfd_map(s->state_fd, l.bytes, 1, &s->state);
	if (err < 0)
		return err;
	base = s->state;
	s->tensors = (struct tensor *)(base + l.tensors);
	s->views = (struct view *)(base + l.views);
	s->buffers = (struct buffer *)(base + l.buffers);
	s->jobs = (struct job *)(base + l.jobs);
	s->edges = (struct edge *)(base + l.edges);
	for (unsigned i = FIXED_PINNED; i < FIXED_REGIONS; i++)
		pinned_init(&s->pieces[i], fixed_bytes(limits, i), (uint64_t *)(base + l.map[i]),
			    (uint32_t *)(base + l.owners[i]));
	tables_grow(s, parts_of(limits));
	s->region_most = l.region_bytes;
	return region_open(&s->region, limits->eager ? l.region_bytes : limits->host_bytes,
			   l.region_bytes, s->max_buffers, (uint32_t *)(base + l.words));
}

/*
 * Make and map the pinned region; a size of 0: make none.  It always has all its pages, so huge
 * ones waste nothing.
 */
static int open_pinned(struct session *s)
{
	const uint64_t bytes = s->pinned_bytes;
	void *map;
	int err;

	if (!bytes)
		return 0;
	s->pinned_fd = memfd_create_sealed("quoit-pinned", bytes);
	if (s->pinned_fd < 0)
		return s->pinned_fd;
	err = memfd_map_aligned(s->pinned_fd, bytes, HUGE_PAGE_BYTES, &map);
	if (err < 0)
		return err;
	s->pinned = map;
	(void)madvise(map, bytes, MADV_HUGEPAGE);
	return 0;
}

int session_new(const struct session_limits *limits, uint64_t id, struct session **ret)
{
	struct session *s = calloc(1, sizeof *s);
	int err;

	*ret = NULL;
	if (!s)
		return -ENOMEM;
	s->id = id;
	s->memory_node = -1;
	s->latency_long = UINT64_MAX;
	s->state_fd = s->arena_memory.fd = s->pinned_fd = s->stats_fd = s->latency_fd =
		s->region.fd = -1;
	s->shared_bytes = limits->shared_bytes;
	s->arena_bytes = limits->arena_bytes;
	s->arena_most = limits->arena_most ? limits->arena_most : limits->arena_bytes;
	s->pinned_bytes = limits->pinned_bytes;
	s->eager = limits->eager;
	s->direct = limits->direct;
	s->free_view = s->free_buffer = s->free_job = s->free_edge = NIL;
	s->oldest = s->newest = NIL;
	s->memory.head = s->memory.tail = NIL;
	s->memory.lease = s->memory.promise = limits->host_bytes;
	s->memory.most = most_of(limits);
	s->memory.soft = limits->host_soft ? limits->host_soft : limits->host_bytes;
	s->memory.fixed = s->memory.used = limits->arena_bytes + limits->pinned_bytes;
	for (unsigned i = 0; i < QUOIT_PRIO_NR; i++)
		s->short_jobs[i].head = s->long_jobs[i].head = s->file_jobs[i].head = NIL;
	s->devices = limits->devices;
	s->first_device = limits->first_device;
	s->device_job_ns = limits->device_job_ns;
	for (unsigned i = 0; i < CONFIG_DEVICES; i++) {
		s->device[i].lease = limits->device_bytes;
		s->device[i].speed = limits->speed[i];
		s->device[i].dropped.head = NIL;
	}
	for (unsigned i = 0; i <= BRIDGE_EXECUTOR; i++)
		for (unsigned j = 0; j < QUOIT_PRIO_NR; j++)
			s->exec.waiting[i][j].head = NIL;
	for (unsigned i = 0; i < QUOIT_MAX_FILES; i++)
		s->files[i].fd = -1;
	s->services.copies.head = NIL;
	s->bridge = (struct bridge){.fd = -1, .job = NIL};

	if (limits->kernels)
		s->kernels = kernels_new();
	err = limits->kernels && !s->kernels ? -ENOMEM : open_tables(s, limits);
	if (!err)
		err = open_pinned(s);
	if (!err && has_bridge(limits)) {
		s->bridge.fd = memfd_create_sealed("quoit-bridge", BRIDGE_BYTES);
		err = s->bridge.fd < 0 ? s->bridge.fd : 0;
	}
	if (err < 0) {
		session_free(s);
		return err;
	}
	*ret = s;
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Giving back many gigabytes of pages takes seconds, and other clients wait for this thread. */
static void close_elsewhere(const struct session *s, int fd)
{
	if (fd >= 0)
		blocking_close(s->blocking, fd);
}

static void unmap(void *map, uint64_t bytes)
{
	if (map)
		munmap(map, bytes);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->ring_count; i++)
		ring_free(s->rings[i]);
	for (unsigned i = 0; i < QUOIT_MAX_FILES; i++)
		if (s->files[i].fd >= 0)
			blocking_close(s->blocking, s->files[i].fd);
	kernels_free(s->kernels, s->blocking);
	region_close(&s->region);
	blocking_drop(s->blocking, &s->arena_memory);
	unmap(s->pinned, s->pinned_bytes);
	unmap(s->state, s->state_bytes);
	close_elsewhere(s, s->pinned_fd);
	close_fd(s->state_fd);
	close_fd(s->bridge.fd);
	unmap(s->stats, sizeof *s->stats);
	unmap(s->latency, sizeof *s->latency);
	free(s->summed);
	close_fd(s->stats_fd);
	close_fd(s->latency_fd);
	free(s);
}
