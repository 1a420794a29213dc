/* SPDX-License-Identifier: MIT */
/* files.c - open a private quoitd, a session and a file */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "refuse.h"

struct files_path files_paths[FILES_PATHS] = {{""}, {"", .plain = true}, {"--no-io-uring"}};

static void refuse_to_register(const struct daemon *d)
{
	static const struct refused_call call = {SYS_io_uring_register, 0, 0};

	(void)d;
	refuse_calls(&call, 1, EPERM);
}

void files_open_session(struct files_case *f)
{
	struct quoit_open_params p = {.socket = f->d.socket,
				      .host_bytes = 128 * MIB,
				      .arena_bytes = 16 * MIB,
				      .pinned_bytes = 32 * MIB};

	cr_assert_eq(quoit_open(&p, &f->s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(f->s, NULL, &f->q), 0);
	f->fd = open(f->d.folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	cr_assert_geq(f->fd, 0);
	f->file = quoit_add_file(f->s, f->fd);
	cr_assert_geq(f->file, 0);
}

struct files_case files_start(const struct files_path *path)
{
	const char *options[] = {*path->option ? path->option : NULL, NULL};
	struct files_case f = {0};

	cr_assert_eq(daemon_start_prepared(&f.d, options, path->plain ? refuse_to_register : NULL),
		     0);
	files_open_session(&f);
	return f;
}

void files_stop(struct files_case *f)
{
	close(f->fd);
	quoit_close(f->s, 0);
	daemon_stop(&f->d);
}

int files_run(struct files_case *f, struct quoit_sqe sqe)
{
	quoit_job job;
	int err = quoit_start(f->q, sqe, &job);

	return err ? err : quoit_wait(f->q, job, QUOIT_FOREVER);
}

uint8_t *files_pattern(size_t bytes, unsigned seed)
{
	uint8_t *p = malloc(bytes + 1);
	uint32_t x = seed * 2654435761u + 1;

	for (size_t i = 0; i < bytes; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = (uint8_t)(x >> 24);
	}
	return p;
}

void files_fill(struct files_case *f, const uint8_t *bytes, size_t size)
{
	cr_assert_eq(ftruncate(f->fd, 0), 0);
	cr_assert_eq(pwrite(f->fd, bytes, size, 0), (ssize_t)size);
}

void files_expect_zeros(const uint8_t *p, size_t size)
{
	cr_expect(size == 0 || (p[0] == 0 && !memcmp(p, p + 1, size - 1)),
		  "a rest that is not zero");
}

quoit_tensor files_create(struct files_case *f, enum files_place place, uint32_t words)
{
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, words}};

	if (place == ARENA)
		return quoit_create_in(f->q, &shape, quoit_alloc(f->s, words * 4 + 1));
	return quoit_create(f->q, &shape, place == PINNED ? QUOIT_CREATE_PINNED : 0);
}

void files_check_read(struct files_case *f, enum files_place place, size_t size, uint64_t offset,
		      uint32_t words)
{
	uint8_t *want = files_pattern(size, (unsigned)size), *got = malloc(words * 4 + 1);
	size_t here = offset < size ? size - offset : 0;
	quoit_tensor t = files_create(f, place, words);

	if (here > words * 4)
		here = words * 4;
	files_fill(f, want, size);
	cr_assert_eq(quoit_push(f->q, quoit_fill_int(t, -1)), 0);
	cr_expect_eq(files_run(f, quoit_read_file(t, f->file, offset)), (int)here,
		     "%zu bytes from %lu into %u words", size, (unsigned long)offset, words);
	cr_assert_eq(quoit_read(f->q, t, got, words * 4), 0);
	cr_expect(!here || !memcmp(got, want + offset, here), "other bytes");
	files_expect_zeros(got + here, words * 4 - here);
	quoit_free(f->q, t);
	free(want);
	free(got);
}
