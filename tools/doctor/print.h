/* SPDX-License-Identifier: MIT */
/* print.h - print findings as lines for people or as JSON */
#ifndef QUOIT_TOOLS_DOCTOR_PRINT_H
#define QUOIT_TOOLS_DOCTOR_PRINT_H

#include <stdbool.h>

#include "finding.h"

/* off_only: print only warnings and failures, and no summary. */
void findings_print(const struct findings *f, bool off_only);

/* False: out of memory. */
bool findings_print_json(const struct findings *f, bool off_only);

#endif
