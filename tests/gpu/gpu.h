/* SPDX-License-Identifier: MIT */
/*
 * gpu.h - shared by tests of the device layer: a device, checks, jobs compared with a reference.
 *
 * A test is a program of its own that needs only the driver's .so of Quoit.  Without a device it
 * exits with 77.
 */
#ifndef GPU_H
#define GPU_H

#include <stdbool.h>
#include <stdio.h>

#include <quoit/device.h>

#include "ops_reference.h"

struct gpu {
	const struct quoit_device_driver *driver;
	struct quoit_device *device;
	struct quoit_device_info info;
	struct quoit_device_stream *stream;
	struct quoit_device_event *event;
	struct quoit_device_verdict *verdict;
	char *staging;  /* host memory of GPU_BYTES */
	uint64_t arena; /* device memory of the same size */
	unsigned passed, failed;
	size_t step; /* try one of each `step` similar cases: 1, or main's argument */
};
#define GPU_BYTES ((size_t)96 << 20)

/* Count a check, and report a failure; only a screenful of failures is printed. */
#define GPU_CHECK(g, what, ...)                                                                    \
	do {                                                                                       \
		if (what) {                                                                        \
			(g)->passed++;                                                             \
		} else if ((g)->failed++ < 40) {                                                   \
			printf("\n%s:%d: %s: ", __FILE__, __LINE__, #what);                        \
			printf(__VA_ARGS__);                                                       \
			printf("\n");                                                              \
		}                                                                                  \
	} while (0)

/*
 * Arguments: [DRIVER [STEP]].  Open device 0 with a stream and buffers.  -1, or on failure the
 * result for main.
 */
int gpu_open(struct gpu *g, int argc, char *const argv[]);
/* Close all and print the summary; returns main's result. */
int gpu_close(struct gpu *g);

/* Wait for the stream's work; 0, or an error; -ETIME after some seconds. */
int gpu_wait(struct gpu *g, struct quoit_device_stream *s);

/* ---- jobs ---- */

/* One operation with tensors in host memory, for the reference, and its copy for the device. */
struct gpu_job {
	struct op_args args;
	struct {
		char *bytes;
		size_t size;
		size_t shift; /* by how many bytes the device's copy is off a multiple of 256 */
	} memory[QUOIT_MAX_TENSORS_PER_JOB];
};

/* Values of a tensor: numbers of all kinds, or numbers with sums that stay exact enough. */
enum gpu_values { GPU_WILD, GPU_TAME };

/* Give the job a tensor, with gaps around it that must not be written. */
void gpu_tensor(struct gpu_job *job, int which, uint8_t dtype, const uint32_t dim[4],
		enum ops_layout layout, enum gpu_values values);
/* Element i becomes first + i * step, in row-major order, modulo `modulo`. */
void gpu_count(struct gpu_job *job, int which, int64_t first, int64_t step, int64_t modulo);
void gpu_job_free(struct gpu_job *job);

/* Run it on the device; the job's memory then has the device's results. */
int gpu_run(struct gpu *g, struct gpu_job *job);

/* Run it on the device and by the reference, and compare all of the memory. */
void gpu_compare(struct gpu *g, struct gpu_job *job, struct ops_tolerance tolerance);

/* Bytes of an element, also for 16-bit types. */
size_t gpu_size(uint8_t dtype);

#endif
