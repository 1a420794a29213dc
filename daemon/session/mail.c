/* SPDX-License-Identifier: MIT */
/* mail.c - letters between the control thread and the reactors */
#include "mail.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

void mailbox_init(struct mailbox *m, uint32_t *need_wake, int eventfd)
{
	memset(m, 0, sizeof *m);
	quoit_producer_init(&m->producer, &m->tail, &m->head, MAIL_ENTRIES);
	quoit_consumer_init(&m->consumer, &m->head, &m->tail, MAIL_ENTRIES);
	m->need_wake = need_wake;
	m->eventfd = eventfd;
}

void mailbox_send(struct mailbox *m, const struct mail *mail)
{
	uint32_t i;

	while (!quoit_ring_reserve(&m->producer, &i)) /* cannot be full by its size */
		sched_yield();
	m->mail[i % MAIL_ENTRIES] = *mail;
	if (quoit_ring_submit_wake(&m->producer, m->need_wake)) {
		uint64_t one = 1;
		ssize_t n = write(m->eventfd, &one, sizeof one);

		(void)n;
	}
}

bool mailbox_receive(struct mailbox *m, struct mail *ret)
{
	if (!quoit_ring_peek(&m->consumer))
		return false;
	*ret = m->mail[m->consumer.next % MAIL_ENTRIES];
	quoit_ring_release(&m->consumer, 1);
	return true;
}

bool mailbox_sleep(struct mailbox *m)
{
	return quoit_ring_sleep(&m->consumer, m->need_wake);
}
