/* SPDX-License-Identifier: MIT */
/* pair.c - ask and answer by futex */
#include "pair.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "times.h"

#define REACTOR  "quoit-react-"
#define A_ROUND  8u      /* questions per round, as many as the canary's small jobs */
#define PAUSE_US 1500u   /* about as long as an undisturbed round and its pause take */
#define SPIN_NS  100000u /* like a reactor that has much to do */

struct pair_words {
	_Atomic uint32_t asked;
	char line[60];
	_Atomic uint32_t answered;
	struct times times;
};

/* ---- the two processes ---- */

static void wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wait_while(_Atomic uint32_t *word, uint32_t old, uint64_t spin_ns)
{
	for (uint64_t end = times_now_ns() + spin_ns; *word == old && times_now_ns() < end;)
		;
	while (*word == old)
		(void)syscall(SYS_futex, word, FUTEX_WAIT, old, NULL, NULL, 0);
}

static void answer(struct pair_words *w)
{
	for (uint32_t i = 0;; i++) {
		wait_while(&w->asked, i, SPIN_NS);
		w->answered = i + 1;
		wake(&w->answered);
	}
}

static void ask(struct pair_words *w)
{
	for (uint32_t i = 0;; i++) {
		uint64_t from;

		if (i % A_ROUND == 0)
			usleep(PAUSE_US);
		from = times_now_ns();
		w->asked = i + 1;
		wake(&w->asked);
		wait_while(&w->answered, i, 0);
		times_add(&w->times, times_now_ns() - from);
	}
}

/* ---- the test's side ---- */

/* If this thread is a reactor, its processors. */
static bool is_reactor(pid_t process, pid_t thread, cpu_set_t *where)
{
	char path[64], name[16] = "";
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)process, (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!read(fd, name, sizeof name - 1);
		close(fd);
	}
	return !strncmp(name, REACTOR, strlen(REACTOR)) &&
	       !sched_getaffinity(thread, sizeof *where, where);
}

static int find_reactor(pid_t process, cpu_set_t *where)
{
	const struct dirent *task;
	bool found = false;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)process);
	dir = opendir(path);
	while (dir && !found && (task = readdir(dir)) != NULL)
		found = task->d_name[0] != '.' &&
			is_reactor(process, (pid_t)atoi(task->d_name), where);
	if (dir)
		closedir(dir);
	return found ? 0 : -ESRCH;
}

static pid_t start(void (*live)(struct pair_words *), struct pair_words *w, const cpu_set_t *where)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (where)
		(void)sched_setaffinity(0, sizeof *where, where);
	live(w);
	_exit(0);
}

int pair_start(struct pair *p, pid_t quoitd)
{
	void *shared = mmap(NULL, sizeof *p->words, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cpu_set_t where;
	int err;

	*p = (struct pair){.asks = -1, .answers = -1};
	if (shared == MAP_FAILED)
		return -errno;
	p->words = shared;
	err = find_reactor(quoitd, &where);
	if (!err) {
		fflush(NULL);
		p->answers = start(answer, p->words, &where);
		p->asks = start(ask, p->words, NULL);
		err = p->answers < 0 || p->asks < 0 ? -EAGAIN : 0;
	}
	if (err)
		pair_stop(p);
	return err;
}

void pair_time_anew(struct pair *p)
{
	times_clear(&p->words->times);
}

uint64_t pair_p99_ns(const struct pair *p)
{
	return times_p99_ns(&p->words->times);
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

void pair_stop(struct pair *p)
{
	end(p->asks);
	end(p->answers);
	if (p->words)
		munmap(p->words, sizeof *p->words);
	*p = (struct pair){.asks = -1, .answers = -1};
}
