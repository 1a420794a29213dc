/* SPDX-License-Identifier: MIT */
/* totals.c - makes and updates the daemon's counter file */
#include "totals.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/shared_file.h"
#include "base/tsc.h"

#define LABEL(name, text) text,
static const char *const daemon_labels[QUOIT_DAEMON_NR] = {QUOIT_DAEMON_STATS(LABEL)};
static const char *const reactor_labels[QUOIT_REACTOR_NR] = {QUOIT_REACTOR_STATS(LABEL)};
static const char *const core_labels[QUOIT_CORE_NR] = {QUOIT_CORE_STATS(LABEL)};
#undef LABEL

uint64_t totals_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 ? 0 : (uint32_t)st.st_ino;
}

void totals_fill_header(struct quoit_stats_header *h, uint32_t file_bytes, uint32_t header_bytes,
			uint32_t counters, uint32_t reactors)
{
	*h = (struct quoit_stats_header){.magic = QUOIT_STATS_MAGIC,
					 .version = QUOIT_STATS_VERSION,
					 .header_bytes = header_bytes,
					 .file_bytes = file_bytes,
					 .label_bytes = QUOIT_LABEL_BYTES,
					 .tsc_hz = tsc_hz(),
					 .started_ns = totals_now_ns(),
					 .daemon_pid = (uint32_t)getpid(),
					 .counters = counters,
					 .reactors = reactors,
					 .pid_namespace = pid_namespace()};
}

/* Lock it before other processes see it: by the lock, tools elsewhere see that quoitd lives. */
static void lock(int fd)
{
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		log_info("cannot lock the totals file, so tools in other containers may take "
			 "quoitd for dead: %s",
			 strerror(errno));
}

static void fill_labels(struct quoit_totals *t)
{
	for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++)
		snprintf(t->daemon_label[i], sizeof t->daemon_label[i], "%s", daemon_labels[i]);
	for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++)
		snprintf(t->reactor_label[i], sizeof t->reactor_label[i], "%s", reactor_labels[i]);
	for (unsigned i = 0; i < QUOIT_CORE_NR; i++)
		snprintf(t->core_label[i], sizeof t->core_label[i], "%s", core_labels[i]);
}

/* "1.2.3" as 1002003. */
static uint64_t version_number(void)
{
	unsigned major = 0, minor = 0, patch = 0;

	(void)sscanf(QUOIT_VERSION, "%u.%u.%u", &major, &minor, &patch);
	return major * UINT64_C(1000000) + minor * 1000u + patch;
}

struct quoit_totals *totals_open(int directory, uint32_t reactors, int *ret_fd)
{
	bool is_file;
	struct quoit_totals *t =
		shared_file_map(directory, QUOIT_STATS_TOTALS, sizeof *t, ret_fd, &is_file);

	if (!t)
		return NULL;
	lock(*ret_fd);
	fill_labels(t);
	t->value[QUOIT_DAEMON_ABI] = QUOIT_ABI_VERSION;
	t->value[QUOIT_DAEMON_VERSION] = version_number();
	totals_fill_header(&t->header, sizeof *t, offsetof(struct quoit_totals, value),
			   QUOIT_DAEMON_NR, reactors);
	t->header.reactor_counters = QUOIT_REACTOR_NR;
	t->header.cores_at = offsetof(struct quoit_totals, core);
	t->header.core_counters = QUOIT_CORE_NR;
	if (is_file)
		shared_file_show(directory, QUOIT_STATS_TOTALS, *ret_fd);
	return t;
}

void totals_close(struct quoit_totals *t, int fd, int directory)
{
	if (t)
		shared_file_remove(t, sizeof *t, fd, directory, QUOIT_STATS_TOTALS);
}

const char *totals_label(uint32_t counter)
{
	return daemon_labels[counter];
}

void totals_count(struct quoit_totals *t, uint32_t counter)
{
	__atomic_fetch_add(&t->value[counter], 1, __ATOMIC_RELAXED);
}

void totals_set(struct quoit_totals *t, uint32_t counter, uint64_t value)
{
	__atomic_store_n(&t->value[counter], value, __ATOMIC_RELAXED);
}
