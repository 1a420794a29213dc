/* SPDX-License-Identifier: MIT */
/* share.c - compare users' part of the cores with the part that their shares allow */
#include "share.h"

#include <time.h>
#include <unistd.h>

#include "runtime.h"
#include "sessions.h"
#include "user_sums.h"

#define LOOK_NS 500000000

/* A user's sums; NULL: the user has no session that can be read. */
static const struct user_sum *sum_of(const struct user_sums *sums, uint32_t uid)
{
	for (unsigned i = 0; i < user_sums_count(sums); i++)
		if (user_sums_at(sums, i)->uid == uid)
			return user_sums_at(sums, i);
	return NULL;
}

static double ticks_of(const struct user_sum *one)
{
	return one ? (double)one->counted[QUOIT_SESSION_CORE_TICKS].value : 0;
}

/* Did the user get core time, or have jobs that could have used some? */
static bool is_active(const struct user_sum *one)
{
	return one &&
	       (one->counted[QUOIT_SESSION_CORE_TICKS].value ||
		one->now[QUOIT_SESSION_QUEUED].value || one->now[QUOIT_SESSION_RUNNING].value);
}

static struct reading percent(bool known, double part, double whole)
{
	known &= whole > 0;
	return (struct reading){known, known ? 100 * part / whole : 0};
}

void share_count(const struct user_sums *sums, double span_ns, bool all, struct users_list *users)
{
	double hz = (double)user_sums_tsc_hz(sums), ticks = 0, shares = 0;

	for (size_t i = 0; i < users->count; i++) {
		const struct user_sum *one = sum_of(sums, users->list[i].user.uid);

		ticks += ticks_of(one);
		shares += is_active(one) ? users->list[i].user.share : 0;
	}
	for (size_t i = 0; i < users->count; i++) {
		struct listed *l = &users->list[i];
		const struct user_sum *one = sum_of(sums, l->user.uid);
		bool known = hz > 0 && span_ns > 0 && (one || !l->user.sessions);

		l->got.cores =
			(struct reading){known, known ? ticks_of(one) * 1e9 / hz / span_ns : 0};
		l->got.gets_percent = percent(known && all, ticks_of(one), ticks);
		l->got.may_percent = percent(all && is_active(one), l->user.share, shares);
	}
}

static int take(int directory, struct user_sums **sums, bool *all, uint64_t *ret_ns)
{
	struct sessions s;
	int err = sessions_read(directory, &s);

	*ret_ns = runtime_now_ns();
	*all &= !err && s.daemon_lives && !s.unreadable && !s.damaged;
	if (!err)
		err = user_sums_take(sums, &s, false);
	sessions_free(&s);
	return err;
}

void share_look(const char *socket, struct users_list *users)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	int directory = runtime_open_directory(socket);
	struct user_sums *sums = NULL;
	uint64_t from, to;
	bool all = true;

	if (directory >= 0 && take(directory, &sums, &all, &from) == 0) {
		nanosleep(&pause, NULL);
		if (take(directory, &sums, &all, &to) == 0)
			share_count(sums, (double)(to - from), all, users);
	}
	user_sums_free(sums);
	if (directory >= 0)
		close(directory);
}
