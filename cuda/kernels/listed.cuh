/* SPDX-License-Identifier: MIT */
/*
 * listed.cuh - the list of all kernels of this object, by which loaded.cu loads them early.
 *
 * The runtime loads a kernel at its first launch, and may wait then until the device is idle. While
 * a resident kernel runs there, that wait would never end. So each kernel has a node, which enters
 * the list when this object is loaded, and each launcher names the node of its kernel.
 */
#ifndef QUOIT_CUDA_LISTED_CUH
#define QUOIT_CUDA_LISTED_CUH

struct kernel_node {
	const void *kernel;
	const kernel_node *next;

	explicit kernel_node(const void *k);
};

/* Does nothing, but names a node: the compiler makes a template's node only if it is named. */
static inline void kernel_name(const kernel_node *)
{
}

#endif
