/* SPDX-License-Identifier: MIT */
/*
 * profile.h - name all work that is put into streams, for profilers.
 *
 * Each piece of work is a range of NVTX's domain "quoit" while it is put into its stream.  A
 * profiler shows under that name what runs on the device; a job has its operation's name.  The job
 * is another range, from its stream to its answer, whose payload says which job it is.  NVTX is
 * headers only: it looks once for a profiler that the environment names; without one, a range costs
 * a look at a pointer.
 */
#ifndef QUOIT_CUDA_PROFILE_H
#define QUOIT_CUDA_PROFILE_H

#include <nvtx3/nvToolsExt.h>

#include <quoit/abi.h>

/* Other work has the numbers behind those of operations. */
enum { PROFILE_COPY_IN = QUOIT_OP_NR, PROFILE_COPY_OUT, PROFILE_CLEAR, PROFILE_LAUNCH, PROFILE_NR };

struct profile {
	nvtxDomainHandle_t domain; /* NULL: there is no profiler */
	nvtxStringHandle_t name[PROFILE_NR];
};

void profile_open(struct profile *p);
void profile_close(struct profile *p);

/* Called only if there is a profiler, so not inline. */
void profile_push(const struct profile *p, unsigned what);
void profile_pop(const struct profile *p);

/*
 * Begin a range that others may overlap and any thread may end, in the category of its operation.
 * Call both only if there is a profiler.
 */
uint64_t profile_range_begin(const struct profile *p, uint8_t opcode, uint64_t job);
void profile_range_end(const struct profile *p, uint64_t range);

/* what: an operation, or a PROFILE_ number. */
static inline void profile_begin(const struct profile *p, unsigned what)
{
	if (__builtin_expect(p->domain != NULL, 0))
		profile_push(p, what);
}

static inline void profile_end(const struct profile *p)
{
	if (__builtin_expect(p->domain != NULL, 0))
		profile_pop(p);
}

#endif
