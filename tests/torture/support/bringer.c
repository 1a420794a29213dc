/* SPDX-License-Identifier: MIT */
/* bringer.c - open a client that brings kernels */
#include "bringer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scenes.h"

#define PATIENCE_MS 60000

const struct quoit_kernel_desc bringer_good = {
	.name = "spin",
	.grid = {1, 1, 1},
	.block = {1, 1, 1},
	.access = "M---",
	.args = 1,
	.arg = {{.kind = QUOIT_ARG_SCALAR, .bytes = 8}},
};

void bringer_play(struct stage *s, const struct stage_case *cases, unsigned count)
{
	static const char *const options[] = {"--gpu=soft", "--gpu-lease=1M", "--log=error", NULL};
	const struct stage_scene scene = {.options = options};

	setenv("QUOIT_SOFT_BYTES", "64M", 1);
	stage_play(s, &scene, cases, count);
}

int bringer_hello(struct stage *s, struct raw_client *c, uid_t uid)
{
	struct quoit_ctl m = ctl_hello();
	int res;

	if (!CHECK(s, !ctl_connect_as(c, s->daemon.socket, uid)))
		return -ECONNREFUSED;
	m.hello.features = QUOIT_FEATURE_KERNELS;
	res = raw_call_with(c, &m, -1, NULL);
	c->info = m.hello_reply;
	if (!res)
		res = raw_give_arena(c);
	return res ? res : raw_begin_arena(c);
}

bool bringer_open(struct stage *s, struct raw_client *c, uid_t uid)
{
	return CHECK(s, !bringer_hello(s, c, uid)) &&
	       CHECK(s, c->info.features & QUOIT_FEATURE_KERNELS) &&
	       CHECK(s, !raw_ring_open(c, 64, 0, 0));
}

static FILE *open_topology(const struct stage *s)
{
	char path[200];

	snprintf(path, sizeof path, "%s/%s", s->daemon.folder, QUOIT_STATS_TOPOLOGY);
	return fopen(path, "re");
}

/*
 * Find the pid in the first line that begins so.  0: there is none; -1: there is no line at all,
 * the file is being written.
 */
static pid_t find_process(const struct stage *s, const char *start)
{
	FILE *f = open_topology(s);
	char line[1024];
	pid_t pid = -1;

	while (f && pid <= 0 && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, ", pid ");

		pid = 0;
		if (!strncmp(line, start, strlen(start)) && at)
			pid = (pid_t)strtol(at + strlen(", pid "), NULL, 10);
	}
	if (f)
		fclose(f);
	return pid;
}

pid_t bringer_await_process(struct stage *s, uid_t uid, pid_t before)
{
	uid_t ours = stage_has_users() ? SCENE_MALLORY : getuid();
	char start[48];
	pid_t pid = 0;

	snprintf(start, sizeof start, "own device 1 of uid %u: ", (unsigned)(uid ? uid : ours));
	for (int ms = 0; (pid <= 0 || pid == before) && ms < PATIENCE_MS; ms += 5) {
		pid = find_process(s, start);
		usleep(5000);
	}
	CHECK(s, pid > 0 && pid != before);
	return pid;
}

void bringer_await_none(struct stage *s)
{
	pid_t pid = 1;

	for (int ms = 0; pid && ms < PATIENCE_MS; ms += 10) {
		pid = find_process(s, "own device");
		usleep(10000);
	}
	CHECK(s, !pid);
}

void bringer_leave(struct stage *s, struct raw_client *c)
{
	CHECK(s, stage_leave(s, c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

int bringer_memory(const void *bytes, size_t size, int seals)
{
	int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (ftruncate(fd, (off_t)size) < 0 ||
	    (bytes && pwrite(fd, bytes, size, 0) != (ssize_t)size) ||
	    (seals && fcntl(fd, F_ADD_SEALS, seals) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

int bringer_ask(struct stage *s, struct raw_client *c, uint16_t type, uint32_t of, int fd,
		uint32_t *ret_index)
{
	struct quoit_ctl m = ctl_request(type), reply = {0};

	m.kernels.of = of;
	if (!CHECK(s, !ctl_ask(c->socket, &m, fd, &reply)))
		return -ECONNRESET;
	close(fd);
	if (!CHECK(s, reply.type == type && reply.result <= 0))
		printf("  %u: %d %.112s\n", reply.type, reply.result, reply.text);
	if (!CHECK(s, !reply.result == !reply.text[0]))
		printf("  %d '%.112s'\n", reply.result, reply.text);
	for (const char *p = reply.text; *p; p++)
		CHECK(s, *p >= ' ' && *p <= '~');
	if (ret_index)
		*ret_index = reply.kernels.index;
	return reply.result;
}

int bringer_load(struct stage *s, struct raw_client *c, uint32_t *ret)
{
	return bringer_ask(s, c, QUOIT_CTL_IMAGE_ADD, 1, bringer_memory("soft", 4, BRINGER_SEALS),
			   ret);
}

int bringer_add(struct stage *s, struct raw_client *c, uint32_t image,
		const struct quoit_kernel_desc *d, uint32_t *ret)
{
	return bringer_ask(s, c, QUOIT_CTL_KERNEL_ADD, image,
			   bringer_memory(d, sizeof *d, BRINGER_SEALS), ret);
}

int bringer_launch(struct raw_client *c, uint32_t kernel, uint64_t ns)
{
	struct quoit_sqe sqe = {
		.opcode = QUOIT_OP_LAUNCH, .arg = (uint8_t)kernel, .tensor = {1}, .scalar = {ns}};
	struct quoit_sqe create = raw_vector(1, 16, RAW_ARENA_NOT);

	create.device = 1;
	(void)raw_run(c, create);                          /* it may exist */
	(void)raw_run(c, raw_job(QUOIT_OP_FILL, 1, 0, 0)); /* with an older one's contents */
	return raw_run(c, sqe);
}

void bringer_expect_works(struct stage *s, struct raw_client *c)
{
	uint32_t image = 0, kernel = 0;

	CHECK(s, !bringer_load(s, c, &image));
	CHECK(s, !bringer_add(s, c, image, &bringer_good, &kernel));
	CHECK(s, !bringer_launch(c, kernel, 1000));
	CHECK(s, !bringer_ask(s, c, QUOIT_CTL_IMAGE_REMOVE, image, -1, NULL));
}
