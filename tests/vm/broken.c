/* SPDX-License-Identifier: MIT */
/* broken.c - break a page of memory as the machine does, by the kernel's own injection */
#include "broken.h"

#include <errno.h>
#include <quoit.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME    "it"
#define PAGE    4096u
#define SOON_MS 60000 /* the machine is emulated */

static const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 4, PAGE / 4}};

struct party {
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor t;
};

/* make: it is the tensor's maker. */
static bool open_party(struct party *p, const char *socket, bool make)
{
	const struct quoit_open_params params = {.socket = socket};
	int number;

	if (quoit_open(&params, &p->s) < 0 || quoit_open_ring(p->s, NULL, &p->q) < 0)
		return false;
	number = quoit_open_tensor(p->s, NAME, make ? &shape : NULL, NULL);
	p->t = number < 0 ? QUOIT_NO_TENSOR : quoit_attach_tensor(p->q, number);
	return p->t != QUOIT_NO_TENSOR;
}

/*
 * Make it, say so, wait for a word, and break its second page.  The kernel then ends this process,
 * which has asked for that, by SIGBUS.
 */
static int make_and_break(const char *socket, int say, int hear)
{
	struct party p;
	char byte = 0;
	void *at;

	if (!open_party(&p, socket, true) ||
	    quoit_acquire(p.q, p.t, QUOIT_ACCESS_WRITE, SOON_MS, &at) < 0)
		return 1;
	memset(at, 0, 4u * PAGE);
	if (quoit_release_tensor(p.q, p.t) < 0 || write(say, &byte, 1) != 1 ||
	    read(hear, &byte, 1) != 1)
		return 1;
	return madvise((char *)at + PAGE, PAGE, MADV_HWPOISON) < 0 ? errno == EINVAL ? 2 : 1 : 0;
}

static const char *use(const char *socket, pid_t maker, int say, int hear)
{
	struct party p, other;
	int status;
	char byte = 0;

	if (read(hear, &byte, 1) != 1 || !open_party(&p, socket, false))
		return "the tensor cannot be made";
	if (quoit_run(p.q, quoit_fill(p.t, 1), SOON_MS) < 0)
		return "a job fails before there is a reason to";
	if (write(say, &byte, 1) != 1 || waitpid(maker, &status, 0) != maker)
		return "the maker cannot be told";
	if (WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status) == 2 ? BROKEN_NO_KERNEL : "the maker fails";
	if (quoit_run(p.q, quoit_fill(p.t, 2), SOON_MS) != -EFAULT)
		return "a job that writes it does not fail, or quoitd has ended";
	if (quoit_run(p.q, quoit_nop(QUOIT_NO_TENSOR), SOON_MS) < 0)
		return "the session has ended";
	if (!open_party(&other, socket, true))
		return "it cannot be made anew";
	if (quoit_run(other.q, quoit_fill(other.t, 3), SOON_MS) < 0)
		return "a new one fails, too";
	quoit_close(other.s, 0);
	quoit_close(p.s, 0);
	return NULL;
}

const char *broken_tensor_is_survived(const char *socket)
{
	int to[2], from[2];
	pid_t maker;

	if (pipe(to) < 0 || pipe(from) < 0)
		return strerror(errno);
	maker = fork();
	if (!maker)
		_exit(make_and_break(socket, from[1], to[0]));
	close(from[1]);
	return maker < 0 ? strerror(errno) : use(socket, maker, to[1], from[0]);
}
