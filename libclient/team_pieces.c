/* SPDX-License-Identifier: MIT */
/* team_pieces.c - a call that is cut into pieces, which several threads of its team run */
#include "mine.h"
#include "team.h"

static void link_cut(struct quoit_team *t, struct cut_call *cut)
{
	cut->link = t->cut;
	__atomic_store_n(&t->cut, cut, __ATOMIC_SEQ_CST);
}

/* All its pieces are taken: nobody needs to find it. */
static void unlink_cut(struct quoit_team *t, const struct cut_call *cut)
{
	struct cut_call *first = t->cut;

	if (first == cut) {
		__atomic_store_n(&t->cut, cut->link, __ATOMIC_SEQ_CST);
		return;
	}
	for (; first; first = first->link)
		if (first->link == cut) {
			first->link = cut->link;
			return;
		}
}

static void end_piece(struct quoit_team *t, struct cut_call *cut, uint32_t piece, int result,
		      const struct quoit_exec_call *c)
{
	pthread_mutex_lock(&t->rest);
	if (result < 0 ? cut->result >= 0 || piece < cut->failed : !piece && cut->result >= 0) {
		cut->result = result;
		cut->failed = piece;
		cut->said = *c;
	}
	if (result < 0 && cut->next < cut->call->pieces) { /* the others need not begin */
		cut->left -= cut->call->pieces - cut->next;
		cut->next = cut->call->pieces;
		unlink_cut(t, cut);
	}
	if (!--cut->left)
		pthread_cond_broadcast(&t->left);
	pthread_mutex_unlock(&t->rest);
}

void libquoit_team_run_piece(struct quoit_team *t, struct cut_call *cut, uint32_t piece)
{
	struct quoit_exec_call c = *cut->call;
	int result;

	c.piece = piece;
	result = team_result(cut->function->run(cut->function->state, &c), &c);
	if (libquoit_is_mine(t->session->mine)) /* else the function has forked, and is the child */
		end_piece(t, cut, piece, result, &c);
}

/* Under the lock: the next piece of this call; false: all are taken. */
static bool next_piece(struct quoit_team *t, struct cut_call *cut, uint32_t *ret)
{
	if (cut->next == cut->call->pieces)
		return false;
	*ret = cut->next++;
	if (cut->next == cut->call->pieces)
		unlink_cut(t, cut);
	return true;
}

bool libquoit_team_take_piece(struct quoit_team *t, struct cut_call **ret, uint32_t *ret_piece)
{
	bool any;

	if (!__atomic_load_n(&t->cut, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&t->rest);
	*ret = t->cut;
	any = *ret && next_piece(t, *ret, ret_piece);
	pthread_mutex_unlock(&t->rest);
	return any;
}

/* The next piece of this very call. */
static bool own_piece(struct quoit_team *t, struct cut_call *cut, uint32_t *ret)
{
	bool any;

	pthread_mutex_lock(&t->rest);
	any = next_piece(t, cut, ret);
	pthread_mutex_unlock(&t->rest);
	return any;
}

int libquoit_team_run_cut(struct quoit_team *t, const struct quoit_function *f,
			  struct quoit_exec_call *c)
{
	struct cut_call cut = {.function = f, .call = c, .left = c->pieces};
	uint32_t piece;

	pthread_mutex_lock(&t->rest);
	link_cut(t, &cut);
	pthread_mutex_unlock(&t->rest);
	while (own_piece(t, &cut, &piece)) {
		libquoit_team_pass_on(t);
		libquoit_team_run_piece(t, &cut, piece);
		if (UNLIKELY(!libquoit_is_mine(t->session->mine)))
			return -EOWNERDEAD;
	}
	pthread_mutex_lock(&t->rest);
	while (cut.left)
		pthread_cond_wait(&t->left, &t->rest);
	pthread_mutex_unlock(&t->rest);
	if (cut.result < 0)
		*c = cut.said;
	return cut.result;
}
