/* SPDX-License-Identifier: MIT */
/*
 * connection_kernels.h - handles requests about kernels: checks what a client hands in, and sends
 * it through the reactor to the device's process.  Control thread only.
 */
#ifndef QUOITD_CONNECTION_KERNELS_H
#define QUOITD_CONNECTION_KERNELS_H

#include "connection_private.h"

/* IMAGE_ADD, IMAGE_REMOVE or KERNEL_ADD.  The descriptor is taken over. */
void connection_kernels(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds);

/* Handle the reactor's answer. */
void connection_answer_kernels(struct connection *c, const struct mail *m);

#endif
