/* SPDX-License-Identifier: MIT */
/* configuration.c - make a folder with the configuration of a quoitd */
#include "configuration.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FIRST "q.conf"

static bool write_file(const struct configuration *c, const char *name, const char *format,
		       va_list args)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", c->folder, name);
	f = fopen(path, "we");
	if (!f)
		return false;
	vfprintf(f, format, args);
	return fclose(f) == 0;
}

bool configuration_make(struct configuration *c, const char *format, ...)
{
	va_list args;
	bool good;

	strcpy(c->folder, "/tmp/quoit-conf-XXXXXX");
	if (!mkdtemp(c->folder))
		return false;
	snprintf(c->file, sizeof c->file, "%s/" FIRST, c->folder);
	snprintf(c->option, sizeof c->option, "--config=%s", c->file);
	va_start(args, format);
	good = write_file(c, FIRST, format, args);
	va_end(args);
	return good;
}

bool configuration_write(const struct configuration *c, const char *name, const char *format, ...)
{
	const char *slash = strchr(name, '/');
	char folder[64];
	va_list args;
	bool good;

	snprintf(folder, sizeof folder, "%s/%.*s", c->folder, slash ? (int)(slash - name) : 0,
		 name);
	if (slash)
		(void)mkdir(folder, 0755); /* it may exist */
	va_start(args, format);
	good = write_file(c, name, format, args);
	va_end(args);
	return good;
}

bool configuration_remove(const struct configuration *c)
{
	char command[64];

	snprintf(command, sizeof command, "rm -r %s", c->folder);
	return system(command) == 0;
}
