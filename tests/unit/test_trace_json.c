/* SPDX-License-Identifier: MIT */
/* test_trace_json.c - recordings as JSON: lanes, arrows, counters */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <jansson.h>

#include "recording_case.h"
#include "trace/chrome.h"
#include "trace/lanes.h"
#include "trace/notes.h"

static void put(struct recording_case *c, struct quoit_trace_record job)
{
	case_put(c, 1, &job);
}

/* ---- lanes ---- */

Test(trace_lanes, nothing_in_a_lane_overlaps)
{
	struct lanes l = {0};
	int64_t end[LANES] = {0};
	unsigned none = 0;

	for (int64_t at = 100; at < 20000; at += 7) {
		int64_t begin = at - at * 7919 % 97;
		unsigned lane = lanes_find(&l, begin, at);

		none += lane == LANES;
		if (lane == LANES)
			continue;
		cr_assert_geq(begin, end[lane]);
		end[lane] = at;
	}
	cr_expect_eq(none, 0, "97 / 7 overlap at a time, and there are 16");
	for (unsigned i = 0; i < LANES; i++)
		(void)lanes_find(&l, 19000, 30000 + i);
	cr_expect_eq(lanes_find(&l, 19000, 40000), LANES);
}

/* ---- notes ---- */

/* A client that submits jobs 0 to 9 and 10 to 19, across the index's wrap, and reaps them. */
static void begin_with_notes(struct recording_case *c, struct notes *n, uint32_t first)
{
	case_begin(c);
	case_session(c, 1, "");
	case_event(c, 1, QUOIT_EVENT_SUBMIT, 100, first + 10, 0);
	case_event(c, 1, QUOIT_EVENT_SUBMIT, 200, first + 20, 0);
	case_event(c, 1, QUOIT_EVENT_REAP, 5000, first + 10, 0);
	case_event(c, 1, QUOIT_EVENT_REAP, 50, first + 4000, 0); /* impossible: it is earlier */
	case_event(c, 1, QUOIT_EVENT_REAP, 6000, first + 20, 0);
	put(c, case_job(first, 7000, 7100, 7200));
	cr_assert_eq(case_load(c), 0);
	cr_assert_eq(notes_load(n, &c->reader, &c->rec), 0);
}

Test(trace_notes, a_job_is_of_the_first_submit_and_the_first_reap_behind_it)
{
	for (unsigned i = 0; i < 2; i++) {
		uint32_t first = i ? UINT32_MAX - 4 : 77;
		struct recording_case c;
		struct recording_job job = {.fetch = 300, .post = 4000};
		struct notes n;
		int64_t at = 0;

		begin_with_notes(&c, &n, first);
		job.session = &c.rec.session[0];
		job.sq_index = job.cq_index = first;
		cr_expect(notes_submit(&n, &c.rec, &job, &at) && at == 100, "%d", (int)at);
		cr_expect(notes_reap(&n, &c.rec, &job, &at) && at == 5000, "%d", (int)at);
		job.sq_index = job.cq_index = first + 9;
		cr_expect(notes_submit(&n, &c.rec, &job, &at) && at == 100, "%d", (int)at);
		cr_expect(notes_reap(&n, &c.rec, &job, &at) && at == 5000, "%d", (int)at);
		job.sq_index = job.cq_index = first + 10;
		cr_expect(notes_submit(&n, &c.rec, &job, &at) && at == 200, "%d", (int)at);
		cr_expect(notes_reap(&n, &c.rec, &job, &at) && at == 6000, "%d", (int)at);
		job.sq_index = job.cq_index = first + 20;
		cr_expect_not(notes_submit(&n, &c.rec, &job, &at), "nobody has noted it");
		cr_expect_not(notes_reap(&n, &c.rec, &job, &at));
		job.sq_index = first;
		job.fetch = 50;
		cr_expect_not(notes_submit(&n, &c.rec, &job, &at), "it was fetched before that");
		job.quiet = true;
		job.cq_index = first;
		cr_expect_not(notes_reap(&n, &c.rec, &job, &at), "it has no CQE");
		notes_free(&n);
		case_end(&c);
	}
}

/* ---- JSON ---- */

static json_t *events_of(struct recording_case *c)
{
	json_error_t error;
	json_t *json, *events;
	char *text;

	text = case_text(c, chrome_write);
	json = json_loads(text, 0, &error);
	cr_assert(json, "%s at line %d", error.text, error.line);
	free(text);
	events = json_incref(json_object_get(json, "traceEvents"));
	json_decref(json);
	return events;
}

static double number(const json_t *event, const char *key)
{
	return json_number_value(json_object_get(event, key));
}

static const char *word(const json_t *event, const char *key)
{
	return json_string_value(json_object_get(event, key));
}

/* How many events have this kind (ph) and name (NULL: any). */
static unsigned count(json_t *events, const char *ph, const char *name)
{
	unsigned n = 0;
	size_t i;
	json_t *e;

	json_array_foreach(events, i, e) n +=
		!strcmp(word(e, "ph"), ph) && (!name || !strcmp(word(e, "name"), name));
	return n;
}

Test(trace_json, each_arrow_has_both_ends_and_goes_through_its_job)
{
	struct recording_case c;
	json_t *events, *e;
	unsigned begun[64] = {0}, ended[64] = {0};
	size_t i;

	case_busy(&c, "busy");
	events = events_of(&c);
	cr_expect_eq(count(events, "s", NULL), 40);
	cr_expect_eq(count(events, "f", NULL), 40);
	json_array_foreach(events, i, e)
	{
		unsigned id = (unsigned)number(e, "id") % 64;

		if (*word(e, "ph") == 's')
			begun[id]++;
		if (*word(e, "ph") == 'f') {
			ended[id]++;
			cr_expect_str_eq(word(e, "bp"), "e");
		}
	}
	for (i = 0; i < 64; i++)
		cr_expect(begun[i] == ended[i] && begun[i] <= 1, "%zu", i);
	json_decref(events);
	case_end(&c);
}

Test(trace_json, slices_of_a_track_do_not_overlap_and_none_is_missing)
{
	struct recording_case c;
	json_t *events, *a, *b;
	size_t i, k;

	case_busy(&c, "busy");
	events = events_of(&c);
	/*
	 * On the ring's lanes or beside them; where it ran; and the client's submit, wait and reap.
	 */
	cr_expect_eq(count(events, "X", "gemm") + count(events, "b", "gemm"), 80);
	cr_expect_eq(count(events, "b", NULL), 40 - LANES);
	cr_expect_eq(count(events, "b", NULL), count(events, "e", NULL));
	cr_expect_eq(count(events, "X", "submit"), 1);
	cr_expect_eq(count(events, "X", "reap"), 1);
	cr_expect_eq(count(events, "X", "waits at ?"), 1);
	json_array_foreach(events, i, a) json_array_foreach(
		events, k, b) if (i < k && *word(a, "ph") == 'X' && *word(b, "ph") == 'X' &&
				  number(a, "pid") == number(b, "pid") &&
				  number(a, "tid") == number(b, "tid"))
		cr_expect(number(a, "ts") + number(a, "dur") <= number(b, "ts") + 1e-9 ||
				  number(b, "ts") + number(b, "dur") <= number(a, "ts") + 1e-9,
			  "%zu %zu", i, k);
	json_decref(events);
	case_end(&c);
}

/* How many slices lie on tracks of this name, and the place of these among the tracks. */
static unsigned count_on(json_t *events, const char *track, double *ret_order)
{
	unsigned n = 0;
	size_t i, k;
	json_t *e, *slice;

	*ret_order = -1;
	json_array_foreach(events, i, e)
	{
		const json_t *name = json_object_get(json_object_get(e, "args"), "name");

		if (!name || strcmp(json_string_value(name), track) != 0)
			continue;
		json_array_foreach(events, k, slice) n +=
			*word(slice, "ph") == 'X' && number(slice, "pid") == number(e, "pid") &&
			number(slice, "tid") == number(e, "tid");
		*ret_order = number(json_object_get(json_array_get(events, i + 1), "args"),
				    "sort_index");
	}
	return n;
}

Test(trace_json, each_stream_of_a_device_has_its_track_in_their_order)
{
	static const struct {
		unsigned place;
		const char *track;
	} rows[] = {
		{QUOIT_TRACE_WORKERS, "workers of reactor 0"},
		{QUOIT_TRACE_BRIDGE, "bridge between devices"},
		{QUOIT_TRACE_TEAM, "functions of programs"},
		{QUOIT_TRACE_SERVICE, "functions of services"},
		{QUOIT_TRACE_DEVICE + 2, "device 2"},
		{QUOIT_TRACE_STREAM + 2, "device 1, stream 2"},
		{QUOIT_TRACE_STREAM + 3, "device 1, stream 3"},
		{QUOIT_TRACE_STREAM + QUOIT_TRACE_DIRECT, "device 1, direct ring"},
		{QUOIT_TRACE_STREAM + QUOIT_TRACE_STREAMS, "device 2, stream 0"},
	};
	const unsigned count = sizeof rows / sizeof rows[0];
	double order, before = -1;
	struct recording_case c;
	json_t *events;

	case_begin(&c);
	case_session(&c, 1, "");
	for (unsigned i = 0; i < 3 * count; i++) { /* the last ones come first */
		struct quoit_trace_record job = case_job(i, 0, 100 + 100 * i, 150 + 100 * i);

		job.place = (uint8_t)rows[count - 1 - i % count].place;
		put(&c, job);
	}
	events = events_of(&c);
	for (unsigned i = 0; i < count; i++) {
		cr_expect_eq(count_on(events, rows[i].track, &order), 3, "%s", rows[i].track);
		cr_expect_gt(order, before, "%s", rows[i].track);
		before = order;
	}
	json_decref(events);
	case_end(&c);
}

/* ---- calls of things with a name ---- */

/* Of job `index`: it asked at 1000 ns and began at `began`. */
static struct quoit_trace_record call_of(uint32_t index, uint32_t kind, uint8_t function,
					 uint64_t began, uint64_t ended)
{
	return (struct quoit_trace_record){.kind = QUOIT_TRACE_NAMED,
					   .opcode = QUOIT_OP_CALL,
					   .named = {.sq_index = index,
						     .kind = (uint8_t)kind,
						     .function = function,
						     .number = 40 + kind,
						     .asked = CASE_TSC + 1000,
						     .began = CASE_TSC + began,
						     .ended = CASE_TSC + ended,
						     .pid = kind ? 0 : 77}};
}

static void put_name(struct recording_case *c, uint32_t kind, uint32_t uid, const char *name)
{
	struct trace_name n = {.number = 40 + kind, .uid = uid, .kind = kind};

	memcpy(n.name, name, strnlen(name, sizeof n.name));
	trace_writer_put(&c->writer, TRACE_NAMES, 1, &n, sizeof n);
}

static void put_call(struct recording_case *c, struct quoit_trace_record call, unsigned place)
{
	struct quoit_trace_record job =
		case_job(call.named.sq_index, 1000, call.named.began - CASE_TSC,
			 call.named.ended - CASE_TSC);

	job.opcode = QUOIT_OP_CALL;
	job.place = (uint8_t)place;
	put(c, call);
	put(c, job);
}

Test(trace_json, waits_for_others_and_calls_have_the_names_of_what_they_are_of)
{
	struct recording_case c;
	double order;
	json_t *events;

	case_begin(&c);
	case_session(&c, 1, "");
	put_name(&c, QUOIT_SYNC_LOCK, 1000, "ledger");
	put_name(&c, 0, 4000001, "fft");
	put_call(&c, call_of(0, QUOIT_SYNC_LOCK, QUOIT_SYNC_LOCK_IT, 5000, 5000), QUOIT_TRACE_SYNC);
	put_call(&c, call_of(1, QUOIT_SYNC_LOCK, QUOIT_SYNC_UNLOCK, 6000, 6000), QUOIT_TRACE_SYNC);
	put_call(&c, call_of(2, QUOIT_SYNC_QUEUE, QUOIT_SYNC_RECEIVE, 7000, 7000),
		 QUOIT_TRACE_SYNC);
	put_call(&c, call_of(3, 0, 2, 8000, 9000), QUOIT_TRACE_SERVICE);
	put_call(&c, call_of(4, QUOIT_SYNC_FLAG, QUOIT_SYNC_WAIT_FLAG, 1000, 1000),
		 QUOIT_TRACE_SYNC);
	events = events_of(&c);
	cr_expect_eq(count(events, "X", "waits for lock ledger"), 1);
	cr_expect_eq(count(events, "X", "lock ledger"), 1, "the job on its ring");
	cr_expect_eq(count(events, "X", "unlock of lock ledger"), 1);
	cr_expect_eq(count(events, "X", "waits for messages of queue 45"), 1,
		     "its name is not known");
	cr_expect_eq(count(events, "X", "waits for service 4000001/fft"), 1);
	cr_expect_eq(count(events, "X", "call of service 4000001/fft"), 1);
	cr_expect_eq(count(events, "X", "waits for flag 42"), 0, "it did not wait");
	cr_expect_eq(count_on(events, "service 4000001/fft, PID 77", &order), 1);
	cr_expect_eq(count(events, "X", "call of session 1"), 1);
	cr_expect_eq(count_on(events, "functions of services", &order), 0);
	json_decref(events);
	case_end(&c);
}

/* Names may have any bytes, and records may be nonsense. */
Test(trace_json, hostile_names_and_calls_leave_the_text_whole)
{
	struct quoit_trace_record bad = call_of(0, QUOIT_SYNC_LOCK, 255, 5000, 5000);
	struct recording_case c;
	json_t *events;

	case_begin(&c);
	case_session(&c, 1, "");
	put_name(&c, QUOIT_SYNC_LOCK, 0,
		 "\"\n\xff</script>0123456789012345678901234567890123456789");
	put_name(&c, QUOIT_SYNC_NR, 0, "none");
	put_call(&c, bad, QUOIT_TRACE_SYNC);
	bad.named.kind = 255;
	put(&c, bad);
	bad = call_of(1, 0, 255, UINT64_MAX / 2, 0);
	bad.named.stalled = UINT64_MAX;
	put(&c, bad);
	events = events_of(&c);
	cr_expect_gt(json_array_size(events), 0);
	cr_expect_eq(c.rec.damaged, 1);
	json_decref(events);
	case_end(&c);
}

Test(trace_json, counters_and_names_of_tracks_are_there)
{
	struct recording_case c;
	json_t *events;

	case_busy(&c, "busy");
	events = events_of(&c);
	cr_expect_eq(count(events, "C", "jobs"), 1);
	cr_expect_eq(count(events, "C", "queue depth"), 1);
	cr_expect_eq(count(events, "C", "memory"), 1);
	cr_expect_eq(count(events, "M", "process_name"), 2);
	cr_expect_geq(count(events, "M", "thread_name"), 3);
	json_decref(events);
	case_end(&c);
}

Test(trace_json, a_recording_of_nothing_is_valid_json)
{
	struct recording_case c;

	case_begin(&c);
	json_decref(events_of(&c));
	case_end(&c);
}
