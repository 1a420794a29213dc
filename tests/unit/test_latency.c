/* SPDX-License-Identifier: MIT */
/* test_latency.c - buckets of times, and reading and evaluating latency files */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>

#include <quoit/sample.h>

#include "counters_case.h"
#include "read/latency.h"

/* ---- buckets ---- */

Test(latency, a_bucket_begins_where_the_one_before_ends)
{
	for (uint32_t i = 0; i < QUOIT_LATENCY_BUCKETS; i++) {
		cr_assert_eq(quoit_latency_bucket(quoit_latency_least(i)), i, "%u", i);
		if (i)
			cr_assert_eq(quoit_latency_bucket(quoit_latency_least(i) - 1), i - 1, "%u",
				     i);
	}
}

Test(latency, no_bucket_is_wider_than_two_percent)
{
	for (uint32_t i = 2 * QUOIT_LATENCY_PARTS; i < QUOIT_LATENCY_BUCKETS; i++) {
		double least = (double)quoit_latency_least(i),
		       next = (double)quoit_latency_least(i + 1);

		cr_assert_leq(next, 1.02 * least, "%u: %g to %g", i, least, next);
	}
}

Test(latency, what_is_longer_than_all_is_in_the_last)
{
	cr_expect_eq(quoit_latency_bucket(UINT64_MAX), QUOIT_LATENCY_BUCKETS - 1);
	cr_expect_eq(quoit_latency_bucket(UINT64_C(1) << 40), QUOIT_LATENCY_BUCKETS - 1);
}

/* ---- samples ---- */

static void check_samples(uint32_t rarity)
{
	const uint32_t every = QUOIT_SAMPLE_EVERY << rarity, blocks = 20000 / 64;
	bool seen[QUOIT_SAMPLE_EVERY] = {false};
	uint32_t first = 0 - blocks * every, sample = quoit_sample_from(first, rarity);

	/* Across the index's wrap. */
	for (uint32_t i = 0; i < 2 * blocks; i++) {
		cr_assert_eq(sample / every, first / every);
		seen[sample % every >> rarity] = true;
		sample = quoit_sample_from(sample + 1, rarity);
		first += every;
	}
	for (uint32_t i = 0; i < QUOIT_SAMPLE_EVERY; i++)
		cr_expect(seen[i], "%u of %u", i, every);
	cr_expect_neq(quoit_sample_from(0, rarity), 0, "the first job is none");
}

Test(latency, one_index_of_each_block_is_a_sample_and_none_is_favoured)
{
	for (uint32_t rarity = 0; rarity <= QUOIT_SAMPLE_RAREST; rarity++)
		check_samples(rarity);
}

Test(latency, notes_of_samples_that_follow_each_other_are_in_words_of_their_own)
{
	for (uint32_t rarity = 0; rarity <= QUOIT_SAMPLE_RAREST; rarity++) {
		uint32_t sample = quoit_sample_from(1u << 20, rarity), words = 0;

		for (unsigned i = 0; i < QUOIT_NOTED; i++) {
			words |= 1u << quoit_note_word(sample, rarity);
			sample = quoit_sample_from(sample + 1, rarity);
		}
		cr_expect_eq(words, (1u << QUOIT_NOTED) - 1, "%u", rarity);
	}
}

Test(latency, rarities_that_are_told_are_those_that_there_are)
{
	const uint32_t word = quoit_sampling(3, 5);

	cr_expect_eq(quoit_sampling_of_sqes(word), 3);
	cr_expect_eq(quoit_sampling_of_cqes(word), 5);
	cr_expect_eq(quoit_sampling_of_sqes(UINT32_MAX), QUOIT_SAMPLE_RAREST);
	cr_expect_eq(quoit_sampling_of_cqes(UINT32_MAX), QUOIT_SAMPLE_RAREST);
}

Test(latency, a_note_tells_its_sample_and_its_time)
{
	const uint64_t now = UINT64_C(0x123456789abcdef), then = now - 1000;
	uint64_t word = quoit_note_of(6400, then);

	cr_expect_eq(quoit_note_time(word, 6400, now), then);
	cr_expect_eq(quoit_note_time(word, 6463, now), then, "the same block");
	cr_expect_eq(quoit_note_time(word, 6464, now), 0, "the next one");
	cr_expect_eq(quoit_note_time(quoit_note_of(6400, now + 1), 6400, now), 0, "not before now");
	cr_expect_eq(quoit_note_time(quoit_note_of(6400, then), 6400, 500), 0, "before the start");
}

/* ---- files ---- */

static struct quoit_session_latency file;

static void make_file(void)
{
	counters_case_latency(&file);
}

static void count(unsigned phase, uint64_t ticks, uint64_t jobs)
{
	file.count[phase][quoit_latency_bucket(ticks)] += jobs;
}

static struct latency *parse(void)
{
	static struct latency l;

	cr_assert_eq(latency_parse(&file, sizeof file, &l), 0);
	return &l;
}

Test(latency, percentiles_are_within_a_bucket)
{
	struct latency *l;

	make_file();
	count(QUOIT_PHASE_RUN, 1000, 50);
	count(QUOIT_PHASE_RUN, 20000, 49);
	count(QUOIT_PHASE_RUN, 3000000, 1);
	l = parse();
	cr_expect_eq(latency_jobs(l, QUOIT_PHASE_RUN), 100);
	cr_expect_float_eq(latency_percentile(l, QUOIT_PHASE_RUN, 50), 1000, 10);
	cr_expect_float_eq(latency_percentile(l, QUOIT_PHASE_RUN, 99), 20000, 200);
	cr_expect_float_eq(latency_percentile(l, QUOIT_PHASE_RUN, 100), 3e6, 3e4);
	cr_expect_float_eq(latency_sum(l, QUOIT_PHASE_RUN), 50e3 + 980e3 + 3e6, 4e4);
	cr_expect_lt(latency_percentile(l, QUOIT_PHASE_DATA, 50), 0, "nobody was timed there");
}

Test(latency, since_is_what_came_between_two_readings)
{
	static struct latency before;
	struct latency *l;

	make_file();
	count(QUOIT_PHASE_RUN, 1000, 50);
	file.operation[QUOIT_OP_GEMM].jobs = 4;
	before = *parse();
	count(QUOIT_PHASE_RUN, 20000, 3);
	file.operation[QUOIT_OP_GEMM].jobs = 9;
	l = parse();
	latency_since(&before, l);
	cr_expect_eq(latency_jobs(l, QUOIT_PHASE_RUN), 3);
	cr_expect_eq(l->operation[QUOIT_OP_GEMM].jobs, 5);
}

Test(latency, an_operation_of_which_few_are_timed_is_not_taken_for_64)
{
	struct latency *l;

	make_file();
	file.operation[QUOIT_OP_ADD] =
		(struct quoit_operation_block){.jobs = 16, .timed = 64, .ticks = 6400};
	l = parse();
	cr_expect_float_eq(latency_operation_ns(l, QUOIT_OP_ADD), 1600, 1e-6);
	cr_expect_float_eq(latency_operation_mean(l, QUOIT_OP_ADD), 100, 1e-6);
	cr_expect_lt(latency_operation_mean(l, QUOIT_OP_GEMM), 0, "none was timed");
}

/* Its jobs were fetched before, and end now. */
Test(latency, an_operation_of_which_none_was_fetched_has_run)
{
	static struct latency before;
	struct latency *l;

	make_file();
	file.operation[QUOIT_OP_GEMM] =
		(struct quoit_operation_block){.jobs = 500, .timed = 40, .ticks = 4000};
	before = *parse();
	file.operation[QUOIT_OP_GEMM].timed += 30;
	file.operation[QUOIT_OP_GEMM].ticks += 3000;
	l = parse();
	latency_since(&before, l);
	cr_expect_eq(l->operation[QUOIT_OP_GEMM].jobs, 0);
	cr_expect_float_eq(latency_operation_ns(l, QUOIT_OP_GEMM), 3000, 1e-6);
}

/* ---- bytes ---- */

Test(latency, bytes_of_operations_are_since_the_reading_before)
{
	static struct latency before;
	struct latency *l;

	make_file();
	file.bytes[QUOIT_OP_GEMM] = 1000;
	before = *parse();
	cr_expect(before.bytes_known);
	cr_expect_eq(before.operation[QUOIT_OP_GEMM].bytes, 1000);
	file.bytes[QUOIT_OP_GEMM] = 1700;
	l = parse();
	latency_since(&before, l);
	cr_expect_eq(l->operation[QUOIT_OP_GEMM].bytes, 700);
	cr_expect_eq(l->operation[QUOIT_OP_ADD].bytes, 0);
}

/* Such a file has its operations on the line behind the labels, and zeros in between. */
Test(latency, a_file_of_before_there_were_bytes_says_nothing_of_them)
{
	struct latency *l;

	make_file();
	file.bytes_at = 0;
	file.operation[QUOIT_OP_GEMM].jobs = 4;
	l = parse();
	cr_expect_not(l->bytes_known);
	cr_expect_eq(l->operation[QUOIT_OP_GEMM].jobs, 4);
}

/* If the labels fill their lines, the first operation's jobs lie where the offset would be. */
Test(latency, operations_right_behind_the_labels_are_not_taken_for_a_place)
{
	struct latency *l;

	make_file();
	file.operations_at = offsetof(struct quoit_session_latency, bytes_at);
	file.operations = 1;
	l = parse();
	cr_expect_not(l->bytes_known);
	cr_expect_eq((uint32_t)l->operation[0].jobs, offsetof(struct quoit_session_latency, bytes));
}

/* A place that acquires need not wait. */
Test(latency, what_was_held_is_known_by_its_place)
{
	struct latency *l, before;

	make_file();
	strcpy(file.site[1][3].name, "solver.c:120");
	file.held[1][3].ticks = 700;
	l = parse();
	cr_assert_eq(l->sites, 1);
	cr_expect_str_eq(l->site[0].name, "solver.c:120");
	cr_expect_eq(l->site[0].held, 700);
	before = *l;
	file.held[1][3].ticks = 900;
	l = parse();
	latency_since(&before, l);
	cr_expect_eq(l->site[0].held, 200);
	file.held_at = 0; /* a file of before there were holds */
	cr_expect_eq(parse()->sites, 0);
}

Test(latency, a_file_may_end_where_its_places_would_begin)
{
	make_file();
	file.site_rings = 0;
	file.sites_at = sizeof file;
	cr_expect_eq(parse()->sites, 0);
}

Test(latency, bytes_that_are_not_in_the_file_are_not_known)
{
	make_file();
	file.bytes_at = sizeof file;
	cr_expect_not(parse()->bytes_known);
	file.bytes_at = UINT32_MAX;
	cr_expect_not(parse()->bytes_known);
	file.bytes_at = sizeof file - sizeof file.bytes;
	cr_expect(parse()->bytes_known);
}

/* A later version may have more behind our bytes_at. */
Test(latency, a_later_file_with_a_longer_head_is_read_as_far_as_it_is_known)
{
	static uint8_t later[sizeof file + 3 * QUOIT_LABEL_BYTES];
	const size_t labels_end = offsetof(struct quoit_session_latency, bytes_at);
	static struct latency l;

	make_file();
	count(QUOIT_PHASE_RUN, 1000, 50);
	file.bytes[QUOIT_OP_ADD] = 8;
	file.header.header_bytes += 3 * QUOIT_LABEL_BYTES;
	file.header.file_bytes = sizeof later;
	file.operations_at += 3 * QUOIT_LABEL_BYTES;
	file.bytes_at += 3 * QUOIT_LABEL_BYTES;
	file.sites_at += 3 * QUOIT_LABEL_BYTES;
	memcpy(later, &file, labels_end + sizeof file.bytes_at);
	memset(later + labels_end + sizeof file.bytes_at, 0x77, 3 * QUOIT_LABEL_BYTES);
	memcpy(later + offsetof(struct quoit_session_latency, operation) + 3 * QUOIT_LABEL_BYTES,
	       file.operation, sizeof file - offsetof(struct quoit_session_latency, operation));
	cr_assert_eq(latency_parse(later, sizeof later, &l), 0);
	cr_expect_eq(latency_jobs(&l, QUOIT_PHASE_RUN), 50);
	cr_expect(l.bytes_known);
	cr_expect_eq(l.operation[QUOIT_OP_ADD].bytes, 8);
}

/* ---- waits at things with a name ---- */

static void name_row(unsigned row, uint64_t number, uint32_t kind, uint64_t first, uint64_t second)
{
	file.named_wait[row] = (struct quoit_named_wait){
		.number = number, .kind = kind, .name = "it", .ticks = {first, second}, .jobs = 3};
}

Test(latency, waits_at_things_with_a_name_are_read_with_the_one_that_goes_on)
{
	struct latency *l, before;
	enum quoit_named_way way;
	uint64_t all;

	make_file();
	name_row(2, 7, QUOIT_SYNC_LOCK, 100, 0);
	name_row(63, 9, QUOIT_SYNC_QUEUE, 10, 20);
	file.named_now = (struct quoit_named_now){.ticks = 500, .row = 63, .way = 1};
	l = parse();
	cr_assert_eq(l->named.count, 2);
	cr_expect_eq(l->named.wait[0].number, 7);
	cr_expect_eq(l->named.wait[0].jobs, 3);
	cr_expect_str_eq(l->named.wait[0].name, "it");
	cr_expect_eq(named_waits_most(&l->named, &way, &all), &l->named.wait[1]);
	cr_expect_eq(way, QUOIT_NAMED_SECOND);
	cr_expect_eq(all, 630);
	before = *l;
	name_row(2, 7, QUOIT_SYNC_LOCK, 150, 0);
	name_row(5, 11, QUOIT_SYNC_FLAG, 40, 0);
	file.named_now.ticks = 0; /* it was for something else */
	l = parse();
	latency_since(&before, l);
	cr_expect_eq(named_waits_most(&l->named, &way, &all)->number, 7);
	cr_expect_eq(all, 90);
}

/* The bytes are hostile. */
Test(latency, impossible_rows_of_waits_are_left_out)
{
	make_file();
	name_row(0, 7, QUOIT_SYNC_NR, 1, 1);
	name_row(1, 8, QUOIT_SYNC_LOCK, UINT64_MAX, 1);
	name_row(2, 0, QUOIT_SYNC_LOCK, 1, 1);
	name_row(3, 9, QUOIT_SYNC_LOCK, 1, 1);
	memset(file.named_wait[3].name, 'x', sizeof file.named_wait[3].name);
	file.named_now = (struct quoit_named_now){UINT64_MAX, 3, 0};
	cr_assert_eq(parse()->named.count, 1);
	cr_expect_eq(strlen(parse()->named.wait[0].name), sizeof file.named_wait[3].name);
	cr_expect_eq(parse()->named.wait[0].ticks[0], 1);
	file.named_now = (struct quoit_named_now){5, 3, 2};
	cr_expect_eq(parse()->named.wait[0].ticks[0], 1);
}

Test(latency, rows_of_waits_that_are_not_in_the_file_are_not_read)
{
	make_file();
	name_row(63, 7, QUOIT_SYNC_LOCK, 1, 1);
	cr_expect_eq(parse()->named.count, 1);
	file.named_at += QUOIT_LINE;
	cr_expect_eq(parse()->named.count, 0);
	make_file();
	name_row(0, 7, QUOIT_SYNC_LOCK, 1, 1);
	file.named = QUOIT_MAX_SERVICES + 1;
	cr_expect_eq(parse()->named.count, 0);
	file.named = QUOIT_MAX_SERVICES;
	file.named_at = 0; /* a file of before there were these */
	cr_expect_eq(parse()->named.count, 0);
}

static void wait_at(unsigned ring, unsigned index, const char *name, uint64_t ticks)
{
	struct quoit_site *site = &file.site[ring][index];

	memcpy(site->name, name, strnlen(name, sizeof site->name));
	site->waits++;
	site->ticks += ticks;
	site->longest = ticks;
}

Test(latency, a_place_is_one_on_whichever_ring_it_waited)
{
	const char *longest = "forty bytes of a name that has no end...";
	static struct latency before;
	struct latency *l;

	make_file();
	wait_at(0, 1, "a.c:1", 100);
	wait_at(0, 2, longest, 7);
	wait_at(3, 5, "a.c:1", 50);
	before = *parse();
	cr_assert_eq(before.sites, 2);
	cr_expect_str_eq(before.site[0].name, "a.c:1");
	cr_expect_eq(before.site[0].waits, 2);
	cr_expect_eq(before.site[0].ticks, 150);
	cr_expect_eq(before.site[0].longest, 100);
	cr_expect_str_eq(before.site[1].name, longest);
	wait_at(3, 5, "a.c:1", 30);
	l = parse();
	latency_since(&before, l);
	cr_expect_eq(l->site[0].waits, 1);
	cr_expect_eq(l->site[0].ticks, 30);
	cr_expect_eq(l->site[1].waits, 0);
}

Test(latency, places_are_also_told_ring_by_ring)
{
	static struct quoit_site site[QUOIT_SITE_RINGS][QUOIT_MAX_SITES];

	make_file();
	wait_at(0, 1, "a.c:1", 100);
	wait_at(3, 5, "a.c:1", 50);
	cr_assert_eq(latency_parse_sites(&file, sizeof file, site), 0);
	cr_expect_str_eq(site[0][1].name, "a.c:1");
	cr_expect_eq(site[3][5].ticks, 50);
	cr_expect_str_eq(site[3][1].name, "");
	file.site_rings = QUOIT_SITE_RINGS + 1;
	cr_expect_eq(latency_parse_sites(&file, sizeof file, site), -EBADMSG);
}

Test(latency, phases_go_by_their_labels)
{
	struct latency *l;

	make_file();
	strcpy(file.label[QUOIT_PHASE_RUN], "of_another_version");
	count(QUOIT_PHASE_RUN, 1000, 50);
	l = parse();
	cr_expect_not(l->known[QUOIT_PHASE_RUN]);
	cr_expect_lt(latency_percentile(l, QUOIT_PHASE_RUN, 50), 0);
	cr_expect(l->known[QUOIT_PHASE_DATA]);
}

/* Damage a file like this, and expect this refusal. */
#define EXPECT_REFUSED(damage, err)                                                                \
	do {                                                                                       \
		static struct latency l;                                                           \
                                                                                                   \
		make_file();                                                                       \
		damage;                                                                            \
		cr_expect_eq(latency_parse(&file, sizeof file, &l), (err), "%s", #damage);         \
	} while (0)

Test(latency, files_that_contradict_themselves_are_refused)
{
	EXPECT_REFUSED(file.header.magic++, -EBADMSG);
	EXPECT_REFUSED(file.header.version++, -EPROTONOSUPPORT);
	EXPECT_REFUSED(file.parts = 32, -EPROTONOSUPPORT);
	EXPECT_REFUSED(file.buckets--, -EPROTONOSUPPORT);
	EXPECT_REFUSED(file.header.file_bytes++, -EBADMSG);
	EXPECT_REFUSED(file.header.counters = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.header.header_bytes = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.header.header_bytes = 0, -EBADMSG);
	EXPECT_REFUSED(file.operations = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.operations_at = sizeof file, -EBADMSG);
	EXPECT_REFUSED(file.operations_at = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.site_rings = UINT32_MAX, -EBADMSG);
	EXPECT_REFUSED(file.sites_at = sizeof file - 1, -EBADMSG);
}

Test(latency, files_cut_short_are_refused)
{
	static struct latency l;

	make_file();
	for (size_t size = 0; size < sizeof file; size += size < 4096 ? 1 : 4096)
		cr_assert_lt(latency_parse(&file, size, &l), 0, "%zu", size);
}
