/* SPDX-License-Identifier: MIT */
/* screen.h - a terminal by ncurses: lines are drawn, keys are read.  There is one. */
#ifndef QUOIT_TOOLS_TOP_SCREEN_H
#define QUOIT_TOOLS_TOP_SCREEN_H

#include <stdbool.h>

#include "view.h"

/* Keys that are no characters. */
enum {
	SCREEN_NOTHING = -1, /* no key in time */
	SCREEN_GONE = -2,    /* the terminal has gone */
	SCREEN_UP = 0x1000,
	SCREEN_DOWN,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_ENTER,
	SCREEN_BACKSPACE,
	SCREEN_ESCAPE,
	SCREEN_HELP,
	SCREEN_RESIZED,
	SCREEN_CLICK,        /* at screen_mouse's place; */
	SCREEN_DOUBLE_CLICK, /* twice */
	SCREEN_WHEEL_UP,
	SCREEN_WHEEL_DOWN,
};

/*
 * Take the terminal; colour only where it has some, and its mouse if wanted.  False: it is none
 * that ncurses knows.
 */
bool screen_open(bool colour, bool mouse);

/* Give it back as it was.  Nothing is open: nothing happens. */
void screen_close(void);

void screen_size(unsigned *ret_width, unsigned *ret_height);
void screen_draw(const struct view *v);

/* Where the last click was. */
void screen_mouse(unsigned *ret_x, unsigned *ret_y);

/* The next key, a character or one of the above. */
int screen_key(int timeout_ms);

#endif
