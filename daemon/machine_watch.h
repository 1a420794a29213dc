/* SPDX-License-Identifier: MIT */
/* machine_watch.h - which threads there are to be watched, and how each of them is seen to get on
 */
#ifndef QUOITD_MACHINE_WATCH_H
#define QUOITD_MACHINE_WATCH_H

#include "control/control.h"
#include "host/watchdog.h"
#include "machine.h"

/*
 * Watch over the threads of a machine that runs, and this thread, which is about to control_run.
 * Where that fails a log line says so; to be ended before machine_stop.
 */
struct watchdog *machine_watch(struct machine *m, struct control *c);

#endif
