/* SPDX-License-Identifier: MIT */
/*
 * fail_calls.c - preloaded into quoitd: the Nth allocation or system call fails
 *
 * Only calls that quoitd itself makes count, not those within libraries: what a library
 * does with a failure is not ours to answer for.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../torture/support/fail_plan.h"

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

static bool fails(enum fail_call call, const void *caller)
{
	uint64_t n, nth;

	if (!plan || (uintptr_t)caller < code_begin || (uintptr_t)caller >= code_end ||
	    !(atomic_load(&plan->calls) >> call & 1))
		return false;
	n = atomic_fetch_add(&plan->count, 1) + 1;
	nth = atomic_load(&plan->nth);
	if (n < nth || (n > nth && !atomic_load(&plan->sticky)))
		return false;
	atomic_store(&plan->last, call);
	atomic_fetch_add(&plan->failed, 1);
	return true;
}

#define FAIL_ERRNO(name, error) error,
static const int error_of[FAIL_NR] = {FAIL_CALLS(FAIL_ERRNO)};
#undef FAIL_ERRNO

/* NAME(ARGUMENTS) fails with BAD and its errno, or does what the real one does. */
#define INTERPOSE(type, name, parameters, arguments, bad)                                          \
	type name parameters                                                                       \
	{                                                                                          \
		static type(*next) parameters;                                                     \
                                                                                                   \
		if (fails(FAIL_##name, __builtin_return_address(0))) {                             \
			errno = error_of[FAIL_##name];                                             \
			return bad;                                                                \
		}                                                                                  \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #name);                                 \
		return next arguments;                                                             \
	}

INTERPOSE(void *, malloc, (size_t size), (size), NULL)
INTERPOSE(void *, calloc, (size_t count, size_t size), (count, size), NULL)
INTERPOSE(void *, realloc, (void *old, size_t size), (old, size), NULL)
INTERPOSE(void *, aligned_alloc, (size_t align, size_t size), (align, size), NULL)
INTERPOSE(void *, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset),
	  (at, size, prot, flags, fd, offset), MAP_FAILED)
INTERPOSE(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)
INTERPOSE(int, ftruncate, (int fd, off_t size), (fd, size), -1)
INTERPOSE(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
INTERPOSE(int, fallocate, (int fd, int mode, off_t offset, off_t size), (fd, mode, offset, size),
	  -1)
INTERPOSE(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
INTERPOSE(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
INTERPOSE(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1)
INTERPOSE(int, socketpair, (int domain, int type, int protocol, int pair[2]),
	  (domain, type, protocol, pair), -1)
INTERPOSE(int, accept4, (int fd, __SOCKADDR_ARG a, socklen_t *size, int flags),
	  (fd, a, size, flags), -1)
INTERPOSE(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), -1)
INTERPOSE(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), -1)
INTERPOSE(int, epoll_create1, (int flags), (flags), -1)
INTERPOSE(int, eventfd, (unsigned count, int flags), (count, flags), -1)
INTERPOSE(int, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags), -1)
INTERPOSE(int, pthread_create,
	  (pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg),
	  (thread, attr, run, arg), EAGAIN)

/* Taking something out needs nothing that could be lacking: it never fails. */
int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	static int (*next)(int, int, int, struct epoll_event *);

	if (op != EPOLL_CTL_DEL && fails(FAIL_epoll_ctl, __builtin_return_address(0))) {
		errno = error_of[FAIL_epoll_ctl];
		return -1;
	}
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "epoll_ctl");
	return next(epoll, op, fd, event);
}

/* The three with arguments that may be missing; whatever is there is passed on. */
#define INTERPOSE_VARIADIC(name, parameters, last, rest, arguments)                                \
	int name parameters                                                                        \
	{                                                                                          \
		static int(*next) parameters;                                                      \
		va_list list;                                                                      \
		rest more;                                                                         \
                                                                                                   \
		if (fails(FAIL_##name, __builtin_return_address(0))) {                             \
			errno = error_of[FAIL_##name];                                             \
			return -1;                                                                 \
		}                                                                                  \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #name);                                 \
		va_start(list, last);                                                              \
		more = va_arg(list, rest);                                                         \
		va_end(list);                                                                      \
		return next arguments;                                                             \
	}

INTERPOSE_VARIADIC(fcntl, (int fd, int command, ...), command, long, (fd, command, more))
INTERPOSE_VARIADIC(open, (const char *path, int flags, ...), flags, unsigned, (path, flags, more))
INTERPOSE_VARIADIC(openat, (int directory, const char *path, int flags, ...), flags, unsigned,
		   (directory, path, flags, more))
