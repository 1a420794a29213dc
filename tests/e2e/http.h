/* SPDX-License-Identifier: MIT */
/* http.h - requests to a server on loopback, written out, and its answers */
#ifndef TESTS_HTTP_H
#define TESTS_HTTP_H

#include <stddef.h>

/* Larger than any answer of a test. */
#define HTTP_MOST (4u << 20)

struct http_answer {
	int status;     /* 200; 0: it closed without a word; -errno: no answer came in time */
	char type[128]; /* its Content-Type; "": it has none */
	char *body;     /* ended by a NUL; the caller's: http_free */
	size_t bytes;   /* of the body */
	char *head;     /* before the body, with its lines */
};

/* Connect to 127.0.0.1; a descriptor, or -errno. */
int http_connect(unsigned port);

/* Send these bytes and read until the server closes: it has to, after one answer. */
void http_send(unsigned port, const char *request, struct http_answer *ret);

/* GET a path; accept: NULL for none, else what the header says, perhaps with more lines behind. */
void http_get(unsigned port, const char *path, const char *accept, struct http_answer *ret);

void http_free(struct http_answer *a);

#endif
