/* SPDX-License-Identifier: MIT */
/* keys.h - act on the keys of `quoit top` */
#ifndef QUOIT_TOOLS_TOP_KEYS_H
#define QUOIT_TOOLS_TOP_KEYS_H

#include <stdbool.h>

#include "question.h"
#include "view.h"

/*
 * Act on a key of screen.h, or give it to the open question.  v: the view on the screen.  False: the
 * user wants to quit.
 */
bool keys_press(struct question *q, int key, struct view_options *o, struct follow *f,
		const struct view *v);

#endif
