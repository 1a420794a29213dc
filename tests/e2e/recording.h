/* SPDX-License-Identifier: MIT */
/*
 * recording.h - record this process with `quoit trace record`, and read what the tools make of it.
 *
 * Calls that must succeed are asserted.
 */
#ifndef TESTS_RECORDING_H
#define TESTS_RECORDING_H

#include <sys/types.h>

#include <quoit.h>

#include "daemon.h"

struct recording {
	char path[32];
	pid_t recorder;
};

/* Record this process until quoitd ends.  Returns when the recorder reads what this session does. */
struct recording recording_begin(const struct daemon *d, struct quoit_session *s);

/* quoitd has ended: wait until the recorder has, too. */
void recording_end(struct recording *r);

/* What `quoit COMMAND PATH OPTIONS` writes; the caller frees it. */
char *recording_read(const struct recording *r, const char *command, const char *options);

void recording_remove(const struct recording *r);

/* How many times the words are in the text. */
unsigned recording_times(const char *text, const char *words);

#endif
