/* SPDX-License-Identifier: MIT */
/* columns.c - what can be shown of a session */
#include "columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suggest.h"
#include "users.h"

/* Where a column comes from: a counter's number is below all of these. */
enum { HEAD = QUOIT_SESSION_NR, RESIDENT, FAULTS, SMAPS, NUMA, LEGS };

static const struct {
	const char *key, *alias, *title;
	enum column_kind kind;
	unsigned from;
	const char *help;
} columns[COLUMN_NR] = {
#define QUOIT_COLUMN(NAME, key, alias, title, kind, from, help)                                    \
	{key, alias, title, COLUMN_##kind, from, help},
#include "columns.def"
#undef QUOIT_COLUMN
};

enum column_kind columns_kind(enum column column)
{
	return columns[column].kind;
}

const char *columns_key(enum column column)
{
	return columns[column].key;
}

const char *columns_title(enum column column)
{
	return columns[column].title;
}

const char *columns_help(enum column column)
{
	return columns[column].help;
}

/* ---- choosing ---- */

static int find(const char *word)
{
	for (int i = 0; i < COLUMN_NR; i++)
		if (!strcmp(word, columns[i].key) || !strcmp(word, columns[i].alias))
			return *word ? i : -1;
	return -1;
}

static bool refuse(const char *word, const char *command)
{
	struct suggestion s = {.word = word};

	for (unsigned i = 0; i < COLUMN_NR; i++)
		suggest_try(&s, columns[i].key);
	fprintf(stderr, "quoit %s: unknown column '%s'", command, word);
	suggest_print(&s, "", stderr);
	fprintf(stderr, " (see quoit ps --columns)\n");
	return false;
}

static bool choose(struct column_choices *c, char *word, bool sorts, const char *command)
{
	char *title = sorts ? NULL : strchr(word, '=');
	struct column_choice *one = &c->list[c->count];
	bool descending = sorts && *word == '-';
	int column;

	if (title)
		*title++ = '\0';
	if (sorts && (*word == '-' || *word == '+'))
		word++;
	column = find(word);
	if (column < 0)
		return refuse(word, command);
	if (c->count == sizeof c->list / sizeof c->list[0]) {
		fprintf(stderr, "quoit %s: too many columns, from '%s' on\n", command, word);
		return false;
	}
	*one = (struct column_choice){.column = (enum column)column, .descending = descending};
	format_escape(title ? title : columns[column].title, one->title, sizeof one->title);
	c->count++;
	return true;
}

bool columns_choose(struct column_choices *c, const char *list, bool sorts, const char *command)
{
	char *copy = strdup(list), *rest = NULL;
	bool good = copy;

	for (char *word = copy ? strtok_r(copy, ", ", &rest) : NULL; word && good;
	     word = strtok_r(NULL, ", ", &rest))
		good = choose(c, word, sorts, command);
	free(copy);
	return good;
}

unsigned columns_need(const struct column_choices *c)
{
	static const unsigned needs[] = {
		[RESIDENT - HEAD] = PROCESS_NEED_RESIDENT,
		[FAULTS - HEAD] = PROCESS_NEED_FAULTS,
		[SMAPS - HEAD] = PROCESS_NEED_SMAPS,
		[NUMA - HEAD] = PROCESS_NEED_NUMA,
		[LEGS - HEAD] = 0,
	};
	unsigned all = 0;

	for (unsigned i = 0; i < c->count; i++) {
		unsigned from = columns[c->list[i].column].from;

		all |= from < HEAD ? 0 : needs[from - HEAD];
	}
	return all;
}

bool columns_need_legs(const struct column_choices *c)
{
	bool any = false;

	for (unsigned i = 0; i < c->count; i++)
		any |= columns[c->list[i].column].from == LEGS;
	return any;
}

/* ---- what the figures mean ---- */

static uint64_t value(const struct counters_session *s, unsigned counter)
{
	return s->value[counter].known ? s->value[counter].value : 0;
}

static void set_text(struct figure *f, const char *text)
{
	f->known = *text;
	snprintf(f->text, sizeof f->text, "%s", text);
}

/* A time that is longer is nobody's. */
#define LONGEST_NS 1e18

static void set_state(struct figure *f, const struct session_row *row)
{
	struct counter running = row->s.value[QUOIT_SESSION_RUNNING];
	struct counter queued = row->s.value[QUOIT_SESSION_QUEUED];

	if (row->s.ended || !row->daemon_lives)
		set_text(f, "closed");
	else if (running.known && running.value)
		set_text(f, "running");
	else if (queued.known && queued.value)
		set_text(f, "queued");
	else if (running.known && queued.known)
		set_text(f, "idle");
}

static void set_wait(struct figure *f, const struct counters_session *s)
{
	uint64_t data = value(s, QUOIT_SESSION_WAIT_DATA);
	uint64_t memory = value(s, QUOIT_SESSION_WAIT_MEMORY);
	uint64_t turn = value(s, QUOIT_SESSION_WAIT_TURN);

	if (memory && memory >= data && memory >= turn)
		set_text(f, "memory");
	else if (turn && turn >= data)
		set_text(f, "turn");
	else if (data)
		set_text(f, "data");
}

/* For how long it is open; 0: not known, as once its daemon is dead. */
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

/* A sum of ticks or events, per time. */
static void set_mean(struct figure *f, const struct session_row *row, unsigned counter,
		     double times)
{
	struct counter to = row->s.value[counter];
	uint64_t from = row->before ? row->before->value[counter].value : 0;
	double span = columns_span_ns(row);

	/* Nothing is nothing in whatever time. */
	f->known = to.known && span >= 0 && (to.value == from || (to.value > from && span > 0));
	if (f->known && to.value > from)
		f->real = times * (double)(to.value - from) / span;
}

/* What becomes of a counter. */
static void set_counter(struct figure *f, const struct session_row *row, enum column column)
{
	unsigned from = columns[column].from;
	struct counter c = row->s.value[from];
	double hz = (double)row->s.origin.tsc_hz, tick_ns = hz > 0 ? 1e9 / hz : 0;

	switch (columns[column].kind) {
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
	if (columns[column].from < HEAD)
		set_counter(ret, row, column);
	else
		set_other(row, column, ret);
}

/* ---- sorting ---- */

static int compare(const struct figure *a, const struct figure *b, enum column_kind kind)
{
	if (!a->known || !b->known)
		return a->known - b->known;
	switch (kind) {
	case COLUMN_TEXT:
		return strcmp(a->text, b->text);
	case COLUMN_PERCENT:
	case COLUMN_SHARE:
	case COLUMN_MEAN:
	case COLUMN_RATE:
	case COLUMN_FLOW:
	case COLUMN_SPAN:
		return (a->real > b->real) - (a->real < b->real);
	default:
		return (a->count > b->count) - (a->count < b->count);
	}
}

static int by_columns(const void *a, const void *b, void *arg)
{
	const struct session_row *x = a, *y = b;
	const struct column_choices *by = arg;
	int order = 0;

	for (unsigned i = 0; i < by->count && !order; i++) {
		enum column column = by->list[i].column;
		struct figure f, g;

		columns_figure(x, column, &f);
		columns_figure(y, column, &g);
		order = compare(&f, &g, columns[column].kind);
		order = by->list[i].descending ? -order : order;
	}
	return order ? order : (x->s.session > y->s.session) - (x->s.session < y->s.session);
}

void columns_sort(const struct column_choices *by, struct session_row *rows, size_t count)
{
	if (count)
		qsort_r(rows, count, sizeof *rows, by_columns, (void *)by);
}

/* ---- printing ---- */

/* As ps has it: the hour of today, else the day. */
static void clock_text(uint64_t boot_ns, uint64_t now_ns, char *ret, size_t size)
{
	time_t now = time(NULL), then = now - (time_t)((now_ns - boot_ns) / 1000000000u);
	struct tm today, day;

	localtime_r(&now, &today);
	localtime_r(&then, &day);
	if (today.tm_yday == day.tm_yday && today.tm_year == day.tm_year)
		strftime(ret, size, "%H:%M", &day);
	else
		strftime(ret, size, today.tm_year == day.tm_year ? "%b%d" : "%Y", &day);
}

void columns_text(const struct session_row *row, enum column column, char *ret, size_t size)
{
	struct figure f;

	columns_figure(row, column, &f);
	if (!f.known) {
		snprintf(ret, size, "-");
		return;
	}
	switch (columns[column].kind) {
	case COLUMN_TEXT:
		snprintf(ret, size, "%s", f.text);
		break;
	case COLUMN_COUNT:
		snprintf(ret, size, "%" PRIu64, f.count);
		break;
	case COLUMN_BYTES:
		format_bytes(f.count, ret, size);
		break;
	case COLUMN_FLOW:
		format_flow(f.real, ret, size);
		break;
	case COLUMN_PERCENT:
	case COLUMN_SHARE:
		snprintf(ret, size, "%.1f", f.real);
		break;
	case COLUMN_MEAN:
	case COLUMN_RATE:
		snprintf(ret, size, f.real < 99.95 ? "%.1f" : "%.0f", f.real);
		break;
	case COLUMN_TICKS:
	case COLUMN_TIME:
		format_time(f.count, ret, size);
		break;
	case COLUMN_SPAN:
		format_span(f.real, ret, size);
		break;
	case COLUMN_CLOCK:
		clock_text(f.count, row->now_ns, ret, size);
		break;
	}
}

void columns_print(const struct column_choices *c, const struct session_row *rows, size_t count,
		   bool headers, unsigned width)
{
	struct format_column titles[sizeof c->list / sizeof c->list[0]];
	struct format_table t = {.columns = titles, .count = c->count, .width = width};
	char text[FORMAT_CELL_BYTES];
	bool any_title = false;

	for (unsigned i = 0; i < c->count; i++) {
		titles[i] = (struct format_column){c->list[i].title,
						   columns[c->list[i].column].kind == COLUMN_TEXT};
		any_title |= *c->list[i].title;
	}
	for (size_t row = 0; row < count; row++)
		for (unsigned i = 0; i < c->count; i++) {
			columns_text(&rows[row], c->list[i].column, text, sizeof text);
			format_cell(&t, "%s", text);
		}
	format_print(&t, headers && any_title);
}

void columns_print_help(void)
{
	for (unsigned i = 0; i < COLUMN_NR; i++)
		printf("  %-11s%-10s%s\n", columns[i].key, columns[i].title, columns[i].help);
}
