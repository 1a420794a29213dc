/* SPDX-License-Identifier: MIT */
/* naming.c - tensors with names, made and opened by hand */
#include "naming.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl_client.h"

struct quoit_ctl naming_request(const char *name)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_TENSOR,
			      .tensor = {.dtype = QUOIT_F32, .dim = {1, 1, 1, NAMING_ELEMENTS}}};

	memcpy(m.tensor.name, name, strlen(name));
	return m;
}

int naming_make_as(struct raw_client *c, struct quoit_ctl m, uint32_t *ret_number, float **ret_map)
{
	struct quoit_ctl ready = {.type = QUOIT_CTL_READY};
	uint64_t bytes = sizeof(float);
	uint8_t *map;
	int fd, err;

	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		bytes *= m.tensor.dim[i];
	bytes = (bytes + QUOIT_CTL_PAGE - 1) / QUOIT_CTL_PAGE * QUOIT_CTL_PAGE;
	fd = raw_memory(bytes, &map);
	if (fd < 0)
		return -ENOMEM;
	err = raw_call_with(c, &m, fd, NULL);
	if (!err)
		err = raw_fill(fd, map, bytes, m.ring_reply.seals);
	if (!err)
		err = raw_call_with(c, &ready, -1, NULL);
	close(fd);
	if (err || !ret_map)
		munmap(map, bytes);
	if (err)
		return err;
	*ret_number = ready.sync.number;
	if (ret_map)
		*ret_map = (float *)map;
	return 0;
}

int naming_make(struct raw_client *c, const char *name, uint32_t *ret_number, float **ret_map)
{
	return naming_make_as(c, naming_request(name), ret_number, ret_map);
}

int naming_open(struct raw_client *c, const char *name, uint32_t uid, uint16_t flags,
		uint32_t *ret_number)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SYNC,
			      .sync = {.uid = uid, .kind = QUOIT_SYNC_TENSOR, .flags = flags}};
	int err;

	memcpy(m.sync.name, name, strlen(name));
	err = raw_call_with(c, &m, -1, NULL);
	*ret_number = m.sync.number;
	return err;
}

int naming_close(struct raw_client *c, uint32_t number)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICE_CLOSE, .service_function.service = number};

	return raw_call_with(c, &m, -1, NULL);
}

struct quoit_sqe naming_create(uint32_t handle, uint32_t number, uint32_t n)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE,
				.arg = QUOIT_CREATE_NAMED | QUOIT_F32,
				.base = {handle, number},
				.dim = {1, 1, 1, n}};

	return sqe;
}

int naming_memory(struct raw_client *c, uint32_t number)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_TENSOR_MEMORY, .tensor_memory.number = number};
	unsigned count;
	int fd, err = raw_call(c, &m, &fd, 1, &count);

	if (err)
		return err;
	return count == 1 ? fd : -EPROTO;
}

void naming_afresh(struct stage *s)
{
	static const struct raw_wish wish = {.host_bytes = 4 << 20, .sq_entries = 8};
	struct raw_client c;
	uint32_t number;
	float *map;

	if (!stage_open(s, &c, &wish))
		return;
	if (CHECK(s, !naming_make(&c, "afresh", &number, &map))) {
		CHECK(s, !raw_run(&c, naming_create(1, number, NAMING_ELEMENTS)));
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
		CHECK(s, map[NAMING_ELEMENTS - 1] == 0);
		munmap(map, NAMING_BYTES);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}
