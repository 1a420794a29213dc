/* SPDX-License-Identifier: MIT */
/* http.c - send requests to a server on loopback, and read its answers */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* A server under a sanitizer needs less, even on a busy machine. */
#define PATIENCE_SECONDS 60

int http_connect(unsigned port)
{
	const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Read up to the end; -errno. */
static ssize_t read_all(int fd, char *to, size_t room)
{
	size_t got = 0;
	ssize_t n = 0;

	while (got < room && (n = recv(fd, to + got, room - got, 0)) > 0)
		got += (size_t)n;
	return n < 0 && errno != ECONNRESET ? -errno : (ssize_t)got;
}

static void take_type(struct http_answer *a)
{
	static const char name[] = "\r\nContent-Type: ";
	const char *at = strstr(a->head, name);

	if (at)
		snprintf(a->type, sizeof a->type, "%.*s", (int)strcspn(at + sizeof name - 1, "\r"),
			 at + sizeof name - 1);
}

void http_send(unsigned port, const char *request, struct http_answer *ret)
{
	int fd = http_connect(port);
	char *end;
	ssize_t n = fd;

	*ret = (struct http_answer){.head = calloc(1, HTTP_MOST + 1)};
	if (fd >= 0) {
		/* the server may close before */
		(void)send(fd, request, strlen(request), MSG_NOSIGNAL);
		n = read_all(fd, ret->head, HTTP_MOST);
		close(fd);
	}
	end = strstr(ret->head, "\r\n\r\n");
	ret->status = n < 0 ? (int)n : 0;
	if (n >= 0)
		(void)sscanf(ret->head, "HTTP/%*d.%*d %d", &ret->status);
	if (end)
		end[2] = '\0';
	ret->body = end ? end + 4 : ret->head + HTTP_MOST;
	ret->bytes = end && n > 0 ? (size_t)n - (size_t)(ret->body - ret->head) : 0;
	take_type(ret);
}

void http_get(unsigned port, const char *path, const char *accept, struct http_answer *ret)
{
	char request[4096];

	/* With HTTP/1.0 an answer comes in one piece, and then the connection ends. */
	snprintf(request, sizeof request, "GET %s HTTP/1.0\r\nHost: localhost\r\n%s%s%s\r\n", path,
		 accept ? "Accept: " : "", accept ? accept : "", accept ? "\r\n" : "");
	http_send(port, request, ret);
}

void http_free(struct http_answer *a)
{
	free(a->head);
	*a = (struct http_answer){0};
}
