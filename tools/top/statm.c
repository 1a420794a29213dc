/* SPDX-License-Identifier: MIT */
/* statm.c - read a process's resident memory from /proc/PID/statm */
#include "statm.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/process.h"

/*
 * Open the file, then check that the process is the right one: an open file later gives that
 * process's figures, or none.
 */
int statm_open(uint32_t pid, uint64_t by_ns)
{
	char path[32];
	int fd;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !process_lives(pid, by_ns))
		statm_close(&fd);
	return fd;
}

void statm_close(int *statm)
{
	if (*statm >= 0)
		close(*statm);
	*statm = -1;
}

bool statm_read(int statm, uint64_t *ret_bytes)
{
	char text[64], *resident;
	ssize_t n = statm < 0 ? -1 : pread(statm, text, sizeof text - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	resident = strchr(text, ' ');
	*ret_bytes = resident ? strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
	return *ret_bytes; /* a zombie has no memory */
}
