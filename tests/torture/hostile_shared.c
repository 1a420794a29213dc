/* SPDX-License-Identifier: MIT */
/*
 * hostile_shared.c - attacks of clients on the memory that they share with quoitd, and on its locks
 * and cgroups: cases 88 to 90 and 95 of the threat model.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl_client.h"
#include "scenes.h"
#include "slow_server.h"
#include "stage.h"
#include "store/sizeclass.h"

#define MIB    (UINT64_C(1) << 20)
#define END_MS 5000

static const struct raw_wish wish = {.host_bytes = 16 * MIB,
				     .arena_bytes = 4 * MIB,
				     .max_tensors = 64,
				     .sq_entries = 64,
				     .cq_entries = 128};

/* Send hello, and hand nothing over yet. */
static bool hello(struct stage *s, struct raw_client *c)
{
	return CHECK(s, !raw_connect(c, s->daemon.socket)) && CHECK(s, !raw_hello(c, &wish));
}

/* Hand over the client's arena, even if quoitd has it already. */
static int give_again(struct raw_client *c)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_ARENA};

	return raw_call_with(c, &m, c->arena_fd, NULL);
}

/* ---- an inode's lock ---- */

/* A client's thread that holds the lock of a memfd for as long as a server is silent. */
struct holder {
	struct slow_server server;
	pthread_t thread;
	void *slow; /* reading this never ends */
	int fd;     /* the memfd */
};

static void *hold_lock(void *arg)
{
	struct holder *h = arg;

	(void)!pwrite(h->fd, h->slow, 4096, 0);
	return NULL;
}

static bool hold(struct stage *s, struct holder *h, int fd)
{
	int file;

	if (!slow_server_enter(s, &h->server, &file))
		return false;
	h->fd = fd;
	h->slow = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	slow_server_hold(&h->server, FUSE_READ);
	return CHECK(s, h->slow != MAP_FAILED) &&
	       CHECK(s, !pthread_create(&h->thread, NULL, hold_lock, h)) &&
	       CHECK(s, slow_server_await(&h->server, 1) == 1);
}

static void let_go(struct holder *h)
{
	slow_server_hold(&h->server, 0);
	slow_server_kill(&h->server);
	pthread_join(h->thread, NULL);
	munmap(h->slow, 4096);
}

/* Others open sessions, and run jobs in them. */
static void others_go_on(struct stage *s)
{
	struct raw_client c;

	for (unsigned i = 0; i < 3; i++) {
		if (!stage_open(s, &c, &wish))
			return;
		CHECK(s, !raw_run(&c, raw_vector(1, MIB, RAW_ARENA_NOT)));
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
}

/*
 * The lock is held from before the hand-over until after the session's end, so the arena cannot be
 * sealed.
 */
static void lock_of_the_arena_is_held(struct stage *s)
{
	struct holder h = {0};
	struct raw_client c;

	if (!hello(s, &c))
		return;
	c.arena_fd = raw_memory(c.info.arena_bytes, &c.arena);
	if (hold(s, &h, c.arena_fd)) {
		CHECK(s, !give_again(&c));
		memset(c.arena, 0, c.info.arena_bytes);
		CHECK(s, raw_ready(&c) == -EPERM && strstr(c.text, "seals"));
		CHECK(s, !give_again(&c)); /* quoitd has dropped it */
		others_go_on(s);
		shutdown(c.socket, SHUT_RDWR);
		stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
		others_go_on(s);
		let_go(&h);
	} else {
		stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
	}
	raw_close(&c);
}

static void lock_of_a_ring_is_held(struct stage *s)
{
	struct holder h = {0};
	struct raw_client c;

	if (!stage_open(s, &c, &wish) || !CHECK(s, !raw_give_ring(&c, 64, 128, 0)))
		return;
	if (hold(s, &h, c.ring_fd)) {
		memset(c.pages, 0, quoit_ring_bytes(&c.layout));
		CHECK(s, raw_ready(&c) == -EPERM && strstr(c.text, "seals"));
		others_go_on(s);
		shutdown(c.socket, SHUT_RDWR);
		others_go_on(s);
		let_go(&h);
	}
	stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
	raw_close(&c);
}

/* A separate quoitd gets this signal meanwhile, and must end without waiting for the lock. */
static void end_while_a_lock_is_held(struct stage *s, int signal)
{
	static const char *const options[] = {"--private", "--log=error", NULL};
	struct holder h = {0};
	struct raw_client c;
	struct daemon d;

	if (!CHECK(s, !daemon_start(&d, options)))
		return;
	raw_set_user(0);
	if (CHECK(s, !raw_connect(&c, d.socket)) && CHECK(s, !raw_hello(&c, &wish)) &&
	    CHECK(s, !raw_give_arena(&c)) && hold(s, &h, c.arena_fd)) {
		bool gone = false;

		shutdown(c.socket, SHUT_RDWR);
		usleep(100000);
		(void)kill(d.pid, signal);
		for (int ms = 0; ms < END_MS && !gone; ms += 10) {
			gone = waitpid(d.pid, NULL, WNOHANG) == d.pid;
			usleep(10000);
		}
		CHECK(s, gone);
		d.pid = gone ? -1 : d.pid;
		CHECK(s, !gone || !daemon_start_again(&d, options));
		let_go(&h);
	}
	raw_close(&c);
	daemon_stop(&d);
	raw_set_user(stage_has_users() ? SCENE_MALLORY : 0);
}

static void quoitd_can_be_ended(struct stage *s)
{
	end_while_a_lock_is_held(s, SIGTERM);
	end_while_a_lock_is_held(s, SIGKILL);
}

/* ---- invalid memory ---- */

static int give(struct raw_client *c, int fd)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_ARENA};
	int err = raw_call_with(c, &m, fd, NULL);

	close(fd);
	return err;
}

static void only_sealed_memory_is_taken(struct stage *s)
{
	int fds[] = {memfd_create("torture", MFD_CLOEXEC),
		     memfd_create("torture", MFD_CLOEXEC | MFD_ALLOW_SEALING),
		     scene_file_on_disk(),
		     open("/dev/zero", O_RDWR | O_CLOEXEC),
		     open("/", O_PATH | O_CLOEXEC),
		     socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	int huge = memfd_create("torture", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	struct raw_client c;
	uint8_t *map;
	int fd;

	if (!hello(s, &c))
		return;
	for (unsigned i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		(void)!ftruncate(fds[i], (off_t)c.info.arena_bytes);
		CHECK(s, give(&c, fds[i]) == -EINVAL && strstr(c.text, "sealed"));
	}
	if (huge >= 0) {
		(void)fcntl(huge, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
		CHECK(s, give(&c, huge) == -EINVAL && strstr(c.text, "huge"));
	}
	/* sealed against writing too early: quoitd could not write */
	fd = raw_memory(c.info.arena_bytes, &map);
	CHECK(s, !munmap(map, c.info.arena_bytes) && !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	CHECK(s, give(&c, fd) == -EPERM && strstr(c.text, "map its"));
	CHECK(s, raw_ready(&c) == -EINVAL); /* there is no memory */
	CHECK(s, !raw_give_arena(&c) && !raw_begin_arena(&c));
	CHECK(s, !raw_ring_open(&c, 8, 8, 0));
	CHECK(s, !raw_run(&c, raw_vector(1, 100, 0)));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* quoitd allocates no missing page; once all pages are there, it accepts the memory. */
static void missing_pages_are_found(struct stage *s)
{
	const uint64_t bytes = wish.arena_bytes, holes[] = {0, 4096, bytes / 2, bytes - 4096};
	struct raw_client c;
	struct stat st;

	if (!hello(s, &c))
		return;
	for (unsigned i = 0; i < 4; i++) {
		CHECK(s, !raw_give_arena(&c));
		memset(c.arena, 1, bytes);
		CHECK(s, !madvise(c.arena + holes[i], 4096, MADV_REMOVE));
		CHECK(s, !fcntl(c.arena_fd, F_ADD_SEALS, (int)c.seals));
		CHECK(s, raw_ready(&c) == -EFAULT && strstr(c.text, "is not allocated"));
		CHECK(s, !fstat(c.arena_fd, &st) && (uint64_t)st.st_blocks * 512 == bytes - 4096);
		munmap(c.arena, bytes);
		close(c.arena_fd);
	}
	c.arena_fd = raw_memory(bytes / 2, &c.arena); /* and no page lies behind its end */
	CHECK(s, !give_again(&c));
	CHECK(s, !raw_fill(c.arena_fd, c.arena, bytes / 2, c.seals));
	CHECK(s, raw_ready(&c) == -EFAULT);
	munmap(c.arena, bytes / 2);
	close(c.arena_fd);
	CHECK(s, !raw_give_arena(&c) && !raw_begin_arena(&c));
	CHECK(s, !raw_give_ring(&c, 8, 8, 0));
	CHECK(s, !fcntl(c.ring_fd, F_ADD_SEALS, (int)c.seals));
	CHECK(s, raw_ready(&c) == -EFAULT);
	CHECK(s, !raw_ring_open(&c, 8, 8, 0));
	CHECK(s, !raw_run(&c, raw_vector(1, 100, 0)));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* Steps in a wrong order, and steps twice; a client that goes between two steps. */
static void steps_out_of_order(struct stage *s)
{
	struct raw_client c;

	for (unsigned i = 0; i < stage_times(s, 20, 2000) && !s->bad; i++) {
		if (!hello(s, &c))
			return;
		CHECK(s, raw_give_ring(&c, 8, 8, 0) == -EINVAL && strstr(c.text, "ARENA"));
		CHECK(s, !raw_give_arena(&c));
		CHECK(s, raw_give_ring(&c, 8, 8, 0) == -EINVAL);
		CHECK(s, give_again(&c) == -EEXIST);
		if (i % 3 && CHECK(s, !raw_begin_arena(&c)) && i % 3 == 2) {
			CHECK(s, !raw_give_ring(&c, 8, 8, 0));
			CHECK(s, give_again(&c) == -EEXIST);
		}
		stage_die(s, &c);
	}
}

/* ---- an arena that grows ---- */

static const struct raw_wish growing = {.sq_entries = 8};

static int say_more(struct raw_client *c, uint64_t bytes)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_ARENA_MORE, .arena_more.bytes = bytes};

	return raw_call_with(c, &m, -1, NULL);
}

/* A session with the default lease; its memfd has room for all that the arena can become. */
static bool open_growing(struct stage *s, struct raw_client *c, uint8_t **ret_map)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_ARENA};

	*ret_map = NULL;
	if (!CHECK(s, !raw_connect(c, s->daemon.socket)) || !CHECK(s, !raw_hello(c, &growing)) ||
	    !CHECK(s, c->info.arena_most > c->info.arena_bytes + MIB) ||
	    !CHECK(s, say_more(c, c->info.arena_bytes + 4096) == -EINVAL)) /* there is no page */
		return false;
	c->arena_fd = raw_memory(c->info.arena_most, ret_map);
	return CHECK(s, *ret_map) && CHECK(s, !raw_call_with(c, &m, c->arena_fd, NULL)) &&
	       CHECK(s,
		     !raw_fill(c->arena_fd, *ret_map, c->info.arena_bytes, m.ring_reply.seals)) &&
	       CHECK(s, !raw_ready(c)) && CHECK(s, !raw_ring_open(c, 8, 8, 0));
}

/*
 * quoitd checks the pages that it announces, and charges those that exist: the page tables, once it
 * has looked at the pages.
 */
static void an_arena_that_grows_in_words_alone(struct stage *s)
{
	struct raw_client c;
	uint64_t before, now, most, arena, tables;
	uint8_t *map;

	if (!open_growing(s, &c, &map))
		return;
	arena = c.info.arena_bytes;
	most = c.info.arena_most;
	before = stage_count(s, QUOIT_DAEMON_HOST_LEASED);
	CHECK(s, say_more(&c, 0) == -EINVAL && say_more(&c, arena) == -EINVAL);
	CHECK(s, say_more(&c, arena + 1) == -EINVAL && strstr(c.text, "whole pages"));
	CHECK(s, say_more(&c, most + 4096) == -EINVAL && say_more(&c, UINT64_MAX) == -EINVAL);
	CHECK(s, say_more(&c, arena + MIB) == -EFAULT && strstr(c.text, "is not allocated"));
	memset(map + arena, 1, most - arena - 4096); /* all but the last page */
	CHECK(s, say_more(&c, most) == -EFAULT);
	tables = stage_count(s, QUOIT_DAEMON_HOST_LEASED) - before;
	CHECK(s, tables + 4096 >= (most - arena) / 512 && tables <= (most - arena) / 500 + 8192);
	CHECK(s, say_more(&c, most) == -EFAULT);
	before += tables;
	CHECK(s, stage_count(s, QUOIT_DAEMON_HOST_LEASED) == before);
	CHECK(s, raw_run(&c, raw_vector(1, 1024, arena)) == -EINVAL); /* not in the arena yet */
	CHECK(s, !say_more(&c, arena + MIB));
	now = stage_count(s, QUOIT_DAEMON_HOST_LEASED);
	CHECK(s, now == before + MIB);
	CHECK(s, say_more(&c, arena + MIB) == -EINVAL);
	CHECK(s, !raw_run(&c, raw_vector(1, 1024, arena + MIB - 4096)));
	CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
	CHECK(s, raw_run(&c, raw_vector(2, 1024, arena + MIB)) == -EINVAL);
	munmap(map, most);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* A client that goes while quoitd looks at the pages that it has added. */
static void who_goes_while_its_arena_grows(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 20, 2000) && !s->bad; i++) {
		struct quoit_ctl m = {
			.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_ARENA_MORE, .seq = 99};
		struct raw_client c;
		uint8_t *map;

		if (!open_growing(s, &c, &map))
			return;
		memset(map + c.info.arena_bytes, 1, MIB);
		m.arena_more.bytes = c.info.arena_bytes + MIB;
		CHECK(s, send(c.socket, &m, sizeof m, MSG_NOSIGNAL) == sizeof m);
		munmap(map, c.info.arena_most);
		stage_die(s, &c);
	}
}

/* ---- which user is charged ---- */

#define GROUP_V1 "/sys/fs/cgroup/memory/quoit-torture"
#define GROUP_V2 "/sys/fs/cgroup/quoit-torture"

/*
 * The cgroup that quoitd is charged to, or clients in a scene of their own.  NULL: there is none.
 */
static const char *group;

static bool put(const char *name, const char *text)
{
	char path[80];
	int fd, n;

	snprintf(path, sizeof path, "%s/%s", group, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : (int)write(fd, text, strlen(text));
	if (fd >= 0)
		close(fd);
	return n > 0;
}

/* Bytes; UINT64_MAX: not known. */
static uint64_t charged(void)
{
	static const char *const names[] = {"memory.usage_in_bytes", "memory.current"};
	unsigned long long bytes = UINT64_MAX;

	for (unsigned i = 0; group && i < 2; i++) {
		char path[80];
		FILE *f;

		snprintf(path, sizeof path, "%s/%s", group, names[i]);
		f = fopen(path, "re");
		if (f && fscanf(f, "%llu", &bytes) != 1)
			bytes = UINT64_MAX;
		if (f)
			fclose(f);
	}
	return bytes;
}

static void make_group(void)
{
	static const char *const groups[] = {GROUP_V1, GROUP_V2};

	for (unsigned i = 0; i < 2; i++) {
		group = groups[i];
		if ((!mkdir(group, 0755) || errno == EEXIST) && charged() != UINT64_MAX)
			return;
		(void)rmdir(group);
	}
	group = NULL;
}

static void in_a_group(const struct daemon *d)
{
	(void)d;
	if (group)
		(void)put("cgroup.procs", "0");
}

/* Keep references to its pages in the queues of sockets for as long as these live. */
static uint64_t keep_pages(int fd, uint64_t bytes, int *sockets, unsigned *count, unsigned most)
{
	off_t at = 0;

	while ((uint64_t)at < bytes && *count < most) {
		int pair[2], size = 1 << 30;
		off_t was = at;

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
			break;
		sockets[(*count)++] = pair[0];
		sockets[(*count)++] = pair[1];
		(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
		while ((uint64_t)at < bytes && sendfile(pair[0], fd, &at, bytes - (uint64_t)at) > 0)
			;
		if (at == was)
			break;
	}
	return (uint64_t)at;
}

#define KEPT     8u
#define KEPT_MIB 16u

/* Sessions end, but all pages of their arenas, which quoitd has written, are kept. */
static void pages_that_are_kept(struct stage *s)
{
	const struct raw_wish large = {.host_bytes = (KEPT_MIB + 4) * MIB,
				       .arena_bytes = KEPT_MIB * MIB,
				       .max_tensors = 64,
				       .sq_entries = 8};
	uint64_t before = charged(), kept = 0, after = UINT64_MAX;
	static int sockets[2000];
	struct raw_client c;
	unsigned count = 0;

	if (before == UINT64_MAX) {
		s->skip = "no memory group can be made here";
		return;
	}
	for (unsigned i = 0; i < KEPT && !s->bad; i++) {
		int fd;

		if (!stage_open(s, &c, &large))
			return;
		CHECK(s, !raw_run(&c, raw_vector(1, (uint32_t)(KEPT_MIB * MIB / 4), 0)));
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
		fd = fcntl(c.arena_fd, F_DUPFD_CLOEXEC, 0);
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
		kept += keep_pages(fd, KEPT_MIB * MIB, sockets, &count, 2000);
		close(fd);
	}
	CHECK(s, kept >= KEPT * KEPT_MIB * MIB / 2);
	for (int ms = 0; ms < END_MS && after > before + kept / 8; ms += 10) {
		after = charged();
		usleep(10000);
	}
	if (!CHECK(s, after <= before + kept / 8))
		printf("  %llu MiB are kept, quoitd is charged %llu MiB more\n",
		       (unsigned long long)kept >> 20, (unsigned long long)(after - before) >> 20);
	while (count)
		close(sockets[--count]);
}

/* ---- pages in the swap that cannot come back ---- */

#define LOCKED (4 * MIB)

static bool is_v1(void)
{
	return !strcmp(group, GROUP_V1);
}

static void limit_group(uint64_t bytes)
{
	char text[32];

	snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
	(void)put(is_v1() ? "memory.limit_in_bytes" : "memory.max", text);
}

static void leave_group(void)
{
	int fd =
		open(is_v1() ? "/sys/fs/cgroup/memory/cgroup.procs" : "/sys/fs/cgroup/cgroup.procs",
		     O_WRONLY | O_CLOEXEC);

	(void)!write(fd, "0", 1);
	close(fd);
}

/*
 * In a process of the cgroup: allocate all pages of the arena, and some that cannot be swapped out.
 * Then leave the cgroup and stop, so that it is charged for them but has no process.
 */
static pid_t fill_group(const struct raw_client *c)
{
	pid_t pid = fork();
	int status;

	if (pid) {
		(void)waitpid(pid, &status, WUNTRACED);
		return pid;
	}
	(void)put("cgroup.procs", "0");
	memset(c->arena, 1, c->info.arena_bytes);
	if (mlock(mmap(NULL, LOCKED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		  LOCKED))
		_exit(1);
	(void)munmap(c->arena, c->info.arena_bytes);
	leave_group();
	(void)raise(SIGSTOP);
	_exit(0);
}

/* Shrink the group to its locked pages: all others go to the swap, and no page fits any more. */
static bool send_away(void)
{
	for (uint64_t at = charged(); at > LOCKED + MIB / 2; at -= MIB / 4)
		limit_group(at);
	for (unsigned i = 0; i < 4; i++)
		limit_group(charged());
	return charged() <= LOCKED + MIB;
}

static bool has_swap(void)
{
	FILE *f = fopen("/proc/swaps", "re");
	char line[256];
	bool has = f && fgets(line, sizeof line, f) && fgets(line, sizeof line, f);

	if (f)
		fclose(f);
	return has;
}

/*
 * A process that touches such a page needs memory of a full cgroup, in which the kernel has no
 * process to kill.
 */
static void pages_that_cannot_come_back(struct stage *s)
{
	struct raw_client c;
	pid_t pid;

	if (!group || !has_swap()) {
		s->skip = group ? "there is no swap" : "no memory group can be made here";
		return;
	}
	if (!hello(s, &c) || !CHECK(s, !raw_give_arena(&c)))
		return;
	pid = fill_group(&c);
	(void)munmap(c.arena, c.info.arena_bytes);
	c.arena = NULL;
	if (CHECK(s, send_away())) {
		CHECK(s, !fcntl(c.arena_fd, F_ADD_SEALS, (int)c.seals));
		CHECK(s, raw_ready(&c) < 0 && strstr(c.text, "cannot use"));
		others_go_on(s);
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	stage_die(s, &c);
	limit_group(1024 * MIB);
}

/* ---- page tables ---- */

#define WIDE_LEASE (64 * MIB)

/* KiB of quoitd's page tables. */
static uint64_t page_tables(const struct stage *s)
{
	unsigned long long kib = 0;
	char path[40], line[128];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)s->daemon.pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		(void)sscanf(line, "VmPTE: %llu", &kib);
	if (f)
		fclose(f);
	return kib;
}

/* Use buffers of one size class until the lease is full; then free them. */
static void use_class(struct stage *s, struct raw_client *c, uint32_t class)
{
	uint64_t bytes = sizeclass_bytes(class), n = (WIDE_LEASE - MIB) / bytes;

	for (uint32_t i = 1; i <= n && !s->bad; i++) {
		CHECK(s, !raw_run(c, raw_vector(i, (uint32_t)(bytes / 4), RAW_ARENA_NOT)));
		CHECK(s, !raw_run(c, raw_job(QUOIT_OP_FILL, i, 0, 0)));
	}
	for (uint32_t i = 1; i <= n && !s->bad; i++)
		CHECK(s, !raw_run(c, raw_job(QUOIT_OP_FREE, i, 0, 0)));
}

/* The charge of a session with such a lease, in addition to the lease. */
static uint64_t charge_beside(struct stage *s, struct raw_client *c, uint64_t lease)
{
	const struct raw_wish wide = {
		.host_bytes = lease, .arena_bytes = MIB / 2, .max_tensors = 4096, .sq_entries = 8};
	uint64_t before = stage_count(s, QUOIT_DAEMON_HOST_LEASED);

	if (!stage_open(s, c, &wide))
		return 0;
	return stage_count(s, QUOIT_DAEMON_HOST_LEASED) - before - lease;
}

/*
 * Use a whole lease of each size class in turn.  quoitd's page tables stay, and were charged from
 * the start.  No other charge grows with the lease, apart from a word for each piece.
 */
static void page_tables_are_charged(struct stage *s)
{
	uint32_t class = s->times ? 4 : 12;
	uint64_t before, small, wide, more;
	struct raw_client c;

#ifdef QUOIT_SANITIZE
	s->skip = "a sanitizer has page tables of its own";
	return;
#endif
	small = charge_beside(s, &c, MIB);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	before = page_tables(s);
	wide = charge_beside(s, &c, WIDE_LEASE);
	for (; sizeclass_bytes(class) <= WIDE_LEASE - MIB && !s->bad; class ++)
		use_class(s, &c, class);
	more = (page_tables(s) - before) << 10;
	CHECK(s, more > 2 * MIB); /* otherwise nothing was tested */
	if (!CHECK(s, wide >= small + more))
		printf("  %llu KiB of page tables, %llu KiB charged for them\n",
		       (unsigned long long)more >> 10, (unsigned long long)(wide - small) >> 10);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static const struct stage_case cases[] = {
	{"lock of the arena is held", lock_of_the_arena_is_held},
	{"lock of a ring is held", lock_of_a_ring_is_held},
	{"quoitd can be ended while one is", quoitd_can_be_ended},
	{"only sealed memory is taken", only_sealed_memory_is_taken},
	{"missing pages are found", missing_pages_are_found},
	{"steps out of order", steps_out_of_order},
	{"page tables are charged", page_tables_are_charged},
	{"an arena that grows in words alone", an_arena_that_grows_in_words_alone},
	{"who goes while its arena grows", who_goes_while_its_arena_grows},
};
static const struct stage_case charges[] = {
	{"pages that are kept", pages_that_are_kept},
};
static const struct stage_case swapped[] = {
	{"pages that cannot come back", pages_that_cannot_come_back},
};

int main(int argc, char **argv)
{
	const struct stage_scene plain = {0}, grouped = {.prepare = in_a_group};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	stage_play(&stage, &plain, cases, sizeof cases / sizeof cases[0]);
	make_group();
	stage_play(&stage, &grouped, charges, sizeof charges / sizeof charges[0]);
	stage_play(&stage, &plain, swapped, sizeof swapped / sizeof swapped[0]);
	if (group)
		(void)rmdir(group);
	return stage_end(&stage);
}
