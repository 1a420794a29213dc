/* SPDX-License-Identifier: MIT */
/* hostile_kernels.c - images and kernels that are invalid, change, or are too many */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bringer.h"

/* ---- descriptors ---- */

static int writable_only(void)
{
	char path[40];
	int fd = bringer_memory("soft", 4, BRINGER_SEALS), other;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	other = open(path, O_PATH | O_CLOEXEC);
	close(fd);
	return other;
}

static int pipe_end(void)
{
	int fds[2];

	if (pipe(fds) < 0)
		return -1;
	close(fds[1]);
	return fds[0];
}

static int descriptor(unsigned kind)
{
	switch (kind) {
	case 0:
		return bringer_memory("soft", 4, 0);
	case 1:
		return bringer_memory("soft", 4, F_SEAL_SHRINK | F_SEAL_GROW);
	case 2:
		return bringer_memory("soft", 4, F_SEAL_WRITE | F_SEAL_GROW); /* it could shrink */
	case 3:
		return bringer_memory("soft", 4, F_SEAL_WRITE | F_SEAL_SHRINK);
	case 4:
		return bringer_memory(NULL, 0, BRINGER_SEALS);
	case 5:
		return bringer_memory(NULL, QUOIT_MAX_IMAGE_BYTES + 1, BRINGER_SEALS);
	case 6:
		return bringer_memory(NULL, (size_t)1 << 40, BRINGER_SEALS);
	case 7:
		return open("/dev/zero", O_RDONLY | O_CLOEXEC);
	case 8:
		return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	case 9:
		return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	case 10:
		return pipe_end();
	default:
		return writable_only();
	}
}
#define KINDS 12u

static void what_can_change_or_is_no_memfd_is_refused(struct stage *s)
{
	struct raw_client c;

	if (!bringer_open(s, &c, 0))
		return;
	for (unsigned i = 0; i < 2 * KINDS * stage_times(s, 1, 100); i++) {
		uint16_t type = i & 1 ? QUOIT_CTL_IMAGE_ADD : QUOIT_CTL_KERNEL_ADD;
		unsigned kind = i / 2 % KINDS;
		int res = bringer_ask(s, &c, type, 1, descriptor(kind), NULL);

		if (!CHECK(s, res == (kind >= 4 && kind <= 6 ? -EFBIG : -EINVAL)))
			printf("  kind %u: %d\n", kind, res);
	}
	bringer_expect_works(s, &c);
	bringer_leave(s, &c);
	bringer_await_none(s);
}

/* Its size and contents stay those that were checked, whatever the client tries afterwards. */
static void an_image_cannot_be_changed_while_it_is_loaded(struct stage *s)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_IMAGE_ADD), reply;
	struct raw_client c;

	if (!bringer_open(s, &c, 0))
		return;
	for (unsigned i = 0; i < stage_times(s, 50, 5000) && !s->bad; i++) {
		int fd = bringer_memory("soft", 4, BRINGER_SEALS);

		m.kernels.of = 1;
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, &fd, 1));
		CHECK(s, ftruncate(fd, 0) < 0 && ftruncate(fd, 1 << 20) < 0);
		CHECK(s, pwrite(fd, "hard", 4, 0) < 0);
		CHECK(s, fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4) < 0);
		close(fd);
		CHECK(s, !ctl_get(c.socket, &reply) && !reply.result);
		CHECK(s,
		      !bringer_ask(s, &c, QUOIT_CTL_IMAGE_REMOVE, reply.kernels.index, -1, NULL));
	}
	bringer_leave(s, &c);
	bringer_await_none(s);
}

/* ---- contents ---- */

static void images_of_noise_and_of_holes_are_refused(struct stage *s)
{
	static uint8_t noise[64 << 10];
	struct raw_client c;

	if (!bringer_open(s, &c, 0))
		return;
	for (unsigned i = 0; i < stage_times(s, 20, 2000) && !s->bad; i++) {
		size_t size = 1 + stage_random(s, sizeof noise);

		for (size_t k = 0; k < size; k++)
			noise[k] = (uint8_t)stage_random(s, 256);
		CHECK(s, bringer_ask(s, &c, QUOIT_CTL_IMAGE_ADD, 1,
				     bringer_memory(noise, size, BRINGER_SEALS), NULL) == -ENOEXEC);
		CHECK(s, bringer_ask(s, &c, QUOIT_CTL_IMAGE_ADD, 1,
				     bringer_memory(NULL, QUOIT_MAX_IMAGE_BYTES, BRINGER_SEALS),
				     NULL) == -ENOEXEC);
	}
	bringer_expect_works(s, &c);
	bringer_leave(s, &c);
	bringer_await_none(s);
}

/*
 * Change one bit or byte: quoitd accepts the registration if it is valid, and then it is launched.
 */
static void registrations_of_garbage_are_refused_or_taken(struct stage *s)
{
	struct quoit_kernel_desc d;
	uint32_t image = 0, kernel = 0;
	struct raw_client c;
	unsigned taken = 0;

	if (!bringer_open(s, &c, 0))
		return;
	CHECK(s, !bringer_load(s, &c, &image));
	for (unsigned i = 0; i < stage_times(s, 1500, 100000) && !s->bad; i++) {
		int res;

		d = bringer_good;
		if (i % 3)
			((uint8_t *)&d)[stage_random(s, sizeof d)] ^=
				(uint8_t)(1u << stage_random(s, 8));
		else
			for (size_t k = 0; k < sizeof d; k++)
				((uint8_t *)&d)[k] = (uint8_t)stage_random(s, 256);
		res = bringer_add(s, &c, stage_random(s, 50) ? image : stage_random(s, 1000), &d,
				  &kernel);
		CHECK(s,
		      !res || res == -EINVAL || res == -ENOENT || res == -EBADF || res == -ENFILE);
		if (!res)
			(void)bringer_launch(&c, kernel, 1000);
		taken += !res;
		if (taken > 200) {
			taken = 0;
			CHECK(s, !bringer_ask(s, &c, QUOIT_CTL_IMAGE_REMOVE, image, -1, NULL));
			CHECK(s, !bringer_load(s, &c, &image));
		}
	}
	bringer_expect_works(s, &c);
	bringer_leave(s, &c);
	bringer_await_none(s);
}

static void launches_of_garbage_are_refused_or_run(struct stage *s)
{
	uint32_t image = 0, kernel = 0;
	struct raw_client c;

	if (!bringer_open(s, &c, 0))
		return;
	CHECK(s,
	      !bringer_load(s, &c, &image) && !bringer_add(s, &c, image, &bringer_good, &kernel));
	CHECK(s, !bringer_launch(&c, kernel, 1));
	for (unsigned i = 0; i < stage_times(s, 500, 100000) && !s->bad; i++) {
		struct quoit_sqe sqe = {.opcode = QUOIT_OP_LAUNCH, .tensor = {1}, .scalar = {1}};
		int res;

		sqe.arg = (uint8_t)(stage_random(s, 2) ? kernel : stage_random(s, 256));
		for (unsigned k = 0; k < 2; k++)
			sqe.tensor[stage_random(s, 4)] = stage_random(s, 4);
		sqe.scalar[1] = stage_random(s, 2);
		res = raw_run(&c, sqe);
		CHECK(s, !res || res == -EINVAL || res == -EBADF || res == -QUOIT_EPOISON);
	}
	bringer_leave(s, &c);
	bringer_await_none(s);
}

/* ---- many ---- */

static void a_thousand_loads(struct stage *s)
{
	uint32_t image = 0;
	struct raw_client c;

	if (!bringer_open(s, &c, 0))
		return;
	for (unsigned i = 0; i < stage_times(s, 1000, 20000) && !s->bad; i++) {
		CHECK(s, !bringer_load(s, &c, &image) && image < QUOIT_MAX_IMAGES);
		if (i % 64 == 63) /* now and then all that are allowed */
			while (!s->bad && !bringer_load(s, &c, NULL))
				;
		if (i % 64 == 63)
			for (uint32_t k = 0; k < QUOIT_MAX_IMAGES; k++)
				CHECK(s, !bringer_ask(s, &c, QUOIT_CTL_IMAGE_REMOVE, k, -1, NULL));
		else
			CHECK(s, !bringer_ask(s, &c, QUOIT_CTL_IMAGE_REMOVE, image, -1, NULL));
	}
	bringer_leave(s, &c);
	bringer_await_none(s);
}

/* ---- deaths ---- */

/* The process may be ending because of a dead session's kernel. */
static bool is_death(int res)
{
	return !res || res == -QUOIT_EGPUFAULT;
}

/* Submit a launch, and do not wait for it. */
static void leave_a_launch(struct stage *s, struct raw_client *c, uint64_t ns)
{
	struct quoit_sqe create = raw_vector(1, 16, RAW_ARENA_NOT);
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_LAUNCH, .tensor = {1}, .scalar = {ns}};
	uint32_t image = 0, kernel = 0;
	int res = bringer_load(s, c, &image);

	if (!res)
		res = bringer_add(s, c, image, &bringer_good, &kernel);
	CHECK(s, is_death(res));
	create.device = 1;
	sqe.arg = (uint8_t)kernel;
	CHECK(s, raw_submit(c, &create) && raw_submit(c, &sqe));
}

#define CROWD 16u

static void clients_die_while_they_load_and_launch(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 30, 1000) && !s->bad; i++) {
		struct quoit_ctl m = ctl_request(QUOIT_CTL_IMAGE_ADD);
		int fd = bringer_memory("soft", 4, BRINGER_SEALS);
		struct raw_client c;

		if (!bringer_open(s, &c, 0))
			return;
		if (i & 1)
			leave_a_launch(s, &c, i % 10 == 1 ? UINT64_MAX : 20000000);
		m.kernels.of = 1;
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, &fd, 1));
		close(fd);
		usleep(stage_random(s, 3000));
		stage_die(s, &c);
		/* otherwise as many as possible go at once, and the heap grows with them */
		if (i % CROWD == 0)
			bringer_await_none(s);
	}
	bringer_await_none(s);
}

/* ---- wrong numbers of descriptors ---- */

static void too_many_or_too_few_descriptors_end_the_session(struct stage *s)
{
	static const struct {
		uint16_t type;
		unsigned count;
	} rows[] = {{QUOIT_CTL_IMAGE_ADD, 0},   {QUOIT_CTL_IMAGE_ADD, 2},
		    {QUOIT_CTL_IMAGE_ADD, 253}, {QUOIT_CTL_KERNEL_ADD, 0},
		    {QUOIT_CTL_KERNEL_ADD, 3},  {QUOIT_CTL_IMAGE_REMOVE, 1}};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_ctl m = ctl_request(rows[i].type);
		int fd = bringer_memory("soft", 4, BRINGER_SEALS), fds[253];
		struct raw_client c;

		for (unsigned k = 0; k < 253; k++)
			fds[k] = fd;
		if (!bringer_open(s, &c, 0))
			return;
		m.kernels.of = 1;
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, fds, rows[i].count));
		ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "message");
		close(fd);
	}
	bringer_await_none(s);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(what_can_change_or_is_no_memfd_is_refused),
		STAGE_CASE(an_image_cannot_be_changed_while_it_is_loaded),
		STAGE_CASE(images_of_noise_and_of_holes_are_refused),
		STAGE_CASE(registrations_of_garbage_are_refused_or_taken),
		STAGE_CASE(launches_of_garbage_are_refused_or_run),
		STAGE_CASE(a_thousand_loads),
		STAGE_CASE(clients_die_while_they_load_and_launch),
		STAGE_CASE(too_many_or_too_few_descriptors_end_the_session),
	};
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 2;
	bringer_play(&s, cases, sizeof cases / sizeof cases[0]);
	return stage_end(&s);
}
