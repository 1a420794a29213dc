/* SPDX-License-Identifier: MIT */
/* journal.h - log lines with fields, for systemd's journal */
#ifndef QUOITD_JOURNAL_H
#define QUOITD_JOURNAL_H

#include <stdbool.h>
#include <sys/uio.h>

#include "log.h"

#define JOURNAL_FIELDS      5 /* at most */
#define JOURNAL_FIELD_BYTES (LOG_TEXT_BYTES + 32)

/* Does standard error go to the journal, and not to where somebody has redirected it? */
bool journal_has_stderr(void);

/*
 * The line's fields: MESSAGE, PRIORITY, and of whom it is about QUOIT_UID, QUOIT_SESSION and
 * QUOIT_REASON, as far as they are known.  How many; they are in `bytes`.
 */
int journal_fields(const struct log_line *line, char bytes[JOURNAL_FIELDS][JOURNAL_FIELD_BYTES],
		   struct iovec ret[JOURNAL_FIELDS]);

/* For log_init. */
bool journal_send(const struct log_line *line);

#endif
