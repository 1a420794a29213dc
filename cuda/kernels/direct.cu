/* SPDX-License-Identifier: MIT */
/*
 * direct.cu - the kernel that stays: the consumer of one GPU-direct ring (quoit/direct.h).
 *
 * One block per ring: its requests run one after the other, each by all threads, so that the
 * ring's order is the order of the jobs, and a barrier is all that is between them.  What a
 * request does with an element, and in which order numbers are summed, is the code of the kernels
 * for streams: the results are the same bits.
 */
#include "kernels/direct_ring.cuh"

#include <quoit/direct.h>

#include "kernels/arithmetic.cuh"
#include "kernels/choose.cuh"
#include "kernels/function.cuh"
#include "kernels/gemm_plan.h"
#include "kernels/reduce_ops.cuh"
#include "kernels/reduce_plan.h"
#include "kernels/scalar.h"

#define DIRECT_THREADS 256
static_assert(DIRECT_THREADS == REDUCE_THREADS, "a block of reduce.cuh");

#define MASK (QUOIT_DIRECT_ENTRIES - 1)

/* Partial results of a reduction: of an output at most one for so many elements. */
#define PARTIALS (QUOIT_DIRECT_ELEMENTS / REDUCE_COLUMN_LEAST)

/* A request, as a block has it in its shared memory. */
struct direct_job {
	quoit_device_call call;
	union {
		struct walk walk;
		struct reduce_plan reduce;
		struct gemm_plan gemm;
	};
	uint64_t partial[PARTIALS * KERNEL_PARTIAL / sizeof(uint64_t)];
};

/* ---- element by element ---- */

/*
 * Operand o of a walk as wide as the output, all four dims of it, by threads 4 o to 4 o + 3.  No
 * tensor: every element is `bits`.
 */
static __device__ void direct_operand(direct_job &job, uint32_t o, const quoit_device_tensor *t,
				      uint64_t bits)
{
	const uint32_t d = threadIdx.x - QUOIT_MAX_DIMS * o;

	if (d >= QUOIT_MAX_DIMS)
		return;
	job.walk.operand[o].stride[d] = t ? t->stride[d] : 0;
	if (o == 0)
		job.walk.dim[d] = t->dim[d];
	if (d > 0)
		return;
	job.walk.operand[o].data = t ? t->data : 0;
	job.walk.operand[o].bits = bits;
	if (o == 0) {
		job.walk.count = walk_count(t);
		job.walk.first = 0;
		job.walk.dims = QUOIT_MAX_DIMS;
	}
}

/* A call for each thread: of few registers in the kernel itself, whatever the function takes. */
template <class F> inline __device__ __noinline__ void direct_each(const walk &w, F f)
{
	map_each(w, f, threadIdx.x, DIRECT_THREADS);
}

struct direct_go {
	const walk &w;

	template <class F> __device__ void operator()(F f) const
	{
		direct_each(w, f);
	}
};

/* The second input may be the scalar, and then the first one. */
static __device__ void direct_arithmetic(direct_job &job)
{
	const quoit_device_call &call = job.call;
	const bool scalar = call.opcode <= QUOIT_OP_MAX && call.arg & QUOIT_EW_SCALAR;
	const uint32_t at = scalar && call.arg & QUOIT_EW_REVERSE ? 1 : 2;

	direct_operand(job, 0, &call.tensor[0], 0);
	direct_operand(job, 3 - at, &call.tensor[1], 0);
	direct_operand(job, at, scalar ? nullptr : &call.tensor[2],
		       scalar_bits(call.scalar[0], call.tensor[0].dtype));
	__syncthreads();
	arithmetic_choose(call, direct_go{job.walk});
}

static __device__ void direct_compare(direct_job &job)
{
	const quoit_device_call &call = job.call;
	const bool scalar = call.arg & QUOIT_CMP_SCALAR;

	direct_operand(job, 0, &call.tensor[0], 0);
	direct_operand(job, 1, &call.tensor[1], 0);
	direct_operand(job, 2, scalar ? nullptr : &call.tensor[2],
		       scalar_bits(call.scalar[0], call.tensor[1].dtype));
	__syncthreads();
	compare_choose(call, direct_go{job.walk});
}

/* The first tensors of the call as they are. */
static __device__ void direct_plain(direct_job &job, uint32_t operands)
{
	for (uint32_t o = 0; o < operands; o++)
		direct_operand(job, o, &job.call.tensor[o], 0);
	__syncthreads();
}

static __device__ void direct_move(direct_job &job)
{
	const quoit_device_call &call = job.call;
	const bool fill = call.opcode == QUOIT_OP_FILL;

	direct_operand(job, 0, &call.tensor[0], 0);
	direct_operand(job, 1, fill ? nullptr : &call.tensor[1],
		       scalar_bits(call.scalar[0], call.tensor[0].dtype));
	__syncthreads();
	if (walk_dtype_size(call.tensor[0].dtype) == 4)
		direct_each(job.walk, same<uint32_t>());
	else
		direct_each(job.walk, same<uint64_t>());
}

/* ---- reductions ---- */

template <class R> inline __device__ __noinline__ void direct_reduce_as(const reduce_plan &p)
{
	if (p.lanes == 1)
		reduce_units<R, 1>(p, 0, 1);
	else if (p.lanes == REDUCE_WARP)
		reduce_units<R, REDUCE_WARP>(p, 0, 1);
	else
		reduce_units<R, REDUCE_THREADS>(p, 0, 1);
	if (p.parts > 1) {
		__syncthreads();
		reduce_outputs<R>(p, 0, 1);
	}
}

struct direct_reduce_go {
	const reduce_plan &p;

	template <class R> __device__ void operator()(R) const
	{
		direct_reduce_as<R>(p);
	}
};

static __device__ void direct_reduce(direct_job &job)
{
	if (threadIdx.x == 0) {
		(void)reduce_describe(&job.call, &job.reduce);
		job.reduce.partial = (uint64_t)job.partial;
	}
	__syncthreads();
	reduce_choose(job.reduce, direct_reduce_go{job.reduce});
}

/* ---- products ---- */

#define SIDE QUOIT_DIRECT_SIDE
#define EACH (SIDE / GEMM_STEP) /* rows, and columns, of a thread */
static_assert(GEMM_STEP * GEMM_STEP == DIRECT_THREADS, "a thread has EACH x EACH elements of C");

/* A slice of A, so many columns of it, and of B, as many rows; one more keeps banks apart. */
template <class T> struct direct_slices {
	static constexpr uint32_t deep = 256 / sizeof(T);
	T a[SIDE][deep + 1];
	T b[deep][SIDE + 1];
};

/*
 * All of C at once, slice by slice.  An element takes in its products in the order of gemm.cu,
 * whole steps of them.
 */
template <class T>
inline __device__ __noinline__ void direct_gemm_as(const gemm_plan &g, direct_slices<T> &slices)
{
	constexpr uint32_t slice = direct_slices<T>::deep;
	const T *const a = (const T *)g.a;
	const T *const b = (const T *)g.b;
	const uint32_t x = threadIdx.x % GEMM_STEP;
	const uint32_t y = threadIdx.x / GEMM_STEP;
	const uint32_t depth = (g.k + GEMM_STEP - 1) / GEMM_STEP * GEMM_STEP;
	T sum[EACH][EACH] = {};

	for (uint32_t k = 0; k < depth; k += slice) {
		const uint32_t steps = depth - k < slice ? depth - k : slice;

		__syncthreads();
		for (uint32_t i = threadIdx.x; i < SIDE * slice; i += DIRECT_THREADS) {
			const uint32_t row = i / slice;
			const uint32_t at = i % slice;
			const uint32_t down = i / SIDE;
			const uint32_t column = i % SIDE;

			slices.a[row][at] = row < g.m && k + at < g.k
						    ? a[(int64_t)row * g.a_stride[2] +
							(int64_t)(k + at) * g.a_stride[3]]
						    : (T)0;
			slices.b[down][column] = column < g.n && k + down < g.k
							 ? b[(int64_t)(k + down) * g.b_stride[2] +
							     (int64_t)column * g.b_stride[3]]
							 : (T)0;
		}
		__syncthreads();
		for (uint32_t s = 0; s < steps; s++) {
#pragma unroll
			for (uint32_t i = 0; i < EACH; i++)
#pragma unroll
				for (uint32_t j = 0; j < EACH; j++)
					sum[i][j] = fma(slices.a[y + GEMM_STEP * i][s],
							slices.b[s][x + GEMM_STEP * j], sum[i][j]);
		}
	}
#pragma unroll
	for (uint32_t i = 0; i < EACH; i++) {
#pragma unroll
		for (uint32_t j = 0; j < EACH; j++) {
			const uint32_t row = y + GEMM_STEP * i;
			const uint32_t column = x + GEMM_STEP * j;
			T *const c = (T *)g.c + (int64_t)row * g.c_stride[2] +
				     (int64_t)column * g.c_stride[3];

			if (row >= g.m || column >= g.n)
				continue;
			sum[i][j] *= (T)g.alpha;
			if (g.beta != 0)
				sum[i][j] += (T)g.beta * *c;
			*c = sum[i][j];
		}
	}
}

inline __device__ void direct_gemm(direct_job &job)
{
	__shared__ union {
		direct_slices<float> single;
		direct_slices<double> twice;
	} slices;

	if (threadIdx.x == 0)
		gemm_describe(&job.call, &job.gemm);
	__syncthreads();
	if (job.gemm.dtype == QUOIT_F32)
		direct_gemm_as<float>(job.gemm, slices.single);
	else
		direct_gemm_as<double>(job.gemm, slices.twice);
}

/* ---- any request ---- */

static __device__ void direct_run(direct_job &job)
{
	const uint8_t opcode = job.call.opcode;

	if (opcode >= QUOIT_OP_ADD && opcode <= QUOIT_OP_AXPBY) {
		direct_arithmetic(job);
	} else if (opcode >= QUOIT_OP_RELU && opcode <= QUOIT_OP_SIGMOID) {
		direct_plain(job, opcode == QUOIT_OP_RELU_GRAD ? 3 : 2);
		function_choose(job.call, direct_go{job.walk});
	} else if (opcode == QUOIT_OP_COMPARE) {
		direct_compare(job);
	} else if (opcode == QUOIT_OP_SELECT) {
		direct_plain(job, 4);
		select_choose(job.call, direct_go{job.walk});
	} else if (opcode == QUOIT_OP_GEMM) {
		direct_gemm(job);
	} else if (opcode <= QUOIT_OP_COPY) {
		direct_move(job);
	} else {
		direct_reduce(job);
	}
}

/* ---- the consumer ---- */

struct direct_consumer {
	quoit_consumer ring;
	quoit_direct_words *words;
	uint32_t beat;
	uint64_t looked, worked; /* ns */
};

static __device__ void direct_begin(direct_consumer &c, const quoit_direct_requests *requests,
				    quoit_direct_words *words)
{
	quoit_consumer_init(&c.ring, &words->head, &requests->tail, QUOIT_DIRECT_ENTRIES);
	c.ring.next = c.ring.cached_tail = system_load(&words->head, SYSTEM_ACQUIRE);
	c.words = words;
	c.beat = system_load(&words->beat, SYSTEM_RELAXED);
	c.looked = 0;
	c.worked = system_now();
}

/* Beat, and see whether it is told to leave: both go over the bus, so not every time. */
static __device__ bool direct_look(direct_consumer &c, uint64_t now)
{
	if (now - c.looked < QUOIT_DIRECT_LOOK_NS)
		return true;
	c.looked = now;
	system_store(&c.words->beat, ++c.beat, SYSTEM_RELAXED);
	return !system_load(&c.words->leave, SYSTEM_ACQUIRE);
}

/* By one thread: wait for a request.  False: it leaves. */
static __device__ bool direct_await(direct_consumer &c)
{
	for (;;) {
		const uint64_t now = system_now();

		if (!direct_look(c, now))
			break;
		if (quoit_ring_peek(&c.ring)) {
			c.worked = now;
			return true;
		}
		if (now - c.worked < QUOIT_DIRECT_IDLE_NS)
			continue;
		if (quoit_ring_sleep(&c.ring, &c.words->need_wake))
			break;
		quoit_ring_awake(&c.words->need_wake);
	}
	system_store(&c.words->need_wake, 1, SYSTEM_SEQ_CST);
	system_store(&c.words->left, 1, SYSTEM_RELEASE);
	return false;
}

/* By the first warp: a word for each lane. */
static __device__ void direct_take(direct_job &job, const quoit_direct_request *from)
{
	constexpr uint32_t words = sizeof(job.call) / sizeof(uint64_t);
	static_assert(words <= 32 && sizeof(job.call) % sizeof(uint64_t) == 0, "one load each");

	if (threadIdx.x < words)
		((uint64_t *)&job.call)[threadIdx.x] =
			system_load((const uint64_t *)&from->call + threadIdx.x, SYSTEM_RELAXED);
}

static __global__ void __launch_bounds__(DIRECT_THREADS)
	direct_kernel(const quoit_direct_requests *requests, quoit_direct_words *words)
{
	__shared__ direct_job job;
	__shared__ uint32_t next;
	__shared__ bool stays;
	direct_consumer c;

	if (threadIdx.x == 0)
		direct_begin(c, requests, words);
	for (;;) {
		if (threadIdx.x == 0) {
			stays = direct_await(c);
			next = c.ring.next;
		}
		__syncthreads();
		if (!stays)
			return;
		direct_take(job, &requests->request[next & MASK]);
		__syncthreads();
		direct_run(job);
		__syncthreads();
		/* The barrier, then a release for the whole system: who sees it sees all of that.
		 */
		if (threadIdx.x == 0)
			quoit_ring_release(&c.ring, 1);
	}
}

static kernel_node direct_node((const void *)direct_kernel);

cudaError_t kernel_direct(const quoit_direct_requests *requests, quoit_direct_words *words,
			  cudaStream_t stream)
{
	kernel_name(&direct_node);
	direct_kernel<<<1, DIRECT_THREADS, 0, stream>>>(requests, words);
	return cudaGetLastError();
}
