/* SPDX-License-Identifier: MIT */
/*
 * process_pages.c - read figures about processes' pages, without waiting for a process that blocks.
 *
 * The kernel takes the mmap lock of a process before it tells of its pages.  A process can hold its
 * own lock for ever (it lets a page fault wait for a file server of its own), and a reader then
 * waits, too.  So the reading is done by readers: children of this process, since only a separate
 * process can be killed while it waits.  Each reads one process at a time, and one reader does all,
 * unless it must wait:
 *
 *   after SLOW_MS     another reader starts, and the other processes of that user come last;
 *   after LIMIT_MS    from the start of all, processes of such users are not waited for any longer.
 *
 * So a user who delays the readers loses only figures of that user's own processes.
 */
#include "process_private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOW_MS  20
#define LIMIT_MS 600

/* This many users can be slow at a time, and the others still need not wait for the limit. */
#define READERS_MOST 32u

#define NOBODY SIZE_MAX

enum state { WAITS, IS_READ, IS_DONE };

struct reader {
	pid_t pid;
	int socket;
	size_t reads; /* the index of a process, or NOBODY */
	uint64_t since_ms;
};

struct look {
	struct process *const *list;
	size_t count;
	unsigned needs;
	uint8_t *state; /* enum state of each process */
	bool *is_slow;  /* a process of its user has taken longer than SLOW_MS */
	size_t next;    /* all processes before this one are read, or slow */
	size_t last;    /* all processes before this one are read */
	uint64_t limit_ms;
	struct reader reader[READERS_MOST];
	unsigned readers;
};

/* What a reader has read. */
struct found {
	bool share_known, nodes_known;
	uint64_t share_bytes, node_bytes[PROCESS_NODES];
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- in a reader ---- */

/* A terminal's signals are for the command: our copies of its handlers would restore the screen. */
static void become_reader(pid_t parent)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH, SIGHUP};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++)
		(void)signal(signals[i], SIG_DFL);
}

static void read_them(const struct look *l, int socket)
{
	size_t index;

	while (recv(socket, &index, sizeof index, 0) == sizeof index && index < l->count) {
		struct process p = *l->list[index];
		struct found f = {0};

		process_read_pages(&p, l->needs);
		f.share_known = p.share_known;
		f.share_bytes = p.share_bytes;
		f.nodes_known = p.nodes_known;
		memcpy(f.node_bytes, p.node_bytes, sizeof f.node_bytes);
		if (send(socket, &f, sizeof f, MSG_NOSIGNAL) != sizeof f)
			return;
	}
}

/* ---- readers ---- */

/* Readers that were killed but had not ended: a later look reaps them. */
static pid_t dying[4 * READERS_MOST];

static void bury(pid_t pid)
{
	for (unsigned i = 0; i < sizeof dying / sizeof dying[0]; i++) {
		if (dying[i] && waitpid(dying[i], NULL, WNOHANG) != 0)
			dying[i] = 0;
		if (!dying[i] && pid && waitpid(pid, NULL, WNOHANG) == 0) {
			dying[i] = pid;
			pid = 0;
		}
	}
}

static struct reader *start_reader(struct look *l)
{
	struct reader *r = &l->reader[l->readers];
	pid_t parent = getpid();
	int ends[2];

	if (l->readers == READERS_MOST ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return NULL;
	*r = (struct reader){.socket = ends[0], .reads = NOBODY, .pid = fork()};
	if (r->pid == 0) {
		become_reader(parent);
		/* otherwise the readers would never see the end */
		for (unsigned i = 0; i <= l->readers; i++)
			close(l->reader[i].socket);
		read_them(l, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (r->pid < 0) {
		close(ends[0]);
		return NULL;
	}
	l->readers++;
	return r;
}

static void end_reader(struct look *l, struct reader *r)
{
	(void)kill(r->pid, SIGKILL);
	close(r->socket);
	bury(r->pid);
	if (r->reads != NOBODY)
		l->state[r->reads] = IS_DONE;
	*r = l->reader[--l->readers];
}

/* ---- which process is next ---- */

/* The next process to read; those of slow users come last.  NOBODY: there is none. */
static size_t choose(struct look *l)
{
	while (l->next < l->count && (l->state[l->next] != WAITS || l->is_slow[l->next]))
		l->next++;
	if (l->next < l->count)
		return l->next;
	while (l->last < l->count && l->state[l->last] != WAITS)
		l->last++;
	return l->last < l->count ? l->last : NOBODY;
}

static void hand_out(struct look *l, struct reader *r, size_t index)
{
	r->reads = index;
	r->since_ms = now_ms();
	l->state[index] = IS_READ;
	if (send(r->socket, &index, sizeof index, MSG_NOSIGNAL) != sizeof index)
		end_reader(l, r);
}

/* Give it to the first idle reader; start a new one if all readers wait for slow processes. */
static void hand_out_more(struct look *l)
{
	size_t index = choose(l);
	struct reader *idle = NULL;

	if (index == NOBODY)
		return;
	for (unsigned i = 0; i < l->readers; i++) {
		if (l->reader[i].reads == NOBODY)
			idle = &l->reader[i];
		else if (!l->is_slow[l->reader[i].reads])
			return;
	}
	if (!idle)
		idle = start_reader(l);
	if (idle)
		hand_out(l, idle, index);
	else if (!l->readers)
		/* no reader can be started: nothing is known of this process */
		l->state[index] = IS_DONE;
}

/* ---- slow users ---- */

static void call_slow(struct look *l, uint32_t uid)
{
	for (size_t i = 0; i < l->count; i++)
		l->is_slow[i] |= l->list[i]->uid == uid;
}

/* Stop waiting for processes of slow users. */
static void give_up_slow(struct look *l)
{
	for (unsigned i = l->readers; i-- > 0;)
		if (l->reader[i].reads != NOBODY && l->is_slow[l->reader[i].reads])
			end_reader(l, &l->reader[i]);
	for (size_t i = 0; i < l->count; i++)
		if (l->is_slow[i] && l->state[i] == WAITS)
			l->state[i] = IS_DONE;
}

/*
 * The milliseconds during which only a reader's answer changes anything; -1: nothing is left to
 * read.
 */
static int judge(struct look *l)
{
	uint64_t now = now_ms(), until = UINT64_MAX;

	for (unsigned i = 0; i < l->readers; i++) {
		const struct reader *r = &l->reader[i];

		if (r->reads != NOBODY && now >= r->since_ms + SLOW_MS && !l->is_slow[r->reads])
			call_slow(l, l->list[r->reads]->uid);
	}
	if (now >= l->limit_ms)
		give_up_slow(l);
	hand_out_more(l);
	for (unsigned i = 0; i < l->readers; i++) {
		const struct reader *r = &l->reader[i];
		uint64_t end = l->limit_ms;

		if (r->reads == NOBODY)
			continue;
		if (!l->is_slow[r->reads])
			end = r->since_ms + SLOW_MS;
		until = end < until ? end : until;
	}
	if (until == UINT64_MAX)
		return choose(l) == NOBODY ? -1 : 0;
	return until > now ? (int)(until - now) : 0;
}

/* ---- answers ---- */

static void take(struct look *l, struct reader *r)
{
	struct process *p = l->list[r->reads];
	struct found f;

	if (recv(r->socket, &f, sizeof f, MSG_DONTWAIT) != sizeof f) {
		end_reader(l, r);
		return;
	}
	p->share_known = f.share_known;
	p->share_bytes = f.share_bytes;
	p->nodes_known = f.nodes_known;
	memcpy(p->node_bytes, f.node_bytes, sizeof p->node_bytes);
	l->state[r->reads] = IS_DONE;
	r->reads = NOBODY;
}

static void await_answers(struct look *l, int ms)
{
	struct pollfd answers[READERS_MOST];

	for (unsigned i = 0; i < l->readers; i++)
		answers[i] = (struct pollfd){
			.fd = l->reader[i].reads != NOBODY ? l->reader[i].socket : -1,
			.events = POLLIN};
	if (poll(answers, l->readers, ms) <= 0)
		return;
	/* the last reader takes the place of one that has ended */
	for (unsigned i = l->readers; i-- > 0;)
		if (answers[i].revents)
			take(l, &l->reader[i]);
}

void process_pages_look(struct process *const *list, size_t count, unsigned needs)
{
	struct look *l = calloc(1, sizeof *l);
	int ms;

	if (!l)
		return;
	*l = (struct look){.list = list,
			   .count = count,
			   .needs = needs,
			   .state = calloc(count + 1, sizeof *l->state),
			   .is_slow = calloc(count + 1, sizeof *l->is_slow),
			   .limit_ms = now_ms() + LIMIT_MS};
	if (l->state && l->is_slow) {
		for (size_t i = 0; i < count; i++)
			if (!list[i]->known)
				l->state[i] = IS_DONE;
		while ((ms = judge(l)) >= 0)
			await_answers(l, ms);
		while (l->readers)
			end_reader(l, &l->reader[l->readers - 1]);
	}
	free(l->state);
	free(l->is_slow);
	free(l);
}
