/* SPDX-License-Identifier: MIT */
/* columns_figure.c - the figure of a column in one session */
#include <stdio.h>

#include "columns.h"
#include "users.h"

static uint64_t value(const struct counters_session *s, unsigned counter)
{
	return s->value[counter].known ? s->value[counter].value : 0;
}

static void set_text(struct figure *f, const char *text)
{
	f->known = *text;
	snprintf(f->text, sizeof f->text, "%s", text);
}

/* A longer time is not possible: it comes from a damaged file. */
#define LONGEST_NS 1e18

static void set_state(struct figure *f, const struct session_row *row)
{
	struct counter running = row->s.value[QUOIT_SESSION_RUNNING];
	struct counter queued = row->s.value[QUOIT_SESSION_QUEUED];

	if (row->s.ended || !row->daemon_lives)
		set_text(f, "closed");
	else if (running.known && running.value)
		set_text(f, "running");
	else if (value(&row->s, QUOIT_SESSION_SERVING))
		set_text(f, "serving");
	else if (queued.known && queued.value)
		set_text(f, "queued");
	else if (running.known && queued.known)
		set_text(f, "idle");
}

/* At what kind of things with a name most jobs wait. */
static const char *named_kind(const struct counters_session *s)
{
	static const char *const kinds[QUOIT_SYNC_NR] = QUOIT_SYNC_NAMES;
	static const unsigned counter[QUOIT_SYNC_NR] = {
		[0] = QUOIT_SESSION_WAIT_SERVICE,
		[QUOIT_SYNC_LOCK] = QUOIT_SESSION_WAIT_LOCK,
		[QUOIT_SYNC_FLAG] = QUOIT_SESSION_WAIT_FLAG,
		[QUOIT_SYNC_SEMAPHORE] = QUOIT_SESSION_WAIT_SEMAPHORE,
		[QUOIT_SYNC_BARRIER] = QUOIT_SESSION_WAIT_BARRIER,
		[QUOIT_SYNC_QUEUE] = QUOIT_SESSION_WAIT_QUEUE,
	};
	unsigned most = 0;

	for (unsigned kind = 1; kind < QUOIT_SYNC_NR; kind++)
		if (counter[kind] && value(s, counter[kind]) > value(s, counter[most]))
			most = kind;
	return kinds[most];
}

/* If some wait for others, those that wait for data most probably wait behind these. */
static void set_wait(struct figure *f, const struct counters_session *s)
{
	uint64_t named = value(s, QUOIT_SESSION_WAIT_NAMED);
	uint64_t data = value(s, QUOIT_SESSION_WAIT_DATA);
	uint64_t memory = value(s, QUOIT_SESSION_WAIT_MEMORY);
	uint64_t turn = value(s, QUOIT_SESSION_WAIT_TURN);

	if (named && named >= memory && named >= turn)
		set_text(f, named_kind(s));
	else if (memory && memory >= data && memory >= turn)
		set_text(f, "memory");
	else if (turn && turn >= data)
		set_text(f, "turn");
	else if (data)
		set_text(f, "data");
}

/* How long the session is open; 0: not known, as when its daemon is dead. */
static uint64_t lifetime_ns(const struct session_row *row)
{
	return row->daemon_lives && row->s.opened_ns < row->now_ns ? row->now_ns - row->s.opened_ns
								   : 0;
}

double columns_span_ns(const struct session_row *row)
{
	struct counter to = row->s.value[QUOIT_SESSION_AS_OF];
	double hz = (double)row->s.origin.tsc_hz;

	if (!row->before)
		return lifetime_ns(row) ? (double)lifetime_ns(row) : -1;
	if (!to.known || !row->before->value[QUOIT_SESSION_AS_OF].known || hz <= 0 ||
	    to.value < row->before->value[QUOIT_SESSION_AS_OF].value)
		return -1;
	return (double)(to.value - row->before->value[QUOIT_SESSION_AS_OF].value) * 1e9 / hz;
}

/* The growth of a sum of ticks or events, divided by the time. */
static void set_mean(struct figure *f, const struct session_row *row, unsigned counter,
		     double times)
{
	struct counter to = row->s.value[counter];
	uint64_t from = row->before ? row->before->value[counter].value : 0;
	double span = columns_span_ns(row);

	/* Without growth the mean is 0, even if the time is 0. */
	f->known = to.known && span >= 0 && (to.value == from || (to.value > from && span > 0));
	if (f->known && to.value > from)
		f->real = times * (double)(to.value - from) / span;
}

/* Compute the figure from a counter. */
static void set_counter(struct figure *f, const struct session_row *row, enum column column)
{
	unsigned from = columns_counter(column);
	struct counter c = row->s.value[from];
	double hz = (double)row->s.origin.tsc_hz, tick_ns = hz > 0 ? 1e9 / hz : 0;

	switch (columns_kind(column)) {
	case COLUMN_SHARE:
		set_mean(f, row, from, 100 * tick_ns);
		f->known &= hz > 0;
		break;
	case COLUMN_MEAN:
		set_mean(f, row, from, tick_ns);
		f->known &= hz > 0;
		break;
	case COLUMN_RATE:
	case COLUMN_FLOW:
		set_mean(f, row, from, 1e9);
		break;
	case COLUMN_TICKS:
		f->known = c.known && hz > 0 && (double)c.value * tick_ns < LONGEST_NS;
		f->count = f->known ? (uint64_t)((double)c.value * tick_ns) : 0;
		break;
	default:
		f->known = c.known;
		f->count = c.value;
		break;
	}
}

static void set_nodes(struct figure *f, const struct process *p)
{
	size_t used = 0;

	f->known = p->nodes_known;
	for (unsigned i = 0; i < PROCESS_NODES && used < sizeof f->text - 24; i++) {
		char bytes[16];

		if (!p->node_bytes[i])
			continue;
		format_bytes(p->node_bytes[i], bytes, sizeof bytes);
		used += (size_t)snprintf(f->text + used, sizeof f->text - used, "%s%u:%s",
					 used ? "," : "", i, bytes);
	}
}

static void set_remote(struct figure *f, const struct session_row *row)
{
	uint64_t all = 0, here = 0;

	for (unsigned i = 0; i < PROCESS_NODES; i++) {
		all += row->process.node_bytes[i];
		here += (int32_t)i == row->s.node ? row->process.node_bytes[i] : 0;
	}
	f->known = row->process.nodes_known && row->s.node >= 0 && all;
	if (f->known)
		f->real = 100.0 * (double)(all - here) / (double)all;
}

static void set_count(struct figure *f, bool known, uint64_t count)
{
	f->known = known;
	f->count = count;
}

static void set_span(struct figure *f, double ns)
{
	f->known = ns > 0;
	f->real = f->known ? ns / 1e9 : 0;
}

static void set_other(const struct session_row *row, enum column column, struct figure *f)
{
	const struct counters_session *s = &row->s;
	const struct process *p = &row->process;

	switch (column) {
	case COLUMN_OF_USER:
		set_text(f, users_name(s->uid));
		break;
	case COLUMN_OF_UID:
		set_count(f, true, s->uid);
		break;
	case COLUMN_OF_PID:
		set_count(f, s->pid, s->pid);
		break;
	case COLUMN_OF_SESSION:
		set_count(f, true, s->session);
		break;
	case COLUMN_OF_COMMAND:
		format_escape(s->name, f->text, sizeof f->text);
		f->known = *f->text;
		break;
	case COLUMN_OF_STATE:
		set_state(f, row);
		break;
	case COLUMN_OF_WAIT:
		set_wait(f, s);
		break;
	case COLUMN_OF_NODE:
		set_count(f, s->node >= 0, (uint64_t)s->node);
		break;
	case COLUMN_OF_CLIENT_NODE:
		set_count(f, s->value[QUOIT_SESSION_CLIENT_NODE].value,
			  s->value[QUOIT_SESSION_CLIENT_NODE].value - 1);
		break;
	case COLUMN_OF_REACTOR:
		set_count(f, true, s->reactor);
		break;
	case COLUMN_OF_START:
		set_count(f, s->opened_ns && s->opened_ns <= row->now_ns, s->opened_ns);
		break;
	case COLUMN_OF_ELAPSED:
		set_count(f, lifetime_ns(row), lifetime_ns(row));
		break;
	case COLUMN_OF_RSS:
		set_count(f, p->known, p->resident_bytes);
		break;
	case COLUMN_OF_MINOR:
		set_count(f, p->faults_known, p->minor_faults);
		break;
	case COLUMN_OF_MAJOR:
		set_count(f, p->faults_known, p->major_faults);
		break;
	case COLUMN_OF_PSS:
		set_count(f, p->share_known, p->share_bytes);
		break;
	case COLUMN_OF_NODES:
		set_nodes(f, p);
		break;
	case COLUMN_OF_REMOTE:
		set_remote(f, row);
		break;
	case COLUMN_OF_P50:
		set_span(f, row->limits.p50_ns);
		break;
	case COLUMN_OF_P99:
		set_span(f, row->limits.p99_ns);
		break;
	case COLUMN_OF_LIMIT:
		set_text(f, limits_word(row->limits.by));
		break;
	default:
		break;
	}
}

void columns_figure(const struct session_row *row, enum column column, struct figure *ret)
{
	*ret = (struct figure){0};
	if (columns_counter(column) < QUOIT_SESSION_NR)
		set_counter(ret, row, column);
	else
		set_other(row, column, ret);
}
