/* SPDX-License-Identifier: MIT */
/* launch.c - emulate launches: kernels on their way into a stream. */
#include <stdlib.h>
#include <string.h>

#include "emulator.h"

#define KERNELS      4096
#define SHARED_BYTES ((size_t)48 << 10) /* the most that a launch may ask for */

struct launch {
	struct emulator_grid grid;
	_Alignas(16) char args[];
};

static void launch_task(void *argument)
{
	struct launch *l = argument;
	cudaError_t err;

	l->grid.args = l->args;
	err = emulator_broken() ? cudaSuccess : emulator_run(&l->grid);
	if (err)
		emulator_break(err);
	if (l->grid.left)
		emulator_change_resident(l->grid.left, NULL);
	free(l);
}

bool emulator_load(const void *kernel)
{
	static const void *loaded[KERNELS];
	size_t i = 0;

	while (i < KERNELS && loaded[i] && loaded[i] != kernel)
		i++;
	if (i == KERNELS)
		emulator_refuse("more than %d kernels", KERNELS);
	if (loaded[i])
		return true;
	loaded[i] = kernel;
	return false;
}

cudaError_t emulator_launch(cudaStream_t s, const void *kernel, const struct emulator_grid *grid,
			    const void *args, size_t args_bytes)
{
	const struct emulator_grid *g = grid;
	const uint64_t threads = (uint64_t)g->block.x * g->block.y * g->block.z;
	const cudaError_t before = cudaPeekAtLastError();
	cudaError_t err;
	struct launch *l;

	if (before)
		emulator_refuse("error %d was not taken before the next launch", before);
	if (threads == 0 || threads > EMULATOR_BLOCK_THREADS || g->block.z > 64 || !g->grid.x ||
	    !g->grid.y || !g->grid.z || g->grid.y > 65535 || g->grid.z > 65535 ||
	    g->grid.x > INT32_MAX)
		return emulator_say(cudaErrorInvalidConfiguration);
	if (g->shared_bytes > SHARED_BYTES)
		return emulator_say(cudaErrorInvalidValue);
	err = emulator_load(kernel) ? emulator_begin()
				    : emulator_park("the first launch of a kernel");
	if (err)
		return emulator_say(err);
	l = malloc(sizeof *l + args_bytes);
	if (l) {
		l->grid = *grid;
		memcpy(l->args, args, args_bytes);
		if (grid->left)
			emulator_change_resident(NULL, grid->left);
	}
	return emulator_put(s, launch_task, l);
}
