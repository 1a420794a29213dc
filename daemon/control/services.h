/* SPDX-License-Identifier: MIT */
/*
 * services.h - the services that there are: names, who serves, who may call (session/services.h).
 *
 * A service begins with the first ring that serves its name, an object with the first session that
 * opens it.  Each ends when no ring serves it and no session has it open.  Control thread only.
 */
#ifndef QUOITD_CONTROL_SERVICES_H
#define QUOITD_CONTROL_SERVICES_H

#include "connection_private.h"

/* Requests: SERVE, SERVICE, SERVICE_FUNCTION, SERVICE_CLOSE, CALLER. */
void services_serve(struct connection *c, const struct quoit_ctl *m);
void services_open(struct connection *c, const struct quoit_ctl *m);
void services_find_function(struct connection *c, const struct quoit_ctl *m);
void services_close(struct connection *c, const struct quoit_ctl *m);
void services_give_memory(struct connection *c, const struct quoit_ctl *m);

/* SYNC (services_sync.c). */
void services_open_sync(struct connection *c, const struct quoit_ctl *m);

/*
 * TENSOR (services_tensor.c): charge it, and have its memory mapped; the descriptor is taken over.
 * READY: its memory is ready, and it gets its name.  TENSOR_MEMORY.
 */
void services_make_tensor(struct connection *c, const struct quoit_ctl *m,
			  const struct ctl_fds *fds);
void services_name_tensor(struct connection *c);
void services_give_tensor(struct connection *c, const struct quoit_ctl *m);

/* Of a tensor that has no name yet, if there is one: give back its memory and what was charged. */
void services_drop_tensor(struct connection *c);

/* SERVICES and CALLERS (services_tell.c). */
void services_tell(struct connection *c, const struct quoit_ctl *m);
void services_tell_callers(struct connection *c, const struct quoit_ctl *m);

/* The reactor has answered a SERVE_ASK. */
void services_answer_serve(struct connection *c, const struct mail *m);

/* The reactor has answered a CALLER_ADD. */
void services_answer_open(struct connection *c, const struct mail *m);

/* Handle a letter of a reactor; false: it is not about services. */
bool services_mail(struct control *c, const struct mail *m);

/* The connection's session is about to be freed: what it has left here has no owner any more. */
void services_session_ended(struct connection *c);

/* The client has hung up: it waits for no service any more. */
void services_hung_up(struct connection *c);

/* Once a pass: answer those that have waited for a service. */
void services_advance(struct control *c);

/* Milliseconds until the next of them has waited for long enough; -1: none waits. */
int services_timeout_ms(const struct control *c);

/* Free all that is left; no reactor runs any more. */
void services_done(struct control *c);

#endif
