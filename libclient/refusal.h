/* SPDX-License-Identifier: MIT */
/* refusal.h - why a call was refused, in words; a function that refuses returns the error */
#ifndef LIBQUOIT_REFUSAL_H
#define LIBQUOIT_REFUSAL_H

#include <stddef.h>

#include "public.h"

/* ---- strerror.c ---- */

/* Set what quoit_open_text returns in this thread. */
__attribute__((format(printf, 1, 2))) void libquoit_text_set(const char *format, ...);

/* The same, and return the error. */
__attribute__((cold, format(printf, 2, 3))) int libquoit_text_refuse(int error, const char *format,
								     ...);

/* ---- refusal.c ---- */

/* For quoit_open_text.  Refuse: this is a child; there is no memory; quoitd's reply is invalid. */
__attribute__((cold)) int libquoit_text_refuse_child(void);
__attribute__((cold)) int libquoit_text_refuse_memory(void);
__attribute__((cold)) int libquoit_text_refuse_reply(void);

/* The flags of a call have bits that are not known; names: of those that are.  -EINVAL. */
__attribute__((cold)) int libquoit_text_refuse_flags(unsigned flags, unsigned known,
						     const char *names);

/* For quoit_error_text. */

__attribute__((cold, noinline, format(printf, 3, 4))) int libquoit_refuse(struct quoit_ring *q,
									  int error,
									  const char *format, ...);

/* Refuse: this is a child of the process that opened the session. */
__attribute__((cold)) int libquoit_refuse_child(struct quoit_ring *q);

/* Note that a wait's time is over: -ETIME.  Without formatting, since a program may poll. */
int libquoit_refuse_late(struct quoit_ring *q);

/* Refuse: the ring has ended, by q->broken. */
__attribute__((cold)) int libquoit_refuse_broken(struct quoit_ring *q);

/* Refuse: there is no such job; the ring is a raw one; the handle is not a tensor's. */
__attribute__((cold)) int libquoit_refuse_job(struct quoit_ring *q);
__attribute__((cold)) int libquoit_refuse_raw(struct quoit_ring *q);
/*
 * sqe->reserved0 is not 0: the number given to quoit_launch or quoit_op4 names no kernel or
 * operation, the argument given to quoit_op_arg is none, or it is a mistake.
 */
__attribute__((cold)) int libquoit_refuse_reserved(struct quoit_ring *q,
						   const struct quoit_sqe *sqe);
__attribute__((cold)) int libquoit_refuse_tensor(struct quoit_ring *q, int error, quoit_tensor t);

/* ---- error_field.c ---- */

/* Describe an error record's field and values, as ": tensor 1 is missing"; or write "". */
void libquoit_describe_field(const struct quoit_error *e, char *to, size_t size);

#endif
