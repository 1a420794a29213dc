/* SPDX-License-Identifier: MIT */
/* test_screen.c - quoit top's terminal: what is drawn, in which colours, and which keys come */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "top/screen.h"
#include "top/view_private.h"

#define WIDTH  60
#define HEIGHT 10

static int typed; /* the end of a pipe that the screen's keys come from */
static struct view v;

/* A terminal of type xterm: what is written goes to a file, and keys come from a pipe. */
static void open_terminal(bool colour)
{
	int ends[2];

	setenv("TERM", "xterm", true);
	setenv("LINES", "10", true);
	setenv("COLUMNS", "60", true);
	cr_assert_eq(pipe(ends), 0);
	typed = ends[1];
	cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	stdin = fdopen(STDIN_FILENO, "r");
	stdout = tmpfile();
	cr_assert(stdin && stdout);
	cr_assert(screen_open(colour, true));
	memset(&v, 0, sizeof v);
	v.width = WIDTH;
}

static void close_terminal(void)
{
	view_free(&v);
	screen_close();
}

TestSuite(screen, .fini = close_terminal);

/* Draw the view; what was written for that. */
static const char *drawn(void)
{
	static char text[65536];
	long from;
	size_t n;

	fflush(stdout);
	from = lseek(fileno(stdout), 0, SEEK_END);
	screen_draw(&v);
	fflush(stdout);
	n = (size_t)pread(fileno(stdout), text, sizeof text - 1, from);
	text[n < sizeof text ? n : 0] = '\0';
	return text;
}

static void put_lines(const char *one, enum view_style style, const char *two)
{
	v.count = 0;
	view_begin_line(&v);
	view_add(&v, style, "%s", one);
	view_end_line(&v);
	view_add(&v, VIEW_PLAIN, "%s", two);
	view_end_line(&v);
}

/* ---- drawing ---- */

Test(screen, each_style_with_a_colour_has_its_own)
{
	static const struct {
		enum view_style style;
		const char *colour;
	} cases[] = {{VIEW_WORK, "\x1b[32m"},
		     {VIEW_TILE, "\x1b[36m"},
		     {VIEW_POLL, "\x1b[33m"},
		     {VIEW_ALARM, "\x1b[31m"}};

	open_terminal(true);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *text;

		put_lines("words", cases[i].style, "");
		text = drawn();
		cr_expect(strstr(text, cases[i].colour), "style %d: %s", cases[i].style, text);
		cr_expect(strstr(text, "words"));
	}
}

Test(screen, without_colours_there_are_none)
{
	open_terminal(false);
	for (unsigned style = 0; style < VIEW_STYLES; style++) {
		put_lines("words", (enum view_style)style, "");
		cr_expect_not(strstr(drawn(), "\x1b[3"), "style %u", style);
	}
}

/* To the end of the line, or of the screen. */
static bool clears(const char *text)
{
	return strstr(text, "\x1b[K") || strstr(text, "\x1b[J");
}

Test(screen, unchanged_parts_are_not_drawn_again)
{
	const char *text;

	open_terminal(false);
	put_lines("the first line", VIEW_PLAIN, "the second");
	text = drawn();
	cr_expect(strstr(text, "the first line") && strstr(text, "the second"), "%s", text);
	cr_expect_str_eq(drawn(), "");
	put_lines("the worst line", VIEW_PLAIN, "the second");
	text = drawn();
	cr_expect(strstr(text, "wo"), "%s", text);
	cr_expect_not(strstr(text, "line") || strstr(text, "second"), "%s", text);
	put_lines("the worst", VIEW_PLAIN, "the second");
	text = drawn();
	cr_expect(clears(text), "the rest of the line: %s", text);
	cr_expect_str_eq(drawn(), "");
	v.count = 1;
	cr_expect(clears(drawn()), "a line that has gone");
}

Test(screen, has_the_size_of_its_terminal)
{
	unsigned width, height;

	open_terminal(false);
	screen_size(&width, &height);
	cr_expect_eq(width, WIDTH);
	cr_expect_eq(height, HEIGHT);
}

/* ---- keys ---- */

static void type(const char *bytes)
{
	cr_assert_eq(write(typed, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
}

Test(screen, keys_are_told_apart)
{
	static const struct {
		const char *bytes;
		int key;
	} cases[] = {
		{"x", 'x'},
		{" ", ' '},
		{"\r", SCREEN_ENTER},
		{"\n", SCREEN_ENTER},
		{"\b", SCREEN_BACKSPACE},
		{"\x7f", SCREEN_BACKSPACE},
		{"\x1bOA", SCREEN_UP},
		{"\x1bOB", SCREEN_DOWN},
		{"\x1b[5~", SCREEN_PAGE_UP},
		{"\x1b[6~", SCREEN_PAGE_DOWN},
		{"\x1bOH", SCREEN_HOME},
		{"\x1bOF", SCREEN_END},
		{"\x1bOP", SCREEN_HELP},
		{"\x1b[21~", 'q'},
		{"\x1bOC", SCREEN_NOTHING}, /* right: it has no meaning */
		{"\x1b", SCREEN_ESCAPE},
	};

	open_terminal(false);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int key;

		type(cases[i].bytes);
		key = screen_key(5000);
		cr_expect_eq(key, cases[i].key, "%zu: %x, not %x", i, (unsigned)key,
			     (unsigned)cases[i].key);
	}
	cr_expect_eq(screen_key(0), SCREEN_NOTHING);
}

/* As xterm reports it, with columns and lines counted from 1; end: 'M', or 'm' when it is let go. */
static void press_button(int button, int x, int y, char end)
{
	char bytes[32];

	snprintf(bytes, sizeof bytes, "\x1b[<%d;%d;%d%c", button, x + 1, y + 1, end);
	type(bytes);
}

Test(screen, the_wheel_and_clicks_have_their_place)
{
	unsigned x, y;

	open_terminal(false);
	press_button(64, 3, 4, 'M');
	cr_expect_eq(screen_key(5000), SCREEN_WHEEL_UP);
	press_button(65, 3, 4, 'M');
	cr_expect_eq(screen_key(5000), SCREEN_WHEEL_DOWN);
	press_button(0, 20, 7, 'M');
	press_button(0, 20, 7, 'm');
	cr_expect_eq(screen_key(5000), SCREEN_CLICK);
	screen_mouse(&x, &y);
	cr_expect_eq(x, 20);
	cr_expect_eq(y, 7);
}

Test(screen, a_click_in_the_first_corner_is_one)
{
	unsigned x, y;

	open_terminal(false);
	press_button(0, 0, 0, 'M');
	press_button(0, 0, 0, 'm');
	cr_expect_eq(screen_key(5000), SCREEN_CLICK);
	screen_mouse(&x, &y);
	cr_expect(x == 0 && y == 0);
}

Test(screen, a_terminal_that_has_gone_is_told_from_a_missing_key)
{
	open_terminal(false);
	cr_expect_eq(screen_key(1), SCREEN_NOTHING);
	close(typed);
	cr_expect_eq(screen_key(1), SCREEN_GONE);
}
