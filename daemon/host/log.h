/* SPDX-License-Identifier: MIT */
/*
 * log.h - what the daemon says, on standard error, one line a message.
 *
 * The daemon logs at its boundaries only: start and stop, sessions that come and
 * go, what was refused and why, what is missing.  Repeated messages of one kind
 * are limited per second and the suppressed ones counted, so that a client cannot
 * fill a disk.  Thread-safe.
 *
 * Nobody waits for whoever reads it: between log_start and log_stop a thread of its own
 * writes, LOG_LINES may wait for it, and further ones are dropped and counted until it gets
 * on.  Before log_start, lines are written by who says them.
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

/* Whom a line is about: the fields that a journal has of it. */
struct log_about {
	uint32_t uid;
	enum log_level level; /* 0: info */
	uint64_t session;     /* 0: none */
	const char *reason;   /* why: a counter's name; lives on.  NULL: none */
};

struct log_line {
	enum log_level level;
	bool is_about; /* somebody */
	struct log_about about;
	unsigned length;
	char text[LOG_TEXT_BYTES]; /* without an end of line */
};

/*
 * Messages above this level are not printed.  send: where standard error goes to a journal that
 * takes fields; false: it could not, and the line goes there with systemd's "<n>" prefix.  NULL: it
 * does not.  It may block.
 */
void log_init(enum log_level most, bool (*send)(const struct log_line *line));

/* The level of its name, "info" where there is none; and from now on that one.  Any thread. */
enum log_level log_level_of(const char *name);
void log_set_level(enum log_level most);

#define LOG_LINES 256u

/* -errno: there is no thread, and lines are still written by who says them. */
int log_start(void);

/* Wait until all is written, or nothing has been for a second.  The last call: what is said
 * after it is dropped. */
void log_stop(void);

void log_printf(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(...)   log_printf(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_printf(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_printf(LOG_LEVEL_INFO, __VA_ARGS__)

/*
 * About a client: at most LOG_BURST lines a second for one uid; what is beyond is
 * counted, and the count is said in that uid's next line.  No uid uses up another's, unless
 * LOG_UIDS others have been heard of in the same second: beyond those, all have LOG_BURST
 * together.
 */
#define LOG_BURST 10u
#define LOG_UIDS  256u
void log_about(const struct log_about *about, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define log_client(of, ...) log_about(&(struct log_about){.uid = (of)}, __VA_ARGS__)
#define log_session(s, ...)                                                                        \
	log_about(&(struct log_about){.uid = (s)->uid, .session = (s)->id}, __VA_ARGS__)

/* How many client lines were suppressed so far. */
uint64_t log_suppressed(void);

/*
 * Copy a client's text so that it can be printed: at most size - 1 bytes, anything
 * but printable ASCII as '?'.  from need not be terminated; it has `length` bytes.
 */
void log_escape(char *to, unsigned size, const char *from, unsigned length);

#endif
