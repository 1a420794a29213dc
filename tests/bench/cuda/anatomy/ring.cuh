/* SPDX-License-Identifier: MIT */
/* ring.cuh - measure the round trip through a ring to one resident block */
#ifndef ANATOMY_RING_CUH
#define ANATOMY_RING_CUH

#include "anatomy/common.cuh"

struct ring {
	alignas(128) uint32_t tail, leave;
	alignas(128) uint32_t head;
	alignas(128) uint64_t request[32];
	alignas(512) uint64_t ll[64];
};
enum { PLAIN, FETCH, FETCH_WORK, FETCH_WORK_GPU, RELAXED_POLL, LL, LL_WORK, LL_WORK_GPU, WAYS };
static const char *const way_name[] = {"tail, head",
				       "+ 224 byte request",
				       "+ 1x2 addition in device memory",
				       "the same, fence.gpu instead of sys",
				       "as +1x2, relaxed poll then fence",
				       "request carries its number (LL), head",
				       "LL + addition",
				       "LL + addition, fence.gpu"};
__global__ void __launch_bounds__(256) stay(ring *r, int way, float *m, uint64_t most_ns)
{
	__shared__ uint64_t call[32];
	__shared__ uint32_t stop;
	uint32_t next = 0;
	uint64_t begin = timer();
	for (;;) {
		if (way < LL) {
			if (threadIdx.x == 0) {
				uint32_t t;
				stop = 0;
				for (;;) {
					if (way == RELAXED_POLL)
						asm volatile("ld.relaxed.sys.u32 %0, [%1];"
							     : "=r"(t)
							     : "l"(&r->tail)
							     : "memory");
					else
						asm volatile("ld.acquire.sys.u32 %0, [%1];"
							     : "=r"(t)
							     : "l"(&r->tail)
							     : "memory");
					if (t != next)
						break;
					if (timer() - begin > most_ns) {
						stop = 1;
						break;
					}
				}
				if (way == RELAXED_POLL)
					asm volatile("fence.acq_rel.sys;" ::: "memory");
				if (t == 0xffffffffu)
					stop = 1;
			}
			__syncthreads();
			if (stop)
				return;
			if (way >= FETCH && threadIdx.x < 28)
				asm volatile("ld.relaxed.sys.u64 %0, [%1];"
					     : "=l"(call[threadIdx.x])
					     : "l"(&r->request[threadIdx.x])
					     : "memory");
			__syncthreads();
		} else { // a warp reads 512 bytes: 64 times 4 bytes of request, 4 bytes of number
			if (threadIdx.x < 32) {
				uint32_t a, fa, b, fb;
				bool all, out = false;
				do {
					asm volatile("ld.relaxed.sys.v4.u32 {%0, %1, %2, %3}, [%4];"
						     : "=r"(a), "=r"(fa), "=r"(b), "=r"(fb)
						     : "l"((char *)r->ll + 16 * threadIdx.x)
						     : "memory");
					all = __all_sync(0xffffffffu,
							 fa == next + 1 && fb == next + 1);
					out = __any_sync(0xffffffffu, fa == 0xffffffffu) ||
					      timer() - begin > most_ns;
				} while (!all && !__any_sync(0xffffffffu, out));
				asm volatile("fence.acq_rel.sys;" ::: "memory");
				call[threadIdx.x] = (uint64_t)b << 32 | a;
				if (threadIdx.x == 0)
					stop = !all;
			}
			__syncthreads();
			if (stop)
				return;
		}
		if ((way == FETCH_WORK || way == FETCH_WORK_GPU || way == RELAXED_POLL ||
		     way >= LL_WORK) &&
		    threadIdx.x < 2)
			m[2 + threadIdx.x] = m[threadIdx.x] + 1 + (float)(call[0] & 0);
		__syncthreads();
		if (threadIdx.x == 0) {
			next++;
			if (way == FETCH_WORK_GPU || way == LL_WORK_GPU) {
				asm volatile("fence.acq_rel.gpu;" ::: "memory");
				asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(&r->head),
					     "r"(next)
					     : "memory");
			} else
				asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(&r->head),
					     "r"(next)
					     : "memory");
		}
		next = __shfl_sync(0xffffffffu, next,
				   0); // thread 0 counts for its warp; the others use no number
	}
}
static void rings(void)
{
	ring *r;
	CK(cudaHostAlloc((void **)&r, sizeof *r, cudaHostAllocMapped));
	for (int way = 0; way < WAYS; way++) {
		memset(r, 0, sizeof *r);
		stay<<<1, 256, 0, high>>>(r, way, mem, 3000000000ull);
		CK(cudaGetLastError());
		std::vector<double> v;
		for (uint32_t i = 1; i <= 22000; i++) {
			double a = now_us(), most = a + 2e6;
			if (way < LL) {
				for (int k = 0; k < 28; k++)
					r->request[k] = i;
				__atomic_store_n(&r->tail, i, __ATOMIC_SEQ_CST);
			} else
				for (int k = 0; k < 64; k++)
					__atomic_store_n(&r->ll[k], (uint64_t)i << 32 | k,
							 __ATOMIC_RELAXED);
			while (__atomic_load_n(&r->head, __ATOMIC_ACQUIRE) != i)
				if (now_us() > most) {
					printf("{\"error\": \"no answer\", \"way\": %d, \"i\": %u}\n",
					       way, i);
					fflush(stdout);
					i = 99999999;
					break;
				}
			if (i > 2000 && i <= 22000)
				v.push_back(now_us() - a);
		}
		__atomic_store_n(&r->tail, 0xffffffffu, __ATOMIC_SEQ_CST);
		for (int k = 0; k < 64; k++)
			__atomic_store_n(&r->ll[k], ~0ull, __ATOMIC_RELAXED);
		CK(cudaStreamSynchronize(high));
		char t[128];
		snprintf(t, sizeof t, "resident round trip: %s", way_name[way]);
		if (!v.empty())
			spread(t, v, "us");
	}
	cudaFreeHost(r);
}

#endif
