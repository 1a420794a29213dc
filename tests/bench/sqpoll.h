/* SPDX-License-Identifier: MIT */
/*
 * sqpoll.h - measure io_uring's NOP with a kernel thread that polls: a fair peer for a ring to a
 * daemon
 */
#ifndef SQPOLL_H
#define SQPOLL_H

#include "floor.h"

/*
 * Run NOPs, p->depth of them in flight, without system calls while the kernel's thread, on
 * p->server_cpu, is awake.  Every user_data is checked.  0; -EINVAL; -EBADMSG: a completion was
 * wrong; -errno if io_uring is refused (-ENOSYS, -EPERM, -ENOMEM).
 */
int sqpoll_run(const struct floor_params *p, struct floor_result *ret);

#endif
