/* SPDX-License-Identifier: MIT */
/* rates.c - compute rates between two readings of the totals */
#include "rates.h"

#include <stddef.h>

static const struct {
	const char *key, *json, *help;
	enum rate_kind kind;
} rates[RATE_NR] = {
#define RATE_ROW(NAME, key, json, kind, help) {key, json, help, RATE_##kind},
	RATES(RATE_ROW)
#undef RATE_ROW
};

const char *rates_key(enum rate rate)
{
	return rates[rate].key;
}

const char *rates_json_key(enum rate rate)
{
	return rates[rate].json;
}

enum rate_kind rates_kind(enum rate rate)
{
	return rates[rate].kind;
}

const char *rates_help(enum rate rate)
{
	return rates[rate].help;
}

bool rates_are_of_one(const struct counters_totals *from, const struct counters_totals *to)
{
	return from->origin.daemon_pid == to->origin.daemon_pid &&
	       from->origin.started_ns == to->origin.started_ns && from->reactors == to->reactors;
}

/* ---- one reactor ---- */

/* How much a counter has grown; a counter that has shrunk is damaged, and not known. */
static struct counter grown(const struct counter *from, const struct counter *to)
{
	uint64_t before = from ? from->value : 0;

	return (struct counter){.value = to->value - before,
				.known =
					to->known && (!from || from->known) && to->value >= before};
}

struct between {
	const struct counter *from, *to; /* a reactor's counters; from NULL: all zero */
	double ticks, seconds;           /* time that has passed for it; 0: none, or not known */
};

static struct between between(const struct counters_totals *from, const struct counters_totals *to,
			      unsigned reactor, uint64_t now_ns)
{
	double hz = (double)to->origin.tsc_hz;
	struct between b = {.from = from ? from->reactor[reactor].value : NULL,
			    .to = to->reactor[reactor].value};

	if (from) {
		struct counter beats =
			grown(&b.from[QUOIT_REACTOR_HEARTBEAT], &b.to[QUOIT_REACTOR_HEARTBEAT]);

		b.ticks = beats.known ? (double)beats.value : 0;
	} else if (now_ns > to->origin.started_ns) {
		b.ticks = (double)(now_ns - to->origin.started_ns) * hz / 1e9;
	}
	b.seconds = hz > 0 ? b.ticks / hz : 0;
	return b;
}

static struct counter of(const struct between *b, unsigned counter)
{
	return grown(b->from ? &b->from[counter] : NULL, &b->to[counter]);
}

static void set(struct rates *r, enum rate rate, bool known, double value)
{
	r->known[rate] = known;
	r->value[rate] = known ? value : 0;
}

/* If a reactor's counters are unchanged, it has slept meanwhile. */
static void set_ratio(struct rates *r, enum rate rate, struct counter part, double whole,
		      double times)
{
	if (!part.value)
		set(r, rate, part.known, 0);
	else
		set(r, rate, part.known && whole > 0,
		    whole > 0 ? times * (double)part.value / whole : 0);
}

static void set_shares(struct rates *r, const struct between *b)
{
	struct counter work = of(b, QUOIT_REACTOR_WORK_TICKS);
	struct counter tiles = of(b, QUOIT_REACTOR_TILE_TICKS);
	struct counter both = {.value = work.value + tiles.value,
			       .known = work.known && tiles.known};
	double rest;

	set_ratio(r, RATE_UTIL_OF, of(b, QUOIT_REACTOR_BUSY_TICKS), b->ticks, 100);
	set_ratio(r, RATE_CORES_OF, both, b->ticks, 1);
	set_ratio(r, RATE_WORK_OF, work, b->ticks, 100);
	set_ratio(r, RATE_POLL_OF, of(b, QUOIT_REACTOR_POLL_TICKS), b->ticks, 100);
	rest = 100 - r->value[RATE_WORK_OF] - r->value[RATE_POLL_OF];
	set(r, RATE_SLEEP_OF, r->known[RATE_WORK_OF] && r->known[RATE_POLL_OF],
	    rest > 0 ? rest : 0);
}

static void set_await(struct rates *r)
{
	bool known =
		r->known[RATE_DEPTH_OF] && r->known[RATE_JOBS_OF] && r->value[RATE_JOBS_OF] > 0;

	set(r, RATE_AWAIT_OF, known, known ? r->value[RATE_DEPTH_OF] / r->value[RATE_JOBS_OF] : 0);
}

void rates_of_reactor(const struct counters_totals *from, const struct counters_totals *to,
		      unsigned reactor, uint64_t now_ns, struct rates *ret)
{
	struct between b = between(from, to, reactor, now_ns);
	const struct counter *sessions = &b.to[QUOIT_REACTOR_SESSIONS];
	const struct counter *open = &b.to[QUOIT_REACTOR_OPEN];
	const struct counter *named = &b.to[QUOIT_REACTOR_WAIT_NAMED];

	*ret = (struct rates){0};
	set(ret, RATE_SESSIONS_OF, sessions->known, (double)sessions->value);
	set(ret, RATE_OPEN_OF, open->known, (double)open->value);
	set_ratio(ret, RATE_JOBS_OF, of(&b, QUOIT_REACTOR_JOBS), b.seconds, 1);
	set_ratio(ret, RATE_DEPTH_OF, of(&b, QUOIT_REACTOR_QUEUE_TICKS), b.ticks, 1);
	set_ratio(ret, RATE_MOVED_OF, of(&b, QUOIT_REACTOR_BYTES), b.seconds, 1e-6);
	set_ratio(ret, RATE_SLEEPS_OF, of(&b, QUOIT_REACTOR_SLEEPS), b.seconds, 1);
	set_ratio(ret, RATE_EXEC_OF, of(&b, QUOIT_REACTOR_EXEC_REQUESTS), b.seconds, 1);
	set_ratio(ret, RATE_BELLS_OF, of(&b, QUOIT_REACTOR_EXEC_BELLS), b.seconds, 1);
	set_ratio(ret, RATE_CALLS_OF, of(&b, QUOIT_REACTOR_CALLS), b.seconds, 1);
	set(ret, RATE_NAMED_OF, named->known, (double)named->value);
	set_shares(ret, &b);
	set_await(ret);
}

/* ---- all ---- */

static void set_events(struct rates *r, enum rate rate, const struct counters_totals *from,
		       const struct counters_totals *to, const uint8_t *counters, size_t count)
{
	bool known = false;
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		struct counter c =
			grown(from ? &from->value[counters[i]] : NULL, &to->value[counters[i]]);

		known |= c.known;
		sum += c.known ? (double)c.value : 0;
	}
	set(r, rate, known, sum);
}

static bool is_averaged(enum rate rate)
{
	return rates[rate].kind == RATE_PERCENT;
}

void rates_of_all(const struct counters_totals *from, const struct counters_totals *to,
		  uint64_t now_ns, struct rates *ret)
{
	static const uint8_t refused[] = {
		QUOIT_DAEMON_REFUSED_UID,     QUOIT_DAEMON_REFUSED_CONNECTIONS,
		QUOIT_DAEMON_REFUSED_VERSION, QUOIT_DAEMON_REFUSED_LEASE,
		QUOIT_DAEMON_REFUSED_RINGS,   QUOIT_DAEMON_REFUSED_KERNELS};
	static const uint8_t killed[] = {
		QUOIT_DAEMON_KILL_RETURN,       QUOIT_DAEMON_KILL_PROTO,
		QUOIT_DAEMON_KILL_SLOW_CTL,     QUOIT_DAEMON_KILL_HANDSHAKE,
		QUOIT_DAEMON_KILL_RING_TAIL,    QUOIT_DAEMON_KILL_CQ_HEAD,
		QUOIT_DAEMON_KILL_MEM_VANISHED, QUOIT_DAEMON_KILL_ASKED,
		QUOIT_DAEMON_KILL_SHORTAGE,     QUOIT_DAEMON_CLIENTS_DIED,
		QUOIT_DAEMON_EXECUTORS_DIED};
	unsigned known[RATE_NR] = {0};

	*ret = (struct rates){0};
	for (unsigned i = 0; i < to->reactors; i++) {
		struct rates one;

		rates_of_reactor(from, to, i, now_ns, &one);
		for (unsigned k = 0; k < RATE_NR; k++) {
			ret->value[k] += one.value[k];
			known[k] += one.known[k];
		}
	}
	for (unsigned k = 0; k < RATE_NR; k++) {
		ret->known[k] = to->reactors && known[k] == to->reactors;
		if (is_averaged((enum rate)k) && known[k])
			ret->value[k] /= known[k];
	}
	set_await(ret);
	set_events(ret, RATE_REFUSED_OF, from, to, refused, sizeof refused);
	set_events(ret, RATE_KILLED_OF, from, to, killed, sizeof killed);
}

/* ---- histograms ---- */

void rates_add_timings(const struct timings *from, const struct timings *to, int reactor,
		       struct rates *r)
{
	double p50 = timings_percentile(from, to, reactor, 50);
	double p99 = timings_percentile(from, to, reactor, 99);

	set(r, RATE_P50_OF, p50 >= 0, p50 / 1e9);
	set(r, RATE_P99_OF, p99 >= 0, p99 / 1e9);
}
