/* SPDX-License-Identifier: MIT */
/* test_exporter.c - the metrics of counters, and of damaged files */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/tsc.h"
#include "exporter/collect.h"
#include "exporter/listen.h"
#include "exporter/metrics.h"
#include "observe/histograms.h"
#include "read/buckets.h"
#include "read/runtime.h"
#include "read/user_sums.h"

#define HZ 1000000000u /* a tick is a nanosecond */

#define LABEL(name, text) text,
static const char *const daemon_labels[] = {QUOIT_DAEMON_STATS(LABEL)};
static const char *const reactor_labels[] = {QUOIT_REACTOR_STATS(LABEL)};
static const char *const core_labels[] = {QUOIT_CORE_STATS(LABEL)};
static const char *const session_labels[] = {QUOIT_SESSION_STATS(LABEL)};
static const char *const phase_labels[] = {QUOIT_PHASES(LABEL)};
#undef LABEL

/* ---- the table ---- */

static unsigned rows_of(enum metric_of of, unsigned counter)
{
	unsigned n = 0;

	for (const struct metric *m = metrics; m->help; m++)
		n += m->of == of && m->counter == counter;
	return n;
}

Test(exporter, every_counter_is_in_the_table_once)
{
	for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++)
		cr_expect_eq(rows_of(METRIC_OF_DAEMON, i), 1, "%s", daemon_labels[i]);
	for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++)
		cr_expect_eq(rows_of(METRIC_OF_REACTOR, i), 1, "%s", reactor_labels[i]);
	for (unsigned i = 0; i < QUOIT_CORE_NR; i++)
		cr_expect_eq(rows_of(METRIC_OF_CORE, i), 1, "%s", core_labels[i]);
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		cr_expect_eq(rows_of(METRIC_OF_SESSION, i), 1, "%s", session_labels[i]);
}

/* Is the word, up to the next underscore, one of the name's? */
static bool has_word(const char *name, const char *word, size_t length)
{
	for (const char *at = name; at; at = strchr(at, '_'), at += at ? 1 : 0)
		if (!strncmp(at, word, length) && (at[length] == '_' || !at[length]))
			return true;
	return false;
}

/* The name is made of the words of the counter's label; ticks are told in seconds. */
static bool is_name_of(const char *name, const char *label)
{
	size_t length = 0;

	for (const char *word = label; *word; word += word[0] == '_') {
		const char *as = word;
		size_t n = strcspn(word, "_");

		word += n;
		if (n == strlen("ticks") && !strncmp(as, "ticks", n)) {
			as = "seconds";
			n = strlen(as);
		}
		length += n + (*word == '_');
		if (!has_word(name, as, n))
			return false;
	}
	return length == strlen(name);
}

static const char *label_of(const struct metric *m)
{
	return m->of == METRIC_OF_DAEMON    ? daemon_labels[m->counter]
	       : m->of == METRIC_OF_REACTOR ? reactor_labels[m->counter]
	       : m->of == METRIC_OF_CORE    ? core_labels[m->counter]
					    : session_labels[m->counter];
}

/* Counters that were exchanged would be told under each other's names, and nothing else would show it. */
Test(exporter, names_are_those_of_their_counters)
{
	static const char *const first[] = {"quoit_", "quoit_reactor_", "quoit_core_",
					    "quoit_session_", "quoit_user_"};

	for (const struct metric *m = metrics; m->help; m++) {
		const char *label = label_of(m), *value = m->label.value;
		size_t n = strlen(first[m->of]);

		if (m->kind == METRIC_LEFT_OUT)
			continue;
		cr_assert_eq(strncmp(m->name, first[m->of], n), 0, "%s", m->name);
		if (!value)
			cr_expect(is_name_of(m->name + n, label), "%s is told as %s", label,
				  m->name);
		else /* one family for several counters: "refused_uid" is a refusal, "uid" its reason */
			cr_expect(strlen(label) > strlen(value) + 4 &&
					  !strcmp(label + strlen(label) - strlen(value), value) &&
					  strstr(m->name,
						 (char[5]){label[0], label[1], label[2], label[3]}),
				  "%s is told as %s of %s", label, value, m->name);
	}
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n > k && !strcmp(name + n - k, end);
}

/* A HELP text is read alone: it must not lean on the line before. */
static bool leans_on_another(const char *help)
{
	static const char *const words[] = {"Of th",       "And ",      "Answers of these",
					    "one of them", " that it ", " its rings",
					    "often it ",   "they took"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(help, words[i]))
			return true;
	return false;
}

Test(exporter, names_are_by_the_conventions)
{
	for (const struct metric *m = metrics; m->help; m++) {
		struct exposition_family f = metrics_family(m);
		char unit[16] = "";

		if (m->kind == METRIC_LEFT_OUT)
			continue;
		cr_expect_eq(strncmp(f.name, "quoit_", 6), 0, "%s", f.name);
		cr_expect_eq(f.name[strspn(f.name, "abcdefghijklmnopqrstuvwxyz_")], '\0', "%s",
			     f.name);
		cr_expect_not(ends_with(f.name, "_total"), "%s: its type adds that", f.name);
		if (f.unit)
			snprintf(unit, sizeof unit, "_%s", f.unit);
		cr_expect(!f.unit || ends_with(f.name, unit), "%s", f.name);
		cr_expect(f.unit || (!strstr(f.name, "seconds") && !strstr(f.name, "bytes")), "%s",
			  f.name);
		cr_expect(isupper(f.help[0]) && ends_with(f.help, "."), "%s: %s", f.name, f.help);
		cr_expect_not(strpbrk(f.help, "\\\n"), "%s", f.name);
		cr_expect_not(leans_on_another(f.help), "%s: %s", f.name, f.help);
	}
}

/* Otherwise the text would name a family or a sample twice, which makes all of it invalid. */
Test(exporter, rows_of_one_family_are_together_and_differ_in_a_label)
{
	for (const struct metric *m = metrics; m->help; m++)
		for (const struct metric *k = metrics; m->name && k < m; k++) {
			if (!k->name || strcmp(k->name, m->name) != 0)
				continue;
			cr_expect(m[-1].name && !strcmp(m[-1].name, m->name), "%s", m->name);
			cr_expect(k->of == m->of && k->kind == m->kind, "%s", m->name);
			cr_expect_str_eq(k->help, m->help, "%s", m->name);
			cr_expect_str_eq(k->label.name, m->label.name, "%s", m->name);
			cr_expect_str_neq(k->label.value, m->label.value, "%s", m->name);
		}
}

/* ---- a folder with counter files ---- */

static struct collect collect;
static struct quoit_totals totals;
static struct quoit_session_stats session;
static struct quoit_session_latency latency;
static char folder[] = "/tmp/quoit-exporter-XXXXXX";

static struct quoit_stats_header header(size_t header_bytes, size_t file_bytes, unsigned counters)
{
	return (struct quoit_stats_header){.magic = QUOIT_STATS_MAGIC,
					   .version = QUOIT_STATS_VERSION,
					   .header_bytes = (uint32_t)header_bytes,
					   .file_bytes = (uint32_t)file_bytes,
					   .label_bytes = QUOIT_LABEL_BYTES,
					   .tsc_hz = HZ,
					   .started_ns = runtime_now_ns(),
					   .daemon_pid = (uint32_t)getpid(),
					   .counters = counters};
}

static void put_labels(char (*ret)[QUOIT_LABEL_BYTES], const char *const *labels, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		snprintf(ret[i], QUOIT_LABEL_BYTES, "%s", labels[i]);
}

/* Counter i of the daemon is 100 + i, of reactor r 1000 (r + 1) + i, of the core 3000000000 + i. */
static void make_totals(void)
{
	totals.header =
		header(offsetof(struct quoit_totals, value), sizeof totals, QUOIT_DAEMON_NR);
	totals.header.reactors = 2;
	totals.header.reactor_counters = QUOIT_REACTOR_NR;
	totals.header.cores = 1;
	totals.header.cores_at = offsetof(struct quoit_totals, core);
	totals.header.core_counters = QUOIT_CORE_NR;
	put_labels(totals.daemon_label, daemon_labels, QUOIT_DAEMON_NR);
	put_labels(totals.reactor_label, reactor_labels, QUOIT_REACTOR_NR);
	put_labels(totals.core_label, core_labels, QUOIT_CORE_NR);
	for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++)
		totals.value[i] = 100 + i;
	for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++)
		for (unsigned r = 0; r < 2; r++)
			totals.reactor[r].value[i] = 1000 * (r + 1) + i;
	for (unsigned r = 0; r < 2; r++)
		totals.reactor[r].value[QUOIT_REACTOR_ALIVE] = runtime_now_ns();
	totals.value[QUOIT_DAEMON_ABI] = QUOIT_ABI_VERSION;
	totals.value[QUOIT_DAEMON_VERSION] = 1002003;
	for (unsigned i = 0; i < QUOIT_CORE_NR; i++)
		totals.core[0].value[i] = 3000000000 + i;
	totals.reactor[1].cpu = 4;
	totals.reactor[1].node = -1;
	totals.core[0].cpu = 9;
}

/* Counter i is 200 + i. */
static void make_session(uint64_t number, const char *name)
{
	memset(&session, 0, sizeof session);
	session.header = header(offsetof(struct quoit_session_stats, value), sizeof session,
				QUOIT_SESSION_NR);
	session.session = number;
	session.uid = 77;
	session.pid = 78;
	session.opened_ns = runtime_now_ns();
	memcpy(session.name, name, strlen(name));
	put_labels(session.label, session_labels, QUOIT_SESSION_NR);
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		session.value[i] = 200 + i;
}

static void put(const char *name, const void *bytes, size_t size)
{
	char path[sizeof folder + 64];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "we");
	cr_assert(file);
	cr_assert_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void put_totals(void)
{
	put("totals", &totals, sizeof totals);
}

static void put_session(void)
{
	char name[48];

	snprintf(name, sizeof name, QUOIT_STATS_SESSION, (unsigned long long)session.session);
	put(name, &session, sizeof session);
}

static void make_folder(void)
{
	char path[sizeof folder + 24];

	cr_assert(mkdtemp(folder));
	snprintf(collect.socket, sizeof collect.socket, "%s/quoitd.sock", folder);
	snprintf(path, sizeof path, "%s/" QUOIT_STATS_PRIVATE, folder);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/" QUOIT_STATS_SESSIONS, folder);
	cr_assert_eq(mkdir(path, 0700), 0);
	make_totals();
}

static void remove_folder(void)
{
	char command[sizeof folder + 16];

	snprintf(command, sizeof command, "rm -r %s", folder);
	cr_expect_eq(system(command), 0);
}

TestSuite(exporter_files, .init = make_folder, .fini = remove_folder);

static char *text;

/* Write the text for the folder; returns the result. */
static int write_text(bool openmetrics)
{
	size_t size;
	FILE *out;
	int err;

	free(text);
	out = open_memstream(&text, &size);
	cr_assert(out);
	err = collect_write(&collect, out, openmetrics);
	fclose(out);
	return err;
}

/* Does the text have this whole line? */
static bool has(const char *line)
{
	size_t n = strlen(line);
	const char *at = text;

	while ((at = strstr(at, line)) && !((at == text || at[-1] == '\n') && at[n] == '\n'))
		at++;
	return at != NULL;
}

/* ---- totals ---- */

Test(exporter_files, counters_are_told_with_their_places_and_ticks_in_seconds)
{
	char line[120];

	put_totals();
	cr_assert_eq(write_text(false), 0);
	cr_expect(has("quoit_up 1"), "%s", text);
	snprintf(line, sizeof line, "quoit_refusals_total{reason=\"lease\"} %u",
		 100 + QUOIT_DAEMON_REFUSED_LEASE);
	cr_expect(has(line), "%s", text);
	snprintf(line, sizeof line,
		 "quoit_reactor_jobs_total{reactor=\"0\",cpu=\"0\",node=\"0\"} %u",
		 1000 + QUOIT_REACTOR_JOBS);
	cr_expect(has(line), "%s", text);
	snprintf(line, sizeof line, "quoit_reactor_jobs_total{reactor=\"1\",cpu=\"4\"} %u",
		 2000 + QUOIT_REACTOR_JOBS);
	cr_expect(has(line), "its node is not known: %s", text);
	snprintf(line, sizeof line, "quoit_core_tile_seconds_total{cpu=\"9\",node=\"0\"} 3.%09u",
		 QUOIT_CORE_TILE_TICKS);
	cr_expect(has(line), "%s", text);
	cr_expect_not(strstr(text, "# EOF"));
	cr_assert_eq(write_text(true), 0);
	cr_expect(has("# EOF"));
}

Test(exporter_files, the_version_of_quoitd_is_told)
{
	char line[80];

	put_totals();
	cr_assert_eq(write_text(false), 0);
	snprintf(line, sizeof line, "quoit_build_info{version=\"1.2.3\",abi=\"%u\"} 1",
		 QUOIT_ABI_VERSION);
	cr_expect(has(line), "%s", text);
}

/* A reactor that has been silent for long is stopped or stuck: quoitd is not up. */
Test(exporter_files, a_quoitd_that_does_not_move_is_not_up)
{
	totals.reactor[1].value[QUOIT_REACTOR_ALIVE] = runtime_now_ns() - 6000000000;
	put_totals();
	cr_assert_eq(write_text(false), 0);
	cr_expect(has("quoit_up 0"), "%s", text);
	cr_expect(has("quoit_state{state=\"silent\"} 1"), "%s", text);
	cr_expect(has("quoit_state{state=\"up\"} 0"), "%s", text);
}

Test(exporter_files, quoitd_started_when_the_wall_clock_says)
{
	static const char name[] = "\nquoit_start_time_seconds ";
	double start, now = (double)time(NULL);
	const char *at;

	put_totals();
	cr_assert_eq(write_text(false), 0);
	at = strstr(text, name);
	cr_assert(at, "%s", text);
	start = strtod(at + sizeof name - 1, NULL);
	cr_expect(start > now - 60 && start < now + 60, "%f, %f", start, now);
}

/* Changes of the start time count as starts. */
Test(exporter_files, a_wall_clock_that_drifts_moves_no_start_and_one_that_jumps_does)
{
	int64_t clock, drifted;

	put_totals();
	cr_assert_eq(write_text(false), 0);
	clock = collect.clock_ns;
	drifted = collect.clock_ns = clock - 200000000;
	cr_assert_eq(write_text(false), 0);
	cr_expect_eq(collect.clock_ns, drifted);
	collect.clock_ns = clock - 5000000000;
	cr_assert_eq(write_text(false), 0);
	cr_expect(llabs(collect.clock_ns - clock) < 1000000000);
}

Test(exporter_files, a_counter_of_another_version_is_left_out_and_ours_that_it_lacks)
{
	snprintf(totals.reactor_label[QUOIT_REACTOR_JOBS], QUOIT_LABEL_BYTES, "of_a_later_version");
	put_totals();
	cr_assert_eq(write_text(false), 0);
	cr_expect_not(strstr(text, "quoit_reactor_jobs_total"), "%s", text);
	cr_expect_not(strstr(text, "later_version"), "%s", text);
	cr_expect(strstr(text, "quoit_reactor_sleeps_total{"), "%s", text);
}

Test(exporter_files, without_the_rate_of_the_tsc_no_times_are_told)
{
	totals.header.tsc_hz = 0;
	put_totals();
	cr_assert_eq(write_text(false), 0);
	cr_expect_not(strstr(text, "_seconds_total"), "%s", text);
	cr_expect(strstr(text, "quoit_reactor_jobs_total{"), "%s", text);
}

Test(exporter_files, a_dead_daemon_is_down_and_its_last_figures_are_told)
{
	totals.header.daemon_pid = INT32_MAX;
	put_totals();
	cr_assert_eq(write_text(false), 0);
	cr_expect(has("quoit_up 0"), "%s", text);
	cr_expect(strstr(text, "quoit_reactor_jobs_total{"), "%s", text);
}

Test(exporter_files, without_a_daemon_there_is_nothing_but_that)
{
	cr_assert_eq(write_text(false), 0);
	cr_expect(has("quoit_up 0"), "%s", text);
	cr_expect(strstr(text, "quoit_exporter_build_info{version="), "%s", text);
	cr_expect_not(strstr(text, "quoit_reactor"), "%s", text);
	snprintf(collect.socket, sizeof collect.socket, "%s/gone/quoitd.sock", folder);
	cr_assert_eq(write_text(true), 0);
	cr_expect(has("quoit_up 0") && has("# EOF"), "%s", text);
}

Test(exporter_files, garbage_is_an_error_and_no_metrics)
{
	struct quoit_totals garbage;

	memset(&garbage, 0xa5, sizeof garbage);
	put("totals", &garbage, sizeof garbage);
	cr_expect_eq(write_text(false), -EBADMSG);
	cr_expect_str_eq(text, "");
	put("totals", "", 0);
	cr_expect_eq(write_text(false), -EBADMSG);
	totals.header.version++;
	put_totals();
	cr_expect_eq(write_text(false), -EPROTONOSUPPORT);
	cr_expect_str_eq(text, "");
}

/* ---- histograms ---- */

static struct histograms *histograms;
static int directory;

/* Two reactors, one device and one core, each of which took 5 us several times. */
static void make_histograms(void)
{
	const uint32_t bucket = quoit_latency_bucket(5000);

	tsc_init();
	directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	histograms = histograms_open(directory, 2, 1, 1);
	cr_assert(histograms);
	histograms_phase(histograms, 1, QUOIT_PHASE_RUN)[bucket] = 3;
	histograms_device(histograms, 0, 1, HISTOGRAMS_RUN)[bucket] = 4;
	histograms_device(histograms, 1, 1, HISTOGRAMS_RUN)[bucket] = 5;
	histograms_core(histograms, 0)[bucket] = 6;
	for (unsigned r = 0; r < 2; r++) {
		histograms_operations(histograms, r)[QUOIT_OP_ADD] =
			(struct quoit_operation_totals){8, 4, 1000000000, 100};
		histograms_operations(histograms, r)[QUOIT_OP_MODULE_FIRST].jobs = 9;
		/* numbers that are not operations */
		histograms_operations(histograms, r)[7].jobs = 1;
		histograms_operations(histograms, r)[6].jobs = 1;
	}
}

static void drop_histograms(void)
{
	histograms_close(histograms, directory);
	close(directory);
}

Test(exporter_files, histograms_and_operations_are_told_for_all_sessions_together)
{
	static const char *const lines[] = {
		"quoit_reactor_latency_seconds_bucket{reactor=\"1\",phase=\"start_to_end\",le=\"1e-06\"} 0",
		"quoit_reactor_latency_seconds_bucket{reactor=\"1\",phase=\"start_to_end\",le=\"1e-05\"} 3",
		"quoit_reactor_latency_seconds_count{reactor=\"0\",phase=\"start_to_end\"} 0",
		"quoit_device_latency_seconds_count{device=\"1\",phase=\"start_to_end\"} 9",
		"quoit_core_tile_duration_seconds_count{cpu=\"9\",node=\"0\"} 6",
		"quoit_operation_jobs_total{operation=\"add\"} 16",
		"quoit_operation_jobs_total{operation=\"none\"} 4",
		"quoit_operation_moved_bytes_total{operation=\"add\"} 200",
	};
	char module[80];

	put_totals();
	make_histograms();
	cr_assert_eq(write_text(true), 0);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		cr_expect(has(lines[i]), "%s in %s", lines[i], text);
	snprintf(module, sizeof module, "quoit_operation_jobs_total{operation=\"module_%u\"} 18",
		 QUOIT_OP_MODULE_FIRST);
	cr_expect(has(module), "%s", text);
	cr_expect_not(strstr(text, "quoit_device_latency_seconds_count{device=\"2\""));
	cr_expect_not(strstr(text, "post_to_reap"), "what clients say is in no totals");
	drop_histograms();
}

/* As histogram_quantile computes it: linearly between the two bounds. */
static double quantile(double part)
{
	static const char family[] = "\nquoit_job_seconds_bucket{le=\"";
	double before = 0, from = 0, all;
	const char *at = strstr(text, "\nquoit_job_seconds_count ");

	cr_assert(at);
	all = strtod(at + strlen("\nquoit_job_seconds_count "), NULL);
	for (at = text; (at = strstr(at, family));) {
		char *end;
		double bound = strtod(at + sizeof family - 1, &end), below;

		at = end;
		below = strtod(strchr(end, ' '), NULL);
		if (below >= part * all)
			return from + (bound - from) * (part * all - before) / (below - before);
		before = below;
		from = bound;
	}
	return -1;
}

struct spread {
	double least_ns, most_ns;
};

ParameterizedTestParameters(exporter_files, percentiles_are_within_a_third_of_those_of_all_buckets)
{
	static struct spread rows[] = {{500, 5e4},   {3e3, 9e3},  {1e3, 1e9},     {2e5, 3e7},
				       {40e6, 3e9},  {300, 4e3},  {2.1e4, 2.2e4}, {999, 1000},
				       {5.1e5, 6e5}, {200, 2e10}, {8.1e6, 9e6},   {130, 140},
				       {20, 70},     {55, 60}};

	return cr_make_param_array(struct spread, rows, sizeof rows / sizeof rows[0]);
}

/* Times spread evenly over several powers, or nearly all at one place of a bucket. */
ParameterizedTest(struct spread *row, exporter_files,
		  percentiles_are_within_a_third_of_those_of_all_buckets)
{
	uint64_t count[QUOIT_LATENCY_BUCKETS] = {0}, *of;
	double tick_ns;

	put_totals();
	make_histograms();
	tick_ns = 1e9 / (double)tsc_hz();
	of = histograms_phase(histograms, 1, QUOIT_PHASE_WHOLE);
	for (double ns = row->least_ns; ns < row->most_ns; ns *= 1.001) {
		of[quoit_latency_bucket((uint64_t)(ns / tick_ns))]++;
		count[quoit_latency_bucket((uint64_t)(ns / tick_ns))]++;
	}
	cr_assert_eq(write_text(false), 0);
	for (unsigned percent = 50; percent <= 99; percent += 49) {
		double exact = buckets_percentile(count, percent) * tick_ns / 1e9;
		double bounds = quantile(percent / 100.0);

		cr_expect(bounds < 1.3 * exact && bounds > exact / 1.3,
			  "p%u of %g to %g ns: %g and not %g", percent, row->least_ns, row->most_ns,
			  bounds, exact);
	}
	drop_histograms();
}

Test(exporter_files, histograms_of_a_daemon_before_are_not_told)
{
	make_histograms();
	totals.header.started_ns = runtime_now_ns() + 1;
	put_totals();
	cr_assert_eq(write_text(true), 0);
	cr_expect_not(strstr(text, "quoit_operation_"), "%s", text);
	cr_expect_not(strstr(text, "_latency_seconds"), "%s", text);
	drop_histograms();
}

/* ---- sessions ---- */

Test(exporter_files, sessions_are_told_only_where_that_is_asked_for)
{
	char line[160];

	put_totals();
	make_session(5, "sum");
	put_session();
	cr_assert_eq(write_text(false), 0);
	cr_expect_not(strstr(text, "quoit_session_"), "%s", text);
	collect.sessions = true;
	cr_assert_eq(write_text(false), 0);
	snprintf(
		line, sizeof line,
		"quoit_session_jobs_done_total{session=\"5\",uid=\"77\",pid=\"78\",name=\"sum\"} %u",
		200 + QUOIT_SESSION_DONE);
	cr_expect(has(line), "%s", text);
	snprintf(line, sizeof line,
		 "quoit_session_jobs_waiting{session=\"5\",uid=\"77\",pid=\"78\",name=\"sum\","
		 "for=\"data\"} %u",
		 200 + QUOIT_SESSION_WAIT_DATA);
	cr_expect(has(line), "%s", text);
}

Test(exporter_files, a_name_of_any_bytes_is_plain_text_in_a_label)
{
	put_totals();
	make_session(5, "a\"b\\c\nd\xff\x01");
	put_session();
	collect.sessions = true;
	cr_assert_eq(write_text(false), 0);
	cr_expect(strstr(text, ",name=\"a\\\"b\\\\x5cc\\\\x0ad\\\\xff\\\\x01\"}"), "%s", text);
	for (const char *at = text; *at; at++)
		cr_assert((*at >= ' ' && *at <= '~') || *at == '\n', "%#x", (unsigned)*at);
}

Test(exporter_files, sessions_that_are_over_or_of_a_daemon_before_are_not_told)
{
	make_session(5, "before");
	put_session();
	totals.header.started_ns = runtime_now_ns();
	put_totals();
	make_session(6, "over");
	session.ended = 1;
	put_session();
	make_session(7, "open");
	put_session();
	put("private/sessions/session.8", "garbage", 7);
	collect.sessions = true;
	cr_assert_eq(write_text(false), 0);
	cr_expect_not(strstr(text, "name=\"before\""), "%s", text);
	cr_expect_not(strstr(text, "name=\"over\""), "%s", text);
	cr_expect(strstr(text, "name=\"open\""), "%s", text);
	cr_expect(has("quoit_sessions_not_exported{reason=\"damaged\"} 1"), "%s", text);
}

Test(exporter_files, sessions_beyond_a_limit_are_counted)
{
	put_totals();
	for (uint64_t i = 1; i <= COLLECT_MOST_SESSIONS + 2; i++) {
		make_session(i, "one");
		session.value[QUOIT_SESSION_CORE_TICKS] =
			session.value[QUOIT_SESSION_EXECUTOR_TICKS] = 0;
		put_session();
	}
	collect.sessions = true;
	cr_assert_eq(write_text(false), 0);
	cr_expect(has("quoit_sessions_not_exported{reason=\"too_many\"} 242"));
	cr_expect(strstr(text, "quoit_session_rings{session=\"16\""), "all equally busy: %s", text);
	cr_expect_not(strstr(text, "{session=\"17\""));
	collect.most = COLLECT_MOST_SESSIONS;
	cr_assert_eq(write_text(false), 0);
	cr_expect(has("quoit_sessions_not_exported{reason=\"too_many\"} 2"));
	cr_expect(strstr(text, "quoit_session_rings{session=\"256\""));
	cr_expect_not(strstr(text, "{session=\"257\""));
}

/* Session n has used this much of the cores since it was opened, before or after the others. */
static void put_busy(uint64_t number, uint64_t core_ticks)
{
	make_session(number, "one");
	session.value[QUOIT_SESSION_CORE_TICKS] = core_ticks;
	put_session();
}

Test(exporter_files, the_busiest_sessions_are_told)
{
	put_totals();
	for (uint64_t i = 1; i <= 20; i++)
		put_busy(i, i == 7 || i == 19 ? 1000000 : 0);
	collect.sessions = true;
	collect.most = 2;
	cr_assert_eq(write_text(false), 0);
	cr_expect(has("quoit_sessions_not_exported{reason=\"too_many\"} 18"), "%s", text);
	cr_expect(strstr(text, "{session=\"7\"") && strstr(text, "{session=\"19\""), "%s", text);
	for (uint64_t i = 1; i <= 20; i++) /* now others are the busiest */
		put_busy(i, i == 7 || i == 19 ? 1000000 : i == 3 || i == 4 ? 900000000 : 0);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(write_text(false), 0);
	cr_expect(strstr(text, "{session=\"3\"") && strstr(text, "{session=\"4\""), "%s", text);
	cr_expect_not(strstr(text, "{session=\"7\""), "%s", text);
}

/* ---- users ---- */

static double of_user(const char *name, unsigned uid)
{
	char start[96];
	const char *at;

	snprintf(start, sizeof start, "\n%s{uid=\"%u\",", name, uid);
	at = strstr(text, start);
	at = at ? strstr(at, "} ") : NULL;
	return at ? strtod(at + 2, NULL) : -1;
}

static void put_session_of(uint64_t number, uint32_t uid, uint64_t submitted, uint64_t used)
{
	make_session(number, "one");
	session.uid = uid;
	session.value[QUOIT_SESSION_SUBMITTED] = submitted;
	session.value[QUOIT_SESSION_HOST_USED] = used;
	put_session();
}

Test(exporter_files, users_have_a_dozen_figures_each)
{
	unsigned lines = 0;

	put_totals();
	put_session_of(1, 7001, 10, 100);
	put_session_of(2, 7001, 20, 200);
	put_session_of(3, 7002, 40, 400);
	collect.users = collect.whole = true;
	cr_assert_eq(write_text(false), 0);
	cr_expect_eq(of_user("quoit_user_sessions", 7001), 2, "%s", text);
	cr_expect_eq(of_user("quoit_user_jobs_fetched_total", 7001), 30, "%s", text);
	cr_expect_eq(of_user("quoit_user_host_used_bytes", 7001), 300, "%s", text);
	cr_expect_eq(of_user("quoit_user_jobs_fetched_total", 7002), 40, "%s", text);
	cr_expect_not(strstr(text, "quoit_session_"), "%s", text);
	for (const char *at = text; (at = strstr(at, "{uid=\"7001\"")); at++)
		lines++;
	cr_expect(lines >= 10 && lines <= 14, "%u", lines);
}

/* A session's counts are neither lost when its file goes, nor counted twice. */
Test(exporter_files, what_a_user_has_done_never_falls)
{
	char path[sizeof folder + 64];

	put_totals();
	put_session_of(1, 7001, 1000, 100);
	collect.users = true;
	cr_assert_eq(write_text(false), 0);
	cr_expect_eq(of_user("quoit_user_jobs_fetched_total", 7001), 0, "from now on: %s", text);
	put_session_of(1, 7001, 1010, 100);
	put_session_of(2, 7001, 5, 50);
	cr_assert_eq(write_text(false), 0);
	cr_expect_eq(of_user("quoit_user_jobs_fetched_total", 7001), 15, "%s", text);
	cr_expect_eq(of_user("quoit_user_host_used_bytes", 7001), 150, "%s", text);
	snprintf(path, sizeof path, "%s/private/sessions/session.1", folder);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(write_text(false), 0);
	cr_expect_eq(of_user("quoit_user_jobs_fetched_total", 7001), 15, "%s", text);
	cr_expect_eq(of_user("quoit_user_host_used_bytes", 7001), 50, "%s", text);
	/* another quoitd; its session 2 is a new one */
	totals.header.started_ns = runtime_now_ns();
	put_totals();
	put_session_of(2, 7001, 3, 10);
	cr_assert_eq(write_text(false), 0);
	cr_expect_eq(of_user("quoit_user_jobs_fetched_total", 7001), 18, "%s", text);
}

Test(exporter_files, more_users_than_are_told_are_counted)
{
	char line[80];

	put_totals();
	for (uint32_t i = 0; i < USER_SUMS_MOST + 3; i++)
		put_session_of(i + 1, 7000 + i, 1, 1);
	collect.users = true;
	cr_assert_eq(write_text(false), 0);
	snprintf(line, sizeof line, "quoit_user_sessions_not_counted 3");
	cr_expect(has(line), "%s", text);
}

/* The latency of session 5. */
static void make_latency(void)
{
	latency.header = header(offsetof(struct quoit_session_latency, count), sizeof latency,
				QUOIT_PHASE_NR);
	latency.session = 5;
	latency.buckets = QUOIT_LATENCY_BUCKETS;
	latency.parts = QUOIT_LATENCY_PARTS;
	put_labels(latency.label, phase_labels, QUOIT_PHASE_NR);
	latency.count[QUOIT_PHASE_RUN][quoit_latency_bucket(5000)] = 3;         /* 5 us */
	latency.count[QUOIT_PHASE_RUN][quoit_latency_bucket(50000000)] = 5;     /* 50 ms */
	latency.count[QUOIT_PHASE_RUN][quoit_latency_bucket(60000000000u)] = 7; /* a minute */
}

Test(exporter_files, phases_are_histograms)
{
	const char *start =
		"quoit_session_latency_seconds_bucket{session=\"5\",uid=\"77\",pid=\"78\","
		"name=\"sum\",phase=\"start_to_end\",le=";
	const struct {
		const char *le;
		unsigned count;
	} rows[] = {{"1e-06", 0}, {"1e-05", 3}, {"0.01", 3}, {"0.1", 8}, {"+Inf", 15}};
	char line[200];

	put_totals();
	make_session(5, "sum");
	put_session();
	make_latency();
	put("private/sessions/latency.5", &latency, sizeof latency);
	collect.sessions = true;
	cr_assert_eq(write_text(false), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(line, sizeof line, "%s\"%s\"} %u", start, rows[i].le, rows[i].count);
		cr_expect(has(line), "%s in %s", line, text);
	}
}

/* A former session may have had the same number, and another user's times. */
Test(exporter_files, phases_of_a_daemon_before_are_not_told)
{
	make_latency();
	put("private/sessions/latency.5", &latency, sizeof latency);
	totals.header.started_ns = runtime_now_ns();
	put_totals();
	make_session(5, "sum");
	put_session();
	collect.sessions = true;
	cr_assert_eq(write_text(false), 0);
	cr_expect_not(strstr(text, "quoit_session_latency_seconds"), "%s", text);
	make_latency();
	latency.header.daemon_pid++;
	put("private/sessions/latency.5", &latency, sizeof latency);
	cr_assert_eq(write_text(false), 0);
	cr_expect_not(strstr(text, "quoit_session_latency_seconds"), "%s", text);
}

/* ---- the address ---- */

struct address {
	char word[80];
	char text[80]; /* "": the word is invalid */
};

ParameterizedTestParameters(exporter, an_address_is_numbers_with_a_port)
{
	static struct address rows[] = {
		{"127.0.0.1:19684", "127.0.0.1:19684"},
		{"0.0.0.0:0", "0.0.0.0:0"},
		{"[::1]:65535", "[::1]:65535"},
		{"127.0.0.1", ""},
		{"127.0.0.1:", ""},
		{":80", ""},
		{"::1:80", ""},
		{"[::1]", ""},
		{"[127.0.0.1]:80", ""},
		{"[]:80", ""},
		{"127.0.0.1:65536", ""},
		{"127.0.0.1:4294967376", ""},
		{"127.0.0.1:-1", ""},
		{"127.0.0.1:80x", ""},
		{"localhost:80", ""},
		{"127.0.0.1 :80", ""},
		{"1111111111111111111111111111111111111111111111111111111111111111111:80", ""},
		{"", ""},
	};

	return cr_make_param_array(struct address, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct address *row, exporter, an_address_is_numbers_with_a_port)
{
	struct listen_address a;
	char again[80] = "";

	if (listen_parse(row->word, &a))
		listen_text(&a, again, sizeof again);
	cr_expect_str_eq(again, row->text, "%s", row->word);
}

Test(exporter, by_default_it_listens_on_loopback)
{
	struct listen_address a;

	cr_assert(listen_parse(LISTEN_DEFAULT, &a));
	cr_expect_eq(strncmp(LISTEN_DEFAULT, "127.0.0.1:", 10), 0);
}
