/* SPDX-License-Identifier: MIT */
/*
 * soft_case.h - open a soft device for a test
 *
 * Calls that must succeed are asserted.  A test with work that never ends does not close its
 * device: its process ends all the same.
 */
#ifndef TESTS_SOFT_CASE_H
#define TESTS_SOFT_CASE_H

#include <stdbool.h>

#include "quoit-exec/soft/soft.h"

#define SOFT_CASE_PAGE UINT64_C(4096)

/* Open device 0 with this much memory, such as "1M". */
struct quoit_device *soft_case_open(const char *bytes);

struct quoit_device_stream *soft_case_stream(struct quoit_device *d);

/* Memory that streams may read and write, all zero. */
void *soft_case_host(struct quoit_device *d, size_t bytes);

uint64_t soft_case_memory(struct quoit_device *d, uint64_t bytes);

/* An event at the present end of the stream. */
struct quoit_device_event *soft_case_mark(struct quoit_device *d, struct quoit_device_stream *s);

/* Wait until the stream has done all its work: event_done's last answer. */
int soft_case_finish(struct quoit_device *d, struct quoit_device_stream *s);

/* Wait until the device is broken: health's answer. */
int soft_case_break(struct quoit_device *d, const struct quoit_device_verdict **ret_verdict);

/* Copy to or from host memory of soft_case_host. */
void soft_case_in(struct quoit_device_stream *s, uint64_t to, const void *from, uint64_t bytes);
void soft_case_out(struct quoit_device_stream *s, void *to, uint64_t from, uint64_t bytes);

/* Launch a built-in kernel with `count` arguments of `bytes[i]` each. */
int soft_case_launch(struct quoit_device *d, struct quoit_device_stream *s, const char *kernel,
		     uint32_t count, const void *const arg[], const uint8_t bytes[]);

/* Keep the stream busy for so long; UINT64_MAX: for ever. */
void soft_case_spin(struct quoit_device *d, struct quoit_device_stream *s, uint64_t ns);

#endif
