/* SPDX-License-Identifier: MIT */
/*
 * fuzz_trace.c - read any bytes as recordings, and as sessions' trace files.
 *
 * The first byte chooses: the bytes as they are, or as the chunks of a recording with valid heads,
 * so that their contents are reached.  Required: a recording is refused with a reason, or all
 * output is whole: JSON is JSON, arrows have both ends, and a page has only its own elements.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

#include "read/latency.h"
#include "trace/chrome.h"
#include "trace/page.h"
#include "trace/writer.h"

#define MOST_BYTES 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "fuzz_trace: line %d: %s\n", __LINE__, #condition);        \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* ---- checks of the output ---- */

typedef int write_fn(struct trace_reader *r, struct recording *rec, FILE *out);

static char *make(struct trace_reader *r, struct recording *rec, write_fn *write)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = write(r, rec, out);

	fclose(out);
	REQUIRE(!err);
	return text;
}

static void check_arrows(json_t *events)
{
	long ends = 0;
	size_t i;
	json_t *e;

	json_array_foreach(events, i, e)
	{
		const char *ph = json_string_value(json_object_get(e, "ph"));

		ends += *ph == 's' ? 1 : *ph == 'f' ? -1 : 0;
	}
	REQUIRE(ends == 0);
}

static void check_json(char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	REQUIRE(json);
	check_arrows(json_object_get(json, "traceEvents"));
	json_decref(json);
	free(text);
}

static void check_page(char *text)
{
	char *data = strstr(text, "id=\"data\">"), *end = data ? strstr(data, "</script>") : NULL;
	json_t *json;

	REQUIRE(end);
	*end = '\0';
	json = json_loads(data + strlen("id=\"data\">"), 0, NULL);
	REQUIRE(json);
	json_decref(json);
	end = strstr(end + 1, "</script>");
	REQUIRE(end && !strstr(end + 1, "</script>"));
	free(text);
}

static void try(struct trace_reader *r, bool page)
{
	struct recording rec;
	int err = recording_load(r, &rec);

	REQUIRE(err == 0 || *r->why);
	if (!err && page)
		check_page(make(r, &rec, page_write));
	else if (!err)
		check_json(make(r, &rec, chrome_write));
	recording_free(&rec);
}

static void try_bytes(const uint8_t *data, size_t size, bool page)
{
	struct trace_reader r;
	int err = trace_reader_take(&r, data, size);

	REQUIRE(err == 0 || *r.why);
	if (!err)
		try(&r, page);
	trace_reader_close(&r);
}

/* ---- chunks ---- */

static const uint8_t *put_chunk(const uint8_t *at, const uint8_t *end, uint8_t **to)
{
	struct trace_chunk chunk = {.type = at[0] % 7u, .session = at[1] % 4u};
	size_t bytes = (size_t)at[2] * 8;

	/* small numbers are likely as times and indices: spread them */
	if (chunk.type == TRACE_RECORDS)
		bytes = (at[2] % 8u + 1) * sizeof(struct quoit_trace_record);
	at += 3;
	chunk.bytes = (uint32_t)bytes;
	memcpy(*to, &chunk, sizeof chunk);
	memset(*to + sizeof chunk, 0, bytes);
	bytes = bytes < (size_t)(end - at) ? bytes : (size_t)(end - at);
	memcpy(*to + sizeof chunk, at, bytes);
	*to += sizeof chunk + chunk.bytes;
	return at + bytes;
}

/* Make kinds and times valid where the parser would otherwise skip the contents. */
static void mend(uint8_t *from, const uint8_t *end)
{
	struct trace_chunk chunk;
	struct quoit_trace_record r;

	for (; from < end; from += sizeof chunk + chunk.bytes) {
		memcpy(&chunk, from, sizeof chunk);
		for (size_t at = 0; chunk.type == TRACE_RECORDS && at + sizeof r <= chunk.bytes;
		     at += sizeof r) {
			memcpy(&r, from + sizeof chunk + at, sizeof r);
			r.kind %= 6;
			r.ring %= 66;
			for (unsigned i = 0; i < 7; i++)
				r.word[i] &= r.opcode & 64 ? UINT64_MAX : 0xffffff0fffffffull;
			memcpy(from + sizeof chunk + at, &r, sizeof r);
		}
	}
}

static void try_chunks(const uint8_t *data, size_t size, bool page)
{
	static uint8_t file[sizeof(struct trace_header) + 16 * MOST_BYTES + 65536];
	struct trace_header header = {.magic = TRACE_MAGIC,
				      .version = TRACE_VERSION,
				      .header_bytes = sizeof header,
				      .tsc_hz = 1000000000};
	const uint8_t *end = data + size;
	uint8_t *to = file + sizeof header;

	memcpy(file, &header, sizeof header);
	while (end - data >= 3 && to < file + 16 * MOST_BYTES)
		data = put_chunk(data, end, &to);
	mend(file + sizeof header, to);
	try_bytes(file, (size_t)(to - file), page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct quoit_site sites[QUOIT_SITE_RINGS][QUOIT_MAX_SITES];

	if (!size || size > MOST_BYTES)
		return 0;
	(void)latency_parse_sites(data, size, sites);
	if (data[0] % 8 == 0)
		try_bytes(data + 1, size - 1, data[0] & 8);
	else
		try_chunks(data + 1, size - 1, data[0] & 8);
	return 0;
}
