/* SPDX-License-Identifier: MIT */
/* copy.cu - move elements: copy, transpose, gather. */
#include <errno.h>

#include "kernels/choose.cuh"

/* ---- copy ---- */

struct alignas(16) quad {
	uint64_t half[2];
};

cudaError_t kernel_copy(const walk *w, uint32_t size, cudaStream_t stream)
{
	switch (size) {
	case 2:
		return map_launch(w, same<uint16_t>(), stream);
	case 4:
		return map_launch(w, same<uint32_t>(), stream);
	case 8:
		return map_launch(w, same<uint64_t>(), stream);
	default:
		return map_launch(w, same<quad>(), stream);
	}
}

/* ---- transpose ---- */

#define SQUARE 32 /* edge */
#define ROWS   8  /* rows of threads; a thread moves SQUARE / ROWS elements */

struct squares {
	walk w;
	uint32_t fast;   /* the input's dense dim */
	uint32_t across; /* squares along the output's dense dim */
	uint32_t down;   /* squares along `fast` */
	uint64_t count;
};

/* A row of padding keeps a column's elements in different banks. */
template <class T> __global__ void __launch_bounds__(SQUARE *ROWS) transpose_kernel(squares s)
{
	__shared__ T tile[SQUARE][SQUARE + 1];
	const uint32_t last = s.w.dims - 1;
	const int64_t *const out_stride = s.w.operand[0].stride;
	const int64_t *const in_stride = s.w.operand[1].stride;

	for (uint64_t which = blockIdx.x; which < s.count; which += gridDim.x) {
		const uint64_t column = which % s.across * SQUARE;
		const uint64_t row = which / s.across % s.down * SQUARE;
		uint64_t rest = which / s.across / s.down;
		T *to = (T *)s.w.operand[0].data;
		const T *from = (const T *)s.w.operand[1].data;

		for (uint32_t d = last; d-- > 0;) {
			if (d == s.fast)
				continue;
			to += (int64_t)(rest % s.w.dim[d]) * out_stride[d];
			from += (int64_t)(rest % s.w.dim[d]) * in_stride[d];
			rest /= s.w.dim[d];
		}
		for (uint32_t y = threadIdx.y; y < SQUARE; y += ROWS) {
			const uint64_t c = column + y;
			const uint64_t r = row + threadIdx.x;

			if (c < s.w.dim[last] && r < s.w.dim[s.fast])
				tile[y][threadIdx.x] =
					from[(int64_t)c * in_stride[last] + (int64_t)r];
		}
		__syncthreads();
		for (uint32_t y = threadIdx.y; y < SQUARE; y += ROWS) {
			const uint64_t c = column + threadIdx.x;
			const uint64_t r = row + y;

			if (c < s.w.dim[last] && r < s.w.dim[s.fast])
				to[(int64_t)r * out_stride[s.fast] + (int64_t)c] =
					tile[threadIdx.x][y];
		}
		__syncthreads();
	}
}

static kernel_node transpose_nodes[] = {
	kernel_node((const void *)transpose_kernel<uint16_t>),
	kernel_node((const void *)transpose_kernel<uint32_t>),
	kernel_node((const void *)transpose_kernel<uint64_t>),
};

cudaError_t kernel_transpose(const walk *w, uint32_t fast, uint32_t size, cudaStream_t stream)
{
	squares s = {*w, fast};
	const uint32_t last = w->dims - 1;
	const dim3 threads(SQUARE, ROWS);
	unsigned blocks;

	kernel_name(transpose_nodes);
	s.across = (uint32_t)((w->dim[last] + SQUARE - 1) / SQUARE);
	s.down = (uint32_t)((w->dim[fast] + SQUARE - 1) / SQUARE);
	s.count = w->count / w->dim[last] / w->dim[fast] * s.across * s.down;
	blocks = s.count < 1u << 20 ? (unsigned)s.count : 1u << 20;
	if (size == 2)
		transpose_kernel<uint16_t><<<blocks, threads, 0, stream>>>(s);
	else if (size == 4)
		transpose_kernel<uint32_t><<<blocks, threads, 0, stream>>>(s);
	else
		transpose_kernel<uint64_t><<<blocks, threads, 0, stream>>>(s);
	return cudaGetLastError();
}

/* ---- gather ---- */

/* The first thread that finds the verdict empty fills it. The host reads it after the job. */
static __device__ void refuse_index(quoit_device_verdict *verdict, int64_t found, uint64_t allowed)
{
	if (atomicCAS((int *)&verdict->res, 0, -ERANGE) != 0)
		return;
	verdict->value[0] = (uint64_t)found;
	verdict->value[1] = allowed;
	__threadfence_system();
}

template <class T, class Index>
__global__ void __launch_bounds__(MAP_THREADS) gather_kernel(struct gather_plan g)
{
	const uint32_t count = (uint32_t)g.walk.count;

	for (uint32_t i = blockIdx.x * MAP_THREADS + threadIdx.x; i < count;
	     i += gridDim.x * MAP_THREADS) {
		int64_t at[3];
		int64_t index;
		T x = {};

		map_offsets<3>(g.walk, i, at);
		index = ((const Index *)g.walk.operand[2].data)[at[2]];
		if (index >= 0 && (uint64_t)index < g.axis_dim)
			x = ((const T *)g.walk.operand[1].data)[at[1] + index * g.axis_stride];
		else
			refuse_index(g.verdict, index, g.axis_dim);
		((T *)g.walk.operand[0].data)[at[0]] = x;
	}
}

template <class T> struct gather_nodes {
	static kernel_node narrow, wide;
};
template <class T> kernel_node gather_nodes<T>::narrow((const void *)gather_kernel<T, int32_t>);
template <class T> kernel_node gather_nodes<T>::wide((const void *)gather_kernel<T, int64_t>);

template <class T> static cudaError_t gather_as(const struct gather_plan *g, cudaStream_t stream)
{
	const unsigned blocks = map_blocks(g->walk.count);

	kernel_name(&gather_nodes<T>::narrow);
	kernel_name(&gather_nodes<T>::wide);
	if (g->index_dtype == QUOIT_I32)
		gather_kernel<T, int32_t><<<blocks, MAP_THREADS, 0, stream>>>(*g);
	else
		gather_kernel<T, int64_t><<<blocks, MAP_THREADS, 0, stream>>>(*g);
	return cudaGetLastError();
}

cudaError_t kernel_gather(const struct gather_plan *gather, cudaStream_t stream)
{
	switch (gather->size) {
	case 2:
		return gather_as<uint16_t>(gather, stream);
	case 4:
		return gather_as<uint32_t>(gather, stream);
	case 8:
		return gather_as<uint64_t>(gather, stream);
	default:
		return gather_as<quad>(gather, stream);
	}
}
