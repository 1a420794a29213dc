/* SPDX-License-Identifier: MIT */
/* sampler.h - how much resident memory a program and its quoitd use, as ps counts it */
#ifndef EXAMPLES_SAMPLER_H
#define EXAMPLES_SAMPLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <quoit.h>

struct sampler {
	pthread_t thread;
	pid_t pid[2];
	uint64_t first, highest; /* KiB */
	bool stop;
};

/* Anonymous and shared resident memory of a process, KiB. */
static inline uint64_t resident(pid_t pid)
{
	unsigned long long kib, sum = 0;
	char path[32], line[128];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RssAnon: %llu", &kib) == 1 ||
		    sscanf(line, "RssShmem: %llu", &kib) == 1)
			sum += kib;
	if (f)
		fclose(f);
	return sum;
}

static inline void *sample(void *data)
{
	const struct timespec period = {.tv_nsec = 10000000};
	struct sampler *m = data;

	while (!__atomic_load_n(&m->stop, __ATOMIC_ACQUIRE)) {
		uint64_t sum = resident(m->pid[0]) + resident(m->pid[1]);

		if (sum > m->highest)
			m->highest = sum;
		nanosleep(&period, NULL);
	}
	return NULL;
}

/* Watch from a thread of its own until sampler_stop. */
static inline void sampler_start(struct sampler *m, struct quoit_ring *q)
{
	struct ucred daemon = {0};
	socklen_t size = sizeof daemon;

	/* quoitd has made both ends of the ring's socket. */
	getsockopt(quoit_ring_fd(q), SOL_SOCKET, SO_PEERCRED, &daemon, &size);
	*m = (struct sampler){.pid = {getpid(), daemon.pid}};
	m->first = m->highest = resident(m->pid[0]) + resident(m->pid[1]);
	pthread_create(&m->thread, NULL, sample, m);
}

/* The growth since sampler_start at its highest, MiB. */
static inline double sampler_stop(struct sampler *m)
{
	__atomic_store_n(&m->stop, true, __ATOMIC_RELEASE);
	pthread_join(m->thread, NULL);
	return (double)(m->highest - m->first) / 1024;
}

#endif
