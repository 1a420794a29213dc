/* SPDX-License-Identifier: MIT */
/*
 * starpu.c - time empty tasks of StarPU on one CPU worker, 256 in flight
 *
 * Usage: starpu CLIENT-CPU WORKER-CPU COUNT.  It prints a line with two times in nanoseconds: of a
 * task without data, and of one that modifies a datum which all of them modify, so that each waits
 * for the one before.
 *
 * StarPU is measured at its best.  Of its ways these are the quickest for empty tasks:
 * - The scheduler is "eager", one list of tasks: "lws" and "ws" take longer, with one worker, too.
 * - Tasks are structures of the program that are used again (starpu_task_clean).
 *   starpu_task_insert, and starpu_task_create with starpu_task_submit, also allocate them.
 * - Tasks have no performance model, and get no number by their order of submission.
 * - The thread that submits waits by starpu_task_wait_for_n_submitted after each 32 tasks, as
 *   `quoit bench` does with jobs, or for all 256 of them: then the two threads want the same locks
 *   less often.  Which is quicker depends on the machine, so both are measured, and the better one
 *   is printed.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <starpu.h>

#define IN_FLIGHT 256u
#define ROUNDS    3

/* Tasks end in the order of their submission; one more may just be ending. */
static struct starpu_task tasks[2 * IN_FLIGHT];
static uint64_t runs; /* of the one worker */

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "starpu: %s\n", what);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- the worker ---- */

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	must(!sched_setaffinity(0, sizeof set, &set), "it cannot have this CPU");
}

static void do_nothing(void *buffers[], void *unused)
{
	(void)buffers;
	(void)unused;
	runs++;
}

static void pin_worker(void *cpu)
{
	pin(*(const int *)cpu);
}

static struct starpu_codelet without_data = {.cpu_funcs = {do_nothing}};
static struct starpu_codelet modifying = {
	.cpu_funcs = {do_nothing}, .nbuffers = 1, .modes = {STARPU_RW}};

static void begin(int client_cpu, int *worker_cpu)
{
	/* The worker pins itself: StarPU counts CPUs in an order of its own. */
	static const char *const settings[][2] = {
		{"STARPU_SCHED", "eager"},      {"STARPU_NCPU", "1"},
		{"STARPU_NCUDA", "0"},          {"STARPU_NOPENCL", "0"},
		{"STARPU_WORKERS_NOBIND", "1"}, {"STARPU_CALIBRATE", "0"},
		{"STARPU_BUS_CALIBRATE", "0"},  {"STARPU_SILENT", "1"},
	};

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		(void)setenv(settings[i][0], settings[i][1], 1);
	must(!starpu_init(NULL), "StarPU does not begin");
	pin(client_cpu);
	starpu_execute_on_each_worker(pin_worker, worker_cpu, STARPU_CPU);
}

/* ---- the tasks ---- */

struct kind {
	struct starpu_codelet *codelet;
	starpu_data_handle_t datum; /* NULL: none */
};

/* The task's last run has ended, unless it had none. */
static void renew(struct starpu_task *task, const struct kind *kind)
{
	starpu_task_clean(task);
	starpu_task_init(task);
	task->cl = kind->codelet;
	task->handles[0] = kind->datum;
	task->destroy = 0;
	task->no_submitorder = 1;
}

/* IN_FLIGHT are submitted and not ended, and it waits for `batch` of them at a time. */
static double submit(const struct kind *kind, unsigned batch, uint64_t count)
{
	const uint64_t before = runs;
	const double begun = now_ns();
	double ns;

	for (uint64_t i = 0; i < count; i++) {
		struct starpu_task *task = &tasks[i % (2 * IN_FLIGHT)];

		renew(task, kind);
		must(!starpu_task_submit(task), "no task is submitted");
		if (i % batch == batch - 1)
			starpu_task_wait_for_n_submitted(IN_FLIGHT - batch);
	}
	starpu_task_wait_for_all();
	ns = (now_ns() - begun) / (double)count;
	must(runs - before == count, "not each task was run once");
	return ns;
}

static double best_of(const struct kind *kind, uint64_t count)
{
	static const unsigned batch[] = {32, IN_FLIGHT};
	double best = 0;

	for (unsigned i = 0; i < ROUNDS * sizeof batch / sizeof *batch; i++) {
		const unsigned each = batch[i % (sizeof batch / sizeof *batch)];
		double ns;

		(void)submit(kind, each, count / 10);
		ns = submit(kind, each, count);
		if (!i || ns < best)
			best = ns;
	}
	return best;
}

int main(int argc, char **argv)
{
	uint64_t count = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	int worker_cpu = argc == 4 ? atoi(argv[2]) : 0;
	struct kind empty = {&without_data, NULL}, in_order = {&modifying, NULL};
	double empty_ns, in_order_ns;
	float x = 0;

	if (count < 2 * IN_FLIGHT) {
		fprintf(stderr, "usage: starpu CLIENT-CPU WORKER-CPU COUNT (of %u or more)\n",
			2 * IN_FLIGHT);
		return 2;
	}
	begin(atoi(argv[1]), &worker_cpu);
	starpu_variable_data_register(&in_order.datum, STARPU_MAIN_RAM, (uintptr_t)&x, sizeof x);
	for (unsigned i = 0; i < 2 * IN_FLIGHT; i++)
		starpu_task_init(&tasks[i]);
	empty_ns = best_of(&empty, count);
	in_order_ns = best_of(&in_order, count);
	for (unsigned i = 0; i < 2 * IN_FLIGHT; i++)
		starpu_task_clean(&tasks[i]);
	starpu_data_unregister(in_order.datum);
	starpu_shutdown();
	printf("%.1f %.1f\n", empty_ns, in_order_ns);
	return 0;
}
