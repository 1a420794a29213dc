/* SPDX-License-Identifier: MIT */
/* listen.h - parse and open the address that the exporter listens on */
#ifndef QUOIT_TOOLS_EXPORTER_LISTEN_H
#define QUOIT_TOOLS_EXPORTER_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>

/* On loopback, with a port that is free in Prometheus' list of default ports. */
#define LISTEN_DEFAULT "127.0.0.1:19684"

struct listen_address {
	struct sockaddr_storage address;
	socklen_t size;
};

/* Parse "ADDRESS:PORT" or "[ADDRESS]:PORT", in numbers; false: the word has another form. */
bool listen_parse(const char *word, struct listen_address *ret);

/*
 * Listen there; returns a descriptor or -errno.  If the port was 0, `a` gets the port that the
 * kernel chose.
 */
int listen_open(struct listen_address *a);

/* Print the address as in a URL. */
void listen_text(const struct listen_address *a, char *ret, size_t size);

#endif
