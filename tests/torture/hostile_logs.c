/* SPDX-License-Identifier: MIT */
/* hostile_logs.c - users make quoitd log more than anyone can read */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "callers.h"
#include "ctl_client.h"

#define PATIENCE_MS 5000

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Send an unknown message: quoitd ends the connection with a line in the log. */
static void offend(struct stage *s, uid_t uid)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_NR);
	struct raw_client c;

	if (!caller_connect(s, &c, uid))
		return;
	CHECK(s, !ctl_put(c.socket, &m, sizeof m, NULL, 0));
	ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "message");
}

static void flood(struct stage *s, uid_t uid, unsigned count)
{
	for (unsigned i = 0; i < count && !s->bad; i++)
		offend(s, uid);
}

static unsigned count_ends(const struct stage *s, uid_t uid, unsigned expected)
{
	char words[64];

	snprintf(words, sizeof words, "uid %u is ended before it had a session", (unsigned)uid);
	return daemon_log_count(&s->daemon, words, expected);
}

/* Lines that are not in the log are counted: none is lost without a trace. */
static void flood_writes_few_lines_and_the_others_are_counted(struct stage *s)
{
	uid_t uid = stage_has_users() ? CALLER_ALICE : getuid();
	unsigned count = stage_times(s, 1000, 100000), lines = 0;
	time_t start = seconds(), took;

	flood(s, uid, count);
	took = seconds() - start;
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		uint64_t left_out = callers_risen(s, QUOIT_DAEMON_LOG_SUPPRESSED);

		lines = count_ends(s, uid, count - (unsigned)left_out);
		if (lines + left_out == count)
			break;
		usleep(1000);
	}
	CHECK(s, lines + callers_risen(s, QUOIT_DAEMON_LOG_SUPPRESSED) == count);
	if (!CHECK(s, lines > 0 && lines <= LOG_BURST * (unsigned)(took + 1)))
		printf("  %u lines of %u in %ld seconds\n", lines, count, (long)took + 1);
}

static void flood_of_one_user_leaves_the_others_their_lines(struct stage *s)
{
	static const uid_t apart[] = {1, 16, 64, 100, 128, 256, 1000, 1024, 4096, 65536};

	for (unsigned i = 0; i < sizeof apart / sizeof apart[0]; i++) {
		flood(s, CALLER_BOB, 3 * LOG_BURST); /* within one second, or two */
		offend(s, CALLER_BOB + apart[i]);
		CHECK(s, count_ends(s, CALLER_BOB + apart[i], 1) == 1);
	}
}

static void log_to_file(const struct daemon *d)
{
	(void)daemon_log_to_file(d);
}

int main(int argc, char **argv)
{
	static const char *const options[] = {"--log=info", NULL};
	static const struct stage_case always[] = {
		{"flood_writes_few_lines_and_the_others_are_counted",
		 flood_writes_few_lines_and_the_others_are_counted},
	};
	static const struct stage_case with_users[] = {
		{"flood_of_one_user_leaves_the_others_their_lines",
		 flood_of_one_user_leaves_the_others_their_lines},
	};
	const struct stage_scene scene = {.options = options, .prepare = log_to_file};
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 2;
	stage_play(&s, &scene, always, 1);
	if (stage_has_users())
		stage_play(&s, &scene, with_users, 1);
	else
		stage_skip(&s, with_users, 1, "needs several users");
	return stage_end(&s);
}
