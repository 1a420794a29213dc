/* SPDX-License-Identifier: MIT */
/*
 * backend_exec_memory.h - which executor has which session's memory, and the words that
 * pass through a port.
 */
#ifndef QUOITD_BACKEND_EXEC_MEMORY_H
#define QUOITD_BACKEND_EXEC_MEMORY_H

#include "exec_port.h"
#include "session.h"

/* End the process; that it is dead comes as news from the starter. */
void exec_kill(struct exec_port *p, enum exec_kill why);

/* What it says it works at (quoit_exec_words.running). */
uint64_t exec_running(const struct exec_port *p);

/* Every request gets an answer, and there is room for so many. */
bool exec_has_room(const struct exec_port *p);

/* Put a request into the ring, count it, publish with exec_flush.  False: it lies, and is killed.
 */
bool exec_request(struct exec_port *p, const struct quoit_exec_request *q);
void exec_flush(struct exec_port *p);

/* See to it that the executor has the session's memory; -EBUSY: try again later. */
int exec_map(struct exec_port *p, struct session *s);

/* UNMAP was answered; false: it was not asked. */
bool exec_unmapped(struct exec_port *p, uint32_t slot);

/* It is dead: nobody is mapped there any more. */
void exec_forget_all(struct exec_port *p);

#endif
