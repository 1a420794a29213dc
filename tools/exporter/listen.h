/* SPDX-License-Identifier: MIT */
/* listen.h - the address that the exporter listens at */
#ifndef QUOIT_TOOLS_EXPORTER_LISTEN_H
#define QUOIT_TOOLS_EXPORTER_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>

/* On loopback, and a port that is nobody's in Prometheus' list of default ports. */
#define LISTEN_DEFAULT "127.0.0.1:19684"

struct listen_address {
	struct sockaddr_storage address;
	socklen_t size;
};

/* "ADDRESS:PORT" or "[ADDRESS]:PORT", in numbers; false: it is no such word. */
bool listen_parse(const char *word, struct listen_address *ret);

/* Listen there; a descriptor or -errno.  `a` has the port then that the kernel chose for 0. */
int listen_open(struct listen_address *a);

/* As it is in a URL. */
void listen_text(const struct listen_address *a, char *ret, size_t size);

#endif
