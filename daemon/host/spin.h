/* SPDX-License-Identifier: MIT */
/* spin.h - one look of a spin loop */
#ifndef QUOITD_SPIN_H
#define QUOITD_SPIN_H

#include <quoit/pause.h>

static inline void spin_pause(void)
{
	quoit_pause();
}

#endif
