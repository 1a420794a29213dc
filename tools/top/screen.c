/* SPDX-License-Identifier: MIT */
/* screen.c - draw lines on a terminal and read keys, with ncurses */
#include "screen.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ESCAPE 27

static SCREEN *terminal;
static bool coloured;

/* The present screen: lines that have not changed are not drawn again. */
static struct {
	struct view_line *lines;
	int width, height;
} shown;

/* Each style's attribute, used without colours, and its colour. */
static const struct {
	attr_t attribute;
	short colour; /* < 0: the terminal's own */
} styles[VIEW_STYLES] = {
	[VIEW_PLAIN] = {A_NORMAL, -1},
	[VIEW_STRONG] = {A_BOLD, -1},
	[VIEW_FAINT] = {A_DIM, -1},
	[VIEW_TITLE] = {A_REVERSE, -1},
	[VIEW_CHOSEN] = {A_REVERSE | A_BOLD, -1},
	[VIEW_WORK] = {A_BOLD, COLOR_GREEN},
	[VIEW_TILE] = {A_NORMAL, COLOR_CYAN},
	[VIEW_POLL] = {A_NORMAL, COLOR_YELLOW},
	[VIEW_ALARM] = {A_BOLD, COLOR_RED},
};

bool screen_open(bool colour, bool mouse)
{
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return false;
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)keypad(stdscr, TRUE);
	(void)set_escdelay(25);
	(void)curs_set(0);
	if (mouse)
		(void)mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED |
					BUTTON4_PRESSED | BUTTON5_PRESSED,
				NULL);
	(void)mouseinterval(150);
	/*
	 * ncurses would look for keys every few lines while it draws; typeahead(-1) stops that.
	 * And until its screen has been ended once, it writes at every move of the cursor, instead
	 * of drawing all at once.
	 */
	(void)typeahead(-1);
	(void)endwin();
	coloured = colour && has_colors() && start_color() == OK;
	if (coloured)
		(void)use_default_colors();
	for (short i = 1; coloured && i < VIEW_STYLES; i++)
		if (styles[i].colour >= 0)
			(void)init_pair(i, styles[i].colour, -1);
	return true;
}

void screen_close(void)
{
	if (!terminal)
		return;
	(void)endwin();
	delscreen(terminal);
	terminal = NULL;
	free(shown.lines);
	shown.lines = NULL;
	shown.width = shown.height = 0;
}

void screen_size(unsigned *ret_width, unsigned *ret_height)
{
	*ret_width = (unsigned)getmaxx(stdscr);
	*ret_height = (unsigned)getmaxy(stdscr);
}

static attr_t attribute_of(unsigned style)
{
	attr_t a = styles[style].attribute;

	if (styles[style].colour >= 0 && coloured)
		a |= (attr_t)COLOR_PAIR(style);
	return a;
}

static bool is_same(const struct view_line *a, const struct view_line *b, unsigned i)
{
	return a->text[i] == b->text[i] && a->style[i] == b->style[i];
}

/* Draw the parts that differ from the old line. */
static void draw_line(const struct view_line *line, struct view_line *old, int y)
{
	unsigned from = 0, to, end = line->length;

	while (from < end && from < old->length && is_same(line, old, from))
		from++;
	while (end > from && line->length == old->length && is_same(line, old, end - 1))
		end--;
	(void)move(y, (int)from);
	for (; from < end; from = to) {
		for (to = from; to < end && line->style[to] == line->style[from]; to++)
			;
		(void)attrset((int)attribute_of(line->style[from]));
		(void)addnstr(line->text + from, (int)(to - from));
	}
	(void)attrset(A_NORMAL);
	if (line->length < old->length)
		(void)clrtoeol();
	memcpy(old->text, line->text, line->length);
	memcpy(old->style, line->style, line->length);
	old->length = line->length;
}

/* Start for a terminal of this size, with nothing shown yet. */
static bool begin(int width, int height)
{
	void *lines = realloc(shown.lines, (size_t)height * sizeof *shown.lines);

	if (!lines)
		return false;
	memset(lines, 0, (size_t)height * sizeof *shown.lines);
	shown.lines = lines;
	shown.width = width;
	shown.height = height;
	(void)erase();
	return true;
}

void screen_draw(const struct view *v)
{
	static const struct view_line nothing;

	if ((shown.width != getmaxx(stdscr) || shown.height != getmaxy(stdscr)) &&
	    !begin(getmaxx(stdscr), getmaxy(stdscr)))
		return;
	for (int y = 0; y < shown.height; y++)
		draw_line((unsigned)y < v->count ? &v->lines[y] : &nothing, &shown.lines[y], y);
	(void)refresh();
}

static unsigned mouse_x, mouse_y;

void screen_mouse(unsigned *ret_x, unsigned *ret_y)
{
	*ret_x = mouse_x;
	*ret_y = mouse_y;
}

static int read_mouse(void)
{
	MEVENT event;

	if (getmouse(&event) != OK || event.x < 0 || event.y < 0)
		return SCREEN_NOTHING;
	mouse_x = (unsigned)event.x;
	mouse_y = (unsigned)event.y;
	if (event.bstate & BUTTON4_PRESSED)
		return SCREEN_WHEEL_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return SCREEN_WHEEL_DOWN;
	if (event.bstate & BUTTON1_DOUBLE_CLICKED)
		return SCREEN_DOUBLE_CLICK;
	return event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED) ? SCREEN_CLICK : SCREEN_NOTHING;
}

static int translate(int key)
{
	switch (key) {
	case KEY_MOUSE:
		return read_mouse();
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	case KEY_PPAGE:
		return SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_HOME;
	case KEY_END:
		return SCREEN_END;
	case '\r':
	case '\n':
	case KEY_ENTER:
		return SCREEN_ENTER;
	case '\b':
	case 127:
	case KEY_BACKSPACE:
		return SCREEN_BACKSPACE;
	case ESCAPE:
		return SCREEN_ESCAPE;
	case KEY_F(1):
		return SCREEN_HELP;
	case KEY_F(10):
		return 'q';
	case KEY_RESIZE:
		return SCREEN_RESIZED;
	default:
		return key < 256 ? key : SCREEN_NOTHING;
	}
}

int screen_key(int timeout_ms)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	int key;

	timeout(timeout_ms);
	key = getch();
	if (key != ERR)
		return translate(key);
	/* getch does not tell a missing key from a terminal that has gone; poll() does. */
	return poll(&in, 1, 0) == 1 && in.revents & (POLLHUP | POLLERR | POLLNVAL) ? SCREEN_GONE
										   : SCREEN_NOTHING;
}
