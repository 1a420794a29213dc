/* SPDX-License-Identifier: MIT */
/* launcher_end.c - end the process on a sticky error, and say which job caused it, and why */
#include "launcher_end.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher_direct.h"
#include "launcher_private.h"

static uint64_t name_of(const struct launcher *l, const struct flight *f)
{
	return channel_name(flight_channel(l, f), f->q.id);
}

/* The driver may know which flight caused it; and if only one was in flight, that one did. */
static uint64_t find_culprit(struct launcher *l)
{
	const struct quoit_device_verdict *verdict = NULL;
	uint64_t only = 0;
	uint32_t open;

	(void)l->driver->health(l->device, &verdict);
	open = l->open + direct_count(l, &only);
	if (open != 1)
		only = 0;
	for (uint32_t i = 0; i < l->flights; i++) {
		if (!l->flight[i].serial)
			continue;
		if (verdict == &l->shared->flight[i].verdict || open == 1)
			only = name_of(l, &l->flight[i]);
	}
	return only;
}

static const char *words_for(int err)
{
	switch (err) {
	case -QUOIT_EGPUFAULT:
		return "a job or kernel has broken the device's context";
	case -QUOIT_EDEVLOST:
		return "the device is lost";
	default:
		return strerror(-err);
	}
}

void launcher_say_why(struct launcher *l, const char *doing, int err)
{
	struct quoit_exec_words *words = l->channels->words;
	const char *why = l->driver->why(l->device, err);

	snprintf(words->why, sizeof words->why, "%s%s", doing, why ? why : words_for(err));
}

int launcher_check(struct launcher *l, int result)
{
	if (result != -QUOIT_EGPUFAULT && result != -QUOIT_EDEVLOST)
		return result;
	l->channels->words->culprit = find_culprit(l);
	launcher_say_why(l, "", result);
	__atomic_store_n(&l->channels->words->fault, result, __ATOMIC_RELEASE);
	/* No destructor of a driver can be trusted now. */
	_exit(1);
}
