/* SPDX-License-Identifier: MIT */
/*
 * hostile_named.c - tensors with names: odd requests, odd memory, odd numbers, and what is done with
 * the memory: cases 104, 106 and 107 of the threat model
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl_client.h"
#include "naming.h"
#include "odd_names.h"
#include "serving.h"

static const struct raw_wish wish = {.host_bytes = 4 << 20, .sq_entries = 64};

/* Ask with good memory. */
static int ask(struct raw_client *c, struct quoit_ctl m)
{
	uint32_t number;

	return naming_make_as(c, m, &number, NULL);
}

/* ---- requests ---- */

static void names_of_all_sorts(struct stage *s)
{
	struct raw_client c;
	uint32_t number;

	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned i = 0; i < BAD_NAMES; i++) {
		struct quoit_ctl m = naming_request("");

		memcpy(m.tensor.name, bad_names[i], sizeof m.tensor.name);
		CHECK(s, ask(&c, m) == -EINVAL);
		CHECK(s, is_plain(c.text));
	}
	for (unsigned i = 0; i < GOOD_NAMES; i++) {
		CHECK(s, !naming_make(&c, good_names[i], &number, NULL) && number == i);
		CHECK(s, ask(&c, naming_request(good_names[i])) == -EEXIST);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

static void odd_words(struct stage *s)
{
	static const struct {
		uint32_t dim[QUOIT_MAX_DIMS];
		uint16_t dtype, flags;
		uint32_t mode, gid, reserved;
		int err;
	} row[] = {
		{{0, 1, 1, 1}, .err = -EINVAL},
		{{1, 1, 1, 0}, .err = -EINVAL},
		{{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, .err = -EINVAL},
		{{1, 1, 1u << 31, 1u << 31}, .err = -EINVAL},
		{{1, 1, 1u << 20, 1u << 22}, .err = -EINVAL}, /* 2^44 bytes */
		{{1, 1, 1u << 20, (1u << 22) - 1}, .err = -EDQUOT},
		{{1, 1, 1, 1}, .dtype = QUOIT_DTYPE_NR, .err = -EINVAL},
		{{1, 1, 1, 1}, .dtype = QUOIT_C64, .err = -EINVAL},
		{{1, 1, 1, 1}, .dtype = UINT16_MAX, .err = -EINVAL},
		{{1, 1, 1, 1}, .flags = QUOIT_SYNC_READ_ONLY, .err = -EINVAL},
		{{1, 1, 1, 1}, .flags = UINT16_MAX, .err = -EINVAL},
		{{1, 1, 1, 1}, .mode = 0777, .err = -EINVAL},
		{{1, 1, 1, 1}, .gid = 1, .err = -EINVAL},
		{{1, 1, 1, 1}, .mode = QUOIT_SERVE_GROUP, .gid = 4000003, .err = -EPERM},
		{{1, 1, 1, 1}, .reserved = 1, .err = -EINVAL},
	};
	struct raw_client c;
	uint8_t *map;
	int fd;

	if (!stage_open(s, &c, &wish))
		return;
	fd = raw_memory(QUOIT_CTL_PAGE, &map);
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		struct quoit_ctl m = naming_request("odd");

		memcpy(m.tensor.dim, row[i].dim, sizeof m.tensor.dim);
		m.tensor.dtype = row[i].dtype;
		m.tensor.flags = row[i].flags;
		m.tensor.mode = row[i].mode;
		m.tensor.gid = row[i].gid;
		m.tensor.reserved = row[i].reserved;
		if (!CHECK(s, raw_call_with(&c, &m, fd, NULL) == row[i].err))
			fprintf(stderr, "row %u: %s\n", i, c.text);
		CHECK(s, is_plain(c.text));
	}
	munmap(map, QUOIT_CTL_PAGE);
	close(fd);
	CHECK(s, !ask(&c, naming_request("odd")));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
	naming_afresh(s);
}

static void wrong_number_of_descriptors(struct stage *s)
{
	struct quoit_ctl m = naming_request("none");
	struct raw_client c;

	if (!stage_open(s, &c, &wish))
		return;
	m.magic = QUOIT_CTL_MAGIC;
	CHECK(s, !ctl_put(c.socket, &m, sizeof m, NULL, 0));
	ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "wrong number of descriptors");
}

/* The first makes the last wait, until its READY. */
static void requests_in_another_order(struct stage *s)
{
	struct quoit_ctl m = naming_request("first"), ready = {.type = QUOIT_CTL_READY};
	struct raw_client c;
	uint8_t *map;
	int fd;

	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, raw_call_with(&c, &ready, -1, NULL) == -EINVAL);
	fd = raw_memory(NAMING_BYTES, &map);
	CHECK(s, !raw_call_with(&c, &m, fd, NULL));
	m = naming_request("second");
	CHECK(s, raw_call_with(&c, &m, fd, NULL) == -EINVAL && strstr(c.text, "too early"));
	CHECK(s, raw_ring_open(&c, 8, 8, 0) == -EINVAL && strstr(c.text, "too early"));
	ready = (struct quoit_ctl){.type = QUOIT_CTL_READY};
	CHECK(s, raw_call_with(&c, &ready, -1, NULL) < 0); /* no seals, no pages */
	CHECK(s, strstr(c.text, "the tensor is refused"));
	ready = (struct quoit_ctl){.type = QUOIT_CTL_READY};
	CHECK(s, raw_call_with(&c, &ready, -1, NULL) == -EINVAL);
	CHECK(s, !ask(&c, naming_request("first")));
	munmap(map, NAMING_BYTES);
	close(fd);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

/* ---- memory ---- */

static int plain_memfd(unsigned seals, uint64_t bytes)
{
	int fd = memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, (off_t)bytes) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void give(struct stage *s, struct raw_client *c, int fd, int err)
{
	struct quoit_ctl m = naming_request("odd"), ready = {.type = QUOIT_CTL_READY};

	if (!CHECK(s, fd >= 0))
		return;
	CHECK(s, raw_call_with(c, &m, fd, NULL) == err);
	if (!err) /* without its pages */
		CHECK(s, raw_call_with(c, &ready, -1, NULL) < 0);
	close(fd);
}

static void memory_of_all_sorts(struct stage *s)
{
	const unsigned size = F_SEAL_SHRINK | F_SEAL_GROW;
	struct raw_client c;
	int pipe_fd[2];

	if (!stage_open(s, &c, &wish))
		return;
	give(s, &c, open("/dev/null", O_RDWR), -EINVAL);
	give(s, &c, open("/dev/zero", O_RDWR), -EINVAL);
	give(s, &c, open("/tmp", O_RDONLY | O_DIRECTORY), -EINVAL);
	CHECK(s, !pipe(pipe_fd));
	give(s, &c, pipe_fd[0], -EINVAL);
	close(pipe_fd[1]);
	give(s, &c, plain_memfd(0, NAMING_BYTES), -EINVAL);
	give(s, &c, plain_memfd(F_SEAL_GROW, NAMING_BYTES), -EINVAL);
	give(s, &c, plain_memfd(size, NAMING_BYTES), 0);
	give(s, &c, plain_memfd(size, 0), 0);
	give(s, &c, plain_memfd(size, 1), 0);
	give(s, &c, plain_memfd(size, UINT64_C(1) << 40), 0);
	give(s, &c, plain_memfd(size | F_SEAL_WRITE, NAMING_BYTES), -EPERM);
	CHECK(s, !ask(&c, naming_request("odd")));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

/* All pages are there, but somebody may map it for writing later, or punch it. */
static void memory_that_is_not_sealed(struct stage *s)
{
	struct quoit_ctl m = naming_request("open"), ready = {.type = QUOIT_CTL_READY};
	struct raw_client c;
	uint8_t *map;
	int fd;

	if (!stage_open(s, &c, &wish))
		return;
	fd = raw_memory(NAMING_BYTES, &map);
	CHECK(s, !raw_call_with(&c, &m, fd, NULL));
	CHECK(s, !raw_fill(fd, map, NAMING_BYTES, 0));
	CHECK(s, raw_call_with(&c, &ready, -1, NULL) < 0 && strstr(c.text, "seals"));
	munmap(map, NAMING_BYTES);
	close(fd);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

/* Those who have it open can read it, and do nothing else to it; nor can its maker. */
static void what_can_be_done_with_it(struct stage *s)
{
	struct raw_client c, other;
	uint32_t number, there;
	float *map, value = -1;
	int fd;

	if (!stage_open(s, &c, &wish) || !stage_open(s, &other, &wish))
		return;
	CHECK(s, !naming_make(&c, "it", &number, &map));
	CHECK(s, !naming_open(&other, "it", QUOIT_SERVICE_OWN, 0, &there));
	fd = naming_memory(&other, there);
	if (!CHECK(s, fd >= 0))
		return;
	map[5] = 25;
	CHECK(s, pread(fd, &value, sizeof value, 5 * sizeof value) == sizeof value && value == 25);
	CHECK(s, pwrite(fd, &value, sizeof value, 0) == -1 && errno == EPERM);
	CHECK(s, mmap(NULL, NAMING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	CHECK(s, fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, NAMING_BYTES) < 0);
	CHECK(s, fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, NAMING_BYTES) < 0);
	CHECK(s, ftruncate(fd, 0) < 0 && ftruncate(fd, 1 << 20) < 0);
	CHECK(s, fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0);
	CHECK(s, madvise(map, NAMING_BYTES, MADV_REMOVE) < 0);
	CHECK(s, !raw_run(&other, naming_create(1, there, NAMING_ELEMENTS)));
	CHECK(s, !raw_run(&other, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
	CHECK(s, map[5] == 0);
	close(fd);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	CHECK(s, !raw_run(&other, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
	munmap(map, NAMING_BYTES);
	CHECK(s, stage_leave(s, &other) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

/* ---- a maker that writes while others compute ---- */

struct scribbler {
	float *map;
	int stop;
};

static void *scribble(void *of)
{
	struct scribbler *w = of;
	uint32_t bits = 1;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED))
		for (unsigned i = 0; i < NAMING_ELEMENTS; i++) {
			bits = bits * 1664525u + 1013904223u;
			memcpy(&w->map[i], &bits, sizeof bits);
		}
	return NULL;
}

/* Also while it is what a job takes as indices. */
static void one_that_is_written_while_jobs_read_it(struct stage *s)
{
	const unsigned n = stage_times(s, 300, 30000);
	struct quoit_ctl m = naming_request("indices");
	struct scribbler w = {0};
	struct raw_client c;
	pthread_t thread;
	uint32_t number;
	int32_t res;

	if (!stage_open(s, &c, &wish))
		return;
	m.tensor.dtype = QUOIT_I32;
	if (!CHECK(s, !naming_make_as(&c, m, &number, &w.map)) ||
	    !CHECK(s, !pthread_create(&thread, NULL, scribble, &w)))
		return;
	CHECK(s, !raw_run(&c, (struct quoit_sqe){.opcode = QUOIT_OP_CREATE,
						 .arg = QUOIT_CREATE_NAMED | QUOIT_I32,
						 .base = {1, number},
						 .dim = {1, 1, 1, NAMING_ELEMENTS}}));
	CHECK(s, !raw_run(&c, raw_vector(2, NAMING_ELEMENTS, RAW_ARENA_NOT)));
	CHECK(s, !raw_run(&c, raw_vector(3, 7, RAW_ARENA_NOT)));
	for (unsigned i = 0; i < n && !s->bad; i++) {
		struct quoit_sqe gather = raw_job(QUOIT_OP_GATHER, 2, 3, 1);

		gather.arg = 3;
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FILL, 3, 0, 0)));
		res = raw_run(&c, gather);
		CHECK(s, !res || res == -ERANGE);
	}
	__atomic_store_n(&w.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	munmap(w.map, NAMING_BYTES);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

/* ---- numbers, and SQEs ---- */

static void creates_of_all_sorts(struct stage *s)
{
	struct raw_client c;
	struct quoit_sqe sqe;
	uint32_t number;

	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, raw_run(&c, naming_create(1, 0, 1)) == -EBADF); /* there is none yet */
	CHECK(s, !naming_make(&c, "it", &number, NULL));
	CHECK(s, raw_run(&c, naming_create(1, number + 1, 1)) == -EBADF);
	CHECK(s, raw_run(&c, naming_create(1, QUOIT_MAX_SERVICES, 1)) == -EBADF);
	CHECK(s, raw_run(&c, naming_create(1, UINT32_MAX, 1)) == -EBADF);
	CHECK(s, raw_run(&c, naming_create(1, number, NAMING_ELEMENTS + 1)) == -EINVAL);
	CHECK(s, raw_run(&c, naming_create(1, number, UINT32_MAX)) == -EINVAL);
	sqe = naming_create(1, number, 2);
	sqe.stride[3] = INT32_MAX;
	CHECK(s, raw_run(&c, sqe) == -EINVAL);
	sqe.stride[3] = -1;
	CHECK(s, raw_run(&c, sqe) == -EINVAL);
	sqe = naming_create(1, number, 1);
	sqe.offset = 4;
	CHECK(s, raw_run(&c, sqe) == -EINVAL);
	sqe.offset = 0;
	sqe.arg = QUOIT_CREATE_NAMED | QUOIT_F64;
	CHECK(s, raw_run(&c, sqe) == -EINVAL);
	for (uint8_t other = QUOIT_CREATE_PINNED; other < QUOIT_CREATE_NAMED; other <<= 1) {
		sqe.arg = (uint8_t)(QUOIT_CREATE_NAMED | other | QUOIT_F32);
		CHECK(s, raw_run(&c, sqe) == -EINVAL);
	}
	sqe = naming_create(1, number, 1);
	sqe.device = 1;
	CHECK(s, raw_run(&c, sqe) < 0);
	CHECK(s, !raw_run(&c, naming_create(1, number, NAMING_ELEMENTS)));
	CHECK(s, raw_run(&c, naming_create(1, number, 1)) == -EEXIST);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

/* It has no functions, whatever its number is called with. */
static void calls_of_it(struct stage *s)
{
	struct raw_client c;
	uint32_t number;

	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, !naming_make(&c, "it", &number, NULL));
	CHECK(s, !raw_run(&c, naming_create(1, number, NAMING_ELEMENTS)));
	for (unsigned f = 0; f < 256; f++) {
		struct quoit_sqe sqe = raw_job(QUOIT_OP_CALL, f % 2, 0, 0);

		sqe.team = (uint8_t)(QUOIT_TEAM_SERVICE + number);
		sqe.function = (uint8_t)f;
		CHECK(s, raw_run(&c, sqe) < 0);
		sqe = raw_job(QUOIT_OP_FILL, 1, 0, 0); /* it is not poisoned any more */
		CHECK(s, !raw_run(&c, sqe));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

static void requests_for_what_is_not_there(struct stage *s)
{
	struct raw_client c;
	uint32_t number, there;

	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, naming_memory(&c, 0) == -EBADF);
	CHECK(s, naming_memory(&c, UINT32_MAX) == -EBADF);
	CHECK(s, naming_open(&c, "it", QUOIT_SERVICE_OWN, 0, &number) == -ENOENT);
	CHECK(s, !naming_make(&c, "it", &number, NULL));
	CHECK(s, naming_open(&c, "it", 12345, 0, &there) == -ENOENT);
	CHECK(s, naming_open(&c, "it", QUOIT_SERVICE_OWN, QUOIT_SYNC_UNDO, &there) == -EINVAL);
	CHECK(s, naming_open(&c, "it", QUOIT_SERVICE_OWN, 0x8000, &there) == -EINVAL);
	CHECK(s, !naming_open(&c, "it", QUOIT_SERVICE_OWN, 0, &there) && there == number);
	CHECK(s, !naming_close(&c, number) && !naming_close(&c, number));
	CHECK(s, naming_close(&c, number) == -EBADF);
	CHECK(s, naming_memory(&c, number) == -EBADF);
	CHECK(s, raw_run(&c, naming_create(1, number, 1)) == -EBADF);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

/* Each reply has a descriptor, which is quoitd's until it is read. */
static void replies_that_nobody_reads(struct stage *s)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_TENSOR_MEMORY};
	struct raw_client c;

	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, !naming_make(&c, "it", &m.tensor_memory.number, NULL));
	ctl_leave_unread(s, &c, &m);
	naming_afresh(s);
}

/* ---- many, and deaths ---- */

static void clients_that_die_while_they_make_one(struct stage *s)
{
	const unsigned n = stage_times(s, 40, 4000);

	for (unsigned i = 0; i < n && !s->bad; i++) {
		struct quoit_ctl m = naming_request("it");
		struct raw_client c;
		uint8_t *map;
		int fd;

		if (!stage_open(s, &c, &wish))
			return;
		fd = raw_memory(NAMING_BYTES, &map);
		m.magic = QUOIT_CTL_MAGIC;
		m.seq = 1000;
		if (i % 4 == 0)
			CHECK(s, !ctl_put(c.socket, &m, sizeof m, &fd, 1));
		else
			CHECK(s, !raw_call_with(&c, &m, fd, NULL));
		if (i % 4 > 1)
			CHECK(s, !raw_fill(fd, map, NAMING_BYTES, m.ring_reply.seals));
		if (i % 4 > 2) {
			m = (struct quoit_ctl){
				.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_READY, .seq = 1001};
			CHECK(s, !ctl_put(c.socket, &m, sizeof m, NULL, 0));
		}
		munmap(map, NAMING_BYTES);
		close(fd);
		stage_die(s, &c);
	}
	naming_afresh(s);
}

/*
 * Jobs of sessions that die one after another may run at once, and write the same bytes, as they
 * may; ThreadSanitizer would call that a race of two reactors.
 */
#ifdef QUOIT_SANITIZE
#define USE raw_job(QUOIT_OP_COPY, 2, 1, 0)
#else
#define USE raw_job(QUOIT_OP_FILL, 1, 0, 0)
#endif

/* With tensors of it, and jobs under way. */
static void clients_that_die_while_they_use_it(struct stage *s)
{
	const unsigned n = stage_times(s, 30, 3000);
	struct raw_client maker;
	uint32_t number, there;
	float *map;

	if (!stage_open(s, &maker, &wish))
		return;
	CHECK(s, !naming_make(&maker, "it", &number, &map));
	for (unsigned i = 0; i < n && !s->bad; i++) {
		struct quoit_sqe use = USE;
		struct raw_client c;

		if (!stage_open(s, &c, &wish))
			return;
		CHECK(s, !naming_open(&c, "it", QUOIT_SERVICE_OWN, 0, &there));
		CHECK(s, !raw_run(&c, naming_create(1, there, NAMING_ELEMENTS)));
		CHECK(s, !raw_run(&c, raw_vector(2, NAMING_ELEMENTS, RAW_ARENA_NOT)));
		for (unsigned k = 0; k < 40; k++)
			CHECK(s, raw_submit(&c, &use));
		if (i % 2)
			CHECK(s, !naming_close(&c, there));
		stage_die(s, &c);
	}
	CHECK(s, !raw_run(&maker, naming_create(1, number, NAMING_ELEMENTS)));
	CHECK(s, !raw_run(&maker, raw_vector(2, NAMING_ELEMENTS, RAW_ARENA_NOT)));
	CHECK(s, !raw_run(&maker, USE));
	munmap(map, NAMING_BYTES);
	CHECK(s, stage_leave(s, &maker) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

static void one_that_is_attached_and_freed_again_and_again(struct stage *s)
{
	const unsigned n = stage_times(s, 2000, 100000);
	struct raw_client c;
	uint32_t number;

	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, !naming_make(&c, "it", &number, NULL));
	for (unsigned i = 0; i < n && !s->bad; i++) {
		CHECK(s, !raw_run(&c, naming_create(1, number, NAMING_ELEMENTS)));
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
		CHECK(s, !raw_run(&c, (struct quoit_sqe){.opcode = QUOIT_OP_FREE, .base = {1}}));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

static void one_that_is_made_again_and_again(struct stage *s)
{
	const unsigned n = stage_times(s, 100, 10000);
	struct raw_client c;
	uint32_t number;

	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned i = 0; i < n && !s->bad; i++) {
		char name[QUOIT_NAME_BYTES];

		snprintf(name, sizeof name, "n%u", i % 3);
		while (naming_make(&c, name, &number, NULL) == -EEXIST)
			usleep(100); /* the one before is going */
		CHECK(s, !naming_close(&c, number));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

static void more_than_a_session_may_have(struct stage *s)
{
	struct raw_client c;
	char name[QUOIT_NAME_BYTES];
	uint32_t number;

	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned i = 0; i < QUOIT_MAX_SERVICES; i++) {
		snprintf(name, sizeof name, "n%u", i);
		CHECK(s, !naming_make(&c, name, &number, NULL) && number == i);
	}
	CHECK(s, naming_make(&c, "more", &number, NULL) == -ENFILE);
	CHECK(s, !naming_close(&c, 5));
	for (unsigned ms = 0; naming_make(&c, "more", &number, NULL) == -ENFILE && ms < 20000; ms++)
		usleep(1000);
	CHECK(s, number == 5);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	naming_afresh(s);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(names_of_all_sorts),
		STAGE_CASE(odd_words),
		STAGE_CASE(wrong_number_of_descriptors),
		STAGE_CASE(requests_in_another_order),
		STAGE_CASE(memory_of_all_sorts),
		STAGE_CASE(memory_that_is_not_sealed),
		STAGE_CASE(what_can_be_done_with_it),
		STAGE_CASE(one_that_is_written_while_jobs_read_it),
		STAGE_CASE(creates_of_all_sorts),
		STAGE_CASE(calls_of_it),
		STAGE_CASE(requests_for_what_is_not_there),
		STAGE_CASE(replies_that_nobody_reads),
		STAGE_CASE(clients_that_die_while_they_make_one),
		STAGE_CASE(clients_that_die_while_they_use_it),
		STAGE_CASE(one_that_is_attached_and_freed_again_and_again),
		STAGE_CASE(one_that_is_made_again_and_again),
		STAGE_CASE(more_than_a_session_may_have),
	};
	static const char *const options[] = {"--reactors=3", NULL};
	static const struct stage_scene scene = {.options = options};

	return stage_main(argc, argv, &scene, cases, sizeof cases / sizeof *cases);
}
