/* SPDX-License-Identifier: MIT */
/* log.c - log lines with a limit per uid and second */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 512
#define UID_SLOTS  64

/* A uid's allowance; uids that share a slot share it, which only says less. */
struct allowance {
	time_t second;
	unsigned printed;
	uint64_t suppressed;
};

static struct {
	pthread_mutex_t lock;
	enum log_level most;
	int journal;
	struct allowance uid[UID_SLOTS];
	uint64_t suppressed;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER, .most = LOG_LEVEL_INFO};

void log_init(enum log_level most, int journal)
{
	logger.most = most;
	logger.journal = journal;
}

static void print_line(enum log_level level, const char *format, va_list args, uint64_t suppressed)
{
	char line[LINE_BYTES];
	int n = 0;
	ssize_t written;

	if (level > logger.most)
		return;
	if (logger.journal)
		n = snprintf(line, sizeof line, "<%d>", level);
	else
		n = snprintf(line, sizeof line, "quoitd: ");
	n += vsnprintf(line + n, sizeof line - (size_t)n, format, args);
	if (n > LINE_BYTES - 64)
		n = LINE_BYTES - 64;
	if (suppressed)
		n += snprintf(line + n, sizeof line - (size_t)n, " (%llu lines left out)",
			      (unsigned long long)suppressed);
	line[n++] = '\n';
	written = write(STDERR_FILENO, line, (size_t)n); /* one write: lines do not mix */
	(void)written;
}

void log_printf(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(level, format, args, 0);
	va_end(args);
}

void log_client(uint32_t uid, const char *format, ...)
{
	struct allowance *a = &logger.uid[uid % UID_SLOTS];
	struct timespec now;
	uint64_t suppressed = 0;
	va_list args;
	int print;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&logger.lock);
	if (a->second != now.tv_sec) {
		a->second = now.tv_sec;
		a->printed = 0;
	}
	print = a->printed < LOG_BURST;
	if (print) {
		a->printed++;
		suppressed = a->suppressed;
		a->suppressed = 0;
	} else {
		a->suppressed++;
		logger.suppressed++;
	}
	pthread_mutex_unlock(&logger.lock);
	if (!print)
		return;
	va_start(args, format);
	print_line(LOG_LEVEL_INFO, format, args, suppressed);
	va_end(args);
}

uint64_t log_suppressed(void)
{
	uint64_t n;

	pthread_mutex_lock(&logger.lock);
	n = logger.suppressed;
	pthread_mutex_unlock(&logger.lock);
	return n;
}

void log_escape(char *to, unsigned size, const char *from, unsigned length)
{
	unsigned i;

	for (i = 0; i + 1 < size && i < length && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[i] = '\0';
}
