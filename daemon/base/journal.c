/* SPDX-License-Identifier: MIT */
/* journal.c - turns a log line into the journal's fields */
#include "journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The place in the source is not worth a field. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

bool journal_has_stderr(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	struct stat st;

	return stream && sscanf(stream, "%ju:%ju", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

int journal_fields(const struct log_line *line, char bytes[JOURNAL_FIELDS][JOURNAL_FIELD_BYTES],
		   struct iovec ret[JOURNAL_FIELDS])
{
	int n = 0;

	snprintf(bytes[n++], JOURNAL_FIELD_BYTES, "MESSAGE=%s", line->text);
	snprintf(bytes[n++], JOURNAL_FIELD_BYTES, "PRIORITY=%d", line->level);
	if (line->is_about)
		snprintf(bytes[n++], JOURNAL_FIELD_BYTES, "QUOIT_UID=%" PRIu32, line->about.uid);
	if (line->is_about && line->about.session)
		snprintf(bytes[n++], JOURNAL_FIELD_BYTES, "QUOIT_SESSION=%" PRIu64,
			 line->about.session);
	if (line->is_about && line->about.reason)
		snprintf(bytes[n++], JOURNAL_FIELD_BYTES, "QUOIT_REASON=%s", line->about.reason);
	for (int i = 0; i < n; i++)
		ret[i] = (struct iovec){bytes[i], strlen(bytes[i])};
	return n;
}

bool journal_send(const struct log_line *line)
{
	char bytes[JOURNAL_FIELDS][JOURNAL_FIELD_BYTES];
	struct iovec fields[JOURNAL_FIELDS];

	return sd_journal_sendv(fields, journal_fields(line, bytes, fields)) == 0;
}
