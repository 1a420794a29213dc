/* SPDX-License-Identifier: MIT */
/* connection_functions.c - checks the functions that clients offer for CALL jobs */
#include "connection_functions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool connection_is_name(const char *name, size_t size)
{
	size_t n = strnlen(name, size);
	bool fits = n && n < size;

	for (size_t i = 0; fits && i < n; i++)
		fits = name[i] > ' ' && name[i] <= '~';
	for (size_t i = n; fits && i < size; i++)
		fits = !name[i];
	return fits;
}

static int check_name(const char *name, size_t size, char *text, size_t text_size)
{
	if (connection_is_name(name, size))
		return 0;
	snprintf(text, text_size,
		 "a function's name must have 1 to %zu characters, printable ASCII without blanks, "
		 "and zeros behind them",
		 size - 1);
	return -EINVAL;
}

static int check_access(const char *access, size_t size, char *text, size_t text_size)
{
	bool fits = true;

	for (size_t i = 0; i < size; i++)
		fits &= i < QUOIT_MAX_TENSORS_PER_JOB
				? access[i] && strchr("WMRwr-", access[i]) != NULL
				: !access[i];
	if (fits)
		return 0;
	snprintf(text, text_size, "access must be %u letters of W, M, R, w, r and -",
		 QUOIT_MAX_TENSORS_PER_JOB);
	return -EINVAL;
}

void connection_add_function(struct connection *c, const struct quoit_ctl *m)
{
	struct function_ask *ask = &c->function_ask;
	struct mail mail = {.type = MAIL_FUNCTION_ADD, .session = c->session, .function = ask};
	int err;

	*ask = (struct function_ask){.ring = m->function.ring};
	err = check_name(m->function.name, sizeof m->function.name, ask->text, sizeof ask->text);
	if (!err)
		err = check_access(m->function.access, sizeof m->function.access, ask->text,
				   sizeof ask->text);
	if (err < 0) {
		connection_reply_result(c, m->type, m->seq, err, "%s", ask->text);
		return;
	}
	memcpy(ask->name, m->function.name, sizeof ask->name);
	memcpy(ask->access, m->function.access, sizeof ask->access);
	c->pending = m->type;
	c->pending_seq = m->seq;
	mailbox_send(&c->control->reactors[c->reactor].inbox, &mail);
}

void connection_answer_function(struct connection *c, const struct mail *m)
{
	struct quoit_ctl answer = {.type = c->pending, .seq = c->pending_seq, .result = m->result};

	c->pending = 0;
	if (c->state == CONNECTION_GONE)
		return;
	answer.function.number = c->function_ask.number;
	memcpy(answer.text, c->function_ask.text, sizeof answer.text);
	connection_reply(c, &answer, NULL, 0);
}
