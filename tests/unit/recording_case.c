/* SPDX-License-Identifier: MIT */
/* recording_case.c - make up recordings, written as `quoit trace record` writes them */
#include "recording_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

void case_begin(struct recording_case *c)
{
	const struct trace_header header = {.magic = TRACE_MAGIC,
					    .version = TRACE_VERSION,
					    .header_bytes = sizeof header,
					    .tsc_hz = 1000000000,
					    .tsc = CASE_TSC,
					    .real_ns = 1700000000000000000u,
					    .cpus = 2,
					    .machine = "machine",
					    .command = "program --of=\"words\""};

	*c = (struct recording_case){.reader = {.fd = -1}};
	c->fd = memfd_create("recording", MFD_CLOEXEC);
	cr_assert_geq(c->fd, 0);
	cr_assert_eq(trace_writer_open(&c->writer, dup(c->fd), 1u << 30, &header), 0);
}

void case_session(struct recording_case *c, uint64_t number, const char *name)
{
	struct trace_session s = {.uid = 1000, .pid = 77, .cpu = 1};

	memcpy(s.name, name, strnlen(name, sizeof s.name));
	trace_writer_put(&c->writer, TRACE_SESSION, number, &s, sizeof s);
}

void case_put(struct recording_case *c, uint64_t session, const struct quoit_trace_record *record)
{
	trace_writer_put(&c->writer, TRACE_RECORDS, session, record, sizeof *record);
}

struct quoit_trace_record case_job(uint32_t index, uint64_t fetch, uint64_t start, uint64_t end)
{
	return (struct quoit_trace_record){.kind = QUOIT_TRACE_JOB,
					   .opcode = QUOIT_OP_GEMM,
					   .place = QUOIT_TRACE_WORKERS,
					   .job = {.sq_index = index,
						   .cq_index = index,
						   .fetch = CASE_TSC + fetch,
						   .start = CASE_TSC + start,
						   .end = CASE_TSC + end,
						   .post = CASE_TSC + end + 10}};
}

void case_event(struct recording_case *c, uint64_t session, unsigned kind, uint64_t at,
		uint32_t index, unsigned site)
{
	const struct quoit_trace_record record = {.kind = QUOIT_TRACE_CLIENT,
						  .opcode = 1,
						  .event[0] = {.tsc = CASE_TSC + at,
							       .index = index,
							       .kind = (uint16_t)kind,
							       .site = (uint16_t)site}};

	case_put(c, session, &record);
}

void case_level(struct recording_case *c, uint64_t session, uint64_t at, uint32_t open)
{
	const struct quoit_trace_record r = {.kind = QUOIT_TRACE_COUNTS,
					     .counts = {.tsc = CASE_TSC + at, .open = open}};

	case_put(c, session, &r);
}

void case_busy(struct recording_case *c, const char *name)
{
	case_begin(c);
	case_session(c, 1, name);
	case_event(c, 1, QUOIT_EVENT_SUBMIT, 50, 40, 0);
	case_event(c, 1, QUOIT_EVENT_WAIT, 80, 0, 3);
	for (uint32_t i = 0; i < 40; i++) {
		struct quoit_trace_record job = case_job(i, 100, 1000 + 100 * i, 1050 + 100 * i);

		case_put(c, 1, &job);
	}
	case_level(c, 1, 5050, 40);
	case_event(c, 1, QUOIT_EVENT_GO, 6000, 0, 3);
	case_event(c, 1, QUOIT_EVENT_REAP, 6010, 40, 0);
}

void case_write(struct recording_case *c)
{
	char path[64];

	if (c->writer.buffer)
		cr_assert_eq(trace_writer_close(&c->writer), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", c->fd);
	cr_assert_eq(trace_reader_open(&c->reader, path), 0, "%s", c->reader.why);
}

int case_load(struct recording_case *c)
{
	case_write(c);
	return recording_load(&c->reader, &c->rec);
}

char *case_text(struct recording_case *c, case_write_fn *write)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_eq(case_load(c), 0);
	cr_assert_eq(write(&c->reader, &c->rec, out), 0);
	fclose(out);
	return text;
}

uint8_t *case_bytes(struct recording_case *c, size_t *ret_size)
{
	struct stat st;
	uint8_t *bytes;

	if (c->writer.buffer)
		cr_assert_eq(trace_writer_close(&c->writer), 0);
	cr_assert_eq(fstat(c->fd, &st), 0);
	*ret_size = (size_t)st.st_size;
	bytes = malloc(*ret_size);
	cr_assert_eq(pread(c->fd, bytes, *ret_size, 0), st.st_size);
	return bytes;
}

void case_end(struct recording_case *c)
{
	recording_free(&c->rec);
	trace_reader_close(&c->reader);
	if (c->writer.buffer)
		(void)trace_writer_close(&c->writer);
	close(c->fd);
}
