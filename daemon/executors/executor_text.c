/* SPDX-License-Identifier: MIT */
/* executor_text.c - an executor in words */
#include <signal.h>
#include <sys/wait.h>

#include "executor_private.h"
#include "host/log.h"

const char *executor_kind(const struct executor *x)
{
	if (x->own)
		return "a user's own device";
	return x->device ? "device" : "module";
}

void executor_say_refused(struct executor *x, const char *why)
{
	snprintf(x->why, sizeof x->why, "%s", why);
	if (x->device)
		log_info("device %s is left out: %s", x->path, why);
	else
		log_error("module %s is left out: %s", x->path, why);
}

/* ---- how it ended ---- */

static const char *const reasons[] = {
	[KILL_LATE] = "a job had it for too long",
	[KILL_SILENT] = "it did not answer",
	[KILL_HUNG_UP] = "it had hung up",
	[KILL_HELLO] = "what it said at first cannot be used",
	[KILL_UNHEARD] = "it could not be listened to",
	[KILL_RINGS] = "what it wrote of its rings cannot be",
	[KILL_ANSWER] = "it gave an answer that cannot be",
	[KILL_NAME] = "it worked at a job that it does not have",
};

/* Why we ended it, if we did; several reactors may have wanted to. */
static uint32_t reason(const struct executor *x)
{
	uint32_t why = x->ended;

	for (uint32_t i = 0; x->state == EXECUTOR_DYING && !why && i < x->house->reactors; i++)
		why = atomic_load(&x->port[i].killed);
	return WIFSIGNALED(x->status) && WTERMSIG(x->status) == SIGKILL ? why : KILL_NOT;
}

void executor_say_end(const struct executor *x, char *text, size_t size)
{
	uint32_t why = reason(x);

	if (why)
		snprintf(text, size, "quoit-exec was ended: %s", reasons[why]);
	else if (WIFSIGNALED(x->status))
		snprintf(text, size, "quoit-exec ended with signal %d", WTERMSIG(x->status));
	else
		snprintf(text, size, "quoit-exec ended with exit status %d",
			 WEXITSTATUS(x->status));
}

/* ---- what it is ---- */

static void describe_device(const struct quoit_device_info *d, FILE *out)
{
	fprintf(out, "%s%s%s, %llu MiB, %u units%s%s, ", d->name, *d->address ? " at " : "",
		d->address, (unsigned long long)d->bytes >> 20, d->units,
		*d->driver ? ", driver " : "", d->driver);
}

void executor_describe(const struct executor *x, FILE *out)
{
	if (x->own && !x->wanted)
		return;
	if (x->own)
		fprintf(out, "own device of uid %llu: %s, ", (unsigned long long)x->wanted - 1,
			x->path);
	else
		fprintf(out, "%s: %s, ", executor_kind(x), x->path);
	if (x->known && x->device)
		describe_device(&x->hello.device, out);
	if (x->state == EXECUTOR_OMITTED)
		fprintf(out, "left out: %s", x->why);
	else if (x->state == EXECUTOR_UP)
		fprintf(out, "pid %d, started %llu times", (int)x->process.pid,
			(unsigned long long)x->starts);
	else
		fprintf(out, "%s", x->lost ? "lost" : "being started");
	for (uint32_t i = 0; x->known && i < x->hello.count; i++)
		fprintf(out, "%s %s %u", i ? "," : ";", x->hello.op[i].name, x->opcode[i]);
	fprintf(out, "\n");
}
