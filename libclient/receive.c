/* SPDX-License-Identifier: MIT */
/* receive.c - receives a message of a queue, whatever it is */
#include <errno.h>

#include "clock.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"

static int left_ms(uint64_t until)
{
	const uint64_t now = clock_ns();

	if (until == NEVER)
		return QUOIT_FOREVER;
	return now < until ? (int)((until - now + 999999u) / 1000000u) : 0;
}

static quoit_tensor create(struct quoit_ring *q, const struct quoit_message *m)
{
	struct quoit_shape shape = {.dtype = (enum quoit_dtype)m->dtype};

	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		shape.dim[i] = (uint32_t)m->dim[i];
	return quoit_create(q, &shape, 0);
}

/* -EMSGSIZE: another one was faster, and the next message is not like the one that `seen` tells of. */
static int try_once(struct quoit_ring *q, int number, quoit_tensor seen, uint64_t until,
		    quoit_tensor *ret, const char *here)
{
	struct quoit_message m;
	int err = quoit_run_at(q, quoit_peek_message(number, seen), left_ms(until), here);

	if (!err)
		err = quoit_read(q, seen, &m, sizeof m);
	if (err)
		return err;
	*ret = create(q, &m);
	if (*ret == QUOIT_NO_TENSOR)
		return -ENOMEM;
	err = quoit_run_at(q, quoit_receive(number, *ret), left_ms(until), here);
	if (err)
		quoit_free(q, *ret);
	return err;
}

int quoit_receive_next_at(struct quoit_ring *q, int number, int timeout_ms, quoit_tensor *ret,
			  const char *here)
{
	const uint64_t until = clock_deadline(timeout_ms);
	quoit_tensor t = QUOIT_NO_TENSOR, seen;
	int err;

	if (!libquoit_is_mine(q->mine))
		return libquoit_refuse_child(q);
	seen = quoit_create_vector(q, QUOIT_I64, 5);
	if (seen == QUOIT_NO_TENSOR)
		return -ENOMEM;
	do
		err = try_once(q, number, seen, until, &t, here);
	while (err == -EMSGSIZE);
	quoit_free(q, seen);
	*ret = err ? QUOIT_NO_TENSOR : t;
	return err;
}
