/* SPDX-License-Identifier: MIT */
/*
 * microhttpd.h - load libmicrohttpd when it is needed.
 *
 * It brings ten libraries along for TLS, and loading these takes longer than the work of `quoit
 * ps`.  So only the exporter loads it, and the other commands do without it.
 */
#ifndef QUOIT_TOOLS_EXPORTER_MICROHTTPD_H
#define QUOIT_TOOLS_EXPORTER_MICROHTTPD_H

#include <microhttpd.h>

/* The functions of it that we use: MHD_NAME. */
#define MICROHTTPD(X)                                                                              \
	X(start_daemon)                                                                            \
	X(stop_daemon)                                                                             \
	X(run)                                                                                     \
	X(get_timeout)                                                                             \
	X(get_daemon_info)                                                                         \
	X(get_connection_info)                                                                     \
	X(lookup_connection_value)                                                                 \
	X(create_response_from_buffer)                                                             \
	X(create_response_from_buffer_with_free_callback_cls)                                      \
	X(add_response_header)                                                                     \
	X(queue_response)                                                                          \
	X(destroy_response)

struct microhttpd {
#define MICROHTTPD_FIELD(name) __typeof__(&MHD_##name) name;
	MICROHTTPD(MICROHTTPD_FIELD)
#undef MICROHTTPD_FIELD
};

extern struct microhttpd mhd;

/* Load the library and fill in its functions.  NULL, or why it cannot be loaded. */
const char *microhttpd_load(void);

#endif
