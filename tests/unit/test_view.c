/* SPDX-License-Identifier: MIT */
/* test_view.c - what quoit top shows: cut to its place, sorted, around the chosen session */
#include <string.h>

#include <criterion/criterion.h>

#include "top/view.h"

#define SESSIONS 50
#define WIDTH    100u

/* Sessions 1 to 50; number n has 10 n jobs queued. */
struct scene {
	struct follow f;
	struct machine m;
	struct view_options o;
	struct view v;
	struct session_row rows[SESSIONS];
};

static struct scene *scene(void)
{
	static struct scene s;

	memset(&s, 0, sizeof s);
	s.f.rows = s.rows;
	s.f.readings = 1;
	s.f.daemon_lives = true;
	s.f.totals[1].cores = 2;
	s.f.totals[1].core[1].cpu = 1;
	for (unsigned i = 0; i < SESSIONS; i++) {
		s.rows[i].s.session = i + 1;
		s.rows[i].s.uid = i % 2 ? 77 : 78;
		s.rows[i].s.value[QUOIT_SESSION_QUEUED] = (struct counter){10 * (i + 1), true};
	}
	s.f.row_count = SESSIONS;
	for (unsigned i = 0; i < MACHINE_NODES; i++)
		s.m.node[i].bytes = -1;
	cr_assert(columns_choose(&s.o.columns, "session,queued", false, "test"));
	s.o.sorted_by = COLUMN_OF_QUEUED;
	return &s;
}

static void fill(struct scene *s, unsigned width, unsigned height)
{
	s->f.row_count = SESSIONS;
	view_fill(&s->v, &s->o, &s->f, &s->m, width, height);
	cr_assert_not(s->v.failed);
}

/* Is there room for all of it? */
Test(view, a_cores_line_is_whole_on_eighty_columns)
{
	struct scene *s = scene();
	bool whole = false;

	fill(s, 80, 24);
	for (unsigned i = 0; i < s->v.count; i++)
		whole |= !strncmp(s->v.lines[i].text, "cpu1 ", 5) &&
			 strstr(s->v.lines[i].text, "sys ");
	cr_expect(whole);
	view_free(&s->v);
}

static bool has_line(const struct scene *s, const char *text)
{
	for (unsigned i = 0; i < s->v.count; i++)
		if (!strcmp(s->v.lines[i].text, text))
			return true;
	return false;
}

Test(view, devices_have_a_line_each_and_the_lost_are_counted)
{
	struct scene *s = scene();

	s->f.devices = 2;
	s->f.device[0] = (struct device_figures){1234, 0.5, 21300, 2100000};
	s->f.device[1] = (struct device_figures){-1, -1, -1, -1};
	s->f.totals[1].value[QUOIT_DAEMON_DEVICES_LOST] = (struct counter){1, true};
	s->f.totals[1].value[QUOIT_DAEMON_DEVICE_LIMIT] = (struct counter){64 << 20, true};
	s->f.totals[1].value[QUOIT_DAEMON_DEVICE_LEASED] = (struct counter){1 << 20, true};
	fill(s, 120, 24);
	cr_expect(has_line(s, "device1       1234 jobs/s,   0.50 at once; p50 21.3u, p99 2.1m; "
			      "64.0M for leases, 1.0M leased"));
	cr_expect(has_line(s, "device2          - jobs/s,      - at once; p50 -, p99 -; "
			      "64.0M for leases, 1.0M leased"));
	cr_expect(has_line(s, "1 of the devices lost: quoit topo says why"));
	view_free(&s->v);
}

/* The line of a session, -1: it is not shown. */
static int line_of(const struct scene *s, unsigned session)
{
	char start[16];

	snprintf(start, sizeof start, "%7u ", session);
	for (unsigned i = 0; i < s->v.count; i++)
		if (!strncmp(s->v.lines[i].text, start, strlen(start)))
			return (int)i;
	return -1;
}

Test(view, the_largest_come_first_and_those_that_fit)
{
	struct scene *s = scene();

	fill(s, WIDTH, 20);
	cr_expect_eq(s->v.count, 20);
	cr_expect_gt(line_of(s, 50), 0);
	cr_expect_eq(line_of(s, 49), line_of(s, 50) + 1);
	cr_expect_lt(line_of(s, 1), 0);
	s->o.ascending = true;
	fill(s, WIDTH, 20);
	cr_expect_gt(line_of(s, 1), 0);
	cr_expect_lt(line_of(s, 50), 0);
	view_free(&s->v);
}

Test(view, without_a_height_all_are_shown)
{
	struct scene *s = scene();

	fill(s, WIDTH, 0);
	for (unsigned i = 1; i <= SESSIONS; i++)
		cr_expect_geq(line_of(s, i), 0, "%u", i);
	view_free(&s->v);
}

Test(view, no_line_is_wider_and_there_are_no_more_than_asked_for)
{
	struct scene *s = scene();

	for (unsigned page = VIEW_SESSIONS; page <= VIEW_HELP; page++)
		for (unsigned width = 0; width < 200; width += 7)
			for (unsigned height = 1; height < 60; height += 3) {
				s->o.page = (enum view_page)page;
				s->o.chosen = 25;
				fill(s, width, height);
				cr_expect_leq(s->v.count, height);
				for (unsigned i = 0; i < s->v.count; i++)
					cr_expect_leq(s->v.lines[i].length, width);
			}
	view_free(&s->v);
}

Test(view, the_chosen_session_is_always_shown)
{
	struct scene *s = scene();

	s->o.chosen = 50;
	for (unsigned i = 0; i < 2 * SESSIONS; i++) {
		fill(s, WIDTH, 14);
		cr_expect_gt(line_of(s, (unsigned)s->o.chosen), 0, "%u", (unsigned)s->o.chosen);
		s->o.chosen = view_step(&s->o, &s->f, i < SESSIONS ? 1 : -1);
	}
	cr_expect_eq(s->o.chosen, 50, "up from the top is the top");
	view_free(&s->v);
}

Test(view, steps_end_at_the_first_and_the_last)
{
	struct scene *s = scene();

	fill(s, WIDTH, 20); /* sorted: 50 first */
	cr_expect_eq(view_step(&s->o, &s->f, 1), 50, "the first of all, when none was chosen");
	cr_expect_eq(view_step(&s->o, &s->f, -1), 1);
	s->o.chosen = 50;
	cr_expect_eq(view_step(&s->o, &s->f, 3), 47);
	cr_expect_eq(view_step(&s->o, &s->f, 1000), 1);
	cr_expect_eq(view_step(&s->o, &s->f, -1000), 50);
	s->f.shown = 0;
	cr_expect_eq(view_step(&s->o, &s->f, 1), 0);
	view_free(&s->v);
}

Test(view, only_one_users_sessions_when_asked_for)
{
	struct scene *s = scene();

	s->o.only_uid = true;
	s->o.uid = 77;
	fill(s, WIDTH, 0);
	cr_expect_geq(line_of(s, 2), 0);
	cr_expect_lt(line_of(s, 1), 0);
	view_free(&s->v);
}

Test(view, a_session_that_has_ended_is_said_to_have)
{
	struct scene *s = scene();

	s->o.page = VIEW_SESSION;
	s->o.chosen = 99;
	fill(s, WIDTH, 20);
	cr_expect(strstr(s->v.lines[3].text, "Session 99 has ended"), "%s", s->v.lines[3].text);
	view_free(&s->v);
}
