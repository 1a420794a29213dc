/* SPDX-License-Identifier: MIT */
/* test_keys.c - the keys of quoit top, and the answers to its questions */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "top/keys.h"
#include "top/screen.h"

#define SESSIONS 50
#define HEIGHT   20

/* Sessions 1 to 50 of two users, the largest first; and a screen of 20 lines. */
static struct scene {
	struct question q;
	struct follow f;
	struct machine m;
	struct view_options o;
	struct view v;
	struct session_row rows[SESSIONS];
} s;

static void open_scene(void)
{
	setenv("TERM", "vt100", true);
	setenv("LINES", "20", true);
	setenv("COLUMNS", "80", true);
	stdout = fopen("/dev/null", "w");
	cr_assert(screen_open(false, false));
	memset(&s, 0, sizeof s);
	s.q.socket = "/nonexistent";
	s.f.rows = s.rows;
	s.f.row_count = SESSIONS;
	s.f.readings = 1;
	s.f.daemon_lives = true;
	for (unsigned i = 0; i < SESSIONS; i++) {
		s.rows[i].s.session = i + 1;
		s.rows[i].s.uid = i % 2 ? 4000077 : 4000078;
		s.rows[i].s.value[QUOIT_SESSION_QUEUED] = (struct counter){10 * (i + 1), true};
	}
	cr_assert(columns_choose(&s.o.columns, "session,queued,pid", false, "test"));
	s.o.sorted_by = COLUMN_OF_QUEUED;
	s.o.interval = 2;
	view_fill(&s.v, &s.o, &s.f, &s.m, 80, HEIGHT);
}

static void close_scene(void)
{
	view_free(&s.v);
	screen_close();
}

TestSuite(keys, .init = open_scene, .fini = close_scene);

/* True: top goes on. */
static bool press(int key)
{
	bool on = keys_press(&s.q, key, &s.o, &s.f, &s.v);

	view_fill(&s.v, &s.o, &s.f, &s.m, 80, HEIGHT);
	return on;
}

static void type(const char *text)
{
	for (; *text; text++)
		press(*text);
	press(SCREEN_ENTER);
}

/* The words in place of the table's title; "": none. */
static const char *prompt(void)
{
	question_show(&s.q, &s.o);
	return s.o.prompt ? s.o.prompt : "";
}

/* ---- words ---- */

Test(keys, an_interval_is_a_tenth_of_a_second_to_an_hour)
{
	static const char *const good[] = {"0.1", "1", "2.5", "3600"};
	static const char *const bad[] = {"",    "0.09", "3600.1", "-1",  "1x",
					  "nan", "inf",  "x",      "4000"};
	double got = 7;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		cr_expect_not(question_read_interval(bad[i], &got), "%s", bad[i]);
	cr_expect_eq(got, 7, "it stays as it was");
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		cr_expect(question_read_interval(good[i], &got), "%s", good[i]);
		cr_expect_float_eq(got, atof(good[i]), 1e-9);
	}
}

/* ---- moving ---- */

Test(keys, up_and_down_move_by_a_line_and_pages_by_half_a_screen)
{
	press(SCREEN_DOWN);
	cr_expect_eq(s.o.chosen, 50);
	press(SCREEN_DOWN);
	press(SCREEN_WHEEL_DOWN);
	cr_expect_eq(s.o.chosen, 48);
	press(SCREEN_UP);
	cr_expect_eq(s.o.chosen, 49);
	press(SCREEN_WHEEL_UP);
	cr_expect_eq(s.o.chosen, 50);
	press(SCREEN_PAGE_DOWN);
	cr_expect_eq(s.o.chosen, 50 - HEIGHT / 2);
	press(SCREEN_PAGE_DOWN);
	press(SCREEN_PAGE_UP);
	cr_expect_eq(s.o.chosen, 50 - HEIGHT / 2);
	press(SCREEN_END);
	cr_expect_eq(s.o.chosen, 1);
	press(SCREEN_HOME);
	cr_expect_eq(s.o.chosen, 50);
	press(SCREEN_ESCAPE);
	cr_expect_eq(s.o.chosen, 0);
}

/* ---- sorting and grouping ---- */

Test(keys, a_letter_sorts_by_its_column)
{
	static const struct {
		int key;
		enum column column;
		bool ascending;
	} cases[] = {{'P', COLUMN_OF_CPU, false},
		     {'N', COLUMN_OF_PID, true},
		     {'M', COLUMN_OF_USED, false},
		     {'T', COLUMN_OF_TIME, false}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		press(cases[i].key);
		cr_expect_eq(s.o.sorted_by, cases[i].column, "%c", cases[i].key);
		cr_expect_eq(s.o.ascending, cases[i].ascending, "%c", cases[i].key);
	}
	press('R');
	cr_expect(s.o.ascending);
	press('R');
	cr_expect_not(s.o.ascending);
}

Test(keys, the_sorting_goes_to_the_column_beside_and_no_further)
{
	press('<');
	cr_expect_eq(s.o.sorted_by, COLUMN_OF_SESSION);
	press('<');
	cr_expect_eq(s.o.sorted_by, COLUMN_OF_SESSION, "there is none to the left");
	press('>');
	press('>');
	cr_expect_eq(s.o.sorted_by, COLUMN_OF_PID);
	press('>');
	cr_expect_eq(s.o.sorted_by, COLUMN_OF_PID);
	press('P'); /* a column that is not shown */
	press('>');
	cr_expect_eq(s.o.sorted_by, COLUMN_OF_SESSION);
	press('P');
	press('<');
	cr_expect_eq(s.o.sorted_by, COLUMN_OF_SESSION);
}

Test(keys, u_goes_through_the_groupings_and_1_folds_the_cores)
{
	press('u');
	cr_expect_eq(s.o.groups, VIEW_TREE);
	press('u');
	cr_expect_eq(s.o.groups, VIEW_USERS);
	press('u');
	cr_expect_eq(s.o.groups, VIEW_UNGROUPED);
	press('1');
	cr_expect(s.o.one_line_of_cores);
	press('1');
	cr_expect_not(s.o.one_line_of_cores);
}

Test(keys, enter_opens_a_session_and_shows_a_users_sessions)
{
	press(SCREEN_ENTER);
	cr_expect_eq(s.o.page, VIEW_SESSIONS, "no line is chosen");
	s.o.groups = VIEW_USERS;
	s.o.chosen = FOLLOW_USER | 4000077;
	press(SCREEN_ENTER);
	cr_expect(s.o.only_uid && s.o.uid == 4000077 && !s.o.chosen);
	cr_expect_eq(s.o.groups, VIEW_UNGROUPED);
	cr_expect_eq(s.o.page, VIEW_SESSIONS);
	cr_expect_eq(s.f.shown, SESSIONS / 2);
	s.o.chosen = 99;
	press(SCREEN_ENTER);
	cr_expect_eq(s.o.page, VIEW_SESSION);
	press('x');
	cr_expect_eq(s.o.page, VIEW_SESSIONS);
	cr_expect_eq(s.o.chosen, 99);
}

/* ---- pages ---- */

Test(keys, q_ends_top_on_every_page_and_any_other_key_leaves_help)
{
	static const int keys[] = {'h', '?', SCREEN_HELP};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		cr_expect(press(keys[i]));
		cr_expect_eq(s.o.page, VIEW_HELP);
		cr_expect_not(press('q'));
		press(SCREEN_RESIZED);
		cr_expect_eq(s.o.page, VIEW_HELP);
		cr_expect(press('x'));
		cr_expect_eq(s.o.page, VIEW_SESSIONS);
	}
	cr_expect_not(press('q'));
	cr_expect_not(press('Q'));
}

Test(keys, the_chooser_moves_takes_and_leaves)
{
	press('c');
	cr_expect_eq(s.o.page, VIEW_CHOOSER);
	cr_expect_eq(s.o.cursor, 0);
	press(SCREEN_UP);
	cr_expect_eq(s.o.cursor, 0);
	press(SCREEN_DOWN);
	press(SCREEN_WHEEL_DOWN);
	press(SCREEN_WHEEL_DOWN);
	press(SCREEN_WHEEL_UP);
	cr_expect_eq(s.o.cursor, 2);
	press(SCREEN_PAGE_DOWN);
	cr_expect_eq(s.o.cursor, 12);
	press(SCREEN_PAGE_UP);
	cr_expect_eq(s.o.cursor, 2);
	press(SCREEN_END);
	cr_expect_eq(s.o.cursor, COLUMN_NR - 1);
	press(' ');
	cr_expect_eq(s.o.columns.count, 4);
	cr_expect_eq(s.o.columns.list[3].column, COLUMN_NR - 1);
	press(' ');
	cr_expect_eq(s.o.columns.count, 3);
	press(SCREEN_HOME);
	cr_expect_eq(s.o.cursor, 0);
	press(SCREEN_CLICK);
	cr_expect_eq(s.o.page, VIEW_CHOOSER);
	press(SCREEN_ENTER);
	cr_expect_eq(s.o.page, VIEW_SESSIONS);
}

Test(keys, the_last_column_stays)
{
	press('c');
	s.o.cursor = COLUMN_OF_SESSION;
	press(' ');
	cr_expect_eq(s.o.columns.count, 2);
	cr_expect_eq(s.o.columns.list[0].column, COLUMN_OF_QUEUED, "the others move up");
	cr_expect_eq(s.o.columns.list[1].column, COLUMN_OF_PID);
	s.o.cursor = COLUMN_OF_QUEUED;
	press(' ');
	s.o.cursor = COLUMN_OF_PID;
	press(' ');
	cr_expect_eq(s.o.columns.count, 1);
	cr_expect_eq(s.o.columns.list[0].column, COLUMN_OF_PID);
}

/* ---- questions ---- */

Test(keys, an_interval_is_asked_for_until_it_is_one)
{
	press('d');
	cr_expect_str_eq(prompt(), "Seconds between readings (0.1 to 3600): ");
	type("5000");
	cr_expect_str_eq(prompt(), "Seconds between readings (0.1 to 3600): ");
	type("0.5");
	cr_expect_str_eq(prompt(), "");
	cr_expect_float_eq(s.o.interval, 0.5, 1e-9);
	press('s');
	type("");
	cr_expect_str_eq(prompt(), "");
	cr_expect_float_eq(s.o.interval, 0.5, 1e-9, "without an answer it stays");
}

Test(keys, an_answer_can_be_corrected_or_given_up)
{
	press('d');
	press('1');
	press('x');
	press(SCREEN_DOWN); /* not a character */
	cr_expect_str_eq(prompt(), "Seconds between readings (0.1 to 3600): 1x");
	press(SCREEN_BACKSPACE);
	press('0');
	cr_expect_str_eq(prompt(), "Seconds between readings (0.1 to 3600): 10");
	press(SCREEN_ESCAPE);
	cr_expect_str_eq(prompt(), "");
	cr_expect_float_eq(s.o.interval, 2, 1e-9);
	press('d');
	cr_expect_str_eq(prompt(), "Seconds between readings (0.1 to 3600): ");
	press(SCREEN_BACKSPACE);
	cr_expect_str_eq(prompt(), "Seconds between readings (0.1 to 3600): ");
	for (unsigned i = 0; i < 200; i++)
		press('1');
	cr_expect_eq(strlen(s.q.answer), sizeof s.q.answer - 1);
}

Test(keys, one_users_sessions_are_shown_by_name_or_number)
{
	press('U');
	cr_expect_str_eq(prompt(), "Show sessions of this user (nothing: of all): ");
	type("no-such-user");
	cr_expect_eq(s.q.asked_by, 'U');
	cr_expect_not(s.o.only_uid);
	type("4000077");
	cr_expect(s.o.only_uid && s.o.uid == 4000077);
	cr_expect_eq(s.f.shown, SESSIONS / 2);
	press('U');
	type("");
	cr_expect_not(s.o.only_uid);
	cr_expect_eq(s.f.shown, SESSIONS);
}

Test(keys, a_search_is_repeated_until_a_new_one)
{
	press('n');
	cr_expect_eq(s.o.chosen, 0, "there was no search yet");
	cr_expect_str_eq(prompt(), "");
	press('/');
	cr_expect_str_eq(prompt(), "Search for: ");
	type("9");
	cr_expect_eq(s.o.chosen, 49);
	press('n');
	cr_expect_eq(s.o.chosen, 39);
	press('/');
	type("");
	cr_expect_eq(s.o.chosen, 29, "without an answer, for the last one again");
	press('/');
	type("xyz");
	cr_expect_eq(s.o.chosen, 29);
	cr_expect_str_eq(prompt(), "No line has 'xyz'");
	press(SCREEN_RESIZED);
	cr_expect_str_eq(prompt(), "No line has 'xyz'");
	press('h');
	cr_expect_str_eq(prompt(), "", "a notice is shown until the next key");
}

Test(keys, a_session_is_ended_only_after_yes)
{
	press('k');
	cr_expect_str_eq(prompt(), "Choose a session first (Up, Down)");
	s.o.chosen = 7;
	press('k');
	cr_expect_str_eq(prompt(), "End session 7?  y, or n: ");
	type("n");
	cr_expect_str_eq(prompt(), "");
	press('k');
	s.o.chosen = 8; /* the question stays of the session that was asked about */
	type("y");
	cr_expect(!strncmp(prompt(), "Session 7: ", 11), "no quoitd is there: %s", prompt());
}

/* ---- the mouse ---- */

/* Put the table's title where the mouse is as long as it has not been moved. */
static void click_title(void)
{
	s.v.title_at = 0;
	s.v.column_end[0] = 1;
	press(SCREEN_CLICK);
}

Test(keys, a_click_on_a_title_sorts_by_it_and_a_second_turns_the_order)
{
	s.o.ascending = true;
	click_title();
	cr_expect_eq(s.o.sorted_by, COLUMN_OF_SESSION);
	cr_expect_not(s.o.ascending);
	click_title();
	cr_expect(s.o.ascending);
	cr_expect_eq(s.o.sorted_by, COLUMN_OF_SESSION);
}

Test(keys, a_click_on_a_key_of_the_last_line_presses_it)
{
	s.v.footer_at = 0;
	press(SCREEN_CLICK);
	cr_expect_eq(s.o.page, VIEW_HELP);
}
