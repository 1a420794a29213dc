/* SPDX-License-Identifier: MIT */
/*
 * context.h - what the files of this folder share: an opened device and its streams.
 *
 * Most functions are those of device.h, which describes them; driver.c makes its table of them.
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
	cudaError_t failed;  /* the runtime's error for that, or else its last error */
	cudaMemPool_t pool;  /* NULL: pools are not supported, and calls for memory are slow */
	bool pool_is_shared; /* other processes may reach it */
	cudaStream_t stream; /* memory is allocated and freed in its order; else empty */
	cudaStream_t clock;  /* urgent: readings of the device's clock write there */
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
	size_t module_bytes;   /* bytes on the device that clients' modules take */
};

struct quoit_device_stream {
	struct quoit_device *device;
	struct quoit_device_stream *next;
	cudaStream_t stream;
	struct blas_handle *blas; /* NULL until the device's first product */
	uint32_t blas_later;      /* there was none: products until one is asked for again */
	void *scratch;
	size_t scratch_bytes;
};

/*
 * device_code returns err, and the device remembers it if it is sticky.  device_check does the same
 * with errors_code(result).
 */
int device_code(struct quoit_device *d, int err);
int device_check(struct quoit_device *d, cudaError_t result);

/* The device's address of host memory from host_new or host_register. */
int device_pointer(struct quoit_device *d, void *host, void **ret);

/* ---- clock.c ---- */

int clock_read(struct quoit_device *d, uint64_t *ret_device_ns, uint64_t *ret_ticks,
	       uint64_t *ret_error);

/* ---- memory.c ---- */

/* Make the pool; on failure nothing is left behind. */
int memory_open(struct quoit_device *d);
/* Make a pool that other processes reach, while nothing of the old one is used.  -ENOTSUP. */
int memory_share(struct quoit_device *d);
void memory_close(struct quoit_device *d);

/*
 * Allocate and free in the order of a stream: work that is put there after memory_take and before
 * memory_give may use the memory.
 */
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
 * Scratch for the work that is put into the stream next, until that is done; aligned to 256 bytes,
 * valid until the next call.  Work that may run beside a resident consumer may ask for
 * REDUCE_MOST_SCRATCH (reduce_plan.h) at most.
 */
int stream_scratch(struct quoit_device_stream *s, size_t bytes, uint64_t *ret);

/* ---- run.c, gemm.c ---- */

int run_call(struct quoit_device_stream *s, const struct quoit_device_call *call);
int run_gemm(struct quoit_device_stream *s, const struct quoit_device_call *call);
/* Is there a kernel for this operation? */
bool run_knows(uint8_t opcode);
/* Copy a tensor's elements to another one of the same type and dims. */
int run_copy(struct quoit_device_stream *s, const struct quoit_device_tensor *to,
	     const struct quoit_device_tensor *from);

/* ---- reduce.c ---- */

int reduce_run(struct quoit_device_stream *s, const struct quoit_device_call *call);

/* ---- direct.c ---- */

int direct_open(struct quoit_device *d, const struct quoit_direct_requests *requests,
		struct quoit_direct_words *words, uint32_t rings);
int direct_start(struct quoit_device *d, uint32_t ring);
/*
 * _close: consumers are told to leave.  _free: once the device is idle, free what direct_open made.
 */
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
