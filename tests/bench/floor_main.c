/* SPDX-License-Identifier: MIT */
/*
 * floor_main.c - print the floor and SQPOLL side by side.
 *
 * Usage: floor [client-cpu server-cpu]; 0 and 1 without them.  Each line is the
 * median of runs that alternate between all lines, with the least and the most.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"
#include "sqpoll.h"

#define RUNS 5

struct line {
	const char *what;
	int (*run)(const struct floor_params *p, struct floor_result *ret);
	uint32_t depth;
	uint64_t requests;
};

static const struct line lines[] = {
	{"floor, one at a time", floor_run, 1, 200000},
	{"floor, 32 in flight", floor_run, 32, 2000000},
	{"floor, 256 in flight", floor_run, 256, 4000000},
	{"write one way, 32 per flush", floor_write, 1024, 4000000},
	{"SQPOLL, one at a time", sqpoll_run, 1, 100000},
	{"SQPOLL, 256 in flight", sqpoll_run, 256, 1000000},
};
#define LINES (sizeof(lines) / sizeof(lines[0]))

struct samples {
	double ns[RUNS];
	double rate[RUNS];
	int error;
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void line_print(const struct line *l, struct samples *s)
{
	if (s->error < 0) {
		printf("%-28s %s\n", l->what, strerror(-s->error));
		return;
	}
	qsort(s->ns, RUNS, sizeof(s->ns[0]), compare);
	qsort(s->rate, RUNS, sizeof(s->rate[0]), compare);
	printf("%-28s %8.1f ns (%.1f to %.1f) %8.2f M/s (%.2f to %.2f)\n", l->what, s->ns[RUNS / 2],
	       s->ns[0], s->ns[RUNS - 1], s->rate[RUNS / 2] / 1e6, s->rate[0] / 1e6,
	       s->rate[RUNS - 1] / 1e6);
}

int main(int argc, char **argv)
{
	static struct samples samples[LINES];
	int client_cpu = 0, server_cpu = 1;

	if (argc != 1 && (argc != 3 || sscanf(argv[1], "%d", &client_cpu) != 1 ||
			  sscanf(argv[2], "%d", &server_cpu) != 1)) {
		fprintf(stderr, "usage: floor [client-cpu server-cpu]\n");
		return 2;
	}
	for (int run = 0; run < RUNS; run++) {
		for (size_t i = 0; i < LINES; i++) {
			struct floor_params p = {
				.depth = lines[i].depth,
				.requests = lines[i].requests,
				.client_cpu = client_cpu,
				.server_cpu = server_cpu,
			};
			struct floor_result result;

			if (samples[i].error == 0)
				samples[i].error = lines[i].run(&p, &result);
			if (samples[i].error < 0)
				continue;
			samples[i].ns[run] = result.ns;
			samples[i].rate[run] = result.rate;
		}
	}
	for (size_t i = 0; i < LINES; i++)
		line_print(&lines[i], &samples[i]);
	return 0;
}
