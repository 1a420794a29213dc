/* SPDX-License-Identifier: MIT */
/* backend_io.c - gives transfers slots, and decides what follows a piece */
#include "backend_io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/tsc.h"
#include "io_ring.h"
#include "io_thread.h"
#include "job/probes.h"
#include "machine/features.h"
#include "memory/io_buffers.h"
#include "memory/sigbus_guard.h"
#include "session/owner.h"

/* The most of one piece: quoitd waits for a dead session no longer than this takes. */
#define PIECE_BYTES (16u << 20)

struct io_slot {
	struct session *session; /* NULL: free */
	uint32_t job;
	struct io_piece piece; /* the one under way, or next */
	uint64_t left;         /* bytes from piece.at on */
	int32_t moved;         /* to or from the file */
	bool asked_again;      /* a piece has returned -EAGAIN once */
	bool clearing;         /* past the end of the file: the rest is read from zeros */
};

struct io_backend {
	struct io_ring *ring;       /* NULL: refused; then */
	struct io_threads *threads; /* threads are used */
	struct io_buffers *buffers; /* NULL: refused */
	int zeros;                  /* /dev/zero */
	struct io_slot slot[IO_SLOTS];
};

/* What io_uring lacks is noted; quoitd goes on without it. */
static void make_ring(struct io_backend *io, bool use_uring, struct features *features)
{
	int own = -ECANCELED;
	int err = use_uring ? io_ring_new(io->zeros, &own, &io->ring) : -ECANCELED;

	if (err < 0) {
		features_miss(features, FEATURE_IO_URING, err);
		return;
	}
	if (own < 0)
		features_miss(features, FEATURE_OWN_FILES, own);
	err = io_ring_make_buffers(io->ring);
	if (!err)
		err = io_buffers_new(io_ring_set_buffer, io->ring, &io->buffers);
	if (err < 0)
		features_miss(features, FEATURE_BUFFERS, err);
}

static int make_threads(struct io_backend *io, uint32_t *need_wake, int eventfd,
			struct features *features)
{
	int own, err = io_threads_new(need_wake, eventfd, &own, &io->threads);

	if (!err && own < 0)
		features_miss(features, FEATURE_OWN_FILES, own);
	return err;
}

int io_new(bool use_uring, uint32_t *need_wake, int eventfd, struct features *features,
	   struct io_backend **ret)
{
	struct io_backend *io = calloc(1, sizeof *io);
	int err = 0;

	*ret = NULL;
	if (!io)
		return -ENOMEM;
	(void)signal(SIGXFSZ, SIG_IGN); /* a write beyond quoitd's limit is its job's -EFBIG */
	io->zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (io->zeros < 0)
		err = -errno;
	make_ring(io, use_uring, features);
	if (!err && !io->ring)
		err = make_threads(io, need_wake, eventfd, features);
	if (err < 0) {
		io_free(io);
		return err;
	}
	*ret = io;
	return 0;
}

static bool is_busy(const struct io_backend *io)
{
	for (unsigned i = 0; i < IO_SLOTS; i++)
		if (io->slot[i].session)
			return true;
	return false;
}

void io_free(struct io_backend *io)
{
	if (!io || is_busy(io))
		return;
	io_ring_free(io->ring);
	io_buffers_free(io->buffers);
	io_threads_free(io->threads);
	if (io->zeros >= 0)
		close(io->zeros);
	free(io);
}

int io_fd(const struct io_backend *io)
{
	return io->ring ? io_ring_fd(io->ring) : -1;
}

struct io_buffers *io_registry(const struct io_backend *io)
{
	return io->buffers;
}

/* ---- slots ---- */

/* The lowest free slot, if the session and its user may have one more; NULL: not now. */
static struct io_slot *find_slot(struct io_backend *io, const struct session *s)
{
	struct io_slot *free_slot = NULL;
	unsigned session = 0, user = 0;

	for (unsigned i = IO_SLOTS; i-- > 0;) {
		struct io_slot *slot = &io->slot[i];

		if (!slot->session) {
			free_slot = slot;
			continue;
		}
		session += slot->session == s;
		user += slot->session->uid == s->uid;
	}
	return session < IO_SESSION_SLOTS && user < IO_USER_SLOTS ? free_slot : NULL;
}

/*
 * Choose the buffer that holds the piece, and cut the piece where the buffer ends.  Cut by whole
 * pages: the next piece must be aligned in the file as the job was.
 */
static void choose_buffer(struct io_slot *slot)
{
	const struct session *s = slot->session;
	struct io_piece *p = &slot->piece;
	uint64_t offset, room;

	p->buffer = IO_NO_BUFFER;
	if (!s->pinned || (uint8_t *)p->at < s->pinned ||
	    (uint8_t *)p->at >= s->pinned + s->pinned_registered)
		return;
	offset = (uint64_t)((uint8_t *)p->at - s->pinned);
	room = IO_BUFFER_BYTES - offset % IO_BUFFER_BYTES;
	if (p->bytes > room) {
		room -= room % PAGE_BYTES;
		if (!room)
			return;
		p->bytes = (uint32_t)room;
	}
	p->buffer = s->pinned_buffer + (uint32_t)(offset / IO_BUFFER_BYTES);
}

static void send_piece(struct io_backend *io, struct io_slot *slot)
{
	unsigned index = (unsigned)(slot - io->slot);

	slot->piece.bytes = slot->left < PIECE_BYTES ? (uint32_t)slot->left : PIECE_BYTES;
	if (!io->ring) {
		io_threads_send(io->threads, index, &slot->piece);
		return;
	}
	choose_buffer(slot);
	io_ring_send(io->ring, index, &slot->piece);
}

static int send_first(struct io_backend *io, struct io_slot *slot)
{
	int err = io->ring
			  ? io_ring_take_file(io->ring, (unsigned)(slot - io->slot), slot->piece.fd)
			  : 0;

	if (!err)
		send_piece(io, slot);
	return err;
}

static int file_start(struct reactor *r, struct session *s, struct job *job)
{
	const struct view *v = &s->views[job->view[0]];
	struct io_slot *slot = find_slot(r->io, s);

	if (!slot)
		return -EBUSY;
	*slot = (struct io_slot){.session = s,
				 .job = job_index(s, job),
				 .left = v->hi - v->lo,
				 .piece = {.fd = s->files[job->sqe.scalar[1]].fd,
					   .write = job->sqe.opcode == QUOIT_OP_FILE_WRITE,
					   .at = buffer_data(s, &s->buffers[v->buffer]) + v->lo,
					   .offset = job->sqe.scalar[0]}};
	job->start = job->end = r->now;
	if (!slot->left) {
		slot->session = NULL;
		probe_start(s, job);
		reactor_end_job(r, s, job, 0);
		return 0;
	}
	if (send_first(r->io, slot) < 0) {
		slot->session = NULL;
		return -EBUSY;
	}
	job_become(s, job, JOB_RUNNING);
	probe_start(s, job);
	__atomic_store_n(&s->transfers, s->transfers + 1, __ATOMIC_RELAXED);
	return 0;
}

/* ---- after a piece ---- */

static void advance(struct io_slot *slot, int32_t bytes)
{
	slot->piece.at = (uint8_t *)slot->piece.at + bytes;
	slot->piece.offset += (uint32_t)bytes;
	slot->left -= (uint32_t)bytes;
	if (!slot->clearing)
		slot->moved += bytes;
}

/* True: the transfer has ended, with *ret.  False: send the slot's next piece. */
static bool settle(struct io_backend *io, struct io_slot *slot, int32_t res, int32_t *ret)
{
	*ret = -ECANCELED;
	if (slot->session->dead)
		return true;
	if (res == -EINTR || (res == -EAGAIN && !slot->asked_again)) {
		slot->asked_again |= res == -EAGAIN;
		return false;
	}
	/* With O_DIRECT nothing is aligned behind the file's odd end; nothing more is there. */
	if (res == -EINVAL && slot->moved)
		res = 0;
	*ret = res;
	if (res < 0)
		return true;
	advance(slot, res);
	*ret = slot->moved;
	if (!slot->left || (!res && (slot->piece.write || slot->clearing)))
		return true;
	if (!res) {
		slot->clearing = true;
		slot->piece.fd = io->zeros;
		slot->piece.offset = 0;
	}
	return false;
}

static void on_piece(struct reactor *r, struct io_slot *slot, int32_t res)
{
	struct session *s = slot->session;
	struct job *job = &s->jobs[slot->job];
	int32_t result;

	if (!settle(r->io, slot, res, &result)) {
		send_piece(r->io, slot);
		return;
	}
	slot->session = NULL;
	if (r->io->ring)
		io_ring_give_file(r->io->ring, (unsigned)(slot - r->io->slot));
	__atomic_store_n(&s->transfers, s->transfers - 1, __ATOMIC_RELAXED); /* session.h */
	job->end = tsc_now();
	if (result >= 0 && sigbus_guard_result(s, job->tensors, job->view, &job->error) < 0)
		result = -EFAULT;
	reactor_end_job(r, s, job, result);
}

static bool file_poll(struct reactor *r)
{
	struct io_backend *io = r->io;
	bool any = false;
	unsigned slot;
	int32_t res;

	if (io->ring) {
		while (io_ring_next(io->ring, &slot, &res)) {
			on_piece(r, &io->slot[slot], res);
			any = true;
		}
		return any;
	}
	for (uint64_t done = io_threads_done(io->threads); done; done &= done - 1) {
		slot = (unsigned)__builtin_ctzll(done);
		on_piece(r, &io->slot[slot], io_threads_result(io->threads, slot));
		any = true;
	}
	return any;
}

static void file_submit(struct reactor *r)
{
	if (r->io->ring)
		io_ring_submit(r->io->ring);
}

static bool file_may_sleep(struct reactor *r)
{
	return r->io->ring ? io_ring_may_sleep(r->io->ring) : io_threads_may_sleep(r->io->threads);
}

static void file_abandon(struct reactor *r, struct session *s)
{
	/* A thread cannot be called back: it ends its piece, and gets no other one. */
	for (unsigned i = 0; r->io->ring && i < IO_SLOTS; i++)
		if (r->io->slot[i].session == s)
			io_ring_cancel(r->io->ring, i);
}

const struct backend file_backend = {
	.start = file_start,
	.poll = file_poll,
	.submit = file_submit,
	.may_sleep = file_may_sleep,
	.abandon = file_abandon,
};
