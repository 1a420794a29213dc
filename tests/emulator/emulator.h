/* SPDX-License-Identifier: MIT */
/*
 * emulator.h - emulate enough of CUDA's runtime on host threads that folder cuda/ runs, unchanged,
 * on any machine.
 *
 * The device is strict.  A call that may wait for a resident kernel ends the process if there is
 * one.  Memory is garbage when it is allocated, and inaccessible once it is freed.  A block's
 * threads run in any order between two barriers.  The next launch finds an error that the program
 * did not read.  The emulator cannot show the timing of a real device, nor test its compiler and
 * memory model.
 *
 *	block.c      the threads of a grid's blocks
 *	launch.c     kernels on their way into a stream
 *	stream.c, event.c, memory.c
 *	pool.c       memory that other processes reach
 *	device.c     a device's description, and errors
 *	module.c     kernels by name
 *	own.cc       these kernels
 *	blas.c       libcublas by OpenBLAS
 *	kernels.cuh  the part of nvcc's language that C++ lacks
 *	failures.c   a test in which each call fails once
 *	seeds.sh     faults that the tests must find
 */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMULATOR_DEVICES       2
#define EMULATOR_BYTES         ((size_t)1 << 30) /* a device's memory */
#define EMULATOR_BLOCK_THREADS 1024u
#define EMULATOR_WARP          32u

/* ---- device.c ---- */

/* The device that this process uses. */
int emulator_device(void);
/* Return a call's result, and keep it for cudaGetLastError. */
cudaError_t emulator_say(cudaError_t result);
/* From now on every call returns this. */
void emulator_break(cudaError_t result);
/* The error that has broken the device; cudaSuccess: none. */
cudaError_t emulator_broken(void);
/*
 * Every call but those that free something begins with this: the error with which it must fail, if
 * any.
 */
cudaError_t emulator_begin(void);
/*
 * emulator_fail, for tests: the n-th call from now on fails with this result, counting calls of
 * emulator_begin; if the error breaks a device, all later calls fail, too.  emulator_fails_in: how
 * many calls are left until then.
 */
__attribute__((visibility("default"))) void emulator_fail(unsigned n, cudaError_t result);
__attribute__((visibility("default"))) unsigned emulator_fails_in(void);
/* How many pieces of memory are not freed. */
__attribute__((visibility("default"))) unsigned emulator_pieces(void);
/* Report a use of the runtime that a real device would punish, and end the process. */
void emulator_refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- block.c ---- */

/* One launch: `thread` is called for each thread of each block. */
struct emulator_grid {
	dim3 grid, block;
	size_t shared_bytes; /* in addition to the kernel's own */
	void (*thread)(void *args);
	void *args;
	const uint32_t *left; /* of a resident kernel: not 0 once it leaves; other kernels: NULL */
};

/*
 * Run all blocks, one after the other.  cudaErrorIllegalAddress: a thread touched memory that it
 * does not have.
 */
cudaError_t emulator_run(const struct emulator_grid *grid);
/* This host thread runs no more blocks. */
void emulator_leave(void);
/* Called by a thread of a block: wait for all of the block, or of the warp. */
void emulator_barrier(void);
uint64_t emulator_shuffle(uint64_t value, unsigned from);
unsigned emulator_lane(void);
uint32_t emulator_ballot(bool value);

/* ---- launch.c ---- */

/* Launch a kernel: refuse an impossible launch; a kernel's first launch counts as loading it. */
cudaError_t emulator_launch(cudaStream_t stream, const void *kernel,
			    const struct emulator_grid *grid, const void *args, size_t args_bytes);
/* Note that the kernel's code is loaded; true: it was loaded before. */
bool emulator_load(const void *kernel);

/* ---- stream.c ---- */

typedef void emulator_task(void *argument);

/* Put a task at the end of a stream; the task frees `argument`; NULL: its allocation failed. */
cudaError_t emulator_put(cudaStream_t stream, emulator_task *task, void *argument);
/*
 * For calls that may wait on a real device: emulator_park for a resident kernel, emulator_settle
 * for all work in streams.  If a resident kernel has not even said that it leaves, the process
 * ends, since `who` must not be called then.
 */
cudaError_t emulator_park(const char *who);
cudaError_t emulator_settle(const char *who);
/*
 * A resident kernel, named by the word with which it says that it leaves, replaces another one
 * (from: NULL: none) or goes (to: NULL).
 */
void emulator_change_resident(const uint32_t *from, const uint32_t *to);
/*
 * Return cudaErrorNotReady if it is not done.  The caller asks again without any lock of ours, and
 * its stream may need the caller's processor, so this yields.
 */
cudaError_t emulator_say_whether(bool done);

/* ---- memory.c ---- */

enum emulator_place { EMULATOR_ON_DEVICE, EMULATOR_ON_HOST };

/* Make anonymous memory usable, or a file's from an offset on.  NULL: there is no room. */
void *emulator_map(enum emulator_place place, size_t bytes, int fd, off_t offset);
/* Make memory unusable.  False: there is no such memory. */
bool emulator_unmap(enum emulator_place place, void *memory);
/* Are all these bytes usable? */
bool emulator_reaches(enum emulator_place place, const void *memory, size_t bytes);
size_t emulator_size(const void *memory);
/* Fill memory that was not written yet with garbage. */
void emulator_soil(void *memory, size_t bytes);
/* Round up to whole pages. */
size_t emulator_pages(size_t bytes);

/* ---- module.c ---- */

/* A kernel that modules may contain, and the bytes of its arguments in one piece. */
struct emulator_kernel {
	const char *name;
	size_t args_bytes;
	void (*thread)(void *args);
};
extern const struct emulator_kernel emulator_kernels[];

#ifdef __cplusplus
}
#endif

#endif
