/* SPDX-License-Identifier: MIT */
/*
 * exit_status.h - the exit statuses of quoitd: those of sysexits.h where one fits, which systemd
 * shows by name.  quoitd(8) and docs/service.md list them.
 */
#ifndef QUOITD_EXIT_STATUS_H
#define QUOITD_EXIT_STATUS_H

#include <sysexits.h>

enum exit_status {
	STATUS_ENDED = 0,   /* it was told to end */
	STATUS_FAILED = 1,  /* a failure without a number of its own */
	STATUS_OPTIONS = 2, /* an option, an options file or a passed socket makes no sense */
	STATUS_SHORTAGE = EX_OSERR,  /* of memory, threads or descriptors */
	STATUS_PLACE = EX_CANTCREAT, /* its folder, socket or counter files cannot be made */
	STATUS_TAKEN = EX_TEMPFAIL,  /* another quoitd or process has the place */
	STATUS_RIGHTS = EX_NOPERM,   /* it lacks a permission, or does not see all users */
};

/* The status for the error that kept quoitd from starting, a negative errno; 0: none. */
enum exit_status exit_status_of(int err);

#endif
