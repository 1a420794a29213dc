/* SPDX-License-Identifier: MIT */
/* recorder_sites.c - write the names of the call sites in a recording's waits and holds */
#include <string.h>

#include "read/latency.h"
#include "recorder_private.h"

#define SITES_NS      20000000u
#define SITES_MOST_NS 1000000000u

static void want(struct recorder_tail *t, unsigned ring, uint32_t site)
{
	if (ring < QUOIT_SITE_RINGS && site && site < QUOIT_MAX_SITES)
		t->wanted[ring] |= UINT64_C(1) << site;
}

void recorder_want_sites(struct recorder_tail *t, const struct quoit_trace_record *record)
{
	if (record->kind == QUOIT_TRACE_HOLD)
		want(t, record->ring, record->hold.site);
	for (unsigned i = 0;
	     record->kind == QUOIT_TRACE_CLIENT && i < QUOIT_TRACE_EVENTS && i < record->opcode;
	     i++)
		if (record->event[i].kind == QUOIT_EVENT_WAIT)
			want(t, record->ring, record->event[i].site);
}

static bool lacks_sites(const struct recorder_tail *t)
{
	for (unsigned ring = 0; ring < QUOIT_SITE_RINGS; ring++)
		if (t->wanted[ring] & ~t->known[ring])
			return true;
	return false;
}

/* Write the names that the client has given by now. */
static void put_sites(struct recorder *r, struct recorder_tail *t)
{
	static struct quoit_site table[QUOIT_SITE_RINGS][QUOIT_MAX_SITES];
	static struct trace_site new[QUOIT_SITE_RINGS * QUOIT_MAX_SITES];
	unsigned count = 0;

	if (latency_read_sites(&r->files, t->tail.number, table) < 0)
		return;
	for (uint32_t ring = 0; ring < QUOIT_SITE_RINGS; ring++)
		for (uint32_t site = 0; site < QUOIT_MAX_SITES; site++) {
			if (!*table[ring][site].name || t->known[ring] >> site & 1)
				continue;
			t->known[ring] |= UINT64_C(1) << site;
			new[count] = (struct trace_site){.ring = ring, .site = site};
			memcpy(new[count++].name, table[ring][site].name, sizeof new->name);
		}
	if (count && trace_writer_has_room(&r->writer, count * sizeof *new))
		trace_writer_put(&r->writer, TRACE_SITES, t->tail.number, new, count * sizeof *new);
}

void recorder_look_at_sites(struct recorder *r, struct recorder_tail *t, uint64_t now)
{
	if (!lacks_sites(t) || now < t->next_sites_ns)
		return;
	put_sites(r, t);
	/* A client may use sites that it never names. */
	t->sites_pause_ns = lacks_sites(t) && t->sites_pause_ns < SITES_MOST_NS
				    ? 2 * t->sites_pause_ns + SITES_NS
				    : SITES_NS;
	t->next_sites_ns = now + t->sites_pause_ns;
}
