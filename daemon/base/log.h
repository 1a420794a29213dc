/* SPDX-License-Identifier: MIT */
/*
 * log.h - writes the daemon's log to standard error, one line a message.
 *
 * The daemon logs at its boundaries only: start and stop, sessions that come and go, what was
 * refused and why, what is missing.  Repeated messages of one kind are limited per second and the
 * suppressed ones are counted, so that a client cannot fill a disk.  Thread-safe.
 *
 * No other thread waits for the log's reader.  Between log_start and log_stop the log's own thread
 * writes.  Up to LOG_LINES wait for it; further ones are dropped and counted.  Before log_start,
 * the thread that logs a line writes it.
 */
#ifndef QUOITD_LOG_H
#define QUOITD_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7
};

#define LOG_TEXT_BYTES 512

/* The subject of a line: a journal gets these as fields. */
struct log_about {
	uint32_t uid;
	enum log_level level; /* 0: info */
	uint64_t session;     /* 0: none */
	const char *reason;   /* a counter's name; constant.  NULL: none */
};

struct log_line {
	enum log_level level;
	bool is_about; /* about a user */
	struct log_about about;
	unsigned length;
	char text[LOG_TEXT_BYTES]; /* without an end of line */
};

/*
 * Messages above this level are not printed.  send: passes a line to a journal that takes fields,
 * and may block; if it returns false, the line goes to standard error with systemd's "<n>" prefix.
 * NULL: standard error does not go to a journal.
 */
void log_init(enum log_level most, bool (*send)(const struct log_line *line));

/* The level of a name, "info" if there is none.  Set the level, from any thread. */
enum log_level log_level_of(const char *name);
void log_set_level(enum log_level most);

#define LOG_LINES 256u

/* Start the log's thread.  -errno: there is none; the threads that log still write their lines. */
int log_start(void);

/*
 * Wait until all is written, or until nothing was written for a second.  This is the last call:
 * later lines are dropped.
 */
void log_stop(void);

void log_printf(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(...)   log_printf(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_printf(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_printf(LOG_LEVEL_INFO, __VA_ARGS__)

/*
 * A line about a client: at most LOG_BURST a second for one uid.  Further ones are counted, and
 * that uid's next line tells the count.  One uid does not use up what another may log, unless
 * LOG_UIDS others were heard of in the same second: all further uids have LOG_BURST together.
 */
#define LOG_BURST 10u
#define LOG_UIDS  256u
void log_about(const struct log_about *about, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define log_client(of, ...) log_about(&(struct log_about){.uid = (of)}, __VA_ARGS__)
#define log_session(s, ...)                                                                        \
	log_about(&(struct log_about){.uid = (s)->uid, .session = (s)->id}, __VA_ARGS__)

/* How many lines were suppressed so far. */
uint64_t log_suppressed(void);

/*
 * Copy a client's text so that it can be printed: at most size - 1 bytes, with '?' for anything but
 * printable ASCII.  `from` has `length` bytes and need not be terminated.
 */
void log_escape(char *to, unsigned size, const char *from, unsigned length);

#endif
