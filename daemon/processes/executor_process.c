/* SPDX-License-Identifier: MIT */
/* executor_process.c - start quoit-exec, and share pages and sockets with it */
#include "executor_process.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/service_manager.h>
#include <quoit/stats.h>

#include "backend/executor/exec_port.h"
#include "base/ctl_io.h"
#include "base/memfd.h"

#define PROGRAM "quoit-exec"
#define REAP_MS 2000 /* how long to wait for a killed process to end */

/* ---- the process ---- */

/* Find it beside quoitd, where a build leaves it, or where it is installed: see the Makefile. */
static int find_program(char path[PATH_MAX])
{
	static const char *const places[] = {"", "../libexec/quoit/"};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	const char *folder;

	if (n < 0)
		return -errno;
	self[n] = '\0';
	folder = dirname(self);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int length = snprintf(path, PATH_MAX, "%s/%s" PROGRAM, folder, places[i]);

		if (length < PATH_MAX && access(path, X_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

/* The process blocks and catches no signals, and leads a group of its own. */
static int set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	(void)posix_spawnattr_setsigmask(attr, &none);
	(void)posix_spawnattr_setsigdefault(attr, &all);
	(void)posix_spawnattr_setpgroup(attr, 0);
	return -posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						       POSIX_SPAWN_SETPGROUP);
}

/*
 * quoitd's descriptors are closed on exec; the process gets standard output, error, and its socket.
 */
static int set_files(posix_spawn_file_actions_t *actions, unsigned flags, int socket)
{
	int err = -posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);

	for (int fd = 1; fd <= 2 && !err && flags & EXECUTOR_PROCESS_MUTE; fd++)
		err = -posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_WRONLY, 0);
	return err ? err : -posix_spawn_file_actions_adddup2(actions, socket, QUOIT_EXEC_SOCKET);
}

/*
 * quoitd's environment without the service manager's variables, which libraries would take for
 * theirs.  NULL: no memory.
 */
static char **its_environment(void)
{
	size_t n = 0;
	char **copy;

	while (environ[n])
		n++;
	copy = calloc(n + 1, sizeof *copy);
	if (!copy)
		return NULL;
	memcpy(copy, environ, n * sizeof *copy);
	quoit_service_manager_leave(copy);
	return copy;
}

static int spawn(const char *program, const char *module, unsigned flags, int socket, pid_t *ret)
{
	char parent[16];
	char *argv[] = {(char *)(uintptr_t)PROGRAM, (char *)(uintptr_t)module, parent,
			flags & EXECUTOR_PROCESS_SHARES ? (char *)(uintptr_t) "shares" : NULL,
			NULL};
	posix_spawn_file_actions_t actions;
	char **environment = its_environment();
	posix_spawnattr_t attr;
	int err;

	if (!environment)
		return -ENOMEM;
	snprintf(parent, sizeof parent, "%d", (int)getpid());
	err = -posix_spawn_file_actions_init(&actions);
	if (err < 0) {
		free(environment);
		return err;
	}
	err = -posix_spawnattr_init(&attr);
	if (!err) {
		err = set_attributes(&attr);
		if (!err)
			err = set_files(&actions, flags, socket);
		if (!err)
			err = -posix_spawn(ret, program, &actions, &attr, argv, environment);
		(void)posix_spawnattr_destroy(&attr);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	free(environment);
	return err;
}

int executor_process_start(const char *module, unsigned flags, struct executor_process *ret)
{
	char program[PATH_MAX];
	int pair[2];
	int err;

	*ret = (struct executor_process){.pidfd = -1, .socket = -1, .pool = -1};
	err = find_program(program);
	if (err < 0)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	err = spawn(program, module, flags, pair[1], &ret->pid);
	close(pair[1]);
	if (err < 0) {
		close(pair[0]);
		return err;
	}
	ret->socket = pair[0];
	ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	return 0;
}

bool executor_process_has_ended(const struct executor_process *p, int *ret_status)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
		return false;
	*ret_status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0)
						 : W_EXITCODE(0, info.si_status);
	return true;
}

/* A process that does not end in time is left to init. */
static void reap(pid_t pid)
{
	for (int i = 0; i < REAP_MS && waitpid(pid, NULL, WNOHANG) == 0; i++)
		usleep(1000);
}

void executor_process_free(struct executor_process *p)
{
	if (!p->pid)
		return;
	exec_port_kill_process(p->pid);
	reap(p->pid);
	if (p->daemon_pages)
		munmap(p->daemon_pages, p->daemon_bytes);
	if (p->exec_pages)
		munmap(p->exec_pages, p->exec_bytes);
	if (p->direct_requests)
		munmap(p->direct_requests, p->direct_bytes);
	if (p->pidfd >= 0)
		close(p->pidfd);
	if (p->pool >= 0)
		close(p->pool);
	close(p->socket);
	*p = (struct executor_process){.pidfd = -1, .socket = -1, .pool = -1};
}

/* ---- talking to it ---- */

int executor_process_hello(struct executor_process *p, struct quoit_exec_hello *ret)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec data = {ret, sizeof *ret};
	/* Exactly one descriptor: in CMSG_SPACE's padding the kernel would put a second one. */
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = CMSG_LEN(sizeof(int))};
	ssize_t n = recvmsg(p->socket, &msg, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c;

	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c && p->pool < 0 && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&p->pool, CMSG_DATA(c), sizeof(int));
	if (n == 0)
		return -ECONNRESET;
	ctl_let_descriptors_pass(p->socket, false); /* it sends no more descriptors */
	if (n != (ssize_t)sizeof *ret || msg.msg_flags & MSG_CTRUNC ||
	    ret->magic != QUOIT_EXEC_MAGIC || ret->version != QUOIT_EXEC_VERSION ||
	    ret->result > 0 || ret->count > QUOIT_EXEC_MAX_OPS || ret->text[sizeof ret->text - 1])
		return -EPROTO;
	return 0;
}

int executor_process_tell(const struct executor_process *p, uint32_t device, pid_t pid, int pool)
{
	const struct quoit_exec_peer m = {.device = device, .pid = pid};

	return ctl_send_bytes(p->socket, &m, sizeof m, &pool, pid ? 1 : 0);
}

#define PAGES   3 /* descriptors before those of channels */
#define MAX_FDS (QUOIT_MAX_REACTORS + PAGES)

static void close_all(const int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Pages that quoitd writes, and the process can only read. */
static int make_daemon_pages(struct executor_process *p, int *ret_fd)
{
	int fd = memfd_create_sealed("quoit-exec-requests", p->daemon_bytes), err;

	if (fd < 0)
		return fd;
	err = memfd_map(fd, p->daemon_bytes, 1, &p->daemon_pages);
	if (!err)
		*ret_fd = memfd_read_only(fd);
	close(fd);
	return err ? err : *ret_fd < 0 ? *ret_fd : 0;
}

/* Pages that the process can write; quoitd maps them for writing too if `writes`. */
static int make_pages(const char *name, uint64_t bytes, int writes, int *ret_fd, void **ret)
{
	*ret_fd = memfd_create_sealed(name, bytes);
	return *ret_fd < 0 ? *ret_fd : memfd_map(*ret_fd, bytes, writes, ret);
}

/*
 * The process can write the pages of GPU-direct requests, though it has no need to: not every
 * driver registers memory that a process may only read.  quoitd reads nothing there.
 */
static int make_all_pages(struct executor_process *p, uint32_t channels, int fds[PAGES])
{
	uint64_t words = QUOIT_EXEC_DIRECT_AT(sizeof(struct quoit_exec_words) +
					      channels * sizeof(struct quoit_exec_channel));
	void *requests = NULL;
	int err;

	p->daemon_bytes = channels * sizeof(struct quoit_exec_daemon_channel);
	p->exec_bytes = words + channels * sizeof(struct quoit_direct_words);
	p->direct_bytes = channels * sizeof(struct quoit_direct_requests);
	err = make_daemon_pages(p, &fds[0]);
	if (!err)
		err = make_pages("quoit-exec-answers", p->exec_bytes, 0, &fds[1], &p->exec_pages);
	if (!err)
		err = make_pages("quoit-exec-direct", p->direct_bytes, 1, &fds[2], &requests);
	if (err < 0)
		return err;
	p->direct_requests = requests;
	p->direct_words = (const void *)((const uint8_t *)p->exec_pages + words);
	return 0;
}

/* fds: to be sent (all pages, the process's end of each socket). */
static int make_shared(struct executor_process *p, uint32_t channels, int *fds, int *ret_sockets)
{
	int err = make_all_pages(p, channels, fds);

	for (uint32_t i = 0; i < channels && !err; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
			return -errno;
		/* To close a received descriptor may block on its file server. */
		ctl_let_descriptors_pass(pair[0], false);
		ret_sockets[i] = pair[0];
		fds[i + PAGES] = pair[1];
	}
	return err;
}

int executor_process_serve(struct executor_process *p, uint32_t channels, int *ret_sockets)
{
	struct quoit_exec_start start = {.magic = QUOIT_EXEC_MAGIC, .channels = channels};
	int fds[MAX_FDS], err;

	memset(fds, -1, sizeof fds);
	for (uint32_t i = 0; i < channels; i++)
		ret_sockets[i] = -1;
	err = make_shared(p, channels, fds, ret_sockets);
	start.daemon_bytes = p->daemon_bytes;
	start.exec_bytes = p->exec_bytes;
	start.direct_bytes = p->direct_bytes;
	if (!err)
		err = ctl_send_bytes(p->socket, &start, sizeof start, fds, channels + PAGES);
	close_all(fds, channels + PAGES);
	if (err < 0)
		close_all(ret_sockets, channels);
	return err;
}
