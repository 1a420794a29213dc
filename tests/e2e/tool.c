/* SPDX-License-Identifier: MIT */
/* tool.c - the quoit command, run as a user runs it */
#include "tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <criterion/criterion.h>

const char *tool_folder(void)
{
	const char *folder = getenv("QUOIT_BUILD");

	return folder ? folder : "build";
}

int tool_run(char *ret_said, size_t size, const char *format, ...)
{
	char arguments[512], line[1024];
	va_list args;
	size_t n;
	FILE *from;
	int status;

	va_start(args, format);
	vsnprintf(arguments, sizeof arguments, format, args);
	va_end(args);
	snprintf(line, sizeof line, "exec %s/quoit %s 2>&1", tool_folder(), arguments);
	from = popen(line, "r");
	cr_assert(from);
	n = fread(ret_said, 1, size - 1, from);
	ret_said[n] = '\0';
	status = pclose(from);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
