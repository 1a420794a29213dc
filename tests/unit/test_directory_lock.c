/* SPDX-License-Identifier: MIT */
/* test_directory_lock.c - one quoitd for each directory, even if a dead one's lock stays */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/directory_lock.h"

#define SUCCESSORS 8
#define ROUNDS     40

static char path[] = "/tmp/quoit-lock-XXXXXX";
static int directory;

static void make(void)
{
	cr_assert(mkdtemp(path));
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(directory, 0);
}

static void drop(void)
{
	(void)unlinkat(directory, "lock", 0);
	(void)unlinkat(directory, "lock.turn", 0);
	close(directory);
	(void)rmdir(path);
}

TestSuite(directory_lock, .init = make, .fini = drop, .timeout = 60);

/* A lock that names this process in its file; our descriptor holds it. */
static int held_by(pid_t pid, unsigned long long start)
{
	int fd = openat(directory, "lock", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat st;

	cr_assert(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
	cr_assert_eq(stat("/proc/self/ns/pid", &st), 0);
	cr_assert_gt(dprintf(fd, "%d %llu %llu\n", (int)pid, (unsigned long long)st.st_ino, start),
		     0);
	return fd;
}

static pid_t a_dead_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

Test(directory_lock, a_second_one_is_refused_while_the_first_lives)
{
	int first = directory_lock(directory);

	cr_assert_geq(first, 0);
	cr_expect_eq(directory_lock(directory), -EADDRINUSE, "before it has signed");
	directory_lock_sign(first);
	cr_expect_eq(directory_lock(directory), -EADDRINUSE);
	close(first);
	first = directory_lock(directory);
	cr_expect_geq(first, 0);
	close(first);
}

Test(directory_lock, of_a_living_process_or_an_unknown_one_it_is_not_taken_over)
{
	static const char *const texts[] = {"", "nonsense", "-1 0 0\n", "4194305 1 1\n"};

	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		int fd = openat(directory, "lock", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
		cr_assert_eq(write(fd, texts[i], strlen(texts[i])), (ssize_t)strlen(texts[i]));
		cr_expect_eq(directory_lock(directory), -EADDRINUSE, "'%s'", texts[i]);
		close(fd);
	}
}

Test(directory_lock, a_number_that_is_another_process_by_now_is_a_dead_one)
{
	int held = held_by(getpid(), 1), lock = directory_lock(directory);

	cr_expect_geq(lock, 0);
	close(lock);
	close(held);
}

Test(directory_lock, of_many_successors_of_a_dead_one_there_is_one)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		int held = held_by(a_dead_process(), 1), go[2], end[2], status, won = 0, lost = 0;
		char byte;

		cr_assert(pipe(go) == 0 && pipe(end) == 0);
		for (unsigned i = 0; i < SUCCESSORS; i++)
			if (fork() == 0) {
				int lock;

				close(go[1]);
				close(end[1]);
				(void)!read(go[0], &byte, 1); /* all begin when it is closed */
				lock = directory_lock(directory);
				if (lock >= 0) /* it lives until all others were refused */
					(void)!read(end[0], &byte, 1);
				_exit(lock >= 0);
			}
		close(go[0]);
		close(go[1]);
		close(end[0]);
		while (lost < SUCCESSORS - 1 && wait(&status) > 0)
			lost++;
		close(end[1]);
		while (wait(&status) > 0)
			won += WIFEXITED(status) && WEXITSTATUS(status) == 1;
		cr_expect_eq(won, 1, "round %u: %d", round, won);
		close(held);
	}
}
