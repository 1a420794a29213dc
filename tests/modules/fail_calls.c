/* SPDX-License-Identifier: MIT */
/*
 * fail_calls.c - preloaded into quoitd: let the Nth allocation or system call fail
 *
 * Only calls that quoitd itself makes count.  Calls within libraries do not, since Quoit is not
 * responsible for a library's reaction.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <link.h>
#include <linux/futex.h>
#include <numaif.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../torture/support/fail_plan.h"

#ifndef SO_PEERPIDFD /* Linux 6.5 */
#define SO_PEERPIDFD 77
#endif

static struct fail_plan *plan; /* NULL: all calls pass */
static uintptr_t code_begin, code_end;

/* The program itself is the first object. */
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
	(void)unsetenv("FAIL_CALLS"); /* for quoitd, not for the programs that it starts */
}

static const struct {
	unsigned count, lasting;
	int error[FAIL_ERRNOS];
} answers[FAIL_NR] = {
#define ANSWER(name, lasts, ...)                                                                   \
	{.count = sizeof((int[]){__VA_ARGS__}) / sizeof(int),                                      \
	 .lasting = lasts,                                                                         \
	 .error = {__VA_ARGS__}},
	FAIL_CALLS(ANSWER)
#undef ANSWER
};

/* If so, errno says why. */
static bool fails(enum fail_call call, const void *caller)
{
	bool sticky = plan && atomic_load(&plan->sticky);
	unsigned choice = sticky ? answers[call].lasting : answers[call].count;
	uint64_t n, nth;

	if (!choice || !plan || (uintptr_t)caller < code_begin || (uintptr_t)caller >= code_end ||
	    !(atomic_load(&plan->calls) >> call & 1))
		return false;
	n = atomic_fetch_add(&plan->count, 1) + 1;
	nth = atomic_load(&plan->nth);
	if (n < nth || (n > nth && !sticky))
		return false;
	atomic_store(&plan->last, call);
	atomic_fetch_add(&plan->failed, 1);
	errno = answers[call].error[atomic_load(&plan->pick) % choice];
	atomic_store(&plan->error, errno);
	return true;
}

/* NAME(ARGUMENTS) fails with BAD and its errno, or calls the real function. */
#define INTERPOSE(type, name, parameters, arguments, bad)                                          \
	type name parameters                                                                       \
	{                                                                                          \
		static type(*next) parameters;                                                     \
                                                                                                   \
		if (fails(FAIL_##name, __builtin_return_address(0)))                               \
			return bad;                                                                \
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
	  (thread, attr, run, arg), errno)

INTERPOSE(int, madvise, (void *at, size_t size, int advice), (at, size, advice), -1)
INTERPOSE(int, mlock, (const void *at, size_t size), (at, size), -1)
INTERPOSE(long, mbind,
	  (void *at, unsigned long size, int mode, const unsigned long *nodes, unsigned long most,
	   unsigned flags),
	  (at, size, mode, nodes, most, flags), -1)
INTERPOSE(DIR *, opendir, (const char *path), (path), NULL)
INTERPOSE(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
INTERPOSE(int, flock, (int fd, int operation), (fd, operation), -1)
INTERPOSE(int, fstat, (int fd, struct stat *ret), (fd, ret), -1)
INTERPOSE(int, fstatfs, (int fd, struct statfs *ret), (fd, ret), -1)
INTERPOSE(int, pipe, (int fd[2]), (fd), -1)
INTERPOSE(int, bind, (int fd, __CONST_SOCKADDR_ARG a, socklen_t size), (fd, a, size), -1)
INTERPOSE(ssize_t, recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags),
	  -1)
INTERPOSE(ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size), -1)
INTERPOSE(int, poll, (struct pollfd * fds, nfds_t count, int ms), (fds, count, ms), -1)
INTERPOSE(int, epoll_wait, (int fd, struct epoll_event *events, int most, int ms),
	  (fd, events, most, ms), -1)
INTERPOSE(int, epoll_pwait2,
	  (int fd, struct epoll_event *events, int most, const struct timespec *wait,
	   const sigset_t *mask),
	  (fd, events, most, wait, mask), -1)
INTERPOSE(pid_t, fork, (void), (), -1)
INTERPOSE(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), -1)
INTERPOSE(int, posix_spawn,
	  (pid_t * ret, const char *path, const posix_spawn_file_actions_t *actions,
	   const posix_spawnattr_t *attr, char *const argv[], char *const environment[]),
	  (ret, path, actions, attr, argv, environment), errno)
INTERPOSE(int, io_uring_queue_init, (unsigned entries, struct io_uring *ring, unsigned flags),
	  (entries, ring, flags), -errno)
INTERPOSE(int, io_uring_register_buffers_sparse, (struct io_uring * ring, unsigned count),
	  (ring, count), -errno)
INTERPOSE(int, io_uring_register_buffers_update_tag,
	  (struct io_uring * ring, unsigned first, const struct iovec *parts, const __u64 *tags,
	   unsigned count),
	  (ring, first, parts, tags, count), -errno)
INTERPOSE(int, io_uring_submit, (struct io_uring * ring), (ring), -errno)

/* quoitd has read the peer's credentials long before; only a descriptor of the peer can fail. */
int getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	static int (*next)(int, int, int, void *, socklen_t *);

	if (name == SO_PEERPIDFD && fails(FAIL_getsockopt, __builtin_return_address(0)))
		return -1;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "getsockopt");
	return next(fd, level, name, value, size);
}

static bool is_eventfd(int fd)
{
	char path[40], name[sizeof "anon_inode:[eventfd]"] = "";

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return readlink(path, name, sizeof name - 1) > 0 && !strcmp(name, "anon_inode:[eventfd]");
}

/* An eventfd takes every value until its counter would reach 2^64. */
ssize_t write(int fd, const void *bytes, size_t size)
{
	static ssize_t (*next)(int, const void *, size_t);

	if (plan && atomic_load(&plan->calls) && !is_eventfd(fd) &&
	    fails(FAIL_write, __builtin_return_address(0)))
		return -1;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "write");
	return next(fd, bytes, size);
}

/* Our number of a system call that has no function; FAIL_NR: none. */
static enum fail_call number_of(long number, const long argument[6])
{
	switch (number) {
	case SYS_pidfd_open:
		return FAIL_pidfd_open;
	case SYS_mlock2:
		return FAIL_mlock2;
	case SYS_futex:
		return (argument[1] & FUTEX_CMD_MASK) == FUTEX_WAIT ? FAIL_futex : FAIL_NR;
	}
	return FAIL_NR;
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	enum fail_call call;
	long a[6];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	call = number_of(number, a);
	if (call != FAIL_NR && fails(call, __builtin_return_address(0)))
		return -1;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* To remove an entry needs no resources, so it never fails. */
int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	static int (*next)(int, int, int, struct epoll_event *);

	if (op != EPOLL_CTL_DEL && fails(FAIL_epoll_ctl, __builtin_return_address(0)))
		return -1;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "epoll_ctl");
	return next(epoll, op, fd, event);
}

/* Three calls with optional arguments, which are passed on if they are there. */
#define INTERPOSE_VARIADIC(name, parameters, last, rest, arguments)                                \
	int name parameters                                                                        \
	{                                                                                          \
		static int(*next) parameters;                                                      \
		va_list list;                                                                      \
		rest more;                                                                         \
                                                                                                   \
		if (fails(FAIL_##name, __builtin_return_address(0)))                               \
			return -1;                                                                 \
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
