/* SPDX-License-Identifier: MIT */
/* loaded.cu - load every kernel of this object. */
#include "kernels/kernels.h"
#include "kernels/listed.cuh"

/* A constant initializes it, so it is ready before the first constructor of a node runs. */
static const kernel_node *kernel_nodes = nullptr;

kernel_node::kernel_node(const void *k) : kernel(k), next(kernel_nodes)
{
	kernel_nodes = this;
}

cudaError_t kernels_load(void)
{
	for (const kernel_node *node = kernel_nodes; node; node = node->next) {
		cudaFuncAttributes attributes;
		const cudaError_t err = cudaFuncGetAttributes(&attributes, node->kernel);

		if (err != cudaSuccess)
			return err;
	}
	return cudaSuccess;
}
