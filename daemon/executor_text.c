/* SPDX-License-Identifier: MIT */
/* executor_text.c - an executor in words */
#include "executor_private.h"
#include "log.h"

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
		fprintf(out, "%s: %s, ", x->device ? "device" : "module", x->path);
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
