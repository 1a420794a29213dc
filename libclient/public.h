/* SPDX-License-Identifier: MIT */
/* public.h - includes quoit.h such that its functions, and no others, are visible outside */
#ifndef LIBQUOIT_PUBLIC_H
#define LIBQUOIT_PUBLIC_H

/* Everything else is hidden (the Makefile's -fvisibility). */
#pragma GCC visibility push(default)
#include <quoit.h>
#pragma GCC visibility pop

#endif
