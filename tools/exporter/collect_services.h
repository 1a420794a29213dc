/* SPDX-License-Identifier: MIT */
/* collect_services.h - write the metrics of services, locks and their kin */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_SERVICES_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_SERVICES_H

#include <stdint.h>

#include "exposition.h"

/*
 * Ask the quoitd at this socket for them.  Users take turns, each with those of its own at which
 * most calls wait, until COLLECT_SERVICES are chosen: so nobody's names can keep others' away.
 * tsc_hz: ticks per second; 0: not known.  0, also if quoitd does not answer, or -ENOMEM.
 */
int collect_services(struct exposition *e, const char *socket, uint64_t tsc_hz);

#endif
