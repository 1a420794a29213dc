/* SPDX-License-Identifier: MIT */
/* soft_faults.c - inject the faults that QUOIT_SOFT_FAULTS asks for, for tests */
#include "soft_faults.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/abi.h>

#define MAX_FAULTS 32

struct fault {
	enum soft_function function;
	uint64_t first, last, step; /* calls */
	int suffers;
};

struct name {
	const char *name;
	int value;
};

static const struct name functions[] = {
	{"count", SOFT_COUNT},
	{"open", SOFT_OPEN},
	{"health", SOFT_HEALTH},
	{"clock", SOFT_CLOCK},
	{"memory_new", SOFT_MEMORY_NEW},
	{"memory_free", SOFT_MEMORY_FREE},
	{"host_new", SOFT_HOST_NEW},
	{"host_register", SOFT_HOST_REGISTER},
	{"stream_new", SOFT_STREAM_NEW},
	{"event_new", SOFT_EVENT_NEW},
	{"event_record", SOFT_EVENT_RECORD},
	{"event_done", SOFT_EVENT_DONE},
	{"stream_wait", SOFT_STREAM_WAIT},
	{"copy", SOFT_COPY},
	{"clear", SOFT_CLEAR},
	{"run", SOFT_RUN},
	{"signal", SOFT_SIGNAL},
	{"stamp", SOFT_STAMP},
	{"module_new", SOFT_MODULE_NEW},
	{"kernel_find", SOFT_KERNEL_FIND},
	{"launch", SOFT_LAUNCH},
	{"direct_open", SOFT_DIRECT_OPEN},
	{"direct_start", SOFT_DIRECT_START},
	{"pool_export", SOFT_POOL_EXPORT},
	{"pool_import", SOFT_POOL_IMPORT},
	{"memory_export", SOFT_MEMORY_EXPORT},
	{"memory_import", SOFT_MEMORY_IMPORT},
	{NULL},
};

static const struct name effects[] = {
	{"hang", SOFT_HANG},
	{"die", SOFT_DIE},
	{"stop", SOFT_STOP},
	{NULL},
};

/* For consumers of GPU-direct rings. */
static const struct name direct_effects[] = {
	{"freeze", SOFT_FREEZE},
	{"stall", SOFT_STALL},
	{"late", SOFT_LATE},
	{"lie", SOFT_LIE},
	{NULL},
};

static const struct name errors[] = {
	{"EAGAIN", -EAGAIN},
	{"EFAULT", -EFAULT},
	{"EINVAL", -EINVAL},
	{"EIO", -EIO},
	{"ENODEV", -ENODEV},
	{"ENOENT", -ENOENT},
	{"ENOMEM", -ENOMEM},
	{"ENOTSUP", -ENOTSUP},
	{"EGPUFAULT", -QUOIT_EGPUFAULT},
	{"EDEVLOST", -QUOIT_EDEVLOST},
	{NULL},
};

static struct {
	bool known, silent;
	size_t count;
	struct fault fault[MAX_FAULTS];
	uint64_t calls[SOFT_FUNCTION_NR];
} faults;

static bool find_name(const struct name *names, const char *name, int *ret)
{
	for (; name && names->name; names++)
		if (!strcmp(names->name, name)) {
			*ret = names->value;
			return true;
		}
	return false;
}

static bool parse_when(const char *word, struct fault *ret)
{
	char *end;

	if (!word || !isdigit((unsigned char)*word))
		return false;
	ret->first = ret->last = strtoull(word, &end, 10);
	ret->step = 1;
	if (*end == '-') {
		ret->last = UINT64_MAX;
		end++;
	} else if (*end == '+' && isdigit((unsigned char)end[1])) {
		ret->last = UINT64_MAX;
		ret->step = strtoull(end + 1, &end, 10);
	}
	return ret->first && ret->step && !*end;
}

/* Parse one fault; changes the word. */
static bool parse_fault(char *word, struct fault *ret)
{
	char *rest, *what = strtok_r(word, ":", &rest);
	int function = SOFT_RUN;
	bool good;

	if (find_name(direct_effects, what, &ret->suffers))
		function = SOFT_DIRECT_START;
	if (function == SOFT_DIRECT_START || find_name(effects, what, &ret->suffers))
		good = parse_when(strtok_r(NULL, ":", &rest), ret);
	else
		good = find_name(functions, what, &function) &&
		       parse_when(strtok_r(NULL, ":", &rest), ret) &&
		       find_name(errors, strtok_r(NULL, ":", &rest), &ret->suffers);
	ret->function = (enum soft_function)function;
	return good && !strtok_r(NULL, ":", &rest);
}

int soft_faults_init(char *text, size_t size)
{
	const char *list = getenv("QUOIT_SOFT_FAULTS");
	char *copy, *rest, *word;
	int err = 0;

	if (faults.known)
		return 0;
	copy = strdup(list ? list : "");
	if (!copy) {
		snprintf(text, size, "no memory");
		return -ENOMEM;
	}
	faults.count = 0;
	faults.silent = false;
	for (word = strtok_r(copy, ",", &rest); word && !err; word = strtok_r(NULL, ",", &rest)) {
		const size_t at = (size_t)(word - copy);

		if (!strcmp(word, "silent")) {
			faults.silent = true;
			continue;
		}
		if (faults.count < MAX_FAULTS && parse_fault(word, &faults.fault[faults.count])) {
			faults.count++;
			continue;
		}
		snprintf(text, size, "QUOIT_SOFT_FAULTS: unknown fault \"%s\"", list + at);
		err = -EINVAL;
	}
	free(copy);
	faults.known = !err;
	return err;
}

bool soft_is_silent(void)
{
	return faults.silent;
}

int soft_faults_next(enum soft_function function)
{
	const uint64_t call = ++faults.calls[function];

	for (size_t i = 0; i < faults.count; i++) {
		const struct fault *f = &faults.fault[i];

		if (f->function == function && call >= f->first && call <= f->last &&
		    (call - f->first) % f->step == 0)
			return f->suffers;
	}
	return SOFT_NOTHING;
}
