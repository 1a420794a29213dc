/* SPDX-License-Identifier: MIT */
/* screen.h - draw lines on a terminal and read keys, with ncurses; there is one screen */
#ifndef QUOIT_TOOLS_TOP_SCREEN_H
#define QUOIT_TOOLS_TOP_SCREEN_H

#include <stdbool.h>

#include "view.h"

/* Keys that are not characters. */
enum {
	SCREEN_NOTHING = -1, /* no key within the time */
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
	SCREEN_CLICK,        /* one click, at screen_mouse's place */
	SCREEN_DOUBLE_CLICK, /* two clicks */
	SCREEN_WHEEL_UP,
	SCREEN_WHEEL_DOWN,
};

/*
 * Take over the terminal, with colours if it has some, and with its mouse if wanted.  False:
 * ncurses does not know this terminal.
 */
bool screen_open(bool colour, bool mouse);

/* Restore the terminal.  No effect if it is not open. */
void screen_close(void);

void screen_size(unsigned *ret_width, unsigned *ret_height);
void screen_draw(const struct view *v);

/* The place of the last click. */
void screen_mouse(unsigned *ret_x, unsigned *ret_y);

/* The next key: a character or one of the above. */
int screen_key(int timeout_ms);

#endif
