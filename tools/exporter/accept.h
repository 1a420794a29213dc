/* SPDX-License-Identifier: MIT */
/* accept.h - what somebody takes, by the list of a request's header */
#ifndef QUOIT_TOOLS_EXPORTER_ACCEPT_H
#define QUOIT_TOOLS_EXPORTER_ACCEPT_H

#include <stdbool.h>

/*
 * Is `word` in the list of an Accept or Accept-Encoding (NULL: there was none), and not with a
 * weight of zero?  What stands there for all words, as an asterisk, is not taken for it.
 */
bool accept_takes(const char *list, const char *word);

#endif
