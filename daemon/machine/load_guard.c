/* SPDX-License-Identifier: MIT */
/* load_guard.c - notes affinity, signals, floating point and environment, and restores them */
#include "load_guard.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define MOST_CPUS 8192

/* ---- the environment ---- */

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* All lists ever made.  None is freed, since a library may have kept one; there are only a few. */
static char **lists;

/* A list of so many words; the slot before its first word links to the list before it. */
static char **new_list(size_t words)
{
	char **list = calloc(words + 2, sizeof *list);

	if (!list)
		return NULL;
	list[0] = (char *)lists;
	lists = list;
	return list + 1;
}

/* The words are not copied: setting a variable anew leaves the old word alone. */
static char **copy_environment(void)
{
	size_t n = count(environ);
	char **copy = new_list(n);

	if (copy)
		memcpy(copy, environ, n * sizeof *copy);
	return copy;
}

static bool begins_with_any(const char *word, const char *const *with)
{
	for (; with && *with; with++)
		if (!strncmp(word, *with, strlen(*with)))
			return true;
	return false;
}

/* Hide them in another list, since the copy is what comes back. */
static void hide(char *const *all, const char *const *hidden)
{
	size_t n = count(all), kept = 0;
	char **rest = new_list(n);

	if (!rest)
		return;
	for (size_t i = 0; i < n; i++)
		if (!begins_with_any(all[i], hidden))
			rest[kept++] = all[i];
	environ = rest;
}

/* ---- signals ---- */

/* glibc's own signals, SIGKILL and SIGSTOP are left out. */
static void note_signals(struct load_guard *g)
{
	sigprocmask(SIG_SETMASK, NULL, &g->blocked);
	for (int i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &g->action[i]) < 0)
			g->action[i].sa_flags = -1;
}

static bool set_signals_back(const struct load_guard *g)
{
	struct sigaction now;
	sigset_t blocked;
	bool changed = false;

	sigprocmask(SIG_SETMASK, &g->blocked, &blocked);
	for (int i = 1; i < NSIG; i++) {
		changed |= sigismember(&blocked, i) != sigismember(&g->blocked, i);
		if (g->action[i].sa_flags == -1 || sigaction(i, NULL, &now) < 0 ||
		    now.sa_handler == g->action[i].sa_handler)
			continue;
		changed |= sigaction(i, &g->action[i], NULL) == 0;
	}
	return changed;
}

/* ---- affinity ---- */

static void note_cpus(struct load_guard *g)
{
	g->cpus_bytes = CPU_ALLOC_SIZE(MOST_CPUS);
	g->cpus = CPU_ALLOC(MOST_CPUS);
	if (g->cpus && sched_getaffinity(0, g->cpus_bytes, g->cpus) < 0) {
		CPU_FREE(g->cpus);
		g->cpus = NULL;
	}
}

static bool set_cpus_back(const struct load_guard *g)
{
	cpu_set_t *now = g->cpus ? CPU_ALLOC(MOST_CPUS) : NULL;
	bool changed = false;

	if (now && sched_getaffinity(0, g->cpus_bytes, now) == 0)
		changed = !CPU_EQUAL_S(g->cpus_bytes, now, g->cpus) &&
			  sched_setaffinity(0, g->cpus_bytes, g->cpus) == 0;
	if (now)
		CPU_FREE(now);
	if (g->cpus)
		CPU_FREE(g->cpus);
	return changed;
}

/* ---- floating point ---- */

/* Without the exception flags, which any arithmetic sets. */
static unsigned number_mode(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_stmxcsr() & ~0x3fu;
#else
	return (unsigned)fegetround();
#endif
}

static bool set_numbers_back(const struct load_guard *g)
{
	unsigned mode = number_mode();

	(void)fesetenv(&g->numbers);
	return mode != number_mode();
}

/* ---- all ---- */

void load_guard_begin(struct load_guard *g, const char *const *hidden)
{
	*g = (struct load_guard){0};
	note_cpus(g);
	note_signals(g);
	(void)fegetenv(&g->numbers);
	g->mask = umask(0);
	(void)umask(g->mask);
	g->environment = copy_environment();
	if (g->environment)
		hide(g->environment, hidden);
}

void load_guard_end(struct load_guard *g, const char *library)
{
	bool cpus = set_cpus_back(g), signals = set_signals_back(g);
	bool numbers = set_numbers_back(g), mask = umask(g->mask) != g->mask;

	if (g->environment)
		environ = g->environment;
	if (cpus || signals || numbers || mask)
		log_warning("loading %s changed%s%s%s%s of quoitd: set back", library,
			    cpus ? " the CPUs" : "", signals ? " the signals" : "",
			    numbers ? " the floating-point mode" : "", mask ? " the umask" : "");
}
