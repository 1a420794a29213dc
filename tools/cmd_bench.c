/* SPDX-License-Identifier: MIT */
/* cmd_bench.c - `quoit bench`: choose CPUs, start the daemons, measure, and print the results */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/bench_apart.h"
#include "bench/bench_report.h"
#include "cli/args.h"
#include "cli/suggest.h"
#include "commands.h"
#include "launch/private_daemon.h"
#include "read/daemon_state.h"

#define MOST_ROUNDS 1001
#define MOST_LENGTH 1000

/* Several times the longest measurement of one round on two cores. */
#define LIMIT_S      300
#define MOST_LIMIT_S 86400

static const struct bench_plan *const plans[] = {
	&bench_nop,   &bench_submit,   &bench_chain, &bench_gemm,  &bench_ops,     &bench_randn,
	&bench_wake,  &bench_syscalls, &bench_idle,  &bench_crowd, &bench_device,  &bench_call,
	&bench_event, &bench_service,  &bench_sync,  &bench_queue, &bench_keyspace};
#define PLANS (sizeof plans / sizeof plans[0])

enum { SOCKET, ROUNDS, LENGTH, ONLY, LIMIT, SAMPLES, JSON };

static const struct args_option options[] = {
	[SOCKET] = {"socket", "PATH",
		    "measure the quoitd there (default: $QUOIT_SOCKET, else a private one)"},
	[ROUNDS] = {"rounds", "N", "number of times that each series is measured"},
	[LENGTH] = {"length", "N", "run N times as many jobs in each of quoit's own measurements"},
	[ONLY] = {"only", "SERIES,...", "measure and print only these series"},
	[LIMIT] = {"limit", "SECONDS",
		   "stop a measurement after S seconds (300), and go on to the next"},
	[SAMPLES] = {"samples", "FILE",
		     "append a line of JSON for each sample as soon as it is taken"},
	[JSON] = {"json", NULL, "print a JSON object with every sample"},
	{NULL},
};

static struct args_word names[PLANS + 1]; /* the plans' names, ended by a NULL */

static const struct args_command command = {
	"bench", "BENCHMARK",
	"Measure quoitd, the floor of the hardware and its peers in turn, round after round.\n"
	"Prints the median, the least and the most of each series, and of the ratios of rounds.\n"
	"gemm, ops and randn always start a quoitd of their own, with one core or with two.  A\n"
	"series that fails is named, and the others go on; a signal ends the measuring, and\n"
	"what was measured until then is printed.",
	options, names};

/* ---- CPUs ---- */

/* quoitd's placement puts its reactor on the last core; the client takes the first. */
static int choose_cpus(struct bench *b, int except)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) < 0)
		return -errno;
	b->client_cpu = b->server_cpu = -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (b->client_cpu < 0 && cpu != except)
			b->client_cpu = cpu;
		b->server_cpu = cpu;
	}
	if (except >= 0)
		b->server_cpu = except;
	if (b->client_cpu < 0)
		b->client_cpu = b->server_cpu;
	if (b->client_cpu == b->server_cpu)
		fprintf(stderr,
			"quoit bench: client and quoitd share one CPU: the figures say little\n");
	return 0;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		fprintf(stderr, "quoit bench: not pinned to CPU %d: %s\n", cpu, strerror(errno));
}

/* ---- daemons ---- */

/* The process behind a socket, and the CPU of its first reactor. */
static int look(struct bench_daemon *d, int *ret_cpu)
{
	struct counters_totals totals;
	int directory = runtime_open_directory(d->socket);
	int err = directory < 0 ? directory : counters_read_totals(directory, &totals);

	if (directory >= 0)
		close(directory);
	if (err || !totals.reactors) {
		(void)daemon_state_refuse("bench", d->socket, err ? err : -EBADMSG);
		return err ? err : -EBADMSG;
	}
	daemon_state_compare_versions("bench", &totals);
	d->pid = (pid_t)totals.origin.daemon_pid;
	*ret_cpu = totals.reactor[0].cpu;
	return 0;
}

static int start_private(struct bench *b, enum bench_cores cores, const struct bench_plan *plan,
			 struct private_daemon *ret)
{
	char where[40] = "--log=error";
	const char *daemon_options[sizeof plan->options / sizeof plan->options[0] + 4] = {
		"--reactors=1", where};
	size_t n = 2;
	int cpu, err;

	for (const char *const *option = plan->options; *option; option++)
		daemon_options[n++] = *option;
	if (cores == BENCH_ONE_CORE)
		snprintf(where, sizeof where, "--cpus=%d", b->server_cpu);
	if (cores == BENCH_TWO_CORES)
		snprintf(where, sizeof where, "--cpus=%d,%d", b->client_cpu, b->server_cpu);
	if (cores == BENCH_DEVICE) {
		snprintf(where, sizeof where, "--gpu=%s",
			 getenv("QUOIT_GPU") ? getenv("QUOIT_GPU") : "soft");
		/* time for a driver that is used for the first time */
		daemon_options[n] = "--start-ms=60000";
	}
	err = private_daemon_start(ret, daemon_options);
	if (err)
		return err;
	memcpy(b->daemon[cores].socket, ret->socket, sizeof ret->socket);
	err = look(&b->daemon[cores], &cpu);
	if (err)
		private_daemon_stop(ret);
	else if (cores == BENCH_ALL_CORES || cores == BENCH_DEVICE)
		b->server_cpu = cpu;
	return err;
}

static bool uses(const struct bench_plan *plan, enum bench_cores cores)
{
	for (const struct bench_series *s = plan->series; s->name; s++)
		if (s->cores == cores)
			return true;
	return false;
}

/* Start the daemons that the plan needs, run it, and stop them. */
static int with_daemons(struct bench *b, const struct bench_plan *plan, const char *given,
			struct report *report)
{
	struct private_daemon daemon[BENCH_CORES_NR];
	bool started[BENCH_CORES_NR] = {false};
	int cpu, err = choose_cpus(b, -1);

	for (int cores = BENCH_ALL_CORES; !err && cores < BENCH_CORES_NR; cores++) {
		if (!uses(plan, (enum bench_cores)cores))
			continue;
		if (cores == BENCH_ALL_CORES && given) {
			snprintf(b->daemon[cores].socket, sizeof b->daemon[cores].socket, "%s",
				 given);
			err = look(&b->daemon[cores], &cpu);
			if (!err)
				err = choose_cpus(b, cpu);
			continue;
		}
		err = start_private(b, (enum bench_cores)cores, plan, &daemon[cores]);
		started[cores] = !err;
	}
	if (!err) {
		pin(b->client_cpu);
		err = report_measure(report, b);
	}
	for (int cores = 0; cores < BENCH_CORES_NR; cores++)
		if (started[cores])
			private_daemon_stop(&daemon[cores]);
	return err;
}

/* ---- the command ---- */

static const struct bench_plan *find_plan(const char *name)
{
	struct suggestion s = {.word = name};

	for (size_t i = 0; i < PLANS; i++) {
		if (!strcmp(name, plans[i]->name))
			return plans[i];
		suggest_try(&s, plans[i]->name);
	}
	fprintf(stderr, "quoit bench: unknown benchmark '%s'", name);
	suggest_print(&s, "", stderr);
	fprintf(stderr, " (see quoit bench --help)\n");
	return NULL;
}

/* These variables would change the speed of a BLAS that we measure. */
static void clean_environment(void)
{
	unsetenv("OPENBLAS_CORETYPE");
	unsetenv("OPENBLAS_L2_SIZE");
	unsetenv("OPENBLAS_NUM_THREADS");
	unsetenv("BLIS_ARCH_TYPE");
}

/* False after a message: the plan has no such series. */
static bool choose_series(struct report *report, const struct bench_plan *plan, const char *only)
{
	struct suggestion s = {.word = NULL};
	const char *unknown = only ? report_choose(report, only) : NULL;
	char *word;

	if (!unknown)
		return true;
	word = strndup(unknown, strcspn(unknown, ","));
	s.word = word ? word : unknown;
	for (const struct bench_series *series = plan->series; series->name; series++)
		suggest_try(&s, series->name);
	fprintf(stderr, "quoit bench: %s has no series '%s'", plan->name, s.word);
	suggest_print(&s, "", stderr);
	fprintf(stderr, "\n");
	free(word);
	return false;
}

struct request {
	const struct bench_plan *plan;
	const char *given; /* --socket */
	const char *only;
	const char *samples; /* the path of a file */
	bool json;
	struct report_settings set;
};

/* Print what was measured, even if some series failed. */
static int measure_and_print(const struct request *q, struct report *report)
{
	struct bench b = {0};
	int err = with_daemons(&b, q->plan, q->given ? q->given : getenv("QUOIT_SOCKET"), report);

	if (err && !bench_apart_signal())
		fprintf(stderr, "quoit bench: %s: %s\n", q->plan->name, quoit_strerror(err));
	if (!q->json)
		report_print(report);
	else if (!report_print_json(report))
		err = -ENOMEM;
	if (bench_apart_signal())
		return 128 + bench_apart_signal();
	return err != 0;
}

static int run(struct request *q)
{
	struct report *report;
	int status;

	if (q->samples && !(q->set.kept = fopen(q->samples, "ae"))) {
		fprintf(stderr, "quoit bench: cannot append to '%s': %s\n", q->samples,
			strerror(errno));
		return 1;
	}
	report = report_new(q->plan, &q->set);
	if (!report) {
		fprintf(stderr, "quoit bench: %s\n", quoit_strerror(-ENOMEM));
		status = 1;
	} else if (!choose_series(report, q->plan, q->only)) {
		status = 2;
	} else {
		clean_environment();
		status = measure_and_print(q, report);
	}
	report_free(report);
	if (q->set.kept)
		fclose(q->set.kept);
	return status;
}

/* Parse a number from 1 to `most`; false after a message. */
static bool parse_number(const char *word, const char *what, unsigned most, unsigned *ret)
{
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	*ret = (unsigned)n;
	if (*word >= '0' && *word <= '9' && !*end && n > 0 && n <= most)
		return true;
	fprintf(stderr, "quoit bench: '%s' is not a %s (1 to %u)\n", word, what, most);
	return false;
}

/* False after a message: the option's value is invalid. */
static bool take_option(struct request *q, int opt)
{
	switch (opt) {
	case SOCKET:
		q->given = optarg;
		return true;
	case ROUNDS:
		return parse_number(optarg, "number of rounds", MOST_ROUNDS, &q->set.rounds);
	case LENGTH:
		return parse_number(optarg, "length", MOST_LENGTH, &q->set.length);
	case ONLY:
		q->only = optarg;
		return true;
	case LIMIT:
		return parse_number(optarg, "number of seconds", MOST_LIMIT_S, &q->set.limit_s);
	case SAMPLES:
		q->samples = optarg;
		return true;
	default:
		q->json |= opt == JSON;
		return true;
	}
}

int cmd_bench(int argc, char **argv)
{
	struct request q = {.set = {.length = 1, .limit_s = LIMIT_S}};
	int opt;

	for (size_t i = 0; i < PLANS; i++)
		names[i] = (struct args_word){plans[i]->name, plans[i]->help};
	while ((opt = args_next(&command, argc, argv)) >= 0)
		if (!take_option(&q, opt))
			return 2;
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	if (optind == argc) {
		fprintf(stderr, "quoit bench: name a benchmark (see quoit bench --help)\n");
		return 2;
	}
	if (optind + 1 < argc) {
		fprintf(stderr, "quoit bench: unexpected argument '%s': one benchmark at a time\n",
			argv[optind + 1]);
		return 2;
	}
	q.plan = find_plan(argv[optind]);
	if (!q.plan)
		return 2;
	if (!q.set.rounds)
		q.set.rounds = q.plan->rounds;
	return run(&q);
}
