/* SPDX-License-Identifier: MIT */
/* log.c - writes log lines, limited per uid and second, in a thread that may wait */
#include "log.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What may still be logged about a uid in a second. */
struct allowance {
	uint32_t uid;
	time_t second; /* of the last line, printed or suppressed; 0: none yet */
	unsigned printed;
	uint64_t suppressed; /* since the last printed line */
};

static struct {
	pthread_mutex_t lock;
	enum log_level most;
	bool (*send)(const struct log_line *line);
	struct allowance uid[LOG_UIDS];
	struct allowance others; /* shared by the uids that find no slot in this second */
	uint64_t suppressed;
	/* lines on their way to the thread */
	bool queued;  /* there is a thread, or was one */
	bool stopped; /* no more lines are taken */
	pthread_cond_t news, written;
	struct log_line line[LOG_LINES];
	unsigned first, count; /* the first line is being written */
	uint64_t dropped;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .news = PTHREAD_COND_INITIALIZER,
	    .written = PTHREAD_COND_INITIALIZER,
	    .most = LOG_LEVEL_INFO};

void log_init(enum log_level most, bool (*send)(const struct log_line *line))
{
	logger.most = most;
	logger.send = send;
}

enum log_level log_level_of(const char *name)
{
	if (!strcmp(name, "error"))
		return LOG_LEVEL_ERROR;
	if (!strcmp(name, "warning"))
		return LOG_LEVEL_WARNING;
	return strcmp(name, "debug") ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
}

void log_set_level(enum log_level most)
{
	__atomic_store_n(&logger.most, most, __ATOMIC_RELAXED);
}

static void write_line(const struct log_line *line)
{
	char text[LOG_TEXT_BYTES + 16];
	int n;
	ssize_t written;

	if (logger.send && logger.send(line))
		return;
	if (logger.send)
		n = snprintf(text, sizeof text, "<%d>%s\n", line->level, line->text);
	else
		n = snprintf(text, sizeof text, "quoitd: %s\n", line->text);
	written = write(STDERR_FILENO, text, (size_t)n); /* one write: lines do not mix */
	(void)written;
}

/* ---- the thread ---- */

/* Take the next line.  The caller holds the lock, which is released while there is none. */
static void take_line(struct log_line *ret)
{
	while (!logger.count)
		pthread_cond_wait(&logger.news, &logger.lock);
	*ret = logger.line[logger.first];
}

static void say_dropped(uint64_t dropped)
{
	struct log_line line = {.level = LOG_LEVEL_WARNING};

	line.length =
		(unsigned)snprintf(line.text, sizeof line.text,
				   "%llu log lines were dropped: the reader of stderr is too slow",
				   (unsigned long long)dropped);
	write_line(&line);
}

static void *log_thread_run(void *arg)
{
	struct log_line line;

	(void)arg;
	(void)pthread_setname_np(pthread_self(), "quoit-log");
	pthread_mutex_lock(&logger.lock);
	for (;;) {
		uint64_t dropped;

		take_line(&line);
		pthread_mutex_unlock(&logger.lock);
		write_line(&line);
		pthread_mutex_lock(&logger.lock);
		logger.first = (logger.first + 1) % LOG_LINES;
		logger.count--;
		dropped = logger.count ? 0 : logger.dropped;
		if (dropped) {
			logger.dropped = 0;
			pthread_mutex_unlock(&logger.lock);
			say_dropped(dropped);
			pthread_mutex_lock(&logger.lock);
		}
		pthread_cond_signal(&logger.written);
	}
	return NULL;
}

int log_start(void)
{
	pthread_t thread;
	sigset_t all, old;
	int err;

	sigfillset(&all); /* other threads take the signals */
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&thread, NULL, log_thread_run, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err < 0)
		return err;
	(void)pthread_detach(thread);
	pthread_mutex_lock(&logger.lock);
	logger.queued = true;
	pthread_mutex_unlock(&logger.lock);
	return 0;
}

void log_stop(void)
{
	int err = 0;

	pthread_mutex_lock(&logger.lock);
	while (logger.queued && logger.count && !err) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		err = pthread_cond_timedwait(&logger.written, &logger.lock, &until);
	}
	logger.stopped = true;
	pthread_mutex_unlock(&logger.lock);
}

/* ---- the lines ---- */

/* False: there is no thread, and the caller writes the line. */
static bool enqueue(const struct log_line *line)
{
	bool queued;

	pthread_mutex_lock(&logger.lock);
	queued = logger.queued;
	if (queued && (logger.stopped || logger.count == LOG_LINES)) {
		logger.dropped++;
		logger.suppressed++;
	} else if (queued) {
		logger.line[(logger.first + logger.count++) % LOG_LINES] = *line;
		pthread_cond_signal(&logger.news);
	}
	pthread_mutex_unlock(&logger.lock);
	return queued;
}

/* about NULL: no user. */
static void print_line(enum log_level level, const struct log_about *about, const char *format,
		       va_list args, uint64_t suppressed)
{
	struct log_line line = {.level = level, .is_about = about != NULL};
	int n, most = (int)sizeof line.text - 64;

	if (level > __atomic_load_n(&logger.most, __ATOMIC_RELAXED))
		return;
	if (about)
		line.about = *about;
	n = vsnprintf(line.text, sizeof line.text, format, args);
	if (n > most)
		n = most;
	line.text[n] = '\0';
	if (suppressed)
		n += snprintf(line.text + n, sizeof line.text - (size_t)n, " (%llu lines left out)",
			      (unsigned long long)suppressed);
	line.length = (unsigned)n;
	if (!enqueue(&line))
		write_line(&line);
}

void log_printf(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(level, NULL, format, args, 0);
	va_end(args);
}

/* This uid's slot; else the slot of the uid heard of longest ago; else the one that is shared. */
static struct allowance *find_allowance(uint32_t uid, time_t second)
{
	struct allowance *oldest = &logger.uid[0];

	for (unsigned i = 0; i < LOG_UIDS; i++) {
		if (logger.uid[i].second && logger.uid[i].uid == uid)
			return &logger.uid[i];
		if (logger.uid[i].second < oldest->second)
			oldest = &logger.uid[i];
	}
	if (oldest->second == second)
		return &logger.others;
	*oldest = (struct allowance){.uid = uid};
	return oldest;
}

/* May a line about this uid be printed?  *ret_suppressed: how many were left out before. */
static bool spend(uint32_t uid, uint64_t *ret_suppressed)
{
	struct allowance *a;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	now.tv_sec++; /* 0 is never */
	a = find_allowance(uid, now.tv_sec);
	if (a->second != now.tv_sec)
		a->printed = 0;
	a->second = now.tv_sec;
	if (a->printed == LOG_BURST) {
		a->suppressed++;
		logger.suppressed++;
		return false;
	}
	a->printed++;
	*ret_suppressed = a->suppressed;
	a->suppressed = 0;
	return true;
}

void log_about(const struct log_about *about, const char *format, ...)
{
	uint64_t suppressed;
	va_list args;
	bool print;

	pthread_mutex_lock(&logger.lock);
	print = spend(about->uid, &suppressed);
	pthread_mutex_unlock(&logger.lock);
	if (!print)
		return;
	va_start(args, format);
	print_line(about->level ? about->level : LOG_LEVEL_INFO, about, format, args, suppressed);
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
