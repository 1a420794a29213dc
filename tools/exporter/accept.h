/* SPDX-License-Identifier: MIT */
/* accept.h - find out from a request's header what its sender accepts */
#ifndef QUOIT_TOOLS_EXPORTER_ACCEPT_H
#define QUOIT_TOOLS_EXPORTER_ACCEPT_H

#include <stdbool.h>

/*
 * Is `word` in the list of an Accept or Accept-Encoding (NULL: there was none), with a weight other
 * than zero?  A wildcard, such as an asterisk, does not count.
 */
bool accept_takes(const char *list, const char *word);

#endif
