/* SPDX-License-Identifier: MIT */
/*
 * ctl_client.h - control messages of any kind, with any descriptors, in any state.
 *
 * raw_client speaks the protocol; this breaks it.
 */
#ifndef TORTURE_CTL_CLIENT_H
#define TORTURE_CTL_CLIENT_H

#include <stddef.h>
#include <sys/types.h>

#include "stage.h"

/* A request of this type with nothing in it, and a hello that quoitd accepts. */
struct quoit_ctl ctl_request(uint16_t type);
struct quoit_ctl ctl_hello(void);

/* Send these bytes with these descriptors, whatever they are.  0 or -errno. */
int ctl_put(int socket, const void *bytes, size_t size, const int *fds, unsigned count);

/* The same with the descriptors in one block (SCM_RIGHTS), and the same again in a second one. */
int ctl_put_blocks(int socket, const void *bytes, size_t size, const int *fds, unsigned count,
		   unsigned blocks);

/*
 * The same, as a connection that has no session: from Linux 6.16 on the kernel refuses to
 * send descriptors to it.  False: so it was, and the connection has been left (CLIENTS_LEFT).
 */
bool ctl_put_early(struct stage *s, struct raw_client *c, const void *bytes, size_t size,
		   const int *fds, unsigned count);

/*
 * The next message; descriptors with it are closed.  0; -ECONNRESET: the connection has
 * ended and nothing more will come; -ETIME: nothing came for a minute.
 */
int ctl_get(int socket, struct quoit_ctl *ret);

/* Send one request with at most one descriptor (-1: none); its reply is in *ret, as ctl_get. */
int ctl_ask(int socket, const struct quoit_ctl *request, int fd, struct quoit_ctl *ret);

/* Add this file to a session, or remove that one again: the result, or as ctl_get. */
int ctl_add_file(const struct raw_client *c, int fd, uint32_t *ret_index);
int ctl_remove_file(const struct raw_client *c, uint32_t index);

/*
 * The next message must be END with these words in its text, the last of the connection, and
 * its counter rises by one; replies before it are skipped.  Closes the client.
 */
void ctl_expect_end(struct stage *s, struct raw_client *c, uint32_t reason, const char *words);

/* Connect as this user (0: as raw_connect does).  -errno. */
int ctl_connect_as(struct raw_client *c, const char *socket, uid_t uid);

/*
 * A connection that records all that it may, so many records of each; how many sessions these are.
 * 0: a failure, which is noted.
 */
uint32_t ctl_record(struct stage *s, struct raw_client *c, uint32_t records);

/* Close a connection that has no session: CLIENTS_LEFT. */
void ctl_leave(struct stage *s, struct raw_client *c);

#endif
