/* SPDX-License-Identifier: MIT */
/* naming.h - tensors with names, made and opened by hand */
#ifndef TORTURE_NAMING_H
#define TORTURE_NAMING_H

#include "stage.h"

#define NAMING_ELEMENTS 1024u /* of f32: what naming_make makes */
#define NAMING_BYTES    (NAMING_ELEMENTS * sizeof(float))

/* A TENSOR that quoitd accepts. */
struct quoit_ctl naming_request(const char *name);

/* Both steps: hand over a memfd with all its pages and seals.  0: *ret_number and *ret_map. */
int naming_make_as(struct raw_client *c, struct quoit_ctl m, uint32_t *ret_number, float **ret_map);
int naming_make(struct raw_client *c, const char *name, uint32_t *ret_number, float **ret_map);

/* SYNC for one that is there.  uid: its user, or QUOIT_SERVICE_OWN. */
int naming_open(struct raw_client *c, const char *name, uint32_t uid, uint16_t flags,
		uint32_t *ret_number);

int naming_close(struct raw_client *c, uint32_t number);

/* A CREATE of n of its elements. */
struct quoit_sqe naming_create(uint32_t handle, uint32_t number, uint32_t n);

/* Its memfd, as TENSOR_MEMORY gives it; -errno. */
int naming_memory(struct raw_client *c, uint32_t number);

/* Open a session, make one, compute with it, and leave. */
void naming_afresh(struct stage *s);

#endif
