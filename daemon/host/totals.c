/* SPDX-License-Identifier: MIT */
/* totals.c - the daemon's counter file */
#include "totals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "tsc.h"

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

/* Until it is complete and locked, nobody is to see it, or to lock it. */
#define UNDER_WAY QUOIT_STATS_TOTALS ".new"

static void *map_file(int directory, int *ret_fd)
{
	void *map = MAP_FAILED;
	int fd;

	(void)unlinkat(directory, UNDER_WAY, 0); /* of one that was killed just then */
	fd = openat(directory, UNDER_WAY, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	/* With its pages: a full disk is to be found here, not by a SIGBUS. */
	if (fd >= 0 && fallocate(fd, 0, 0, sizeof(struct quoit_totals)) == 0)
		map = mmap(NULL, sizeof(struct quoit_totals), PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, 0);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		log_info("no lock on the totals, by which tools elsewhere see that we live: %s",
			 strerror(errno));
	*ret_fd = fd;
	return map;
}

/* Let everybody see it. */
static void show(int directory, int fd)
{
	if (fchmod(fd, 0444) < 0 ||
	    renameat(directory, UNDER_WAY, directory, QUOIT_STATS_TOTALS) < 0)
		log_info("nobody sees the totals: %s", strerror(errno));
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

struct quoit_totals *totals_open(int directory, uint32_t reactors, int *ret_fd)
{
	struct quoit_totals *t = map_file(directory, ret_fd);
	bool is_file = t != MAP_FAILED;

	if (!is_file)
		t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	if (t == MAP_FAILED)
		return NULL;
	fill_labels(t);
	totals_fill_header(&t->header, sizeof *t, offsetof(struct quoit_totals, value),
			   QUOIT_DAEMON_NR, reactors);
	t->header.reactor_counters = QUOIT_REACTOR_NR;
	t->header.cores_at = offsetof(struct quoit_totals, core);
	t->header.core_counters = QUOIT_CORE_NR;
	if (is_file)
		show(directory, *ret_fd);
	return t;
}

void totals_close(struct quoit_totals *t, int fd, int directory)
{
	if (!t)
		return;
	munmap(t, sizeof *t);
	if (fd >= 0)
		close(fd);
	(void)unlinkat(directory, QUOIT_STATS_TOTALS, 0);
}

void totals_count(struct quoit_totals *t, uint32_t counter)
{
	__atomic_fetch_add(&t->value[counter], 1, __ATOMIC_RELAXED);
}

void totals_set(struct quoit_totals *t, uint32_t counter, uint64_t value)
{
	__atomic_store_n(&t->value[counter], value, __ATOMIC_RELAXED);
}
