/* SPDX-License-Identifier: MIT */
/*
 * named.h - tensors with names: memory that several programs use.
 *
 *	n = quoit_open_tensor(s, "field", &shape, NULL);   // makes it, if there is none
 *	t = quoit_attach_tensor(q, n);                     // a tensor as any other
 *	quoit_push(q, quoit_add(t, t, mine));
 *
 * The program that makes a tensor brings its memory, and its user is charged for it.  Other sessions
 * attach it: their jobs work on the same bytes.  Each session orders its own jobs by the data; what
 * sessions do with one tensor at the same time is ordered by locks and their kin (quoit/sync.h)
 * only.  A session that writes without one leaves garbage to the others, and harms nobody else.
 * Poison belongs to a session, too: others read what is there.
 *
 * Every program that has it open can acquire it for reading (quoit_acquire), without a copy.  Only
 * the one that has made it can acquire it for writing, since its memory is sealed against others.
 * What is in it at first is zero.  It ends with the last session that has it open, whoever made it.
 *
 * It is on the host.  No device or module works on it, and no function is called with it: copy it
 * (quoit_copy).  Its maker can write to it at any time, also after quoit_close_sync, as long as it
 * keeps its memory mapped: take what you read in another user's tensor as any input.
 *
 * If a page of it cannot be read any more (broken memory), each job that uses it fails with -EFAULT,
 * of all sessions.  Its name is free then: close it, and make it anew.
 */
#ifndef QUOIT_NAMED_H
#define QUOIT_NAMED_H

#include <quoit/sync.h>

/*
 * Open the tensor of this name, or make it if there is none.  shape: what it is, without strides and
 * without a dim of 0; one that is there must be the same.  NULL: open what is there.  params may be
 * NULL; its flags may be QUOIT_SYNC_MUST_EXIST or QUOIT_SYNC_MUST_BE_NEW; QUOIT_SYNC_READ_ONLY: this
 * session only reads it, and makes none; QUOIT_SYNC_OTHERS_READ: if it is made, users whom `mode`
 * lets in only read it.  `value` and `most` are 0.
 *
 * Returns its number, for quoit_attach_tensor, until quoit_close_sync or quoit_close.  -EACCES: this
 * user, or this session, only reads it: open it with QUOIT_SYNC_READ_ONLY; -ENOMEM: the system has no
 * memory for it, or quoitd cannot lock it; -ENOTSUP: the kernel cannot seal memory (before Linux
 * 5.1); else as quoit_open_lock.  quoit_open_text says more.  Thread-safe.
 */
QUOIT_TO_CHECK int quoit_open_tensor(struct quoit_session *s, const char *name,
				     const struct quoit_shape *shape,
				     const struct quoit_sync_params *params);

/*
 * Make a tensor of this ring that is all of it; quoit_view makes parts of it.  All that a session
 * attaches of one are ordered by the data as one tensor.  It is freed by quoit_free, before or after
 * quoit_close_sync.  But quoitd must have seen it before that closes, as it has when a job of it has
 * ended; else it is not made.  QUOIT_NO_TENSOR: `number` is none of quoit_open_tensor; else as
 * quoit_create.
 */
QUOIT_TO_CHECK quoit_tensor quoit_attach_tensor(struct quoit_ring *q, int number);

#endif
