/* SPDX-License-Identifier: MIT */
/* view_machine.c - show a bar for each core, the nodes' memory, and the devices' work */
#include <stdio.h>
#include <string.h>

#include "read/format.h"
#include "read/rates.h"
#include "view_private.h"

/* A core's cell: "cpu 12 r3 [", the bar, "] 12.3 w 12.3 t 12.3 p 100.0 sys". */
#define LABEL_WIDTH   12u
#define FIGURES_WIDTH 34u
#define BAR_LEAST     8u
#define BAR_MOST      40u
#define CELL_LEAST    (LABEL_WIDTH + FIGURES_WIDTH + BAR_LEAST)

/* The width of a device's line without its label and its bar. */
#define DEVICE_WIDTH 88u

/* Cores take at most this part of the screen. */
#define CORES_PART 3u

/* Nodes take at most this part of it. */
#define NODES_PART 6u

struct core {
	int cpu, reactor;                 /* reactor -1: none runs there */
	double work, tiles, poll, system; /* percent */
	bool work_known, tiles_known, system_known;
};

/* ---- figures ---- */

static struct core core_of(const struct follow *f, const struct machine *m, unsigned i)
{
	const struct counters_totals *to = follow_now(f), *from = follow_before(f);
	struct core c = {.cpu = to->core[i].cpu, .reactor = -1};
	struct rates r;

	for (unsigned k = 0; k < to->reactors; k++)
		if (to->reactor[k].cpu == c.cpu)
			c.reactor = (int)k;
	if (from && c.reactor >= 0) {
		rates_of_reactor(from, to, (unsigned)c.reactor, f->read_ns, &r);
		c.work_known = r.known[RATE_WORK_OF] && r.known[RATE_POLL_OF];
		c.work = r.value[RATE_WORK_OF];
		c.poll = r.value[RATE_POLL_OF];
	}
	c.tiles_known = f->tiles[i] >= 0;
	c.tiles = c.tiles_known ? f->tiles[i] : 0;
	c.system_known = c.cpu >= 0 && c.cpu < MACHINE_CPUS && m->busy[c.cpu] >= 0;
	c.system = c.system_known ? m->busy[c.cpu] : 0;
	return c;
}

/* ---- bars ---- */

static unsigned part(double percent, unsigned width, unsigned left)
{
	unsigned n = percent > 0 ? (unsigned)(percent * width / 100 + 0.5) : 0;

	return n < left ? n : left;
}

/* The width of a bar on a line of this width that has `beside` other characters. */
static unsigned bar_width(unsigned width, unsigned beside)
{
	unsigned bar = width > beside ? width - beside : 0;

	return bar < BAR_LEAST ? BAR_LEAST : bar < BAR_MOST ? bar : BAR_MOST;
}

static void add_bar(struct view *v, const struct core *c, unsigned width)
{
	unsigned left = width, n;

	view_add(v, VIEW_STRONG, "[");
	n = part(c->work, width, left);
	view_repeat(v, VIEW_WORK, '|', n);
	left -= n;
	n = part(c->tiles, width, left);
	view_repeat(v, VIEW_TILE, '=', n);
	left -= n;
	n = part(c->poll, width, left);
	view_repeat(v, VIEW_POLL, '.', n);
	view_repeat(v, VIEW_PLAIN, ' ', left - n);
	view_add(v, VIEW_STRONG, "]");
}

static void add_percent(struct view *v, bool known, double percent, const char *unit)
{
	if (known)
		view_add(v, VIEW_PLAIN, "%5.1f %s ", percent > 999 ? 999 : percent, unit);
	else
		view_add(v, VIEW_PLAIN, "    - %s ", unit);
}

static void add_core(struct view *v, const struct core *c, unsigned width)
{
	unsigned start = view_column(v);

	view_add(v, VIEW_PLAIN, "cpu%-3d ", c->cpu);
	if (c->reactor >= 0)
		view_add(v, VIEW_PLAIN, "r%d", c->reactor);
	view_pad(v, VIEW_PLAIN, start + LABEL_WIDTH - 2);
	add_bar(v, c, bar_width(width, LABEL_WIDTH + FIGURES_WIDTH));
	add_percent(v, c->work_known, c->work, "w");
	add_percent(v, c->tiles_known, c->tiles, "t");
	add_percent(v, c->work_known, c->poll, "p");
	add_percent(v, c->system_known, c->system, "sys");
	view_pad(v, VIEW_PLAIN, start + width);
}

static void add_mean(struct view *v, const struct follow *f, const struct machine *m,
		     unsigned width)
{
	unsigned cores = follow_now(f)->cores;
	struct core sum = {.work_known = true, .tiles_known = true, .system_known = true};

	for (unsigned i = 0; i < cores; i++) {
		struct core c = core_of(f, m, i);

		sum.work += c.work / cores;
		sum.tiles += c.tiles / cores;
		sum.poll += c.poll / cores;
		sum.system += c.system / cores;
		sum.tiles_known &= c.tiles_known;
		sum.system_known &= c.system_known;
		sum.work_known &= c.work_known || c.reactor < 0;
	}
	view_add(v, VIEW_PLAIN, "%u cores  ", cores);
	view_pad(v, VIEW_PLAIN, LABEL_WIDTH - 2);
	add_bar(v, &sum, bar_width(width, LABEL_WIDTH + FIGURES_WIDTH));
	add_percent(v, sum.work_known, sum.work, "w");
	add_percent(v, sum.tiles_known, sum.tiles, "t");
	add_percent(v, sum.work_known, sum.poll, "p");
	add_percent(v, sum.system_known, sum.system, "sys");
	view_end_line(v);
}

void view_cores(struct view *v, const struct view_options *o, const struct follow *f,
		const struct machine *m, unsigned height)
{
	unsigned cores = follow_now(f)->cores;
	unsigned across = v->width / CELL_LEAST ? v->width / CELL_LEAST : 1;
	unsigned width = v->width / across > CELL_LEAST ? v->width / across : CELL_LEAST;
	unsigned lines = (cores + across - 1) / across;

	if (o->one_line_of_cores || (height && lines > 2 && lines > height / CORES_PART)) {
		add_mean(v, f, m, v->width);
		return;
	}
	/* Fill the columns one after the other: numbers are read downwards. */
	for (unsigned y = 0; y < lines; y++) {
		for (unsigned x = 0; x < across && x * lines + y < cores; x++) {
			struct core c = core_of(f, m, x * lines + y);

			add_core(v, &c, width);
		}
		view_end_line(v);
	}
}

/* ---- nodes ---- */

static void add_node(struct view *v, const struct follow *f, const struct machine *m, int n)
{
	uint64_t used = 0, leased = 0;
	char bytes[16], left[16], in_use[16], lease[16];

	for (size_t i = 0; i < f->count; i++) {
		const struct followed *one = &f->list[i];
		const struct counters_session *s = &one->reading[one->readings % 2];

		if (!one->readings || s->node != n)
			continue;
		used += s->value[QUOIT_SESSION_HOST_USED].value;
		leased += s->value[QUOIT_SESSION_HOST_LEASE].value;
	}
	format_bytes((uint64_t)m->node[n].bytes, bytes, sizeof bytes);
	format_bytes((uint64_t)(m->node[n].free < 0 ? 0 : m->node[n].free), left, sizeof left);
	format_bytes(used, in_use, sizeof in_use);
	format_bytes(leased, lease, sizeof lease);
	view_add(v, VIEW_PLAIN, "node%-2d    %6s of memory, %6s free; %6s leased, %6s used", n,
		 bytes, left, lease, in_use);
	view_end_line(v);
}

void view_nodes(struct view *v, const struct follow *f, const struct machine *m, unsigned height)
{
	unsigned nodes = 0, shown = 0, most;

	for (int n = 0; n < MACHINE_NODES; n++)
		nodes += m->node[n].bytes > 0; /* nodes of devices may have no memory */
	most = height && nodes > height / NODES_PART ? height / NODES_PART : nodes;
	for (int n = 0; n < MACHINE_NODES && shown < most; n++)
		if (m->node[n].bytes > 0) {
			add_node(v, f, m, n);
			shown++;
		}
	if (shown < nodes) {
		view_add(v, VIEW_FAINT, "and %u nodes more", nodes - shown);
		view_end_line(v);
	}
}

/* ---- devices ---- */

static void add_span(struct view *v, const char *words, double ns)
{
	char text[24] = "-";

	if (ns >= 0)
		format_span(ns / 1e9, text, sizeof text);
	view_add(v, VIEW_PLAIN, "%s%s", words, text);
}

static void add_device(struct view *v, const struct follow *f, unsigned n)
{
	const struct counters_totals *now = follow_now(f);
	const struct device_figures *d = &f->device[n];
	struct core busy = {.work = d->at_once < 1 ? 100 * d->at_once : 100};
	char lease[16], leased[16];

	format_bytes(now->value[QUOIT_DAEMON_DEVICE_LIMIT].value, lease, sizeof lease);
	format_bytes(now->value[QUOIT_DAEMON_DEVICE_LEASED].value, leased, sizeof leased);
	view_add(v, VIEW_PLAIN, "device%-2u ", n + 1);
	view_pad(v, VIEW_PLAIN, LABEL_WIDTH - 2);
	add_bar(v, &busy, bar_width(v->width, LABEL_WIDTH + DEVICE_WIDTH));
	if (d->jobs >= 0)
		view_add(v, VIEW_PLAIN, "%9.0f jobs/s, %6.2f at once", d->jobs, d->at_once);
	else
		view_add(v, VIEW_PLAIN, "        - jobs/s,      - at once");
	add_span(v, "; p50 ", d->p50);
	add_span(v, ", p99 ", d->p99);
	view_add(v, VIEW_PLAIN, "; %s for leases, %s leased", lease, leased);
	view_end_line(v);
}

void view_devices(struct view *v, const struct follow *f)
{
	uint64_t lost = follow_now(f)->value[QUOIT_DAEMON_DEVICES_LOST].value;

	for (unsigned i = 0; i < f->devices; i++)
		add_device(v, f, i);
	if (lost) {
		view_add(v, VIEW_ALARM, "%llu of the devices lost: quoit topo says why",
			 (unsigned long long)lost);
		view_end_line(v);
	}
}
