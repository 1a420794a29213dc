/* SPDX-License-Identifier: MIT */
/* exchange.c - letters from reactor to reactor: a list that all push to, and one takes whole */
#include "exchange.h"

#include "base/tsc.h"
#include "callers.h"
#include "servers.h"
#include "service_queue.h"

/* In one pass letters are read for so long; the rest is read in the next. */
#define READ_NS 50000u

static void read_letter(struct reactor *r, struct letter *l)
{
	switch ((enum letter_type)l->type) {
	case LETTER_SUBMIT:
		service_submit(r, l->of);
		break;
	case LETTER_POST:
		server_post(r, l->of);
		break;
	case LETTER_RETURN:
		service_return(r, l->of);
		break;
	case LETTER_DONE:
		caller_done(r, l->of);
		break;
	case LETTER_TAKEN:
		server_taken(r, l->of);
		break;
	case LETTER_FREE:
		caller_free_call(r, l->of);
		break;
	case LETTER_WITHDRAW:
		service_withdraw(r, l->of);
		break;
	case LETTER_WITHDRAWN:
		caller_withdrawn(r, l->of);
		break;
	case LETTER_LANES:
		service_lanes(r, l->of);
		break;
	case LETTER_COMES:
		service_comes(r, l->of);
		break;
	case LETTER_GOES:
		service_goes(r, l->of);
		break;
	case LETTER_ENDS:
		service_server_ends(r, l->of);
		break;
	case LETTER_LEAVES:
		service_caller_leaves(r, l->of);
		break;
	case LETTER_LEFT:
		caller_left(r, l->of);
		break;
	case LETTER_MOVED:
		service_moved(l->of);
		break;
	}
}

static void push(struct reactor *to, struct letter *letter)
{
	struct letter *first = atomic_load_explicit(&to->letters, memory_order_relaxed);

	do
		letter->next = first;
	while (!atomic_compare_exchange_weak(&to->letters, &first, letter));
	/* seq_cst, both: it sees the letter before it sleeps, or we see that it sleeps. */
	if (__atomic_load_n(&to->need_wake, __ATOMIC_SEQ_CST))
		reactor_wake(to);
}

void exchange_send(struct reactor *from, struct reactor *to, struct letter *letter,
		   enum letter_type type)
{
	letter->type = (uint8_t)type;
	if (from == to)
		read_letter(to, letter);
	else
		push(to, letter);
}

void exchange_post(struct reactor *to, struct letter *letter, enum letter_type type)
{
	letter->type = (uint8_t)type;
	push(to, letter);
}

/* The list has the newest letter first. */
static struct letter *turn_around(struct letter *l)
{
	struct letter *before = NULL;

	while (l) {
		struct letter *next = l->next;

		l->next = before;
		before = l;
		l = next;
	}
	return before;
}

bool exchange_read(struct reactor *r)
{
	uint64_t until;

	if (!r->to_read && atomic_load_explicit(&r->letters, memory_order_relaxed))
		r->to_read = turn_around(atomic_exchange(&r->letters, NULL));
	if (!r->to_read)
		return false;
	until = tsc_now() + tsc_from_ns(READ_NS);
	do {
		struct letter *l = r->to_read;

		r->to_read = l->next; /* it may be sent on */
		read_letter(r, l);
	} while (r->to_read && tsc_now() < until);
	return true;
}

bool exchange_may_sleep(struct reactor *r)
{
	return !r->to_read && !atomic_load(&r->letters);
}
