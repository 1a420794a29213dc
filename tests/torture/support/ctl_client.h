/* SPDX-License-Identifier: MIT */
/*
 * ctl_client.h - send control messages of any kind, with any descriptors, in any state.
 *
 * raw_client follows the protocol; this breaks it.
 */
#ifndef TORTURE_CTL_CLIENT_H
#define TORTURE_CTL_CLIENT_H

#include <stddef.h>
#include <sys/types.h>

#include "stage.h"

/* An empty request of this type, and a hello that quoitd accepts. */
struct quoit_ctl ctl_request(uint16_t type);
struct quoit_ctl ctl_hello(void);

/* Send any bytes with any descriptors.  0 or -errno. */
int ctl_put(int socket, const void *bytes, size_t size, const int *fds, unsigned count);

/* The same with the descriptors in one block (SCM_RIGHTS), and the same again in a second block. */
int ctl_put_blocks(int socket, const void *bytes, size_t size, const int *fds, unsigned count,
		   unsigned blocks);

/*
 * The same for a connection without a session: from Linux 6.16 on the kernel refuses to send
 * descriptors to it.  False: that happened, and the connection has been closed (CLIENTS_LEFT).
 */
bool ctl_put_early(struct stage *s, struct raw_client *c, const void *bytes, size_t size,
		   const int *fds, unsigned count);

/*
 * Receive the next message; descriptors with it are closed.  0; -ECONNRESET: the connection has
 * ended and nothing more will come; -ETIME: nothing came for a minute.
 */
int ctl_get(int socket, struct quoit_ctl *ret);

/*
 * Send one request with at most one descriptor (-1: none) and receive its reply; returns as
 * ctl_get.
 */
int ctl_ask(int socket, const struct quoit_ctl *request, int fd, struct quoit_ctl *ret);

/* Add a file to a session, or remove it again: the result, or that of ctl_get. */
int ctl_add_file(const struct raw_client *c, int fd, uint32_t *ret_index);
int ctl_remove_file(const struct raw_client *c, uint32_t index);

/*
 * Expect END with these words as the next message and the connection's last, and its counter to
 * rise by one; replies before it are skipped.  Closes the client.
 */
void ctl_expect_end(struct stage *s, struct raw_client *c, uint32_t reason, const char *words);

/*
 * Send this request two times without reading a reply.  Its reply brings a descriptor, so quoitd ends
 * the connection at the second one, which is expected.  Closes the client.
 */
void ctl_leave_unread(struct stage *s, struct raw_client *c, const struct quoit_ctl *request);

/* Connect as this user (0: as raw_connect does).  -errno. */
int ctl_connect_as(struct raw_client *c, const char *socket, uid_t uid);

/*
 * Let a connection record all that it may, with this many records each; returns how many sessions
 * that are.  0: a failure, which is noted.
 */
uint32_t ctl_record(struct stage *s, struct raw_client *c, uint32_t records);

/* Close a connection without a session, which counts as CLIENTS_LEFT. */
void ctl_leave(struct stage *s, struct raw_client *c);

#endif
