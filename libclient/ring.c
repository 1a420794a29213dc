/* SPDX-License-Identifier: MIT */
/* ring.c - open rings, map their pages, arm their descriptors, close them */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <quoit/sample.h>

#include "clock.h"
#include "library.h"

#define DEFAULT_ENTRIES 256u
#define FDS_PER_RING    3u /* client pages, daemon pages, socket */

/* ---- what quoitd says about a ring ---- */

static bool is_size(uint32_t n, uint32_t least)
{
	return n >= least && n <= 2 * QUOIT_MAX_ENTRIES && (n & (n - 1)) == 0;
}

/* Does an array lie inside a mapping, behind its words, on lines of its own? */
static bool fits(uint32_t mapping, uint32_t words, uint32_t at, uint64_t bytes)
{
	return at % QUOIT_LINE == 0 && at >= words && at + bytes <= mapping;
}

static bool fits_client(const struct quoit_ring_layout *l, uint32_t at, uint64_t bytes)
{
	return fits(l->client_bytes, sizeof(struct quoit_client_words), at, bytes);
}

static bool fits_daemon(const struct quoit_ring_layout *l, uint32_t at, uint64_t bytes)
{
	return fits(l->daemon_bytes, sizeof(struct quoit_daemon_words), at, bytes);
}

static bool layout_is_sane(const struct quoit_ring_layout *l, bool stamps)
{
	uint64_t sq = l->sq_entries, cq = l->cq_entries;

	return is_size(l->sq_entries, QUOIT_MIN_ENTRIES) && is_size(l->cq_entries, l->sq_entries) &&
	       fits_client(l, l->sqes, sq * sizeof(struct quoit_sqe)) &&
	       fits_client(l, l->notes, sq * sizeof(struct quoit_note)) &&
	       fits_client(l, l->sites, QUOIT_MAX_SITES * sizeof(struct quoit_site)) &&
	       fits_client(l, l->events, sizeof(struct quoit_ring_events)) &&
	       fits_daemon(l, l->cqes, cq * sizeof(struct quoit_cqe)) &&
	       fits_daemon(l, l->errors, cq * sizeof(struct quoit_error)) &&
	       (!stamps || fits_daemon(l, l->stamps, cq * sizeof(struct quoit_stamps)));
}

/* ---- one ring ---- */

static int map_pages(struct quoit_ring *q, const int *fds)
{
	void *map;
	int err;

	err = libquoit_control_map(fds[0], q->layout.client_bytes, PROT_READ | PROT_WRITE, &map);
	if (err)
		return err;
	q->client = map;
	err = libquoit_control_map(fds[1], q->layout.daemon_bytes, PROT_READ, &map);
	if (err)
		return err;
	q->daemon = map;
	return 0;
}

static void bind_pages(struct quoit_ring *q, bool stamps)
{
	const struct quoit_ring_layout *l = &q->layout;
	uint8_t *client = (uint8_t *)q->client;
	const uint8_t *daemon = (const uint8_t *)q->daemon;

	q->sqes = (struct quoit_sqe *)(client + l->sqes);
	q->cqes = (const struct quoit_cqe *)(daemon + l->cqes);
	q->errors = (const struct quoit_error *)(daemon + l->errors);
	q->notes = (struct quoit_note *)(client + l->notes);
	q->events = (struct quoit_ring_events *)(client + l->events);
	q->recorded = __atomic_load_n(&q->daemon->tracing, __ATOMIC_RELAXED);
	q->sq_sample = quoit_sample_from(0);
	q->cq_sample = quoit_sample_from(0);
	if (stamps) {
		q->stamps = (const struct quoit_stamps *)(daemon + l->stamps);
	}
	q->sq_mask = l->sq_entries - 1;
	q->cq_mask = l->cq_entries - 1;
	q->ahead = 1;
	q->batch = l->sq_entries / 4;
	quoit_producer_init_line(&q->sq, q->client->sq, &q->daemon->sq_head, l->sq_entries);
	quoit_consumer_init_line(&q->cq, &q->client->cq_head, q->client->cq, l->cq_entries);
	libquoit_site_init(&q->sites, (struct quoit_site *)(client + l->sites));
}

/* Takes fds[2] over; the other two stay the caller's. */
static int ring_new(struct quoit_session *s, const struct quoit_ring_params *p,
		    const struct quoit_ring_reply *reply, uint32_t index, const int *fds,
		    struct quoit_ring **ret)
{
	bool stamps = p->flags & QUOIT_RING_STAMPS;
	struct quoit_ring *q = calloc(1, sizeof *q);
	int err;

	if (!q) {
		close(fds[2]);
		return -ENOMEM;
	}
	q->session = s;
	q->mine = s->mine;
	q->socket = fds[2];
	q->until = NEVER;
	q->index = index;
	q->raw = p->flags & QUOIT_RING_RAW;
	q->layout = reply->layout;
	err = map_pages(q, fds);
	if (!err) {
		bind_pages(q, stamps);
		err = libquoit_handle_stack_init(&q->handles, &s->handles, q->layout.sq_entries);
	}
	if (!err)
		err = libquoit_job_init(q,
					q->raw    ? 0
					: p->jobs ? p->jobs
						  : q->layout.sq_entries,
					stamps);
	if (err) {
		libquoit_ring_free(q);
		return err;
	}
	*ret = q;
	return 0;
}

void libquoit_ring_free(struct quoit_ring *q)
{
	if (q->client && libquoit_is_mine(q->mine))
		munmap(q->client, q->layout.client_bytes);
	if (q->daemon && libquoit_is_mine(q->mine))
		munmap((void *)q->daemon, q->layout.daemon_bytes);
	close(q->socket);
	libquoit_handle_stack_done(&q->handles);
	libquoit_job_done(q);
	free(q);
}

/* ---- open and close ---- */

static int check_params(const struct quoit_session *s, const struct quoit_ring_params *p,
			uint32_t entries, unsigned count)
{
	uint32_t cq = p->cq_entries ? p->cq_entries : 2 * entries;
	uint32_t known = QUOIT_RING_RAW | QUOIT_RING_STAMPS;

	if (!is_size(entries, QUOIT_MIN_ENTRIES) || entries > s->max_entries)
		libquoit_text_set("%u entries: a power of two, %u to %u", entries,
				  QUOIT_MIN_ENTRIES, s->max_entries);
	else if (!is_size(cq, entries))
		libquoit_text_set("%u entries of the CQ: a power of two, %u to %u", cq, entries,
				  2 * QUOIT_MAX_ENTRIES);
	else if (p->flags & ~known)
		libquoit_text_set("unknown flags %#x", p->flags & ~known);
	else if (p->jobs > 2 * QUOIT_MAX_ENTRIES)
		libquoit_text_set("%u jobs: at most %u", p->jobs, 2 * QUOIT_MAX_ENTRIES);
	else if (count == 0 || count > QUOIT_MAX_RINGS)
		libquoit_text_set("%u rings: 1 to %u", count, QUOIT_MAX_RINGS);
	else
		return 0;
	return -EINVAL;
}

static int tell_close(struct quoit_session *s, uint32_t index)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_RING_CLOSE, .job.ring = index};

	return libquoit_control_call(s, &m, -1, NULL, 0);
}

/* Make `count` rings of the descriptors, or none; all descriptors are used up. */
static int rings_new(struct quoit_session *s, const struct quoit_ring_params *p,
		     const struct quoit_ring_reply *reply, int *fds, struct quoit_ring **ret)
{
	unsigned made = 0;
	int err = 0;

	for (unsigned i = 0; i < reply->count; i++, fds += FDS_PER_RING) {
		if (!err)
			err = ring_new(s, p, reply, reply->ring + i, fds, &ret[i]);
		else
			close(fds[2]);
		if (!err)
			made++;
		close(fds[0]);
		close(fds[1]);
	}
	if (!err)
		return 0;
	while (made)
		libquoit_ring_free(ret[--made]);
	for (unsigned i = 0; i < reply->count; i++)
		(void)tell_close(s, reply->ring + i);
	return err;
}

int quoit_rings_open(struct quoit_ring **ret, unsigned count, struct quoit_session *s,
		     const struct quoit_ring_params *params)
{
	static const struct quoit_ring_params defaults;
	const struct quoit_ring_params *p = params ? params : &defaults;
	uint32_t entries = p->entries ? p->entries : DEFAULT_ENTRIES;
	struct quoit_ctl m = {.type = QUOIT_CTL_RING_OPEN};
	struct quoit_ring *made[QUOIT_MAX_RINGS];
	int fds[FDS_PER_RING * QUOIT_MAX_RINGS], err;

	if (!libquoit_is_mine(s->mine))
		return -EOWNERDEAD;
	err = check_params(s, p, entries, count);
	if (err)
		return err;
	m.ring_open = (struct quoit_ring_open){.sq_entries = entries,
					       .cq_entries = p->cq_entries,
					       .flags = p->flags & QUOIT_RING_FLAGS,
					       .count = count};
	err = libquoit_control_call(s, &m, -1, fds, FDS_PER_RING * count);
	/* Where it was not quoitd that had no descriptors, they are open all the same. */
	for (unsigned i = 0; err == -EMFILE && !m.result && i < count; i++)
		(void)tell_close(s, m.ring_reply.ring + i);
	if (err)
		return err;
	if (m.ring_reply.count != count || m.ring_reply.ring + count > QUOIT_MAX_RINGS ||
	    !layout_is_sane(&m.ring_reply.layout, p->flags & QUOIT_RING_STAMPS)) {
		for (unsigned i = 0; i < FDS_PER_RING * count; i++)
			close(fds[i]);
		return -EPROTO;
	}
	err = rings_new(s, p, &m.ring_reply, fds, made);
	if (err)
		return err;
	pthread_mutex_lock(&s->list);
	for (unsigned i = 0; i < count; i++) {
		made[i]->next = s->rings;
		s->rings = ret[i] = made[i];
	}
	pthread_mutex_unlock(&s->list);
	return 0;
}

int quoit_ring_open(struct quoit_ring **ret, struct quoit_session *s,
		    const struct quoit_ring_params *params)
{
	return quoit_rings_open(ret, 1, s, params);
}

int libquoit_ring_settle(struct quoit_ring *q)
{
	/*
	 * Nobody looks at a raw ring's CQEs any more: as a managed one it reaps them,
	 * and drops what it does not know.
	 */
	q->raw = false;
	return quoit_wait_all_at(q, QUOIT_FOREVER, NULL);
}

int quoit_ring_close(struct quoit_ring *q)
{
	struct quoit_session *s;
	struct quoit_ring **at;
	int err;

	if (!q)
		return 0;
	s = q->session;
	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	err = libquoit_ring_settle(q);
	if (!err)
		err = tell_close(s, q->index);
	if (!err)
		libquoit_handle_empty(&q->handles);
	for (unsigned i = 0; i < STAGING_PIECES; i++)
		libquoit_arena_give(&s->arena, q->staging[i]);
	pthread_mutex_lock(&s->list);
	for (at = &s->rings; *at != q;)
		at = &(*at)->next;
	*at = q->next;
	pthread_mutex_unlock(&s->list);
	libquoit_ring_free(q);
	return err;
}

struct quoit_session *quoit_ring_session(const struct quoit_ring *q)
{
	return q->session;
}

/* ---- somebody's epoll loop ---- */

int quoit_ring_fd(const struct quoit_ring *q)
{
	return libquoit_is_mine(q->mine) ? q->socket : -EOWNERDEAD;
}

/* Take the bytes of earlier arms out of the socket.  -ECONNRESET: quoitd is gone. */
static int drain_socket(struct quoit_ring *q)
{
	char bytes[16];
	ssize_t n;

	do
		n = recv(q->socket, bytes, sizeof bytes, MSG_DONTWAIT);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -ECONNRESET;
}

int quoit_ring_arm(struct quoit_ring *q)
{
	int err;

	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	err = drain_socket(q);
	if (err)
		q->broken = err;
	/*
	 * Edge W of ring.h once more: arm and then look at the tail, while quoitd moves
	 * the tail and then looks at arm, all of it sequentially consistent.
	 */
	QUOIT_RING_STORE(&q->client->arm, q->client->arm + 1, QUOIT_RING_SEQ_CST);
	q->cq.cached_tail = QUOIT_RING_TAIL(&q->cq, QUOIT_RING_SEQ_CST);
	if (libquoit_queue_ready(q))
		return 1;
	return q->broken ? libquoit_refuse_broken(q) : 0;
}
