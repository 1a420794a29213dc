/* SPDX-License-Identifier: MIT */
/*
 * server.h - the metrics by HTTP: libmicrohttpd in one thread, ours.
 *
 * Whoever reaches the port is a stranger.  A connection is for one request and is over after
 * SERVER_SECONDS, however slowly it comes; where there are many, the oldest makes room for a new
 * one, first of those that have asked for nothing yet.  So nobody keeps a scrape away by holding
 * connections.
 */
#ifndef QUOIT_TOOLS_EXPORTER_SERVER_H
#define QUOIT_TOOLS_EXPORTER_SERVER_H

#include "exporter/collect.h"
#include "exporter/hosts.h"

#define SERVER_CONNECTIONS 32
#define SERVER_SECONDS     5
#define SERVER_REQUEST     16384 /* bytes of its line and headers, and what libmicrohttpd needs */

/*
 * Serve what comes to `listener` under one of these names until `stop` can be read; all stay the
 * caller's.  0 or a negative errno: it cannot begin.
 */
int server_run(struct collect *c, const struct hosts *hosts, int listener, int stop);

#endif
