/* SPDX-License-Identifier: MIT */
/*
 * backend_exec_late.h - ending an executor that hangs.  The reactor's.
 *
 * What backend_exec.h says of deadlines and of clients that are gone is here too.
 */
#ifndef QUOITD_BACKEND_EXEC_LATE_H
#define QUOITD_BACKEND_EXEC_LATE_H

#include "reactor/reactor.h"

/* Once a pass over a port that is UP: kill what works at one job for longer than it may. */
void exec_end_hung(struct reactor *r, struct exec_port *p);

#endif
