/* SPDX-License-Identifier: MIT */
/* sampler.h - measure the memory that a program and its quoitd use: their own and shared memory */
#ifndef EXAMPLES_SAMPLER_H
#define EXAMPLES_SAMPLER_H

#ifndef _GNU_SOURCE
#error "struct ucred: compile with -D_GNU_SOURCE"
#endif

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <quoit.h>

struct sampler {
	pthread_t thread;
	pid_t client, daemon;
	uint64_t first, highest; /* KiB */
	bool hidden; /* quoitd runs as another user, so that its descriptors cannot be read */
	bool stop;
};

/* The resident anonymous memory of a process, KiB. */
static inline uint64_t anonymous(pid_t pid)
{
	unsigned long long kib = 0;
	char path[32], line[128];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RssAnon: %llu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* The blocks of the files by which quoitd shares memory, mapped or not, KiB. */
static inline uint64_t shared(pid_t pid, bool *ret_hidden)
{
	struct dirent *entry;
	uint64_t blocks = 0;
	char path[32], link[8];
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	*ret_hidden = !dir;
	while (dir && (entry = readdir(dir)))
		if (readlinkat(dirfd(dir), entry->d_name, link, sizeof link) == sizeof link &&
		    !memcmp(link, "/memfd:", 7) && !fstatat(dirfd(dir), entry->d_name, &st, 0))
			blocks += (uint64_t)st.st_blocks;
	if (dir)
		closedir(dir);
	return blocks / 2;
}

static inline uint64_t all_of(struct sampler *m)
{
	return anonymous(m->client) + anonymous(m->daemon) + shared(m->daemon, &m->hidden);
}

static inline void *sample(void *data)
{
	const struct timespec period = {.tv_nsec = 10000000};
	struct sampler *m = data;

	while (!__atomic_load_n(&m->stop, __ATOMIC_ACQUIRE)) {
		uint64_t sum = all_of(m);

		if (sum > m->highest)
			m->highest = sum;
		nanosleep(&period, NULL);
	}
	return NULL;
}

/* Sample from a thread of its own until sampler_stop. */
static inline void sampler_start(struct sampler *m, struct quoit_ring *q)
{
	struct ucred daemon = {0};
	socklen_t size = sizeof daemon;

	/* quoitd has made both ends of the ring's socket. */
	getsockopt(quoit_get_fd(q), SOL_SOCKET, SO_PEERCRED, &daemon, &size);
	*m = (struct sampler){.client = getpid(), .daemon = daemon.pid};
	m->first = m->highest = all_of(m);
	pthread_create(&m->thread, NULL, sample, m);
}

/*
 * The highest growth since sampler_start, MiB; NAN: not known, because quoitd's shared memory is
 * hidden.
 */
static inline double sampler_stop(struct sampler *m)
{
	__atomic_store_n(&m->stop, true, __ATOMIC_RELEASE);
	pthread_join(m->thread, NULL);
	return m->hidden ? NAN : (double)(m->highest - m->first) / 1024;
}

#endif
