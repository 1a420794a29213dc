/* SPDX-License-Identifier: MIT */
/* connection_kernels.c - checks the images and kernels that clients hand in */
#include "connection_kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/kernels.h"

/* The most memory of a description's memfd, in blocks of 512 bytes: one huge page, or two. */
#define KERNEL_BLOCKS 8192

/*
 * Is it a memfd that no process can change any more?  This is asked first: only a memfd has seals,
 * and any other file could make quoitd wait for the process that serves it.
 */
static bool is_sealed(int fd)
{
	const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & needed) == needed &&
	       (fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY;
}

static int check_memory(int fd, uint64_t most, struct kernels_ask *ask)
{
	struct stat st;

	if (!is_sealed(fd)) {
		snprintf(ask->text, sizeof ask->text,
			 "expected a memfd that is sealed against writing, growing and shrinking");
		return -EINVAL;
	}
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size <= 0 || (uint64_t)st.st_size > most) {
		snprintf(ask->text, sizeof ask->text,
			 "the memfd has %lld bytes: allowed are 1 to %llu", (long long)st.st_size,
			 (unsigned long long)most);
		return -EFBIG;
	}
	ask->bytes = (uint64_t)st.st_size;
	return 0;
}

static int read_kernel(int fd, struct kernels_ask *ask)
{
	int err = check_memory(fd, sizeof ask->desc, ask);
	struct stat st;

	if (err)
		return err;
	/* Beyond its end there may be any amount of memory, which a close would have to free. */
	if (fstat(fd, &st) < 0 || st.st_blocks > KERNEL_BLOCKS) {
		ask->bytes = 0;
		snprintf(ask->text, sizeof ask->text,
			 "the memfd has memory beyond its end: give it no more than the "
			 "description needs");
		return -EFBIG;
	}
	if (pread(fd, &ask->desc, sizeof ask->desc, 0) != (ssize_t)sizeof ask->desc) {
		snprintf(ask->text, sizeof ask->text,
			 "the memfd is too short: a kernel's description has %zu bytes",
			 sizeof ask->desc);
		return -EINVAL;
	}
	return kernel_check(&ask->desc, ask->text, sizeof ask->text);
}

/* Check what came with the request: 0, or -errno with a text. */
static int look_at(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	struct kernels_ask *ask = &c->kernels_ask;

	if (!c->session->kernels) {
		snprintf(ask->text, sizeof ask->text,
			 "this session may not bring kernels: it did not ask for that when it was "
			 "opened, or there is no device");
		return -EPERM;
	}
	if (m->type == QUOIT_CTL_IMAGE_REMOVE)
		return 0;
	if (!fds->count) {
		snprintf(ask->text, sizeof ask->text,
			 "quoitd has no file descriptor left (its limit: LimitNOFILE= of the unit, "
			 "ulimit -n)");
		return -EMFILE;
	}
	if (m->type == QUOIT_CTL_KERNEL_ADD)
		return read_kernel(fds->fd[0], ask);
	return check_memory(fds->fd[0], QUOIT_MAX_IMAGE_BYTES, ask);
}

void connection_kernels(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	struct kernels_ask *ask = &c->kernels_ask;
	struct mail mail = {.type = MAIL_KERNELS, .session = c->session, .ask = ask};
	int err;

	*ask = (struct kernels_ask){.type = m->type, .of = m->kernels.of, .fd = -1};
	err = look_at(c, m, fds);
	if (!err && m->type == QUOIT_CTL_IMAGE_ADD)
		ask->fd = fds->fd[0];
	else if (ask->bytes && m->type == QUOIT_CTL_KERNEL_ADD)
		close(fds->fd[0]); /* a few bytes of memory: closing cannot block */
	else
		connection_drop_fds(c, fds);
	if (err < 0) {
		connection_reply_result(c, m->type, m->seq, err, "%s", ask->text);
		return;
	}
	c->pending = m->type;
	c->pending_seq = m->seq;
	mailbox_send(&c->control->reactors[c->reactor].inbox, &mail);
}

void connection_answer_kernels(struct connection *c, const struct mail *m)
{
	struct quoit_ctl answer = {.type = c->pending, .seq = c->pending_seq, .result = m->result};

	if (m->ask->fd >= 0) /* the reactor has not taken it over */
		blocking_close(&c->blocking, m->ask->fd);
	c->pending = 0;
	if (c->state == CONNECTION_GONE)
		return;
	answer.kernels.index = m->ask->index;
	memcpy(answer.text, m->ask->text, sizeof answer.text);
	connection_reply(c, &answer, NULL, 0);
}
