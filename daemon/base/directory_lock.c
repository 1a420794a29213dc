/* SPDX-License-Identifier: MIT */
/* directory_lock.c - takes the lock of a directory, also from a dead process */
#include "directory_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

#define NAME      "lock"
#define NEW_NAME  "lock.new"
#define TURN_NAME "lock.turn"

/* ---- the holder ---- */

struct holder {
	pid_t pid;
	uint64_t pid_namespace; /* of that number */
	uint64_t start_ticks;   /* since boot: tells processes with the same number apart */
};

static uint64_t our_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 ? 0 : st.st_ino;
}

/* Its state, as a letter, and its start; 0: /proc does not tell. */
static char look_up(pid_t pid, uint64_t *ret_start)
{
	char path[32], line[1024], state = 0, *p = NULL;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof line, f))
		p = strrchr(
			line,
			')'); /* the name may hold anything; field 3 is the state, 22 the start */
	if (p && sscanf(p + 1, " %c", &state) == 1)
		for (int field = 2; p && field < 22; field++)
			p = strchr(p + 1, ' ');
	if (f)
		fclose(f);
	if (!p || sscanf(p, " %" SCNu64, ret_start) != 1)
		return 0;
	return state;
}

/* A zombie shows its state.  A living process that is not dumpable may show nothing. */
bool process_is_dead(pid_t pid)
{
	uint64_t start;
	char state = look_up(pid, &start);

	return state == 'Z' || state == 'X' || (!state && kill(pid, 0) < 0 && errno == ESRCH);
}

static bool holder_is_dead(const struct holder *h)
{
	uint64_t start;

	if (!h->pid || !h->pid_namespace || h->pid_namespace != our_namespace())
		return false;
	if (look_up(h->pid, &start) && start != h->start_ticks)
		return true; /* another process has its number now */
	return process_is_dead(h->pid);
}

static struct holder read_holder(int lock)
{
	struct holder h = {0};
	char text[96] = "";
	int pid = 0;

	if (pread(lock, text, sizeof text - 1, 0) > 0 &&
	    sscanf(text, "%d %" SCNu64 " %" SCNu64, &pid, &h.pid_namespace, &h.start_ticks) == 3)
		h.pid = pid;
	return h;
}

void directory_lock_sign(int lock)
{
	uint64_t start = 0;
	char text[96];
	int n;

	(void)look_up(getpid(), &start);
	n = snprintf(text, sizeof text, "%d %" PRIu64 " %" PRIu64 "\n", (int)getpid(),
		     our_namespace(), start);
	(void)!ftruncate(lock, 0);
	(void)!pwrite(lock, text, (size_t)n, 0);
}

/* ---- taking it ---- */

static int open_locked(int directory, const char *name, int flags)
{
	int fd = openat(directory, name, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600), err;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	err = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
	close(fd);
	return err;
}

static bool is_same_file(int fd, int directory, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(directory, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Put a new file in the dead one's place, unless another quoitd has done so meanwhile. */
static int replace(int directory, int dead)
{
	int own;

	if (!is_same_file(dead, directory, NAME))
		return -EADDRINUSE;
	(void)unlinkat(directory, NEW_NAME, 0); /* of a quoitd that was killed at this point */
	own = open_locked(directory, NEW_NAME, O_EXCL);
	if (own < 0)
		return own;
	directory_lock_sign(own);
	if (renameat(directory, NEW_NAME, directory, NAME) == 0)
		return own;
	close(own);
	return -EADDRINUSE;
}

/* One process at a time: another one that comes meanwhile finds the lock taken. */
static int take_over(int directory, int dead)
{
	int turn = open_locked(directory, TURN_NAME, 0), lock;

	if (turn < 0)
		return turn;
	lock = replace(directory, dead);
	close(turn);
	return lock;
}

int directory_lock(int directory)
{
	int lock = open_locked(directory, NAME, 0), dead, err;
	struct holder h;

	if (lock != -EADDRINUSE)
		return lock;
	dead = openat(directory, NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (dead < 0)
		return -EADDRINUSE;
	h = read_holder(dead);
	err = holder_is_dead(&h) ? take_over(directory, dead) : -EADDRINUSE;
	if (err >= 0)
		log_warning(
			"quoitd of PID %d is dead, and a thread of it still waits for a client in "
			"the kernel: its lock is taken over",
			(int)h.pid);
	close(dead);
	return err < 0 ? -EADDRINUSE : err;
}
