/* SPDX-License-Identifier: MIT */
/*
 * connection_functions.h - handles requests about functions of a team (session_team.h).  Control
 * thread only.
 */
#ifndef QUOITD_CONNECTION_FUNCTIONS_H
#define QUOITD_CONNECTION_FUNCTIONS_H

#include "connection_private.h"

/* FUNCTION_ADD */
void connection_add_function(struct connection *c, const struct quoit_ctl *m);

/* Handle the reactor's answer. */
void connection_answer_function(struct connection *c, const struct mail *m);

/* Visible ASCII without blanks, fewer than `size` characters, and zeros behind them? */
bool connection_is_name(const char *name, size_t size);

#endif
