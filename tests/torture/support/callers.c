/* SPDX-License-Identifier: MIT */
/* callers.c - open connections of several users */
#include "callers.h"

#include <unistd.h>

#include "ctl_client.h"

unsigned callers_most(void)
{
	return stage_has_users() ? CALLERS_CAP : CALLERS_CAP - 1;
}

bool caller_connect(struct stage *s, struct raw_client *c, uid_t uid)
{
	return CHECK(s, !ctl_connect_as(c, s->daemon.socket, stage_has_users() ? uid : 0));
}

bool caller_hello(struct stage *s, struct raw_client *c)
{
	struct quoit_ctl m = ctl_hello(), answer;
	bool good = CHECK(s, !ctl_ask(c->socket, &m, -1, &answer)) && CHECK(s, !answer.result);

	c->info = answer.hello_reply;
	return good;
}

bool caller_open(struct stage *s, struct raw_client *c, uid_t uid)
{
	return caller_connect(s, c, uid) && caller_hello(s, c);
}

uint64_t callers_risen(const struct stage *s, uint32_t counter)
{
	return stage_count(s, counter) - s->counted[counter];
}

void callers_await_departures(struct stage *s)
{
	static const uint32_t ways[] = {QUOIT_DAEMON_CLIENTS_LEFT, QUOIT_DAEMON_CLIENTS_DIED};

	for (unsigned i = 0; i < 2; i++)
		for (unsigned ms = 0; ms < 60000; ms++) {
			if (callers_risen(s, ways[i]) >= s->expected[ways[i]] &&
			    callers_risen(s, QUOIT_DAEMON_SESSIONS_CLOSED) ==
				    callers_risen(s, QUOIT_DAEMON_SESSIONS_OPENED))
				break;
			usleep(1000);
		}
}

void callers_play(struct stage *s, const struct stage_case *cases, unsigned count,
		  const struct stage_case *with_users, unsigned users_count)
{
	static const char *const options[] = {"--hello-ms=5000", "--uid-connections=40", NULL};
	const struct stage_scene scene = {.options = options};

	stage_play(s, &scene, cases, count);
	if (stage_has_users())
		stage_play(s, &scene, with_users, users_count);
	else
		stage_skip(s, with_users, users_count, "needs several users");
}

int callers_main(int argc, char **argv, const struct stage_case *cases, unsigned count,
		 const struct stage_case *with_users, unsigned users_count)
{
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 2;
	callers_play(&s, cases, count, with_users, users_count);
	return stage_end(&s);
}
