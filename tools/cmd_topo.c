/* SPDX-License-Identifier: MIT */
/* cmd_topo.c - `quoit topo`: show the machine as quoitd found it, and what its reactors do */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "commands.h"
#include "read/counters.h"
#include "read/daemon_state.h"
#include "read/format.h"
#include "read/runtime.h"

#define MOST_TEXT 65536

static const struct args_option options[] = {
	{"socket", "PATH", "quoitd's socket; counter files lie beside it"},
	{"json", NULL, "print a JSON object; what is not known is null"},
	{NULL},
};

static const struct args_command command = {
	"topo", "",
	"Print the topology that quoitd found and what it chose by it, then each reactor's\n"
	"figures: WORK and POLL are percent of quoitd's lifetime.  '-': not known.",
	options};

/* Everything is text for a terminal: each character that is not printable becomes '?'. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((*text < ' ' || *text > '~') && *text != '\n')
			*text = '?';
}

static struct counter lifetime(const struct counters_origin *origin, bool lives)
{
	uint64_t now = runtime_now_ns();

	if (!lives || !origin->tsc_hz || origin->started_ns >= now)
		return (struct counter){0};
	return (struct counter){.value = (uint64_t)((double)(now - origin->started_ns) *
						    (double)origin->tsc_hz / 1e9),
				.known = true};
}

static void print_reactors(const struct counters_totals *totals, bool lives)
{
	static const struct format_column columns[] = {
		{"REACTOR", false},  {"CPU", false},  {"NODE", false},
		{"SESSIONS", false}, {"JOBS", false}, {"LOOPS", false},
		{"SLEEPS", false},   {"WORK", false}, {"POLL", false}};
	struct format_table t = {.columns = columns, .count = sizeof columns / sizeof columns[0]};
	struct counter life = lifetime(&totals->origin, lives);

	for (unsigned i = 0; i < totals->reactors; i++) {
		const struct counters_reactor *r = &totals->reactor[i];

		format_cell(&t, "%u", i);
		format_cell(&t, "%d", r->cpu);
		format_cell(&t, r->node < 0 ? "-" : "%d", r->node);
		format_cell_counter(&t, r->value[QUOIT_REACTOR_SESSIONS]);
		format_cell_counter(&t, r->value[QUOIT_REACTOR_JOBS]);
		format_cell_counter(&t, r->value[QUOIT_REACTOR_LOOPS]);
		format_cell_counter(&t, r->value[QUOIT_REACTOR_SLEEPS]);
		format_cell_percent(&t, r->value[QUOIT_REACTOR_WORK_TICKS], life);
		format_cell_percent(&t, r->value[QUOIT_REACTOR_POLL_TICKS], life);
	}
	format_print(&t, true);
}

#define LABEL(name, text) text,
static json_t *reactor_json(const struct counters_reactor *r)
{
	static const char *const labels[QUOIT_REACTOR_NR] = {QUOIT_REACTOR_STATS(LABEL)};
	json_t *json = json_pack("{s:i, s:i}", "cpu", (int)r->cpu, "node", (int)r->node);

	for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++)
		if (i != QUOIT_REACTOR_ALIVE)
			json_object_set_new(json, labels[i], format_json_counter(r->value[i]));
	json_object_set_new(json, "alive_time_seconds",
			    format_json_time(r->value[QUOIT_REACTOR_ALIVE].value));
	return json;
}

static json_t *daemon_json(const struct counters_totals *totals)
{
	static const char *const labels[QUOIT_DAEMON_NR] = {QUOIT_DAEMON_STATS(LABEL)};
	json_t *json = json_object();

	for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++)
		json_object_set_new(json, labels[i], format_json_counter(totals->value[i]));
	return json;
}
#undef LABEL

static bool print_json(const char *text, const struct counters_totals *totals,
		       enum daemon_state state)
{
	json_t *reactors = json_array();

	for (unsigned i = 0; i < totals->reactors; i++)
		json_array_append_new(reactors, reactor_json(&totals->reactor[i]));
	return format_json_print(json_pack("{s:i, s:s, s:b, s:o, s:I, s:s, s:o, s:o}", "daemon_pid",
					   (int)totals->origin.daemon_pid, "daemon_state",
					   daemon_state_word(state), "daemon_lives",
					   state != DAEMON_DEAD, "daemon_start_time_seconds",
					   format_json_time(totals->origin.started_ns), "tsc_hz",
					   (json_int_t)totals->origin.tsc_hz, "topology", text,
					   "counters", daemon_json(totals), "reactors", reactors));
}

/* Has the machine several nodes?  Else there was no node to choose. */
static bool has_nodes(const struct counters_totals *totals)
{
	for (unsigned i = 1; i < totals->reactors; i++)
		if (totals->reactor[i].node != totals->reactor[0].node)
			return true;
	return false;
}

static void print_unplaced(const struct counters_totals *totals)
{
	struct counter nowhere = totals->value[QUOIT_DAEMON_CLIENTS_NOWHERE];

	if (nowhere.known && nowhere.value)
		printf("\nsessions whose client's node could not be known: %" PRIu64
		       "; %s (quoit ps -o session,clinode)\n",
		       nowhere.value,
		       has_nodes(totals) ? "they were placed near no client"
					 : "there is one to choose from");
}

struct view {
	char text[MOST_TEXT];
	bool json;
};

static int show(int directory, const char *socket, void *arg)
{
	struct view *v = arg;
	struct counters_totals totals;
	int64_t n = counters_read_file(directory, QUOIT_STATS_TOPOLOGY, v->text, MOST_TEXT - 1);
	int err = counters_read_totals(directory, &totals);
	enum daemon_state state;

	if (n < 0 || err)
		return n < 0 ? (int)n : err;
	v->text[n] = '\0';
	make_printable(v->text);
	state = daemon_state_look(directory, socket, &totals);
	(void)daemon_state_warn("topo", state, &totals);
	if (v->json)
		return print_json(v->text, &totals, state) ? 0 : -ENOMEM;
	printf("%s\n", v->text);
	print_reactors(&totals, state != DAEMON_DEAD);
	print_unplaced(&totals);
	return 0;
}

int cmd_topo(int argc, char **argv)
{
	static struct view view;
	struct args_target target;
	int status = args_read_target(&command, argc, argv, &target);

	if (status >= 0)
		return status;
	if (!args_no_operands(&command, argc, argv))
		return 2;
	view.json = target.json;
	return runtime_show("topo", target.socket, show, &view);
}
