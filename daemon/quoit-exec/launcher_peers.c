/* SPDX-License-Identifier: MIT */
/*
 * launcher_peers.c - memory of other devices, read without a detour through the host.
 *
 * quoitd tells which process has which device, and passes on the descriptor that gives access to
 * its memory.  A copy imports the piece that it reads when it is put into its stream, and releases
 * it when it is over; quoitd makes sure that the piece is not freed before.
 */
#include "launcher_peers.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "launcher_direct.h"
#include "launcher_end.h"
#include "launcher_private.h"

/* A device's process as quoitd told of it.  If it has gone, it stays while flights use it. */
struct peer {
	struct quoit_device_pool *pool;
	uint32_t users; /* flights */
	bool gone;
};

/* ---- other processes ---- */

static void release(struct launcher *l, struct peer *p)
{
	if (!p || p->users)
		return;
	direct_park(l);
	l->driver->pool_release(p->pool);
	free(p);
}

static void forget(struct launcher *l, uint32_t index)
{
	struct peer *p = l->peer[index];

	l->peer[index] = NULL;
	if (p)
		p->gone = true;
	release(l, p);
}

static struct peer *meet(struct launcher *l, uint32_t index, int fd)
{
	struct peer *p = calloc(1, sizeof *p);
	int err;

	if (!p)
		return NULL;
	launcher_works(l, true);
	direct_park(l);
	err = launcher_check(l, l->driver->pool_import(l->device, index, fd, &p->pool));
	launcher_works(l, false);
	if (!err)
		return p;
	free(p); /* it cannot be reached: copies go through the host */
	return NULL;
}

int peers_hear(struct launcher *l)
{
	struct quoit_exec_peer m;
	int fd, n;

	while ((n = channels_hear(l->channels, &m, &fd)) > 0) {
		if (m.device - 1 < QUOIT_EXEC_DEVICES) {
			forget(l, m.device - 1);
			if (fd >= 0 && l->driver->pool_import)
				l->peer[m.device - 1] = meet(l, m.device - 1, fd);
		}
		if (fd >= 0)
			(void)close(fd);
	}
	return n;
}

void peers_close(struct launcher *l)
{
	for (uint32_t i = 0; i < QUOIT_EXEC_DEVICES; i++)
		forget(l, i);
}

/* ---- copies ---- */

bool flight_is_from_peer(const struct flight *f)
{
	return f->q.op == QUOIT_OP_COPY && f->q.view[1].given &&
	       f->q.view[1].region == QUOIT_EXEC_ON_PEER;
}

static int import(struct launcher *l, struct flight *f)
{
	uint32_t index = f->q.view[1].buffer - 1;
	struct peer *p;
	int err;

	/*
	 * quoitd tells of a process before it names it in a request, so there may be a newer one.
	 */
	(void)peers_hear(l); /* a hang-up is noticed before the next sleep */
	p = index < QUOIT_EXEC_DEVICES ? l->peer[index] : NULL;
	if (!p)
		return -ENOTSUP;
	launcher_works(l, true);
	direct_park(l);
	err = launcher_check(
		l, l->driver->memory_import(p->pool, &f->q.from, f->q.bytes[1], &f->imported));
	launcher_works(l, false);
	if (err)
		return -ENOTSUP;
	f->peer = p;
	p->users++;
	return 0;
}

int peer_copy(struct launcher *l, struct flight *f)
{
	const struct quoit_exec_view *to = &f->q.view[0], *from = &f->q.view[1];
	uint64_t bytes = flight_view_bytes(to), address;
	int err;

	if (to->region != QUOIT_EXEC_ON_DEVICE || from->offset > f->q.bytes[1] ||
	    bytes > f->q.bytes[1] - from->offset)
		return -EPROTO;
	err = holding_find(l, flight_holding(l, f), to->buffer, f->q.bytes[0], &address);
	if (!err && !f->peer)
		err = import(l, f);
	if (err)
		return err;
	return launcher_check(l, l->driver->copy(l->stream[f->stream].stream, address + to->offset,
						 f->imported + from->offset, bytes,
						 QUOIT_DEVICE_WITHIN));
}

void peer_leave(struct launcher *l, struct flight *f)
{
	struct peer *p = f->peer;

	if (!p)
		return;
	f->peer = NULL;
	direct_park(l);
	(void)launcher_check(l, l->driver->memory_release(p->pool, f->imported));
	p->users--;
	if (p->gone)
		release(l, p);
}

/* ---- exports ---- */

int export_buffer(struct launcher *l, const struct flight *f)
{
	struct channel *c = &l->channels->channel[flight_channel(l, f)];
	const struct device_buffer *b = holding_look(l, flight_holding(l, f), f->q.view[0].buffer);

	if (!l->driver->memory_export || !b)
		return -ENOTSUP;
	direct_park(l);
	return launcher_check(l, l->driver->memory_export(l->device, b->address,
							  &c->exec->exported[f->q.id]))
		       ? -ENOTSUP
		       : 0;
}
