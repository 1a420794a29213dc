/* SPDX-License-Identifier: MIT */
/*
 * backend_exec_late.h - end an executor that hangs; for the reactor only.
 *
 * backend_exec_late.c also defines exec_overdue and exec_abandon of backend_exec.h.
 */
#ifndef QUOITD_BACKEND_EXEC_LATE_H
#define QUOITD_BACKEND_EXEC_LATE_H

#include "session/owner.h"

/* Call once a pass for a port that is UP: kills an executor that works at one job for too long. */
void exec_end_hung(struct reactor *r, struct exec_port *p);

#endif
