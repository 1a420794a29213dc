/* SPDX-License-Identifier: MIT */
/* info.cuh - describe the device, and measure the cost of its timer */
#ifndef ANATOMY_INFO_CUH
#define ANATOMY_INFO_CUH

#include "anatomy/common.cuh"

__global__ void timer_cost(uint64_t *out)
{
	uint64_t least = ~0ull, last, t;
	long long a = clock64();
	for (int i = 0; i < 256; i++) {
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
		out[8] = t;
	}
	long long b = clock64();
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(last));
	for (int i = 0; i < 64; i++) {
		do
			asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
		while (t == last);
		if (t - last < least)
			least = t - last;
		last = t;
	}
	out[0] = (b - a) / 256;
	out[1] = least;
}

static void info(void)
{
	cudaDeviceProp p;
	int d = 0, v, dr, rt, lo, hi;
	CK(cudaGetDeviceProperties(&p, d));
	cudaDriverGetVersion(&dr);
	cudaRuntimeGetVersion(&rt);
	cudaDeviceGetStreamPriorityRange(&lo, &hi);
	printf("{\"device\": \"%s\", \"driver\": %d, \"runtime\": %d, \"sms\": %d, \"l2\": %d, \"mem\": %zu, \"priorities\": [%d, %d]}\n",
	       p.name, dr, rt, p.multiProcessorCount, p.l2CacheSize, p.totalGlobalMem, lo, hi);
	static const struct {
		cudaDeviceAttr a;
		const char *n;
	} at[] = {{cudaDevAttrKernelExecTimeout, "kernelExecTimeout"},
		  {cudaDevAttrComputeMode, "computeMode"},
		  {cudaDevAttrComputePreemptionSupported, "computePreemption"},
		  {cudaDevAttrCanUseHostPointerForRegisteredMem, "hostPointerForRegistered"},
		  {cudaDevAttrHostNativeAtomicSupported, "hostNativeAtomics"},
		  {cudaDevAttrPageableMemoryAccess, "pageableAccess"},
		  {cudaDevAttrMemoryPoolsSupported, "pools"},
		  {cudaDevAttrMemoryPoolSupportedHandleTypes, "poolHandles"},
		  {cudaDevAttrHostRegisterSupported, "hostRegister"},
		  {cudaDevAttrHostRegisterReadOnlySupported, "hostRegisterReadOnly"},
		  {cudaDevAttrAsyncEngineCount, "copyEngines"},
		  {cudaDevAttrSingleToDoublePrecisionPerfRatio, "f32/f64"},
		  {cudaDevAttrGPUDirectRDMASupported, "gpudirectRdma"},
		  {cudaDevAttrPciBusId, "bus"}};
	for (auto &x : at) {
		v = -1;
		cudaDeviceGetAttribute(&v, x.a, d);
		printf("{\"attr\": \"%s\", \"value\": %d}\n", x.n, v);
	}
	size_t st;
	cudaDeviceGetLimit(&st, cudaLimitStackSize);
	say("default stack limit", st, "bytes");
	uint64_t *o;
	CK(cudaHostAlloc((void **)&o, 4096, cudaHostAllocMapped));
	timer_cost<<<1, 1, 0, s>>>(o);
	CK(cudaStreamSynchronize(s));
	say("reading globaltimer", o[0], "SM cycles");
	say("globaltimer step", o[1], "ns");
	cudaFreeHost(o);
}

#endif
