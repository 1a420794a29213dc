/* SPDX-License-Identifier: MIT */
/* latency.c - read and evaluate a session's phases, operations and call sites */
#include "latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buckets.h"
#include "counters.h"

#define MOST_BYTES  (1u << 20)
#define TABLE_BYTES (QUOIT_MAX_SITES * sizeof(struct quoit_site))

#define LABEL(name, text) text,
static const char *const labels[QUOIT_PHASE_NR] = {QUOIT_PHASES(LABEL)};
#undef LABEL

const char *latency_label(unsigned phase)
{
	return labels[phase];
}

/* ---- reading ---- */

/* Check the file's head, as far as the labels. */
static int check(const struct quoit_session_latency *head, size_t size)
{
	const size_t labels_at = offsetof(struct quoit_session_latency, label);
	const struct quoit_stats_header *h = &head->header;
	const size_t phase_bytes = QUOIT_LATENCY_BUCKETS * sizeof(uint64_t);

	if (size < labels_at || h->magic != QUOIT_STATS_MAGIC)
		return -EBADMSG;
	if (h->version != QUOIT_STATS_VERSION || h->label_bytes != QUOIT_LABEL_BYTES ||
	    head->buckets != QUOIT_LATENCY_BUCKETS || head->parts != QUOIT_LATENCY_PARTS)
		return -EPROTONOSUPPORT;
	if (h->file_bytes > size || h->header_bytes > h->file_bytes ||
	    h->counters > (h->file_bytes - h->header_bytes) / phase_bytes ||
	    h->header_bytes < labels_at ||
	    h->counters > (h->header_bytes - labels_at) / QUOIT_LABEL_BYTES ||
	    head->operations > QUOIT_OP_NR || head->operations_at > h->file_bytes ||
	    head->operations * sizeof(struct quoit_operation_block) >
		    h->file_bytes - head->operations_at ||
	    head->site_rings > QUOIT_SITE_RINGS || head->sites_at > h->file_bytes ||
	    head->site_rings * TABLE_BYTES > h->file_bytes - head->sites_at)
		return -EBADMSG;
	return 0;
}

/* The word with this number behind the labels; 0: the file has none.  The file has been checked. */
static uint32_t word_behind_labels(const struct quoit_session_latency *head, const uint8_t *file,
				   unsigned word)
{
	const size_t labels_at = offsetof(struct quoit_session_latency, label);
	size_t at = labels_at + (size_t)head->header.counters * QUOIT_LABEL_BYTES +
		    word * sizeof(uint32_t);
	uint32_t said;

	/* an older file has its operations there */
	if (at + sizeof said > head->header.header_bytes || at + sizeof said > head->operations_at)
		return 0;
	memcpy(&said, file + at, sizeof said);
	return said;
}

/* The offset in that word, if so many bytes of the file are there; 0: it has none. */
static uint32_t offset_behind_labels(const struct quoit_session_latency *head, const uint8_t *file,
				     unsigned word, size_t bytes)
{
	const uint32_t at = word_behind_labels(head, file, word);

	return at <= head->header.file_bytes && bytes <= head->header.file_bytes - at ? at : 0;
}

static unsigned find(const char *label)
{
	unsigned i = 0;

	while (i < QUOIT_PHASE_NR && strncmp(label, labels[i], QUOIT_LABEL_BYTES))
		i++;
	return i;
}

static const struct latency_site *find_site(const struct latency *l, const char *name)
{
	for (unsigned i = 0; i < l->sites; i++)
		if (!strcmp(l->site[i].name, name))
			return &l->site[i];
	return NULL;
}

/* Sites of one name are joined; sites without room are left out. */
static void add_site(struct latency *l, const struct quoit_site *from, uint64_t held)
{
	struct latency_site one = {
		.waits = from->waits, .ticks = from->ticks, .longest = from->longest, .held = held};
	struct latency_site *known;

	if (!from->waits && !held)
		return;
	memcpy(one.name, from->name, sizeof from->name);
	known = (struct latency_site *)find_site(l, one.name);
	if (known) {
		known->waits += one.waits;
		known->ticks += one.ticks;
		known->longest = one.longest > known->longest ? one.longest : known->longest;
		known->held += one.held;
	} else if (l->sites < QUOIT_MAX_SITES) {
		l->site[l->sites++] = one;
	}
}

static void take_sites(const struct quoit_session_latency *head, const uint8_t *file,
		       struct latency *ret)
{
	const unsigned sites = head->site_rings * QUOIT_MAX_SITES;
	const uint32_t held_at =
		offset_behind_labels(head, file, 1, sites * sizeof(struct quoit_site_held));

	for (unsigned i = 0; i < sites; i++) {
		struct quoit_site_held held = {0};
		struct quoit_site site;

		memcpy(&site, file + head->sites_at + i * sizeof site, sizeof site);
		if (held_at)
			memcpy(&held, file + held_at + i * sizeof held, sizeof held);
		add_site(ret, &site, held.ticks);
	}
}

static void take_operations(const struct quoit_session_latency *head, const uint8_t *file,
			    struct latency *ret)
{
	uint32_t at = offset_behind_labels(head, file, 0, head->operations * sizeof(uint64_t));

	ret->bytes_known = at != 0;
	for (unsigned i = 0; i < head->operations; i++) {
		struct latency_operation *o = &ret->operation[i];
		struct quoit_operation_block block;

		memcpy(&block, file + head->operations_at + i * sizeof block, sizeof block);
		*o = (struct latency_operation){block.jobs, block.timed, block.ticks, 1, 0};
		if (at)
			memcpy(&o->bytes, file + at + i * sizeof o->bytes, sizeof o->bytes);
		if (block.timed > block.jobs)
			o->share = (double)block.jobs / (double)block.timed;
	}
}

static void take_named(const struct quoit_session_latency *head, const uint8_t *file,
		       struct latency *ret)
{
	const uint32_t named = word_behind_labels(head, file, 3);
	uint32_t at = 0;

	if (named <= QUOIT_MAX_SERVICES)
		at = offset_behind_labels(head, file, 2, named_waits_bytes(named));
	if (at)
		named_waits_take(file + at, named, &ret->named);
}

static int take_head(const void *bytes, size_t size, struct quoit_session_latency *ret)
{
	const size_t labels_at = offsetof(struct quoit_session_latency, label);

	memset(ret, 0, labels_at);
	memcpy(ret, bytes, size < labels_at ? size : labels_at);
	return check(ret, size);
}

int latency_parse(const void *bytes, size_t size, struct latency *ret)
{
	const size_t labels_at = offsetof(struct quoit_session_latency, label);
	struct quoit_session_latency head;
	const uint8_t *file = bytes;
	int err = take_head(bytes, size, &head);

	if (err)
		return err;
	*ret = (struct latency){.session = head.session,
				.daemon_pid = head.header.daemon_pid,
				.started_ns = head.header.started_ns,
				.tick_ns =
					head.header.tsc_hz ? 1e9 / (double)head.header.tsc_hz : 0};
	for (unsigned i = 0; i < head.header.counters; i++) {
		unsigned phase = find((const char *)file + labels_at + i * QUOIT_LABEL_BYTES);

		if (phase == QUOIT_PHASE_NR)
			continue;
		ret->known[phase] = true;
		memcpy(ret->count[phase],
		       file + head.header.header_bytes + i * sizeof ret->count[0],
		       sizeof ret->count[0]);
	}
	take_operations(&head, file, ret);
	take_sites(&head, file, ret);
	take_named(&head, file, ret);
	return 0;
}

/* Read a session's file into memory, which the caller frees; returns its bytes, or -errno. */
static int64_t read_file(struct session_files *files, uint64_t session, char **ret)
{
	*ret = malloc(MOST_BYTES);
	return *ret ? session_files_read(files, QUOIT_COUNTERS_LATENCY, session, *ret, MOST_BYTES)
		    : -ENOMEM;
}

int latency_read(struct session_files *files, uint64_t session, struct latency *ret)
{
	char *buffer;
	int64_t n = read_file(files, session, &buffer);

	if (n > 0)
		n = latency_parse(buffer, (size_t)n, ret);
	if (!n && ret->session != session)
		n = -EBADMSG;
	free(buffer);
	return (int)n;
}

int latency_parse_sites(const void *bytes, size_t size,
			struct quoit_site ret[QUOIT_SITE_RINGS][QUOIT_MAX_SITES])
{
	struct quoit_session_latency head;
	int err;

	err = take_head(bytes, size, &head);
	if (err)
		return err;
	memset(ret, 0, QUOIT_SITE_RINGS * TABLE_BYTES);
	memcpy(ret, (const uint8_t *)bytes + head.sites_at, head.site_rings * TABLE_BYTES);
	return 0;
}

int latency_read_sites(struct session_files *files, uint64_t session,
		       struct quoit_site ret[QUOIT_SITE_RINGS][QUOIT_MAX_SITES])
{
	char *buffer;
	int64_t n = read_file(files, session, &buffer);

	if (n > 0)
		n = latency_parse_sites(buffer, (size_t)n, ret);
	free(buffer);
	return (int)n;
}

/* ---- evaluation ---- */

static uint64_t less(uint64_t to, uint64_t from)
{
	return to > from ? to - from : 0;
}

void latency_since(const struct latency *from, struct latency *to)
{
	if (!from || from->session != to->session)
		return;
	for (unsigned phase = 0; phase < QUOIT_PHASE_NR; phase++)
		for (unsigned i = 0; i < QUOIT_LATENCY_BUCKETS; i++)
			to->count[phase][i] = less(to->count[phase][i], from->count[phase][i]);
	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		struct latency_operation *o = &to->operation[i];

		o->jobs = less(o->jobs, from->operation[i].jobs);
		o->timed = less(o->timed, from->operation[i].timed);
		o->ticks = less(o->ticks, from->operation[i].ticks);
		o->bytes = less(o->bytes, from->operation[i].bytes);
	}
	for (unsigned i = 0; i < to->sites; i++) {
		const struct latency_site *before = find_site(from, to->site[i].name);

		if (!before)
			continue;
		to->site[i].waits = less(to->site[i].waits, before->waits);
		to->site[i].ticks = less(to->site[i].ticks, before->ticks);
		to->site[i].held = less(to->site[i].held, before->held);
	}
	named_waits_since(&from->named, &to->named);
}

uint64_t latency_jobs(const struct latency *l, unsigned phase)
{
	return buckets_count(l->count[phase]);
}

double latency_percentile(const struct latency *l, unsigned phase, double percent)
{
	double ticks = buckets_percentile(l->count[phase], percent);

	return l->known[phase] && ticks >= 0 && l->tick_ns > 0 ? ticks * l->tick_ns : -1;
}

double latency_sum(const struct latency *l, unsigned phase)
{
	return buckets_sum(l->count[phase]) * l->tick_ns;
}

double latency_operation_ns(const struct latency *l, unsigned operation)
{
	const struct latency_operation *o = &l->operation[operation];

	return (double)o->ticks * l->tick_ns * o->share;
}

double latency_operation_mean(const struct latency *l, unsigned operation)
{
	const struct latency_operation *o = &l->operation[operation];

	return o->timed ? (double)o->ticks * l->tick_ns / (double)o->timed : -1;
}
