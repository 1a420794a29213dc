/* SPDX-License-Identifier: MIT */
/* connection_files.c - adds clients' files, once a blocking call has asked what they are */
#include "connection_private.h"

#include <errno.h>
#include <stdio.h>

#include <quoit/file_system.h>

/* kind: only used for -EACCES */
static void refuse_file(struct connection *c, int err, const struct files_kind *kind)
{
	char name[QUOIT_FILE_SYSTEM_BYTES], text[QUOIT_TEXT_BYTES];

	switch (err) {
	case -EMFILE:
		snprintf(text, sizeof text,
			 "quoitd has no file descriptor left (its limit: LimitNOFILE= of the unit, "
			 "ulimit -n)");
		break;
	case -EACCES:
		snprintf(text, sizeof text,
			 "a write-only file on %s: this quoitd does not write there for other "
			 "users (option file-systems)",
			 quoit_file_system_name(kind->withheld_by, name));
		break;
	default:
		snprintf(text, sizeof text,
			 "expected a regular file, open for reading or writing, without O_APPEND "
			 "and O_PATH");
		break;
	}
	c->pending = 0;
	connection_reply_result(c, QUOIT_CTL_FILE_ADD, c->pending_seq, err, text);
}

/* Only its file system knows what it is.  Asking may take long, so a blocking call does it. */
void connection_add_file(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	c->pending = m->type;
	c->pending_seq = m->seq;
	if (fds->count)
		blocking_check(&c->blocking, fds->fd[0]);
	else
		refuse_file(c, -EMFILE, NULL);
}

void connection_look_at_files(struct connection *c)
{
	int fd, err;
	struct files_kind kind;
	struct mail m;

	if (!blocking_checked(&c->blocking, &fd, &err, &kind))
		return;
	if (err < 0 || !connection_may_go_on(c))
		blocking_close(&c->blocking, fd);
	if (!connection_may_go_on(c))
		return;
	if (err < 0) {
		refuse_file(c, err, &kind);
		return;
	}
	c->file_fd = fd;
	m = (struct mail){.type = MAIL_FILE_ADD,
			  .session = c->session,
			  .a = (uint32_t)fd,
			  .b = kind.modes,
			  .result = (int32_t)kind.withheld_by};
	mailbox_send(&c->control->reactors[c->reactor].inbox, &m);
}
