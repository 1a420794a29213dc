/* SPDX-License-Identifier: MIT */
/* hostile_greed.c - clients that want more than there is */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "stage.h"

#define MIB (UINT64_C(1) << 20)

#define UID_BYTES  (320 * MIB)
#define UID_CLIENT 40u /* connections */
#define UID_RINGS  48u
static const char *const tight[] = {"--uid-memory=320M", "--uid-connections=40", "--uid-rings=48",
				    NULL};

/* How many of `most` are left beside the canary's one, if it is the same user. */
static unsigned left(unsigned most)
{
	return stage_has_users() ? most : most - 1;
}

/* All that a case was charged comes back; the client's last actions may still be under way. */
static bool returns(const struct stage *s)
{
	uint64_t before = s->counted[QUOIT_DAEMON_HOST_LEASED];

	for (unsigned ms = 0; stage_count(s, QUOIT_DAEMON_HOST_LEASED) != before && ms < 5000; ms++)
		usleep(1000);
	return stage_count(s, QUOIT_DAEMON_HOST_LEASED) == before;
}

static void lease_beyond_everything(struct stage *s)
{
	static const struct {
		struct raw_wish wish;
		int error;
	} rows[] = {
		{{.host_bytes = UINT64_C(1) << 46}, -EDQUOT},
		{{.host_bytes = UINT64_MAX}, -EDQUOT},
		{{.host_bytes = UID_BYTES}, -EDQUOT}, /* its tables are charged in addition */
		{{.host_bytes = MIB, .arena_bytes = 2 * MIB}, -EINVAL},
		{{.host_bytes = MIB, .arena_bytes = UINT64_MAX}, -EINVAL},
		{{.host_bytes = MIB, .arena_bytes = MIB / 2, .pinned_bytes = MIB}, -EINVAL},
		{{.host_bytes = MIB, .arena_bytes = MIB, .pinned_bytes = UINT64_MAX}, -EINVAL},
		{{.host_bytes = MIB, .max_tensors = UINT32_MAX}, -EINVAL},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct raw_client c;

		CHECK(s, raw_open(&c, s->daemon.socket, &rows[i].wish) == rows[i].error);
		CHECK(s, c.text[0]);
		if (rows[i].error == -EDQUOT)
			stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
		stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
	}
}

static void leases_of_one_user_add_up(struct stage *s)
{
	const struct raw_wish share = {.host_bytes = 64 * MIB, .max_tensors = 64};
	struct raw_client c[5];

	for (unsigned i = 0; i < 4; i++)
		CHECK(s, stage_open(s, &c[i], &share));
	CHECK(s, raw_open(&c[4], s->daemon.socket, &share) == -EDQUOT);
	stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
	for (unsigned i = 0; i < 4; i++)
		CHECK(s, stage_leave(s, &c[i]) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void sessions_without_number(struct stage *s)
{
	const struct raw_wish tiny = {.host_bytes = MIB, .arena_bytes = 4096, .max_tensors = 2};
	static struct raw_client c[UID_CLIENT + 1];
	unsigned refused = 0, open = 0;

	for (unsigned n = 0; n < stage_times(s, 200, 100000) && !s->bad; n++)
		if (open > UID_CLIENT || raw_open(&c[open], s->daemon.socket, &tiny))
			refused++;
		else
			open++;
	CHECK(s, open == left(UID_CLIENT));
	stage_expect(s, QUOIT_DAEMON_REFUSED_CONNECTIONS, refused);
	for (unsigned i = 0; i < open; i++)
		CHECK(s, stage_leave(s, &c[i]) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* A reactor has few ring slots, and small rings cost almost nothing else. */
static void slots_without_number(struct stage *s)
{
	const struct raw_wish wish = {.host_bytes = MIB, .max_tensors = 64};
	struct raw_client c, more;
	unsigned rings = 0;

	if (!stage_open(s, &c, &wish))
		return;
	while (rings <= UID_RINGS && !raw_ring_open(&c, 8, 8, 0))
		rings++;
	CHECK(s, rings == left(UID_RINGS));
	CHECK(s, strstr(c.text, "cannot open 1 rings: this user has 0 left of 48"));
	if (stage_open(s, &more, &wish)) { /* in another session the same limit holds */
		CHECK(s, raw_ring_open(&more, 8, 8, 0) == -EDQUOT);
		CHECK(s, stage_leave(s, &more) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	CHECK(s, returns(s));
	if (stage_open(s, &c, &wish)) {
		CHECK(s, !raw_ring_open(&c, 8, 8, 0));
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	stage_expect(s, QUOIT_DAEMON_REFUSED_RINGS, 2);
}

/* A session's cost in addition to its lease is charged to its user, too. */
static void tables_without_measure(struct stage *s)
{
	const struct raw_wish wish = {.host_bytes = MIB, .arena_bytes = 4096, .max_tensors = 65536};
	static struct raw_client c[UID_CLIENT];
	unsigned open = 0;

	while (open < UID_CLIENT - 1 && !raw_open(&c[open], s->daemon.socket, &wish))
		open++;
	CHECK(s, open > 0 && open < UID_BYTES / (10 * MIB)); /* each has 17 MiB of tables */
	stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
	for (unsigned i = 0; i < open; i++)
		CHECK(s, stage_leave(s, &c[i]) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* The pages of rings are charged like everything else that stays in memory. */
static void rings_without_measure(struct stage *s)
{
	const struct raw_wish ordinary = {.host_bytes = MIB};
	struct raw_client c;
	struct census now;
	unsigned rings = 0;
	int err = 0;

	if (!stage_open(s, &c, &ordinary))
		return;
	while (!err && rings < QUOIT_MAX_RINGS) {
		err = raw_ring_open(&c, QUOIT_MAX_ENTRIES, 2 * QUOIT_MAX_ENTRIES,
				    QUOIT_RING_STAMPS);
		rings += !err;
	}
	census_take(s->daemon.pid, &now);
	CHECK(s, err == -EDQUOT && strstr(c.text, "the rings need"));
	CHECK(s, rings > 0 && rings * (uint64_t)c.layout.daemon_bytes <= UID_BYTES);
	CHECK(s, now.shared == UINT64_MAX || now.shared - s->before.shared <= UID_BYTES);
	stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	CHECK(s, returns(s));
}

static const struct stage_case cases[] = {
	{"lease beyond everything", lease_beyond_everything},
	{"leases of one user add up", leases_of_one_user_add_up},
	{"sessions without number", sessions_without_number},
	{"slots without number", slots_without_number},
	{"tables without measure", tables_without_measure},
	{"rings without measure", rings_without_measure},
};

int main(int argc, char **argv)
{
	const struct stage_scene scene = {.options = tight};

	return stage_main(argc, argv, &scene, cases, sizeof cases / sizeof cases[0]);
}
