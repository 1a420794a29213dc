/* SPDX-License-Identifier: MIT */
/* listen.c - parse and open the address that the exporter listens on */
#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"

#define LONGEST_ADDRESS 64 /* with an interface's name behind '%' */

/* Split it into address, without brackets, and port; an address with colons needs brackets. */
static bool split(const char *word, char address[LONGEST_ADDRESS], const char **port)
{
	const char *colon = strrchr(word, ':');
	size_t length = colon ? (size_t)(colon - word) : 0;
	bool brackets = length > 2 && word[0] == '[' && word[length - 1] == ']';

	if (brackets) {
		word++;
		length -= 2;
	}
	if (!length || length >= LONGEST_ADDRESS || !brackets != !memchr(word, ':', length))
		return false;
	memcpy(address, word, length);
	address[length] = '\0';
	*port = colon + 1;
	return true;
}

bool listen_parse(const char *word, struct listen_address *ret)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	char address[LONGEST_ADDRESS];
	struct addrinfo *found;
	const char *port;
	uint32_t number;

	if (!split(word, address, &port) || !args_number(port, &number) || number > UINT16_MAX ||
	    getaddrinfo(address, port, &hints, &found) != 0)
		return false;
	*ret = (struct listen_address){.size = found->ai_addrlen};
	memcpy(&ret->address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

int listen_open(struct listen_address *a)
{
	struct sockaddr *address = (struct sockaddr *)&a->address;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1, err;

	if (fd < 0)
		return -errno;
	/* An exporter that was stopped a moment ago leaves connections in TIME_WAIT. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, address, a->size) == 0 && listen(fd, SOMAXCONN) == 0 &&
	    getsockname(fd, address, &a->size) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

void listen_text(const struct listen_address *a, char *ret, size_t size)
{
	char address[LONGEST_ADDRESS] = "", port[8] = "";
	bool v6 = a->address.ss_family == AF_INET6;

	(void)getnameinfo((const struct sockaddr *)&a->address, a->size, address, sizeof address,
			  port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(ret, size, v6 ? "[%s]:%s" : "%s:%s", address, port);
}
