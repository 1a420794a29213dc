/* SPDX-License-Identifier: MIT */
/* supervise.c - run several processes of one program, and start them again when they end */
#include "supervise.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "notify.h"
#include "program.h"
#include "restart.h"
#include "supervised.h"

struct one {
	pid_t pid; /* 0: it does not run */
	uint64_t began_ns;
	uint64_t pause_ns; /* the last pause; 0: there was none */
	uint64_t next_ns;  /* when it is started; 0: not at all */
};

struct supervisor {
	struct supervised_place place;
	const struct supervise_params *p;
	struct one *list;
	int signals; /* a signalfd */
	bool stops;
	uint64_t kill_ns; /* when those are killed that have not ended; 0: they are */
	int status;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- signals ---- */

/* What our parent ignores, as nohup does with SIGHUP, stays ignored. */
static void add_unless_ignored(sigset_t *set, int signo)
{
	struct sigaction action;

	if (sigaction(signo, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
		sigaddset(set, signo);
}

static int open_signals(sigset_t *ret_before)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		add_unless_ignored(&set, signals[i]);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, ret_before);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static void send_all(const struct supervisor *s, int signo)
{
	for (unsigned i = 0; i < s->p->processes; i++)
		if (s->list[i].pid)
			(void)kill(s->list[i].pid, signo);
}

/* ---- the end ---- */

static void stop(struct supervisor *s, int signo)
{
	s->stops = true;
	s->kill_ns = now_ns() + s->p->stop_ns;
	(void)notify_send("STOPPING=1");
	for (unsigned i = 0; i < s->p->processes; i++)
		s->list[i].next_ns = 0;
	send_all(s, signo);
}

static void kill_rest(struct supervisor *s)
{
	char patience[32];

	restart_say_time(s->p->stop_ns, patience, sizeof patience);
	for (unsigned i = 0; i < s->p->processes; i++)
		if (s->list[i].pid)
			fprintf(stderr,
				"quoit %s: process %d was told to end and has not within %s: it is "
				"killed\n",
				s->p->command, (int)s->list[i].pid, patience);
	s->kill_ns = 0;
	send_all(s, SIGKILL);
}

static void take_signal(struct supervisor *s, int signo)
{
	if (signo == SIGUSR1 || signo == SIGUSR2) {
		send_all(s, signo);
	} else if (signo != SIGCHLD && !s->stops) {
		stop(s, signo);
	} else if (signo != SIGCHLD) {
		s->kill_ns = 0;
		send_all(s, SIGKILL);
	}
}

/* ---- one process ---- */

/* what: the end of the process, in words. */
static void plan_restart(struct supervisor *s, struct one *one, uint64_t lived_ns, const char *what)
{
	char pause[32];

	one->pause_ns = restart_pause_ns(s->p->restart_ns, one->pause_ns, lived_ns);
	one->next_ns = now_ns() + one->pause_ns;
	restart_say_time(one->pause_ns, pause, sizeof pause);
	fprintf(stderr, "quoit %s: %s; it is started again in %s\n", s->p->command, what, pause);
}

static void start(struct supervisor *s, unsigned number, bool first)
{
	struct one *one = &s->list[number];
	pid_t pid = supervised_start(&s->place, number);
	char what[512];

	one->next_ns = 0;
	if (pid >= 0) {
		one->pid = pid;
		one->began_ns = now_ns();
		return;
	}
	snprintf(what, sizeof what, "cannot run '%s': %s", s->p->argv[0], strerror(-pid));
	if (!first) {
		plan_restart(s, one, 0, what);
		return;
	}
	fprintf(stderr, "quoit %s: %s\n", s->p->command, what);
	s->status = pid == -ENOENT   ? PROGRAM_NOT_FOUND
		    : pid == -EAGAIN ? PROGRAM_OURS
				     : PROGRAM_CANNOT_EXEC;
	stop(s, SIGTERM);
}

static void take_end(struct supervisor *s, struct one *one, int status)
{
	const uint64_t lived_ns = now_ns() - one->began_ns;
	char end[96], lived[32], what[192];

	restart_say_end(status, end, sizeof end);
	restart_say_time(lived_ns, lived, sizeof lived);
	snprintf(what, sizeof what, "process %d %s after %s", (int)one->pid, end, lived);
	one->pid = 0;
	if (s->stops)
		return;
	if (!s->p->once) {
		plan_restart(s, one, lived_ns, what);
		return;
	}
	if (status) {
		fprintf(stderr, "quoit %s: %s\n", s->p->command, what);
		s->status = program_status(status);
		stop(s, SIGTERM);
	}
}

/*
 * A group is killed before its first process is reaped, while its number cannot be another's.
 * Children that are none of ours are orphans, which the first process of a container gets.
 */
static void reap(struct supervisor *s)
{
	siginfo_t info = {0};
	unsigned i;
	int status;

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) {
		for (i = 0; i < s->p->processes && s->list[i].pid != info.si_pid; i++)
			;
		if (i < s->p->processes)
			group_guard_clear(&s->place.guard, i);
		if (waitpid(info.si_pid, &status, 0) < 0)
			return;
		if (i < s->p->processes)
			take_end(s, &s->list[i], status);
		info = (siginfo_t){0};
	}
}

/* ---- all of them ---- */

static bool any_runs(const struct supervisor *s)
{
	for (unsigned i = 0; i < s->p->processes; i++)
		if (s->list[i].pid || s->list[i].next_ns)
			return true;
	return false;
}

/* When something is to be done without a signal; 0: never. */
static uint64_t next_ns(const struct supervisor *s)
{
	uint64_t least = s->stops ? s->kill_ns : 0;

	for (unsigned i = 0; i < s->p->processes; i++)
		if (s->list[i].next_ns && (!least || s->list[i].next_ns < least))
			least = s->list[i].next_ns;
	return least;
}

static void await(const struct supervisor *s)
{
	struct pollfd fd = {.fd = s->signals, .events = POLLIN};
	const uint64_t at = next_ns(s), now = now_ns();
	const uint64_t left = at > now ? at - now : 0;
	const struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000u),
					 .tv_nsec = (long)(left % 1000000000u)};

	(void)ppoll(&fd, 1, at ? &timeout : NULL, NULL);
}

static void take_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof info) == sizeof info)
		take_signal(s, (int)info.ssi_signo);
}

static void take_time(struct supervisor *s)
{
	const uint64_t now = now_ns();

	if (s->stops && s->kill_ns && now >= s->kill_ns)
		kill_rest(s);
	for (unsigned i = 0; i < s->p->processes; i++)
		if (s->list[i].next_ns && now >= s->list[i].next_ns)
			start(s, i, false);
}

static void run(struct supervisor *s)
{
	for (unsigned i = 0; i < s->p->processes && !s->stops; i++)
		start(s, i, true);
	if (!s->stops)
		(void)notify_send("READY=1");
	while (any_runs(s)) {
		await(s);
		take_signals(s);
		reap(s);
		take_time(s);
	}
}

static void close_supervisor(struct supervisor *s)
{
	if (s->signals >= 0)
		close(s->signals);
	free(s->list);
	cpu_shares_free(&s->place.cpus);
}

/* 0 or -errno, with nothing left open. */
static int open_supervisor(struct supervisor *s)
{
	int err = s->p->pinned ? cpu_shares_read(&s->place.cpus) : 0;

	if (err < 0)
		return err;
	s->list = calloc(s->p->processes, sizeof *s->list);
	s->signals = s->list ? open_signals(&s->place.signals) : -ENOMEM;
	err = s->signals < 0 ? s->signals : group_guard_open(&s->place.guard, s->p->processes);
	if (!err)
		return 0;
	close_supervisor(s);
	return err;
}

int supervise(const struct supervise_params *params)
{
	struct supervisor s = {.p = params, .place = {.params = params}};
	int err = open_supervisor(&s);

	if (err < 0) {
		fprintf(stderr, "quoit %s: cannot start: %s\n", params->command, strerror(-err));
		return PROGRAM_OURS;
	}
	run(&s);
	group_guard_close(&s.place.guard);
	close_supervisor(&s);
	return s.status;
}
