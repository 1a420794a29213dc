/* SPDX-License-Identifier: MIT */
/* memory_thread.c - fallocate and punch, off the reactors */
#include "memory_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory_pinned.h"
#include "session/session.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

struct memory_thread {
	pthread_t thread;
	struct memory_link *links;
	unsigned count;
	bool huge; /* shared memory can have huge pages */
	int eventfd;
	uint32_t need_wake;
	int stop; /* atomic */
};

/* One thread serves the whole process: its bell is reached from memory_send. */
static struct memory_thread *the_thread;

void memory_link_init(struct memory_link *l, uint32_t *reactor_need_wake, int reactor_eventfd)
{
	l->request_head = l->request_tail = l->answer_head = l->answer_tail = 0;
	quoit_producer_init(&l->to_thread, &l->request_tail, &l->request_head, MEMORY_ENTRIES);
	quoit_consumer_init(&l->requests, &l->request_head, &l->request_tail, MEMORY_ENTRIES);
	quoit_producer_init(&l->answers, &l->answer_tail, &l->answer_head, MEMORY_ENTRIES);
	quoit_consumer_init(&l->from_thread, &l->answer_head, &l->answer_tail, MEMORY_ENTRIES);
	l->reactor_need_wake = reactor_need_wake;
	l->reactor_eventfd = reactor_eventfd;
}

static void ring_bell(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof one);

	(void)n; /* the counter cannot overflow: the other side drains it */
}

bool memory_send(struct memory_link *l, const struct memory_message *m)
{
	uint32_t i;

	if (!quoit_ring_reserve(&l->to_thread, &i))
		return false;
	l->request[i % MEMORY_ENTRIES] = *m;
	if (quoit_ring_submit_wake(&l->to_thread, &the_thread->need_wake))
		ring_bell(the_thread->eventfd);
	return true;
}

const struct memory_message *memory_next_answer(struct memory_link *l)
{
	if (!quoit_ring_peek(&l->from_thread))
		return NULL;
	return &l->answer[l->from_thread.next % MEMORY_ENTRIES];
}

void memory_answer_done(struct memory_link *l)
{
	quoit_ring_release(&l->from_thread, 1);
}

/* In pieces, so that no single call holds the file's locks for long. */
static int change_pages(int fd, int mode, uint64_t offset, uint64_t bytes)
{
	while (bytes) {
		uint64_t n = bytes < MEMORY_PART_BYTES ? bytes : MEMORY_PART_BYTES;

		if (fallocate(fd, mode, (off_t)offset, (off_t)n) < 0) {
			if (errno == EINTR)
				continue;
			return errno == ENOSPC ? -ENOMEM : -errno;
		}
		offset += n;
		bytes -= n;
	}
	return 0;
}

/*
 * Huge pages for what they fill whole: one that reached over a piece's edge would be memory of
 * nobody's.  Where shmem_enabled says "advise", fallocate never takes any, touching does.  That
 * it fails need not be known: fallocate comes after it and tells.
 */
static void take_huge_pages(const struct region *r, uint64_t offset, uint64_t bytes)
{
	uint64_t end = (offset + bytes) & -REGION_HUGE_BYTES;
	uint64_t at = (offset + REGION_HUGE_BYTES - 1) & -REGION_HUGE_BYTES;

	for (; at < end; at += REGION_HUGE_BYTES)
		if (madvise(r->base + at, REGION_HUGE_BYTES, MADV_POPULATE_WRITE) < 0)
			return;
}

/* All that has pages, found by the holes: most of a region is one. */
static void punch_all(int fd, uint64_t bytes)
{
	off_t start = 0, end;

	while ((start = lseek(fd, start, SEEK_DATA)) >= 0 && (uint64_t)start < bytes) {
		end = lseek(fd, start, SEEK_HOLE);
		if (end <= start || change_pages(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
						 (uint64_t)start, (uint64_t)(end - start)) < 0)
			return; /* closing gives it back too, in one go */
		start = end;
	}
}

static int32_t perform(struct memory_message *m)
{
	int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	int err, fd = m->session->region.fd;

	switch (m->op) {
	case MEMORY_PUNCH:
		return change_pages(fd, punch, m->offset, m->bytes);
	case MEMORY_CLOSE:
		punch_all(fd, m->session->region.bytes);
		region_close(&m->session->region);
		memory_pinned_withdraw(m->session);
		/* An executor that is at work may have these mapped for a while: not the pages. */
		punch_all(m->session->pinned_fd, m->session->pinned_bytes);
		punch_all(m->session->bridge.fd, BRIDGE_BYTES);
		/* Nor is the client to keep pages that nobody is charged for. */
		punch_all(m->session->arena_fd, m->session->arena_bytes);
		return 0;
	case MEMORY_FILL:
		return memory_pinned_fill_part(m);
	case MEMORY_TIDY:
		return memory_pinned_tidy_part(m->session);
	default:
		if (the_thread->huge)
			take_huge_pages(&m->session->region, m->offset, m->bytes);
		err = change_pages(fd, 0, m->offset, m->bytes);
		if (err < 0) /* what was taken before the failure */
			(void)change_pages(fd, punch, m->offset, m->bytes);
		return err;
	}
}

static void serve(struct memory_link *l, struct memory_message *m)
{
	uint32_t i;

	m->result = perform(m);
	/* A reactor has at most MEMORY_ENTRIES requests open, so there is room for the answer. */
	while (!quoit_ring_reserve(&l->answers, &i))
		sched_yield();
	l->answer[i % MEMORY_ENTRIES] = *m;
	if (quoit_ring_submit_wake(&l->answers, l->reactor_need_wake))
		ring_bell(l->reactor_eventfd);
}

static bool serve_all(struct memory_thread *t)
{
	bool any = false;

	for (unsigned i = 0; i < t->count; i++) {
		struct memory_link *l = &t->links[i];

		if (quoit_ring_peek(&l->requests)) {
			struct memory_message m = l->request[l->requests.next % MEMORY_ENTRIES];

			quoit_ring_release(&l->requests, 1);
			serve(l, &m);
			any = true;
		}
	}
	return any;
}

static bool may_sleep(struct memory_thread *t)
{
	bool idle = true;

	for (unsigned i = 0; i < t->count; i++)
		idle &= quoit_ring_sleep(&t->links[i].requests, &t->need_wake);
	return idle;
}

static void *run(void *arg)
{
	struct memory_thread *t = arg;

	while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE)) {
		uint64_t count;
		ssize_t n;

		if (serve_all(t))
			continue;
		if (may_sleep(t)) {
			n = read(t->eventfd, &count, sizeof count);
			(void)n;
		}
		quoit_ring_awake(&t->need_wake);
	}
	return NULL;
}

int memory_thread_start(struct memory_link *links, unsigned count, bool huge,
			struct memory_thread **ret)
{
	struct memory_thread *t = calloc(1, sizeof *t);
	int err;

	*ret = NULL;
	if (!t)
		return -ENOMEM;
	t->links = links;
	t->count = count;
	t->huge = huge;
	t->eventfd = eventfd(0, EFD_CLOEXEC);
	if (t->eventfd < 0) {
		err = -errno;
		free(t);
		return err;
	}
	the_thread = t;
	err = pthread_create(&t->thread, NULL, run, t);
	if (err) {
		close(t->eventfd);
		free(t);
		return -err;
	}
	(void)pthread_setname_np(t->thread, "quoit-memory");
	*ret = t;
	return 0;
}

void memory_thread_stop(struct memory_thread *t)
{
	if (!t)
		return;
	__atomic_store_n(&t->stop, 1, __ATOMIC_RELEASE);
	ring_bell(t->eventfd);
	pthread_join(t->thread, NULL);
	close(t->eventfd);
	free(t);
}
