/* SPDX-License-Identifier: MIT */
/*
 * hostile_pages.c - clients whose pages the kernel cannot describe, and tools that look at all
 * clients
 *
 * A client holds its own mmap lock for ever: one of its threads waits, with the lock, for a page of
 * a file whose server does not answer, and another one waits for the lock itself, to write.  A
 * reader of its smaps or numa_maps waits behind that thread.  Tools must show all other clients
 * within a second, and of these clients what can be known.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scenes.h"
#include "slow_server.h"

/* More than a tool has readers. */
#define MOST 40u

/* The short form, and that of a sanitizer, runs beside other tests: there tools only must end. */
#define SECOND_MS 1000
#define SOON_MS   10000

/* The time limit for a tool that never ends. */
#define PATIENCE_S 20

static const struct raw_wish wish = {
	.host_bytes = 1 << 20, .arena_bytes = 4096, .max_tensors = 64, .sq_entries = 8};

/* ---- the clients ---- */

struct holder {
	pid_t pid;
	uint64_t session;
};

static int own_memory;  /* a holder's /proc/self/mem */
static char *slow_page; /* mapped before a thread waits for it, since mmap would wait, too */

static void *wait_with_the_lock(void *arg)
{
	char byte;

	(void)arg;
	(void)!pread(own_memory, &byte, 1, (off_t)(uintptr_t)slow_page);
	return NULL;
}

/* Free the page each time, until the other thread has the lock. */
static void *want_the_lock(void *arg)
{
	(void)arg;
	for (;;) {
		void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		usleep(1000);
		munmap(at, 4096);
	}
	return NULL;
}

/* Runs in a process of its own: opens a session, and then blocks its lock. */
static void hold(const char *socket, int ready)
{
	pthread_t thread;
	struct raw_client c;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	own_memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (stage_has_users())
		scene_become(SCENE_MALLORY);
	raw_set_user(0);
	if (own_memory < 0 || raw_open(&c, socket, &wish))
		_exit(1);
	if (write(ready, &c.info.session, sizeof c.info.session) != sizeof c.info.session ||
	    pthread_create(&thread, NULL, wait_with_the_lock, NULL) ||
	    pthread_create(&thread, NULL, want_the_lock, NULL))
		_exit(1);
	for (;;)
		pause();
}

static bool start(struct stage *s, struct holder *h)
{
	int ready[2];
	bool good;

	if (!CHECK(s, pipe2(ready, O_CLOEXEC) == 0))
		return false;
	fflush(NULL);
	h->pid = fork();
	if (h->pid == 0)
		hold(s->daemon.socket, ready[1]);
	close(ready[1]);
	good = read(ready[0], &h->session, sizeof h->session) == sizeof h->session;
	close(ready[0]);
	return CHECK(s, good);
}

/* ---- the tools ---- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Run `quoit` with these words; returns its output, within a second if time can be measured. */
static void run_tool(struct stage *s, const char *words, char *ret_said, size_t size)
{
	const char *build = getenv("QUOIT_BUILD");
	uint64_t start = now_ms(), took;
	char line[400];
	size_t n = 0;
	FILE *says;

	snprintf(line, sizeof line, "timeout -s KILL %d %s/quoit %s --socket=%s 2>&1", PATIENCE_S,
		 build ? build : "build", words, s->daemon.socket);
	says = popen(line, "r");
	if (says)
		n = fread(ret_said, 1, size - 1, says);
	ret_said[n] = '\0';
	CHECK(s, says && pclose(says) == 0);
	took = now_ms() - start;
	if (!CHECK(s, took <= (s->times ? SECOND_MS : SOON_MS)))
		printf("quoit %s: %llu ms\n", words, (unsigned long long)took);
}

/* The line of a session in the output of `ps -o session,...`; "": there is none. */
static const char *line_of(const char *said, uint64_t session)
{
	char number[24];
	size_t n = (size_t)snprintf(number, sizeof number, "%llu ", (unsigned long long)session);

	while (*said) {
		if (!strncmp(said + strspn(said, " "), number, n))
			return said + strspn(said, " ") + n;
		said += strcspn(said, "\n");
		said += *said == '\n';
	}
	return "";
}

static bool is_known(const char *line)
{
	return line[strspn(line, " ")] >= '0' && line[strspn(line, " ")] <= '9';
}

static bool is_unknown(const char *line)
{
	return line[strspn(line, " ")] == '-';
}

/*
 * All sessions are shown.  A holder's figures that the kernel does not give are unknown; all of the
 * canary's are known.
 */
static void look(struct stage *s, const char *column, const struct holder *h, unsigned count)
{
	static char said[1 << 16];
	char words[80];

	snprintf(words, sizeof words, "ps --no-headers -o session,%s", column);
	run_tool(s, words, said, sizeof said);
	for (unsigned i = 0; i < count; i++)
		if (!CHECK(s, is_unknown(line_of(said, h[i].session))))
			break;
	if (!CHECK(s, is_known(line_of(said, 1))) || s->bad) /* the canary's */
		printf("%s:\n%s", column, said);
}

static void look_at_one(struct stage *s, const struct holder *h)
{
	static char said[1 << 16];
	char words[80];

	snprintf(words, sizeof words, "top --batch --iterations=1 --session=%llu",
		 (unsigned long long)h->session);
	run_tool(s, words, said, sizeof said);
	if (!CHECK(s, strstr(said, "\nPSS       - ") && strstr(said, "\nNODES     - ")))
		printf("%s", said);
}

/* ---- the cases ---- */

static void hold_and_look(struct stage *s, unsigned count)
{
	struct holder holder[MOST];
	struct slow_server v;
	unsigned started = 0;
	int file;

	if (!slow_server_enter(s, &v, &file))
		return;
	slow_server_hold(&v, FUSE_READ);
	slow_page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	while (started < count && start(s, &holder[started]))
		started++;
	if (started)
		slow_server_await(&v, 1);
	usleep(100000); /* until the threads that want the locks wait for them */
	if (started == count) {
		look(s, "pss", holder, count);
		look(s, "nodes", holder, count);
		look(s, "pss,nodes,%remote", holder, count);
		look_at_one(s, &holder[0]);
	}
	slow_server_kill(&v);
	for (unsigned i = 0; i < started; i++) {
		kill(holder[i].pid, SIGKILL);
		(void)waitpid(holder[i].pid, NULL, 0);
		stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
	}
	munmap(slow_page, 4096);
	close(file);
}

static void client_that_never_lets_its_memory_be_read(struct stage *s)
{
	hold_and_look(s, 1);
}

static void more_of_them_than_there_are_readers(struct stage *s)
{
	hold_and_look(s, MOST);
}

static const struct stage_case cases[] = {
	{"client that never lets its memory be read", client_that_never_lets_its_memory_be_read},
	{"more of them than there are readers", more_of_them_than_there_are_readers},
};

int main(int argc, char **argv)
{
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}
