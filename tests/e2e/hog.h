/* SPDX-License-Identifier: MIT */
/* hog.h - open sessions that take all memory that their user may have, to the last page. */
#ifndef TESTS_HOG_H
#define TESTS_HOG_H

#include <quoit.h>

#define HOG_SESSIONS 64

struct hog {
	struct quoit_session *s[HOG_SESSIONS];
	unsigned count;
};

/* Take all that is left.  Asserts that this works, and that nothing is left. */
void hog_take(struct hog *h, const char *socket);
void hog_release(struct hog *h);

#endif
