/* SPDX-License-Identifier: MIT */
/*
 * test_w5.c - watch W1's training as a person does: its memory per client and node, the load of
 * cores, queues, and one timeline of rings, cores and a device's streams
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <jansson.h>

#include "tool.h"

/* Run a training, and the words behind it as soon as ps shows a number in this column. */
static const char script[] =
	"build=$1 column=$2\n"
	"shift 2\n"
	"\"$build/examples/w1_train\" --batches 100000 >/dev/null 2>&1 &\n"
	"for i in $(seq 600); do\n"
	"	\"$build/quoit\" ps --no-headers -o \"$column\" | grep -q '[1-9]' && break\n"
	"	sleep 0.1\n"
	"done\n"
	"\"$build/quoit\" \"$@\"\n"
	"status=$?\n"
	"kill %1\n"
	"exit $status\n";

#define LEASE "512M" /* of the device: more than its network needs */

static char folder[] = "/tmp/quoit-w5.XXXXXX";
static char said[256 << 10];

static void make_folder(void)
{
	char path[64];
	FILE *out;

	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/watch", folder);
	out = fopen(path, "w");
	cr_assert(out && fputs(script, out) >= 0);
	fclose(out);
	setenv("QUOIT_GPU", "soft", 1);
}

static void remove_folder(void)
{
	char line[128];

	snprintf(line, sizeof line, "rm -r %s", folder);
	cr_expect_eq(system(line), 0);
}

TestSuite(w5, .init = make_folder, .fini = remove_folder, .timeout = 240);

/*
 * Run a command of quoit beside the training, on the device or not, under `quoit run`; its output.
 */
static void watch(bool on_device, const char *command)
{
	setenv("QUOIT_DEVICE", on_device ? "1" : "0", 1);
	cr_assert_eq(tool_run(said, sizeof said,
			      "run --gpu-lease " LEASE " -- bash %s/watch %s %s %s", folder,
			      tool_folder(), on_device ? "devjobs" : "done", command),
		     0, "%s: %s", command, said);
}

/* The same again until it has told something: the machine may have stood still for as long as the
 * command looked. */
static void watch_until(bool on_device, const char *command, bool (*told)(void))
{
	for (unsigned tries = 0; tries < 10; tries++) {
		watch(on_device, command);
		if (told())
			return;
	}
}

/* Bytes as the tools print them: 12M, 1.5K, 0B. */
static double bytes_of(const char *text)
{
	static const char units[] = "BKMGT";
	const char *unit = NULL;
	char *end;
	double n = strtod(text, &end);

	cr_assert(end > text && *end && (unit = strchr(units, *end)), "%s", text);
	for (; unit > units; unit--)
		n *= 1024;
	return n;
}

/* ---- "Memory as ps prints it, per client and per node" ---- */

Test(w5, a_clients_memory_is_told_by_ps_here_on_devices_and_on_nodes)
{
	char name[64], used[16], device[16], resident[16], nodes[256];
	double on_nodes = 0;

	watch(true, "ps --no-headers -o command,used,device,rss,nodes");
	cr_assert_eq(sscanf(said, "%63s %15s %15s %15s %255s", name, used, device, resident, nodes),
		     5, "%s", said);
	cr_expect_str_eq(name, "w1_train");
	cr_expect_gt(bytes_of(used), 0, "%s", said);
	cr_expect_geq(bytes_of(device), 1 << 20, "its network is on the device: %s", said);
	cr_expect_geq(bytes_of(resident), 1 << 20, "%s", said);
	if (access("/proc/self/numa_maps", R_OK) != 0)
		return;
	for (char *rest, *one = strtok_r(nodes, ",", &rest); one;
	     one = strtok_r(NULL, ",", &rest)) {
		char *colon = strchr(one, ':');

		cr_assert(colon, "%s", said);
		on_nodes += bytes_of(colon + 1);
	}
	cr_expect_geq(on_nodes, bytes_of(resident) / 2, "%s", said);
}

/* ---- "load per core", and each node's memory ---- */

/* How many lines of top's last output begin with this text. */
static unsigned count_lines(const char *begin)
{
	const char *last = said, *next;
	unsigned n = 0;

	while ((next = strstr(last + 1, "\nquoitd ")))
		last = next;
	for (const char *at = last; at; at = strchr(at + 1, '\n'))
		n += !strncmp(at + (*at == '\n'), begin, strlen(begin));
	return n;
}

static bool has_core_at_work(void)
{
	for (const char *at = said; (at = strstr(at, " t ")); at++)
		if (strtod(at - strlen("100.0"), NULL) > 0)
			return true;
	return false;
}

Test(w5, the_load_of_each_core_and_the_memory_of_each_node_are_told_by_top)
{
	watch_until(false, "top --batch -n 2 -d 0.5 -o session,command", has_core_at_work);
	cr_expect_geq(count_lines("cpu"), 1, "%s", said);
	cr_expect_geq(count_lines("node"), 1, "%s", said);
	cr_expect(has_core_at_work(), "%s", said);
	cr_expect(strstr(said, "w1_train"), "%s", said);
}

/* ---- "queue depth" ---- */

/* By the second line of `quoit stat`. */
static bool has_open_jobs(void)
{
	const char *last = strchr(said, '\n');
	json_t *json;
	bool any;

	cr_assert(last, "%s", said);
	json = json_loads(last + 1, JSON_DISABLE_EOF_CHECK, NULL);
	cr_assert(json, "%s", said);
	any = json_number_value(json_object_get(json, "jobs_open_mean")) > 0;
	json_decref(json);
	return any;
}

static bool is_above_zero(void)
{
	return strtod(said, NULL) > 0;
}

Test(w5, the_depth_of_queues_is_told_by_stat_and_ps)
{
	watch_until(true, "stat --json 0.5 2", has_open_jobs);
	cr_expect(has_open_jobs(), "%s", said);
	watch_until(true, "ps --no-headers -o aqu", is_above_zero);
	cr_expect(is_above_zero(), "%s", said);
}

/* ---- "one timeline of rings, cores and streams that a browser can open" ---- */

static const char *word(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text ? text : "";
}

/* Does the name of a track, or with "C" of a counter, begin with this text? */
static bool has(const json_t *events, const char *ph, const char *name)
{
	size_t i;
	json_t *e;

	json_array_foreach(events, i, e)
	{
		const char *found =
			*ph == 'C' ? word(e, "name") : word(json_object_get(e, "args"), "name");

		if (!strcmp(word(e, "ph"), ph) && !strncmp(found, name, strlen(name)))
			return true;
	}
	return false;
}

Test(w5, one_timeline_has_rings_cores_streams_queues_and_memory)
{
	static const char *const tracks[] = {"ring 0", "client, ring 0", "reactor 0",
					     "device 1, stream 1", "device 1, stream 2"};
	static const char *const counters[] = {"cores at work", "queue depth", "memory"};
	char path[64];
	json_error_t error;
	json_t *json, *events;

	setenv("QUOIT_DEVICE", "1", 1);
	cr_assert_eq(tool_run(said, sizeof said,
			      "trace record --quoitd=--gpu-lease=" LEASE
			      " -o %s/trace -- %s/examples/w1_train --batches 20",
			      folder, tool_folder()),
		     0, "%s", said);
	cr_assert_eq(tool_run(said, sizeof said, "trace json %s/trace -o %s/json", folder, folder),
		     0, "%s", said);
	snprintf(path, sizeof path, "%s/json", folder);
	json = json_load_file(path, 0, &error);
	cr_assert(json, "%s at line %d", error.text, error.line);
	events = json_object_get(json, "traceEvents");
	for (size_t i = 0; i < sizeof tracks / sizeof tracks[0]; i++)
		cr_expect(has(events, "M", tracks[i]), "%s", tracks[i]);
	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
		cr_expect(has(events, "C", counters[i]), "%s", counters[i]);
	json_decref(json);
	cr_assert_eq(tool_run(said, sizeof said,
			      "report %s/trace -o - | grep -c '\"device 1, "
			      "stream [0-9]\",'",
			      folder),
		     0);
	cr_expect_geq(atoi(said), 2, "the report's timeline, too: %s", said);
}
