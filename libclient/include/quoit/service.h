/* SPDX-License-Identifier: MIT */
/*
 * service.h - functions of another process, as jobs.
 *
 *	quoit_serve(s, "fft", functions, 2, NULL, &team);          // a process that serves
 *
 *	quoit_open_service(s, "fft", 1000, &service);              // another one that calls
 *	int f = quoit_find_service_function(service, "forward");
 *	quoit_push(q, quoit_call(f, y, x, 0, 0));
 *
 * A call of a service is a job like a call of one's own function (quoit/team.h): ordered by the data
 * of its tensors, with a priority, a deadline, and the function's own errors.  The same rules hold
 * for its tensors.
 *
 * A service has a name, which belongs to a user: "fft" is the caller's own user's, "alice/fft" that
 * of alice.  Any number of processes may serve one: quoitd hands each call to a thread that is free,
 * and divides the threads between the users that call, by their shares.  If a process ends, the
 * calls that its threads were in fail (-QUOIT_EEXEC); all others go to another process of that name,
 * or wait for one.  What the caller does not do: start the service, or notice that it was started
 * again.
 *
 * Trust: a process that serves may read the whole shared region and arena of those who call it, as
 * long as they are open.  It writes nothing there: what its functions write is put into memory of
 * its own, and quoitd copies that into the caller's tensors.  It must take what it reads as it takes
 * any input: the caller may change it at any time.
 */
#ifndef QUOIT_SERVICE_H
#define QUOIT_SERVICE_H

#include <quoit/team.h>

struct quoit_service;

struct quoit_serve_params {
	unsigned lanes; /* these three as in quoit_team_params */
	uint32_t flags;
	uint32_t entries;
	/*
	 * Who may call, besides this process's user and root: 0: nobody; QUOIT_SERVE_GROUP: the
	 * members of the group `gid`, which must be one of this process's; QUOIT_SERVE_OTHERS: all.
	 */
	uint32_t mode;
	uint32_t gid; /* 0 without QUOIT_SERVE_GROUP */
};

/*
 * Serve a service of this name with these functions, and start threads for it, as quoit_open_team
 * does.  The name has 1 to 31 characters, printable ASCII without blanks and without '/'.  All
 * processes that serve one name must have the same functions, in the same order; one that comes
 * later may have more.  params may be NULL.
 *
 * What the functions write is taken from the session's arena (quoit_open_params.arena_bytes), in
 * which there must be room for as many calls as there are threads, and a few more; without room a
 * call fails with -ENOMEM.
 *
 * The team is for quoit_serve_team and quoit_close_team; its functions are called by the service's
 * name only.  When it is closed, calls that have not begun go to another process.
 *
 * -EINVAL: a name, a function or a parameter is not allowed, or does not fit the service that there
 * is; -EEXIST: a lock or its kin has the name; -EPERM: the group is not one of this process's;
 * -ENFILE: the user has 256 services and things with a name; and as quoit_open_team.
 * quoit_open_text says more.
 */
QUOIT_TO_CHECK int quoit_serve(struct quoit_session *s, const char *name,
			       const struct quoit_function *functions, unsigned count,
			       const struct quoit_serve_params *params, struct quoit_team **ret);

/*
 * Look up a service, by "NAME" or "USER/NAME" (USER: a name or a number).  If nobody serves it,
 * wait for up to wait_ms (0 to QUOIT_SERVICE_MOST_MS) until somebody does.  Later, a call waits as
 * long if nobody serves the service any more, and then fails with -ENOENT; if the session has
 * opened the service before and not closed it, as long as that said.  *ret is the caller's until
 * quoit_close_service or quoit_close.  -ENOENT: nobody serves it, or this user may not call it, or
 * there is no such user; -EINVAL: the name or the time is not allowed, or something else has the
 * name; -ENFILE: the session calls QUOIT_MAX_SERVICES already; -EDQUOT: the user has no memory
 * left.  quoit_open_text says more.
 */
QUOIT_TO_CHECK int quoit_open_service(struct quoit_session *s, const char *name, unsigned wait_ms,
				      struct quoit_service **ret);

/*
 * The number of a function of the service, for quoit_call; -ENOENT: it has none of this name, as
 * quoit_open_text says.
 */
int quoit_find_service_function(const struct quoit_service *service, const char *name);

/*
 * Let go of the service.  Once it was closed as often as opened, calls that no process has got fail
 * with -ECANCELED, and later ones with -EINVAL; those that a process has go on.  service may be
 * NULL.  -ECONNRESET: quoitd is gone; the service is freed all the same.  -EOWNERDEAD: this is a
 * child process.
 */
int quoit_close_service(struct quoit_service *service);

#endif
