/* SPDX-License-Identifier: MIT */
/* file.c - open files that jobs may read and write */
#include <errno.h>

#include "library.h"

int quoit_add_file(struct quoit_session *s, int fd)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_FILE_ADD};
	int err;

	if (!libquoit_is_mine(s->mine))
		return -EOWNERDEAD;
	if (fd < 0)
		return -EBADF;
	err = libquoit_control_ask(s, &m, fd);
	if (err)
		return err;
	return m.file.index < QUOIT_MAX_FILES ? (int)m.file.index : -EPROTO;
}

int quoit_remove_file(struct quoit_session *s, int index)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_FILE_REMOVE, .file.index = (uint32_t)index};

	if (!libquoit_is_mine(s->mine))
		return -EOWNERDEAD;
	if (index < 0)
		return -EINVAL;
	return libquoit_control_ask(s, &m, -1);
}
