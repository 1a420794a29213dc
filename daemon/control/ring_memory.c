/* SPDX-License-Identifier: MIT */
/* ring_memory.c - the pages, the socket and the bookkeeping of one client ring */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/features.h"
#include "host/log.h"
#include "host/memfd.h"
#include "reactor/sample.h"
#include "session/errands.h"
#include "session/session.h"

static uint32_t place(uint32_t *end, uint64_t bytes)
{
	uint32_t at = *end;

	*end += (uint32_t)((bytes + QUOIT_LINE - 1) & ~(uint64_t)(QUOIT_LINE - 1));
	return at;
}

static uint32_t whole_pages(uint32_t bytes)
{
	return (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

void ring_layout(const struct quoit_ring_open *open, struct quoit_ring_layout *ret)
{
	uint32_t end = 0;

	*ret = (struct quoit_ring_layout){.sq_entries = open->sq_entries,
					  .cq_entries = open->cq_entries};
	place(&end, sizeof(struct quoit_client_words));
	ret->sites = place(&end, QUOIT_MAX_SITES * sizeof(struct quoit_site));
	ret->events = place(&end, sizeof(struct quoit_ring_events));
	ret->sqes = place(&end, open->sq_entries * sizeof(struct quoit_sqe));
	ret->notes = place(&end, open->sq_entries * sizeof(struct quoit_note));
	ret->client_bytes = whole_pages(end);

	end = 0;
	place(&end, sizeof(struct quoit_daemon_words));
	ret->cqes = place(&end, open->cq_entries * sizeof(struct quoit_cqe));
	ret->errors = place(&end, open->cq_entries * sizeof(struct quoit_error));
	if (open->flags & QUOIT_RING_STAMPS)
		ret->stamps = place(&end, open->cq_entries * sizeof(struct quoit_stamps));
	ret->daemon_bytes = whole_pages(end);
}

static int map_pages(const char *name, uint32_t bytes, int *ret_fd, uint8_t **ret_map)
{
	void *map;
	int err;

	*ret_fd = memfd_create_sealed(name, bytes);
	if (*ret_fd < 0)
		return *ret_fd;
	err = memfd_map(*ret_fd, bytes, 1, &map);
	*ret_map = map;
	return err;
}

static void place_pointers(struct ring *r, uint8_t *client, uint8_t *daemon)
{
	const struct quoit_ring_layout *l = &r->layout;

	if (client) {
		r->client = (struct quoit_client_words *)client;
		r->sqes = (const struct quoit_sqe *)(client + l->sqes);
		r->notes = (const struct quoit_note *)(client + l->notes);
		r->sites = (const struct quoit_site *)(client + l->sites);
		r->events = (const struct quoit_ring_events *)(client + l->events);
	}
	if (daemon) {
		r->daemon = (struct quoit_daemon_words *)daemon;
		r->cqes = (struct quoit_cqe *)(daemon + l->cqes);
		r->errors = (struct quoit_error *)(daemon + l->errors);
		r->stamps = l->stamps ? (struct quoit_stamps *)(daemon + l->stamps) : NULL;
	}
}

/* A client can ask for ours to be paged out. */
static void lock_pages(const struct ring *r)
{
	if (mlock(r->daemon, r->layout.daemon_bytes) < 0)
		log_session(
			r->session,
			"session %llu: %u KiB of ring %u are not locked: %s; " FEATURES_MORE_MEMLOCK,
			(unsigned long long)r->session->id, r->layout.daemon_bytes >> 10, r->index,
			strerror(errno));
}

static int open_pages(struct ring *r, int *ret_client, int *ret_daemon)
{
	uint8_t *client = NULL, *daemon = NULL;
	int fd = -1, err;

	err = map_pages("quoit-client-pages", r->layout.client_bytes, ret_client, &client);
	if (!err)
		err = map_pages("quoit-daemon-pages", r->layout.daemon_bytes, &fd, &daemon);
	place_pointers(r, client, daemon);
	if (!err) {
		lock_pages(r);
		*ret_daemon = memfd_read_only(fd);
		if (*ret_daemon < 0)
			err = *ret_daemon;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* Of which table how many words for each CQ entry; see struct ring. */
#define BUCKET_WORDS  1u
#define SEGMENT_WORDS 2u

uint64_t ring_cost(const struct quoit_ring_layout *l)
{
	uint64_t words = (BUCKET_WORDS + 2 * SEGMENT_WORDS) * (uint64_t)l->cq_entries;

	return sizeof(struct ring) + (uint64_t)l->client_bytes + l->daemon_bytes +
	       words * sizeof(uint32_t);
}

static int open_bookkeeping(struct ring *r)
{
	uint32_t n = r->layout.cq_entries;

	r->bucket = malloc(BUCKET_WORDS * n * sizeof *r->bucket);
	r->segment_open = calloc(SEGMENT_WORDS * n, sizeof *r->segment_open);
	r->segment_job = calloc(SEGMENT_WORDS * n, sizeof *r->segment_job);
	if (!r->bucket || !r->segment_open || !r->segment_job)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		r->bucket[i] = NIL;
	sample_init(r);
	return 0;
}

int ring_new(struct session *s, uint32_t index, const struct quoit_ring_open *open,
	     struct ring **ret, int *ret_client, int *ret_daemon, int *ret_socket)
{
	struct ring *r = calloc(1, sizeof *r);
	int pair[2] = {-1, -1}, err;

	*ret = NULL;
	*ret_client = *ret_daemon = *ret_socket = -1;
	if (!r)
		return -ENOMEM;
	r->session = s;
	r->index = index;
	r->socket = -1;
	r->flags = open->flags;
	ring_layout(open, &r->layout);
	err = open_pages(r, ret_client, ret_daemon);
	if (!err)
		err = open_bookkeeping(r);
	if (!err && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		err = -errno;
	if (err < 0) {
		if (*ret_client >= 0)
			close(*ret_client);
		if (*ret_daemon >= 0)
			close(*ret_daemon);
		*ret_client = *ret_daemon = -1;
		ring_free(r);
		return err;
	}
	r->socket = pair[0];
	ctl_let_descriptors_pass(r->socket, false);
	*ret_socket = pair[1];
	quoit_consumer_init_line(&r->sq, &r->daemon->sq_head, r->client->sq, r->layout.sq_entries);
	quoit_producer_init_line(&r->cq, r->client->cq, &r->client->cq_head, r->layout.cq_entries);
	r->daemon->need_wake = 1; /* nobody polls it yet */
	*ret = r;
	return 0;
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	if (r->socket >= 0)
		errands_hang_up_ring(r->session->errands, r->socket);
	if (r->client)
		munmap(r->client, r->layout.client_bytes);
	if (r->daemon)
		munmap(r->daemon, r->layout.daemon_bytes);
	free(r->bucket);
	free(r->segment_open);
	free(r->segment_job);
	free(r);
}
