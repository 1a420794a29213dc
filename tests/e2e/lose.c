/* SPDX-License-Identifier: MIT */
/* lose.c - make a page of a tensor with a name unreadable in quoitd */
#include "lose.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define PAGE 4096u

/* ---- the tensor's memory ---- */

struct mapping {
	uint64_t start, end;
	ino_t inode;
	int fd; /* of quoitd */
};

static bool find_mapping(const struct daemon *d, struct mapping *ret)
{
	char path[64], line[512];
	FILE *maps;
	bool found = false;

	snprintf(path, sizeof path, "/proc/%d/maps", d->pid);
	maps = fopen(path, "re");
	cr_assert(maps);
	while (!found && fgets(line, sizeof line, maps))
		found = strstr(line, "/memfd:quoit-tensor ") &&
			sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %lu", &ret->start,
			       &ret->end, &ret->inode) == 3;
	fclose(maps);
	return found;
}

static bool find_fd(const struct daemon *d, struct mapping *m)
{
	char path[64], entry[384];
	struct dirent *at;
	struct stat st;
	DIR *fds;

	snprintf(path, sizeof path, "/proc/%d/fd", d->pid);
	fds = opendir(path);
	cr_assert(fds);
	m->fd = -1;
	while (m->fd < 0 && (at = readdir(fds)) != NULL) {
		snprintf(entry, sizeof entry, "%s/%s", path, at->d_name);
		if (!stat(entry, &st) && st.st_ino == m->inode && at->d_name[0] != '.')
			m->fd = atoi(at->d_name);
	}
	closedir(fds);
	return m->fd >= 0;
}

/* ---- a system call of quoitd ---- */

#ifdef __x86_64__

static void await_stop(pid_t pid)
{
	int status;

	cr_assert_eq(waitpid(pid, &status, __WALL), pid);
	cr_assert(WIFSTOPPED(status), "%#x", (unsigned)status);
}

/*
 * Its first thread is stopped in a system call, behind the instruction for one: let it run that
 * again, and put all back.
 */
static int64_t call_there(pid_t pid, const struct user_regs_struct *arguments)
{
	struct user_regs_struct before, r = *arguments;

	cr_assert_eq(ptrace(PTRACE_GETREGS, pid, NULL, &before), 0);
	cr_assert_eq((ptrace(PTRACE_PEEKTEXT, pid, before.rip - 2, NULL) & 0xffff), 0x050f,
		     "it is in no system call");
	r.rip = before.rip - 2;
	r.rsp = before.rsp;
	r.cs = before.cs;
	r.ss = before.ss;
	r.eflags = before.eflags;
	r.fs_base = before.fs_base;
	r.orig_rax = (unsigned long long)-1; /* no call is to begin again */
	cr_assert_eq(ptrace(PTRACE_SETREGS, pid, NULL, &r), 0);
	cr_assert_eq(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	await_stop(pid);
	cr_assert_eq(ptrace(PTRACE_GETREGS, pid, NULL, &r), 0);
	cr_assert_eq(ptrace(PTRACE_SETREGS, pid, NULL, &before), 0);
	return (int64_t)r.rax;
}

static void map_behind_end(const struct daemon *d, const struct mapping *m, uint64_t at)
{
	const struct user_regs_struct arguments = {
		.rax = SYS_mmap,
		.rdi = at,
		.rsi = PAGE,
		.rdx = PROT_READ | PROT_WRITE,
		.r10 = MAP_PRIVATE | MAP_FIXED,
		.r8 = (unsigned)m->fd,
		.r9 = m->end - m->start,
	};
	int64_t got;

	if (ptrace(PTRACE_SEIZE, d->pid, NULL, NULL) < 0)
		cr_skip_test("quoitd cannot be traced here");
	cr_assert_eq(ptrace(PTRACE_INTERRUPT, d->pid, NULL, NULL), 0);
	await_stop(d->pid);
	got = call_there(d->pid, &arguments);
	cr_assert_eq(ptrace(PTRACE_DETACH, d->pid, NULL, NULL), 0);
	cr_assert_eq(got, (int64_t)at, "%s", strerror((int)-got));
}

#else

static void map_behind_end(const struct daemon *d, const struct mapping *m, uint64_t at)
{
	(void)d;
	(void)m;
	(void)at;
	cr_skip_test("written for x86-64 only");
}

#endif

void lose_warn(const struct daemon *d)
{
	siginfo_t info = {.si_signo = SIGBUS, .si_code = BUS_MCEERR_AO};
	int status;

	if (ptrace(PTRACE_SEIZE, d->pid, NULL, NULL) < 0)
		cr_skip_test("quoitd cannot be traced here");
	cr_assert_eq(syscall(SYS_tgkill, d->pid, d->pid, SIGBUS), 0);
	cr_assert_eq(waitpid(d->pid, &status, __WALL), d->pid);
	cr_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGBUS, "%#x", (unsigned)status);
	cr_assert_eq(ptrace(PTRACE_SETSIGINFO, d->pid, NULL, &info), 0);
	cr_assert_eq(ptrace(PTRACE_DETACH, d->pid, NULL, SIGBUS), 0);
}

void lose_page(const struct daemon *d, unsigned page)
{
	struct mapping m;

	cr_assert(find_mapping(d, &m), "quoitd has no tensor with a name");
	cr_assert(find_fd(d, &m));
	cr_assert_lt(page, (m.end - m.start) / PAGE);
	map_behind_end(d, &m, m.start + (uint64_t)page * PAGE);
}
