/* SPDX-License-Identifier: MIT */
/* counters_case.c - make valid counter files for tests of the tools that read them */
#include "counters_case.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LABEL(name, text) text,
static const char *const session_labels[] = {QUOIT_SESSION_STATS(LABEL)};
static const char *const reactor_labels[] = {QUOIT_REACTOR_STATS(LABEL)};
static const char *const core_labels[] = {QUOIT_CORE_STATS(LABEL)};
static const char *const daemon_labels[] = {QUOIT_DAEMON_STATS(LABEL)};
#undef LABEL

static struct quoit_stats_header header(uint32_t header_bytes, uint32_t file_bytes,
					uint32_t counters)
{
	return (struct quoit_stats_header){.magic = QUOIT_STATS_MAGIC,
					   .version = QUOIT_STATS_VERSION,
					   .header_bytes = header_bytes,
					   .file_bytes = file_bytes,
					   .label_bytes = QUOIT_LABEL_BYTES,
					   .daemon_pid = 77,
					   .counters = counters,
					   .reactors = 2};
}

void counters_case_session(struct quoit_session_stats *s)
{
	memset(s, 0, sizeof *s);
	s->header =
		header(offsetof(struct quoit_session_stats, value), sizeof *s, QUOIT_SESSION_NR);
	s->session = 5;
	memset(s->name, 'x', sizeof s->name);
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++) {
		snprintf(s->label[i], sizeof s->label[i], "%s", session_labels[i]);
		s->value[i] = 100 + i;
	}
}

void counters_case_totals(struct quoit_totals *t)
{
	memset(t, 0, sizeof *t);
	t->header = header(offsetof(struct quoit_totals, value), sizeof *t, QUOIT_DAEMON_NR);
	for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++) {
		snprintf(t->daemon_label[i], sizeof t->daemon_label[i], "%s", daemon_labels[i]);
		t->value[i] = 100 + i;
	}
	for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++) {
		snprintf(t->reactor_label[i], sizeof t->reactor_label[i], "%s", reactor_labels[i]);
		for (unsigned r = 0; r < 2; r++)
			t->reactor[r].value[i] = 1000 * r + i;
	}
	t->reactor[1].cpu = 9;
	t->header.reactor_counters = QUOIT_REACTOR_NR;
	t->header.core_counters = QUOIT_CORE_NR;
	t->header.cores = 3;
	t->header.cores_at = offsetof(struct quoit_totals, core);
	for (unsigned i = 0; i < QUOIT_CORE_NR; i++) {
		snprintf(t->core_label[i], sizeof t->core_label[i], "%s", core_labels[i]);
		for (unsigned c = 0; c < 3; c++)
			t->core[c].value[i] = 5000 + 100 * c + i;
	}
	t->core[2].cpu = 11;
}

void counters_case_latency(struct quoit_session_latency *l)
{
	static const char *const labels[QUOIT_PHASE_NR] = {
#define LABEL(name, text) text,
		QUOIT_PHASES(LABEL)
#undef LABEL
	};

	memset(l, 0, sizeof *l);
	l->header = (struct quoit_stats_header){
		.magic = QUOIT_STATS_MAGIC,
		.version = QUOIT_STATS_VERSION,
		.header_bytes = offsetof(struct quoit_session_latency, count),
		.file_bytes = sizeof *l,
		.label_bytes = QUOIT_LABEL_BYTES,
		.tsc_hz = 1000000000,
		.counters = QUOIT_PHASE_NR};
	l->session = 7;
	l->buckets = QUOIT_LATENCY_BUCKETS;
	l->parts = QUOIT_LATENCY_PARTS;
	l->operations = QUOIT_OP_NR;
	l->operations_at = offsetof(struct quoit_session_latency, operation);
	l->bytes_at = offsetof(struct quoit_session_latency, bytes);
	l->sites_at = offsetof(struct quoit_session_latency, site);
	l->held_at = offsetof(struct quoit_session_latency, held);
	l->named_at = offsetof(struct quoit_session_latency, named_now);
	l->named = QUOIT_MAX_SERVICES;
	l->site_rings = QUOIT_SITE_RINGS;
	for (unsigned i = 0; i < QUOIT_PHASE_NR; i++)
		strcpy(l->label[i], labels[i]);
}
