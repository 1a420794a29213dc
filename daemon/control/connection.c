/* SPDX-License-Identifier: MIT */
/* connection.c - sends answers to a client, handles its reactor's answers, and ends connections */
#include "connection_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ctl_io.h"
#include "base/dear.h"
#include "base/log.h"
#include "charge.h"
#include "connection_functions.h"
#include "connection_kernels.h"
#include "connection_memory.h"
#include "drain.h"
#include "observe/latency.h"
#include "observe/session_stats.h"
#include "recorder.h"
#include "rests.h"
#include "services.h"

/* ---- replies ---- */

void connection_reply(struct connection *c, struct quoit_ctl *m, const int *fds, unsigned count)
{
	uint64_t begun = dear_cpu_now();
	int err;

	m->magic = QUOIT_CTL_MAGIC;
	err = ctl_send(c->fd, m, fds, count);
	rests_count(c, begun);
	if (err == -EAGAIN) {
		connection_end(c, QUOIT_DAEMON_KILL_SLOW_CTL,
			       "the client does not read quoitd's replies");
	} else if (err < 0 && err != -EPIPE && err != -ECONNRESET) {
		char text[QUOIT_TEXT_BYTES];

		/* A client without a reply would wait forever. */
		snprintf(text, sizeof text, "quoitd cannot send a reply to the client: %s",
			 strerror(-err));
		connection_end(c, QUOIT_DAEMON_KILL_SHORTAGE, text);
	}
}

void connection_reply_result(struct connection *c, uint16_t type, uint32_t seq, int32_t result,
			     const char *format, ...)
{
	struct quoit_ctl m = {.type = type, .seq = seq, .result = result};

	if (format) {
		va_list args;

		va_start(args, format);
		vsnprintf(m.text, sizeof m.text, format, args);
		va_end(args);
	}
	connection_reply(c, &m, NULL, 0);
}

void connection_send_mail(struct connection *c, uint8_t type, uint32_t a, uint32_t b)
{
	struct mail m = {.type = type, .session = c->session, .a = a, .b = b};

	mailbox_send(&c->control->reactors[c->reactor].inbox, &m);
}

/* ---- a reactor's answers ---- */

static void give_session_back(struct connection *c)
{
	struct control *control = c->control;
	struct user *user = c->session->user;

	services_session_ended(c);
	connection_drop_memory(c);
	session_stats_close(c->session, control->directory);
	latency_close(c->session, control->directory);
	recorder_session_ended(control, c->session);
	session_free(c->session);
	c->session = NULL;
	user->tenant[c->reactor].homes--;
	user->span -= c->span;
	users_leave(&control->users, user);
	control->sessions_of[c->reactor]--;
	charge_return_rings(c, c->rings);
	charge_return_memory(c, c->leased);
	charge_return_device(c, c->device_leased);
	control->span -= c->span;
	c->span = 0;
	if (c->has_own)
		executors_give_own(control->executors, c->uid);
	c->has_own = false;
	totals_count(control->totals, QUOIT_DAEMON_SESSIONS_CLOSED);
}

static void answer_request(struct connection *c, const struct mail *m)
{
	struct quoit_ctl answer = {.type = c->pending, .seq = c->pending_seq, .result = m->result};

	if (m->type == MAIL_FILE_ADD && m->result >= 0) {
		answer.file.index = (uint32_t)m->result;
		answer.result = 0;
	}
	c->pending = 0;
	connection_reply(c, &answer, NULL, 0);
}

void connection_answer(struct connection *c, const struct mail *m)
{
	if (m->type == MAIL_RING_ADD) {
		connection_answer_ring(c, m);
		return;
	}
	if (m->type == MAIL_LEASE) {
		charge_lease(c, m);
		return;
	}
	if (m->type == MAIL_KERNELS) {
		connection_answer_kernels(c, m);
		return;
	}
	if (m->type == MAIL_FUNCTION_ADD) {
		connection_answer_function(c, m);
		return;
	}
	if (m->type == MAIL_SERVE_ASK) {
		services_answer_serve(c, m);
		return;
	}
	if (m->type == MAIL_CALLER_ADD) {
		services_answer_open(c, m);
		return;
	}
	if (m->type == MAIL_DRAIN || m->type == MAIL_CUT) {
		drain_answer(c, m);
		if (m->type == MAIL_DRAIN)
			give_session_back(c);
		return;
	}
	if (m->type == MAIL_FILE_ADD && m->result < 0)
		blocking_close(&c->blocking, c->file_fd);
	if (m->type == MAIL_RING_CLOSE && m->ring)
		connection_drop_ring(c, m->ring);
	if (m->type == MAIL_CLOSE && c->state == CONNECTION_CLOSING) {
		const struct log_about about = {.uid = c->uid, .session = c->session->id};

		give_session_back(c);
		log_about(&about, "session %llu is closed", (unsigned long long)about.session);
	} else if (m->type == MAIL_DEAD) {
		give_session_back(c);
		return;
	}
	if (c->state != CONNECTION_GONE)
		answer_request(c, m);
}

/* ---- the end ---- */

bool connection_wait(struct connection *c)
{
	c->waits = budget_wait(c->control->budget, c->uid);
	c->control->waiting += c->waits;
	return c->waits;
}

void connection_wait_over(struct connection *c)
{
	if (!c->waits)
		return;
	budget_wait_over(c->control->budget, c->uid);
	c->control->waiting--;
	c->waits = false;
}

void connection_set_gone(struct connection *c)
{
	connection_wait_over(c);
	c->state = CONNECTION_GONE;
	if (c->counted && !c->rests)
		budget_may_leave(c->control->budget, c->uid);
}

static void say_why(struct connection *c, uint32_t counter, int result, const char *text)
{
	const struct log_about about = {.uid = c->uid,
					.session = c->session ? c->session->id : 0,
					.reason = totals_label(counter)};
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_END, .result = result};

	snprintf(m.text, sizeof m.text, "%s", text);
	(void)ctl_send(c->fd, &m, NULL, 0);
	if (about.session)
		log_about(&about, "pid %d uid %u session %llu is ended: %s", c->pid, c->uid,
			  (unsigned long long)about.session, text);
	else
		log_about(&about, "pid %d uid %u is ended before it had a session: %s", c->pid,
			  c->uid, text);
}

void connection_end(struct connection *c, uint32_t counter, const char *text)
{
	connection_refuse(c, counter, -ECONNABORTED, text);
}

void connection_refuse(struct connection *c, uint32_t counter, int result, const char *text)
{
	if (c->state == CONNECTION_GONE)
		return;
	totals_count(c->control->totals, counter);
	if (text)
		say_why(c, counter, result, text);
	rests_unwatch(c);
	services_hung_up(c);
	if (c->pidfd >= 0)
		close(c->pidfd);
	blocking_hang_up(&c->blocking, c->fd);
	c->fd = c->pidfd = -1;
	connection_drop_fds(c, &c->held_fds);
	c->held_fds.count = 0;
	if (c->state == CONNECTION_RECORDS)
		recorder_leave(c);
	connection_set_gone(c);
	if (c->session && !c->is_back)
		connection_send_mail(c, MAIL_DEAD, 0, 0);
}

bool connection_is_gone(const struct connection *c)
{
	return c->state == CONNECTION_GONE && !c->session && !c->rings_expected;
}
