/* SPDX-License-Identifier: MIT */
/* journal.h - sends log lines with fields to systemd's journal */
#ifndef QUOITD_JOURNAL_H
#define QUOITD_JOURNAL_H

#include <stdbool.h>
#include <sys/uio.h>

#include "log.h"

#define JOURNAL_FIELDS      5 /* at most */
#define JOURNAL_FIELD_BYTES (LOG_TEXT_BYTES + 32)

/* Does standard error go to the journal, without a redirection in between? */
bool journal_has_stderr(void);

/*
 * Make the line's fields: MESSAGE, PRIORITY and, if known, QUOIT_UID, QUOIT_SESSION and
 * QUOIT_REASON.  Returns how many there are; their text is in `bytes`.
 */
int journal_fields(const struct log_line *line, char bytes[JOURNAL_FIELDS][JOURNAL_FIELD_BYTES],
		   struct iovec ret[JOURNAL_FIELDS]);

/* Send a line; for log_init. */
bool journal_send(const struct log_line *line);

#endif
