/* SPDX-License-Identifier: MIT */
/* stranger.h - a load that leaves quoitd alone */
#ifndef TORTURE_STRANGER_H
#define TORTURE_STRANGER_H

#include <stdint.h>
#include <sys/types.h>

#define STRANGERS_MOST 16u

struct strangers {
	pid_t pid[STRANGERS_MOST];
	unsigned count;
};

/* Processor time of this process and of its children that have ended: not the canary's or quoitd's.
 */
uint64_t strangers_used_ns(void);

/* Keep so many processors busy, by one process more than that takes. */
void strangers_start(struct strangers *s, double processors);
void strangers_stop(struct strangers *s);

#endif
