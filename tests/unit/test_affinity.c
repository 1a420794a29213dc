/* SPDX-License-Identifier: MIT */
/* test_affinity.c - threads and memory go to the requested place, or the refusal is reported. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/affinity.h"

enum { PAGES = 600 }; /* more than are asked for in one call, and not a multiple of that */

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Map PAGES pages, and touch the first `touched` of them. */
static char *map_pages(size_t touched)
{
	char *start = mmap(NULL, PAGES * page_bytes(), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(start, MAP_FAILED);
	madvise(start, PAGES * page_bytes(), MADV_NOHUGEPAGE);
	memset(start, 1, touched * page_bytes());
	return start;
}

/* Containers may forbid these calls; then there is nothing to test. */
static void skip_if_refused(int rc)
{
	if (rc == -EPERM || rc == -ENOSYS)
		cr_skip_test("refused here: %s", strerror(-rc));
}

/* A node with memory that we may use: that of a page that was just touched. */
static uint32_t usable_node(void)
{
	char *page = map_pages(1);
	size_t present, on_node;
	uint32_t node = 0;

	do {
		int rc = affinity_count_pages(page, page_bytes(), node, &present, &on_node);

		skip_if_refused(rc);
		cr_assert_eq(rc, 0);
	} while (!on_node && ++node < 1024);
	munmap(page, PAGES * page_bytes());
	return node;
}

Test(affinity, pinned_thread_runs_on_its_cpu)
{
	cpu_set_t allowed;
	int cpu;

	cr_assert_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		cr_expect_eq(affinity_pin_thread((uint32_t)cpu), 0);
		cr_expect_eq(sched_getcpu(), cpu);
	}
}

Test(affinity, pinning_to_a_cpu_that_does_not_exist_is_refused)
{
	cr_expect_eq(affinity_pin_thread(60000), -EINVAL);
	cr_expect_eq(affinity_pin_thread(1 << 16), -EINVAL);
	cr_expect_eq(affinity_pin_thread(UINT32_MAX), -EINVAL);
}

/* ---- another process ---- */

static void *wait_for_end(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* Start a process with a second thread; returns when that runs. */
static pid_t start_process(void)
{
	int pipes[2];
	pid_t pid;
	char ready;

	cr_assert_eq(pipe(pipes), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		pthread_t thread;

		if (!pthread_create(&thread, NULL, wait_for_end, NULL) &&
		    write(pipes[1], "", 1) == 1)
			wait_for_end(NULL);
		_exit(1);
	}
	cr_assert_eq(read(pipes[0], &ready, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(affinity, bound_process_runs_on_these_cpus_with_all_its_threads)
{
	pid_t pid = start_process();
	cpu_set_t allowed, found;
	struct dirent *entry;
	char path[32];
	uint32_t cpu = 0;
	unsigned threads = 0;
	DIR *tasks;

	cr_assert_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	cr_assert_eq(affinity_bind_process(pid, &cpu, 1), 0);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	cr_assert_not_null(tasks);
	while ((entry = readdir(tasks))) {
		pid_t thread = (pid_t)atoi(entry->d_name);

		if (!thread)
			continue;
		cr_assert_eq(sched_getaffinity(thread, sizeof(found), &found), 0);
		cr_expect(CPU_COUNT(&found) == 1 && CPU_ISSET(cpu, &found));
		threads++;
	}
	closedir(tasks);
	cr_expect_eq(threads, 2);
	end_process(pid);
}

Test(affinity, binding_a_process_that_is_gone_or_to_no_cpu_is_refused)
{
	const uint32_t none = 60000, first = 0;
	pid_t pid = start_process();

	cr_expect_eq(affinity_bind_process(pid, &none, 1), -EINVAL);
	end_process(pid);
	cr_expect_eq(affinity_bind_process(pid, &first, 1), -ESRCH);
}

/* ---- nice ---- */

static void *be_nice(void *ret_rc)
{
	*(int *)ret_rc = affinity_set_nice(19);
	return (void *)(intptr_t)getpriority(PRIO_PROCESS, 0);
}

Test(affinity, nice_changes_the_calling_thread_alone)
{
	int before = getpriority(PRIO_PROCESS, 0), rc = -1;
	pthread_t thread;
	void *nice_there;

	cr_assert_eq(pthread_create(&thread, NULL, be_nice, &rc), 0);
	cr_assert_eq(pthread_join(thread, &nice_there), 0);
	cr_expect_eq(rc, 0);
	cr_expect_eq((intptr_t)nice_there, 19);
	cr_expect_eq(getpriority(PRIO_PROCESS, 0), before);
}

/* In a child process, since the lost rights do not come back. */
Test(affinity, raising_priority_without_the_right_is_refused)
{
	struct rlimit none = {0};
	pid_t child = fork();
	int status;

	cr_assert_geq(child, 0);
	if (child == 0) {
		if (setrlimit(RLIMIT_NICE, &none) || (geteuid() == 0 && seteuid(65534)))
			_exit(2);
		_exit(affinity_set_nice(-20) == -EACCES ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(affinity, pages_of_a_preferred_node_lie_there)
{
	uint32_t node = usable_node();
	char *start = map_pages(0);
	size_t present, on_node;
	int rc = affinity_prefer_node(start, PAGES * page_bytes(), node);

	skip_if_refused(rc);
	cr_assert_eq(rc, 0);
	memset(start, 1, PAGES * page_bytes());
	cr_expect_eq(affinity_count_pages(start, PAGES * page_bytes(), node, &present, &on_node),
		     0);
	cr_expect_eq(present, PAGES);
	cr_expect_eq(on_node, PAGES);
}

Test(affinity, counting_leaves_out_pages_that_were_not_touched)
{
	char *start = map_pages(PAGES - 7);
	size_t present, on_node;
	int rc = affinity_count_pages(start, PAGES * page_bytes(), 1023, &present, &on_node);

	skip_if_refused(rc);
	cr_expect_eq(rc, 0);
	cr_expect_eq(present, PAGES - 7);
	cr_expect_eq(on_node, 0);
}

Test(affinity, counting_ends_where_the_mapping_ends)
{
	char *start = map_pages(PAGES);
	size_t pages, present, on_node;

	for (pages = 0; pages < PAGES; pages += 37) {
		int rc = affinity_count_pages(start, pages * page_bytes(), 0, &present, &on_node);

		skip_if_refused(rc);
		cr_expect_eq(rc, 0);
		cr_expect_eq(present, pages);
	}
}

Test(affinity, preferring_a_node_that_does_not_exist_is_refused)
{
	char *start = map_pages(0);
	int rc = affinity_prefer_node(start, page_bytes(), 1023);

	skip_if_refused(rc);
	cr_expect_eq(rc, -EINVAL);
	cr_expect_eq(affinity_prefer_node(start, page_bytes(), 1024), -EINVAL);
	cr_expect_eq(affinity_prefer_node(start, page_bytes(), UINT32_MAX), -EINVAL);
}
