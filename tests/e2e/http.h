/* SPDX-License-Identifier: MIT */
/* http.h - send requests to a server on loopback, and read its answers */
#ifndef TESTS_HTTP_H
#define TESTS_HTTP_H

#include <stddef.h>

/* Larger than any answer of a test. */
#define HTTP_MOST (4u << 20)

struct http_answer {
	int status; /* 200 and so on; 0: closed without an answer; -errno: no answer came in time */
	char type[128]; /* its Content-Type; "": there is none */
	char *body;     /* ended by a NUL; http_free frees it */
	size_t bytes;   /* of the body */
	char *head;     /* the lines before the body */
};

/* Connect to 127.0.0.1; returns a descriptor, or -errno. */
int http_connect(unsigned port);

/* Send these bytes and read until the server closes, which it must do after one answer. */
void http_send(unsigned port, const char *request, struct http_answer *ret);

/* GET a path; accept: the Accept header, perhaps with more header lines; NULL: none. */
void http_get(unsigned port, const char *path, const char *accept, struct http_answer *ret);

void http_free(struct http_answer *a);

#endif
