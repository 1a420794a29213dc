/* SPDX-License-Identifier: MIT */
/* launcher_end.h - the end, by a sticky error */
#ifndef QUOIT_EXEC_LAUNCHER_END_H
#define QUOIT_EXEC_LAUNCHER_END_H

struct launcher;

/* Returns `result` of a driver's function; a sticky error ends the process. */
int launcher_check(struct launcher *l, int result);

/* The process is about to end by this error: store the reason for quoitd, after `doing`. */
void launcher_say_why(struct launcher *l, const char *doing, int err);

#endif
