/* SPDX-License-Identifier: MIT */
/* view.c - make the pages: sessions, one session, help */
#include "view.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "read/daemon_state.h"
#include "read/format.h"
#include "read/rates.h"
#include "read/runtime.h"
#include "view_private.h"

/* ---- lines above the sessions ---- */

static void add_up(struct view *v, const struct follow *f, const char *up)
{
	const struct counters_totals *now = follow_now(f);
	char version[64];

	view_add(v, VIEW_STRONG, "quoitd %u, up %s", now->origin.daemon_pid, up);
	if (!daemon_state_version(now, version, sizeof version))
		view_add(v, VIEW_ALARM, ", of version %s, not " QUOIT_VERSION, version);
}

static void add_first_line(struct view *v, const struct follow *f, const struct machine *m)
{
	const struct counters_origin *d = &follow_now(f)->origin;
	char clock[16], up[24], own[16];
	unsigned reactor;
	double silent;
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(clock, sizeof clock, "%H:%M:%S", &tm);
	format_time(f->read_ns > d->started_ns ? f->read_ns - d->started_ns : 0, up, sizeof up);
	format_bytes(m->own_bytes, own, sizeof own);
	silent = runtime_silence_s(follow_now(f), &reactor);
	if (f->daemon_lives && silent >= RUNTIME_SILENT_S)
		view_add(v, VIEW_ALARM, "quoitd %u does not move: reactor %u silent for %.0f s",
			 d->daemon_pid, reactor, silent);
	else if (f->daemon_lives)
		add_up(v, f, up);
	else if (f->waiting)
		view_add(v, VIEW_ALARM,
			 "quoitd %u has ended, its socket waits for a client: its last figures",
			 d->daemon_pid);
	else
		view_add(v, VIEW_ALARM, "quoitd %u is dead: its last figures", d->daemon_pid);
	view_add(v, VIEW_PLAIN, " - %s - top itself: ", clock);
	if (m->own_percent < 0)
		view_add(v, VIEW_PLAIN, "-");
	else
		view_add(v, VIEW_PLAIN, "%.1f%% of a core", m->own_percent);
	view_add(v, VIEW_PLAIN, ", %s", own);
	view_end_line(v);
}

static void add_rate(struct view *v, const struct rates *r, enum rate rate, const char *format,
		     const char *words)
{
	char text[24] = "-";

	if (r->known[rate] && rates_kind(rate) == RATE_TIME)
		format_span(r->value[rate], text, sizeof text);
	else if (r->known[rate])
		snprintf(text, sizeof text, format, r->value[rate]);
	view_add(v, VIEW_STRONG, "%s", text);
	view_add(v, VIEW_PLAIN, "%s", words);
}

static void add_second_line(struct view *v, const struct follow *f)
{
	struct rates r;

	rates_of_all(follow_before(f), follow_now(f), f->daemon_lives ? f->read_ns : 0, &r);
	add_rate(v, &r, RATE_SESSIONS_OF, "%.0f", " sessions, ");
	add_rate(v, &r, RATE_OPEN_OF, "%.0f",
		 r.value[RATE_NAMED_OF] > 0 ? " open jobs, " : " open jobs; ");
	if (r.value[RATE_NAMED_OF] > 0)
		add_rate(v, &r, RATE_NAMED_OF, "%.0f", " wait for others; ");
	add_rate(v, &r, RATE_JOBS_OF, "%.0f", " SQEs/s, ");
	add_rate(v, &r, RATE_DEPTH_OF, "%.2f", " open on average, ");
	add_rate(v, &r, RATE_AWAIT_OF, "%.0f", " each; ");
	add_rate(v, &r, RATE_CORES_OF, "%.2f", " cores at work");
	if (r.value[RATE_REFUSED_OF] > 0 || r.value[RATE_KILLED_OF] > 0)
		view_add(v, VIEW_ALARM, "; %.0f refused, %.0f ended", r.value[RATE_REFUSED_OF],
			 r.value[RATE_KILLED_OF]);
	view_end_line(v);
}

/* ---- pages ---- */

/* A lower screen has no line of keys. */
#define FOOTER_LEAST 12u

/* Put the keys into the last line of the screen. */
static void add_footer(struct view *v, unsigned height)
{
	if (v->count >= height)
		v->count = height - 1;
	while (v->count + 1 < height && !v->failed)
		view_end_line(v);
	view_begin_line(v);
	view_footer(v);
}

static void add_sessions(struct view *v, struct view_options *o, struct follow *f,
			 const struct machine *m, unsigned height)
{
	unsigned left;

	view_cores(v, o, f, m, height);
	view_nodes(v, f, m, height);
	view_devices(v, f);
	view_end_line(v);
	if (o->footer && height >= FOOTER_LEAST)
		height--;
	left = height > v->count ? height - v->count : height ? 2 : 0;
	for (unsigned lines = (f->unreadable > 0) + (f->asked != 0) + (f->damaged || f->want);
	     lines && left > 2; lines--)
		left--;
	view_table(v, o, f, left);
	if (f->unreadable) {
		view_add(v, VIEW_FAINT, "%u sessions of other users", f->unreadable);
		view_end_line(v);
	}
	if (f->asked) {
		view_add(v, VIEW_ALARM,
			 "quoitd does not answer, and it alone can tell your sessions");
		view_end_line(v);
	}
	if (f->damaged || f->want) {
		if (f->damaged)
			view_add(v, VIEW_ALARM, "%u sessions could not be read%s", f->damaged,
				 f->want ? "; " : "");
		if (f->want)
			view_add(v, VIEW_ALARM, "cannot read new figures: %s", strerror(-f->want));
		view_end_line(v);
	}
}

static void add_session(struct view *v, const struct view_options *o, const struct follow *f,
			unsigned height)
{
	const struct session_row *row = NULL;

	for (size_t i = 0; i < f->row_count; i++)
		if (f->rows[i].s.session == o->chosen)
			row = &f->rows[i];
	view_end_line(v);
	if (row) {
		view_session(v, row, &f->chosen, height);
		return;
	}
	view_add(v, VIEW_ALARM, "Session %llu has ended%s.  Any key goes back.",
		 (unsigned long long)o->chosen, f->unreadable ? ", or is another user's" : "");
	view_end_line(v);
}

void view_fill(struct view *v, struct view_options *o, struct follow *f, const struct machine *m,
	       unsigned width, unsigned height)
{
	v->count = 0;
	v->title_at = v->footer_at = UINT_MAX;
	v->lines_shown = 0;
	v->width = width < VIEW_COLUMNS_MOST ? width : VIEW_COLUMNS_MOST;
	if (v->room)
		v->lines[0].length = 0;
	view_sort(o, f);
	add_first_line(v, f, m);
	add_second_line(v, f);
	if (o->page == VIEW_HELP)
		view_help(v, o);
	else if (o->page == VIEW_CHOOSER)
		view_chooser(v, o, height);
	else if (o->page == VIEW_SESSION)
		add_session(v, o, f, height);
	else
		add_sessions(v, o, f, m, height);
	if (o->footer && height >= FOOTER_LEAST)
		add_footer(v, height);
	if (height && v->count > height)
		v->count = height;
}
