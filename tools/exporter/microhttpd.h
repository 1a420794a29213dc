/* SPDX-License-Identifier: MIT */
/*
 * microhttpd.h - libmicrohttpd, loaded when it is needed.
 *
 * It brings ten libraries along for TLS, which take every `quoit ps` longer to load than its work
 * does; so nobody but the exporter loads it, and the other commands do without it.
 */
#ifndef QUOIT_TOOLS_EXPORTER_MICROHTTPD_H
#define QUOIT_TOOLS_EXPORTER_MICROHTTPD_H

#include <microhttpd.h>

/* What is used of it: MHD_NAME. */
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

/* Fill that in.  NULL, or why the library cannot be had. */
const char *microhttpd_load(void);

#endif
