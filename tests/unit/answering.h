/* SPDX-License-Identifier: MIT */
/* answering.h - something that answers on a socket as quoitd does, in a thread of the test */
#ifndef TESTS_ANSWERING_H
#define TESTS_ANSWERING_H

#include <stdbool.h>

#include <quoit/ctl.h>

/* Turn a request into its reply.  False: it stays without one. */
typedef bool answering_fn(struct quoit_ctl *m);

/* Its socket, as long as it answers. */
extern char answering_path[64];

void answering_start(answering_fn *answer);
void answering_stop(void);

#endif
