/* SPDX-License-Identifier: MIT */
/*
 * channel.h - quoit-exec's side of its channels: requests come, answers go, and sleep between.
 *
 * One channel per reactor of quoitd (quoit/exec.h).  All by one thread.
 */
#ifndef QUOIT_EXEC_CHANNEL_H
#define QUOIT_EXEC_CHANNEL_H

#include <poll.h>

#include <quoit/exec.h>
#include <quoit/ring.h>
#include <quoit/stats.h>

#include "memory.h"

/* Requests taken from one channel before the next has its turn. */
#define CHANNEL_BURST 8u

#define CHANNELS_FOREVER UINT64_MAX

struct channel {
	int socket;
	const struct quoit_exec_daemon_channel *daemon;
	struct quoit_exec_channel *exec;
	struct quoit_consumer requests;
	struct quoit_producer answers;
	struct memory *slots; /* QUOIT_EXEC_SLOTS */
};

struct channels {
	struct quoit_exec_words *words;
	const struct quoit_direct_requests *direct_requests; /* GPU-direct rings, by channel */
	struct quoit_direct_words *direct_words;
	uint32_t count;
	struct channel channel[QUOIT_MAX_REACTORS];
	struct pollfd poll[QUOIT_MAX_REACTORS + 1]; /* the last one: quoitd's own socket */
};

/* Wait for quoitd's start on `socket` and open what it names.  -errno; close in any case. */
int channels_open(struct channels *c, int socket);
void channels_close(struct channels *c);

/* How many requests there are to take, CHANNEL_BURST at most; -EPROTO: that cannot be. */
int channel_ready(struct channel *c);

/* The next request, of a slot whose memory is known; -errno: the two do not understand each other.
 */
int channel_take(struct channel *c, struct quoit_exec_request *ret);

/* Answer, and wake the reactor if it sleeps.  -EPROTO: it was never asked. */
int channel_answer(struct channel *c, const struct quoit_exec_answer *a);

/* A request of this slot has had so many ticks; less than none is none. */
static inline void channel_count(const struct channel *c, uint32_t slot, int64_t ticks)
{
	uint64_t *had = &c->exec->had[slot];

	if (ticks > 0)
		__atomic_store_n(had, *had + (uint64_t)ticks, __ATOMIC_RELAXED);
}

/* In what words.running names a request. */
static inline uint64_t channel_name(uint32_t channel, uint32_t id)
{
	return (uint64_t)channel << 32 | (id + 1);
}

/*
 * What quoitd says of another device's process: 1 and *ret_fd, the caller's, -1: none; 0: nothing.
 * -ECONNRESET: it has hung up, -EPROTO: it speaks another language.
 */
int channels_hear(struct channels *c, struct quoit_exec_peer *ret, int *ret_fd);

/*
 * Sleep until there is a request, most_ns at most.  1: there is something to hear; 0; -ECONNRESET:
 * quoitd has hung up.
 */
int channels_sleep(struct channels *c, uint64_t most_ns);

#endif
