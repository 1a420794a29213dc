/* SPDX-License-Identifier: MIT */
/* refuse.c - let system calls fail by a seccomp filter */
#include "refuse.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MOST_CALLS 16
#define PER_CALL   5 /* statements */

#define LOAD(field)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Skip the next `skip` statements unless the loaded word is `value`. */
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define RETURN(value)       BPF_STMT(BPF_RET | BPF_K, value)

static unsigned add_call(struct sock_filter *at, const struct refused_call *call, int error)
{
	struct sock_filter any[] = {LOAD(nr), UNLESS((uint32_t)call->number, 1),
				    RETURN(SECCOMP_RET_ERRNO | (uint32_t)error)};
	struct sock_filter some[] = {LOAD(nr), UNLESS((uint32_t)call->number, 3),
				     LOAD(args[call->argument - 1]), UNLESS(call->value, 1),
				     RETURN(SECCOMP_RET_ERRNO | (uint32_t)error)};
	unsigned n = call->argument ? sizeof some / sizeof some[0] : sizeof any / sizeof any[0];

	for (unsigned i = 0; i < n; i++)
		at[i] = call->argument ? some[i] : any[i];
	return n;
}

void refuse_calls(const struct refused_call *calls, unsigned count, int error)
{
	struct sock_filter filter[MOST_CALLS * PER_CALL + 1];
	struct sock_fprog program = {.filter = filter};

	for (unsigned i = 0; i < count && i < MOST_CALLS; i++)
		program.len += (unsigned short)add_call(&filter[program.len], &calls[i], error);
	filter[program.len++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("seccomp");
		_exit(126);
	}
}
