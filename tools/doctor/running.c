/* SPDX-License-Identifier: MIT */
/* running.c - look at the quoitd of a socket: does it live, does it answer, what it found */
#include "running.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <quoit/ctl.h>

#include "read/counters.h"
#include "read/daemon_state.h"
#include "read/format.h"
#include "read/process.h"

#define ANSWER_MS 1000

/* ---- its files ---- */

static void make_printable(char *text)
{
	for (; *text; text++)
		if ((*text < ' ' || *text > '~') && *text != '\n')
			*text = '?';
}

static void take_totals(struct running *r, const struct counters_totals *t)
{
	const struct counter *limit = &t->value[QUOIT_DAEMON_HOST_LIMIT];

	if (process_is_here(t->origin.pid_namespace))
		r->pid = t->origin.daemon_pid;
	(void)daemon_state_differs(t, r->other_version, sizeof r->other_version);
	r->host_limit = limit->known ? limit->value : 0;
	for (unsigned i = 0; i < t->reactors; i++)
		if (t->reactor[i].cpu >= 0)
			numbers_put(&r->reactors, (unsigned)t->reactor[i].cpu);
}

/* Does the quoitd that wrote these files live? */
static bool look_at_files(struct running *r)
{
	int directory = runtime_open_directory(r->socket);
	struct counters_totals totals;
	bool lives = false;
	int64_t n = -1;

	if (directory < 0)
		return false;
	if (counters_read_totals(directory, &totals) == 0)
		lives = runtime_daemon_lives(directory, &totals.origin);
	if (lives)
		take_totals(r, &totals);
	if (lives)
		n = counters_read_file(directory, QUOIT_STATS_TOPOLOGY, r->text,
				       sizeof r->text - 1);
	r->has_text = n >= 0;
	r->text[n < 0 ? 0 : n] = '\0';
	make_printable(r->text);
	close(directory);
	return lives;
}

/* ---- its answer ---- */

/* Ask to end session 0.  Sessions are counted from 1, so this ends none, and any answer will do. */
static int ask(int fd, struct quoit_ctl *ret)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_KILL, .seq = 1};
	ssize_t n;

	/* A quoitd that refuses us has sent its reason and hung up before we ask. */
	if (send(fd, &m, sizeof m, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		return -errno;
	n = recv(fd, ret, sizeof *ret, 0);
	/* the error is about our unread request; quoitd's last message comes next */
	if (n < 0 && errno == ECONNRESET)
		n = recv(fd, ret, sizeof *ret, 0);
	if (n < 0)
		return -errno;
	return n == sizeof *ret && ret->magic == QUOIT_CTL_MAGIC ? 0 : -EPROTO;
}

static enum running_state look_at_answer(struct running *r, int fd)
{
	struct quoit_ctl m;
	int err = ask(fd, &m);

	if (err == -EAGAIN)
		return RUNNING_SILENT;
	if (err)
		return RUNNING_STRANGE;
	if (m.type != QUOIT_CTL_END)
		return RUNNING_WELL;
	m.text[sizeof m.text - 1] = '\0';
	format_escape(m.text, r->refusal, sizeof r->refusal);
	return RUNNING_REFUSES;
}

static void look_once(const char *socket, struct running *ret)
{
	bool lives;
	int fd;

	*ret = (struct running){.state = RUNNING_NOT};
	snprintf(ret->socket, sizeof ret->socket, "%s", socket);
	lives = look_at_files(ret);
	fd = runtime_connect(socket, ANSWER_MS);
	if (fd >= 0) {
		ret->state = look_at_answer(ret, fd);
		close(fd);
	} else if (fd == -EACCES || fd == -EPERM) {
		ret->state = RUNNING_FORBIDDEN;
	} else if (fd == -EPROTOTYPE) { /* another process has a socket of another kind there */
		ret->state = RUNNING_STRANGE;
	} else if (lives || fd == -EAGAIN) {
		ret->state = RUNNING_SILENT;
	} else if (fd == -ECONNREFUSED) {
		ret->state = RUNNING_DEAD;
	}
}

/* quoitd may answer late on a busy machine, or while it starts or ends. */
void running_look(const char *socket, struct running *ret)
{
	const struct timespec pause = {.tv_nsec = 200000000};
	const uint64_t start = runtime_now_ns();

	for (;;) {
		look_once(socket, ret);
		if (ret->state != RUNNING_SILENT ||
		    runtime_now_ns() - start >= RUNNING_PATIENCE_S * UINT64_C(1000000000))
			return;
		nanosleep(&pause, NULL);
	}
}
