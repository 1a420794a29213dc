/* SPDX-License-Identifier: MIT */
/* engine_watch.h - lists the threads to watch, and how the watchdog sees their progress */
#ifndef QUOITD_ENGINE_WATCH_H
#define QUOITD_ENGINE_WATCH_H

#include "control/control.h"
#include "control/watchdog.h"
#include "engine.h"

/*
 * Watch the threads of a running machine, and this thread, which is about to call control_run.  If
 * that fails, it is logged, and NULL is returned.  Stop it before engine_stop.
 */
struct watchdog *engine_watch(struct engine *m, struct control *c);

#endif
