/* SPDX-License-Identifier: MIT */
/*
 * hello.h - open a session without libquoit, since libquoit connects only to servers of root and of
 * its own user
 */
#ifndef TESTS_HELLO_H
#define TESTS_HELLO_H

#include <stdint.h>

/*
 * Open a session whose client gives this cpu_hint (ctl.h).  Returns its socket, which is the
 * session; -errno.
 */
int hello_say(const char *socket, uint32_t cpu_hint);

#endif
