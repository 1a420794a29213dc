/* SPDX-License-Identifier: MIT */
/*
 * hostile_service_requests.c - odd names, modes and numbers in what is asked about services: case
 * 104 of the threat model
 *
 * After each case a new server and a new caller must work, besides what the stage looks at.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl_client.h"
#include "odd_names.h"
#include "serving.h"

/* ---- SERVE ---- */

static void serve_with_odd_words(struct stage *s)
{
	static const struct {
		uint32_t mode, gid;
		int err;
	} row[] = {
		{2, 0, -EINVAL},
		{4, 0, -EINVAL},
		{0777, 0, -EINVAL},
		{UINT32_MAX, 0, -EINVAL},
		{0, 1, -EINVAL},
		{QUOIT_SERVE_OTHERS, 1, -EINVAL},
		{0, UINT32_MAX, -EINVAL},
		{QUOIT_SERVE_GROUP, UINT32_MAX, -EPERM},
		{QUOIT_SERVE_GROUP, 4000003, -EPERM},
	};
	static const uint32_t rings[] = {0, 2, 63, 64, 256, UINT32_MAX};
	struct serving v;

	if (!serving_open(s, &v, "WR--"))
		return;
	for (unsigned i = 0; i < BAD_NAMES; i++) {
		CHECK(s, serving_ask(&v.c, bad_names[i], v.team.ring, 0, 0) == -EINVAL);
		CHECK(s, is_plain(v.c.text));
	}
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++)
		CHECK(s, serving_ask(&v.c, good_names[0], v.team.ring, row[i].mode, row[i].gid) ==
				 row[i].err);
	for (unsigned i = 0; i < sizeof rings / sizeof *rings; i++)
		CHECK(s, serving_ask(&v.c, good_names[0], rings[i], 0, 0) == -EBADF);
	/* after all of that the ring can still serve, once */
	CHECK(s, !serving_ask(&v.c, good_names[0], v.team.ring, QUOIT_SERVE_OTHERS, 0));
	CHECK(s, serving_ask(&v.c, good_names[0], v.team.ring, 0, 0) == -EBUSY);
	CHECK(s, serving_ask(&v.c, good_names[1], v.team.ring, 0, 0) == -EBUSY);
	CHECK(s, serving_add(&v, "g", "----") == -EBUSY);
	serving_leave(s, &v);
	serving_afresh(s);
}

static void rings_that_cannot_serve(struct stage *s)
{
	static const char name[QUOIT_NAME_BYTES] = "rings";
	struct serving v;

	if (!serving_open(s, &v, "WR--"))
		return;
	CHECK(s, !raw_ring_open(&v.team, 8, 64, QUOIT_RING_CALLS)); /* without functions */
	CHECK(s, serving_ask(&v.c, name, v.team.ring, 0, 0) == -EBADF);
	CHECK(s, !raw_ring_open(&v.team, 8, 16, QUOIT_RING_CALLS));
	CHECK(s, !serving_add(&v, "f", "WR--"));
	CHECK(s, serving_ask(&v.c, name, v.team.ring, 0, 0) == -EINVAL); /* with a small CQ */
	serving_leave(s, &v);
	serving_afresh(s);
}

/* A service has its functions in their order; a later server may have more. */
static void functions_that_do_not_fit_the_service(struct stage *s)
{
	static const char name[QUOIT_NAME_BYTES] = "functions", f[QUOIT_NAME_BYTES] = "f",
			  g[QUOIT_NAME_BYTES] = "g";
	struct serving first, second;
	struct calling k;
	uint8_t number;

	if (!serving_begin(s, &first, name) || !serving_open(s, &second, "WRR-"))
		return;
	CHECK(s, serving_ask(&second.c, name, second.team.ring, 0, 0) == -EINVAL);
	CHECK(s, is_plain(second.c.text));
	/* the ring is as it was, and serves something else */
	CHECK(s, !serving_add(&second, "h", "----"));
	CHECK(s, !serving_ask(&second.c, good_names[2], second.team.ring, 0, 0));
	serving_leave(s, &second);
	if (!serving_open(s, &second, "WR--") || !calling_open(s, &k, name, 0))
		return;
	CHECK(s, calling_find(&k.c, k.service, g, &number) == -ENOENT);
	CHECK(s, !serving_add(&second, "g", "----"));
	CHECK(s, !serving_ask(&second.c, name, second.team.ring, 0, 0));
	CHECK(s, !calling_find(&k.c, k.service, f, &number) && number == 0);
	CHECK(s, !calling_find(&k.c, k.service, g, &number) && number == 1);
	serving_leave(s, &first);
	calling_try(s, &k, &second);
	if (!serving_open(s, &first, "WR--"))
		return;
	CHECK(s, serving_ask(&first.c, name, first.team.ring, 0, 0) == -EINVAL); /* fewer */
	serving_leave(s, &first);
	CHECK(s, stage_leave(s, &k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	serving_leave(s, &second);
	serving_afresh(s);
}

/* ---- SERVICE ---- */

static void names_to_look_up(struct stage *s)
{
	struct serving v[GOOD_NAMES];
	struct raw_client c;
	uint32_t number;

	for (unsigned i = 0; i < GOOD_NAMES; i++) {
		if (!serving_open(s, &v[i], "WR--"))
			return;
		CHECK(s, !serving_ask(&v[i].c, good_names[i], v[i].team.ring, 0, 0));
	}
	if (!stage_open(s, &c, &(struct raw_wish){.host_bytes = 1 << 20, .sq_entries = 8}))
		return;
	for (unsigned i = 0; i < BAD_NAMES; i++) {
		CHECK(s,
		      calling_ask(&c, bad_names[i], QUOIT_SERVICE_OWN, 0, 0, &number) == -EINVAL);
		CHECK(s, is_plain(c.text));
	}
	for (unsigned i = 0; i < GOOD_NAMES; i++) {
		CHECK(s, !calling_ask(&c, good_names[i], QUOIT_SERVICE_OWN, 0, 0, &number));
		CHECK(s, number == i);
		CHECK(s, calling_ask(&c, good_names[i], 12345, 0, 0, &number) == -ENOENT);
	}
	CHECK(s, calling_ask(&c, good_names[0], QUOIT_SERVICE_OWN, QUOIT_SERVICE_MOST_MS + 1, 0,
			     &number) == -EINVAL);
	CHECK(s,
	      calling_ask(&c, good_names[0], QUOIT_SERVICE_OWN, 0, UINT32_MAX, &number) == -EINVAL);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	for (unsigned i = 0; i < GOOD_NAMES; i++)
		serving_leave(s, &v[i]);
	serving_afresh(s);
}

/* Begin to wait for a service that nobody serves. */
static bool begin_to_wait(struct stage *s, struct raw_client *c)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC,
			      .type = QUOIT_CTL_SERVICE,
			      .service = {.name = "later",
					  .uid = QUOIT_SERVICE_OWN,
					  .wait_ms = QUOIT_SERVICE_MOST_MS,
					  .reply_ms = QUOIT_SERVICE_MOST_MS}};

	return stage_open(s, c, &(struct raw_wish){.host_bytes = 1 << 20, .sq_entries = 8}) &&
	       CHECK(s, !ctl_put(c->socket, &m, sizeof m, NULL, 0));
}

static void clients_that_wait_for_a_service(struct stage *s)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_KILL}, answer;
	struct raw_client c, other, waiting[8];
	struct serving v;

	for (unsigned i = 0; i < stage_times(s, 5, 500) && !s->bad; i++) {
		if (!begin_to_wait(s, &c))
			return;
		usleep(stage_random(s, 1000));
		stage_die(s, &c);
	}
	if (!begin_to_wait(s, &c)) /* another request meanwhile */
		return;
	CHECK(s, !ctl_put(c.socket,
			  &(struct quoit_ctl){.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_SERVICES},
			  sizeof m, NULL, 0));
	ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "before the reply");
	if (!begin_to_wait(s, &c) || !CHECK(s, !raw_connect(&other, s->daemon.socket)))
		return;
	m.end.session = c.info.session;
	CHECK(s, !raw_call_with(&other, &m, -1, NULL));
	ctl_leave(s, &other);
	ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_ASKED, "");
	for (unsigned i = 0; i < 8; i++)
		if (!begin_to_wait(s, &waiting[i]))
			return;
	usleep(10000);
	if (!serving_begin(s, &v, "later"))
		return;
	for (unsigned i = 0; i < 8; i++) {
		CHECK(s, !ctl_get(waiting[i].socket, &answer) && !answer.result);
		CHECK(s, stage_leave(s, &waiting[i]) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	serving_leave(s, &v);
	serving_afresh(s);
}

/* ---- numbers ---- */

static void numbers_that_are_not_there(struct stage *s)
{
	static const uint32_t numbers[] = {1, 63, 64, 192, 256, UINT32_MAX};
	static const char f[QUOIT_NAME_BYTES] = "f";
	struct couple p;
	uint8_t function;

	if (!couple_open(s, &p, 0))
		return;
	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		CHECK(s, calling_find(&p.k.c, numbers[i], f, &function) == -EBADF);
	for (unsigned i = 0; i < BAD_NAMES; i++)
		CHECK(s, calling_find(&p.k.c, p.k.service, bad_names[i], &function) < 0);
	calling_try_other_numbers(s, &p.k.c, calling_call(&p.k, 1));
	for (unsigned i = 1; i < 256; i++) {
		struct quoit_sqe sqe = calling_call(&p.k, 1);

		sqe.function = (uint8_t)i;
		CHECK(s, raw_run(&p.k.c, sqe) == -EINVAL);
	}
	CHECK(s, !calling_close(&p.k.c, p.k.service));
	CHECK(s, calling_close(&p.k.c, p.k.service) == -EBADF);
	CHECK(s, raw_run(&p.k.c, calling_call(&p.k, 1)) == -EINVAL);
	couple_leave(s, &p);
}

/* ---- CALLER ---- */

static int ask_caller(struct raw_client *c, uint32_t ring, uint32_t caller, int *ret_fd)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CALLER, .caller = {.ring = ring, .caller = caller}};

	*ret_fd = -1;
	return raw_call_with(c, &m, -1, ret_fd);
}

static void callers_of_others(struct stage *s)
{
	struct serving_call taken;
	struct couple p;
	struct serving v;
	int fd;

	if (!couple_open(s, &p, 0) || !serving_begin(s, &v, "stranger"))
		return;
	couple_call(s, &p, 1);
	(void)serving_take(s, &p.v, &taken);
	CHECK(s, ask_caller(&v.c, v.team.ring, taken.entry.caller, &fd) == -ENOENT);
	CHECK(s, ask_caller(&p.k.c, p.k.c.ring, taken.entry.caller, &fd) == -ENOENT);
	for (uint32_t ring = 0; ring < 70; ring++)
		for (uint32_t caller = 0; caller < 8; caller++)
			if (ring != p.v.team.ring || caller != taken.entry.caller)
				CHECK(s, ask_caller(&p.v.c, ring, caller, &fd) == -ENOENT);
	CHECK(s, ask_caller(&p.v.c, UINT32_MAX, taken.entry.caller, &fd) == -ENOENT);
	couple_answer(s, &p, serving_answer(taken.id, 0, 0));
	CHECK(s, !calling_result(&p.k));
	serving_leave(s, &v);
	couple_leave(s, &p);
}

static int reopen(int fd)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Neither by this descriptor nor by a new one of the same file. */
static void expect_read_only(struct stage *s, int fd)
{
	CHECK(s, write(fd, "", 1) < 0);
	CHECK(s, ftruncate(fd, 0) < 0);
	CHECK(s, fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) < 0);
	CHECK(s, mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
}

static void server_that_wants_to_write(struct stage *s)
{
	struct serving_call taken;
	struct couple p;
	int fd, other;

	if (!couple_open(s, &p, 0))
		return;
	couple_call(s, &p, 1);
	(void)serving_take(s, &p.v, &taken);
	CHECK(s, !ask_caller(&p.v.c, p.v.team.ring, taken.entry.caller, &fd) && fd >= 0);
	expect_read_only(s, fd);
	other = reopen(fd);
	if (other >= 0)
		expect_read_only(s, other);
	close(other);
	close(fd);
	couple_answer(s, &p, serving_answer(taken.id, 0, 0));
	CHECK(s, !calling_result(&p.k));
	couple_leave(s, &p);
}

/* Each unread reply would keep a descriptor in flight. */
static void server_that_does_not_read_descriptors(struct stage *s)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_CALLER};
	struct serving_call taken;
	struct couple p;

	if (!couple_open(s, &p, 0))
		return;
	couple_call(s, &p, 1);
	(void)serving_take(s, &p.v, &taken);
	m.caller.ring = p.v.team.ring;
	m.caller.caller = taken.entry.caller;
	serving_drop(&p.v);
	ctl_leave_unread(s, &p.v.c, &m);
	CHECK(s, calling_result(&p.k) == -QUOIT_EEXEC);
	CHECK(s, stage_leave(s, &p.k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	serving_afresh(s);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(serve_with_odd_words),
		STAGE_CASE(rings_that_cannot_serve),
		STAGE_CASE(functions_that_do_not_fit_the_service),
		STAGE_CASE(names_to_look_up),
		STAGE_CASE(clients_that_wait_for_a_service),
		STAGE_CASE(numbers_that_are_not_there),
		STAGE_CASE(callers_of_others),
		STAGE_CASE(server_that_wants_to_write),
		STAGE_CASE(server_that_does_not_read_descriptors),
	};

	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof *cases);
}
