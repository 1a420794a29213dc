/* SPDX-License-Identifier: MIT */
/*
 * offer.h - processes that serve a service, or call one, for tests of who sees what of it.
 *
 * The service has three functions without tensors: "nap" sleeps as many microseconds as its first
 * scalar says, "pass" waits until it is let go, and "fail" fails.  They count in memory that they
 * share with the test.
 */
#ifndef TESTS_OFFER_H
#define TESTS_OFFER_H

#include <stdint.h>
#include <sys/types.h>

#include <quoit.h>

struct offer {
	uint32_t open;  /* "pass" returns */
	uint32_t begun; /* calls that functions have begun */
	uint64_t ns;    /* time that functions ran, by their own clock */
	uint64_t longest_ns;
};

struct offer *offer_make(void);
void offer_free(struct offer *o);

/* The user that the process becomes, and the one group that it has besides; 0: it stays as is. */
struct offer_who {
	uid_t uid;
	gid_t group;
};

/* Serve it in a process of its own, and return when it is served; its PID. */
pid_t offer_serve(struct offer *o, const char *socket, const char *name,
		  const struct quoit_serve_params *params, struct offer_who who);

/* Call "nap" so often in a process of its own, which then stays; its PID. */
pid_t offer_call(const char *socket, const char *name, unsigned calls, struct offer_who who);

/* Kill such a process. */
void offer_end(pid_t pid);

#endif
