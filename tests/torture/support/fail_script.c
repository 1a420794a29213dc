/* SPDX-License-Identifier: MIT */
/* fail_script.c - run one session, step by step */
#include "fail_script.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ctl_client.h"
#include "scenes.h"

static int call(struct script *p, struct quoit_ctl m, int fd)
{
	struct quoit_ctl answer;
	int err = ctl_ask(p->c.socket, &m, fd, &answer);

	memcpy(p->c.text, answer.text, sizeof p->c.text);
	if (!err && answer.type == QUOIT_CTL_END)
		err = -ECONNRESET;
	return err ? err : answer.result;
}

static int say_hello(struct script *p)
{
	struct quoit_ctl m = ctl_hello();
	int err;

	m.hello.host_bytes = 8 << 20;
	m.hello.pinned_bytes = 1 << 20;
	m.hello.device_bytes = 1 << 20;
	err = call(p, m, -1);
	if (err)
		return err;
	p->departure = DIED;
	p->c.info.arena_bytes = m.hello.arena_bytes;
	err = raw_give_arena(&p->c);
	return err ? err : raw_begin_arena(&p->c);
}

static struct quoit_sqe vector(uint32_t handle, uint32_t n, uint8_t device, uint8_t flags)
{
	struct quoit_sqe sqe = raw_vector(handle, n, RAW_ARENA_NOT);

	sqe.device = device;
	sqe.arg |= flags;
	return sqe;
}

static int run_each(struct script *p, const struct quoit_sqe *jobs, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int res = raw_run(&p->c, jobs[i]);

		if (res < 0)
			return res;
	}
	return 0;
}

enum { BIG = 300000, SMALL = 100 }; /* elements */
enum { PAGEABLE = 1, TINY, PINNED, FAR };

/* Run jobs that need new pages, tiles, and the first file. */
static int run_own_jobs(struct script *p)
{
	const struct quoit_sqe jobs[] = {
		vector(PAGEABLE, BIG, 0, 0),
		vector(TINY, SMALL, 0, 0),
		vector(PINNED, SMALL, 0, QUOIT_CREATE_PINNED),
		{.opcode = QUOIT_OP_UNIFORM, .tensor = {PAGEABLE}, .scalar = {1, 0}},
		{.opcode = QUOIT_OP_UNIFORM, .tensor = {TINY}, .scalar = {1, 0}},
		raw_job(QUOIT_OP_TANH, PAGEABLE, PAGEABLE, 0),
		raw_job(QUOIT_OP_COPY, PINNED, TINY, 0),
		{.opcode = QUOIT_OP_FILE_WRITE, .tensor = {PINNED}, .scalar = {0, 0}},
		raw_job(QUOIT_OP_FREE, PAGEABLE, 0, 0),
	};

	return run_each(p, jobs, sizeof jobs / sizeof jobs[0]);
}

/* Run jobs on executors. */
static int run_far_jobs(struct script *p)
{
	const struct quoit_sqe jobs[] = {
		vector(FAR, SMALL, 1, 0),
		raw_job(QUOIT_OP_MODULE_FIRST, PINNED, TINY, TINY),
		raw_job(QUOIT_OP_COPY, FAR, PINNED, 0),
		raw_job(QUOIT_OP_TANH, FAR, FAR, 0),
		raw_job(QUOIT_OP_COPY, PINNED, FAR, 0),
		raw_job(QUOIT_OP_FREE, PINNED, 0, 0),
	};

	return run_each(p, jobs, sizeof jobs / sizeof jobs[0]);
}

static int use_session(struct script *p, int file)
{
	struct quoit_ctl close_ring = ctl_request(QUOIT_CTL_RING_CLOSE);
	struct quoit_ctl add = ctl_request(QUOIT_CTL_FILE_ADD);
	struct quoit_ctl drop = ctl_request(QUOIT_CTL_FILE_REMOVE);
	struct quoit_ctl leave = ctl_request(QUOIT_CTL_CLOSE);
	int err;

	close_ring.job.ring = 1;
	err = raw_ring_open(&p->c, 8, 0, 0);
	if (!err)
		err = raw_ring_open(&p->c, 8, 0, QUOIT_RING_STAMPS);
	if (!err)
		err = raw_ring_open(&p->c, 8, 0, 0);
	if (!err)
		err = call(p, add, file);
	if (!err)
		err = run_own_jobs(p);
	if (!err && !p->alone)
		err = run_far_jobs(p);
	if (!err)
		err = call(p, drop, -1);
	if (!err)
		err = call(p, close_ring, -1);
	if (!err) {
		p->departure = LEFT; /* once quoitd has read it, even if the answer does not come */
		err = call(p, leave, -1);
	}
	return err;
}

int script_play(struct script *p, const char *socket)
{
	int file = scene_file_on_disk();
	int err = raw_connect(&p->c, socket);

	p->departure = STAYED_OUT;
	if (!err) {
		p->departure = LEFT;
		err = say_hello(p);
		if (!err)
			err = use_session(p, file);
		if (err == -ECONNRESET)
			p->departure =
				strstr(p->c.text, "client") || !p->c.text[0] ? ENDED : REFUSED;
		memcpy(p->text, p->c.text, sizeof p->text);
		raw_close(&p->c);
	}
	close(file);
	return err;
}
