/* SPDX-License-Identifier: MIT */
/*
 * files.h - a private quoitd, a session and a file: the same for each way to move a file's bytes.
 */
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <criterion/parameterized.h>

#include <quoit.h>

#include "daemon.h"

#define MIB (UINT64_C(1) << 20)

struct files_case {
	struct daemon d;
	struct quoit_session *s;
	struct quoit_ring *q;
	int fd;   /* an empty file, for reading and writing */
	int file; /* its index */
};

struct files_path {
	char option[16]; /* of quoitd; "" for none */
	bool plain;      /* nothing can be registered */
};

/* By io_uring, with registered buffers and without, and by threads. */
#define FILES_PATHS 3
extern struct files_path files_paths[FILES_PATHS];

enum files_place { PAGEABLE, PINNED, ARENA };

/* A test that is run for each of them: path. */
#define FILES_TEST(suite, test)                                                                    \
	ParameterizedTestParameters(suite, test)                                                   \
	{                                                                                          \
		return cr_make_param_array(struct files_path, files_paths, FILES_PATHS);           \
	}                                                                                          \
	ParameterizedTest(struct files_path *path, suite, test)

struct files_case files_start(const struct files_path *path);
void files_stop(struct files_case *f);

/* One more session on its quoitd, with a file of its own: f->d is given. */
void files_open_session(struct files_case *f);

/* A job's result. */
int files_run(struct files_case *f, struct quoit_sqe sqe);

/* Bytes to be told from others; the caller's. */
uint8_t *files_pattern(size_t bytes, unsigned seed);

/* The file has these bytes and no others. */
void files_fill(struct files_case *f, const uint8_t *bytes, size_t size);

void files_expect_zeros(const uint8_t *p, size_t size);
quoit_tensor files_create(struct files_case *f, enum files_place place, uint32_t words);

/* A file of `size` bytes read at `offset` into words that held something else. */
void files_check_read(struct files_case *f, enum files_place place, size_t size, uint64_t offset,
		      uint32_t words);

#endif
