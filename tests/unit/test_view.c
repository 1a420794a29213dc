/* SPDX-License-Identifier: MIT */
/* test_view.c - quoit top's view: cut to its place, sorted, around the chosen session */
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
	cr_expect(has_line(
		s, "device1   [||||||||||          ]     1234 jobs/s,   0.50 at once; p50 21.3u, "
		   "p99 2.1m; 64.0M for leases, 1.0M leased"));
	cr_expect(has_line(
		s,
		"device2   [                    ]        - jobs/s,      - at once; p50 -, p99 -; "
		"64.0M for leases, 1.0M leased"));
	cr_expect(has_line(s, "1 of the devices lost: quoit topo says why"));
	view_free(&s->v);
}

/* The line of a session; -1: it is not shown. */
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

	for (unsigned page = VIEW_SESSIONS; page <= VIEW_CHOOSER; page++)
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

Test(view, the_chosen_line_is_marked_over_its_whole_width)
{
	struct scene *s = scene();
	const struct view_line *chosen, *other;

	s->o.chosen = 49;
	fill(s, WIDTH, 20);
	chosen = &s->v.lines[line_of(s, 49)];
	other = &s->v.lines[line_of(s, 48)];
	cr_expect_eq(chosen->length, WIDTH);
	cr_expect_eq(chosen->style[0], VIEW_CHOSEN);
	cr_expect_eq(chosen->style[WIDTH - 1], VIEW_CHOSEN);
	cr_expect_lt(other->length, WIDTH / 2);
	cr_expect_eq(other->style[0], VIEW_PLAIN);
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
	s->f.line_count = 0;
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

/* ---- users ---- */

/* Users 77, with the even sessions, and 78; the former has more jobs queued. */
static struct scene *two_users(enum view_groups groups)
{
	struct scene *s = scene();

	s->o.columns.count = 0;
	cr_assert(columns_choose(&s->o.columns, "user,session,queued,command", false, "test"));
	s->o.groups = groups;
	return s;
}

static int line_with(const struct scene *s, const char *words)
{
	for (unsigned i = 0; i < s->v.count; i++)
		if (strstr(s->v.lines[i].text, words))
			return (int)i;
	return -1;
}

Test(view, users_are_a_line_each_with_the_sum_of_their_sessions)
{
	struct scene *s = two_users(VIEW_USERS);

	fill(s, WIDTH, 24);
	cr_expect_eq(s->f.line_count, 2);
	cr_expect_geq(line_with(s, "77         -   6500 25 sessions"), 0, "%s", s->v.lines[4].text);
	cr_expect_eq(line_with(s, "78         -   6250 25 sessions"),
		     line_with(s, "77         -   6500 25 sessions") + 1);
	s->o.ascending = true;
	fill(s, WIDTH, 24);
	cr_expect_lt(line_with(s, "6250 25 sessions"), line_with(s, "6500 25 sessions"));
	view_free(&s->v);
}

Test(view, below_each_user_are_its_sessions)
{
	struct scene *s = two_users(VIEW_TREE);
	int user;

	fill(s, WIDTH, 0);
	cr_expect_eq(s->f.line_count, SESSIONS + 2);
	user = line_with(s, "6500 25 sessions");
	cr_expect_eq(line_with(s, " |- 77      50    500"), user + 1, "%s",
		     s->v.lines[user + 1].text);
	cr_expect_eq(line_with(s, " `- 77       2     20"), user + 25);
	cr_expect_eq(line_with(s, "6250 25 sessions"), user + 26);
	view_free(&s->v);
}

Test(view, a_user_can_be_chosen_and_stepped_over)
{
	struct scene *s = two_users(VIEW_TREE);

	fill(s, WIDTH, 16);
	s->o.chosen = view_step(&s->o, &s->f, 1);
	cr_expect_eq(s->o.chosen, FOLLOW_USER | 77);
	s->o.chosen = view_step(&s->o, &s->f, 1);
	cr_expect_eq(s->o.chosen, 50);
	s->o.chosen = view_step(&s->o, &s->f, 25);
	cr_expect_eq(s->o.chosen, FOLLOW_USER | 78);
	fill(s, WIDTH, 16);
	cr_expect_geq(line_with(s, "6250 25 sessions"), 0, "it is scrolled to");
	view_free(&s->v);
}

/* ---- search, mouse, chooser ---- */

Test(view, search_finds_the_next_line_and_begins_anew)
{
	struct scene *s = scene();

	fill(s, WIDTH, 20); /* 50 first */
	s->o.chosen = 50;
	s->o.chosen = view_search(&s->o, &s->f, "12");
	cr_expect_eq(s->o.chosen, 12);
	s->o.chosen = view_search(&s->o, &s->f, "12"); /* its own line has its 120 jobs */
	cr_expect_eq(s->o.chosen, 12);
	s->o.chosen = view_search(&s->o, &s->f, "49");
	cr_expect_eq(s->o.chosen, 49);
	cr_expect_eq(view_search(&s->o, &s->f, "nothing"), 0);
	s->f.line_count = 0;
	cr_expect_eq(view_search(&s->o, &s->f, "49"), 0);
	view_free(&s->v);
}

Test(view, what_is_under_the_mouse_is_known)
{
	struct scene *s = scene();
	struct view_hit hit;
	unsigned title;

	s->o.footer = true;
	fill(s, WIDTH, 20);
	title = (unsigned)line_with(s, "SESSION");
	hit = view_hit(&s->v, &s->o, &s->f, 2, title);
	cr_expect(hit.title && hit.column == COLUMN_OF_SESSION && !hit.line);
	hit = view_hit(&s->v, &s->o, &s->f, 10, title);
	cr_expect(hit.title && hit.column == COLUMN_OF_QUEUED);
	cr_expect_not(view_hit(&s->v, &s->o, &s->f, 60, title).title);
	cr_expect_eq(view_hit(&s->v, &s->o, &s->f, 60, title + 2).line, 49);
	cr_expect_eq(view_hit(&s->v, &s->o, &s->f, 0, 19).key, 'h');
	cr_expect_eq(view_hit(&s->v, &s->o, &s->f, 99, 19).key, 0);
	cr_expect_eq(view_hit(&s->v, &s->o, &s->f, 0, 18).key, 0);
	cr_expect_eq(view_hit(&s->v, &s->o, &s->f, 0, 0).line, 0);
	s->o.page = VIEW_HELP;
	fill(s, WIDTH, 20);
	cr_expect_eq(view_hit(&s->v, &s->o, &s->f, 2, title).title, false);
	view_free(&s->v);
}

Test(view, the_last_line_has_keys_where_there_is_room)
{
	struct scene *s = scene();

	s->o.footer = true;
	for (unsigned page = VIEW_SESSIONS; page <= VIEW_CHOOSER; page++)
		for (unsigned height = 12; height < 60; height += 5) {
			s->o.page = (enum view_page)page;
			fill(s, 80, height);
			cr_expect_eq(s->v.count, height);
			cr_expect(strstr(s->v.lines[height - 1].text, "q end"), "%s",
				  s->v.lines[height - 1].text);
		}
	fill(s, 80, 11);
	cr_expect_lt(line_with(s, "q end"), 0);
	view_free(&s->v);
}

Test(view, the_chooser_marks_what_is_shown)
{
	struct scene *s = scene();

	s->o.page = VIEW_CHOOSER;
	fill(s, WIDTH, 0);
	cr_expect_geq(line_with(s, "[x] SESSION"), 0);
	cr_expect_geq(line_with(s, "[ ] PID"), 0);
	s->o.cursor = (enum column)(COLUMN_NR - 1);
	fill(s, WIDTH, 20);
	cr_expect_geq(line_with(s, columns_title(s->o.cursor)), 0, "the cursor is in sight");
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

/* Its row is still there, behind the rows of the last reading. */
Test(view, a_session_that_was_in_the_last_row_has_ended_too)
{
	struct scene *s = scene();

	s->o.page = VIEW_SESSION;
	s->o.chosen = SESSIONS;
	s->f.row_count = SESSIONS - 1;
	view_fill(&s->v, &s->o, &s->f, &s->m, WIDTH, 20);
	cr_expect(strstr(s->v.lines[3].text, "Session 50 has ended"), "%s", s->v.lines[3].text);
	cr_expect_null(view_row(&s->f, SESSIONS));
	cr_expect_not_null(view_row(&s->f, SESSIONS - 1));
	view_free(&s->v);
}
