/* SPDX-License-Identifier: MIT */
/* recorder_header.c - write when a recording begins, on which machine, and of what */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "recorder_private.h"

uint64_t recorder_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t recorder_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return recorder_clock(CLOCK_MONOTONIC);
#endif
}

static void take_cpu_name(char *ret, size_t size)
{
	static const char key[] = "model name";
	FILE *from = fopen("/proc/cpuinfo", "re");
	char line[256], *value;

	while (from && fgets(line, sizeof line, from))
		if (!strncmp(line, key, sizeof key - 1) && (value = strchr(line, ':'))) {
			value[strcspn(value, "\n")] = '\0';
			snprintf(ret, size, "%s", value + strspn(value, ": "));
			break;
		}
	if (from)
		fclose(from);
}

static void take_command(char *const *words, char *ret, size_t size)
{
	for (size_t used = 0; words && *words && used < size; words++) {
		int n = snprintf(ret + used, size - used, "%s%s", used ? " " : "", *words);

		used += n > 0 ? (size_t)n : 0;
	}
}

void recorder_fill_header(const struct recorder *r, struct trace_header *h)
{
	struct utsname system;

	*h = (struct trace_header){.magic = TRACE_MAGIC,
				   .version = TRACE_VERSION,
				   .header_bytes = sizeof *h,
				   .tsc_hz = r->origin.tsc_hz,
				   .cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
	if (uname(&system) == 0) {
		snprintf(h->machine, sizeof h->machine, "%.63s", system.nodename);
		snprintf(h->system, sizeof h->system, "%.31s %.31s", system.sysname,
			 system.release);
	}
	take_cpu_name(h->cpu, sizeof h->cpu);
	take_command(r->what.command, h->command, sizeof h->command);
	h->tsc = recorder_ticks();
	h->real_ns = recorder_clock(CLOCK_REALTIME);
}
