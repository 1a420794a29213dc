/* SPDX-License-Identifier: MIT */
/* answer.h - what the exporter answers to a request */
#ifndef QUOIT_TOOLS_EXPORTER_ANSWER_H
#define QUOIT_TOOLS_EXPORTER_ANSWER_H

#include <stddef.h>

#include <microhttpd.h>

/*
 * libmicrohttpd's handler, for a struct collect; microhttpd_load was called before.  All of the
 * request's head has come when it is called; its body, if it has one, nobody reads.
 */
enum MHD_Result answer_request(void *collect, struct MHD_Connection *connection, const char *url,
			       const char *method, const char *version, const char *body,
			       size_t *body_size, void **state);

#endif
