/* SPDX-License-Identifier: MIT */
/*
 * test_histograms.c - compare what all users may read about jobs, bytes and times with this test's
 * own count
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/sample.h>

#include "client.h"
#include "device.h"
#include "executor.h"
#include "histograms.h"
#include "tool.h"

#define MS       1000 /* for usleep */
#define PATIENCE 500  /* times 10 ms */

/* A counter summed over all reactors. */
static uint64_t total(const struct daemon *d, unsigned counter)
{
	const struct quoit_totals *t = daemon_totals(d);
	uint64_t sum = 0;

	cr_assert(t);
	for (unsigned i = 0; i < t->header.reactors; i++)
		sum += __atomic_load_n(&t->reactor[i].value[counter], __ATOMIC_RELAXED);
	daemon_totals_unmap(t);
	return sum;
}

/* What the test has done with an operation. */
struct done {
	uint64_t jobs, bytes;
};

static struct done done[QUOIT_OP_NR];

static void run(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t bytes)
{
	cr_assert_eq(house_run(q, sqe), 0, "%u", sqe.opcode);
	done[sqe.opcode].jobs++;
	done[sqe.opcode].bytes += bytes;
}

static quoit_tensor matrix(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t rows,
			   uint32_t columns)
{
	done[QUOIT_OP_CREATE].jobs++;
	return quoit_create_matrix(q, dtype, rows, columns);
}

/*
 * Small operations, in and out of their buffers' order; tiled ones; views; operations with flags;
 * and one of a module.
 */
static void run_all(const struct house *h)
{
	quoit_tensor a = matrix(h->q, QUOIT_F32, 10, 10), b = matrix(h->q, QUOIT_F32, 10, 10);
	quoit_tensor c = matrix(h->q, QUOIT_F64, 10, 10), row = matrix(h->q, QUOIT_F32, 1, 10);
	quoit_tensor big = matrix(h->q, QUOIT_F32, 700, 700);
	quoit_tensor more = matrix(h->q, QUOIT_F32, 700, 700);
	quoit_tensor d = matrix(h->q, QUOIT_F32, 10, 10);
	quoit_tensor sum = matrix(h->q, QUOIT_F32, 1, 1);
	struct quoit_sqe barrier = quoit_nop(a);

	run(h->q, quoit_fill(a, 1), 400);
	run(h->q, quoit_fill(row, 1), 40);
	for (int i = 0; i < 100; i++) {
		run(h->q, quoit_add_scalar(b, a, 1), 800);
		run(h->q, quoit_add(d, a, b), 1200);
		run(h->q, quoit_add(b, b, a), 1200);  /* the output is an input, too */
		run(h->q, quoit_mul(b, a, row), 840); /* broadcast */
	}
	run(h->q, quoit_cast(c, a), 1200);
	run(h->q, quoit_fill(big, 1), 1960000);
	run(h->q, quoit_gemm(more, big, big, 0, 1, 0), 3 * 1960000);
	run(h->q, quoit_gemm(more, big, big, 0, 1, 1), 4 * 1960000); /* C is read, too */
	run(h->q, quoit_sum(sum, big, QUOIT_AXIS_ALL), 1960004);
	run(h->q, barrier, 0);
	run(h->q, house_nap(h, a, 20, SLEEP_WELL), 400);
}

Test(histograms, jobs_and_bytes_of_operations_are_exact_and_outlive_their_session)
{
	struct house h = house_open(64);
	struct quoit_info info;
	uint64_t bytes = 0;

	run_all(&h);
	quoit_get_info(h.s, &info);
	for (unsigned i = 0; i < QUOIT_OP_NR; i++)
		bytes += done[i].bytes;
	for (int i = 0; i < PATIENCE; i++, usleep(10 * MS))
		if (daemon_session_counter(&h.d, info.session, QUOIT_SESSION_BYTES) == bytes)
			break;
	cr_expect_eq(daemon_session_counter(&h.d, info.session, QUOIT_SESSION_BYTES), bytes);
	for (int closed = 0; closed < 2; closed++) {
		for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
			struct quoit_operation_totals o =
				histograms_wait(&h.d, (uint8_t)i, done[i].jobs, done[i].bytes);

			cr_expect_eq(o.jobs, done[i].jobs, "%u: %llu, not %llu", i,
				     (unsigned long long)o.jobs, (unsigned long long)done[i].jobs);
			cr_expect_eq(o.bytes, done[i].bytes, "%u: %llu, not %llu", i,
				     (unsigned long long)o.bytes,
				     (unsigned long long)done[i].bytes);
		}
		cr_expect_eq(total(&h.d, QUOIT_REACTOR_BYTES), bytes);
		if (closed)
			break;
		quoit_close(h.s, 0);
		done[QUOIT_OP_NOP].jobs++; /* closing waits by a NOP */
		for (int i = 0; i < PATIENCE && house_sessions(&h); i++)
			usleep(10 * MS);
	}
	daemon_stop(&h.d);
}

/* Operations that small.c runs, without CQEs: several of one kind in a row, and single ones. */
Test(histograms, bytes_are_those_of_the_operation_that_moved_them)
{
	struct client c;
	quoit_tensor x, y, z;

	client_open(&c, NULL, NULL);
	x = quoit_create_vector(c.q, QUOIT_F32, 25);
	y = quoit_create_vector(c.q, QUOIT_F32, 25);
	z = quoit_create_vector(c.q, QUOIT_F32, 25);
	cr_assert_eq(quoit_push(c.q, quoit_fill(x, 1)), 0);
	cr_assert_eq(quoit_push(c.q, quoit_fill(y, 2)), 0);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(quoit_push(c.q, quoit_add(z, x, y)), 0);
		cr_assert_eq(quoit_push(c.q, quoit_mul_scalar(z, x, 2)), 0);
		for (int k = 0; k < i % 5; k++)
			cr_assert_eq(quoit_push(c.q, quoit_sub(z, x, y)), 0);
	}
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	cr_expect_eq(histograms_wait(&c.d, QUOIT_OP_ADD, 1000, 300000).bytes, 300000);
	cr_expect_eq(histograms_wait(&c.d, QUOIT_OP_MUL, 1000, 200000).bytes, 200000);
	cr_expect_eq(histograms_wait(&c.d, QUOIT_OP_SUB, 2000, 600000).bytes, 600000);
	cr_expect_eq(histograms_operation(&c.d, QUOIT_OP_SUB).jobs, 2000);
	client_close(&c);
}

/* The session ends before its counters would be copied out again. */
Test(histograms, what_a_session_does_last_is_counted)
{
	struct client c;
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor t;

	client_open(&c, NULL, NULL);
	for (int i = 1; i <= 10; i++) {
		s = client_session(&c, 4u << 20);
		cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
		t = quoit_create_vector(q, QUOIT_F32, 25);
		for (int k = 0; k < 7; k++)
			cr_assert_eq(quoit_push(q, quoit_fill(t, k)), 0);
		cr_assert_eq(quoit_wait_all(q, QUOIT_FOREVER), 0);
		quoit_close(s, 0);
	}
	cr_expect_eq(histograms_wait(&c.d, QUOIT_OP_FILL, 70, 7000).jobs, 70);
	cr_expect_eq(histograms_operation(&c.d, QUOIT_OP_FILL).bytes, 7000);
	client_close(&c);
}

/* Two sessions, one after the other: both are counted. */
Test(histograms, a_reactors_phases_are_those_of_all_its_sessions)
{
	struct house h = house_open(64);
	const unsigned naps = 5;

	for (unsigned i = 0; i < naps; i++)
		cr_assert_eq(house_run(h.q, house_nap(&h, QUOIT_NO_TENSOR, 30, SLEEP_WELL)), 0);
	quoit_close(h.s, 0);
	house_visit(&h, &h.s, &h.q);
	for (unsigned i = 0; i < naps; i++)
		cr_assert_eq(house_run(h.q, house_nap(&h, QUOIT_NO_TENSOR, 30, SLEEP_WELL)), 0);
	for (int i = 0; i < PATIENCE; i++, usleep(10 * MS))
		if (histograms_count(&h.d, QUOIT_OF_REACTOR, -1, "start_to_end") == 2 * naps)
			break;
	cr_expect_eq(histograms_count(&h.d, QUOIT_OF_REACTOR, -1, "start_to_end"), 2 * naps);
	cr_expect_eq(histograms_longer(&h.d, QUOIT_OF_REACTOR, -1, "start_to_end", 0.029),
		     2 * naps);
	cr_expect_eq(histograms_longer(&h.d, QUOIT_OF_REACTOR, -1, "waiting_for_data", 0.029), 0);
	house_close(&h);
}

/* Only its own session's file has them: a client may claim anything. */
Test(histograms, what_a_client_says_of_times_is_not_told_to_everybody)
{
	struct client c;

	client_open(&c, NULL, NULL);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(quoit_push(c.q, quoit_nop(QUOIT_NO_TENSOR)), 0);
		cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	}
	for (int i = 0; i < PATIENCE; i++, usleep(10 * MS))
		if (histograms_count(&c.d, QUOIT_OF_REACTOR, -1, "end_to_post"))
			break;
	cr_expect_gt(histograms_count(&c.d, QUOIT_OF_REACTOR, -1, "end_to_post"), 0);
	cr_expect_eq(histograms_count(&c.d, QUOIT_OF_REACTOR, -1, "submit_to_fetch"), 0);
	cr_expect_eq(histograms_count(&c.d, QUOIT_OF_REACTOR, -1, "post_to_reap"), 0);
	client_close(&c);
}

Test(histograms, a_cores_tiles_are_all_in_its_own)
{
	struct client c;
	quoit_tensor t;
	const struct quoit_totals *totals;
	uint64_t tiles = 0, counted = 1;

	client_open(&c, NULL, NULL);
	t = client_large(&c);
	client_busy(&c, t, 20);
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	totals = daemon_totals(&c.d);
	cr_assert(totals);
	for (int i = 0; i < PATIENCE && (!tiles || tiles != counted); i++, usleep(10 * MS)) {
		tiles = 0;
		for (unsigned k = 0; k < totals->header.cores; k++)
			tiles += __atomic_load_n(&totals->core[k].value[QUOIT_CORE_TILES],
						 __ATOMIC_RELAXED);
		counted = histograms_count(&c.d, QUOIT_OF_CORE, -1, QUOIT_TILE_LABEL);
	}
	cr_expect_geq(tiles, 20);
	cr_expect_eq(tiles, counted);
	daemon_totals_unmap(totals);
	client_close(&c);
}

Test(histograms, a_device_has_the_jobs_that_ran_there)
{
	struct device_room r = room_open("--gpu=soft:2", 64);
	quoit_tensor there = quoit_create_matrix(r.d, QUOIT_F32, 500, 500);
	quoit_tensor other = quoit_create_matrix(r.d, QUOIT_F32, 500, 500);
	uint64_t ended;

	cr_assert_eq(room_run(r.d, quoit_fill(there, 1.0), NULL), 0);
	for (int i = 0; i < 10; i++)
		cr_assert_eq(room_run(r.d, quoit_gemm(other, there, there, 0, 1, 0), NULL), 0);
	for (int i = 0; i < PATIENCE; i++, usleep(10 * MS)) {
		ended = histograms_count(&r.daemon, QUOIT_OF_DEVICE, 1, "start_to_end");
		if (ended >= 10)
			break;
	}
	cr_expect_geq(ended, 10);
	cr_expect_leq(ended, 11);
	cr_expect_geq(histograms_count(&r.daemon, QUOIT_OF_DEVICE, 1, "end_to_post"), 1);
	cr_expect_eq(histograms_count(&r.daemon, QUOIT_OF_DEVICE, 2, "start_to_end"), 0);
	room_close(&r);
}

Test(histograms, what_goes_to_a_device_counts_once)
{
	struct device_room r = room_open("--gpu=soft:1", 64);
	quoit_tensor here = quoit_create_vector(r.q, QUOIT_F32, 1000);
	quoit_tensor there = quoit_create_vector(r.d, QUOIT_F32, 1000);
	quoit_tensor beside = quoit_create_vector(r.d, QUOIT_F32, 1000);

	cr_assert_eq(room_run(r.q, quoit_fill(here, 1.0), NULL), 0);
	cr_assert_eq(room_run(r.d, quoit_fill(there, 2.0), NULL), 0);
	cr_assert_eq(room_run(r.q, quoit_copy(there, here), NULL), 0);
	cr_expect_eq(histograms_wait(&r.daemon, QUOIT_OP_COPY, 1, 4000).bytes, 4000);
	cr_assert_eq(room_run(r.d, quoit_copy(beside, there), NULL), 0);
	cr_expect_eq(histograms_wait(&r.daemon, QUOIT_OP_COPY, 2, 12000).bytes, 12000);
	room_close(&r);
}

Test(histograms, a_files_job_counts_what_was_read)
{
	struct house h = house_open(8);
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 100);
	char path[] = "/tmp/quoit-bytes-XXXXXX";
	int fd = mkstemp(path), file;

	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_eq(ftruncate(fd, 123), 0);
	file = quoit_add_file(h.s, fd);
	cr_assert_geq(file, 0);
	cr_assert_eq(house_run(h.q, quoit_read_file(t, file, 0)), 123);
	cr_assert_eq(house_run(h.q, quoit_write_file(t, file, 0)), 400);
	cr_expect_eq(histograms_wait(&h.d, QUOIT_OP_FILE_READ, 1, 123).bytes, 123);
	cr_expect_eq(histograms_wait(&h.d, QUOIT_OP_FILE_WRITE, 1, 400).bytes, 400);
	close(fd);
	house_close(&h);
}

Test(histograms, what_fails_has_moved_nothing)
{
	struct house h = house_open(8);
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 100),
		     u = quoit_create_vector(h.q, QUOIT_F32, 7);
	struct quoit_operation_totals o;

	cr_assert_eq(house_run(h.q, quoit_fill(t, 1)), 0);
	cr_assert_eq(house_run(h.q, quoit_add(u, t, t)), -EINVAL);
	o = histograms_wait(&h.d, QUOIT_OP_ADD, 1, 0);
	cr_expect_eq(o.jobs, 1);
	cr_expect_eq(o.bytes, 0);
	house_close(&h);
}

/* ---- refusals ---- */

Test(histograms, refused_jobs_are_counted_by_their_reason)
{
	struct house h = house_open(8);
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 100);
	struct quoit_sqe no_operation = {.opcode = 250};

	cr_assert_eq(house_run(h.q, no_operation), -EINVAL);
	cr_assert_eq(house_run(h.q, quoit_add(t, t, QUOIT_NO_TENSOR + 77)), -EBADF);
	cr_assert_eq(house_run(h.q, quoit_read_file(t, 3, 0)), -EBADF);
	for (int i = 0; i < PATIENCE; i++, usleep(10 * MS))
		if (total(&h.d, QUOIT_REACTOR_REFUSED_EBADF) == 2)
			break;
	cr_expect_eq(total(&h.d, QUOIT_REACTOR_REFUSED_EINVAL), 1);
	cr_expect_eq(total(&h.d, QUOIT_REACTOR_REFUSED_EBADF), 2);
	cr_expect_eq(total(&h.d, QUOIT_REACTOR_REFUSED_ENOTSUP), 0);
	house_close(&h);
}

/* ---- the file ---- */

static blkcnt_t blocks_of(const struct daemon *d, mode_t *ret_mode)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", d->folder, QUOIT_STATS_HISTOGRAMS);
	cr_assert_eq(stat(path, &st), 0);
	*ret_mode = st.st_mode & 07777;
	return st.st_blocks;
}

/* If its size changed, it would tell all users when another user's job was of a new length. */
Test(histograms, the_file_is_for_everybody_and_has_all_its_pages_from_the_start)
{
	struct house h = house_open(8);
	mode_t mode;
	blkcnt_t before = blocks_of(&h.d, &mode);

	cr_expect_eq(mode, 0444);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(house_run(h.q, house_nap(&h, QUOIT_NO_TENSOR, i, SLEEP_WELL)), 0);
	for (int i = 0; i < PATIENCE; i++, usleep(10 * MS))
		if (histograms_count(&h.d, QUOIT_OF_REACTOR, -1, "start_to_end"))
			break;
	cr_expect_eq(blocks_of(&h.d, &mode), before);
	house_close(&h);
}

/* ---- the tools ---- */

/* A number of the last line that quoit stat prints as JSON. */
static double last(const char *said, const char *key)
{
	const char *line = strrchr(said, '{');
	char quoted[32];

	snprintf(quoted, sizeof quoted, "\"%s\":", key);
	line = line ? strstr(line, quoted) : NULL;
	return line ? strtod(line + strlen(quoted), NULL) : -1;
}

Test(histograms, stat_tells_percentiles_of_the_interval)
{
	struct house h = house_open(8);
	char said[8192], line[512];
	FILE *from;
	size_t n;

	for (int i = 0; i < 20; i++)
		cr_assert_eq(house_run(h.q, house_nap(&h, QUOIT_NO_TENSOR, 1, SLEEP_WELL)), 0);
	for (int i = 0; i < PATIENCE; i++, usleep(10 * MS))
		if (histograms_count(&h.d, QUOIT_OF_REACTOR, -1, "fetch_to_end") >= 20)
			break;
	snprintf(line, sizeof line, "%s/quoit stat --json --socket=%s 3 2", tool_folder(),
		 h.d.socket);
	from = popen(line, "r");
	cr_assert(from && fgets(said, sizeof said, from));
	cr_expect(last(said, "p50_seconds") >= 0.00098 && last(said, "p50_seconds") < 0.1, "%s",
		  said);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(house_run(h.q, house_nap(&h, QUOIT_NO_TENSOR, 200, SLEEP_WELL)), 0);
	n = fread(said, 1, sizeof said - 1, from);
	said[n] = '\0';
	pclose(from);
	cr_expect_geq(last(said, "p50_seconds"), 0.98 * 0.2, "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "stat --json --socket=%s", h.d.socket), 0);
	cr_expect_lt(last(said, "p50_seconds"), 0.1, "since the start: %s", said);
	house_close(&h);
}

/*
 * Find the row below the title that begins with this word; `ret` gets the last line that was read.
 */
static bool find_row(FILE *from, const char *title, char *ret, size_t size)
{
	while (fgets(ret, (int)size, from))
		if (!strncmp(ret, title, strlen(title)))
			return fgets(ret, (int)size, from) != NULL;
	return false;
}

Test(histograms, top_tells_percentiles_of_the_interval)
{
	struct house h = house_open(8);
	char row[512], line[512];
	FILE *from;

	for (int i = 0; i < 20; i++)
		cr_assert_eq(house_run(h.q, house_nap(&h, QUOIT_NO_TENSOR, 1, SLEEP_WELL)), 0);
	snprintf(line, sizeof line, "%s/quoit top --batch -d 3 -n 2 -o session,p50 --socket=%s",
		 tool_folder(), h.d.socket);
	from = popen(line, "r");
	cr_assert(from && find_row(from, "SESSION", row, sizeof row));
	cr_expect(strchr(row, 'm') && strtod(row + 8, NULL) < 100, "%s", row);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(house_run(h.q, house_nap(&h, QUOIT_NO_TENSOR, 200, SLEEP_WELL)), 0);
	cr_assert(find_row(from, "SESSION", row, sizeof row));
	cr_expect(strchr(row, 'm') && strtod(row + 8, NULL) >= 0.98 * 200, "%s", row);
	pclose(from);
	house_close(&h);
}

Test(histograms, stat_tells_bytes_and_the_exporter_operations)
{
	struct house h = house_open(8);
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 1000000);
	char said[65536];

	for (int i = 0; i < 3; i++)
		cr_assert_eq(house_run(h.q, quoit_fill(t, 1)), 0);
	cr_assert_eq(histograms_wait(&h.d, QUOIT_OP_FILL, 3, 12000000).bytes, 12000000);
	cr_expect_eq(tool_run(said, sizeof said, "stat --json --socket=%s", h.d.socket), 0);
	cr_expect_gt(last(said, "moved_megabytes_per_second"), 0, "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "exporter --once --socket=%s", h.d.socket), 0);
	cr_expect(strstr(said, "\nquoit_operation_jobs_total{operation=\"fill\"} 3\n"));
	cr_expect(
		strstr(said, "\nquoit_operation_moved_bytes_total{operation=\"fill\"} 12000000\n"));
	cr_expect(strstr(said, "\nquoit_operation_run_seconds_total{operation=\"fill\"} 0."));
	cr_expect(strstr(
		said,
		"\nquoit_reactor_latency_seconds_count{reactor=\"0\",phase=\"start_to_end\"} "));
	cr_expect(strstr(said, "\nquoit_core_tile_duration_seconds_count{cpu="));
	house_close(&h);
}
