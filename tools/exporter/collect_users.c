/* SPDX-License-Identifier: MIT */
/* collect_users.c - write the metrics of users */
#include "collect_users.h"

#include <inttypes.h>
#include <stdio.h>

#include "metrics.h"

static bool counts(const struct metric *m)
{
	return metrics_family(m).type == EXPOSITION_COUNTER;
}

/* The labels of one user. */
struct identity {
	char uid[12];
	struct exposition_label labels[3];
};

static void identify(struct identity *id, const struct user_sum *one)
{
	snprintf(id->uid, sizeof id->uid, "%" PRIu32, one->uid);
	id->labels[0] = (struct exposition_label){"uid", id->uid};
	id->labels[1] = (struct exposition_label){"user", one->name};
	id->labels[2] = (struct exposition_label){0};
}

static void write_sessions(struct exposition *e, const struct user_sums *u)
{
	struct identity id;

	exposition_family(
		e, &(struct exposition_family){
			   .name = "quoit_user_sessions",
			   .type = EXPOSITION_GAUGE,
			   .help = "Open sessions of a user that the exporter may read; a user's "
				   "other figures are of these sessions."});
	for (unsigned i = 0; i < user_sums_count(u); i++) {
		identify(&id, user_sums_at(u, i));
		exposition_count(e, id.labels, user_sums_at(u, i)->sessions);
	}
	exposition_family(
		e, &(struct exposition_family){
			   .name = "quoit_user_sessions_not_counted",
			   .type = EXPOSITION_GAUGE,
			   .help = "Open sessions of users that have no series of their own."});
	exposition_count(e, (struct exposition_label[]){{0}}, user_sums_left_out(u));
}

void collect_users(struct exposition *e, const struct user_sums *u)
{
	struct identity id;

	write_sessions(e, u);
	for (const struct metric *m = metrics; m->help; m++)
		for (unsigned i = 0; m->of == METRIC_OF_USER && i < user_sums_count(u); i++) {
			const struct user_sum *one = user_sums_at(u, i);

			identify(&id, one);
			metrics_write(e, m, id.labels,
				      counts(m) ? one->counted[m->counter] : one->now[m->counter],
				      user_sums_tsc_hz(u));
		}
}
