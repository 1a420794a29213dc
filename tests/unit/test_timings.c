/* SPDX-License-Identifier: MIT */
/* test_timings.c - quoitd's file of histograms, as quoitd writes it and as others may */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "observe/histograms.h"
#include "observe/reactor_histograms.h"
#include "read/buckets.h"
#include "read/rates.h"
#include "read/timings.h"

#define COUNT_BYTES (QUOIT_LATENCY_BUCKETS * sizeof(uint64_t))
#define ROWS        3

/* ---- a file of another version: longer rows, longer blocks, and unknown things ---- */

struct row {
	struct quoit_histogram_row ours;
	uint8_t more[24];
};

struct block {
	struct quoit_operation_totals ours;
	uint64_t more;
};

struct file {
	struct quoit_histograms head;
	uint8_t more_head[40];
	struct row row[ROWS];
	struct block block[2][3]; /* of two reactors, three operations */
	uint64_t count[ROWS][QUOIT_LATENCY_BUCKETS];
};

static struct file file;

static void make_row(unsigned i, const char *label, uint32_t of, uint32_t number, uint32_t reactor)
{
	file.row[i].ours =
		(struct quoit_histogram_row){.of = of, .number = number, .reactor = reactor};
	strcpy(file.row[i].ours.label, label);
}

static void make_file(void)
{
	memset(&file, 0, sizeof file);
	memset(file.more_head, 0x77, sizeof file.more_head);
	file.head.header = (struct quoit_stats_header){.magic = QUOIT_STATS_MAGIC,
						       .version = QUOIT_STATS_VERSION,
						       .header_bytes = offsetof(struct file, row),
						       .file_bytes = sizeof file,
						       .label_bytes = QUOIT_LABEL_BYTES,
						       .tsc_hz = 1000000000,
						       .reactors = 2};
	file.head.buckets = QUOIT_LATENCY_BUCKETS;
	file.head.parts = QUOIT_LATENCY_PARTS;
	file.head.rows = ROWS;
	file.head.row_bytes = sizeof(struct row);
	file.head.rows_at = offsetof(struct file, row);
	file.head.counts_at = offsetof(struct file, count);
	file.head.operations = 3;
	file.head.operation_bytes = sizeof(struct block);
	file.head.operations_at = offsetof(struct file, block);
	make_row(0, "fetch_to_end", QUOIT_OF_REACTOR, 0, 0);
	make_row(1, "fetch_to_end", QUOIT_OF_REACTOR, 1, 1);
	make_row(2, "fetch_to_end", 99, 0, 0); /* of a kind that is not known yet */
}

static void count(unsigned row, uint64_t ticks, uint64_t jobs)
{
	file.count[row][quoit_latency_bucket(ticks)] += jobs;
}

/* Parse a copy with no memory behind it, which a sanitizer watches. */
static int parse(size_t size, struct timings *ret)
{
	void *copy = malloc(size ? size : 1);
	int err;

	memcpy(copy, &file, size);
	err = timings_parse(copy, size, ret);
	if (err)
		free(copy);
	return err;
}

Test(timings, what_is_not_known_is_skipped)
{
	struct quoit_operation_totals o;
	struct timings t;

	make_file();
	count(0, 1000, 1);
	count(1, 5000, 3);
	count(2, 999999, 1000);
	for (unsigned r = 0; r < 2; r++)
		file.block[r][2] = (struct block){{.jobs = 10, .timed = 4, .ticks = 5, .bytes = 7},
						  .more = 1000};
	cr_assert_eq(parse(sizeof file, &t), 0);
	cr_expect_float_eq(timings_percentile(NULL, &t, -1, 100), 5000, 50);
	cr_expect_float_eq(timings_percentile(NULL, &t, 0, 100), 1000, 10);
	cr_expect_lt(timings_percentile(NULL, &t, 2, 50), 0, "there is no such reactor");
	cr_assert(timings_operation(&t, 2, &o));
	cr_expect_eq(o.jobs, 20);
	cr_expect_eq(o.timed, 8);
	cr_expect_eq(o.ticks, 10);
	cr_expect_eq(o.bytes, 14);
	cr_expect_not(timings_operation(&t, 3, &o), "the file has three");
	timings_free(&t);
}

Test(timings, percentiles_are_of_what_came_between)
{
	struct timings from, to;

	make_file();
	count(0, 1000, 100);
	cr_assert_eq(parse(sizeof file, &from), 0);
	count(0, 90000, 10);
	cr_assert_eq(parse(sizeof file, &to), 0);
	cr_expect_float_eq(timings_percentile(NULL, &to, -1, 50), 1000, 10);
	cr_expect_float_eq(timings_percentile(&from, &to, -1, 50), 90000, 900);
	cr_expect_lt(timings_percentile(&to, &to, -1, 50), 0, "nothing came");
	timings_free(&from);
	cr_expect_lt(timings_percentile(&from, &to, -1, 50), 0, "there was no file");
	timings_free(&to);
}

Test(timings, rates_have_percentiles_in_seconds)
{
	struct timings t;
	struct rates r = {0};

	make_file();
	count(0, 1000, 60);
	count(1, 5000, 40);
	cr_assert_eq(parse(sizeof file, &t), 0);
	rates_add_timings(NULL, &t, -1, &r);
	cr_expect(r.known[RATE_P50_OF] && r.known[RATE_P99_OF]);
	cr_expect_float_eq(r.value[RATE_P50_OF], 1000e-9, 10e-9);
	cr_expect_float_eq(r.value[RATE_P99_OF], 5000e-9, 50e-9);
	rates_add_timings(NULL, &t, 0, &r);
	cr_expect_float_eq(r.value[RATE_P99_OF], 1000e-9, 10e-9, "of the first reactor alone");
	rates_add_timings(&t, &t, -1, &r);
	cr_expect_not(r.known[RATE_P50_OF] || r.known[RATE_P99_OF], "nothing came");
	timings_free(&t);
	make_file();
	count(0, 0, 1);
	cr_assert_eq(parse(sizeof file, &t), 0);
	rates_add_timings(NULL, &t, -1, &r);
	cr_expect(r.known[RATE_P50_OF] && r.known[RATE_P99_OF], "no time at all is known, too");
	timings_free(&t);
}

/* ---- garbage ---- */

#define EXPECT_REFUSED(damage, err)                                                                \
	do {                                                                                       \
		struct timings t;                                                                  \
                                                                                                   \
		make_file();                                                                       \
		damage;                                                                            \
		cr_expect_eq(parse(sizeof file, &t), (err), "%s", #damage);                        \
	} while (0)

Test(timings, files_that_contradict_themselves_are_refused)
{
	EXPECT_REFUSED(file.head.header.magic++, -EBADMSG);
	EXPECT_REFUSED(file.head.header.version++, -EPROTONOSUPPORT);
	EXPECT_REFUSED(file.head.buckets--, -EPROTONOSUPPORT);
	EXPECT_REFUSED(file.head.parts = 32, -EPROTONOSUPPORT);
	EXPECT_REFUSED(file.head.header.file_bytes++, -EBADMSG);
	EXPECT_REFUSED(file.head.header.header_bytes = 8, -EBADMSG);
	EXPECT_REFUSED(file.head.header.reactors = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.head.rows++, -EBADMSG);
	EXPECT_REFUSED(file.head.rows = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.head.row_bytes = 8, -EBADMSG);
	EXPECT_REFUSED(file.head.row_bytes = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.head.rows_at = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.head.counts_at++, -EBADMSG);
	EXPECT_REFUSED(file.head.operations = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.head.operation_bytes = 8, -EBADMSG);
	EXPECT_REFUSED(file.head.operations_at = sizeof file - 8, -EBADMSG);
}

Test(timings, files_cut_short_are_refused)
{
	struct timings t;

	make_file();
	for (size_t size = 0; size < sizeof file; size += size < 1024 ? 1 : 509)
		cr_assert_lt(parse(size, &t), 0, "%zu", size);
}

/* ---- as quoitd makes it ---- */

static char folder[] = "/tmp/quoit-timings-XXXXXX";

static int open_folder(void)
{
	cr_assert(mkdtemp(folder));
	return open(folder, O_RDONLY | O_DIRECTORY);
}

/* Each count has its place, and none has another's. */
Test(timings, what_quoitd_counts_is_told_by_its_name)
{
	int directory = open_folder();
	struct histograms *h = histograms_open(directory, 2, 3, 4);
	uint64_t all[QUOIT_LATENCY_BUCKETS];
	struct timings t;

	cr_assert(h);
	for (unsigned r = 0; r < 2; r++) {
		histograms_phase(h, r, QUOIT_PHASE_WHOLE)[7] = 100 + r;
		histograms_phase(h, r, QUOIT_PHASE_REAP)[7] = 200 + r;
		for (unsigned d = 1; d <= 3; d++)
			histograms_device(h, r, d, HISTOGRAMS_POST)[7] = 1000 * d + r;
		histograms_operations(h, r)[QUOIT_OP_ADD].bytes = 50 + r;
		histograms_operations(h, r)[QUOIT_OP_NR - 1].jobs = 60 + r;
	}
	for (unsigned i = 0; i < 4; i++)
		histograms_core(h, i)[QUOIT_LATENCY_BUCKETS - 1] = 300 + i;
	cr_assert_eq(timings_read(directory, &t), 0);
	cr_expect(timings_is_of(&t, (uint32_t)getpid(), 0));
	cr_expect_not(timings_is_of(&t, (uint32_t)getpid(), UINT64_MAX), "of one before");
	cr_assert(timings_sum(&t, QUOIT_OF_REACTOR, 1, "fetch_to_end", all));
	cr_expect_eq(all[7], 101);
	cr_expect_eq(buckets_count(all), 101);
	cr_assert(timings_sum(&t, QUOIT_OF_REACTOR, -1, "post_to_reap", all));
	cr_expect_eq(buckets_count(all), 401);
	cr_assert(timings_sum(&t, QUOIT_OF_DEVICE, 3, "end_to_post", all));
	cr_expect_eq(buckets_count(all), 6001);
	cr_assert(timings_sum(&t, QUOIT_OF_DEVICE, 3, "start_to_end", all));
	cr_expect_eq(buckets_count(all), 0);
	cr_assert(timings_sum(&t, QUOIT_OF_CORE, 3, QUOIT_TILE_LABEL, all));
	cr_expect_eq(all[QUOIT_LATENCY_BUCKETS - 1], 303);
	cr_expect_eq(buckets_count(all), 303);
	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		struct quoit_operation_totals o;

		cr_assert(timings_operation(&t, i, &o));
		cr_expect_eq(o.bytes, i == QUOIT_OP_ADD ? 101 : 0);
		cr_expect_eq(o.jobs, i == QUOIT_OP_NR - 1 ? 121 : 0);
	}
	timings_free(&t);
	histograms_close(h, directory);
	cr_expect_eq(timings_read(directory, &t), -ENOENT);
	close(directory);
	rmdir(folder);
}

/* The bytes of one job would tell the shapes of another user's tensors. */
Test(timings, several_users_are_told_bytes_in_multiples_of_a_mebibyte)
{
	int directory = open_folder();
	struct histograms *h = histograms_open(directory, 1, 0, 1);
	struct reactor_histograms *s = reactor_histograms_new(h, 0, 0, REACTOR_HISTOGRAMS_GRAIN);

	cr_assert(h && s);
	s->operation[QUOIT_OP_ADD].bytes = (3 << 20) + 4000;
	s->operation[QUOIT_OP_SUB].bytes = (1 << 20) - 1;
	cr_expect_eq(reactor_histograms_tell(s), 4 << 20);
	cr_expect_eq(histograms_operations(h, 0)[QUOIT_OP_ADD].bytes, 3 << 20);
	cr_expect_eq(histograms_operations(h, 0)[QUOIT_OP_SUB].bytes, 0);
	free(s);
	histograms_close(h, directory);
	close(directory);
	rmdir(folder);
}

Test(timings, only_what_has_changed_is_copied_out)
{
	static struct histogram h;
	static uint64_t to[QUOIT_LATENCY_BUCKETS];

	histogram_add(&h, 0, 3);
	histogram_add(&h, QUOIT_LATENCY_BUCKETS - 1, 4);
	histogram_tell(&h, to);
	cr_expect_eq(to[0], 3);
	cr_expect_eq(to[QUOIT_LATENCY_BUCKETS - 1], 4);
	to[0] = to[QUOIT_LATENCY_BUCKETS - 1] = 0;
	histogram_add(&h, QUOIT_LATENCY_BUCKETS - 1, 1);
	histogram_tell(&h, to);
	cr_expect_eq(to[0], 0, "was told before");
	cr_expect_eq(to[QUOIT_LATENCY_BUCKETS - 1], 5);
}
