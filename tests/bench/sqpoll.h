/* SPDX-License-Identifier: MIT */
/* sqpoll.h - io_uring's NOP with a kernel thread that polls: the fair peer of a ring to a daemon */
#ifndef SQPOLL_H
#define SQPOLL_H

#include "floor.h"

/*
 * NOPs, p->depth of them in flight, without a system call while the kernel's
 * thread is awake; it runs on p->server_cpu.  Every user_data is checked.  0;
 * -EINVAL; -EBADMSG: a completion was wrong; -errno where io_uring is refused
 * (-ENOSYS, -EPERM, -ENOMEM).
 */
int sqpoll_run(const struct floor_params *p, struct floor_result *ret);

#endif
