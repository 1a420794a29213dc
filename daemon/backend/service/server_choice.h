/* SPDX-License-Identifier: MIT */
/*
 * server_choice.h - which of a service's servers gets a call.
 *
 * A call goes to a server with a free thread: first to one on the node of its caller, then to the
 * one with the most free threads.  Short calls go ahead of their turn, so that a thread finds the
 * next one when it returns; of long ones none does while there are several servers, so that none
 * waits at one while another has a free thread.  A server without threads comes behind all that
 * have some: a thread of the program's own may come and serve.  The last choice is a server with a
 * thread that runs a function which waits.
 *
 * Only the home's thread calls these (service_queue.h).
 */
#ifndef QUOITD_SERVER_CHOICE_H
#define QUOITD_SERVER_CHOICE_H

#include "session/services.h"

/* The server for this call; NULL: none takes it now. */
struct server *server_choose(const struct service *service, const struct service_call *call);

/* Does any server have this call's function? */
bool server_choice_exists(const struct service *service, const struct service_call *call);

#endif
