/* SPDX-License-Identifier: MIT */
/* refusal_counter.h - which counter counts a refused SQE, by its reason */
#ifndef QUOITD_REFUSAL_COUNTER_H
#define QUOITD_REFUSAL_COUNTER_H

#include <errno.h>
#include <stdint.h>

#include <quoit/stats.h>

/* code: that of the fault. */
static inline unsigned refusal_counter(int32_t code)
{
	switch (code) {
	case -EINVAL:
		return QUOIT_REACTOR_REFUSED_EINVAL;
	case -ENOTSUP:
		return QUOIT_REACTOR_REFUSED_ENOTSUP;
	case -E2BIG:
		return QUOIT_REACTOR_REFUSED_E2BIG;
	case -EBADF:
		return QUOIT_REACTOR_REFUSED_EBADF;
	case -EACCES:
		return QUOIT_REACTOR_REFUSED_EACCES;
	case -EEXIST:
		return QUOIT_REACTOR_REFUSED_EEXIST;
	case -ENODEV:
		return QUOIT_REACTOR_REFUSED_ENODEV;
	case -EXDEV:
		return QUOIT_REACTOR_REFUSED_EXDEV;
	default:
		return QUOIT_REACTOR_REFUSED_OTHER;
	}
}

#endif
