/* SPDX-License-Identifier: MIT */
/* test_file_descriptors.c - the descriptors that jobs may name, and how long quoitd keeps them */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "files.h"

/* How many descriptors the daemon has open. */
static int count_fds(pid_t pid)
{
	char name[32];
	DIR *dir;
	int n = 0;

	snprintf(name, sizeof name, "/proc/%d/fd", (int)pid);
	dir = opendir(name);
	cr_assert(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* A thread closes them, which may take some time. */
static int await_fds(pid_t pid, int expected)
{
	for (unsigned ms = 0; count_fds(pid) != expected && ms < 5000; ms++)
		usleep(1000);
	return count_fds(pid);
}

FILES_TEST(file_descriptors, file_removed_under_its_jobs_stays_theirs)
{
	enum { JOBS = 24, WORDS = MIB / 2 };
	struct files_case f = files_start(path);
	uint8_t *want = files_pattern(WORDS * 4, 5), *got = malloc(WORDS * 4);
	int before = count_fds(f.d.pid), other = memfd_create("other", MFD_CLOEXEC), index;
	quoit_tensor t[JOBS];
	quoit_job job[JOBS];

	files_fill(&f, want, WORDS * 4);
	for (unsigned i = 0; i < JOBS; i++) {
		t[i] = files_create(&f, PAGEABLE, WORDS);
		cr_assert_eq(quoit_start(f.q, quoit_read_file(t[i], f.file, 0), &job[i]), 0);
	}
	quoit_flush(f.q);
	cr_assert_eq(quoit_wait(f.q, job[0], QUOIT_FOREVER), WORDS * 4); /* then all are fetched */
	cr_expect_eq(quoit_remove_file(f.s, f.file), 0);
	cr_expect_eq(quoit_remove_file(f.s, f.file), -EBADF);
	index = quoit_add_file(f.s, other);
	cr_assert_geq(index, 0);
	for (unsigned i = 1; i < JOBS; i++) {
		cr_expect_eq(quoit_wait(f.q, job[i], QUOIT_FOREVER), WORDS * 4);
		cr_assert_eq(quoit_read(f.q, t[i], got, WORDS * 4), 0);
		cr_expect(!memcmp(got, want, WORDS * 4), "job %u", i);
	}
	if (index != f.file)
		cr_expect_eq(files_run(&f, quoit_read_file(t[0], f.file, 0)), -EBADF);
	cr_expect_eq(quoit_remove_file(f.s, index), 0);
	cr_expect_eq(await_fds(f.d.pid, before - 1), before - 1);
	close(other);
	files_stop(&f);
	free(want);
	free(got);
}

FILES_TEST(file_descriptors, error_of_the_file_is_the_jobs)
{
	struct files_case f = files_start(path);
	int full = open("/dev/shm", O_RDWR | O_TMPFILE, 0600), index;
	quoit_tensor t = files_create(&f, PAGEABLE, 1024);

	cr_assert_geq(full, 0);
	/* The largest offset of a file is larger than this file system allows. */
	index = quoit_add_file(f.s, f.fd);
	cr_expect_lt(files_run(&f, quoit_write_file(t, index, INT64_MAX - 4096)), 0);
	cr_expect_eq(files_run(&f, quoit_write_file(t, f.file, UINT64_MAX)), -EINVAL);
	cr_expect_eq(files_run(&f, quoit_write_file(t, f.file, 0)), 4096,
		     "the file is as good as before");
	close(full);
	files_stop(&f);
}

/*
 * The file system decides which offsets O_DIRECT allows; a read gives all bytes, some bytes, or a
 * named error.
 */
static void check_direct(struct files_case *f, int file, const uint8_t *want, size_t size,
			 uint64_t offset, enum files_place place, uint32_t words)
{
	size_t left = offset < size ? size - offset : 0;
	size_t most = left < words * 4 ? left : words * 4;
	uint8_t *got = malloc(words * 4);
	quoit_tensor t = files_create(f, place, words);
	int n = files_run(f, quoit_read_file(t, file, offset));

	/* the arena's pieces are not aligned */
	if (offset % 4096 == 0 && words % 1024 == 0 && place != ARENA)
		cr_expect_eq(n, (int)most, "place %d: %d of %zu bytes at %lu", place, n, most,
			     (unsigned long)offset);
	cr_expect(n == -EINVAL || (n >= 0 && (size_t)n <= most), "%d", n);
	if (n >= 0) {
		cr_assert_eq(quoit_read(f->q, t, got, words * 4), 0);
		cr_expect(!memcmp(got, want + offset, (size_t)n), "other bytes");
		files_expect_zeros(got + n, words * 4 - (size_t)n);
	}
	quoit_free(f->q, t);
	free(got);
}

FILES_TEST(file_descriptors, file_opened_with_o_direct_is_read_or_refused_and_never_wrong)
{
	static const struct {
		uint64_t offset;
		uint32_t words;
	} row[] = {{0, 1024}, {4096, 2048}, {1, 1024},     {512, 1024}, {4096, 1},
		   {0, 1025}, {8192, 1024}, {12288, 1024}, {4095, 1}};
	const size_t size = 3 * 4096 - 100; /* the end is not aligned either */
	uint8_t *want = files_pattern(size + 4096, 7);
	struct files_case f = files_start(path);
	int fd = open(f.d.folder, O_RDWR | O_TMPFILE | O_DIRECT | O_CLOEXEC, 0600), file;

	if (fd < 0) {
		files_stop(&f);
		cr_skip_test("O_DIRECT is not for this file system");
	}
	file = quoit_add_file(f.s, fd);
	cr_assert_geq(file, 0);
	cr_assert_eq(fcntl(fd, F_SETFL, 0), 0); /* written without O_DIRECT, and read with it */
	cr_assert_eq(pwrite(fd, want, size, 0), (ssize_t)size);
	cr_assert_eq(fcntl(fd, F_SETFL, O_DIRECT), 0);
	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++)
		for (enum files_place place = PAGEABLE; place <= ARENA; place++)
			check_direct(&f, file, want, size, row[i].offset, place, row[i].words);
	close(fd);
	files_stop(&f);
	free(want);
}

static void expect_refused(struct files_case *f, int fd, const char *what)
{
	cr_expect_geq(fd, 0, "%s: %s", what, strerror(errno));
	cr_expect_eq(quoit_add_file(f->s, fd), -EINVAL, "%s", what);
	close(fd);
}

Test(file_descriptors, descriptor_that_is_no_plain_file_is_refused)
{
	struct files_case f = files_start(&files_paths[0]);
	int before = count_fds(f.d.pid), pipes[2], sockets[2];
	char self[64];

	cr_assert_eq(pipe(pipes), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	snprintf(self, sizeof self, "%s", f.d.folder);
	expect_refused(&f, open(self, O_RDONLY | O_DIRECTORY), "a directory");
	expect_refused(&f, open("/etc/passwd", O_PATH), "O_PATH");
	expect_refused(&f, pipes[0], "a pipe");
	expect_refused(&f, pipes[1], "a pipe's other end");
	expect_refused(&f, sockets[0], "a socket");
	expect_refused(&f, sockets[1], "a socket");
	expect_refused(&f, epoll_create1(0), "an epoll");
	expect_refused(&f, eventfd(0, 0), "an eventfd");
	expect_refused(&f, open("/dev/zero", O_RDWR), "a device");
	expect_refused(&f, open("/proc/self/mem", O_RDWR), "/proc/self/mem");
	expect_refused(&f, open("/proc/self/status", O_RDONLY), "procfs");
	expect_refused(&f, open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY), "sysfs");
	expect_refused(&f, open(self, O_RDWR | O_TMPFILE | O_APPEND, 0600), "O_APPEND");
	cr_expect_eq(await_fds(f.d.pid, before), before, "a refused descriptor stayed open");
	files_stop(&f);
}

Test(file_descriptors, memfd_is_a_file)
{
	struct files_case f = files_start(&files_paths[0]);
	int fd = memfd_create("file", MFD_CLOEXEC);
	quoit_tensor t = files_create(&f, PAGEABLE, 16);

	cr_assert_eq(pwrite(fd, "0123456789", 10, 0), 10);
	cr_expect_eq(files_run(&f, quoit_read_file(t, quoit_add_file(f.s, fd), 3)), 7);
	close(fd);
	files_stop(&f);
}

Test(file_descriptors, mode_of_the_descriptor_holds_for_its_jobs)
{
	struct files_case f = files_start(&files_paths[0]);
	quoit_tensor t = files_create(&f, PAGEABLE, 16);
	char name[96];
	int reader, writer;

	snprintf(name, sizeof name, "%s/file", f.d.folder);
	writer = open(name, O_WRONLY | O_CREAT, 0600);
	reader = open(name, O_RDONLY);
	int w = quoit_add_file(f.s, writer), r = quoit_add_file(f.s, reader);

	cr_expect_eq(files_run(&f, quoit_write_file(t, w, 0)), 64);
	cr_expect_eq(files_run(&f, quoit_read_file(t, r, 0)), 64);
	cr_expect_eq(files_run(&f, quoit_write_file(t, r, 0)), -EACCES);
	cr_expect_eq(files_run(&f, quoit_read_file(t, w, 0)), -EACCES);
	close(reader);
	close(writer);
	files_stop(&f);
}

FILES_TEST(file_descriptors, client_that_dies_in_the_middle_leaves_nothing_behind)
{
	struct files_case f = files_start(path);
	int before = count_fds(f.d.pid), left;
	uint8_t *bytes = files_pattern(32 * MIB, 7);
	pid_t child;

	files_fill(&f, bytes, 32 * MIB);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		struct files_case c = {.d = f.d};

		files_open_session(&c);
		c.file = quoit_add_file(c.s, f.fd);
		for (unsigned i = 0; i < 40; i++)
			quoit_push(c.q, quoit_read_file(files_create(&c, i % 2 ? PINNED : PAGEABLE,
								     MIB / 4),
							c.file, i * MIB / 4));
		quoit_flush(c.q);
		raise(SIGKILL);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	files_check_read(&f, PAGEABLE, 100000, 0, 25000);
	for (int i = 0; i < 500 && (left = count_fds(f.d.pid)) != before; i++)
		usleep(10000);
	cr_expect_eq(left, before);
	files_stop(&f);
	free(bytes);
}
