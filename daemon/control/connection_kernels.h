/* SPDX-License-Identifier: MIT */
/*
 * connection_kernels.h - requests about kernels: what a client hands in is looked at, and goes
 * through its reactor to the device's process.  Control thread only.
 */
#ifndef QUOITD_CONNECTION_KERNELS_H
#define QUOITD_CONNECTION_KERNELS_H

#include "connection_private.h"

/* IMAGE_ADD, IMAGE_REMOVE or KERNEL_ADD; its descriptor is taken over. */
void connection_kernels(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds);

/* The reactor's answer. */
void connection_answer_kernels(struct connection *c, const struct mail *m);

#endif
