/* SPDX-License-Identifier: MIT */
/* test_trace_file.c - recordings are read as they were written, and damaged ones are refused */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "recording_case.h"
#include "trace/tail.h"

/* ---- reading ---- */

static struct recording_job last_job;
static unsigned jobs_seen;

static void see_job(const struct recording_job *job, void *arg)
{
	(void)arg;
	last_job = *job;
	jobs_seen++;
}

static void see_all(struct recording_case *c)
{
	const struct recording_visitor v = {.job = see_job};

	jobs_seen = 0;
	cr_assert_eq(recording_visit(&c->reader, &c->rec, &v), 0);
}

Test(trace_file, what_is_written_is_read)
{
	struct quoit_trace_record job = case_job(5, 100, 300, 900);
	struct recording_case c;

	job.job.data = CASE_TSC + 150;
	job.job.memory = CASE_TSC + 180;
	job.res = -5;
	case_begin(&c);
	case_session(&c, 7, "name\n");
	case_put(&c, 7, &job);
	cr_assert_eq(case_load(&c), 0);
	cr_expect_eq(c.rec.sessions, 1);
	cr_expect_eq(c.rec.session[0].number, 7);
	cr_expect_str_eq(c.rec.session[0].name, "name\\x0a");
	cr_expect_eq(c.rec.jobs, 1);
	cr_expect_eq(c.rec.session[0].failed, 1);
	see_all(&c);
	cr_expect_eq(last_job.fetch, 100);
	cr_expect_eq(last_job.data, 150);
	cr_expect_eq(last_job.memory, 180);
	cr_expect_eq(last_job.start, 300);
	cr_expect_eq(last_job.end, 900);
	cr_expect_eq(last_job.post, 910);
	cr_expect_eq(last_job.sq_index, 5);
	cr_expect_not(c.rec.ended, "nobody completed it");
	case_end(&c);
}

Test(trace_file, times_of_a_job_are_in_order_whatever_it_says)
{
	struct quoit_trace_record job = case_job(0, 500, 300, 100);
	struct recording_case c;

	job.job.data = 0;
	job.job.memory = CASE_TSC + 600;
	job.job.post = CASE_TSC + 700;
	case_begin(&c);
	case_session(&c, 1, "");
	case_put(&c, 1, &job);
	cr_assert_eq(case_load(&c), 0);
	see_all(&c);
	cr_expect_eq(last_job.data, 500);
	cr_expect_eq(last_job.memory, 600);
	cr_expect_eq(last_job.start, 600);
	cr_expect_eq(last_job.end, 600);
	cr_expect_eq(last_job.post, 700);
	case_end(&c);
}

Test(trace_file, records_that_cannot_be_are_counted_and_left_out)
{
	struct quoit_trace_record job = case_job(0, 10, 20, 30);
	struct trace_end end = {.tsc = CASE_TSC + 1000000};
	struct recording_case c;

	case_begin(&c);
	case_session(&c, 1, "");
	case_put(&c, 1, &job);
	job.ring = QUOIT_MAX_RINGS;
	case_put(&c, 1, &job);
	job.ring = 0;
	job.job.post = CASE_TSC + 1000000000000u; /* behind the recording's end */
	case_put(&c, 1, &job);
	job.job.fetch = 0;
	case_put(&c, 1, &job);
	case_event(&c, 1, 9, 10, 0, 0);
	case_put(&c, 2, &job); /* of a session that it does not describe */
	job.kind = 200;        /* of a later version: not an error */
	case_put(&c, 1, &job);
	trace_writer_put(&c.writer, TRACE_END, 0, &end, sizeof end);
	cr_assert_eq(case_load(&c), 0);
	cr_expect(c.rec.ended);
	cr_expect_eq(c.rec.jobs, 1);
	cr_expect_eq(c.rec.damaged, 4, "%u", (unsigned)c.rec.damaged);
	cr_expect_eq(c.rec.foreign, 1);
	case_end(&c);
}

Test(trace_file, chunks_of_a_later_version_are_skipped)
{
	struct quoit_trace_record job = case_job(0, 10, 20, 30);
	struct recording_case c;
	uint64_t text[3] = {1, 2, 3};

	case_begin(&c);
	trace_writer_put(&c.writer, 99, 0, text, sizeof text);
	case_session(&c, 1, "");
	case_put(&c, 1, &job);
	cr_assert_eq(case_load(&c), 0);
	cr_expect_eq(c.rec.jobs, 1);
	case_end(&c);
}

Test(trace_file, call_sites_have_the_names_that_were_recorded)
{
	struct trace_site site[2] = {{.ring = 1, .site = 2, .name = "loop.c:12"},
				     {.ring = 99, .site = 2, .name = "nowhere"}};
	struct recording_case c;

	case_begin(&c);
	case_session(&c, 1, "");
	trace_writer_put(&c.writer, TRACE_SITES, 1, site, sizeof site);
	cr_assert_eq(case_load(&c), 0);
	cr_expect_str_eq(recording_site(&c.rec.session[0], 1, 2), "loop.c:12");
	cr_expect_str_eq(recording_site(&c.rec.session[0], 1, 3), RECORDING_UNKNOWN);
	cr_expect_str_eq(recording_site(&c.rec.session[0], 99, 2), RECORDING_UNKNOWN);
	case_end(&c);
}

/* ---- damage ---- */

static int try(const void *bytes, size_t size, char why[96])
{
	struct trace_reader r;
	struct recording rec = {0};
	int err = trace_reader_take(&r, bytes, size);

	if (!err)
		err = recording_load(&r, &rec);
	snprintf(why, 96, "%s", r.why);
	recording_free(&rec);
	trace_reader_close(&r);
	return err;
}

Test(trace_file, what_is_no_recording_is_refused_with_a_reason)
{
	struct trace_header h = {.magic = TRACE_MAGIC,
				 .version = TRACE_VERSION,
				 .header_bytes = sizeof h,
				 .tsc_hz = 1000000000};
	struct trace_header bad;
	char why[96];

	cr_expect_eq(try("", 0, why), -EBADMSG);
	cr_expect(strstr(why, "not a recording"), "%s", why);
	cr_expect_eq(try("#!/bin/sh\necho this is something else\n", 38, why), -EBADMSG);
	cr_expect(strstr(why, "not a recording"), "%s", why);
	cr_expect_eq(try(&h, sizeof h, why), 0);
	cr_expect_eq(try(&h, sizeof h - 1, why), -EBADMSG);
	bad = h;
	bad.version++;
	cr_expect_eq(try(&bad, sizeof bad, why), -EPROTONOSUPPORT);
	cr_expect(strstr(why, "version 2"), "%s", why);
	bad = h;
	bad.tsc_hz = 0;
	cr_expect_eq(try(&bad, sizeof bad, why), -EBADMSG);
	bad = h;
	bad.header_bytes = 8;
	cr_expect_eq(try(&bad, sizeof bad, why), -EBADMSG);
	bad.header_bytes = UINT32_MAX;
	cr_expect_eq(try(&bad, sizeof bad, why), -EBADMSG);
	cr_expect(strstr(why, "header is damaged"), "%s", why);
}

Test(trace_file, a_chunk_that_lies_about_its_size_is_named)
{
	struct recording_case c;
	struct trace_chunk lie = {.type = TRACE_RECORDS, .bytes = TRACE_MOST_CHUNK + 8};
	uint8_t *bytes;
	char why[96];
	size_t size;

	case_begin(&c);
	case_session(&c, 1, "");
	bytes = case_bytes(&c, &size);
	memcpy(bytes + sizeof(struct trace_header), &lie, sizeof lie);
	cr_expect_eq(try(bytes, size, why), -EBADMSG);
	cr_expect(strstr(why, "size of 1048584 bytes"), "%s", why);
	lie.bytes = 7;
	memcpy(bytes + sizeof(struct trace_header), &lie, sizeof lie);
	cr_expect_eq(try(bytes, size, why), -EBADMSG);
	free(bytes);
	case_end(&c);
}

Test(trace_file, one_that_was_cut_off_anywhere_is_read_up_to_there)
{
	struct quoit_trace_record job = case_job(0, 10, 20, 30);
	struct recording_case c;
	uint8_t *bytes;
	size_t size;

	case_begin(&c);
	case_session(&c, 1, "");
	case_put(&c, 1, &job);
	case_put(&c, 1, &job);
	bytes = case_bytes(&c, &size);
	for (size_t cut = sizeof(struct trace_header); cut <= size; cut++) {
		struct trace_reader r;
		struct recording rec;

		cr_assert_eq(trace_reader_take(&r, bytes, cut), 0);
		cr_assert_eq(recording_load(&r, &rec), 0, "%zu", cut);
		cr_expect_leq(rec.jobs, 2);
		cr_expect_eq(rec.jobs == 2, cut == size, "%zu", cut);
		recording_free(&rec);
		trace_reader_close(&r);
	}
	free(bytes);
	case_end(&c);
}

/* ---- writing ---- */

Test(trace_file, there_is_no_room_beyond_the_limit)
{
	struct trace_header header = {.magic = TRACE_MAGIC};
	struct trace_writer w;

	cr_assert_eq(
		trace_writer_open(&w, open("/dev/null", O_WRONLY), sizeof header + 80, &header), 0);
	cr_expect(trace_writer_has_room(&w, 64));
	cr_expect_not(trace_writer_has_room(&w, 72));
	cr_expect_eq(trace_writer_close(&w), 0);
}

Test(trace_file, a_full_disk_is_said_once_and_ends_writing)
{
	struct trace_header header = {.magic = TRACE_MAGIC};
	struct trace_writer w;

	cr_assert_eq(trace_writer_open(&w, open("/dev/full", O_WRONLY), 1 << 20, &header), 0);
	trace_writer_flush(&w);
	cr_expect_not(trace_writer_has_room(&w, 8));
	cr_expect_eq(trace_writer_close(&w), -ENOSPC);
}

/* ---- following ---- */

/* A trace file as quoitd makes it. */
struct live {
	struct quoit_trace head;
	struct quoit_trace_record record[QUOIT_TRACE_LEAST];
};

static struct live live = {.head = {.header = {.magic = QUOIT_STATS_MAGIC,
					       .version = QUOIT_STATS_VERSION,
					       .daemon_pid = 5,
					       .started_ns = 50},
				    .session = 3,
				    .records = QUOIT_TRACE_LEAST,
				    .records_at = sizeof(struct quoit_trace),
				    .record_bytes = sizeof(struct quoit_trace_record),
				    .begun = 1000,
				    .name = "it"}};

static const struct counters_origin origin = {.daemon_pid = 5, .started_ns = 40};
static char folder[] = "/tmp/quoit-tail.XXXXXX";
static int directory = -1;

static void write_live(void)
{
	int fd;

	if (directory < 0) {
		cr_assert(mkdtemp(folder));
		directory = open(folder, O_RDONLY | O_DIRECTORY);
	}
	fd = openat(directory, "trace.3", O_WRONLY | O_CREAT, 0600);
	cr_assert_eq(pwrite(fd, &live, sizeof live, 0), (ssize_t)sizeof live);
	close(fd);
}

static void remove_live(void)
{
	unlinkat(directory, "trace.3", 0);
	close(directory);
	rmdir(folder);
}

/* Add this many records, each with its number. */
static void come(unsigned count)
{
	for (unsigned i = 0; i < count; i++, live.head.head++)
		live.record[live.head.head % QUOIT_TRACE_LEAST].job.sq_index =
			(uint32_t)live.head.head;
	write_live();
}

/* Open the trace of this session; -errno. */
static int trace_of(unsigned session)
{
	char name[24];
	int fd;

	snprintf(name, sizeof name, "trace.%u", session);
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

Test(trace_tail, what_comes_is_read_once)
{
	struct quoit_trace_record record[QUOIT_TRACE_LEAST];
	struct tail t;

	come(3);
	cr_assert_eq(tail_open(&t, trace_of(3), 3, &origin, 900), 0);
	cr_expect_eq(tail_read(&t, record, QUOIT_TRACE_LEAST), 3);
	cr_expect_eq(record[2].job.sq_index, 2);
	cr_expect_eq(tail_read(&t, record, QUOIT_TRACE_LEAST), 0);
	come(5);
	cr_expect_eq(tail_read(&t, record, 2), 2);
	cr_expect_eq(tail_read(&t, record, QUOIT_TRACE_LEAST), 3);
	cr_expect_eq(record[2].job.sq_index, 7);
	cr_expect_eq(t.s.lost, 0);
	cr_expect_not(t.over);
	live.head.ended = 1;
	live.head.dropped = 9;
	write_live();
	cr_expect_eq(tail_read(&t, record, 2), 0);
	cr_expect_eq(tail_read(&t, record, 2), 0);
	cr_expect(t.over);
	cr_expect_eq(t.s.dropped, 9);
	tail_close(&t);
	remove_live();
}

Test(trace_tail, what_was_written_over_is_counted_as_lost)
{
	const unsigned whole = QUOIT_TRACE_LEAST - QUOIT_TRACE_MARGIN;
	struct quoit_trace_record record[QUOIT_TRACE_LEAST];
	struct tail t;

	come(10);
	cr_assert_eq(tail_open(&t, trace_of(3), 3, &origin, 900), 0);
	come(QUOIT_TRACE_LEAST + 90);
	/* 100 more than there are places; some of the oldest may just be overwritten. */
	cr_expect_eq(tail_read(&t, record, QUOIT_TRACE_LEAST), whole);
	cr_expect_eq(t.s.lost, 100 + QUOIT_TRACE_MARGIN);
	cr_expect_eq(record[0].job.sq_index, 100 + QUOIT_TRACE_MARGIN);
	cr_expect_eq(record[whole - 1].job.sq_index, QUOIT_TRACE_LEAST + 99);
	tail_close(&t);
	remove_live();
}

Test(trace_tail, what_was_there_for_somebody_else_is_passed_over)
{
	struct quoit_trace_record record[4];
	struct tail t;

	come(3);
	cr_assert_eq(tail_open(&t, trace_of(3), 3, &origin, 1001), 0);
	cr_expect_eq(tail_read(&t, record, 4), 0);
	come(1);
	cr_expect_eq(tail_read(&t, record, 4), 1);
	cr_expect_eq(record[0].job.sq_index, 3);
	tail_close(&t);
	remove_live();
}

Test(trace_tail, a_file_that_cannot_be_is_refused)
{
	const struct live good = live;
	struct tail t;

	live.head.records = 1000;
	write_live();
	cr_expect_eq(tail_open(&t, trace_of(3), 3, &origin, 0), -EBADMSG);
	live = good;
	live.head.records_at = UINT32_MAX;
	write_live();
	cr_expect_eq(tail_open(&t, trace_of(3), 3, &origin, 0), -EBADMSG);
	live = good;
	live.head.records = QUOIT_TRACE_MOST; /* the file is not that long */
	write_live();
	cr_expect_eq(tail_open(&t, trace_of(3), 3, &origin, 0), -EBADMSG);
	live = good;
	live.head.header.daemon_pid = 6;
	write_live();
	cr_expect_eq(tail_open(&t, trace_of(3), 3, &origin, 0), -EBADMSG, "of another quoitd");
	live = good;
	live.head.session = 4;
	write_live();
	cr_expect_eq(tail_open(&t, trace_of(3), 3, &origin, 0), -EBADMSG);
	cr_expect_eq(tail_open(&t, trace_of(4), 4, &origin, 0), -ENOENT);
	live = good;
	remove_live();
}

Test(trace_tail, a_file_whose_head_goes_back_is_given_up)
{
	struct quoit_trace_record record[4];
	struct tail t;

	come(4);
	cr_assert_eq(tail_open(&t, trace_of(3), 3, &origin, 900), 0);
	cr_expect_eq(tail_read(&t, record, 4), 4);
	live.head.head = 1;
	write_live();
	cr_expect_eq(tail_read(&t, record, 4), 0);
	cr_expect(t.over);
	remove_live();
}
