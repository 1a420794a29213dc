/* SPDX-License-Identifier: MIT */
/* files.h - open a private quoitd, a session and a file, for each way to move a file's bytes. */
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
	int fd;   /* a file, empty at first, open for reading and writing */
	int file; /* its index in the session */
};

struct files_path {
	char option[16]; /* an option of quoitd; "": none */
	bool plain;      /* buffers cannot be registered */
};

/* The ways: io_uring with registered buffers, io_uring without, and threads. */
#define FILES_PATHS 3
extern struct files_path files_paths[FILES_PATHS];

enum files_place { PAGEABLE, PINNED, ARENA };

/* A test that is run for each way: `path`. */
#define FILES_TEST(suite, test)                                                                    \
	ParameterizedTestParameters(suite, test)                                                   \
	{                                                                                          \
		return cr_make_param_array(struct files_path, files_paths, FILES_PATHS);           \
	}                                                                                          \
	ParameterizedTest(struct files_path *path, suite, test)

struct files_case files_start(const struct files_path *path);
void files_stop(struct files_case *f);

/* Open one more session of f->d, which the caller sets, with a file of its own. */
void files_open_session(struct files_case *f);

/* Run a job: its result. */
int files_run(struct files_case *f, struct quoit_sqe sqe);

/* A recognisable pattern of bytes; the caller frees it. */
uint8_t *files_pattern(size_t bytes, unsigned seed);

/* Give the file exactly these bytes. */
void files_fill(struct files_case *f, const uint8_t *bytes, size_t size);

void files_expect_zeros(const uint8_t *p, size_t size);
quoit_tensor files_create(struct files_case *f, enum files_place place, uint32_t words);

/* Read a file of `size` bytes at `offset` into words that held something else, and check them. */
void files_check_read(struct files_case *f, enum files_place place, size_t size, uint64_t offset,
		      uint32_t words);

#endif
