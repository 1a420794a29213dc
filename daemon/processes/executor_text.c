/* SPDX-License-Identifier: MIT */
/* executor_text.c - describe an executor in words */
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include "executor_private.h"

void executor_make_name(struct executor *x)
{
	if (x->device)
		snprintf(x->name, sizeof x->name, "%s %u (%s)",
			 x->own ? "a user's own device" : "device", x->device, x->path);
	else
		snprintf(x->name, sizeof x->name, "module %s", x->path);
}

void executor_log(const struct executor *x, enum log_level level, const char *format, ...)
{
	char text[LOG_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (x->own && x->owner)
		log_about(&(struct log_about){.uid = (uint32_t)(x->owner - 1), .level = level},
			  "%s: %s", x->name, text);
	else
		log_printf(level, "%s: %s", x->name, text);
}

void executor_keep_reason(struct executor *x, const char *why)
{
	x->why_is_new |= strcmp(x->why, why) != 0;
	pthread_mutex_lock(&x->why_lock);
	snprintf(x->why, sizeof x->why, "%s", why);
	pthread_mutex_unlock(&x->why_lock);
}

void executor_reason(struct executor *x, char *text, size_t size)
{
	pthread_mutex_lock(&x->why_lock);
	snprintf(text, size, "%s", x->why);
	pthread_mutex_unlock(&x->why_lock);
}

void executor_say_refused(struct executor *x, const char *why)
{
	x->refused = true;
	executor_keep_reason(x, why);
	if (x->known)
		return;
	executor_log(x, x->device ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR, "left out: %s", why);
}

/* ---- how it ended ---- */

static const char *const reasons[] = {
	[KILL_LATE] = "a job took longer than allowed",
	[KILL_SILENT] = "it stopped answering",
	[KILL_START] = "it was not up in time (--start-ms)",
	[KILL_HUNG_UP] = "it closed its connection, or another process killed it (out of memory?)",
	[KILL_HELLO] = "its hello message cannot be used",
	[KILL_UNHEARD] = "quoitd could not listen to it",
	[KILL_RINGS] = "it wrote impossible ring positions",
	[KILL_ANSWER] = "it sent an impossible answer",
	[KILL_NAME] = "it reported work on a job that it was not given",
};

/* Copy what a device's process wrote of its end; "": nothing.  It may change that meanwhile. */
static void read_own_words(const struct executor *x, char *text, unsigned size)
{
	const struct quoit_exec_words *words = x->process.exec_pages;
	char why[sizeof words->why] = "";

	if (words)
		memcpy(why, words->why, sizeof why);
	log_escape(text, size, why, sizeof why);
}

void executor_say_end(const struct executor *x, char *text, size_t size)
{
	bool was_killed = WIFSIGNALED(x->status) && WTERMSIG(x->status) == SIGKILL;
	char why[QUOIT_EXEC_TEXT_BYTES];

	read_own_words(x, why, sizeof why);
	if (was_killed && x->ended)
		snprintf(text, size, "quoit-exec was ended: %s", reasons[x->ended]);
	else if (WIFSIGNALED(x->status))
		snprintf(text, size, "quoit-exec ended with signal %d", WTERMSIG(x->status));
	else if (*why)
		snprintf(text, size, "quoit-exec ended: %s", why);
	else
		snprintf(text, size, "quoit-exec ended with exit status %d",
			 WEXITSTATUS(x->status));
}

/* ---- what it is ---- */

/* Whether GPU-direct mode works is known only after a session has asked for it. */
static void describe_direct(const struct executor *x, FILE *out)
{
	int err = x->device ? exec_direct_error(x->process.exec_pages) : 0;

	if (err)
		fprintf(out, "; no GPU-direct mode: %s", strerror(err));
}

static void describe_device(const struct quoit_device_info *d, FILE *out)
{
	fprintf(out, "%s%s%s, %llu MiB, %u units%s%s, ", d->name, *d->address ? " at " : "",
		d->address, (unsigned long long)d->bytes >> 20, d->units,
		*d->driver ? ", driver " : "", d->driver);
}

/* Also says why the process before this one ended. */
static void describe_life(const struct executor *x, FILE *out)
{
	fprintf(out, "pid %d, starts: %llu", (int)x->process.pid, (unsigned long long)x->starts);
	if (*x->why && !x->own) /* it may be about another user */
		fprintf(out, " (before: %s)", x->why);
	fprintf(out, "%s%s", *x->note ? "; " : "", x->note);
}

void executor_describe(const struct executor *x, FILE *out)
{
	if (x->own && !x->wanted)
		return;
	if (x->own)
		fprintf(out, "own device %u of uid %llu: %s, ", x->device,
			(unsigned long long)x->wanted - 1, x->path);
	else if (x->device)
		fprintf(out, "device %u: %s, ", x->device, x->path);
	else
		fprintf(out, "module: %s, ", x->path);
	if (x->known && x->device)
		describe_device(&x->hello.device, out);
	if (!x->known && (x->state == EXECUTOR_OMITTED || x->state == EXECUTOR_STUCK))
		fprintf(out, "left out: %s", x->why);
	else if (x->state == EXECUTOR_UP)
		describe_life(x, out);
	else if (x->lost)
		fprintf(out, "lost: %s", x->why);
	else
		fprintf(out, "being started");
	if (x->state == EXECUTOR_UP)
		describe_direct(x, out);
	for (uint32_t i = 0; x->known && i < x->hello.count; i++)
		fprintf(out, "%s %s %u", i ? "," : ";", x->hello.op[i].name, x->opcode[i]);
	fprintf(out, "\n");
}
