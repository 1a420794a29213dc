/* SPDX-License-Identifier: MIT */
/* hostile.c - a module that attacks quoitd with all that quoit-exec has of quoitd */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <quoit/exec.h>

#define SOCKETS 64

static void nap(int64_t milliseconds)
{
	struct timespec t = {.tv_sec = milliseconds / 1000,
			     .tv_nsec = milliseconds % 1000 * 1000000};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* Leave the process group that it leads, where quoitd looks for it. */
static void *leave_group(void *arg)
{
	(void)arg;
	(void)setpgid(0, getpgid(getppid()));
	return NULL;
}

/* Stop the process: it is neither dead nor at work. */
static void *stop_soon(void *arg)
{
	(void)arg;
	nap(50);
	(void)kill(getpid(), SIGSTOP);
	return NULL;
}

static void *ring_bells(void *arg)
{
	(void)arg;
	for (;;)
		for (int fd = QUOIT_EXEC_SOCKET + 1; fd < SOCKETS; fd++)
			(void)send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	return NULL;
}

/* The pages for answers; NULL: they are not mapped. */
static uint32_t *find_answers(size_t *ret_words)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	uint32_t *found = NULL;
	char line[256];

	while (f && !found && fgets(line, sizeof line, f))
		if (strstr(line, "quoit-exec-answers") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2) {
			found = (uint32_t *)from;
			*ret_words = (to - from) / sizeof *found;
		}
	if (f)
		(void)fclose(f);
	return found;
}

/* Write small and large numbers everywhere, for ever. */
static void *scribble(void *arg)
{
	uint64_t random = (uint64_t)getpid();
	size_t words = 0;
	uint32_t *at = find_answers(&words);

	(void)arg;
	while (at) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		__atomic_store_n(&at[(random >> 33) % words],
				 (uint32_t)(random >> 20) >> (random >> 59), __ATOMIC_RELAXED);
	}
	return NULL;
}

/* sqe.arg: the attack; scalar[0]: milliseconds before the job ends. */
static int turn(void *state, struct quoit_exec_call *c)
{
	static void *(*const ways[])(void *) = {NULL, leave_group, stop_soon, ring_bells, scribble};
	pthread_t thread;

	(void)state;
	if (c->arg >= sizeof ways / sizeof ways[0])
		return -EINVAL;
	if (ways[c->arg] && pthread_create(&thread, NULL, ways[c->arg], NULL))
		return -EAGAIN;
	nap(c->scalar[0].i);
	return 0;
}

static const struct quoit_exec_op ops[] = {{.name = "turn", .access = "----", .run = turn}};

const struct quoit_exec_module quoit_exec_module = {
	.version = QUOIT_EXEC_VERSION, .count = sizeof ops / sizeof ops[0], .ops = ops};
