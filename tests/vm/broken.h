/* SPDX-License-Identifier: MIT */
/* broken.h - break a page of memory as the machine does, by the kernel's own injection */
#ifndef TESTS_VM_BROKEN_H
#define TESTS_VM_BROKEN_H

/* So says the kernel that Debian has for clouds; its other one breaks pages ($VM_KERNEL). */
#define BROKEN_NO_KERNEL "this kernel has no CONFIG_MEMORY_FAILURE"

/*
 * Break a page of a tensor with a name (MADV_HWPOISON: CONFIG_MEMORY_FAILURE, and root) while a
 * session of the quoitd at this socket has it open.  NULL: a job that uses it has failed, and all
 * else goes on; else what went wrong.
 */
const char *broken_tensor_is_survived(const char *socket);

#endif
