/* SPDX-License-Identifier: MIT */
/* ring.c - open rings, map their pages, arm their descriptors, close them */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <quoit/sample.h>

#include "acquire.h"
#include "clock.h"
#include "control.h"
#include "event.h"
#include "library.h"
#include "mine.h"
#include "queue.h"
#include "refusal.h"
#include "team.h"

#define DEFAULT_ENTRIES 256u

static bool is_size(uint32_t n, uint32_t least)
{
	return n >= least && n <= 2 * QUOIT_MAX_ENTRIES && (n & (n - 1)) == 0;
}

/* ---- one ring ---- */

static void bind_pages(struct quoit_ring *q, bool stamps)
{
	const struct quoit_ring_layout *l = &q->layout;
	uint8_t *client = q->shared.base;
	const uint8_t *daemon = client + l->client_bytes;

	q->client = (struct quoit_client_words *)client;
	q->daemon = (const struct quoit_daemon_words *)daemon;
	q->sqes = (struct quoit_sqe *)(client + l->sqes);
	q->cqes = (const struct quoit_cqe *)(daemon + l->cqes);
	q->errors = (const struct quoit_error *)(daemon + l->errors);
	q->notes = (struct quoit_note *)(client + l->notes);
	q->events = (struct quoit_ring_events *)(client + l->events);
	libquoit_event_ask(q);
	q->sq_sample = quoit_sample_from(0, 0);
	q->cq_sample = quoit_sample_from(0, 0);
	if (stamps)
		q->stamps = (const struct quoit_stamps *)(daemon + l->stamps);
	if (l->calls) {
		q->calls = (const struct quoit_call_entry *)(daemon + l->calls);
		q->results = (const uint32_t *)(daemon + l->results);
	}
	q->texts = (const struct quoit_call_text *)(daemon + l->texts);
	q->sq_mask = l->sq_entries - 1;
	q->cq_mask = l->cq_entries - 1;
	q->ahead = 1;
	q->batch = l->sq_entries / 4;
	quoit_producer_init_line(&q->sq, q->client->sq, &q->daemon->sq_head, l->sq_entries);
	quoit_consumer_init_line(&q->cq, &q->client->cq_head, q->client->cq, l->cq_entries);
	libquoit_site_init(&q->sites, (struct quoit_site *)(client + l->sites));
}

/* Map quoitd's pages read-only, so that a mistake of the program cannot damage them. */
static int protect(struct quoit_ring *q)
{
	const struct quoit_ring_layout *l = &q->layout;

	if (mprotect(q->shared.base + l->client_bytes, l->daemon_bytes, PROT_READ) == 0)
		return 0;
	return libquoit_text_refuse(-errno, "the ring's pages cannot be protected: %s",
				    strerrordesc_np(errno));
}

/* A ring of this layout with its memory, not yet known to quoitd. */
static int ring_new(struct quoit_session *s, const struct quoit_ring_params *p,
		    const struct quoit_ring_layout *layout, struct quoit_ring **ret)
{
	bool stamps = p->flags & QUOIT_RING_STAMPS;
	struct quoit_ring *q = calloc(1, sizeof *q);
	int err;

	if (!q)
		return -ENOMEM;
	q->session = s;
	q->spin = s->spin;
	q->mine = s->mine;
	q->socket = -1;
	q->until = NEVER;
	q->raw = p->flags & QUOIT_RING_RAW;
	q->no_calls = p->flags & QUOIT_RING_NO_CALLS;
	q->inner = libquoit_team_depth() > 0;
	q->layout = *layout;
	err = libquoit_shared_make(&q->shared, "quoit-ring", quoit_ring_bytes(layout));
	if (!err)
		err = libquoit_handle_stack_init(&q->handles, &s->handles, q->layout.sq_entries);
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

/* quoitd has mapped the ring: allocate its pages, and begin to use it. */
static int ring_fill(struct quoit_ring *q, uint32_t seals, bool stamps)
{
	int err = libquoit_shared_fill(&q->shared, q->shared.bytes, seals);

	if (!err)
		err = protect(q);
	if (!err)
		bind_pages(q, stamps);
	return err;
}

void libquoit_ring_free(struct quoit_ring *q)
{
	if (libquoit_is_mine(q->mine))
		libquoit_shared_drop(&q->shared);
	if (q->socket >= 0)
		close(q->socket);
	libquoit_handle_stack_done(&q->handles);
	libquoit_job_done(q);
	free(q->holds);
	free(q);
}

/* ---- open and close ---- */

static int check_params(const struct quoit_session *s, const struct quoit_ring_params *p,
			uint32_t entries, unsigned count)
{
	uint32_t cq = p->cq_entries ? p->cq_entries : 2 * entries;
	uint32_t known = QUOIT_RING_RAW | QUOIT_RING_STAMPS | QUOIT_RING_NO_CALLS;

	if (!is_size(entries, QUOIT_MIN_ENTRIES) || entries > s->max_entries)
		libquoit_text_set(
			"the SQ cannot have %u entries: allowed is a power of two from %u to %u",
			entries, QUOIT_MIN_ENTRIES, s->max_entries);
	else if (!is_size(cq, entries))
		libquoit_text_set(
			"the CQ cannot have %u entries: allowed is a power of two from %u to %u",
			cq, entries, 2 * QUOIT_MAX_ENTRIES);
	else if (p->flags & ~known)
		(void)libquoit_text_refuse_flags(p->flags, known,
						 "QUOIT_RING_RAW, QUOIT_RING_STAMPS, "
						 "QUOIT_RING_NO_CALLS");
	else if (p->jobs > 2 * QUOIT_MAX_ENTRIES)
		libquoit_text_set("the ring cannot name %u jobs: at most %u are allowed", p->jobs,
				  2 * QUOIT_MAX_ENTRIES);
	else if (count == 0 || count > QUOIT_MAX_RINGS)
		libquoit_text_set("cannot open %u rings at once: allowed are 1 to %u", count,
				  QUOIT_MAX_RINGS);
	else
		return 0;
	return -EINVAL;
}

static int tell_close(struct quoit_session *s, uint32_t index)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_RING_CLOSE, .job.ring = index};

	return libquoit_control_ask(s, &m, -1);
}

static int tell_ready(struct quoit_session *s)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_READY};

	return libquoit_control_ask(s, &m, -1);
}

static int rings_new(struct quoit_session *s, const struct quoit_ring_params *p,
		     const struct quoit_ring_open *open, struct quoit_ring **ret)
{
	struct quoit_ring_layout layout;

	quoit_ring_layout_of(open, &layout);
	for (uint32_t made = 0; made < open->count; made++) {
		int err = ring_new(s, p, &layout, &ret[made]);

		if (err) {
			while (made)
				libquoit_ring_free(ret[--made]);
			return err;
		}
	}
	return 0;
}

/*
 * Some rings failed, so all must go: quoitd drops those with a missing page or seal, and closes the
 * others.
 */
static void take_back(struct quoit_session *s, uint32_t first, uint32_t count)
{
	if (tell_ready(s))
		return;
	for (uint32_t i = 0; i < count; i++)
		(void)tell_close(s, first + i);
}

/* Hand the rings over, and fill them. */
static int rings_bring(struct quoit_session *s, struct quoit_ctl *m, struct quoit_ring **rings,
		       bool stamps)
{
	const uint32_t count = m->ring_open.count;
	const struct quoit_ring_reply *r = &m->ring_reply;
	int fds[QUOIT_MAX_RINGS], sockets[QUOIT_MAX_RINGS], err;

	for (uint32_t i = 0; i < count; i++)
		fds[i] = rings[i]->shared.fd;
	err = libquoit_control_call(s, m, fds, count, sockets, count);
	/* it was this process that had no descriptors left, not quoitd */
	if (err == -EMFILE && !m->result)
		take_back(s, r->ring, count);
	if (err)
		return err;
	for (uint32_t i = 0; i < count; i++)
		rings[i]->socket = sockets[i];
	if (r->count != count || r->ring > QUOIT_MAX_RINGS - count)
		return libquoit_text_refuse_reply();
	for (uint32_t i = 0; i < count && !err; i++) {
		rings[i]->index = r->ring + i;
		err = ring_fill(rings[i], r->seals, stamps);
	}
	if (err)
		take_back(s, r->ring, count);
	return err ? err : tell_ready(s);
}

/* Open equal rings that are in no list yet.  flags: of ring_open. */
static int open_rings(struct quoit_session *s, const struct quoit_ring_params *p, uint32_t flags,
		      unsigned count, struct quoit_ring **made)
{
	uint32_t entries = p->entries ? p->entries : DEFAULT_ENTRIES;
	struct quoit_ctl m = {.type = QUOIT_CTL_RING_OPEN};
	int err = check_params(s, p, entries, count);

	if (err)
		return err;
	(void)libquoit_text_refuse_memory(); /* unless another text says more */
	m.ring_open =
		(struct quoit_ring_open){.sq_entries = entries,
					 .cq_entries = p->cq_entries ? p->cq_entries : 2 * entries,
					 .flags = flags,
					 .count = count};
	err = rings_new(s, p, &m.ring_open, made);
	if (err)
		return err;
	pthread_mutex_lock(&s->opening);
	err = rings_bring(s, &m, made, flags & QUOIT_RING_STAMPS);
	pthread_mutex_unlock(&s->opening);
	for (unsigned i = 0; err && i < count; i++)
		libquoit_ring_free(made[i]);
	return err;
}

int libquoit_ring_open_team(struct quoit_session *s, uint32_t entries, struct quoit_ring **ret)
{
	const struct quoit_ring_params p = {.entries = entries, .jobs = 1};
	struct quoit_ring *made;
	int err = open_rings(s, &p, QUOIT_RING_CALLS, 1, &made);

	if (err)
		return err;
	*ret = made;
	libquoit_text_set("no error");
	return 0;
}

int libquoit_ring_close_team(struct quoit_ring *q)
{
	int err = tell_close(q->session, q->index);

	if (!err)
		libquoit_handle_empty(&q->handles);
	libquoit_ring_free(q);
	return err;
}

int quoit_open_rings(struct quoit_session *s, const struct quoit_ring_params *params,
		     unsigned count, struct quoit_ring **ret)
{
	static const struct quoit_ring_params defaults;
	const struct quoit_ring_params *p = params ? params : &defaults;
	struct quoit_ring *made[QUOIT_MAX_RINGS];
	int err;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	err = open_rings(s, p, p->flags & QUOIT_RING_STAMPS, count, made);
	if (err)
		return err;
	pthread_mutex_lock(&s->list);
	for (unsigned i = 0; i < count; i++) {
		made[i]->next = s->rings;
		s->rings = ret[i] = made[i];
	}
	pthread_mutex_unlock(&s->list);
	libquoit_text_set("no error");
	return 0;
}

int quoit_open_ring(struct quoit_session *s, const struct quoit_ring_params *params,
		    struct quoit_ring **ret)
{
	return quoit_open_rings(s, params, 1, ret);
}

int libquoit_ring_settle(struct quoit_ring *q)
{
	/*
	 * The program reads no more CQEs of a raw ring.  As a managed one the ring reaps them, and
	 * drops those that it does not know.
	 */
	q->raw = false;
	libquoit_acquire_release_all(q);
	return quoit_wait_all_at(q, QUOIT_FOREVER, NULL);
}

int quoit_close_ring(struct quoit_ring *q)
{
	struct quoit_session *s;
	struct quoit_ring **at;
	int err;

	if (!q)
		return 0;
	s = q->session;
	if (!libquoit_is_mine(q->mine)) {
		(void)libquoit_refuse_child(q);
		return libquoit_text_refuse_child();
	}
	err = libquoit_ring_settle(q);
	if (!libquoit_is_mine(q->mine)) /* the wait ran a function that has forked: a child */
		return libquoit_text_refuse_child();
	if (err)
		libquoit_text_set("%s", q->refusal.text); /* q is about to go */
	else
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

struct quoit_session *quoit_get_session(const struct quoit_ring *q)
{
	return q->session;
}

/* ---- the program's epoll loop ---- */

int quoit_get_fd(struct quoit_ring *q)
{
	return libquoit_is_mine(q->mine) ? q->socket : libquoit_refuse_child(q);
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

int quoit_arm(struct quoit_ring *q)
{
	int err;

	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	err = drain_socket(q);
	if (err)
		q->broken = err;
	/*
	 * Edge W of ring.h once more: we arm and then look at the tail, while quoitd moves the tail
	 * and then looks at arm, all of it sequentially consistent.
	 */
	QUOIT_RING_STORE(&q->client->arm, q->client->arm + 1, QUOIT_RING_SEQ_CST);
	q->cq.cached_tail = QUOIT_RING_TAIL(&q->cq, QUOIT_RING_SEQ_CST);
	if (libquoit_queue_ready(q))
		return 1;
	return q->broken ? libquoit_refuse_broken(q) : 0;
}
