/* SPDX-License-Identifier: MIT */
/* lazy_pages.c - large memory of quoitd's own, whose pages come when they are written */
#include "lazy_pages.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/* More is not unmapped by the thread that asks for it. */
#define UNMAP_BYTES (UINT64_C(1) << 20)

struct range {
	void *memory;
	uint64_t bytes;
};

void *lazy_pages_map(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void *unmap(void *of)
{
	struct range *r = of;

	munmap(r->memory, r->bytes);
	free(r);
	return NULL;
}

/* To free a GiB takes a tenth of a second, for which others would wait: a thread of its own does it. */
static int unmap_in_thread(void *memory, uint64_t bytes)
{
	struct range *r = malloc(sizeof *r);
	pthread_t thread;

	if (!r)
		return -1;
	*r = (struct range){memory, bytes};
	if (pthread_create(&thread, NULL, unmap, r)) {
		free(r);
		return -1;
	}
	pthread_detach(thread);
	return 0;
}

void lazy_pages_unmap(void *memory, uint64_t bytes)
{
	if (!memory)
		return;
	if (bytes <= UNMAP_BYTES || unmap_in_thread(memory, bytes) < 0)
		munmap(memory, bytes);
}
