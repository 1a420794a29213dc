/* SPDX-License-Identifier: MIT */
/* file.c - open files that jobs may read and write */
#include <errno.h>

#include "control.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"

int quoit_add_file(struct quoit_session *s, int fd)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_FILE_ADD};
	int err;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	if (fd < 0)
		return libquoit_text_refuse(-EBADF, "%d is not a descriptor of an open file", fd);
	err = libquoit_control_ask(s, &m, fd);
	if (err)
		return err;
	return m.file.index < QUOIT_MAX_FILES ? (int)m.file.index : libquoit_text_refuse_reply();
}

int quoit_remove_file(struct quoit_session *s, int index)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_FILE_REMOVE, .file.index = (uint32_t)index};

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	if (index < 0)
		return libquoit_text_refuse(-EINVAL, "there is no file %d: adding it has failed",
					    index);
	return libquoit_control_ask(s, &m, -1);
}
