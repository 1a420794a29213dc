/* SPDX-License-Identifier: MIT */
/* ring_memory.c - makes and frees a client ring: its memory, socket and bookkeeping */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ctl_io.h"
#include "observe/sample.h"
#include "session/blocking_pool.h"
#include "session/session.h"
#include "session/session_team.h"

static void place_pointers(struct ring *r)
{
	const struct quoit_ring_layout *l = &r->layout;
	uint8_t *client = r->memory.base, *daemon = client + l->client_bytes;

	r->client = (struct quoit_client_words *)client;
	r->sqes = (const struct quoit_sqe *)(client + l->sqes);
	r->notes = (const struct quoit_note *)(client + l->notes);
	r->sites = (const struct quoit_site *)(client + l->sites);
	r->events = (const struct quoit_ring_events *)(client + l->events);
	r->daemon = (struct quoit_daemon_words *)daemon;
	r->cqes = (struct quoit_cqe *)(daemon + l->cqes);
	r->errors = (struct quoit_error *)(daemon + l->errors);
	r->stamps = l->stamps ? (struct quoit_stamps *)(daemon + l->stamps) : NULL;
	r->texts = (struct quoit_call_text *)(daemon + l->texts);
	if (r->team) {
		r->team->entries = (struct quoit_call_entry *)(daemon + l->calls);
		r->team->results = (uint32_t *)(daemon + l->results);
	}
	quoit_consumer_init_line(&r->sq, &r->daemon->sq_head, r->client->sq, l->sq_entries);
	quoit_producer_init_line(&r->cq, r->client->cq, &r->client->cq_head, l->cq_entries);
}

/* Words for each CQ entry, in the table of buckets and in each table of segments (struct ring). */
#define BUCKET_WORDS  1u
#define SEGMENT_WORDS 2u

uint64_t ring_cost(const struct quoit_ring_layout *l)
{
	uint64_t words = (BUCKET_WORDS + 2 * SEGMENT_WORDS) * (uint64_t)l->cq_entries;

	return sizeof(struct ring) + quoit_ring_bytes(l) + page_table_bytes(quoit_ring_bytes(l)) +
	       words * sizeof(uint32_t) + (l->calls ? sizeof(struct ring_team) : 0);
}

static int open_bookkeeping(struct ring *r)
{
	uint32_t n = r->layout.cq_entries;

	r->bucket = malloc(BUCKET_WORDS * n * sizeof *r->bucket);
	r->segment_open = calloc(SEGMENT_WORDS * n, sizeof *r->segment_open);
	r->segment_job = calloc(SEGMENT_WORDS * n, sizeof *r->segment_job);
	r->team = r->layout.calls ? team_new() : NULL;
	if (!r->bucket || !r->segment_open || !r->segment_job || (r->layout.calls && !r->team))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		r->bucket[i] = NIL;
	sample_init(r);
	return 0;
}

int ring_new(struct session *s, uint32_t index, const struct quoit_ring_open *open,
	     struct shared *memory, struct ring **ret, int *ret_socket)
{
	struct ring *r = calloc(1, sizeof *r);
	int pair[2] = {-1, -1}, err;

	*ret = NULL;
	*ret_socket = -1;
	if (!r)
		return -ENOMEM;
	r->session = s;
	r->index = index;
	r->socket = -1;
	r->flags = open->flags;
	quoit_ring_layout_of(open, &r->layout);
	err = open_bookkeeping(r);
	if (!err && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		err = -errno;
	if (err < 0) {
		ring_free(r);
		return err;
	}
	r->socket = pair[0];
	ctl_let_descriptors_pass(r->socket, false);
	*ret_socket = pair[1];
	r->memory = *memory;
	*memory = (struct shared){.fd = -1};
	place_pointers(r);
	*ret = r;
	return 0;
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	if (r->socket >= 0)
		blocking_hang_up_ring(r->session->blocking, r->socket);
	blocking_drop(r->session->blocking, &r->memory);
	free(r->bucket);
	free(r->segment_open);
	free(r->segment_job);
	free(r->team);
	free(r);
}
