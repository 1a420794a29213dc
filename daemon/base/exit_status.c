/* SPDX-License-Identifier: MIT */
/* exit_status.c - turns an errno into an exit status */
#include "exit_status.h"

#include <errno.h>

enum exit_status exit_status_of(int err)
{
	switch (-err) {
	case 0:
		return STATUS_ENDED;
	case EINVAL: /* an option, or */
	case ENODEV: /* no CPU is left by the options */
		return STATUS_OPTIONS;
	case ENOMEM:
	case EAGAIN:
	case EMFILE:
	case ENFILE:
		return STATUS_SHORTAGE;
	case ENOENT:
	case ENOTDIR:
	case ENOSPC:
	case EDQUOT:
	case EROFS:
		return STATUS_PLACE;
	case EADDRINUSE:
		return STATUS_TAKEN;
	case EACCES:
	case EPERM:
		return STATUS_RIGHTS;
	default:
		return STATUS_FAILED;
	}
}
