/* SPDX-License-Identifier: MIT */
/* stranger.h - make load that leaves quoitd alone */
#ifndef TORTURE_STRANGER_H
#define TORTURE_STRANGER_H

#include <stdint.h>
#include <sys/types.h>

#define STRANGERS_MOST 16u

struct strangers {
	pid_t pid[STRANGERS_MOST];
	unsigned count;
};

/*
 * Processor time of this process and of its children that have ended, without the canary's and
 * quoitd's.
 */
uint64_t strangers_used_ns(void);

/* Keep this many processors busy, with one process more than necessary. */
void strangers_start(struct strangers *s, double processors);
void strangers_stop(struct strangers *s);

#endif
