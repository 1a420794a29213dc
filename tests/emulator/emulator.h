/* SPDX-License-Identifier: MIT */
/*
 * emulator.h - enough of CUDA's runtime on host threads that folder cuda/ runs, unchanged, on any
 * machine.
 *
 * A device that forgives nothing: a call that may wait for a kernel that stays ends the process
 * where there is one; memory is garbage when it is had and gone when it is given back; a block's
 * threads run in any order between two barriers; an error that nobody took is found by the next
 * launch.  What it cannot show is how a real device is timed, and that its
 * compiler and memory model do what they should.
 *
 * The files: block.c, the threads of a grid's blocks; launch.c, kernels on their way into a stream;
 * stream.c; event.c; memory.c; pool.c, memory that other processes reach; device.c, what a device
 * says of itself, and errors; module.c, kernels by name; own.cc, those that there are; blas.c,
 * libcublas by OpenBLAS; kernels.cuh, what nvcc's language has beyond C++; failures.c, a test by
 * which each call fails once; seeds.sh, faults that are to be found.
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
#define EMULATOR_BYTES         ((size_t)1 << 30) /* of a device's memory */
#define EMULATOR_BLOCK_THREADS 1024u
#define EMULATOR_WARP          32u

/* ---- device.c ---- */

/* Which of them this process uses. */
int emulator_device(void);
/* What a call returns: cudaGetLastError has it, too, until it is asked. */
cudaError_t emulator_say(cudaError_t result);
/* From now on every call returns this. */
void emulator_break(cudaError_t result);
/* What has broken the device; cudaSuccess: nothing has. */
cudaError_t emulator_broken(void);
/* First in every call but those that give something back: what it is to fail with, if it is. */
cudaError_t emulator_begin(void);
/*
 * For tests: the n-th call from now on, which asks emulator_begin, fails so; from then on all do if
 * it is an error that breaks a device.  And: how many calls are still to come until then.
 */
__attribute__((visibility("default"))) void emulator_fail(unsigned n, cudaError_t result);
__attribute__((visibility("default"))) unsigned emulator_fails_in(void);
/* Pieces of memory that are still there. */
__attribute__((visibility("default"))) unsigned emulator_pieces(void);
/* A use of the runtime that a real device would punish: say it and end. */
void emulator_refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- block.c ---- */

/* One launch: `thread` is called for each thread of each block. */
struct emulator_grid {
	dim3 grid, block;
	size_t shared_bytes; /* that it asks for beside what the kernel has */
	void (*thread)(void *args);
	void *args;
	const uint32_t *left; /* of a kernel that stays: not 0 once it leaves; else NULL */
};

/* Run all blocks, one after the other.  cudaErrorIllegalAddress: a thread touched what is not
 * there. */
cudaError_t emulator_run(const struct emulator_grid *grid);
/* This host thread runs no more. */
void emulator_leave(void);
/* By a thread of a block: wait for all of the block, or of the warp. */
void emulator_barrier(void);
uint64_t emulator_shuffle(uint64_t value, unsigned from);
unsigned emulator_lane(void);
uint32_t emulator_ballot(bool value);

/* ---- launch.c ---- */

/* A launch: refused if it is not possible, and counted as loading the kernel if it is the first. */
cudaError_t emulator_launch(cudaStream_t stream, const void *kernel,
			    const struct emulator_grid *grid, const void *args, size_t args_bytes);
/* The kernel's code is loaded; true: it was already. */
bool emulator_load(const void *kernel);

/* ---- stream.c ---- */

typedef void emulator_task(void *argument);

/* At the end of a stream; `argument` is the task's, to be freed by it; NULL: there is no memory. */
cudaError_t emulator_put(cudaStream_t stream, emulator_task *task, void *argument);
/*
 * What the call `who` may do on a real device: wait for a kernel that stays, or for all that is in
 * streams.  A kernel that has not even said that it leaves ends the process: nobody may call this
 * then.
 */
cudaError_t emulator_park(const char *who);
cudaError_t emulator_settle(const char *who);
/* A kernel that stays, by the word with which it says that it leaves, comes in the place of another
 * or goes; NULL: nobody's place. */
void emulator_change_resident(const uint32_t *from, const uint32_t *to);
/*
 * cudaErrorNotReady if it is not.  Who asks so asks again: not by any lock of ours, and what it
 * waits for may need its processor.
 */
cudaError_t emulator_say_whether(bool done);

/* ---- memory.c ---- */

enum emulator_place { EMULATOR_ON_DEVICE, EMULATOR_ON_HOST };

/* Anonymous memory, or that of a file from an offset on, is usable from now on.  NULL: there is no
 * room. */
void *emulator_map(enum emulator_place place, size_t bytes, int fd, off_t offset);
/* It is not any more.  False: there is no such memory. */
bool emulator_unmap(enum emulator_place place, void *memory);
/* Are all these bytes there? */
bool emulator_reaches(enum emulator_place place, const void *memory, size_t bytes);
size_t emulator_size(const void *memory);
/* What nobody has written yet. */
void emulator_soil(void *memory, size_t bytes);
/* Whole pages for so many bytes. */
size_t emulator_pages(size_t bytes);

/* ---- module.c ---- */

/* A kernel that modules may have, and how its arguments lie in one piece. */
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
