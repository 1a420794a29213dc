/* SPDX-License-Identifier: MIT */
/*
 * lose.h - make a page of a tensor with a name unreadable in quoitd, as broken memory is.
 *
 * Where a page is broken, the kernel raises SIGBUS at the next access (CONFIG_MEMORY_FAILURE, which
 * test machines may lack).  So does an access behind a file's end: quoitd is made to map such a page
 * there.
 */
#ifndef TESTS_LOSE_H
#define TESTS_LOSE_H

#include "daemon.h"

/*
 * Lose this page of the only tensor with a name that quoitd has.  Skips the test where quoitd may
 * not be traced.
 */
void lose_page(const struct daemon *d, unsigned page);

/*
 * Tell quoitd by a signal, as the kernel may, that a page is broken which it has not used
 * (BUS_MCEERR_AO).  Skips the test in the same way.
 */
void lose_warn(const struct daemon *d);

#endif
