/* SPDX-License-Identifier: MIT */
/* handover.c - two processes that wake each other by futexes: what a call to another thread costs */
#include "handover.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "floor_process.h"

/* Each side sleeps on its own word, on a line of its own, until it is `turns`. */
struct table {
	_Alignas(64) uint32_t there;
	_Alignas(64) uint32_t back;
	uint64_t turns;
};

static void tell(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void await(const uint32_t *word, uint32_t value)
{
	uint32_t now;

	while ((now = __atomic_load_n(word, __ATOMIC_SEQ_CST)) != value)
		(void)syscall(SYS_futex, word, FUTEX_WAIT, now, NULL, NULL, 0);
}

static void serve(void *memory)
{
	struct table *t = memory;

	for (uint32_t i = 1; i <= t->turns; i++) {
		await(&t->there, i);
		tell(&t->back, i);
	}
}

int handover_run(int client_cpu, int server_cpu, uint64_t turns, double *ret_ns)
{
	struct table *t = floor_map(sizeof *t);
	cpu_set_t before;
	uint64_t begun;
	pid_t pid;
	int err;

	if (!t)
		return -errno;
	t->turns = turns < UINT32_MAX ? turns : UINT32_MAX;
	err = floor_pin(client_cpu, &before);
	if (!err)
		err = floor_fork(serve, t, server_cpu, &pid);
	if (err) {
		floor_unmap(t, sizeof *t);
		return err;
	}
	begun = floor_now();
	for (uint32_t i = 1; i <= t->turns; i++) {
		tell(&t->there, i);
		await(&t->back, i);
	}
	*ret_ns = (double)(floor_now() - begun) / (double)t->turns;
	err = floor_join(pid);
	floor_unpin(&before);
	floor_unmap(t, sizeof *t);
	return err;
}
