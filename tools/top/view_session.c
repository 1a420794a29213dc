/* SPDX-License-Identifier: MIT */
/* view_session.c - make the page of one session: its limit, phases, operations and figures */
#include <inttypes.h>
#include <limits.h>

#include "read/format.h"
#include "view_private.h"

/* ---- phases ---- */

static void add_span(struct view *v, double ns)
{
	char text[24] = "-";

	if (ns >= 0)
		format_span(ns / 1e9, text, sizeof text);
	view_add(v, VIEW_PLAIN, "%8s", text);
}

/* Does this phase belong to the time until a job's end? */
static bool is_before_end(unsigned phase)
{
	return phase != QUOIT_PHASE_POST && phase != QUOIT_PHASE_WHOLE && phase != QUOIT_PHASE_REAP;
}

static void add_phase(struct view *v, const struct latency *l, unsigned phase, double all)
{
	static const double percents[] = {50, 90, 99, 100};
	double sum = latency_sum(l, phase), jobs = (double)latency_jobs(l, phase);

	view_add(v, VIEW_STRONG, "%-19s", latency_label(phase));
	for (unsigned i = 0; i < sizeof percents / sizeof percents[0]; i++)
		add_span(v, latency_percentile(l, phase, percents[i]));
	add_span(v, jobs > 0 ? sum / jobs : -1);
	if (is_before_end(phase) && all > 0 && jobs > 0)
		view_add(v, VIEW_PLAIN, "%7.1f ", 100 * sum / all);
	view_end_line(v);
}

static void add_phases(struct view *v, const struct latency *l)
{
	double all = 0;

	for (unsigned phase = 0; phase < QUOIT_PHASE_NR; phase++)
		all += is_before_end(phase) ? latency_sum(l, phase) : 0;
	view_add(v, VIEW_TITLE, "%-19s%8s%8s%8s%8s%8s%7s ", "PHASE", "P50", "P90", "P99", "MOST",
		 "MEAN", "%TIME");
	view_end_line(v);
	for (unsigned phase = 0; phase < QUOIT_PHASE_NR; phase++)
		add_phase(v, l, phase, all);
	view_end_line(v);
}

/* ---- operations ---- */

/* The operation that ran longest, among those that are not shown yet; QUOIT_OP_NR: none. */
static unsigned next_operation(const struct latency *l, const bool *shown)
{
	unsigned most = QUOIT_OP_NR;

	for (unsigned i = 0; i < QUOIT_OP_NR; i++)
		if (!shown[i] && (l->operation[i].jobs || l->operation[i].timed) &&
		    (most == QUOIT_OP_NR ||
		     latency_operation_ns(l, i) > latency_operation_ns(l, most)))
			most = i;
	return most;
}

/* Add the bytes that it moved, per second. */
static void add_flow(struct view *v, const struct latency *l, unsigned operation, double span_ns)
{
	char text[16] = "-";

	if (l->bytes_known && span_ns > 0)
		format_flow((double)l->operation[operation].bytes * 1e9 / span_ns, text,
			    sizeof text);
	view_add(v, VIEW_PLAIN, "%8s ", text);
}

static void add_operation(struct view *v, const struct chosen *c, unsigned operation, double all)
{
	const struct latency *l = c->since;

	view_add(v, VIEW_STRONG, "%-19s", limits_operation(operation));
	view_add(v, VIEW_PLAIN, "%12" PRIu64, l->operation[operation].jobs);
	add_span(v, latency_operation_mean(l, operation));
	if (all > 0 && l->operation[operation].timed)
		view_add(v, VIEW_PLAIN, "%8.1f ", 100 * latency_operation_ns(l, operation) / all);
	else
		view_add(v, VIEW_PLAIN, "%8s ", "-");
	add_flow(v, l, operation, c->span_ns);
	view_end_line(v);
}

static void add_operations(struct view *v, const struct chosen *c, unsigned lines)
{
	const struct latency *l = c->since;
	bool shown[QUOIT_OP_NR] = {false};
	double all = 0;

	for (unsigned i = 0; i < QUOIT_OP_NR; i++)
		all += latency_operation_ns(l, i);
	view_add(v, VIEW_TITLE, "%-19s%12s%8s%8s %8s ", "OPERATION", "JOBS", "EACH", "%RUN",
		 "BYTES/S");
	view_end_line(v);
	for (unsigned n = 0; n < lines; n++) {
		unsigned i = next_operation(l, shown);

		if (i == QUOIT_OP_NR)
			break;
		shown[i] = true;
		add_operation(v, c, i, all);
	}
	view_end_line(v);
}

/* ---- waits ---- */

/* The place with the longest waits, among those that are not shown yet; NULL: none. */
static const struct latency_site *next_site(const struct latency *l, bool *shown)
{
	unsigned most = QUOIT_MAX_SITES;

	for (unsigned i = 0; i < l->sites; i++)
		if (!shown[i] && l->site[i].waits &&
		    (most == QUOIT_MAX_SITES || l->site[i].ticks > l->site[most].ticks))
			most = i;
	if (most == QUOIT_MAX_SITES)
		return NULL;
	shown[most] = true;
	return &l->site[most];
}

static void add_sites(struct view *v, const struct latency *l, unsigned lines)
{
	bool shown[QUOIT_MAX_SITES] = {false};
	const struct latency_site *site = next_site(l, shown);
	char name[4 * sizeof site->name];

	if (!site)
		return;
	view_add(v, VIEW_TITLE, "%-28s%12s%8s%8s%8s ", "WAITED AT", "TIMES", "IN ALL", "MEAN",
		 "MOST");
	view_end_line(v);
	for (; site && lines; site = next_site(l, shown), lines--) {
		format_escape(site->name, name, sizeof name);
		view_add(v, VIEW_STRONG, "%-28s", *name ? name : "(somewhere)");
		view_add(v, VIEW_PLAIN, "%12" PRIu64, site->waits);
		add_span(v, (double)site->ticks * l->tick_ns);
		add_span(v, (double)site->ticks * l->tick_ns / (double)site->waits);
		add_span(v, (double)site->longest * l->tick_ns);
		view_end_line(v);
	}
	view_end_line(v);
}

/* ---- figures ---- */

/* The width of a column's title with its figure. */
#define FIGURE_WIDTH 26u

static void add_figure(struct view *v, const struct session_row *row, enum column column)
{
	char text[FORMAT_CELL_BYTES];

	columns_text(row, column, text, sizeof text);
	view_add(v, VIEW_STRONG, "%-9s ", columns_title(column));
	view_add(v, VIEW_PLAIN, "%-15s ", text);
}

/*
 * Show each figure on a line of its own, with its meaning; if the lines do not suffice, several on
 * one line.
 */
static void add_figures(struct view *v, const struct session_row *row, unsigned lines)
{
	unsigned across = v->width / FIGURE_WIDTH ? v->width / FIGURE_WIDTH : 1;
	unsigned down = (COLUMN_NR + across - 1) / across;

	if (lines >= COLUMN_NR || across == 1) {
		across = 1;
		down = COLUMN_NR;
	}
	for (unsigned y = 0; y < down; y++) {
		for (unsigned i = y; i < COLUMN_NR; i += down)
			add_figure(v, row, (enum column)i);
		if (across == 1)
			view_add(v, VIEW_FAINT, "%s", columns_help((enum column)y));
		view_end_line(v);
	}
}

/* ---- all of it ---- */

/* Show the details that the row does not have. */
static void add_chosen(struct view *v, const struct session_row *row, const struct chosen *c)
{
	char text[256];

	limits_text(&c->limits, text, sizeof text);
	view_add(v, VIEW_STRONG, "Limited by %s", text);
	view_end_line(v);
	limits_detail(&c->limits, &row->s, text, sizeof text);
	view_add(v, VIEW_PLAIN, "           %s", text);
	view_end_line(v);
	view_end_line(v);
	add_phases(v, c->since);
	add_operations(v, c, 6);
	add_sites(v, c->since, 6);
}

void view_session(struct view *v, const struct session_row *row, const struct chosen *c,
		  unsigned height)
{
	if (c->known && c->session == row->s.session)
		add_chosen(v, row, c);
	add_figures(v, row, !height ? UINT_MAX : height > v->count ? height - v->count : 0);
}
