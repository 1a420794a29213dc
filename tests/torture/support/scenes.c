/* SPDX-License-Identifier: MIT */
/* scenes.c - a system call filter, other users, a file */
#include "scenes.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void must(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		_exit(126);
	}
}

void scene_without_seals(const struct daemon *d)
{
	/* An "error" of 0: the call is not made and returns 0. */
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_ADD_SEALS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
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
	/* Else our own /proc/self would be closed to us, and hide what is tested. */
	must(prctl(PR_SET_DUMPABLE, 1), "dumpable");
}

void scene_as_service(const struct daemon *d)
{
	must(chown(d->folder, SCENE_SERVICE, SCENE_SERVICE), d->folder);
	scene_become(SCENE_SERVICE);
}
