/* SPDX-License-Identifier: MIT */
/* serve.h - quoit-exec's loop for a module: take a request, run it, answer. */
#ifndef QUOIT_EXEC_SERVE_H
#define QUOIT_EXEC_SERVE_H

#include "module.h"

/*
 * Wait for quoitd's start message on `socket`, then serve until quoitd hangs up.  0, or -errno if
 * the two do not understand each other.
 */
int serve(int socket, const struct module *module);

#endif
