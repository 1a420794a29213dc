/* SPDX-License-Identifier: MIT */
/* service_text.c - what the function of a service said when it failed */
#include <string.h>

#include "library.h"
#include "service.h"

/* quoitd may write the text meanwhile: then the name in front of it changes. */
static bool copy_text(const struct quoit_call_text *from, uint64_t user_data,
		      char ret[QUOIT_CALL_TEXT_BYTES])
{
	uint64_t words[sizeof *from / sizeof(uint64_t)];
	struct quoit_call_text text;

	if (QUOIT_RING_LOAD(&from->user_data, QUOIT_RING_ACQUIRE) != user_data)
		return false;
	quoit_ring_copy(words, (const uint64_t *)from, sizeof words / sizeof *words);
	memcpy(&text, words, sizeof text);
	if (text.user_data != user_data || !*text.text)
		return false;
	text.text[sizeof text.text - 1] = '\0';
	memcpy(ret, text.text, sizeof text.text);
	return true;
}

static bool find_in(const struct quoit_ring *q, const struct quoit_error *e,
		    char ret[QUOIT_CALL_TEXT_BYTES])
{
	for (unsigned i = 0; i < QUOIT_RING_TEXTS; i++)
		if (copy_text(&q->texts[i], e->cause, ret))
			return true;
	return false;
}

bool libquoit_service_text(struct quoit_session *s, const struct quoit_error *e,
			   char ret[QUOIT_CALL_TEXT_BYTES])
{
	bool any = false;

	if (e->opcode != QUOIT_OP_CALL || e->code >= 0)
		return false;
	pthread_mutex_lock(&s->list);
	for (const struct quoit_ring *q = s->rings; q && !any; q = q->next)
		any = q->index == e->ring && find_in(q, e, ret);
	pthread_mutex_unlock(&s->list);
	return any;
}
