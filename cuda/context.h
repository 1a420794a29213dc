/* SPDX-License-Identifier: MIT */
/*
 * context.h - what the files of this folder know of an opened device and its streams.
 *
 * The functions are those of device.h, which says what they do; driver.c makes its table of them.
 */
#ifndef QUOIT_CUDA_CONTEXT_H
#define QUOIT_CUDA_CONTEXT_H

#include <stdbool.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <quoit/device.h>

#include "blas.h"
#include "profile.h"

struct quoit_device {
	int index;
	int broken;          /* 0, or the sticky error that was seen first */
	cudaError_t failed;  /* what the runtime called that, or else the last that failed */
	cudaMemPool_t pool;  /* NULL: there are none, memory is had the slow way */
	bool pool_is_shared; /* other processes may reach it */
	cudaStream_t stream; /* memory is had and given back in its order; else empty */
	cudaStream_t clock;  /* urgent: readings of the device's clock, written to */
	uint64_t *word;      /* one word of host memory */
	uint64_t pack_most;  /* bytes of scratch that a product may take in its stream */
	CUresult(CUDAAPI *write_value)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);
	CUresult(CUDAAPI *launch)(CUfunction, unsigned int, unsigned int, unsigned int,
				  unsigned int, unsigned int, unsigned int, unsigned int, CUstream,
				  void **, void **);
	/* NULL: the driver is older than CUDA 12.4. */
	CUresult(CUDAAPI *parameter)(CUkernel, size_t, size_t *, size_t *);
	struct quoit_device_stream *streams; /* linked by next */
	struct blas blas;
	struct profile profile;
	struct direct *direct; /* NULL until direct_open */
	size_t module_bytes;   /* that clients' modules take */
};

struct quoit_device_stream {
	struct quoit_device *device;
	struct quoit_device_stream *next;
	cudaStream_t stream;
	struct blas_handle *blas; /* NULL until the device's first product */
	uint32_t blas_later; /* there was none to be had: products until it is asked for again */
	void *scratch;
	size_t scratch_bytes;
};

/* The device remembers an error that is sticky; and errors_code(), and the same. */
int device_code(struct quoit_device *d, int err);
int device_check(struct quoit_device *d, cudaError_t result);

/* Where the device reaches host memory of host_new or host_register. */
int device_pointer(struct quoit_device *d, void *host, void **ret);

/* ---- clock.c ---- */

int clock_read(struct quoit_device *d, uint64_t *ret_device_ns, uint64_t *ret_ticks,
	       uint64_t *ret_error);

/* ---- memory.c ---- */

/* Pool and all; on failure nothing is left behind. */
int memory_open(struct quoit_device *d);
/* Nothing of the pool is used yet: get one that others reach.  -ENOTSUP: there is none. */
int memory_share(struct quoit_device *d);
void memory_close(struct quoit_device *d);

/* In the order of a stream: usable by what is put into it next, until what was put in before. */
cudaError_t memory_take(struct quoit_device *d, size_t bytes, cudaStream_t stream, void **ret);
cudaError_t memory_give(struct quoit_device *d, void *memory, cudaStream_t stream);

int memory_new(struct quoit_device *d, uint64_t bytes, uint64_t *ret);
int memory_free(struct quoit_device *d, uint64_t address);
int memory_host_new(struct quoit_device *d, size_t bytes, void **ret);
void memory_host_free(struct quoit_device *d, void *memory);
int memory_host_register(struct quoit_device *d, void *memory, size_t bytes);
void memory_host_unregister(struct quoit_device *d, void *memory);

/* ---- peer.c ---- */

int peer_export(struct quoit_device *d, int *ret_fd);
int peer_import(struct quoit_device *d, uint32_t index, int fd, struct quoit_device_pool **ret);
void peer_release(struct quoit_device_pool *p);
int peer_memory_export(struct quoit_device *d, uint64_t address, struct quoit_device_export *ret);
int peer_memory_import(struct quoit_device_pool *p, const struct quoit_device_export *from,
		       uint64_t bytes, uint64_t *ret);
int peer_memory_release(struct quoit_device_pool *p, uint64_t address);

/* ---- stream.c ---- */

int stream_new(struct quoit_device *d, enum quoit_device_urgency urgency,
	       struct quoit_device_stream **ret);
void stream_free(struct quoit_device_stream *s);
int stream_wait(struct quoit_device_stream *s, struct quoit_device_event *e);
int stream_event_new(struct quoit_device *d, struct quoit_device_event **ret);
void stream_event_free(struct quoit_device_event *e);
int stream_event_record(struct quoit_device_event *e, struct quoit_device_stream *s);
int stream_event_done(struct quoit_device_event *e);
int stream_copy(struct quoit_device_stream *s, uint64_t to, uint64_t from, uint64_t bytes,
		enum quoit_device_way way);
int stream_clear(struct quoit_device_stream *s, uint64_t address, uint64_t bytes);
int stream_signal(struct quoit_device_stream *s, uint32_t *word, uint32_t value);
int stream_stamp(struct quoit_device_stream *s, uint64_t *word);

/*
 * Scratch of what is put into the stream next, until that is done; aligned to 256 bytes.  Valid
 * until the next call.  More than REDUCE_MOST_SCRATCH (reduce_plan.h) is not for what may run
 * beside a resident consumer.
 */
int stream_scratch(struct quoit_device_stream *s, size_t bytes, uint64_t *ret);

/* ---- run.c, gemm.c ---- */

int run_call(struct quoit_device_stream *s, const struct quoit_device_call *call);
int run_gemm(struct quoit_device_stream *s, const struct quoit_device_call *call);
/* Is there a kernel for an operation? */
bool run_knows(uint8_t opcode);
/* A tensor's elements to another one of the same type and dims. */
int run_copy(struct quoit_device_stream *s, const struct quoit_device_tensor *to,
	     const struct quoit_device_tensor *from);

/* ---- reduce.c ---- */

int reduce_run(struct quoit_device_stream *s, const struct quoit_device_call *call);

/* ---- direct.c ---- */

int direct_open(struct quoit_device *d, const struct quoit_direct_requests *requests,
		struct quoit_direct_words *words, uint32_t rings);
int direct_start(struct quoit_device *d, uint32_t ring);
/* Consumers are told to leave; once the device is idle, what direct_open made is freed. */
void direct_close(struct quoit_device *d);
void direct_free(struct quoit_device *d);

/* ---- module.c ---- */

int module_new(struct quoit_device *d, const void *image, size_t size,
	       struct quoit_device_module **ret, char *text, size_t text_size);
void module_free(struct quoit_device_module *m);
int module_find(struct quoit_device_module *m, const char *name, struct quoit_device_kernel **ret,
		char *text, size_t text_size);
int module_launch(struct quoit_device_stream *s, struct quoit_device_kernel *k,
		  const struct quoit_device_launch *launch);

#endif
