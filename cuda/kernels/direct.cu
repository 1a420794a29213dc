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
#include "kernels/direct_gemm.cuh"
#include "kernels/direct_reduce.cuh"
#include "kernels/direct_walk.cuh"
#include "kernels/function.cuh"

#define MASK (QUOIT_DIRECT_ENTRIES - 1)

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
