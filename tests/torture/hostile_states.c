/* SPDX-License-Identifier: MIT */
/* hostile_states.c - every control message in every state of a connection */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bringer.h"

#define PROTO QUOIT_DAEMON_KILL_PROTO

/*
 * New; with a session; with a request under way; closed.  The last three have a session that has
 * offered kernels: without images, with one image, and with an image that is being loaded.
 */
enum state { NEW, OPEN, PENDING, CLOSED, OFFERED, LOADED, LOADING, STATES };

#define ENDS 1 /* not a result, since no result is positive */

/* The result of each request in each state, or ENDS. */
static const struct move {
	uint16_t type;
	int result[STATES];
} moves[] = {
	{0, {ENDS, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
	{QUOIT_CTL_HELLO, {0, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
	{QUOIT_CTL_ARENA, {ENDS, -EEXIST, ENDS, ENDS, -EEXIST, -EEXIST, ENDS}},
	{QUOIT_CTL_RING_OPEN, {ENDS, -EINVAL, ENDS, ENDS, -EINVAL, -EINVAL, ENDS}},
	{QUOIT_CTL_READY, {ENDS, -EINVAL, ENDS, ENDS, -EINVAL, -EINVAL, ENDS}},
	{QUOIT_CTL_ARENA_MORE, {ENDS, -EINVAL, ENDS, ENDS, -EINVAL, -EINVAL, ENDS}},
	{QUOIT_CTL_RING_CLOSE, {ENDS, -EINVAL, ENDS, ENDS, -EINVAL, -EINVAL, ENDS}},
	{QUOIT_CTL_CANCEL, {ENDS, -EINVAL, ENDS, ENDS, -EINVAL, -EINVAL, ENDS}},
	{QUOIT_CTL_FILE_ADD, {ENDS, -EINVAL, ENDS, ENDS, -EINVAL, -EINVAL, ENDS}},
	{QUOIT_CTL_FILE_REMOVE, {ENDS, -EBADF, ENDS, ENDS, -EBADF, -EBADF, ENDS}},
	{QUOIT_CTL_OP, {ENDS, -ENOENT, ENDS, ENDS, -ENOENT, -ENOENT, ENDS}},
	{QUOIT_CTL_DEVICE, {ENDS, -ENODEV, ENDS, ENDS, -ENODEV, -ENODEV, ENDS}},
	{QUOIT_CTL_IMAGE_ADD, {ENDS, -EPERM, ENDS, ENDS, -EINVAL, -EINVAL, ENDS}},
	{QUOIT_CTL_IMAGE_REMOVE, {ENDS, -EPERM, ENDS, ENDS, -EBADF, 0, ENDS}},
	{QUOIT_CTL_KERNEL_ADD, {ENDS, -EPERM, ENDS, ENDS, -EINVAL, -EINVAL, ENDS}},
	{QUOIT_CTL_FUNCTION_ADD, {ENDS, -EINVAL, ENDS, ENDS, -EINVAL, -EINVAL, ENDS}},
	{QUOIT_CTL_CLOSE, {ENDS, 0, ENDS, ENDS, 0, 0, ENDS}},
	{QUOIT_CTL_KILL, {-ESRCH, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
	{QUOIT_CTL_USER, {0, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
	{QUOIT_CTL_SHARE, {-EPERM, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
	{QUOIT_CTL_END, {ENDS, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
	{QUOIT_CTL_NR, {ENDS, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
	{255, {ENDS, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
	{256 + QUOIT_CTL_HELLO, {ENDS, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
	{UINT16_MAX, {ENDS, ENDS, ENDS, ENDS, ENDS, ENDS, ENDS}},
};

/* ---- reaching a state ---- */

/*
 * Leave a RING_CLOSE that is not answered for some time, because a product of large matrices runs.
 */
static bool leave_a_request_open(struct stage *s, struct raw_client *c)
{
	enum { SIDE = 1536 };
	static const struct raw_wish large = {
		.host_bytes = 64 << 20, .max_tensors = 64, .sq_entries = 8};
	struct quoit_ctl m = ctl_request(QUOIT_CTL_RING_CLOSE);
	struct quoit_sqe gemm = raw_job(QUOIT_OP_GEMM, 1, 2, 3);
	const double one = 1;

	if (!stage_open(s, c, &large))
		return false;
	for (uint32_t handle = 1; handle <= 3; handle++) {
		struct quoit_sqe create = raw_vector(handle, SIDE, RAW_ARENA_NOT);

		create.dim[2] = SIDE;
		CHECK(s, !raw_run(c, create));
	}
	memcpy(&gemm.scalar[0], &one, sizeof one);
	CHECK(s, raw_submit(c, &gemm));
	m.job.ring = c->ring;
	return CHECK(s, !ctl_put(c->socket, &m, sizeof m, NULL, 0));
}

/* The user's process on the device is stopped, and so does not answer. */
static bool leave_an_image_loading(struct stage *s, struct raw_client *c, pid_t *ret_still)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_IMAGE_ADD);
	int fd = bringer_memory("soft", 4, BRINGER_SEALS), err;

	if (!bringer_open(s, c, 0))
		return false;
	*ret_still = bringer_await_process(s, 0, 0);
	CHECK(s, !kill(*ret_still, SIGSTOP));
	m.kernels.of = 1;
	err = ctl_put(c->socket, &m, sizeof m, &fd, 1);
	close(fd);
	return CHECK(s, !err);
}

/* *ret_still: a stopped process, which the caller must continue. */
static bool reach(struct stage *s, struct raw_client *c, enum state state, pid_t *ret_still)
{
	static const struct raw_wish small = {
		.host_bytes = 1 << 20, .arena_bytes = 4096, .max_tensors = 64};
	struct quoit_ctl m = {.type = QUOIT_CTL_CLOSE};
	uint32_t image;
	unsigned count;

	switch (state) {
	case NEW:
		return CHECK(s, !raw_connect(c, s->daemon.socket));
	case PENDING:
		return leave_a_request_open(s, c);
	case OFFERED:
		return bringer_open(s, c, 0);
	case LOADED:
		return bringer_open(s, c, 0) && CHECK(s, !bringer_load(s, c, &image) && !image);
	case LOADING:
		return leave_an_image_loading(s, c, ret_still);
	default:
		return stage_open(s, c, &small) &&
		       (state == OPEN || CHECK(s, !raw_call(c, &m, NULL, 0, &count)));
	}
}

/* ---- a move ---- */

static struct quoit_ctl request(uint16_t type)
{
	struct quoit_ctl m = type == QUOIT_CTL_HELLO ? ctl_hello() : ctl_request(type);

	if (type == QUOIT_CTL_RING_OPEN)
		m.ring_open = (struct quoit_ring_open){8, 0, 0, 1};
	else if (type == QUOIT_CTL_RING_CLOSE || type == QUOIT_CTL_CANCEL)
		m.job.ring = 63;
	return m;
}

static bool brings_a_descriptor(uint16_t type)
{
	return type == QUOIT_CTL_FILE_ADD || type == QUOIT_CTL_IMAGE_ADD ||
	       type == QUOIT_CTL_KERNEL_ADD || type == QUOIT_CTL_ARENA ||
	       type == QUOIT_CTL_RING_OPEN;
}

static void make_move(struct stage *s, struct raw_client *c, const struct move *move,
		      enum state state)
{
	bool busy = (state == PENDING || state == LOADING) && move->result[OPEN] != ENDS;
	struct quoit_ctl m = request(move->type), answer;
	int want = move->result[state], fd = -1;

	if (want == -EPERM && state == NEW && !stage_has_users())
		want = -EINVAL; /* quoitd's own user may set shares, but 0 is not valid */
	if (brings_a_descriptor(move->type))
		fd = c->socket; /* any descriptor that is neither a file nor memory */
	if (want == ENDS) {
		if (state == NEW ? !ctl_put_early(s, c, &m, sizeof m, &fd, fd >= 0)
				 : !CHECK(s, !ctl_put(c->socket, &m, sizeof m, &fd, fd >= 0)))
			return;
		ctl_expect_end(s, c, PROTO,
			       busy ? "before the reply" : "state that does not allow");
		return;
	}
	CHECK(s, !ctl_ask(c->socket, &m, fd, &answer));
	CHECK(s, answer.type == move->type && answer.seq == m.seq && answer.result == want);
	if (state == NEW ? move->type == QUOIT_CTL_HELLO : move->type != QUOIT_CTL_CLOSE)
		stage_die(s, c);
	else
		ctl_leave(s, c);
}

static void check_move(struct stage *s, const struct move *move, enum state state)
{
	struct raw_client c;
	pid_t still = 0;

	if (reach(s, &c, state, &still))
		make_move(s, &c, move, state);
	if (still)
		(void)kill(still, SIGCONT);
}

static void every_message_in_every_state(struct stage *s)
{
	for (unsigned i = 0; i < sizeof moves / sizeof moves[0]; i++)
		for (enum state state = NEW; state < STATES; state++) {
			bool was_bad = s->bad;

			s->bad = false;
			check_move(s, &moves[i], state);
			if (s->bad)
				printf("  type %u in state %u\n", moves[i].type, (unsigned)state);
			s->bad |= was_bad;
		}
	bringer_await_none(s);
}

static const struct stage_case cases[] = {
	{"every message in every state", every_message_in_every_state},
};

int main(int argc, char **argv)
{
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 2;
	bringer_play(&s, cases, sizeof cases / sizeof cases[0]);
	return stage_end(&s);
}
