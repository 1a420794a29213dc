/* SPDX-License-Identifier: MIT */
/* test_limits.c - docs/limits.md has the numbers that the code has */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/ctl.h>
#include <quoit/exec.h>
#include <quoit/kernel.h>

#include "backend/cpu/worker.h"
#include "backend/file/backend_io.h"
#include "backend/file/io_ring.h"
#include "base/log.h"
#include "config/config.h"
#include "control/hello_limits.h"
#include "job/deps.h"
#include "job/sched.h"
#include "job/validate.h"
#include "memory/io_buffers.h"
#include "memory/memory_thread.h"
#include "processes/own_processes.h"
#include "reactor/reactor.h"
#include "session/blocking_pool.h"
#include "session/session.h"
#include "store/sizeclass.h"

#define MIB (UINT64_C(1) << 20)

/* A row of a table of that page, by its first words, and a number that it must have. */
struct limit {
	const char *row;
	uint64_t number;
	const char *unit; /* the text right behind the number; NULL: anything but a digit */
};

static const struct limit limits[] = {
	{"dims of a tensor", QUOIT_MAX_DIMS, NULL},
	{"tensors of one job", QUOIT_MAX_TENSORS_PER_JOB, NULL},
	{"handle", QUOIT_HANDLE_INDEX_BITS, " bits of index"},
	{"handle", 32 - QUOIT_HANDLE_INDEX_BITS, " bits of generation"},
	{"SQ entries", QUOIT_MIN_ENTRIES, NULL},
	{"SQ entries", QUOIT_MAX_ENTRIES, NULL},
	{"CQ entries", 2 * QUOIT_MAX_ENTRIES, NULL},
	{"rings of a session", QUOIT_MAX_RINGS, NULL},
	{"files of a session", QUOIT_MAX_FILES, NULL},
	{"call sites of a ring", QUOIT_MAX_SITES - 1, NULL},
	{"batches of a window", QUOIT_MAX_WINDOW, NULL},
	{"a session's name", QUOIT_NAME_BYTES - 1, " bytes"},
	{"a socket's path", sizeof((struct sockaddr_un *)0)->sun_path - 1, " bytes"},
	{"modules of a quoitd", CONFIG_MODULES, NULL},
	{"operations of modules", QUOIT_OP_MODULE_FIRST, " to"},
	{"operations of modules", QUOIT_OP_MODULE_LAST, NULL},
	{"operations of one module", QUOIT_EXEC_MAX_OPS, NULL},
	{"a job's predicted time", VALIDATE_MAX_NS / 1000000000, " s"},
	{"lease of host memory, asked for", HELLO_LEAST_BYTES / MIB, " MiB"},
	{"memory for copies between devices", BRIDGE_BYTES / MIB, " MiB for copies"},
	{"a buffer, at least", PAGE_BYTES / 1024, " KiB"},
	{"open jobs that one job waits for", DEPS_MAX_EDGES, NULL},
	{"cancels of a ring", CANCEL_SLOTS, NULL},
	{"works of a session at the workers", SCHED_PUBLISHED, NULL},
	{"works of a reactor at the workers", WORKER_SLOTS, " slots"},
	{"works of a reactor at the workers", WORKER_SHARED, " shared"},
	{"file transfers in flight of a session", IO_SESSION_SLOTS, NULL},
	{"file transfers in flight of a user", IO_USER_SLOTS, " at one reactor"},
	{"file transfers in flight of a reactor", IO_SLOTS, " in all"},
	{"descriptors of a user that hang quoitd", BLOCKING_USER, NULL},
	{"reactors", QUOIT_MAX_REACTORS, NULL},
	{"rings of a reactor", REACTOR_RINGS, NULL},
	{"registered pinned memory", IO_BUFFERS, " parts"},
	{"registered pinned memory", MEMORY_PART_BYTES / MIB, " MiB"},
	{"registered pinned memory", IO_BUFFERS *MEMORY_PART_BYTES / (1024 * MIB), " GiB"},
	{"sessions whose memory an executor knows", QUOIT_EXEC_SLOTS, NULL},
	{"images of a session", QUOIT_MAX_IMAGES, ","},
	{"bytes of an image", QUOIT_MAX_IMAGE_BYTES / MIB, " MiB"},
	{"kernels of a session", QUOIT_MAX_KERNELS, NULL},
	{"arguments of a kernel", QUOIT_MAX_KERNEL_ARGS, NULL},
	{"a kernel's name", QUOIT_KERNEL_NAME_BYTES - 1, " bytes"},
	{"a kernel's block", QUOIT_MAX_KERNEL_BLOCK, " threads"},
	{"a kernel's shared memory", QUOIT_MAX_KERNEL_SHARED / 1024, " KiB"},
	{"users that bring kernels", CONFIG_OWN_USERS, NULL},
	{"users that bring kernels", OWN_LINGER_NS / 1000000000, " s"},
	{"GPU-direct mode: tensors", QUOIT_DIRECT_ELEMENTS, " elements"},
	{"GPU-direct mode: products", QUOIT_DIRECT_SIDE, " x"},
	{"GPU-direct mode: tensors", QUOIT_DIRECT_BUFFER_BYTES / 1024, " KiB"},
	{"GPU-direct mode: memory", QUOIT_DIRECT_SLAB_BYTES / MIB, " MiB"},
	{"GPU-direct mode: buffers", SLAB_PAGES, " buffers"},
	{"GPU-direct mode: jobs", QUOIT_DIRECT_ENTRIES, " of a reactor"},
	{"GPU-direct mode: consumers", QUOIT_DIRECT_CONSUMERS, " resident"},
	{"GPU-direct mode: consumers", QUOIT_DIRECT_IDLE_NS / 1000000, " ms"},
	{"log lines about one user", LOG_BURST, " a second"},
	{"users with log lines of their own", LOG_UIDS, " users"},
	{"log lines that stderr's reader leaves", LOG_LINES, NULL},
};

static char page[64u << 10];

static void read_page(void)
{
	FILE *f = fopen("docs/limits.md", "r");

	cr_assert(f, "to be run in the project's folder");
	page[fread(page, 1, sizeof page - 1, f)] = '\0';
	fclose(f);
}

/* As the page writes numbers: 4096, 16,384. */
static void write_number(uint64_t n, char *to, size_t size)
{
	if (n < 10000)
		snprintf(to, size, "%llu", (unsigned long long)n);
	else
		snprintf(to, size, "%llu,%03llu", (unsigned long long)n / 1000,
			 (unsigned long long)n % 1000);
}

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || c == ',';
}

/* Does the line have the whole number, followed by its unit? */
static bool has(const char *line, const char *number, const char *unit)
{
	for (const char *at = line; (at = strstr(at, number)) != NULL; at++) {
		const char *end = at + strlen(number);

		if (is_digit(at[-1]) || (*end >= '0' && *end <= '9'))
			continue;
		if (!unit || !strncmp(end, unit, strlen(unit)))
			return true;
	}
	return false;
}

static void expect(const struct limit *limit)
{
	char start[80], number[32], line[512];
	const char *at;

	snprintf(start, sizeof start, "\n| %s", limit->row);
	at = strstr(page, start);
	cr_assert(at, "no row begins with '%s'", limit->row);
	snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
	write_number(limit->number, number, sizeof number);
	cr_expect(has(line + 2 + strlen(limit->row), number, limit->unit), "no %s%s in: %s", number,
		  limit->unit ? limit->unit : "", line);
}

Test(limits, the_page_has_the_numbers_of_the_code)
{
	read_page();
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		expect(&limits[i]);
}

Test(limits, the_page_has_the_defaults_of_the_options)
{
	struct config c;
	struct limit rows[] = {
		{"jobs in flight |", 0, ","},
		{"connections of a user", 0, NULL},
		{"rings of a user", 0, NULL},
		{"time to say hello", 0, " ms"},
		{"time of one job of a module", 0, " ms"},
		{"time for a module's or device's process to be up", 0, " ms"},
	};

	config_init(&c);
	rows[0].number = c.max_jobs;
	rows[1].number = c.uid_connections;
	rows[2].number = c.uid_rings;
	rows[3].number = c.hello_ms;
	rows[4].number = c.module_ms;
	rows[5].number = c.start_ms;
	read_page();
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect(&rows[i]);
}
