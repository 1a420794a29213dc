/* SPDX-License-Identifier: MIT */
/*
 * hostile_named_users.c - who may open, read and write a tensor with a name: cases 106 and 114 of
 * the threat model; for root only
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audience.h"
#include "naming.h"

static struct quoit_ctl request(const struct audience_row *row, bool others_read)
{
	struct quoit_ctl m = naming_request("table");

	m.tensor.mode = row->mode;
	m.tensor.gid = row->gid;
	m.tensor.flags = others_read ? QUOIT_SYNC_OTHERS_READ : 0;
	return m;
}

/* Of a session that has it open: what do its jobs do? */
static void use(struct stage *s, struct raw_client *c, uint32_t number, bool writes, float *map)
{
	int fd = naming_memory(c, number);

	CHECK(s, fd >= 0);
	CHECK(s, mmap(NULL, NAMING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	close(fd);
	map[0] = 25;
	CHECK(s, !raw_run(c, naming_create(1, number, NAMING_ELEMENTS)));
	CHECK(s, !raw_run(c, raw_vector(2, NAMING_ELEMENTS, RAW_ARENA_NOT)));
	CHECK(s, !raw_run(c, raw_job(QUOIT_OP_COPY, 2, 1, 0)));
	CHECK(s, raw_run(c, raw_job(QUOIT_OP_FILL, 1, 0, 0)) == (writes ? 0 : -EACCES));
	CHECK(s, map[0] == (writes ? 0 : 25));
	CHECK(s, raw_run(c, raw_job(QUOIT_OP_COPY, 1, 2, 0)) == (writes ? 0 : -EACCES));
	CHECK(s, !raw_run(c, raw_job(QUOIT_OP_COPY, 2, 1, 0)));
}

static void open_it(struct stage *s, enum audience x, bool may_open, bool may_write, uint16_t flags,
		    float *map)
{
	const bool writes = !(flags & QUOIT_SYNC_READ_ONLY);
	const int want = !may_open ? -ENOENT : writes && !may_write ? -EACCES : 0;
	struct raw_client c;
	uint32_t number;

	if (!audience_open(s, x, &c))
		return;
	if (CHECK(s, naming_open(&c, "table", SCENE_MALLORY, flags, &number) == want) && !want)
		use(s, &c, number, writes, map);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void await_gone(struct stage *s)
{
	struct raw_client c;
	uint32_t number;

	if (!audience_open(s, OWN, &c))
		return;
	for (unsigned ms = 0;
	     ms < 20000 && !naming_open(&c, "table", QUOIT_SERVICE_OWN, 0, &number); ms++) {
		CHECK(s, !naming_close(&c, number));
		usleep(1000);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* Every mode, for everybody, for reading and for writing. */
static void who_may_read_and_write(struct stage *s)
{
	for (unsigned i = 0; i < AUDIENCE_ROWS * 2 && !s->bad; i++) {
		const struct audience_row *row = &audience_row[i / 2];
		const bool others_read = i % 2;
		struct raw_client maker;
		uint32_t number;
		float *map;

		audience_become(s, OWN);
		if (!audience_open(s, OWN, &maker) ||
		    !CHECK(s, !naming_make_as(&maker, request(row, others_read), &number, &map)))
			return;
		for (enum audience x = 0; x < AUDIENCE && !s->bad; x++) {
			const bool may_write = !others_read || x == OWN || x == ROOT;

			if (x == SERVICE) /* it opens no session */
				continue;
			open_it(s, x, row->may_use[x], may_write, 0, map);
			open_it(s, x, row->may_use[x], may_write, QUOIT_SYNC_READ_ONLY, map);
		}
		munmap(map, NAMING_BYTES);
		CHECK(s, stage_leave(s, &maker) == QUOIT_DAEMON_CLIENTS_LEFT);
		await_gone(s);
	}
}

/* Nobody makes one in another user's name; one of the same name is another one. */
static void same_name_of_two_users(struct stage *s)
{
	const struct audience_row *all = &audience_row[AUDIENCE_ROWS - 1];
	struct raw_client mallory, alice;
	uint32_t number, theirs;
	float *map, *other;

	if (!audience_open(s, OWN, &mallory) || !audience_open(s, OTHER, &alice))
		return;
	CHECK(s, !naming_make_as(&mallory, request(all, false), &number, &map));
	CHECK(s, !naming_make(&alice, "table", &theirs, &other));
	other[0] = map[0] = 25;
	CHECK(s, !raw_run(&alice, naming_create(1, theirs, NAMING_ELEMENTS)));
	CHECK(s, !raw_run(&alice, raw_job(QUOIT_OP_FILL, 1, 0, 0)));
	CHECK(s, other[0] == 0 && map[0] == 25);
	munmap(map, NAMING_BYTES);
	munmap(other, NAMING_BYTES);
	CHECK(s, stage_leave(s, &mallory) == QUOIT_DAEMON_CLIENTS_LEFT);
	CHECK(s, stage_leave(s, &alice) == QUOIT_DAEMON_CLIENTS_LEFT);
	await_gone(s);
}

/* Rights are those of the moment in which it was opened, and it stays its maker's. */
static void one_whose_maker_goes(struct stage *s)
{
	const struct audience_row *all = &audience_row[AUDIENCE_ROWS - 1];
	struct raw_client mallory, alice, bob;
	uint32_t number, there;
	float *map;

	if (!audience_open(s, OWN, &mallory) || !audience_open(s, OTHER, &alice))
		return;
	CHECK(s, !naming_make_as(&mallory, request(all, true), &number, &map));
	CHECK(s, !naming_open(&alice, "table", SCENE_MALLORY, QUOIT_SYNC_READ_ONLY, &there));
	stage_die(s, &mallory);
	use(s, &alice, there, false, map);
	if (!audience_open(s, MEMBER, &bob))
		return;
	CHECK(s, naming_open(&bob, "table", SCENE_MALLORY, 0, &number) == -EACCES);
	CHECK(s, !naming_open(&bob, "table", SCENE_MALLORY, QUOIT_SYNC_READ_ONLY, &number));
	CHECK(s, stage_leave(s, &alice) == QUOIT_DAEMON_CLIENTS_LEFT);
	CHECK(s, stage_leave(s, &bob) == QUOIT_DAEMON_CLIENTS_LEFT);
	munmap(map, NAMING_BYTES);
	await_gone(s);
}

static const struct stage_case cases[] = {
	STAGE_CASE(who_may_read_and_write),
	STAGE_CASE(same_name_of_two_users),
	STAGE_CASE(one_whose_maker_goes),
};

int main(int argc, char **argv)
{
	static const char *const options[] = {"--reactors=2", NULL};

	return audience_main(argc, argv, options, cases, sizeof cases / sizeof *cases);
}
