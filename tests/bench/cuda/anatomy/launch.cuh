/* SPDX-License-Identifier: MIT */
/*
 * launch.cuh - measure launches, words that streams write, events, graphs, and many jobs in one
 * launch
 */
#ifndef ANATOMY_LAUNCH_CUH
#define ANATOMY_LAUNCH_CUH

#include "anatomy/common.cuh"

__global__ void add_one(float *y, const float *x)
{
	if (threadIdx.x < 2)
		y[threadIdx.x] = x[threadIdx.x] + 1;
}
__global__ void add_and_say(float *y, const float *x, uint32_t *w, uint32_t n)
{
	if (threadIdx.x < 2)
		y[threadIdx.x] = x[threadIdx.x] + 1;
	__syncthreads();
	if (threadIdx.x == 0)
		asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(w), "r"(n) : "memory");
}
struct batch {
	uint64_t y[140], x[140];
	uint32_t n;
	uint32_t pad[7000];
};
__global__ void add_many(const __grid_constant__ batch b)
{ // independent jobs: one block for each
	for (uint32_t i = blockIdx.x; i < b.n; i += gridDim.x)
		if (threadIdx.x < 2)
			((float *)b.y[i])[threadIdx.x] = ((const float *)b.x[i])[threadIdx.x] + 1;
}
__global__ void add_chain(const __grid_constant__ batch b)
{ // dependent jobs: one block does them one after the other
	for (uint32_t i = 0; i < b.n; i++) {
		if (threadIdx.x < 2)
			((float *)b.y[i])[threadIdx.x] =
				((const volatile float *)b.x[i])[threadIdx.x] + 1;
		__syncthreads();
	}
}
__global__ void add_pdl(float *y, const float *x)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
	if (threadIdx.x < 2)
		y[threadIdx.x] = x[threadIdx.x] + 1;
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

static void launch(void)
{
	uint32_t n = 0;
	volatile uint32_t *w = word;
	each("launch + synchronise", 5000, [&] {
		add_one<<<1, 32, 0, s>>>(mem + 2, mem);
		cudaStreamSynchronize(s);
	});
	each("launch + memop word", 5000, [&] {
		add_one<<<1, 32, 0, s>>>(mem + 2, mem);
		write_value((CUstream)s, (CUdeviceptr)word_there, ++n, 0);
		while (*w != n)
			;
	});
	each("launch + word by the kernel", 5000, [&] {
		add_and_say<<<1, 32, 0, s>>>(mem + 2, mem, word_there, ++n);
		while (*w != n)
			;
	});
	total("chain of launches", 20000, [&](int m) {
		for (int i = 0; i < m; i++)
			add_one<<<1, 32, 0, s>>>(mem + 2, mem);
	});
	total("chain of launches, 256 threads, 300 B of parameters", 20000, [&](int m) {
		for (int i = 0; i < m; i++)
			add_one<<<1, 256, 0, s>>>(mem + 2, mem);
	});
	total("chain of launch + memop", 20000, [&](int m) {
		for (int i = 0; i < m; i++) {
			add_one<<<1, 32, 0, s>>>(mem + 2, mem);
			write_value((CUstream)s, (CUdeviceptr)word_there, ++n, 0);
		}
	});
	total("memops alone", 20000, [&](int m) {
		for (int i = 0; i < m; i++)
			write_value((CUstream)s, (CUdeviceptr)word_there, ++n, 0);
	});
	cudaEvent_t e;
	CK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	total("event record + wait by another stream", 5000, [&](int m) {
		for (int i = 0; i < m; i++) {
			cudaEventRecord(e, s);
			cudaStreamWaitEvent(s2, e, 0);
		}
	});
	total("cudaHostGetDevicePointer", 100000, [&](int m) {
		void *p;
		for (int i = 0; i < m; i++)
			cudaHostGetDevicePointer(&p, word, 0);
	});
	total("cudaEventQuery", 20000, [&](int m) {
		for (int i = 0; i < m; i++)
			cudaEventQuery(e);
	});
	total("chain, programmatic dependent launch", 20000, [&](int m) {
		cudaLaunchAttribute a[1];
		a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
		a[0].val.programmaticStreamSerializationAllowed = 1;
		cudaLaunchConfig_t c = {};
		c.gridDim = 1;
		c.blockDim = 32;
		c.stream = s;
		c.attrs = a;
		c.numAttrs = 1;
		for (int i = 0; i < m; i++)
			cudaLaunchKernelEx(&c, add_pdl, mem + 2, (const float *)mem);
	});
	cudaGraph_t g;
	cudaGraphExec_t x;
	CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < 100; i++)
		add_one<<<1, 32, 0, s>>>(mem + 2, mem);
	CK(cudaStreamEndCapture(s, &g));
	CK(cudaGraphInstantiate(&x, g, 0));
	total("graph of 100 (each is a graph)", 300, [&](int m) {
		for (int i = 0; i < m; i++)
			cudaGraphLaunch(x, s);
	});
	static batch b;
	b.n = 100;
	for (int i = 0; i < 140; i++) {
		b.x[i] = (uint64_t)(mem + 4 * i);
		b.y[i] = (uint64_t)(mem + 4 * i + 2);
	}
	each("100 independent jobs in one launch + synchronise", 1000, [&] {
		add_many<<<100, 256, 0, s>>>(b);
		cudaStreamSynchronize(s);
	});
	total("100 independent jobs in one launch (each is a launch)", 3000, [&](int m) {
		for (int i = 0; i < m; i++)
			add_many<<<100, 256, 0, s>>>(b);
	});
	for (int i = 0; i < 140; i++) {
		b.x[i] = (uint64_t)(mem + (i & 1) * 4);
		b.y[i] = (uint64_t)(mem + (~i & 1) * 4);
	}
	total("100 dependent jobs in one launch (each is a launch)", 1000, [&](int m) {
		for (int i = 0; i < m; i++)
			add_chain<<<1, 256, 0, s>>>(b);
	});
	std::vector<double> v; // how many launches are accepted before a launch has to wait
	cudaStream_t t;
	CK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
}

#endif
