/* SPDX-License-Identifier: MIT */
/*
 * test_files.c - FILE_READ and FILE_WRITE: the same bytes by io_uring, with registered buffers
 * and without, and by threads.
 */
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>

#include "daemon.h"
#include "refuse.h"

#define MIB (UINT64_C(1) << 20)

struct fixture {
	struct daemon d;
	struct quoit_session *s;
	struct quoit_ring *q;
	int fd;   /* an empty file, for reading and writing */
	int file; /* its index */
};

struct path {
	char option[16]; /* of quoitd; "" for none */
	bool plain;      /* nothing can be registered */
};

static struct path paths[] = {{""}, {"", .plain = true}, {"--no-io-uring"}};

static void refuse_to_register(const struct daemon *d)
{
	static const struct refused_call call = {SYS_io_uring_register, 0, 0};

	(void)d;
	refuse_calls(&call, 1, EPERM);
}

#define ALL_PATHS(test)                                                                            \
	ParameterizedTestParameters(files, test)                                                   \
	{                                                                                          \
		return cr_make_param_array(struct path, paths, sizeof paths / sizeof paths[0]);    \
	}                                                                                          \
	ParameterizedTest(struct path *path, files, test)

static void open_session(struct fixture *f)
{
	struct quoit_open_params p = {.socket = f->d.socket,
				      .host_bytes = 128 * MIB,
				      .arena_bytes = 16 * MIB,
				      .pinned_bytes = 32 * MIB};

	cr_assert_eq(quoit_open(&f->s, &p), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_ring_open(&f->q, f->s, NULL), 0);
	f->fd = open(f->d.folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	cr_assert_geq(f->fd, 0);
	f->file = quoit_file_add(f->s, f->fd);
	cr_assert_geq(f->file, 0);
}

static struct fixture start(const struct path *path)
{
	const char *options[] = {*path->option ? path->option : NULL, NULL};
	struct fixture f = {0};

	cr_assert_eq(daemon_start_prepared(&f.d, options, path->plain ? refuse_to_register : NULL),
		     0);
	open_session(&f);
	return f;
}

static void stop(struct fixture *f)
{
	close(f->fd);
	quoit_close(f->s, 0);
	daemon_stop(&f->d);
}

static int run(struct fixture *f, struct quoit_sqe sqe)
{
	quoit_job job;
	int err = quoit_start(f->q, sqe, &job);

	return err ? err : quoit_wait(f->q, job, QUOIT_FOREVER);
}

static uint8_t *pattern(size_t bytes, unsigned seed)
{
	uint8_t *p = malloc(bytes + 1);
	uint32_t x = seed * 2654435761u + 1;

	for (size_t i = 0; i < bytes; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = (uint8_t)(x >> 24);
	}
	return p;
}

static void fill_file(struct fixture *f, const uint8_t *bytes, size_t size)
{
	cr_assert_eq(ftruncate(f->fd, 0), 0);
	cr_assert_eq(pwrite(f->fd, bytes, size, 0), (ssize_t)size);
}

static void expect_zeros(const uint8_t *p, size_t size)
{
	cr_expect(size == 0 || (p[0] == 0 && !memcmp(p, p + 1, size - 1)),
		  "a rest that is not zero");
}

enum place { PAGEABLE, PINNED, ARENA };

static quoit_tensor create(struct fixture *f, enum place place, uint32_t words)
{
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, words}};

	if (place == ARENA)
		return quoit_create_at(f->q, &shape, quoit_alloc(f->s, words * 4 + 1));
	return quoit_create(f->q, &shape, place == PINNED ? QUOIT_CREATE_PINNED : 0);
}

/* A file of `size` bytes read at `offset` into words that held something else. */
static void check_read(struct fixture *f, enum place place, size_t size, uint64_t offset,
		       uint32_t words)
{
	uint8_t *want = pattern(size, (unsigned)size), *got = malloc(words * 4 + 1);
	size_t here = offset < size ? size - offset : 0;
	quoit_tensor t = create(f, place, words);

	if (here > words * 4)
		here = words * 4;
	fill_file(f, want, size);
	cr_assert_eq(quoit_push(f->q, quoit_fill_int(t, -1)), 0);
	cr_expect_eq(run(f, quoit_file_read(t, f->file, offset)), (int)here,
		     "%zu bytes from %lu into %u words", size, (unsigned long)offset, words);
	cr_assert_eq(quoit_read(f->q, t, got, words * 4), 0);
	cr_expect(!here || !memcmp(got, want + offset, here), "other bytes");
	expect_zeros(got + here, words * 4 - here);
	quoit_free(f->q, t);
	free(want);
	free(got);
}

ALL_PATHS(read_counts_the_bytes_up_to_the_end_of_the_file_and_clears_the_rest)
{
	static const struct {
		size_t size;
		uint64_t offset;
		uint32_t words;
	} row[] = {
		{0, 0, 1},
		{100, 0, 0},
		{1, 0, 1},
		{4096, 0, 1024},
		{4097, 0, 1024},
		{4097, 0, 1025},
		{4097, 1, 1024},
		{4097, 4096, 1024},
		{4097, 4097, 16},
		{4097, 1000000, 16},
		{100, UINT64_C(1) << 40, 16},
		{65536, 0, 16384},
		{65537, 0, 16385},
		{8 * MIB + 13, 0, 2 * MIB + 4},
		{8 * MIB + 13, 5, 2 * MIB},
		{20 * MIB + 1, 0, 5 * MIB + 1},
	};
	struct fixture f = start(path);

	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++)
		for (enum place place = PAGEABLE; place <= PINNED; place++)
			check_read(&f, place, row[i].size, row[i].offset, row[i].words);
	stop(&f);
}

ALL_PATHS(write_puts_all_words_at_the_offset)
{
	static const struct {
		uint32_t words;
		uint64_t offset;
	} row[] = {{0, 0}, {1, 0}, {1024, 1}, {16385, 4096}, {2 * MIB + 3, 13}, {5 * MIB, 0}};
	struct fixture f = start(path);

	for (unsigned i = 0; i < 2 * sizeof row / sizeof row[0]; i++) {
		enum place place = i % 2 ? PINNED : PAGEABLE;
		uint32_t words = row[i / 2].words;
		uint64_t offset = row[i / 2].offset;
		size_t bytes = words * 4;
		uint8_t *want = pattern(bytes, i), *got = malloc(bytes + 1);
		quoit_tensor t = create(&f, place, words);

		cr_assert_eq(ftruncate(f.fd, 0), 0);
		cr_assert_eq(quoit_write(f.q, t, want, bytes), 0);
		cr_expect_eq(run(&f, quoit_file_write(t, f.file, offset)), (int)bytes);
		cr_expect_eq(lseek(f.fd, 0, SEEK_END), bytes ? (off_t)(offset + bytes) : 0);
		cr_expect_eq(pread(f.fd, got, bytes, (off_t)offset), (ssize_t)bytes);
		for (size_t k = 0; k < bytes; k++)
			if (got[k] != want[k]) {
				cr_expect(0, "row %u byte %zu", i / 2, k);
				break;
			}
		quoit_free(f.q, t);
		free(want);
		free(got);
	}
	stop(&f);
}

ALL_PATHS(tensor_may_lie_in_any_kind_of_memory)
{
	struct fixture f = start(path);

	for (enum place place = PAGEABLE; place <= ARENA; place++) {
		check_read(&f, place, 70001, 3, 18000);
		check_read(&f, place, 3 * MIB + 1, 0, MIB);
	}
	stop(&f);
}

ALL_PATHS(tensor_never_written_is_written_to_the_file_as_zeros)
{
	struct fixture f = start(path);
	uint8_t *old = pattern(MIB, 1), *got = malloc(MIB);

	for (int i = 0; i < 3; i++) { /* from the second on in pages that were used */
		quoit_tensor t = create(&f, PAGEABLE, MIB / 4), used = create(&f, PINNED, MIB / 4);

		fill_file(&f, old, MIB);
		cr_expect_eq(run(&f, quoit_file_write(t, f.file, 0)), (int)MIB);
		cr_expect_eq(pread(f.fd, got, MIB, 0), (ssize_t)MIB);
		expect_zeros(got, MIB);
		fill_file(&f, old, MIB);
		cr_expect_eq(run(&f, quoit_file_write(used, f.file, 0)), (int)MIB);
		cr_expect_eq(pread(f.fd, got, MIB, 0), (ssize_t)MIB);
		expect_zeros(got, MIB);
		quoit_push(f.q, quoit_fill_int(t, 7));
		quoit_push(f.q, quoit_fill_int(used, 7));
		quoit_free(f.q, t);
		quoit_free(f.q, used);
	}
	stop(&f);
	free(old);
	free(got);
}

ALL_PATHS(transfers_and_computations_on_the_same_bytes_keep_their_order)
{
	enum { STEPS = 40, WORDS = 300000 };
	struct fixture f = start(path);
	int32_t *got = malloc(WORDS * 4), *want = calloc(WORDS, 4);
	quoit_tensor t = create(&f, PAGEABLE, WORDS);

	fill_file(&f, (const uint8_t *)want, WORDS * 4);
	for (int i = 0; i < STEPS; i++) {
		cr_assert_eq(quoit_push(f.q, quoit_file_read(t, f.file, (uint64_t)i * WORDS * 4)),
			     0);
		cr_assert_eq(quoit_push(f.q, quoit_add_int(t, t, i + 1)), 0);
		cr_assert_eq(
			quoit_push(f.q, quoit_file_write(t, f.file, (uint64_t)(i + 1) * WORDS * 4)),
			0);
		/* A file's bytes are nobody's hazard: the next read must be told to wait. */
		cr_assert_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0);
	}
	cr_expect_eq(quoit_failures(f.q, NULL), 0);
	for (int i = 0; i <= STEPS; i++) {
		for (int j = 0; j < WORDS; j++)
			want[j] = i * (i + 1) / 2;
		cr_expect_eq(pread(f.fd, got, WORDS * 4, (off_t)i * WORDS * 4), WORDS * 4);
		cr_expect(!memcmp(got, want, WORDS * 4), "step %d", i);
	}
	stop(&f);
	free(got);
	free(want);
}

ALL_PATHS(hundreds_of_transfers_may_be_under_way)
{
	enum { JOBS = 200, WORDS = 20000 };
	struct fixture f = start(path);
	uint8_t *want = pattern(JOBS * 101 + WORDS * 4, 3), *got = malloc(WORDS * 4);
	quoit_tensor t[JOBS];
	quoit_job job[JOBS];

	fill_file(&f, want, JOBS * 101 + WORDS * 4);
	for (unsigned i = 0; i < JOBS; i++) {
		t[i] = create(&f, PAGEABLE, WORDS);
		cr_assert_eq(quoit_start(f.q, quoit_file_read(t[i], f.file, i * 101), &job[i]), 0);
	}
	for (unsigned i = 0; i < JOBS; i++) {
		cr_expect_eq(quoit_wait(f.q, job[i], QUOIT_FOREVER), WORDS * 4);
		cr_assert_eq(quoit_read(f.q, t[i], got, WORDS * 4), 0);
		cr_expect(!memcmp(got, want + i * 101, WORDS * 4), "job %u", i);
	}
	stop(&f);
	free(want);
	free(got);
}

ALL_PATHS(file_that_shrinks_meanwhile_gives_a_short_count)
{
	enum { JOBS = 8, WORDS = 2 * MIB, LEFT = MIB + 5 };
	struct fixture f = start(path);
	uint8_t *want = pattern(WORDS * 4, 4), *got = malloc(WORDS * 4);
	quoit_tensor t[JOBS];
	quoit_job job[JOBS];

	fill_file(&f, want, WORDS * 4);
	for (unsigned i = 0; i < JOBS; i++) {
		t[i] = create(&f, PAGEABLE, WORDS);
		cr_assert_eq(quoit_start(f.q, quoit_file_read(t[i], f.file, 0), &job[i]), 0);
		quoit_flush(f.q);
	}
	cr_assert_eq(ftruncate(f.fd, LEFT), 0);
	for (unsigned i = 0; i < JOBS; i++) {
		int n = quoit_wait(f.q, job[i], QUOIT_FOREVER);

		cr_assert(n >= LEFT && n <= (int)WORDS * 4, "%d", n);
		cr_assert_eq(quoit_read(f.q, t[i], got, WORDS * 4), 0);
		cr_expect(!memcmp(got, want, LEFT));
		expect_zeros(got + n, WORDS * 4 - (unsigned)n);
	}
	stop(&f);
	free(want);
	free(got);
}

/* Descriptors that the daemon has open. */
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

/* They are closed by a thread that may take its time. */
static int await_fds(pid_t pid, int expected)
{
	for (unsigned ms = 0; count_fds(pid) != expected && ms < 5000; ms++)
		usleep(1000);
	return count_fds(pid);
}

ALL_PATHS(file_removed_under_its_jobs_stays_theirs)
{
	enum { JOBS = 24, WORDS = MIB / 2 };
	struct fixture f = start(path);
	uint8_t *want = pattern(WORDS * 4, 5), *got = malloc(WORDS * 4);
	int before = count_fds(f.d.pid), other = memfd_create("other", MFD_CLOEXEC), index;
	quoit_tensor t[JOBS];
	quoit_job job[JOBS];

	fill_file(&f, want, WORDS * 4);
	for (unsigned i = 0; i < JOBS; i++) {
		t[i] = create(&f, PAGEABLE, WORDS);
		cr_assert_eq(quoit_start(f.q, quoit_file_read(t[i], f.file, 0), &job[i]), 0);
	}
	quoit_flush(f.q);
	cr_assert_eq(quoit_wait(f.q, job[0], QUOIT_FOREVER), WORDS * 4); /* all are fetched */
	cr_expect_eq(quoit_file_remove(f.s, f.file), 0);
	cr_expect_eq(quoit_file_remove(f.s, f.file), -EBADF);
	index = quoit_file_add(f.s, other);
	cr_assert_geq(index, 0);
	for (unsigned i = 1; i < JOBS; i++) {
		cr_expect_eq(quoit_wait(f.q, job[i], QUOIT_FOREVER), WORDS * 4);
		cr_assert_eq(quoit_read(f.q, t[i], got, WORDS * 4), 0);
		cr_expect(!memcmp(got, want, WORDS * 4), "job %u", i);
	}
	if (index != f.file)
		cr_expect_eq(run(&f, quoit_file_read(t[0], f.file, 0)), -EBADF);
	cr_expect_eq(quoit_file_remove(f.s, index), 0);
	cr_expect_eq(await_fds(f.d.pid, before - 1), before - 1);
	close(other);
	stop(&f);
	free(want);
	free(got);
}

ALL_PATHS(error_of_the_file_is_the_jobs)
{
	struct fixture f = start(path);
	int full = open("/dev/shm", O_RDWR | O_TMPFILE, 0600), index;
	quoit_tensor t = create(&f, PAGEABLE, 1024);

	cr_assert_geq(full, 0);
	/* The largest offset of any file is beyond what this file system allows. */
	index = quoit_file_add(f.s, f.fd);
	cr_expect_lt(run(&f, quoit_file_write(t, index, INT64_MAX - 4096)), 0);
	cr_expect_eq(run(&f, quoit_file_write(t, f.file, UINT64_MAX)), -EINVAL);
	cr_expect_eq(run(&f, quoit_file_write(t, f.file, 0)), 4096,
		     "the file is as good as before");
	close(full);
	stop(&f);
}

/* What O_DIRECT asks of an offset is the file system's; all of it, some of it, or a named error. */
static void check_direct(struct fixture *f, int file, const uint8_t *want, size_t size,
			 uint64_t offset, enum place place, uint32_t words)
{
	size_t left = offset < size ? size - offset : 0;
	size_t most = left < words * 4 ? left : words * 4;
	uint8_t *got = malloc(words * 4);
	quoit_tensor t = create(f, place, words);
	int n = run(f, quoit_file_read(t, file, offset));

	if (offset % 4096 == 0 && words % 1024 == 0 && place != ARENA) /* its pieces lie anywhere */
		cr_expect_eq(n, (int)most, "place %d: %d of %zu bytes at %lu", place, n, most,
			     (unsigned long)offset);
	cr_expect(n == -EINVAL || (n >= 0 && (size_t)n <= most), "%d", n);
	if (n >= 0) {
		cr_assert_eq(quoit_read(f->q, t, got, words * 4), 0);
		cr_expect(!memcmp(got, want + offset, (size_t)n), "other bytes");
		expect_zeros(got + n, words * 4 - (size_t)n);
	}
	quoit_free(f->q, t);
	free(got);
}

ALL_PATHS(file_opened_with_o_direct_is_read_or_refused_and_never_wrong)
{
	static const struct {
		uint64_t offset;
		uint32_t words;
	} row[] = {{0, 1024}, {4096, 2048}, {1, 1024},     {512, 1024}, {4096, 1},
		   {0, 1025}, {8192, 1024}, {12288, 1024}, {4095, 1}};
	const size_t size = 3 * 4096 - 100; /* the end is not aligned either */
	uint8_t *want = pattern(size + 4096, 7);
	struct fixture f = start(path);
	int fd = open(f.d.folder, O_RDWR | O_TMPFILE | O_DIRECT | O_CLOEXEC, 0600), file;

	if (fd < 0) {
		stop(&f);
		cr_skip_test("O_DIRECT is not for this file system");
	}
	file = quoit_file_add(f.s, fd);
	cr_assert_geq(file, 0);
	cr_assert_eq(fcntl(fd, F_SETFL, 0), 0); /* written as one likes, and read with it */
	cr_assert_eq(pwrite(fd, want, size, 0), (ssize_t)size);
	cr_assert_eq(fcntl(fd, F_SETFL, O_DIRECT), 0);
	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++)
		for (enum place place = PAGEABLE; place <= ARENA; place++)
			check_direct(&f, file, want, size, row[i].offset, place, row[i].words);
	close(fd);
	stop(&f);
	free(want);
}

static void expect_refused(struct fixture *f, int fd, const char *what)
{
	cr_expect_geq(fd, 0, "%s: %s", what, strerror(errno));
	cr_expect_eq(quoit_file_add(f->s, fd), -EINVAL, "%s", what);
	close(fd);
}

Test(files, descriptor_that_is_no_plain_file_is_refused)
{
	struct fixture f = start(&paths[0]);
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
	stop(&f);
}

Test(files, memfd_is_a_file)
{
	struct fixture f = start(&paths[0]);
	int fd = memfd_create("file", MFD_CLOEXEC);
	quoit_tensor t = create(&f, PAGEABLE, 16);

	cr_assert_eq(pwrite(fd, "0123456789", 10, 0), 10);
	cr_expect_eq(run(&f, quoit_file_read(t, quoit_file_add(f.s, fd), 3)), 7);
	close(fd);
	stop(&f);
}

Test(files, mode_of_the_descriptor_holds_for_its_jobs)
{
	struct fixture f = start(&paths[0]);
	quoit_tensor t = create(&f, PAGEABLE, 16);
	char name[96];
	int reader, writer;

	snprintf(name, sizeof name, "%s/file", f.d.folder);
	writer = open(name, O_WRONLY | O_CREAT, 0600);
	reader = open(name, O_RDONLY);
	int w = quoit_file_add(f.s, writer), r = quoit_file_add(f.s, reader);

	cr_expect_eq(run(&f, quoit_file_write(t, w, 0)), 64);
	cr_expect_eq(run(&f, quoit_file_read(t, r, 0)), 64);
	cr_expect_eq(run(&f, quoit_file_write(t, r, 0)), -EACCES);
	cr_expect_eq(run(&f, quoit_file_read(t, w, 0)), -EACCES);
	close(reader);
	close(writer);
	stop(&f);
}

Test(files, tensor_with_gaps_is_refused)
{
	struct fixture f = start(&paths[0]);
	struct quoit_shape columns = {
		.dtype = QUOIT_I32, .dim = {1, 1, 8, 4}, .stride = {64, 64, 8, 1}};
	quoit_tensor t = quoit_matrix(f.q, QUOIT_I32, 8, 8), half = quoit_view(f.q, t, &columns, 0);

	int e1 = run(&f, quoit_file_read(half, f.file, 0));
	cr_expect_eq(e1, -EINVAL, "%d %u %u", e1, t, half);
	cr_expect_eq(run(&f, quoit_file_write(half, f.file, 0)), -EINVAL);
	cr_expect_eq(run(&f, quoit_file_write(t, f.file, 0)), 256);
	stop(&f);
}

ALL_PATHS(view_in_the_middle_is_all_that_a_read_touches)
{
	struct fixture f = start(path);
	struct quoit_shape middle = {
		.dtype = QUOIT_I32, .dim = {1, 1, 1, 1000}, .stride = {1000, 1000, 1000, 1}};
	quoit_tensor t = create(&f, PAGEABLE, 3000), view = quoit_view(f.q, t, &middle, 4000);
	int32_t got[3000];
	uint8_t *bytes = pattern(2000, 6);

	fill_file(&f, bytes, 2000);
	cr_assert_eq(quoit_push(f.q, quoit_fill_int(t, 5)), 0);
	cr_expect_eq(run(&f, quoit_file_read(view, f.file, 0)), 2000);
	cr_assert_eq(quoit_read(f.q, t, got, sizeof got), 0);
	cr_expect(!memcmp(got + 1000, bytes, 2000));
	expect_zeros((const uint8_t *)(got + 1500), 2000);
	for (unsigned i = 0; i < 1000; i++)
		cr_assert(got[i] == 5 && got[2000 + i] == 5, "word %u", i);
	stop(&f);
	free(bytes);
}

/* The region is registered in parts of 4 MiB. */
ALL_PATHS(transfer_may_cross_the_parts_of_the_pinned_region_anywhere)
{
	enum { BYTES = 9 * MIB + 8, SPACE = 20 * MIB };
	static const uint32_t before[] = {4, 1000, 4092, 4096, 5000, 0};
	struct fixture f = start(path);
	struct quoit_shape middle = {.dtype = QUOIT_I32,
				     .dim = {1, 1, 1, BYTES / 4},
				     .stride = {BYTES / 4, BYTES / 4, BYTES / 4, 1}};
	quoit_tensor t = create(&f, PINNED, SPACE / 4);
	uint8_t *want = pattern(BYTES, 8), *got = malloc(SPACE);

	for (unsigned i = 0; i < sizeof before / sizeof before[0]; i++) {
		size_t at = 4 * MIB - before[i];
		quoit_tensor view = quoit_view(f.q, t, &middle, at);

		fill_file(&f, want, BYTES);
		cr_assert_eq(quoit_push(f.q, quoit_fill_int(t, 0)), 0);
		cr_expect_eq(run(&f, quoit_file_read(view, f.file, 0)), (int)BYTES);
		cr_assert_eq(quoit_read(f.q, t, got, SPACE), 0);
		cr_expect(!memcmp(got + at, want, BYTES), "read %u before", before[i]);
		expect_zeros(got, at);
		expect_zeros(got + at + BYTES, SPACE - at - BYTES);
		cr_expect_eq(run(&f, quoit_file_write(view, f.file, 77)), (int)BYTES);
		cr_expect_eq(pread(f.fd, got, BYTES, 77), (ssize_t)BYTES);
		cr_expect(!memcmp(got, want, BYTES), "written %u before", before[i]);
		quoit_free(f.q, view);
	}
	stop(&f);
	free(want);
	free(got);
}

ALL_PATHS(client_that_dies_in_the_middle_leaves_nothing_behind)
{
	struct fixture f = start(path);
	int before = count_fds(f.d.pid), left;
	uint8_t *bytes = pattern(32 * MIB, 7);
	pid_t child;

	fill_file(&f, bytes, 32 * MIB);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		struct fixture c = {.d = f.d};

		open_session(&c);
		c.file = quoit_file_add(c.s, f.fd);
		for (unsigned i = 0; i < 40; i++)
			quoit_push(c.q,
				   quoit_file_read(create(&c, i % 2 ? PINNED : PAGEABLE, MIB / 4),
						   c.file, i * MIB / 4));
		quoit_flush(c.q);
		raise(SIGKILL);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	check_read(&f, PAGEABLE, 100000, 0, 25000);
	for (int i = 0; i < 500 && (left = count_fds(f.d.pid)) != before; i++)
		usleep(10000);
	cr_expect_eq(left, before);
	stop(&f);
	free(bytes);
}
