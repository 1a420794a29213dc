/* SPDX-License-Identifier: MIT */
/* odd_names.h - names of services and things to ask quoitd for, and what it may say to them */
#ifndef TORTURE_ODD_NAMES_H
#define TORTURE_ODD_NAMES_H

#include <stdbool.h>

#include <quoit/ctl.h>

/* Names that nothing can have; the last one has no end. */
#define BAD_NAMES 14u
extern const char bad_names[BAD_NAMES][QUOIT_NAME_BYTES];

/* Odd ones that it can have. */
#define GOOD_NAMES 7u
extern const char good_names[GOOD_NAMES][QUOIT_NAME_BYTES];

/* Has it only printable characters?  What quoitd says may quote a name. */
bool is_plain(const char *text);

#endif
