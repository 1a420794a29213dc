/* SPDX-License-Identifier: MIT */
/*
 * anatomy.cu - find out the facts of a new GPU within two minutes: where the microseconds of a
 * small job go, and which calls of the runtime wait for a resident kernel
 *
 * Usage: anatomy [SECTION...]; default: all of info launch ring waits alloc pin gemm.  It prints a
 * JSON object for each fact on a line, at once, so that a section that hangs costs no earlier fact.
 * Exit status 77: there is no device.
 */
#include "anatomy/info.cuh"
#include "anatomy/launch.cuh"
#include "anatomy/memory.cuh"
#include "anatomy/products.cuh"
#include "anatomy/ring.cuh"
#include "anatomy/waits.cuh"

int main(int argc, char **argv)
{
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
	double a = now_us();
	int n = 0;
	if (cudaGetDeviceCount(&n) || !n) {
		puts("{\"error\": \"no device\"}");
		return 77;
	}
	say("first call of the driver", now_us() - a, "us");
	a = now_us();
	CK(cudaSetDevice(0));
	CK(cudaFree(0));
	say("context", now_us() - a, "us");
	int lo, hi;
	cudaDeviceGetStreamPriorityRange(&lo, &hi);
	CK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, lo));
	CK(cudaStreamCreateWithPriority(&s2, cudaStreamNonBlocking, lo));
	CK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, hi));
	CK(cudaMalloc(&mem, 1 << 20));
	CK(cudaMemset(mem, 0, 1 << 20));
	CK(cudaHostAlloc((void **)&word, 64, cudaHostAllocMapped));
	CK(cudaHostGetDevicePointer((void **)&word_there, word, 0));
	*word = 0;
	cudaDriverEntryPointQueryResult q;
	CK(cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", (void **)&write_value, 12000,
					    cudaEnableDefault, &q));
	add_one<<<1, 32, 0, s>>>(mem + 2, mem);
	linger<<<1, 32, 0, high>>>(1000);
	CK(cudaDeviceSynchronize());
	auto on = [&](const char *k) {
		if (argc < 2)
			return true;
		for (int i = 1; i < argc; i++)
			if (!strcmp(argv[i], k))
				return true;
		return false;
	};
	if (on("info"))
		info();
	if (on("launch"))
		launch();
	if (on("ring"))
		rings();
	if (on("waits"))
		waiting();
	if (on("alloc"))
		alloc();
	if (on("pin"))
		pin();
	if (on("gemm"))
		products();
	return 0;
}
