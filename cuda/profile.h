/* SPDX-License-Identifier: MIT */
/*
 * profile.h - what is put into streams, by name, for profilers.
 *
 * Each piece of work is a range of NVTX's domain "quoit" while it is put into its stream, and a
 * profiler shows what runs on the device under that name: a job under its operation's.  The job
 * itself is another one, from its stream to its answer, which says in its payload whose it is.
 * NVTX is headers only: it looks once for a profiler that the environment names, and where there
 * is none a range is a look at a pointer.
 */
#ifndef QUOIT_CUDA_PROFILE_H
#define QUOIT_CUDA_PROFILE_H

#include <nvtx3/nvToolsExt.h>

#include <quoit/abi.h>

/* Work that is no operation has numbers behind those. */
enum { PROFILE_COPY_IN = QUOIT_OP_NR, PROFILE_COPY_OUT, PROFILE_CLEAR, PROFILE_LAUNCH, PROFILE_NR };

struct profile {
	nvtxDomainHandle_t domain; /* NULL: there is no profiler */
	nvtxStringHandle_t name[PROFILE_NR];
};

void profile_open(struct profile *p);
void profile_close(struct profile *p);

/* Not inline: this is what happens where there is one. */
void profile_push(const struct profile *p, unsigned what);
void profile_pop(const struct profile *p);

/*
 * A range that others may overlap, and that any thread may end; of the category of its operation.
 * Only where there is a profiler.
 */
uint64_t profile_range_begin(const struct profile *p, uint8_t opcode, uint64_t job);
void profile_range_end(const struct profile *p, uint64_t range);

/* what: an operation, or one of the above. */
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
