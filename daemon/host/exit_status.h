/* SPDX-License-Identifier: MIT */
/*
 * exit_status.h - how quoitd ends, in numbers: those of sysexits.h where there is one, which
 * systemd shows by name.  quoitd(8) and docs/service.md list them.
 */
#ifndef QUOITD_EXIT_STATUS_H
#define QUOITD_EXIT_STATUS_H

#include <sysexits.h>

enum exit_status {
	STATUS_ENDED = 0,   /* it was told to */
	STATUS_FAILED = 1,  /* what has no number of its own */
	STATUS_OPTIONS = 2, /* an option, a file of options or what was passed makes no sense */
	STATUS_SHORTAGE = EX_OSERR,  /* of memory, threads or descriptors */
	STATUS_PLACE = EX_CANTCREAT, /* its folder, socket or counter files cannot be made: full or
				      * read-only, for one */
	STATUS_TAKEN = EX_TEMPFAIL,  /* another quoitd, or whoever listens there, has the place */
	STATUS_RIGHTS = EX_NOPERM,   /* it may not do that, or does not see all users */
};

/* Of what kept it from starting, a negative errno; 0: nothing. */
enum exit_status exit_status_of(int err);

#endif
