/* SPDX-License-Identifier: MIT */
/*
 * shares.c - measure how users divide the cores, and a user's small job beside a flood
 *
 * Usage: shares [ROUNDS].  It runs $QUOIT_BUILD/quoitd for several users, so only root can run it.
 * It prints a line for each figure: name, median, least and greatest of ROUNDS (3).
 *
 *	NAME_off   how far a user with 3 times the share is from getting 3 times as much, in %: of
 *	           core time, of time in tiles, or of a soft device's streams
 *	p99_us     99 of 100 NOPs of a user take at most this long; there is one NOP a millisecond,
 *	           with sleep in between.  idle_: alone; flooded_: beside products of 3000^3 of
 *	           another user with the same share; and the ratio of the two
 *	kept       the part of its rate that this flood keeps
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <quoit.h>

#include "support/figures.h"
#include "configuration.h"
#include "daemon.h"
#include "flood.h"
#include "fair/ledger.h"

enum { ALICE = 61001, BOB };

#define ROUNDS_MOST 64u
#define FIRST       5u /* jobs of each session */
#define SETTLE_US   500000
#define WINDOW_US   4000000
#define SHARE       300 /* Bob's share in these measurements; Alice has the default */
#define PINGS       3000u
#define PERIOD_NS   1000000
#define LONG_ROWS   3000u

/* ---- quoitd ---- */

static void let_others_in(const struct daemon *d)
{
	(void)chmod(d->folder, 0755);
}

/* What the users' jobs need. */
enum wish {
	INLINE,
	TILES,
	DEVICE,
};

static void start(struct daemon *d, enum wish wish, unsigned share_of_bob)
{
	struct configuration configuration;
	const char *options[] = {configuration.option, NULL};

	figures_must(configuration_make(
			     &configuration,
			     "private = no\nreactors = 1\nmemory = 16G\n%s[user %d]\nshare = %u\n",
			     wish == DEVICE ? "gpu = soft\n" : "", BOB, share_of_bob),
		     "no temporary file");
	figures_must(daemon_start_prepared(d, options, let_others_in) == 0,
		     "quoitd does not start");
	figures_must(configuration_remove(&configuration), "a temporary file stays");
}

/* ---- what users get ---- */

static uint64_t sum(const struct daemon *d, unsigned counter, uint64_t first, unsigned sessions)
{
	uint64_t sum = 0;

	for (uint64_t s = first; s < first + sessions; s++)
		sum += daemon_session_counter(d, s, counter);
	return sum;
}

/* Ticks that each user has had. */
struct had {
	uint64_t alice, bob;
};

struct pair {
	struct daemon d;
	struct flood alice, bob;
	unsigned crowd;
	enum wish wish;
};

/*
 * For tiles only the time of tiles counts: a thousand sessions also take some of the reactor's
 * time, of which there is then more than enough for both.
 */
static struct had look(const struct pair *p)
{
	static const unsigned counters[] = {[INLINE] = QUOIT_SESSION_CORE_TICKS,
					    [TILES] = QUOIT_SESSION_TILE_TICKS,
					    [DEVICE] = QUOIT_SESSION_EXECUTOR_TICKS};
	const unsigned counter = counters[p->wish];

	return (struct had){.alice = sum(&p->d, counter, 1, p->crowd),
			    .bob = sum(&p->d, counter, 1 + p->crowd, 1)};
}

static void begin(struct pair *p)
{
	struct flood_wish wish = {.uid = ALICE,
				  .sessions = p->crowd,
				  .tiles = p->wish != INLINE,
				  .device = p->wish == DEVICE};

	start(&p->d, p->wish, SHARE);
	wish.socket = p->d.socket;
	figures_must(flood_begin(&p->alice, &wish), "no flood");
	while (flood_done(&p->alice) < FIRST * p->crowd) /* then each session has its memory */
		usleep(1000);
	wish.uid = BOB;
	wish.sessions = 1;
	figures_must(flood_begin(&p->bob, &wish), "no flood");
}

static void end(struct pair *p)
{
	flood_end(&p->alice);
	flood_end(&p->bob);
	daemon_stop(&p->d);
}

/* The deviation from the right ratio, in %. */
static double divide(unsigned crowd, enum wish wish)
{
	struct pair p = {.crowd = crowd, .wish = wish};
	struct had before, after;
	double off;

	begin(&p);
	usleep(SETTLE_US);
	before = look(&p);
	usleep(WINDOW_US);
	after = look(&p);
	end(&p);
	off = (double)(after.bob - before.bob) / (double)(after.alice - before.alice) * 100 * 100 /
		      SHARE -
	      100;
	return off < 0 ? -off : off;
}

static void measure_division(const char *name, unsigned crowd, enum wish wish, unsigned rounds)
{
	double off[ROUNDS_MOST];

	for (unsigned i = 0; i < rounds; i++)
		off[i] = divide(crowd, wish);
	figures_print(name, "", off, rounds);
}

/* ---- a small job beside a flood ---- */

static double ping(struct quoit_ring *q)
{
	const struct quoit_cqe *cqe;
	double begun = figures_now_us();
	int n;

	*quoit_get_sqe(q) = quoit_nop(QUOIT_NO_TENSOR);
	while ((n = quoit_peek(q, &cqe)) == 0)
		if (quoit_wait_cqe(q, QUOIT_FOREVER) < 0)
			_exit(1);
	quoit_release(q, (unsigned)n);
	return figures_now_us() - begun;
}

/* Runs as Bob: the 99th percentile, in us. */
static double ping_many(const void *of)
{
	static double took[PINGS];
	struct quoit_open_params params = {.socket = of, .host_bytes = UINT64_C(8) << 20};
	struct quoit_ring_params raw = {.flags = QUOIT_RING_RAW};
	struct timespec period = {.tv_nsec = PERIOD_NS};
	struct quoit_session *s;
	struct quoit_ring *q;

	if (quoit_open(&params, &s) || quoit_open_ring(s, &raw, &q))
		_exit(1);
	for (unsigned i = 0; i < PINGS; i++) {
		took[i] = ping(q);
		nanosleep(&period, NULL);
	}
	figures_sort(took, PINGS);
	return took[PINGS / 100 * 99];
}

static double p99(const struct daemon *d)
{
	return figures_as(BOB, ping_many, d->socket);
}

/* Jobs of the flood per second, with Bob (*ret_p99 is his figure) or without (NULL). */
static double flood_rate(const struct daemon *d, const struct flood *f, double *ret_p99)
{
	uint64_t before;
	double begun;

	/* Count from the end of one job to that of another, since jobs are long. */
	for (before = flood_done(f); flood_done(f) == before;)
		usleep(1000);
	before = flood_done(f);
	begun = figures_now_us();
	if (ret_p99)
		*ret_p99 = p99(d);
	else
		usleep(PINGS * (PERIOD_NS / 1000));
	for (uint64_t last = flood_done(f); flood_done(f) == last;)
		usleep(1000);
	return (double)(flood_done(f) - before) * 1e6 / (figures_now_us() - begun);
}

static void measure_flood(unsigned rounds)
{
	double idle[ROUNDS_MOST], flooded[ROUNDS_MOST], ratio[ROUNDS_MOST], kept[ROUNDS_MOST];
	struct daemon d;

	start(&d, TILES, SHARE_NORMAL);
	for (unsigned i = 0; i < rounds; i++) {
		struct flood_wish wish = {.socket = d.socket,
					  .uid = ALICE,
					  .sessions = 1,
					  .tiles = true,
					  .rows = LONG_ROWS};
		struct flood f;
		double alone;

		idle[i] = p99(&d);
		figures_must(flood_begin(&f, &wish), "no flood");
		usleep(SETTLE_US);
		alone = flood_rate(&d, &f, NULL);
		kept[i] = flood_rate(&d, &f, &flooded[i]) / alone;
		ratio[i] = flooded[i] / idle[i];
		flood_end(&f);
	}
	daemon_stop(&d);
	figures_print("idle_p99_us", "", idle, rounds);
	figures_print("flooded_p99_us", "", flooded, rounds);
	figures_print("p99/idle", "", ratio, rounds);
	figures_print("kept", "", kept, rounds);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 3;

	if (geteuid()) {
		fprintf(stderr, "shares: only root can be several users\n");
		return 77;
	}
	if (!rounds || rounds > ROUNDS_MOST)
		rounds = 3;
	measure_division("inline_off", 1, INLINE, rounds);
	measure_division("inline_crowd_off", 1000, INLINE, rounds);
	measure_division("tiles_off", 1, TILES, rounds);
	measure_division("tiles_crowd_off", 1000, TILES, rounds);
	measure_division("device_off", 1, DEVICE, rounds);
	measure_division("device_crowd_off", 128, DEVICE, rounds);
	measure_flood(rounds);
	return 0;
}
