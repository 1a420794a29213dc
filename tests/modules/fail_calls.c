/* SPDX-License-Identifier: MIT */
/*
 * fail_calls.c - preloaded into quoitd: the Nth allocation or system call fails
 *
 * A file that the environment names (FAIL_CALLS) is mapped, and says what to do; a test
 * writes to it at any time.  Calls are counted from the moment at which it is armed.
 * Only calls that quoitd itself makes count, not those within libraries: what a library
 * does with a failure is not ours to answer for.
 */
#include "fail_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static struct fail_plan *plan; /* NULL: let everything pass */
static uintptr_t code_begin, code_end;

/* The program itself comes first. */
static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			code_begin = info->dlpi_addr + p->p_vaddr;
			code_end = code_begin + p->p_memsz;
		}
	}
	return 1;
}

__attribute__((constructor)) static void find_plan(void)
{
	const char *path = getenv("FAIL_CALLS");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		return;
	map = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	(void)dl_iterate_phdr(find_code, NULL);
	if (map != MAP_FAILED)
		plan = map;
}

/* Is it this call that must fail?  `call` is enum fail_call. */
static bool fails(unsigned call, const void *caller)
{
	uint64_t n;

	if (!plan || (uintptr_t)caller < code_begin || (uintptr_t)caller >= code_end ||
	    !(atomic_load(&plan->calls) >> call & 1))
		return false;
	n = atomic_fetch_add(&plan->count, 1) + 1;
	if (plan->sticky ? n < plan->nth : n != plan->nth)
		return false;
	atomic_fetch_add(&plan->failed, 1);
	plan->last = call;
	return true;
}

/*
 * NAME(ARGS) fails with ERROR, or does what the next library's NAME does.  The lookup may
 * allocate, so it must not be done within an allocation: those have their own below.
 */
#define INTERPOSE(type, name, parameters, arguments, call, bad, error)                             \
	type name parameters;                                                                      \
	type name parameters                                                                       \
	{                                                                                          \
		static type(*next) parameters;                                                     \
                                                                                                   \
		if (fails(call, __builtin_return_address(0))) {                                    \
			errno = error;                                                             \
			return bad;                                                                \
		}                                                                                  \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #name);                                 \
		return next arguments;                                                             \
	}
