/* SPDX-License-Identifier: MIT */
/* hostile_files.c - unexpected descriptors, of every kind, and in circles */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "ctl_client.h"
#include "scenes.h"
#include "slow_server.h"

#define PROTO QUOIT_DAEMON_KILL_PROTO
#define MOST  253 /* the most descriptors that the kernel lets a message carry */

static const struct raw_wish small = {
	.host_bytes = 1 << 20, .arena_bytes = 4096, .max_tensors = 64};

/* ---- numbers of descriptors ---- */

static const struct wrong_count {
	uint16_t type;
	bool open;
	size_t bytes;
	unsigned count;
} wrong_counts[] = {
	{QUOIT_CTL_HELLO, false, sizeof(struct quoit_ctl), 1},
	{QUOIT_CTL_HELLO, false, sizeof(struct quoit_ctl), MOST},
	{QUOIT_CTL_KILL, false, sizeof(struct quoit_ctl), 1},
	{QUOIT_CTL_USER, false, sizeof(struct quoit_ctl), 1},
	{QUOIT_CTL_SHARE, false, sizeof(struct quoit_ctl), 1},
	{QUOIT_CTL_FILE_ADD, false, sizeof(struct quoit_ctl), 1}, /* not allowed in this state */
	{QUOIT_CTL_HELLO, false, 17, MOST},
	{QUOIT_CTL_HELLO, false, 0, 1},
	{QUOIT_CTL_NR, false, sizeof(struct quoit_ctl), MOST},
	{QUOIT_CTL_ARENA, true, sizeof(struct quoit_ctl), 0},
	{QUOIT_CTL_ARENA, true, sizeof(struct quoit_ctl), 2},
	{QUOIT_CTL_RING_OPEN, true, sizeof(struct quoit_ctl), QUOIT_MAX_RINGS + 1},
	{QUOIT_CTL_READY, true, sizeof(struct quoit_ctl), 1},
	{QUOIT_CTL_ARENA_MORE, true, sizeof(struct quoit_ctl), 1},
	{QUOIT_CTL_RING_CLOSE, true, sizeof(struct quoit_ctl), 2},
	{QUOIT_CTL_CANCEL, true, sizeof(struct quoit_ctl), MOST},
	{QUOIT_CTL_FILE_ADD, true, sizeof(struct quoit_ctl), 0},
	{QUOIT_CTL_FILE_ADD, true, sizeof(struct quoit_ctl), 2},
	{QUOIT_CTL_FILE_ADD, true, sizeof(struct quoit_ctl), MOST},
	{QUOIT_CTL_FILE_ADD, true, 255, 1},
	{QUOIT_CTL_FILE_REMOVE, true, sizeof(struct quoit_ctl), 1},
	{QUOIT_CTL_OP, true, sizeof(struct quoit_ctl), 1},
	{QUOIT_CTL_CLOSE, true, sizeof(struct quoit_ctl), MOST},
	{QUOIT_CTL_END, true, sizeof(struct quoit_ctl), MOST},
};

static void send_wrong_count(struct stage *s, const struct wrong_count *w, int fd)
{
	struct quoit_ctl m = w->type == QUOIT_CTL_HELLO ? ctl_hello() : ctl_request(w->type);
	struct raw_client c;
	int fds[MOST];

	for (unsigned i = 0; i < MOST; i++)
		fds[i] = fd;
	if (w->open ? !stage_open(s, &c, &small) : !CHECK(s, !raw_connect(&c, s->daemon.socket)))
		return;
	if (w->open)
		CHECK(s, !ctl_put(c.socket, &m, w->bytes, fds, w->count));
	else if (!ctl_put_early(s, &c, &m, w->bytes, fds, w->count))
		return;
	ctl_expect_end(s, &c, PROTO, "message");
}

static void descriptors_not_asked_for_are_closed(struct stage *s)
{
	int fd = memfd_create("torture", MFD_CLOEXEC);

	for (unsigned round = 0; round < stage_times(s, 10, 1000) && !s->bad; round++)
		for (unsigned i = 0; i < sizeof wrong_counts / sizeof wrong_counts[0]; i++)
			send_wrong_count(s, &wrong_counts[i], fd);
	close(fd);
}

/* A server that counts only the first block takes two for one. */
static void descriptors_in_two_blocks_are_closed(struct stage *s)
{
	static const uint16_t types[] = {QUOIT_CTL_ARENA, QUOIT_CTL_FILE_ADD, QUOIT_CTL_IMAGE_ADD};
	int fds[MOST / 2], fd = memfd_create("torture", MFD_CLOEXEC);

	for (unsigned i = 0; i < MOST / 2; i++)
		fds[i] = fd;
	for (unsigned i = 0; i < stage_times(s, 30, 3000) && !s->bad; i++) {
		struct quoit_ctl m = ctl_request(types[i % 3]);
		struct raw_client c;

		if (!stage_open(s, &c, &small))
			break;
		CHECK(s, !ctl_put_blocks(c.socket, &m, sizeof m, fds, i % 2 ? 1 : MOST / 2, 2));
		ctl_expect_end(s, &c, PROTO, "the wrong number of descriptors");
	}
	close(fd);
}

static void descriptors_that_were_refused_are_closed(struct stage *s)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_ADD), answer;
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	for (unsigned i = 0; i < stage_times(s, 2000, 1000000) && !s->bad; i++)
		CHECK(s, !ctl_ask(c.socket, &m, c.socket, &answer) && answer.result == -EINVAL);
	stage_die(s, &c);
}

static void session_has_as_many_files_as_it_may(struct stage *s)
{
	struct quoit_ctl add = ctl_request(QUOIT_CTL_FILE_ADD), answer;
	struct quoit_ctl drop = ctl_request(QUOIT_CTL_FILE_REMOVE);
	int fd = memfd_create("torture", MFD_CLOEXEC);
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	for (unsigned i = 0; i < QUOIT_MAX_FILES; i++)
		CHECK(s, !ctl_ask(c.socket, &add, fd, &answer) && !answer.result &&
				 answer.file.index == i);
	for (unsigned i = 0; i < 1000 && !s->bad; i++)
		CHECK(s, !ctl_ask(c.socket, &add, fd, &answer) && answer.result == -ENFILE);
	drop.file.index = QUOIT_MAX_FILES / 2;
	CHECK(s, !ctl_ask(c.socket, &drop, -1, &answer) && !answer.result);
	CHECK(s, !ctl_ask(c.socket, &drop, -1, &answer) && answer.result == -EBADF);
	CHECK(s, !ctl_ask(c.socket, &add, fd, &answer) && !answer.result);
	for (uint32_t index = QUOIT_MAX_FILES; index; index <<= 1) {
		drop.file.index = index;
		CHECK(s, !ctl_ask(c.socket, &drop, -1, &answer) && answer.result == -EBADF);
	}
	close(fd);
	stage_die(s, &c);
}

/* ---- kinds of descriptors ---- */

/* Open a new file in these modes; its name is removed at once. */
static int open_file(int flags)
{
	char path[] = "/tmp/quoit-torture-XXXXXX";
	int fd = mkstemp(path), other;

	if (fd < 0)
		return -1;
	other = open(path, flags | O_CLOEXEC);
	close(fd);
	unlink(path);
	return other;
}

static int open_pipe(int end)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	close(fds[!end]);
	return fds[end];
}

static int open_io_uring(void)
{
	struct io_uring_params p = {0};

	return (int)syscall(SYS_io_uring_setup, 4, &p);
}

static int open_kind(const char *kind)
{
	sigset_t none;

	sigemptyset(&none);
	if (*kind == '/')
		return open(kind, O_RDONLY | O_CLOEXEC);
	if (!strcmp(kind, "read"))
		return open_file(O_RDONLY);
	if (!strcmp(kind, "write"))
		return open_file(O_WRONLY);
	if (!strcmp(kind, "both"))
		return open_file(O_RDWR);
	if (!strcmp(kind, "append"))
		return open_file(O_WRONLY | O_APPEND);
	if (!strcmp(kind, "path"))
		return open_file(O_PATH);
	if (!strcmp(kind, "memfd"))
		return memfd_create("torture", MFD_CLOEXEC);
	if (!strcmp(kind, "pipe, to read"))
		return open_pipe(0);
	if (!strcmp(kind, "pipe, to write"))
		return open_pipe(1);
	if (!strcmp(kind, "socket"))
		return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!strcmp(kind, "tty"))
		return posix_openpt(O_RDWR | O_NOCTTY);
	if (!strcmp(kind, "epoll"))
		return epoll_create1(EPOLL_CLOEXEC);
	if (!strcmp(kind, "eventfd"))
		return eventfd(0, EFD_CLOEXEC);
	if (!strcmp(kind, "timerfd"))
		return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (!strcmp(kind, "signalfd"))
		return signalfd(-1, &none, SFD_CLOEXEC);
	if (!strcmp(kind, "inotify"))
		return inotify_init1(IN_CLOEXEC);
	if (!strcmp(kind, "pidfd"))
		return (int)syscall(SYS_pidfd_open, getpid(), 0);
	return open_io_uring();
}

static void only_files_are_taken_for_files(struct stage *s)
{
	static const struct {
		const char *kind;
		int result;
	} rows[] = {
		{"read", 0},
		{"write", 0},
		{"both", 0},
		{"memfd", 0},
		{"append", -EINVAL},
		{"path", -EINVAL},
		{"/", -EINVAL},
		{"/tmp", -EINVAL},
		{"/dev/null", -EINVAL},
		{"/dev/zero", -EINVAL},
		{"/dev/loop0", -EINVAL},
		{"/dev/vda", -EINVAL},
		{"/dev/fuse", -EINVAL},
		{"/proc/self/mem", -EINVAL},
		{"/proc/self/maps", -EINVAL},
		{"/proc/meminfo", -EINVAL},
		{"/proc/sys/kernel/ostype", -EINVAL},
		{"/proc/self/ns/net", -EINVAL},
		{"/sys/kernel/mm/transparent_hugepage/enabled", -EINVAL},
		{"/sys/fs/cgroup/cgroup.controllers", -EINVAL},
		{"pipe, to read", -EINVAL},
		{"pipe, to write", -EINVAL},
		{"socket", -EINVAL},
		{"tty", -EINVAL},
		{"epoll", -EINVAL},
		{"eventfd", -EINVAL},
		{"timerfd", -EINVAL},
		{"signalfd", -EINVAL},
		{"inotify", -EINVAL},
		{"pidfd", -EINVAL},
		{"io_uring", -EINVAL},
	};
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_ADD), answer;
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int fd = open_kind(rows[i].kind);

		/* Some kernels do not pass an io_uring. */
		if (fd < 0 || ctl_put(c.socket, &m, sizeof m, &fd, 1) == -EINVAL) {
			printf("  (no %s here)\n", rows[i].kind);
		} else {
			CHECK(s, !ctl_get(c.socket, &answer));
			if (!CHECK(s, answer.result == rows[i].result))
				printf("  %s: %d\n", rows[i].kind, answer.result);
			CHECK(s, !answer.result == !answer.text[0]);
		}
		if (fd >= 0)
			close(fd);
	}
	stage_die(s, &c);
}

/* ---- file systems ---- */

/*
 * Mount a file system of this type in a folder; one that needs another below it lies on a tmpfs.
 * For root; it goes with this process.
 */
static bool mount_it(const char *type, const char *folder)
{
	char options[160], path[64];

	if (mount(type, folder, "tmpfs", 0, "size=16m") < 0)
		return false;
	if (!strcmp(type, "tmpfs"))
		return true;
	if (strcmp(type, "overlay") != 0)
		return mount(type, folder, type, 0, NULL) == 0;
	for (const char *name = "luwm"; *name; name++) {
		snprintf(path, sizeof path, "%s/%c", folder, *name);
		(void)mkdir(path, 0755);
	}
	snprintf(options, sizeof options, "lowerdir=%s/l,upperdir=%s/u,workdir=%s/w", folder,
		 folder, folder);
	return mount("overlay", folder, type, 0, options) == 0;
}

/* Try a FILE_WRITE; returns its result; ret: the error's record. */
static int write_to(struct raw_client *c, uint32_t index, struct quoit_error *ret)
{
	struct quoit_sqe write = raw_job(QUOIT_OP_FILE_WRITE, 1, 0, 0);
	struct quoit_cqe cqe = {0};

	write.scalar[1] = index;
	*ret = (struct quoit_error){0};
	if (!raw_submit(c, &write) || raw_reap(c, 10000, &cqe, ret))
		return -ECONNRESET;
	return cqe.res;
}

/*
 * A file that is open only for writing is refused by the name of its file system; others can only
 * be read.
 */
static void try_to_write(struct stage *s, struct raw_client *c, const char *type, const char *path,
			 uint32_t number)
{
	int only = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	int both = open(path, O_RDWR | O_CLOEXEC), result;
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_ADD), answer = {0};
	struct quoit_error error;

	if (CHECK(s, only >= 0 && both >= 0)) {
		CHECK(s, !ctl_ask(c->socket, &m, only, &answer) && answer.result == -EACCES);
		if (!CHECK(s, strstr(answer.text, type)))
			printf("%s: %d %s\n", type, answer.result, answer.text);
		CHECK(s, !ctl_ask(c->socket, &m, both, &answer) && !answer.result);
		result = write_to(c, answer.file.index, &error);
		CHECK(s, result == -EACCES && error.field == QUOIT_FIELD_FILE);
		if (!CHECK(s, error.value[1] == number))
			printf("%s: %d, %#llx\n", type, result, (unsigned long long)error.value[1]);
	}
	close(only);
	close(both);
}

static const struct raw_wish writer = {
	.host_bytes = 1 << 20, .arena_bytes = 4096, .max_tensors = 64, .sq_entries = 8};

/* Here root made the mounts, but an ordinary user can make them, too, in namespaces. */
static void files_are_written_on_disks_alone(struct stage *s)
{
	static const struct {
		const char *type;
		uint32_t number;
	} rows[] = {{"tmpfs", 0x01021994}, {"ramfs", 0x858458f6}, {"overlay", 0x794c7630}};
	struct raw_client c;
	char folder[] = "/tmp/quoit-torture-XXXXXX", path[64];

	if (!stage_has_users() || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		s->skip = "needs root";
		return;
	}
	if (!CHECK(s, mkdtemp(folder)) || !stage_open(s, &c, &writer))
		return;
	CHECK(s, !raw_run(&c, raw_vector(1, 16, RAW_ARENA_NOT)));
	CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0] && !s->bad; i++) {
		if (!mount_it(rows[i].type, folder)) {
			printf("  (no %s here)\n", rows[i].type);
		} else {
			snprintf(path, sizeof path, "%s/file", folder);
			try_to_write(s, &c, rows[i].type, path, rows[i].number);
		}
		while (umount2(folder, MNT_DETACH) == 0)
			;
	}
	(void)rmdir(folder);
	stage_die(s, &c);
}

static void a_fuse_file_is_not_written_to(struct stage *s)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_ADD), answer = {0};
	struct quoit_error error;
	struct slow_server v;
	struct raw_client c;
	int fd;

	if (!slow_server_enter(s, &v, &fd))
		return;
	if (stage_open(s, &c, &writer)) {
		CHECK(s, !raw_run(&c, raw_vector(1, 16, RAW_ARENA_NOT)));
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
		CHECK(s, !ctl_ask(c.socket, &m, fd, &answer) && !answer.result);
		CHECK(s, write_to(&c, answer.file.index, &error) == -EACCES &&
				 error.value[1] == 0x65735546);
		stage_die(s, &c);
	}
	close(fd);
	slow_server_kill(&v);
}

static void a_file_on_a_disk_is_written_to(struct stage *s)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_ADD), answer = {0};
	int fd = scene_file_on_disk();
	struct quoit_error error;
	struct raw_client c;

	if (CHECK(s, fd >= 0) && stage_open(s, &c, &writer)) {
		CHECK(s, !raw_run(&c, raw_vector(1, 16, RAW_ARENA_NOT)));
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
		CHECK(s, !ctl_ask(c.socket, &m, fd, &answer) && !answer.result);
		CHECK(s, write_to(&c, answer.file.index, &error) == 64);
		stage_die(s, &c);
	}
	close(fd);
}

/* ---- in circles ---- */

/* A pair of sockets, each of which lies in the other's queue. */
static int make_knot(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	(void)ctl_put(pair[0], "", 1, &pair[0], 1);
	(void)ctl_put(pair[1], "", 1, &pair[1], 1);
	close(pair[1]);
	return pair[0];
}

/* A socket that holds a socket that holds a socket ... */
static int make_chain(unsigned length)
{
	int inner = memfd_create("torture", MFD_CLOEXEC);

	while (length-- > 0) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
			break;
		(void)ctl_put(pair[0], "", 1, &inner, 1);
		close(inner);
		close(pair[0]);
		inner = pair[1];
	}
	return inner;
}

static void sockets_in_their_own_queues_are_let_go(struct stage *s)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_FILE_ADD);

	for (unsigned i = 0; i < stage_times(s, 100, 50000) && !s->bad; i++) {
		struct raw_client c;
		int fd;

		if (!stage_open(s, &c, &small))
			return;
		fd = i % 3 == 0 ? dup(c.socket) : i % 3 == 1 ? make_knot() : make_chain(3);
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, &fd, 1));
		close(fd);
		stage_die(s, &c);
	}
}

/* The connection lies in its own queue before quoitd has accepted it. */
static void connection_in_its_own_queue_is_let_go(struct stage *s)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_HELLO);

	for (unsigned i = 0; i < stage_times(s, 100, 100000) && !s->bad; i++) {
		struct raw_client c;

		if (!CHECK(s, !raw_connect(&c, s->daemon.socket)))
			return;
		if (!ctl_put_early(s, &c, &m, sizeof m, &c.socket, 1))
			continue;
		raw_close(&c);
		stage_expect(s, PROTO, 1);
	}
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(descriptors_not_asked_for_are_closed),
		STAGE_CASE(descriptors_in_two_blocks_are_closed),
		STAGE_CASE(descriptors_that_were_refused_are_closed),
		STAGE_CASE(session_has_as_many_files_as_it_may),
		STAGE_CASE(only_files_are_taken_for_files),
		STAGE_CASE(a_file_on_a_disk_is_written_to),
		STAGE_CASE(a_fuse_file_is_not_written_to),
		STAGE_CASE(files_are_written_on_disks_alone),
		STAGE_CASE(sockets_in_their_own_queues_are_let_go),
		STAGE_CASE(connection_in_its_own_queue_is_let_go),
	};
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}
