/* SPDX-License-Identifier: MIT */
/*
 * test_files.c - FILE_READ and FILE_WRITE move the same bytes by io_uring with registered buffers,
 * by io_uring without, and by threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "files.h"

FILES_TEST(files, read_counts_the_bytes_up_to_the_end_of_the_file_and_clears_the_rest)
{
	static const struct {
		size_t size;
		uint64_t offset;
		uint32_t words;
	} row[] = {
		{0, 0, 1},
		{100, 0, 0},
		{1, 0, 1},
		{4096, 0, 1024},
		{4097, 0, 1024},
		{4097, 0, 1025},
		{4097, 1, 1024},
		{4097, 4096, 1024},
		{4097, 4097, 16},
		{4097, 1000000, 16},
		{100, UINT64_C(1) << 40, 16},
		{65536, 0, 16384},
		{65537, 0, 16385},
		{8 * MIB + 13, 0, 2 * MIB + 4},
		{8 * MIB + 13, 5, 2 * MIB},
		{20 * MIB + 1, 0, 5 * MIB + 1},
	};
	struct files_case f = files_start(path);

	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++)
		for (enum files_place place = PAGEABLE; place <= PINNED; place++)
			files_check_read(&f, place, row[i].size, row[i].offset, row[i].words);
	files_stop(&f);
}

FILES_TEST(files, write_puts_all_words_at_the_offset)
{
	static const struct {
		uint32_t words;
		uint64_t offset;
	} row[] = {{0, 0}, {1, 0}, {1024, 1}, {16385, 4096}, {2 * MIB + 3, 13}, {5 * MIB, 0}};
	struct files_case f = files_start(path);

	for (unsigned i = 0; i < 2 * sizeof row / sizeof row[0]; i++) {
		enum files_place place = i % 2 ? PINNED : PAGEABLE;
		uint32_t words = row[i / 2].words;
		uint64_t offset = row[i / 2].offset;
		size_t bytes = words * 4;
		uint8_t *want = files_pattern(bytes, i), *got = malloc(bytes + 1);
		quoit_tensor t = files_create(&f, place, words);

		cr_assert_eq(ftruncate(f.fd, 0), 0);
		cr_assert_eq(quoit_write(f.q, t, want, bytes), 0);
		cr_expect_eq(files_run(&f, quoit_write_file(t, f.file, offset)), (int)bytes);
		cr_expect_eq(lseek(f.fd, 0, SEEK_END), bytes ? (off_t)(offset + bytes) : 0);
		cr_expect_eq(pread(f.fd, got, bytes, (off_t)offset), (ssize_t)bytes);
		for (size_t k = 0; k < bytes; k++)
			if (got[k] != want[k]) {
				cr_expect(0, "row %u byte %zu", i / 2, k);
				break;
			}
		quoit_free(f.q, t);
		free(want);
		free(got);
	}
	files_stop(&f);
}

FILES_TEST(files, tensor_may_lie_in_any_kind_of_memory)
{
	struct files_case f = files_start(path);

	for (enum files_place place = PAGEABLE; place <= ARENA; place++) {
		files_check_read(&f, place, 70001, 3, 18000);
		files_check_read(&f, place, 3 * MIB + 1, 0, MIB);
	}
	files_stop(&f);
}

FILES_TEST(files, tensor_never_written_is_written_to_the_file_as_zeros)
{
	struct files_case f = files_start(path);
	uint8_t *old = files_pattern(MIB, 1), *got = malloc(MIB);

	for (int i = 0; i < 3; i++) { /* from the second on, in pages that were used before */
		quoit_tensor t = files_create(&f, PAGEABLE, MIB / 4),
			     used = files_create(&f, PINNED, MIB / 4);

		files_fill(&f, old, MIB);
		cr_expect_eq(files_run(&f, quoit_write_file(t, f.file, 0)), (int)MIB);
		cr_expect_eq(pread(f.fd, got, MIB, 0), (ssize_t)MIB);
		files_expect_zeros(got, MIB);
		files_fill(&f, old, MIB);
		cr_expect_eq(files_run(&f, quoit_write_file(used, f.file, 0)), (int)MIB);
		cr_expect_eq(pread(f.fd, got, MIB, 0), (ssize_t)MIB);
		files_expect_zeros(got, MIB);
		quoit_push(f.q, quoit_fill_int(t, 7));
		quoit_push(f.q, quoit_fill_int(used, 7));
		quoit_free(f.q, t);
		quoit_free(f.q, used);
	}
	files_stop(&f);
	free(old);
	free(got);
}

FILES_TEST(files, transfers_and_computations_on_the_same_bytes_keep_their_order)
{
	enum { STEPS = 40, WORDS = 300000 };
	struct files_case f = files_start(path);
	int32_t *got = malloc(WORDS * 4), *want = calloc(WORDS, 4);
	quoit_tensor t = files_create(&f, PAGEABLE, WORDS);

	files_fill(&f, (const uint8_t *)want, WORDS * 4);
	for (int i = 0; i < STEPS; i++) {
		cr_assert_eq(quoit_push(f.q, quoit_read_file(t, f.file, (uint64_t)i * WORDS * 4)),
			     0);
		cr_assert_eq(quoit_push(f.q, quoit_add_int(t, t, i + 1)), 0);
		cr_assert_eq(
			quoit_push(f.q, quoit_write_file(t, f.file, (uint64_t)(i + 1) * WORDS * 4)),
			0);
		/*
		 * Quoit does not order jobs by a file's bytes: the next read must wait explicitly.
		 */
		cr_assert_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0);
	}
	cr_expect_eq(quoit_count_failures(f.q, NULL), 0);
	for (int i = 0; i <= STEPS; i++) {
		for (int j = 0; j < WORDS; j++)
			want[j] = i * (i + 1) / 2;
		cr_expect_eq(pread(f.fd, got, WORDS * 4, (off_t)i * WORDS * 4), WORDS * 4);
		cr_expect(!memcmp(got, want, WORDS * 4), "step %d", i);
	}
	files_stop(&f);
	free(got);
	free(want);
}

FILES_TEST(files, hundreds_of_transfers_may_be_under_way)
{
	enum { JOBS = 200, WORDS = 20000 };
	struct files_case f = files_start(path);
	uint8_t *want = files_pattern(JOBS * 101 + WORDS * 4, 3), *got = malloc(WORDS * 4);
	quoit_tensor t[JOBS];
	quoit_job job[JOBS];

	files_fill(&f, want, JOBS * 101 + WORDS * 4);
	for (unsigned i = 0; i < JOBS; i++) {
		t[i] = files_create(&f, PAGEABLE, WORDS);
		cr_assert_eq(quoit_start(f.q, quoit_read_file(t[i], f.file, i * 101), &job[i]), 0);
	}
	for (unsigned i = 0; i < JOBS; i++) {
		cr_expect_eq(quoit_wait(f.q, job[i], QUOIT_FOREVER), WORDS * 4);
		cr_assert_eq(quoit_read(f.q, t[i], got, WORDS * 4), 0);
		cr_expect(!memcmp(got, want + i * 101, WORDS * 4), "job %u", i);
	}
	files_stop(&f);
	free(want);
	free(got);
}

FILES_TEST(files, file_that_shrinks_meanwhile_gives_a_short_count)
{
	enum { JOBS = 8, WORDS = 2 * MIB, LEFT = MIB + 5 };
	struct files_case f = files_start(path);
	uint8_t *want = files_pattern(WORDS * 4, 4), *got = malloc(WORDS * 4);
	quoit_tensor t[JOBS];
	quoit_job job[JOBS];

	files_fill(&f, want, WORDS * 4);
	for (unsigned i = 0; i < JOBS; i++) {
		t[i] = files_create(&f, PAGEABLE, WORDS);
		cr_assert_eq(quoit_start(f.q, quoit_read_file(t[i], f.file, 0), &job[i]), 0);
		quoit_flush(f.q);
	}
	cr_assert_eq(ftruncate(f.fd, LEFT), 0);
	for (unsigned i = 0; i < JOBS; i++) {
		int n = quoit_wait(f.q, job[i], QUOIT_FOREVER);

		cr_assert(n >= LEFT && n <= (int)WORDS * 4, "%d", n);
		cr_assert_eq(quoit_read(f.q, t[i], got, WORDS * 4), 0);
		cr_expect(!memcmp(got, want, LEFT));
		files_expect_zeros(got + n, WORDS * 4 - (unsigned)n);
	}
	files_stop(&f);
	free(want);
	free(got);
}

FILES_TEST(files, view_in_the_middle_is_all_that_a_read_touches)
{
	struct files_case f = files_start(path);
	struct quoit_shape middle = {
		.dtype = QUOIT_I32, .dim = {1, 1, 1, 1000}, .stride = {1000, 1000, 1000, 1}};
	quoit_tensor t = files_create(&f, PAGEABLE, 3000), view = quoit_view(f.q, t, &middle, 4000);
	int32_t got[3000];
	uint8_t *bytes = files_pattern(2000, 6);

	files_fill(&f, bytes, 2000);
	cr_assert_eq(quoit_push(f.q, quoit_fill_int(t, 5)), 0);
	cr_expect_eq(files_run(&f, quoit_read_file(view, f.file, 0)), 2000);
	cr_assert_eq(quoit_read(f.q, t, got, sizeof got), 0);
	cr_expect(!memcmp(got + 1000, bytes, 2000));
	files_expect_zeros((const uint8_t *)(got + 1500), 2000);
	for (unsigned i = 0; i < 1000; i++)
		cr_assert(got[i] == 5 && got[2000 + i] == 5, "word %u", i);
	files_stop(&f);
	free(bytes);
}

/* The region is registered in parts of 4 MiB. */
FILES_TEST(files, transfer_may_cross_the_parts_of_the_pinned_region_anywhere)
{
	enum { BYTES = 9 * MIB + 8, SPACE = 20 * MIB };
	static const uint32_t before[] = {4, 1000, 4092, 4096, 5000, 0};
	struct files_case f = files_start(path);
	struct quoit_shape middle = {.dtype = QUOIT_I32,
				     .dim = {1, 1, 1, BYTES / 4},
				     .stride = {BYTES / 4, BYTES / 4, BYTES / 4, 1}};
	quoit_tensor t = files_create(&f, PINNED, SPACE / 4);
	uint8_t *want = files_pattern(BYTES, 8), *got = malloc(SPACE);

	for (unsigned i = 0; i < sizeof before / sizeof before[0]; i++) {
		size_t at = 4 * MIB - before[i];
		quoit_tensor view = quoit_view(f.q, t, &middle, at);

		files_fill(&f, want, BYTES);
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(t, 0)), 0);
		cr_expect_eq(files_run(&f, quoit_read_file(view, f.file, 0)), (int)BYTES);
		cr_assert_eq(quoit_read(f.q, t, got, SPACE), 0);
		cr_expect(!memcmp(got + at, want, BYTES), "read %u before", before[i]);
		files_expect_zeros(got, at);
		files_expect_zeros(got + at + BYTES, SPACE - at - BYTES);
		cr_expect_eq(files_run(&f, quoit_write_file(view, f.file, 77)), (int)BYTES);
		cr_expect_eq(pread(f.fd, got, BYTES, 77), (ssize_t)BYTES);
		cr_expect(!memcmp(got, want, BYTES), "written %u before", before[i]);
		quoit_free(f.q, view);
	}
	files_stop(&f);
	free(want);
	free(got);
}

Test(files, tensor_with_gaps_is_refused)
{
	struct files_case f = files_start(&files_paths[0]);
	struct quoit_shape columns = {
		.dtype = QUOIT_I32, .dim = {1, 1, 8, 4}, .stride = {64, 64, 8, 1}};
	quoit_tensor t = quoit_create_matrix(f.q, QUOIT_I32, 8, 8),
		     half = quoit_view(f.q, t, &columns, 0);

	cr_expect_eq(files_run(&f, quoit_write_file(half, f.file, 0)), -EINVAL);
	cr_expect_eq(files_run(&f, quoit_write_file(t, f.file, 0)), 256);
	cr_expect_eq(files_run(&f, quoit_read_file(half, f.file, 0)), -EINVAL);
	files_stop(&f);
}
