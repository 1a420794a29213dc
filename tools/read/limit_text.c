/* SPDX-License-Identifier: MIT */
/* limit_text.c - say what limits a session */
#include <inttypes.h>
#include <stdio.h>

#include "format.h"
#include "limit.h"
#include "services.h"

static const char *const words[] = {
	[LIMIT_UNKNOWN] = "",
	[LIMIT_CLIENT] = "client",
	[LIMIT_FETCH] = "fetch",
	[LIMIT_DATA] = "data",
	[LIMIT_HELD] = "held",
	[LIMIT_MEMORY] = "memory",
	[LIMIT_TURN] = "turn",
	[LIMIT_RUN] = "run",
	[LIMIT_THREADS] = "threads",
	[LIMIT_UNSERVED] = "unserved",
	[LIMIT_LOCK] = "lock",
	[LIMIT_CONDITION] = "condition",
	[LIMIT_FLAG] = "flag",
	[LIMIT_SEMAPHORE] = "semaphore",
	[LIMIT_BARRIER] = "barrier",
	[LIMIT_QUEUE_FULL] = "queue-full",
	[LIMIT_QUEUE_EMPTY] = "queue-empty",
};

const char *limits_word(enum limit by)
{
	return words[by];
}

const char *limits_operation(unsigned operation)
{
	static const char *const names[QUOIT_OP_NR] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help) [nr] = #name,
#include <quoit/ops.def>
#undef QUOIT_OP
	};

	if (operation >= QUOIT_OP_MODULE_FIRST && operation <= QUOIT_OP_MODULE_LAST)
		return "of a module";
	return names[operation] ? names[operation] : "(none)";
}

/* ---- the first sentence ---- */

/* " (3 of 3 busy, 17 calls wait)", as far as we may know that. */
static void threads_text(const struct limits *l, char *ret, size_t size)
{
	const uint32_t lanes = l->named.lanes, running = l->asked.running;
	const uint32_t ahead =
		running > lanes ? running - lanes : 0; /* in the process, of their turn */

	if (l->asked.known)
		snprintf(ret, size, " (%" PRIu32 " of %" PRIu32 " busy, %" PRIu32 " calls wait)",
			 running - ahead, lanes, l->asked.waiting + ahead);
	else
		snprintf(ret, size, " (%" PRIu32 "; %" PRIu32 " calls of the session wait)", lanes,
			 l->named.jobs);
}

static void named_text(const struct limits *l, char *ret, size_t size)
{
	static const char *const formats[] = {
		[LIMIT_THREADS] =
			"waits for the service %s, which has too few threads%s, for %.0f%%",
		[LIMIT_UNSERVED] = "waits for the service %s, which nobody serves%s, for %.0f%%",
		[LIMIT_LOCK] = "waits for the lock %s%s for %.0f%%",
		[LIMIT_CONDITION] = "waits for a condition of the lock %s%s for %.0f%%",
		[LIMIT_FLAG] = "waits for the flag %s%s for %.0f%%",
		[LIMIT_SEMAPHORE] = "waits for the semaphore %s%s for %.0f%%",
		[LIMIT_BARRIER] = "waits for others at the barrier %s%s for %.0f%%",
		[LIMIT_QUEUE_FULL] = "waits for room in the queue %s, which is full%s, for %.0f%%",
		[LIMIT_QUEUE_EMPTY] =
			"waits for messages of the queue %s, which is empty%s, for %.0f%%",
	};
	struct quoit_service_reply named = {.uid = l->named.uid};
	char name[SERVICES_NAME_BYTES], more[80] = "";
	int n;

	snprintf(named.name, sizeof named.name, "%.31s", l->named.name);
	services_name(&named, name);
	if (l->by == LIMIT_THREADS)
		threads_text(l, more, sizeof more);
	else if (l->by == LIMIT_LOCK && l->asked.known && l->asked.holder)
		snprintf(more, sizeof more, " of PID %" PRIu32, l->asked.holder);
	n = snprintf(ret, size, formats[l->by], name, more, l->percent);
	if (n > 0 && (size_t)n < size)
		snprintf(ret + n, size - (size_t)n, " of the time");
}

void limits_text(const struct limits *limits, char *ret, size_t size)
{
	static const char *const formats[] = {
		[LIMIT_UNKNOWN] = "not known: no job was timed",
		[LIMIT_CLIENT] = "the client: it has no job open for %.0f%% of the time",
		[LIMIT_FETCH] = "fetching: SQEs spend %.0f%% of their time in the ring",
		[LIMIT_DATA] =
			"data: jobs wait %.0f%% of their time for data that other jobs write",
		[LIMIT_MEMORY] = "memory: jobs wait %.0f%% of their time for memory",
		[LIMIT_TURN] = "cores or devices: jobs wait %.0f%% of their time for one",
		[LIMIT_RUN] = "work: jobs run %.0f%% of their time",
	};

	char site[4 * sizeof limits->site];

	if (limits->by >= LIMIT_THREADS) {
		named_text(limits, ret, size);
		return;
	}
	if (limits->by == LIMIT_HELD) {
		format_escape(limits->site, site, sizeof site);
		snprintf(ret, size, "data held by the program at %s for %.0f%% of the time",
			 *site ? site : "(somewhere)", limits->percent);
		return;
	}
	snprintf(ret, size, formats[limits->by], limits->percent);
}

/* ---- the second one ---- */

static void detail_memory(const struct limits *limits, const struct counters_session *s, char *ret,
			  size_t size)
{
	struct counter used = s->value[QUOIT_SESSION_HOST_USED];
	struct counter lease = s->value[QUOIT_SESSION_HOST_LEASE];
	char used_text[16], lease_text[16];

	if (!used.known || !lease.known || limits->memory_percent < 0)
		return;
	format_bytes(used.value, used_text, sizeof used_text);
	format_bytes(lease.value, lease_text, sizeof lease_text);
	snprintf(ret, size, "%s of %s on the host are in use; some job waited %.0f%% of the time",
		 used_text, lease_text, limits->memory_percent);
}

static const char *advice(enum limit by)
{
	static const char *const texts[] = {
		[LIMIT_THREADS] =
			"give it more threads or processes, or call it for more at a time",
		[LIMIT_UNSERVED] = "start a process that serves it",
		[LIMIT_LOCK] = "hold it for less time, or split what it protects",
		[LIMIT_CONDITION] = "whoever is to notify it is late",
		[LIMIT_FLAG] = "whoever is to set it is late",
		[LIMIT_SEMAPHORE] = "take less of it, give it back earlier, or make it larger",
		[LIMIT_BARRIER] = "the last one that arrives holds up all",
		[LIMIT_QUEUE_FULL] = "its receivers are slower than its senders: have more of them",
		[LIMIT_QUEUE_EMPTY] =
			"its senders are slower than its receivers: have more of them",
	};

	return texts[by];
}

void limits_detail(const struct limits *limits, const struct counters_session *s, char *ret,
		   size_t size)
{
	*ret = '\0';
	if (limits->by >= LIMIT_THREADS) {
		snprintf(ret, size, "%s", advice(limits->by));
		return;
	}
	if (limits->by == LIMIT_MEMORY)
		detail_memory(limits, s, ret, size);
	else if (limits->by == LIMIT_FETCH)
		snprintf(ret, size, "the reactor is busy, tables are full, or CQEs are not reaped");
	else if (limits->by == LIMIT_HELD)
		snprintf(ret, size, "release it before other work, or acquire it later");
	else if (limits->by >= LIMIT_DATA && limits->operation < QUOIT_OP_NR)
		snprintf(ret, size, "of what ran, %s took %.0f%%",
			 limits_operation(limits->operation), limits->operation_percent);
}
