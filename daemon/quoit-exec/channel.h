/* SPDX-License-Identifier: MIT */
/*
 * channel.h - quoit-exec's side of its channels: take requests, send answers, sleep in between.
 *
 * There is one channel per reactor of quoitd (quoit/exec.h).  One thread calls all functions.
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

/*
 * Wait for quoitd's start message on `socket`, and open what it names.  0 or -errno; call
 * channels_close in any case.
 */
int channels_open(struct channels *c, int socket);
void channels_close(struct channels *c);

/*
 * How many requests there are to take, CHANNEL_BURST at most; -EPROTO: impossible ring positions.
 */
int channel_ready(struct channel *c);

/*
 * Take the next request; its slot's memory is known then.  0, or -errno: quoitd and quoit-exec do
 * not understand each other.
 */
int channel_take(struct channel *c, struct quoit_exec_request *ret);

/* Answer, and wake the reactor if it sleeps.  0; -EPROTO: there was no request for it. */
int channel_answer(struct channel *c, const struct quoit_exec_answer *a);

/* A request of this slot has used so many ticks; a negative number counts as 0. */
static inline void channel_count(const struct channel *c, uint32_t slot, int64_t ticks)
{
	uint64_t *had = &c->exec->had[slot];

	if (ticks > 0)
		__atomic_store_n(had, *had + (uint64_t)ticks, __ATOMIC_RELAXED);
}

/* The name of a request in words.running. */
static inline uint64_t channel_name(uint32_t channel, uint32_t id)
{
	return (uint64_t)channel << 32 | (id + 1);
}

/*
 * Take a message about another device's process.  1: *ret is filled, and *ret_fd is the caller's
 * (-1: none); 0: no message; -ECONNRESET: quoitd has hung up; -EPROTO: the message is invalid.
 */
int channels_hear(struct channels *c, struct quoit_exec_peer *ret, int *ret_fd);

/*
 * Sleep until there is a request, most_ns at most.  1: channels_hear has something; 0: not;
 * -ECONNRESET: quoitd has hung up.
 */
int channels_sleep(struct channels *c, uint64_t most_ns);

#endif
