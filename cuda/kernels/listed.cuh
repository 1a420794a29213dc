/* SPDX-License-Identifier: MIT */
/*
 * listed.cuh - every kernel of this object, so that all can be loaded before one stays.
 *
 * The runtime loads a kernel when it is first launched, and may wait for the device then: for
 * ever, where a resident kernel is on it.  So every launch names a node of its kernel, which puts
 * itself into a list when this object is loaded, and loaded.cu goes through that list.
 */
#ifndef QUOIT_CUDA_LISTED_CUH
#define QUOIT_CUDA_LISTED_CUH

struct kernel_node {
	const void *kernel;
	const kernel_node *next;

	explicit kernel_node(const void *k);
};

/* Has the node of a template made, which is only if it is named. */
static inline void kernel_name(const kernel_node *)
{
}

#endif
