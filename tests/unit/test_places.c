/* SPDX-License-Identifier: MIT */
/* test_places.c - how many places a session and a user get: at an executor, and for files */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "backend/backend.h"
#include "backend/executor/backend_exec.h"
#include "backend/executor/exec_port.h"
#include "backend/file/backend_io.h"
#include "core_case.h"
#include "job/job.h"
#include "machine/features.h"
#include "memory/memory.h"
#include "reactor/reactor.h"
#include "session/tables.h"

#define ALICE    1001
#define BOB      1002
#define SESSIONS 4 /* the last is Bob's */

static struct reactor *reactor;
static struct user *user[2];
static struct session *session[SESSIONS];

static struct user *user_new(uid_t uid)
{
	struct user *u = aligned_alloc(64, (sizeof *u + sizeof u->tenant[0] + 63) / 64 * 64);

	cr_assert(u);
	memset(u, 0, sizeof *u + sizeof u->tenant[0]);
	u->uid = uid;
	u->share = 1024;
	u->tenant[0].user = u;
	return u;
}

static void open_sessions(void)
{
	reactor = aligned_alloc(64, (sizeof *reactor + 63) / 64 * 64);
	cr_assert(reactor);
	memset(reactor, 0, sizeof *reactor);
	user[0] = user_new(ALICE);
	user[1] = user_new(BOB);
	for (unsigned i = 0; i < SESSIONS; i++) {
		session[i] = core_session(64);
		session[i]->reactor = reactor;
		session[i]->user = user[i == SESSIONS - 1];
		session[i]->uid = session[i]->user->uid;
	}
}

static void close_sessions(void)
{
	for (unsigned i = 0; i < SESSIONS; i++)
		core_session_free(session[i]);
	free(user[0]);
	free(user[1]);
	free(reactor);
}

/* ---- an executor ---- */

static struct exec_port *port;

static void open_port(void)
{
	open_sessions();
	port = calloc(1, sizeof *port);
	cr_assert(port);
}

static void close_port(void)
{
	free(port);
	close_sessions();
}

TestSuite(places_at_executor, .init = open_port, .fini = close_port);

/* These sessions have jobs that wait for it. */
static void come(const bool who[SESSIONS])
{
	for (unsigned i = 0; i < SESSIONS; i++) {
		struct tenant_part *part = &session[i]->user->tenant[0].part[port->number];

		if (!who[i])
			continue;
		session[i]->exec.jobs[port->number]++;
		if (part->sharers++)
			continue;
		part->share = user_share(session[i]->user);
		port->shares += part->share;
	}
}

/* How many places a session takes until it has its share. */
static unsigned take(struct session *s, bool is_direct)
{
	unsigned n = 0;

	for (; n < QUOIT_EXEC_ENTRIES + QUOIT_DIRECT_ENTRIES && exec_has_share(port, s, is_direct);
	     n++)
		exec_count_flight(port, s, is_direct, 1);
	return n;
}

static void expect_shares(bool is_direct)
{
	unsigned all, some;

	come((const bool[SESSIONS]){true, false, false, false});
	all = take(session[0], is_direct);
	cr_assert_gt(all, 4, "alone, it has all");
	while (session[0]->exec.in_flight[0])
		exec_count_flight(port, session[0], is_direct, -1);
	come((const bool[SESSIONS]){false, true, false, false});
	some = take(session[0], is_direct);
	cr_expect_eq(some, all / 2, "%u of %u: of two sessions of a user, each has half", some,
		     all);
	cr_expect_eq(take(session[1], is_direct), all / 2);
	cr_expect_eq(take(session[0], is_direct), 0);
	come((const bool[SESSIONS]){false, false, false, true});
	cr_expect_eq(take(session[0], is_direct), 0, "it has more than its share now");
	cr_expect_eq(take(session[SESSIONS - 1], is_direct), all / 2,
		     "of two users, each has half");
}

Test(places_at_executor, of_a_module_are_shared_by_users_and_then_by_their_sessions)
{
	expect_shares(false);
}

Test(places_at_executor, of_a_device_are_shared_alike)
{
	port->device = 1;
	expect_shares(false);
}

Test(places_at_executor, in_gpu_direct_mode_are_shared_alike)
{
	port->device = 1;
	expect_shares(true);
}

Test(places_at_executor, go_by_the_share_of_users)
{
	unsigned alice, bob;

	user[1]->share = 3 * 1024;
	port->device = 1;
	come((const bool[SESSIONS]){true, false, false, true});
	alice = take(session[0], false);
	bob = take(session[SESSIONS - 1], false);
	cr_expect_eq(bob, 3 * alice, "%u, %u", bob, alice);
}

Test(places_at_executor, a_new_session_need_not_wait_for_its_users_others)
{
	port->device = 1;
	come((const bool[SESSIONS]){true, false, false, false});
	(void)take(session[0], false);
	come((const bool[SESSIONS]){false, true, false, false});
	cr_expect(exec_has_share(port, session[1], false));
	exec_count_flight(port, session[1], false, 1);
	cr_expect_not(exec_has_share(port, session[1], false), "one job is enough to be not new");
}

/* ---- files ---- */

static int event, file;
static char path[] = "/tmp/quoit-places-XXXXXX";

static void open_files(void)
{
	struct features features = {0};

	open_sessions();
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	file = mkstemp(path);
	cr_assert(event >= 0 && file >= 0);
	unlink(path);
	cr_assert_eq(io_new(false, &reactor->need_wake, event, &features, &reactor->io), 0);
	for (unsigned i = 0; i < SESSIONS; i++) {
		uint32_t view;

		core_create(session[i], 1, QUOIT_F32, 1, 1, 1, 4);
		view = session_view(session[i], CORE_HANDLE(1));
		cr_assert(memory_take_now(session[i], 1, &view));
		session[i]->files[0] =
			(struct file_slot){.fd = file, .readable = true, .writable = true};
	}
}

/* The transfers end, and no reactor looks at them: the process ends here. */
static void close_files(void)
{
	close(file);
	close(event);
}

TestSuite(places_for_files, .init = open_files, .fini = close_files);

/* Start transfers until no more is let in; returns how many were. */
static unsigned start_all(struct session *s)
{
	unsigned n = 0;

	for (; n < IO_SLOTS; n++) {
		struct job *job = tables_take_job(s);

		cr_assert(job);
		memset(job, 0, sizeof *job);
		job->sqe = (struct quoit_sqe){.opcode = QUOIT_OP_FILE_WRITE};
		job->view[0] = session_view(s, CORE_HANDLE(1));
		if (file_backend.start(reactor, s, job) < 0)
			break;
	}
	return n;
}

Test(places_for_files, a_session_a_user_and_all_together_have_so_many)
{
	cr_expect_eq(start_all(session[0]), IO_SESSION_SLOTS);
	cr_expect_eq(start_all(session[1]), IO_USER_SLOTS - IO_SESSION_SLOTS);
	cr_expect_eq(start_all(session[2]), 0, "its user has all that one may have");
	cr_expect_eq(start_all(session[SESSIONS - 1]), IO_SESSION_SLOTS, "another user has places");
}
