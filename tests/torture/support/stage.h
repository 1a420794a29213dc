/* SPDX-License-Identifier: MIT */
/*
 * stage.h - a quoitd, a canary beside it, and checks of what must hold after every bad client.
 *
 * A case misbehaves as a client.  Afterwards, whatever it did: quoitd is the same process;
 * the canary has done its jobs, bit by bit; descriptors, mappings, threads and memory of
 * quoitd are what they were, within two seconds; and the counters of reasons have risen by
 * exactly what the case announced with stage_expect or met in stage_leave.  In the long form
 * the canary must have kept its pace (pace.h); as machines are noisy, a case that seems to have
 * slowed it down is tried once more.
 *
 * As root the scene is a system's: quoitd serves all users but its own, cases connect as one user
 * and the canary as another.  Otherwise quoitd is private, and both are our own user.
 *
 *	stage.c       the scene, the cases, and what must hold after each
 *	stage_main.c  the program around them
 */
#ifndef TORTURE_STAGE_H
#define TORTURE_STAGE_H

#include <quoit/stats.h>

#include "canary.h"
#include "census.h"
#include "daemon.h"
#include "pace.h"
#include "raw_client.h"

struct stage {
	uint32_t times;   /* factor for the long form of every case; 0: the short form */
	const char *only; /* the only case to play; NULL: all */
	struct daemon daemon;
	struct canary canary;
	const struct quoit_totals *totals;
	struct census before;
	struct pace pace;
	uint64_t counted[QUOIT_DAEMON_NR]; /* the counters before the case */
	uint64_t expected[QUOIT_DAEMON_NR];
	uint64_t random;

	const char *name; /* name of the case */
	const char *skip; /* why it was skipped; NULL: it was played */
	bool bad;
	unsigned passed, failed, skipped;
};

struct stage_case {
	const char *name;
	void (*run)(struct stage *s);
};

/* clang-format off */
#define STAGE_CASE(function) {#function, function}
/* clang-format on */

/* How quoitd is started; all zeros: with its defaults. */
struct stage_scene {
	const char *const *options;
	daemon_prepare_fn *prepare;
	uid_t owner; /* quoitd is private, and all clients are this user's; 0: the default */
};

/*
 * Parse --short, --full or --full=TIMES, and --only=CASE; false after a message: another argument.
 */
bool stage_init(struct stage *s, int argc, char **argv);

/* Are bad clients and the canary different users? */
bool stage_has_users(void);

/* Start the scene, run the cases, and end the scene.  A scene that cannot start has failed. */
void stage_play(struct stage *s, const struct stage_scene *scene, const struct stage_case *cases,
		unsigned count);

/* Run cases that need no quoitd. */
void stage_play_alone(struct stage *s, const struct stage_case *cases, unsigned count);

/* Skip cases that cannot run here. */
void stage_skip(struct stage *s, const struct stage_case *cases, unsigned count, const char *why);

/* Print the last line; returns the exit status. */
int stage_end(const struct stage *s);

/*
 * Run a program of one scene; NULL: a quoitd with its defaults; or of cases that need none.
 * Returns its exit status.
 */
int stage_main(int argc, char **argv, const struct stage_scene *scene,
	       const struct stage_case *cases, unsigned count);
int stage_main_alone(int argc, char **argv, const struct stage_case *cases, unsigned count);

/* ---- for the cases ---- */

/* How often to try: `few` in the short form, TIMES x `many` in the long one. */
uint32_t stage_times(const struct stage *s, uint32_t few, uint32_t many);

/* Note a failure unless good; returns good. */
bool stage_check(struct stage *s, bool good, const char *file, int line, const char *text);
#define CHECK(s, condition) stage_check(s, condition, __FILE__, __LINE__, #condition)

/* Expect this QUOIT_DAEMON_* counter to rise by `events`. */
void stage_expect(struct stage *s, uint32_t counter, uint64_t events);

/* Open a client that quoitd must accept; a failure is noted. */
bool stage_open(struct stage *s, struct raw_client *c, const struct raw_wish *wish);

/*
 * The session must end with this reason within a minute: END names it, and its counter rises.
 * Closes the client.
 */
void stage_await_end(struct stage *s, struct raw_client *c, uint32_t reason);

/*
 * Leave politely (cancelling), or find that quoitd has ended the session; the matching counter must
 * rise.  Closes the client; returns QUOIT_DAEMON_CLIENTS_LEFT or the reason.
 */
uint32_t stage_leave(struct stage *s, struct raw_client *c);

/* Go without a message: CLIENTS_DIED. */
void stage_die(struct stage *s, struct raw_client *c);

/* The present value of a counter in the totals. */
uint64_t stage_count(const struct stage *s, uint32_t counter);

/* The session's counter file, mapped; NULL: it does not exist. */
const struct quoit_session_stats *stage_stats(const struct stage *s, const struct raw_client *c);

/* Repeatable random numbers below a bound. */
uint32_t stage_random(struct stage *s, uint32_t below);

#endif
