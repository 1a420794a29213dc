/* SPDX-License-Identifier: MIT */
/*
 * engine_private.h - declares what the files behind engine.h share: engine.c (making, freeing),
 * engine_threads.c (starting, stopping) and engine_tell.c (the file for `quoit topo`).
 */
#ifndef QUOITD_ENGINE_PRIVATE_H
#define QUOITD_ENGINE_PRIVATE_H

#include "engine.h"

/* ---- engine.c ---- */

/* What the configuration asks of placement_make; it points into the configuration. */
struct placement_config engine_placement_wishes(const struct engine *m);

/* ---- engine_tell.c ---- */

/* Write the file of what was found and chosen.  executors: NULL until they run. */
void engine_tell_topology(const struct engine *m, const struct executors *executors);

#endif
