/* SPDX-License-Identifier: MIT */
/*
 * direct.cu - the resident kernel: the consumer of one GPU-direct ring (quoit/direct.h).
 *
 * There is one block per ring.  Its requests run one after the other, each by all threads, so the
 * ring's order is the order of the jobs, with only a barrier between them.  The first warp waits
 * for a request, takes it and finds its operands, while the others wait at the barrier.  The work
 * on an element, and the order of sums, is the code of the kernels for streams, so results have the
 * same bits.
 */
#include "kernels/direct_ring.cuh"

#include <quoit/direct.h>
#include <quoit/families.h>

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

/* The most partial results of a reduction: each is of REDUCE_COLUMN_LEAST elements or more. */
#define PARTIALS (QUOIT_DIRECT_ELEMENTS / REDUCE_COLUMN_LEAST)

/* A request in a block's shared memory. */
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
 * The tensors of a walk's operands: a hexadecimal digit each, the lowest for the output, is a
 * tensor's number in the call.  DIRECT_SCALAR: every element is `bits`.  (An array indexed by lanes
 * would lie in local memory.)
 */
struct direct_operands {
	uint32_t tensors;
	uint32_t count;
	uint64_t bits;
};
#define DIRECT_SCALAR 0xfu

/* Has the ballot the bits of all dims of operand o, which are those of lanes 4 o to 4 o + 3? */
static __device__ bool direct_all_dims(uint32_t ballot, uint32_t o)
{
	return (ballot >> (QUOIT_MAX_DIMS * o) & 15u) == 15u;
}
static_assert(QUOIT_MAX_DIMS == 4, "the mask of a ballot");

/*
 * Make a walk over the output.  If each operand is dense, or one element, it has one dim, which
 * spares each thread three divisions; else all four.  The first warp calls it: lanes 4 o to 4 o + 3
 * have the dims of operand o.
 */
static __device__ void direct_walk(direct_job &job, const direct_operands &in)
{
	const uint32_t d = threadIdx.x % QUOIT_MAX_DIMS;
	const uint32_t o = threadIdx.x / QUOIT_MAX_DIMS;
	const uint32_t *const dim = job.call.tensor[0].dim;
	const uint32_t at = o < in.count ? in.tensors >> 4 * o & 0xfu : DIRECT_SCALAR;
	const quoit_device_tensor *const t = at == DIRECT_SCALAR ? nullptr : &job.call.tensor[at];
	const int64_t stride = t ? t->stride[d] : 0;
	int64_t behind = 1; /* elements of a step along this dim, if it is dense */
	uint32_t dense, one;
	bool flat = true;

	for (uint32_t i = d + 1; i < QUOIT_MAX_DIMS; i++)
		behind *= dim[i];
	dense = __ballot_sync(0xffffffffu, dim[d] <= 1 || stride == behind);
	one = __ballot_sync(0xffffffffu, dim[d] <= 1 || stride == 0);
	for (uint32_t i = 0; i < in.count; i++)
		flat = flat && (direct_all_dims(dense, i) || direct_all_dims(one, i));
	if (o >= in.count)
		return;
	job.walk.operand[o].stride[d] = flat && d == 0 ? !direct_all_dims(one, o) : stride;
	if (d == 0) {
		job.walk.operand[o].data = t ? t->data : 0;
		job.walk.operand[o].bits = in.bits;
	}
	if (o > 0)
		return;
	job.walk.dim[d] = flat && d == 0 ? behind * dim[0] : dim[d];
	if (d == 0) {
		job.walk.count = behind * dim[0];
		job.walk.first = 0;
		job.walk.dims = flat ? 1 : QUOIT_MAX_DIMS;
	}
}

/* One call per thread; not inlined, so that the kernel itself uses few registers. */
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

/* The second input may be the scalar; with QUOIT_EW_REVERSE the first one is. */
static __device__ void direct_prepare_arithmetic(direct_job &job)
{
	const quoit_device_call &call = job.call;
	const bool scalar = call.arg & QUOIT_EW_SCALAR;
	const bool reverse = scalar && call.arg & QUOIT_EW_REVERSE;

	direct_walk(job, {reverse  ? 0x1f0u
			  : scalar ? 0xf10u
				   : 0x210u,
			  3, scalar_bits(call.scalar[0], call.tensor[0].dtype)});
}

static __device__ void direct_prepare_compare(direct_job &job)
{
	const quoit_device_call &call = job.call;

	direct_walk(job, {call.arg & QUOIT_CMP_SCALAR ? 0xf10u : 0x210u, 3,
			  scalar_bits(call.scalar[0], call.tensor[1].dtype)});
}

/* The operands are the call's first tensors, as they are. */
static __device__ void direct_prepare_plain(direct_job &job, uint32_t operands)
{
	direct_walk(job, {0x3210u, operands, 0});
}

static __device__ void direct_prepare_move(direct_job &job)
{
	const quoit_device_call &call = job.call;

	direct_walk(job, {call.opcode == QUOIT_OP_FILL ? 0xf0u : 0x10u, 2,
			  scalar_bits(call.scalar[0], call.tensor[0].dtype)});
}

static __device__ void direct_move(direct_job &job)
{
	if (walk_dtype_size(job.call.tensor[0].dtype) == 4)
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

static __device__ void direct_prepare_reduce(direct_job &job)
{
	if (threadIdx.x > 0)
		return;
	(void)reduce_describe(&job.call, &job.reduce);
	job.reduce.partial = (uint64_t)job.partial;
}

/* ---- products ---- */

#define SIDE QUOIT_DIRECT_SIDE
#define EACH (SIDE / GEMM_STEP) /* rows, and columns, of a thread */
static_assert(GEMM_STEP * GEMM_STEP == DIRECT_THREADS, "a thread has EACH x EACH elements of C");

/* A slice of A, with so many columns, and of B, with as many rows; one more keeps banks apart. */
template <class T> struct direct_slices {
	static constexpr uint32_t deep = 256 / sizeof(T);
	T a[SIDE][deep + 1];
	T b[deep][SIDE + 1];
};

/*
 * Compute all of C at once, slice by slice.  An element sums its products in the order of gemm.cu,
 * in whole steps of them.
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

	if (job.gemm.dtype == QUOIT_F32)
		direct_gemm_as<float>(job.gemm, slices.single);
	else
		direct_gemm_as<double>(job.gemm, slices.twice);
}

/* ---- any request ---- */

/* The first warp, which has taken the call, makes the plan by which all threads work. */
static __device__ void direct_prepare(direct_job &job)
{
	switch (quoit_family_of(job.call.opcode)) {
	case QUOIT_FAMILY_ARITHMETIC:
	case QUOIT_FAMILY_BLEND:
		direct_prepare_arithmetic(job);
		break;
	case QUOIT_FAMILY_FUNCTION:
		direct_prepare_plain(job, 2);
		break;
	case QUOIT_FAMILY_GRADIENT:
		direct_prepare_plain(job, 3);
		break;
	case QUOIT_FAMILY_COMPARE:
		direct_prepare_compare(job);
		break;
	case QUOIT_FAMILY_SELECT:
		direct_prepare_plain(job, 4);
		break;
	case QUOIT_FAMILY_PRODUCT:
		if (threadIdx.x == 0)
			gemm_describe(&job.call, &job.gemm);
		break;
	case QUOIT_FAMILY_MOVE:
		direct_prepare_move(job);
		break;
	default: /* over axes; direct_rules.c lets no other family through */
		direct_prepare_reduce(job);
		break;
	}
}

/* All threads run the request. */
static __device__ void direct_run(direct_job &job)
{
	switch (quoit_family_of(job.call.opcode)) {
	case QUOIT_FAMILY_ARITHMETIC:
	case QUOIT_FAMILY_BLEND:
		arithmetic_choose(job.call, direct_go{job.walk});
		break;
	case QUOIT_FAMILY_FUNCTION:
	case QUOIT_FAMILY_GRADIENT:
		function_choose(job.call, direct_go{job.walk});
		break;
	case QUOIT_FAMILY_COMPARE:
		compare_choose(job.call, direct_go{job.walk});
		break;
	case QUOIT_FAMILY_SELECT:
		select_choose(job.call, direct_go{job.walk});
		break;
	case QUOIT_FAMILY_PRODUCT:
		direct_gemm(job);
		break;
	case QUOIT_FAMILY_MOVE:
		direct_move(job);
		break;
	default:
		reduce_choose(job.reduce, direct_reduce_go{job.reduce});
		break;
	}
}

/* ---- the consumer ---- */

/* Each lane of the first warp has one; all are alike. */
struct direct_consumer {
	quoit_consumer ring;
	quoit_direct_words *words;
	uint32_t beat;
	uint64_t looked, worked; /* ns */
};

/* One time for all lanes, because they must decide alike. */
static __device__ uint64_t direct_now(void)
{
	return __shfl_sync(0xffffffffu, system_now(), 0);
}

static __device__ void direct_begin(direct_consumer &c, const quoit_direct_requests *requests,
				    quoit_direct_words *words)
{
	quoit_consumer_init(&c.ring, &words->head, &requests->tail, QUOIT_DIRECT_ENTRIES);
	c.ring.next = c.ring.cached_tail = system_load(&words->head, SYSTEM_ACQUIRE);
	c.words = words;
	c.beat = system_load(&words->beat, SYSTEM_RELAXED);
	c.looked = 0;
	c.worked = direct_now();
}

/* One lane does a store for the whole system. */
static __device__ void direct_beat(direct_consumer &c, uint64_t now)
{
	c.looked = now;
	c.beat++;
	if (threadIdx.x == 0)
		system_store(&c.words->beat, c.beat, SYSTEM_RELAXED);
}

/*
 * Read the tail, and whether the consumer is told to leave.  Both words go over the bus, so two
 * lanes read them at once, for the cost of one.  Returns false if told to leave.
 */
static __device__ bool direct_look(direct_consumer &c)
{
	const uint32_t *const word = threadIdx.x == 0 ? c.ring.tail : &c.words->leave;
	uint32_t seen = 0;

	if (threadIdx.x < 2)
		seen = system_load(word, SYSTEM_ACQUIRE);
	c.ring.cached_tail = __shfl_sync(0xffffffffu, seen, 0);
	return !__shfl_sync(0xffffffffu, seen, 1);
}

/* The last step of edge W: lane 0 does it, and decides for all. */
static __device__ bool direct_may_sleep(direct_consumer &c)
{
	bool idle = false;

	if (threadIdx.x == 0) {
		idle = quoit_ring_sleep(&c.ring, &c.words->need_wake);
		if (!idle)
			quoit_ring_awake(&c.words->need_wake);
	}
	c.ring.cached_tail = __shfl_sync(0xffffffffu, c.ring.cached_tail, 0);
	return __shfl_sync(0xffffffffu, idle, 0);
}

static __device__ void direct_leave(direct_consumer &c)
{
	if (threadIdx.x > 0)
		return;
	system_store(&c.words->need_wake, 1, SYSTEM_SEQ_CST);
	system_store(&c.words->left, 1, SYSTEM_RELEASE);
}

/* The first warp waits for a request.  False: the consumer leaves. */
static __device__ bool direct_await(direct_consumer &c)
{
	for (;;) {
		const uint64_t now = direct_now();
		const bool due = now - c.looked >= QUOIT_DIRECT_LOOK_NS;

		if (due)
			direct_beat(c, now);
		if ((due || c.ring.cached_tail == c.ring.next) && !direct_look(c))
			break;
		if (c.ring.cached_tail != c.ring.next) {
			c.worked = now;
			return true;
		}
		if (now - c.worked >= QUOIT_DIRECT_IDLE_NS && direct_may_sleep(c))
			break;
	}
	direct_leave(c);
	return false;
}

/* The first warp copies the request, one word per lane. */
static __device__ void direct_take(direct_job &job, const quoit_direct_request *from)
{
	constexpr uint32_t words = sizeof(job.call) / sizeof(uint64_t);
	static_assert(words <= 32 && sizeof(job.call) % sizeof(uint64_t) == 0, "one load each");

	if (threadIdx.x < words)
		((uint64_t *)&job.call)[threadIdx.x] =
			system_load((const uint64_t *)&from->call + threadIdx.x, SYSTEM_RELAXED);
	__syncwarp();
}

static __global__ void __launch_bounds__(DIRECT_THREADS)
	direct_kernel(const quoit_direct_requests *requests, quoit_direct_words *words)
{
	const bool first_warp = threadIdx.x < 32;
	__shared__ direct_job job;
	__shared__ bool stays;
	direct_consumer c;

	if (first_warp)
		direct_begin(c, requests, words);
	for (;;) {
		if (first_warp) {
			const bool awaited = direct_await(c);

			if (awaited) {
				direct_take(job, &requests->request[c.ring.next & MASK]);
				direct_prepare(job);
			}
			if (threadIdx.x == 0)
				stays = awaited;
		}
		__syncthreads();
		if (!stays)
			return;
		direct_run(job);
		__syncthreads();
		/* After the barrier, a release for all: a reader of head sees all results. */
		if (threadIdx.x == 0)
			quoit_ring_release(&c.ring, 1);
		else if (first_warp)
			c.ring.next++;
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
