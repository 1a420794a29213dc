/* SPDX-License-Identifier: MIT */
/* lazy_pages.c - large memory of quoitd's own, whose pages come when they are written */
#include "lazy_pages.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/free_aside.h"

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

static void unmap(void *of)
{
	struct range r = *(struct range *)of;

	free(of);
	munmap(r.memory, r.bytes);
}

void lazy_pages_unmap(void *memory, uint64_t bytes)
{
	struct range *r = memory ? malloc(sizeof *r) : NULL;

	if (r) {
		*r = (struct range){memory, bytes};
		free_aside(bytes, unmap, r);
	} else if (memory) {
		munmap(memory, bytes);
	}
}
