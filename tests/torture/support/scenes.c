/* SPDX-License-Identifier: MIT */
/* scenes.c - set a system call filter, become another user, make a file */
#include "scenes.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void must(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		_exit(126);
	}
}

#define FUTURE_WRITE 0x0010 /* F_SEAL_FUTURE_WRITE, Linux 5.1 */

const char *const scene_lax[] = {"--lax-memory", NULL};

void scene_without_seals(const struct daemon *d)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_ADD_SEALS, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, FUTURE_WRITE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

	(void)d;
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp");
}

int scene_file_on_disk(void)
{
	char path[] = "/var/tmp/quoit-torture-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd >= 0)
		unlink(path);
	return fd;
}

void scene_become(uid_t uid)
{
	must(setgroups(0, NULL), "setgroups");
	must(setresgid(uid, uid, uid), "setresgid");
	must(setresuid(uid, uid, uid), "setresuid");
	/* Otherwise we could not read our own /proc/self, which would hide the results. */
	must(prctl(PR_SET_DUMPABLE, 1), "dumpable");
}

/*
 * The service may lock as much as it wants, by its unit (LimitMEMLOCK=); if root may not raise
 * limits, it gets the capability.
 */
static void become_locking(void)
{
	const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];
	const uint32_t lock = 1u << CAP_IPC_LOCK;

	if (setrlimit(RLIMIT_MEMLOCK, &all) == 0) {
		scene_become(SCENE_SERVICE);
		return;
	}
	must(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "keepcaps");
	scene_become(SCENE_SERVICE);
	must((int)syscall(SYS_capget, &head, caps), "capget");
	caps[0] = (struct __user_cap_data_struct){lock, lock, lock};
	caps[1] = (struct __user_cap_data_struct){0};
	must((int)syscall(SYS_capset, &head, caps), "capset");
	must(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_IPC_LOCK, 0, 0), "ambient");
}

static void own_folder(const struct daemon *d)
{
	must(chown(d->folder, SCENE_SERVICE, SCENE_SERVICE), d->folder);
}

void scene_as_service(const struct daemon *d)
{
	own_folder(d);
	become_locking();
}

void scene_as_owner(const struct daemon *d)
{
	own_folder(d);
	scene_become(SCENE_SERVICE);
}
