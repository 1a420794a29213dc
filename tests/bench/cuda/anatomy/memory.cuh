/* SPDX-License-Identifier: MIT */
/* memory.cuh - measure pools that grow and shrink, registration of host memory, and copies */
#ifndef ANATOMY_MEMORY_CUH
#define ANATOMY_MEMORY_CUH

#include "anatomy/common.cuh"

static void alloc(void)
{
	cudaMemPool_t pool;
	cudaMemPoolProps pr = {};
	pr.allocType = cudaMemAllocationTypePinned;
	pr.location.type = cudaMemLocationTypeDevice;
	CK(cudaMemPoolCreate(&pool, &pr));
	uint64_t keep = ~0ull, have;
	cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
	std::vector<void *> got;
	std::vector<double> v;
	for (int i = 0; i < 64; i++) {
		void *p;
		double a = now_us();
		CK(cudaMallocFromPoolAsync(&p, 4 << 20, pool, s));
		cudaStreamSynchronize(s);
		v.push_back(now_us() - a);
		got.push_back(p);
		if (i == 0) {
			cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &have);
			say("pool reserves for the first 4 MiB", have / 1048576.0, "MiB");
		}
	}
	spread("memory_new of 4 MiB, pool grows", v, "us");
	v.clear();
	for (void *p : got) {
		double a = now_us();
		cudaFreeAsync(p, s);
		cudaStreamSynchronize(s);
		cudaMemPoolTrimTo(pool, 0);
		v.push_back(now_us() - a);
	}
	spread("memory_free of 4 MiB, as ours (trim each)", v, "us");
	v.clear();
	got.clear();
	for (int i = 0; i < 64; i++) {
		void *p;
		CK(cudaMallocFromPoolAsync(&p, 4 << 20, pool, s));
		got.push_back(p);
	}
	cudaStreamSynchronize(s);
	double a = now_us();
	for (void *p : got)
		cudaFreeAsync(p, s);
	cudaStreamSynchronize(s);
	cudaMemPoolTrimTo(pool, 0);
	say("64 of them freed, one trim", now_us() - a, "us");
	void *p;
	CK(cudaMallocFromPoolAsync(&p, 256 << 20, pool, s));
	cudaFreeAsync(p, s);
	cudaStreamSynchronize(s);
	v.clear();
	for (int i = 0; i < 64; i++) {
		a = now_us();
		CK(cudaMallocFromPoolAsync(&p, 4 << 20, pool, s));
		v.push_back(now_us() - a);
	}
	spread("from a pool that has room", v, "us");
	CK(cudaDeviceSynchronize());
	CK(cudaMemPoolDestroy(pool));
}
static void pin(void)
{
	const size_t n = 256u << 20;
	void *d, *h;
	CK(cudaMalloc(&d, n));
	CK(cudaHostAlloc(&h, n, cudaHostAllocDefault));
	memset(h, 1, n);
	auto speed = [&](const char *k, void *host, size_t part) {
		for (int in = 0; in < 2; in++) {
			double best = 1e30;
			for (int i = 0; i < 6; i++) {
				double a = now_us();
				for (size_t o = 0; o < n; o += part)
					in ? cudaMemcpyAsync((char *)d + o, (char *)host + o, part,
							     cudaMemcpyHostToDevice, s)
					   : cudaMemcpyAsync((char *)host + o, (char *)d + o, part,
							     cudaMemcpyDeviceToHost, s);
				cudaStreamSynchronize(s);
				best = std::min(best, now_us() - a);
			}
			char t[128];
			snprintf(t, sizeof t, "%s, %s", k, in ? "in" : "out");
			say(t, n / best * 1e-3, "GB/s");
		}
	};
	speed("cudaHostAlloc, one copy", h, n);
	speed("cudaHostAlloc, 16 MiB parts", h, 16 << 20);
	for (int huge = 0; huge < 2; huge++) {
		int fd = memfd_create("x", 0);
		if (ftruncate(fd, n))
			return;
		char *m = (char *)mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (huge)
			madvise(m, n, MADV_HUGEPAGE);
		memset(m, 1, n);
		std::vector<double> v;
		for (size_t o = 0; o < n; o += 16 << 20) {
			double a = now_us();
			CK(cudaHostRegister(m + o, 16 << 20,
					    cudaHostRegisterMapped | cudaHostRegisterPortable));
			v.push_back(now_us() - a);
		}
		spread(huge ? "cudaHostRegister 16 MiB, memfd madvise huge"
			    : "cudaHostRegister 16 MiB, memfd 4K",
		       v, "us");
		speed(huge ? "registered memfd (huge asked), 16 MiB parts"
			   : "registered memfd 4K, 16 MiB parts",
		      m, 16 << 20);
		v.clear();
		for (size_t o = 0; o < n; o += 16 << 20) {
			double a = now_us();
			CK(cudaHostUnregister(m + o));
			v.push_back(now_us() - a);
		}
		spread("cudaHostUnregister 16 MiB", v, "us");
		munmap(m, n);
		close(fd);
	}
}

#endif
