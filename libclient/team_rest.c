/* SPDX-License-Identifier: MIT */
/* team_rest.c - count who seeks, sleeps and serves in a team, and wake those who sleep */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mine.h"
#include "team.h"

/* Tell quoitd whether to wake sleepers; under the lock.  True: from now on it is to. */
static bool tell(struct quoit_team *t)
{
	bool asks = t->sleepers && !t->seekers;

	if (asks == t->asks_wake)
		return false;
	t->asks_wake = asks;
	QUOIT_RING_STORE(&t->ring->client->cq_wait, asks, QUOIT_RING_SEQ_CST); /* W2 */
	return asks;
}

static void wake(struct quoit_team *t, int count)
{
	(void)syscall(SYS_futex, &t->ring->client->cq_tail, FUTEX_WAKE, count, NULL, NULL, 0);
}

void libquoit_team_pass_on(struct quoit_team *t)
{
	if (UNLIKELY(__atomic_load_n(&t->sleepers, __ATOMIC_SEQ_CST)) && libquoit_team_has_work(t))
		wake(t, 1);
}

void libquoit_team_wake_all(struct quoit_team *t)
{
	wake(t, INT32_MAX);
}

bool libquoit_team_has_work(const struct quoit_team *t)
{
	const struct quoit_ring *q = t->ring;

	return __atomic_load_n(&t->cut, __ATOMIC_RELAXED) ||
	       QUOIT_RING_LOAD(&q->client->cq_head, QUOIT_RING_RELAXED) !=
		       QUOIT_RING_TAIL(&q->cq, QUOIT_RING_SEQ_CST); /* W2 */
}

void libquoit_team_seek(struct quoit_team *t)
{
	pthread_mutex_lock(&t->rest);
	t->seekers++;
	(void)tell(t);
	pthread_mutex_unlock(&t->rest);
}

void libquoit_team_sought(struct quoit_team *t)
{
	bool asks;

	pthread_mutex_lock(&t->rest);
	t->seekers--;
	asks = tell(t);
	pthread_mutex_unlock(&t->rest);
	if (asks) /* what was posted before that woke nobody */
		libquoit_team_pass_on(t);
}

void libquoit_team_sleeps(struct quoit_team *t, int by)
{
	pthread_mutex_lock(&t->rest);
	__atomic_store_n(&t->sleepers, t->sleepers + (uint32_t)by, __ATOMIC_SEQ_CST);
	(void)tell(t);
	pthread_mutex_unlock(&t->rest);
}

/* While it closes and does not serve, its calls are for other processes. */
static void tell_suspended(struct quoit_team *t)
{
	const uint32_t told =
		__atomic_load_n(&t->closing, __ATOMIC_RELAXED) == TEAM_CLOSES ? 0 : t->suspended;

	__atomic_store_n(&t->ring->client->suspended, told, __ATOMIC_RELAXED);
}

/* A service that closes has no threads for new calls, so that they go to another process. */
void libquoit_team_joins(struct quoit_team *t, int by)
{
	const uint32_t closing = __atomic_load_n(&t->closing, __ATOMIC_RELAXED);
	uint32_t told;

	if (UNLIKELY(!libquoit_is_mine(t->session->mine)))
		return;
	pthread_mutex_lock(&t->rest);
	t->served_by += (uint32_t)by;
	told = t->served_by;
	if (t->serve && closing) /* then the closing thread serves, alone */
		told = closing == TEAM_CLOSES_AND_SERVES;
	__atomic_store_n(&t->ring->client->lanes, told, __ATOMIC_RELAXED);
	tell_suspended(t);
	pthread_mutex_unlock(&t->rest);
}

void libquoit_team_waits(struct quoit_team *t, int by)
{
	if (UNLIKELY(!libquoit_is_mine(t->session->mine)))
		return;
	pthread_mutex_lock(&t->rest);
	__atomic_store_n(&t->suspended, t->suspended + (uint32_t)by, __ATOMIC_RELAXED);
	tell_suspended(t);
	pthread_mutex_unlock(&t->rest);
}

void libquoit_team_enters(struct quoit_team *t, int by)
{
	if (UNLIKELY(!libquoit_is_mine(t->session->mine))) /* the lock may be held for ever */
		return;
	pthread_mutex_lock(&t->rest);
	t->helpers += (uint32_t)by;
	if (!t->helpers)
		pthread_cond_broadcast(&t->left);
	pthread_mutex_unlock(&t->rest);
}
