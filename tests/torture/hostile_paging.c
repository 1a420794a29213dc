/* SPDX-License-Identifier: MIT */
/*
 * hostile_paging.c - clients that let their pages be paged out, locked, or made inaccessible: case
 * 39 of the threat model.  quoitd has mappings of its own, which none of that may affect.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stage.h"

#ifndef MADV_COLD /* Linux 5.4 */
#define MADV_COLD    20
#define MADV_PAGEOUT 21
#endif
#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif

#define MIB   (UINT64_C(1) << 20)
#define SMALL 1000u                 /* elements for the reactor */
#define LARGE (MIB / sizeof(float)) /* elements for the workers */

static const struct raw_wish wish = {.host_bytes = 16 * MIB,
				     .arena_bytes = 4 * MIB,
				     .max_tensors = 64,
				     .sq_entries = 64,
				     .cq_entries = 128};

static const uint32_t sizes[] = {SMALL, LARGE};

/* Tensors 1 and 2 in the arena, 3 and 4 in quoitd's memory. */
static bool open_arena(struct stage *s, struct raw_client *c)
{
	if (!stage_open(s, c, &wish))
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		CHECK(s, !raw_run(c, raw_vector(1 + i, sizes[i], i * 2 * MIB)));
		CHECK(s, !raw_run(c, raw_vector(3 + i, sizes[i], RAW_ARENA_NOT)));
	}
	return !s->bad;
}

static struct quoit_sqe fill(uint32_t handle, double value)
{
	struct quoit_sqe sqe = raw_job(QUOIT_OP_FILL, handle, 0, 0);

	memcpy(&sqe.scalar[0], &value, sizeof value);
	return sqe;
}

/* quoitd writes and reads the arena, by a job for the reactor and one for the workers. */
static void use_arena(struct stage *s, struct raw_client *c, unsigned rounds)
{
	for (unsigned i = 0; i < rounds && !s->bad; i++)
		for (uint32_t k = 0; k < 2; k++) {
			CHECK(s, !raw_run(c, fill(1 + k, i + 1)));
			CHECK(s, !raw_run(c, raw_job(QUOIT_OP_COPY, 3 + k, 1 + k, 0)));
		}
}

/* Expect the value that quoitd has read there last, by a copy that we can see. */
static void expect_last(struct stage *s, struct raw_client *c, float value)
{
	for (uint32_t k = 0; k < 2; k++) {
		const float *at = (const float *)(const void *)(c->arena + k * 2 * MIB);

		CHECK(s, !raw_run(c, fill(1 + k, 0)));
		CHECK(s, !raw_run(c, raw_job(QUOIT_OP_COPY, 1 + k, 3 + k, 0)));
		for (uint32_t i = 0; i < sizes[k] && !s->bad; i++)
			CHECK(s, at[i] == value);
	}
}

/* ---- pages that are paged out, and locked ---- */

struct pager {
	struct raw_client *client;
	_Atomic bool stop;
	_Atomic unsigned rounds;
	unsigned refused;
};

/* Without swap, the kernel still removes them from all page tables. */
static void *send_away(void *arg)
{
	struct pager *p = arg;
	const struct raw_client *c = p->client;

	while (!p->stop) {
		p->refused += madvise(c->arena, c->info.arena_bytes, MADV_PAGEOUT) < 0;
		p->refused += madvise(c->arena, c->info.arena_bytes, MADV_COLD) < 0;
		if (!mlock(c->arena, c->info.arena_bytes))
			(void)munlock(c->arena, c->info.arena_bytes);
		p->rounds++;
	}
	return NULL;
}

static void pages_that_are_sent_away(struct stage *s)
{
	unsigned rounds = stage_times(s, 100, 5000);
	struct raw_client c;
	struct pager p = {.client = &c};
	pthread_t thread;

	if (!open_arena(s, &c) || !CHECK(s, !pthread_create(&thread, NULL, send_away, &p)))
		return;
	while (!p.rounds)
		usleep(100);
	use_arena(s, &c, rounds);
	p.stop = true;
	pthread_join(thread, NULL);
	if (p.refused == 2 * p.rounds)
		s->skip = "the kernel has neither MADV_PAGEOUT nor MADV_COLD";
	expect_last(s, &c, (float)rounds);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- page faults that are never answered ---- */

/* -errno: that is not possible here. */
static int hold_faults(const struct raw_client *c)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register all = {
		.range = {.start = (uintptr_t)c->arena, .len = c->info.arena_bytes},
		.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY), err;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &all))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* The faults are those of the client's own mapping; quoitd has others. */
static void faults_that_nobody_answers(struct stage *s)
{
	struct uffdio_range all;
	struct raw_client c;
	int fd;

	if (!open_arena(s, &c))
		return;
	all = (struct uffdio_range){(uintptr_t)c.arena, c.info.arena_bytes};
	fd = hold_faults(&c);
	if (fd < 0) {
		s->skip = "the kernel gives us no userfaultfd for shared memory";
	} else {
		use_arena(s, &c, stage_times(s, 50, 500));
		CHECK(s, !ioctl(fd, UFFDIO_UNREGISTER, &all));
		close(fd);
		expect_last(s, &c, (float)stage_times(s, 50, 500));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static const struct stage_case cases[] = {
	{"pages that are sent away", pages_that_are_sent_away},
	{"faults that nobody answers", faults_that_nobody_answers},
};

int main(int argc, char **argv)
{
	const struct stage_scene scene = {0};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	stage_play(&stage, &scene, cases, sizeof cases / sizeof cases[0]);
	return stage_end(&stage);
}
