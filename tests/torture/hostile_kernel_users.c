/* SPDX-License-Identifier: MIT */
/* hostile_kernel_users.c - users bring kernels, beside each other; for root only */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bringer.h"
#include "config/config.h"
#include "scenes.h"

#define PATIENCE_MS 60000

/* Far more than a process needs for an answer, and far less than a silent one is allowed. */
#ifdef QUOIT_SANITIZE
#define AT_ONCE_S 40
#else
#define AT_ONCE_S 4
#endif

/* A user's image, with a kernel that takes time, and one that reads an address without memory. */
struct user {
	struct raw_client raw;
	uint32_t spin, bad;
};

static bool enter(struct stage *s, struct user *u, uid_t uid)
{
	const struct quoit_kernel_arg nowhere = {
		.kind = QUOIT_ARG_CONSTANT, .bytes = 8, .value = 64};
	const struct quoit_kernel_arg many = {
		.kind = QUOIT_ARG_CONSTANT, .bytes = 4, .value = 1000};
	const struct quoit_kernel_desc bad = {.name = "stencil5",
					      .grid = {1, 1, 1},
					      .block = {1, 1, 1},
					      .access = "W---",
					      .args = 4,
					      .arg = {nowhere, nowhere, many, many}};
	uint32_t image = 0;

	return bringer_open(s, &u->raw, uid) && CHECK(s, !bringer_load(s, &u->raw, &image)) &&
	       CHECK(s, !bringer_add(s, &u->raw, image, &bringer_good, &u->spin)) &&
	       CHECK(s, !bringer_add(s, &u->raw, image, &bad, &u->bad)) &&
	       CHECK(s, !bringer_launch(&u->raw, u->spin, 1));
}

static bool submit_spin(struct user *u, uint64_t ns)
{
	struct quoit_sqe sqe = {
		.opcode = QUOIT_OP_LAUNCH, .arg = (uint8_t)u->spin, .tensor = {1}, .scalar = {ns}};

	return raw_submit(&u->raw, &sqe);
}

/* Alice's faults and deadlines, while a job of Bob's is under way. */
static void a_users_faults_are_its_own(struct stage *s)
{
	const struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, 1, 0, 0);
	static struct user alice, bob;
	struct quoit_cqe cqe;
	pid_t process, mine;

	if (!enter(s, &alice, SCENE_ALICE) || !enter(s, &bob, SCENE_BOB))
		return;
	process = bringer_await_process(s, SCENE_BOB, 0);
	mine = bringer_await_process(s, SCENE_ALICE, 0);
	CHECK(s, process != mine);
	for (unsigned i = 0; i < stage_times(s, 4, 100) && !s->bad; i++) {
		struct quoit_sqe endless = {.opcode = QUOIT_OP_LAUNCH,
					    .arg = (uint8_t)alice.spin,
					    .tensor = {2},
					    .deadline = 20000,
					    .scalar = {UINT64_MAX}};
		struct quoit_sqe create = raw_vector(2, 16, RAW_ARENA_NOT);
		int res;

		create.device = 1;
		CHECK(s, !raw_run(&alice.raw, fill)); /* quoitd ends a process that does nothing */
		CHECK(s, submit_spin(&bob, 100000000));
		if (i & 1) {
			(void)raw_run(&alice.raw, create); /* the tensor may exist */
			res = raw_run(&alice.raw, endless);
			CHECK(s, res == -ETIME || res == -QUOIT_EPOISON);
		} else {
			res = bringer_launch(&alice.raw, alice.bad, 0);
			CHECK(s, res == -QUOIT_EGPUFAULT);
		}
		CHECK(s, !raw_reap(&bob.raw, PATIENCE_MS, &cqe, NULL) && !cqe.res);
	}
	CHECK(s, bringer_await_process(s, SCENE_ALICE, mine) != mine);
	CHECK(s, bringer_await_process(s, SCENE_BOB, 0) == process);
	bringer_leave(s, &alice.raw);
	bringer_leave(s, &bob.raw);
	bringer_await_none(s);
}

static void one_user_too_many_is_refused(struct stage *s)
{
	static struct user user[CONFIG_OWN_USERS], late;
	pid_t process;

	for (uid_t i = 0; i < CONFIG_OWN_USERS; i++)
		if (!enter(s, &user[i], SCENE_ALICE + 100 + i))
			return;
	CHECK(s, bringer_hello(s, &late.raw, SCENE_BOB) == -EUSERS);
	CHECK(s, strstr(late.raw.text, "users bring kernels"));
	stage_expect(s, QUOIT_DAEMON_REFUSED_KERNELS, 1);
	ctl_leave(s, &late.raw);
	process = bringer_await_process(s, SCENE_ALICE + 101, 0);
	bringer_leave(s, &user[1].raw);
	/* The slot is free at once, but the next user does not get its process. */
	while (!s->bad && bringer_hello(s, &late.raw, SCENE_BOB) == -EUSERS) {
		stage_expect(s, QUOIT_DAEMON_REFUSED_KERNELS, 1);
		ctl_leave(s, &late.raw);
	}
	stage_die(s, &late.raw);
	if (enter(s, &late, SCENE_BOB)) {
		CHECK(s, bringer_await_process(s, SCENE_BOB, process) != process);
		CHECK(s, kill(process, 0) < 0);
		bringer_leave(s, &late.raw);
	}
	for (unsigned i = 0; i < CONFIG_OWN_USERS; i++)
		if (i != 1)
			bringer_leave(s, &user[i].raw);
	bringer_await_none(s);
}

/* quoitd ends a user's process when it has had no session for a while. */
static void a_user_that_comes_back_waits_for_nothing(struct stage *s)
{
	struct user alice;
	time_t since;

	for (unsigned i = 0; i < stage_times(s, 2, 20) && !s->bad; i++) {
		since = time(NULL);
		if (!enter(s, &alice, SCENE_ALICE))
			return;
		CHECK(s, time(NULL) - since < AT_ONCE_S);
		bringer_leave(s, &alice.raw);
		bringer_await_none(s);
	}
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		{"a user that comes back waits for nothing",
		 a_user_that_comes_back_waits_for_nothing},
		{"a user's faults are its own", a_users_faults_are_its_own},
		{"one user too many is refused", one_user_too_many_is_refused},
	};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	if (stage_has_users())
		bringer_play(&stage, cases, sizeof cases / sizeof cases[0]);
	else
		stage_skip(&stage, cases, sizeof cases / sizeof cases[0],
			   "only root can be several users");
	return stage_end(&stage);
}
