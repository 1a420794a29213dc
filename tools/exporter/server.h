/* SPDX-License-Identifier: MIT */
/*
 * server.h - serve the metrics by HTTP: libmicrohttpd in one thread, ours.
 *
 * Every client is a stranger.  A connection is for one request and ends after SERVER_SECONDS,
 * however slow it is.  If there are many, the oldest makes room for a new one; connections that
 * have not asked yet go first.  So holding connections open does not keep scrapes away.
 */
#ifndef QUOIT_TOOLS_EXPORTER_SERVER_H
#define QUOIT_TOOLS_EXPORTER_SERVER_H

#include "collect.h"
#include "hosts.h"

#define SERVER_CONNECTIONS 32
#define SERVER_SECONDS     5
/* for the request's line and headers, and for libmicrohttpd's own needs */
#define SERVER_REQUEST     16384

/*
 * Serve connections to `listener` under one of these names until `stop` can be read; the caller
 * keeps all of them.  0 or a negative errno: it could not begin.
 */
int server_run(struct collect *c, const struct hosts *hosts, int listener, int stop);

#endif
