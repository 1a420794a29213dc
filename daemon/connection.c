/* SPDX-License-Identifier: MIT */
/* connection.c - requests of a client, and a reactor's answers to them */
#include "connection.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bind.h"
#include "charge.h"
#include "ctl_io.h"
#include "hello.h"
#include "log.h"
#include "optable.h"
#include "session_stats.h"

/* ---- replies ---- */

static void reply(struct connection *c, struct quoit_ctl *m, const int *fds, unsigned count)
{
	int err;

	m->magic = QUOIT_CTL_MAGIC;
	err = ctl_send(c->fd, m, fds, count);
	if (err == -EAGAIN) {
		connection_end(c, QUOIT_DAEMON_KILL_SLOW_CTL, "does not read its replies");
	} else if (err < 0 && err != -EPIPE && err != -ECONNRESET) {
		char text[QUOIT_TEXT_BYTES];

		/* A client that got no reply would wait for it forever. */
		snprintf(text, sizeof text, "its reply cannot be sent: %s", strerror(-err));
		connection_end(c, QUOIT_DAEMON_KILL_SHORTAGE, text);
	}
}

static void reply_result(struct connection *c, uint16_t type, uint32_t seq, int32_t result,
			 const char *format, ...)
{
	struct quoit_ctl m = {.type = type, .seq = seq, .result = result};

	if (format) {
		va_list args;

		va_start(args, format);
		vsnprintf(m.text, sizeof m.text, format, args);
		va_end(args);
	}
	reply(c, &m, NULL, 0);
}

static void protocol_error(struct connection *c, const char *what)
{
	connection_end(c, QUOIT_DAEMON_KILL_PROTO, what);
}

static void send_mail(struct connection *c, uint8_t type, uint32_t a, uint32_t b)
{
	struct mail m = {.type = type, .session = c->session, .a = a, .b = b};

	mailbox_send(&c->control->reactors[c->reactor].inbox, &m);
}

static void ask_reactor(struct connection *c, const struct quoit_ctl *m, uint8_t type, uint32_t a,
			uint32_t b)
{
	c->pending = m->type;
	c->pending_seq = m->seq;
	send_mail(c, type, a, b);
}

/* ---- hello ---- */

static void on_hello(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = QUOIT_CTL_HELLO, .seq = m->seq};
	struct session *s = NULL;

	answer.result = hello_check(c, &m->hello, &answer, &s);
	if (answer.result < 0) {
		log_client(c->uid, "refused pid %d of uid %u: %s", c->pid, c->uid, answer.text);
		reply(c, &answer, NULL, 0);
		return;
	}
	c->session = s;
	c->state = CONNECTION_OPEN;
	ctl_let_descriptors_pass(c->fd, true);
	totals_count(c->control->totals, QUOIT_DAEMON_SESSIONS_OPENED);
	reply(c, &answer, &s->arena_fd, s->arena_fd >= 0);
	log_client(c->uid, "session %llu: pid %d uid %u '%s' on reactor %u, %llu KiB",
		   (unsigned long long)s->id, c->pid, c->uid, s->name, c->reactor,
		   (unsigned long long)s->memory.lease >> 10);
}

/* ---- rings ---- */

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static int check_ring_open(const struct quoit_ring_open *o, struct quoit_ring_open *ret, char *text,
			   size_t size)
{
	*ret = *o;
	if (!ret->cq_entries && o->sq_entries <= QUOIT_MAX_ENTRIES)
		ret->cq_entries = 2 * o->sq_entries;
	if (!is_power_of_two(ret->sq_entries) || ret->sq_entries < QUOIT_MIN_ENTRIES ||
	    ret->sq_entries > QUOIT_MAX_ENTRIES)
		snprintf(text, size, "sq_entries %u: a power of two from %u to %u", o->sq_entries,
			 QUOIT_MIN_ENTRIES, QUOIT_MAX_ENTRIES);
	else if (!is_power_of_two(ret->cq_entries) || ret->cq_entries < ret->sq_entries ||
		 ret->cq_entries > 2 * QUOIT_MAX_ENTRIES)
		snprintf(text, size, "cq_entries %u: a power of two from sq_entries to %u",
			 o->cq_entries, 2 * QUOIT_MAX_ENTRIES);
	else if (o->flags & ~QUOIT_RING_FLAGS)
		snprintf(text, size, "unknown ring flags %#x", o->flags & ~QUOIT_RING_FLAGS);
	else if (!o->count || o->count > QUOIT_MAX_RINGS)
		snprintf(text, size, "%u rings: 1 to %u", o->count, QUOIT_MAX_RINGS);
	else
		return 0;
	return -EINVAL;
}

static void close_ring_fds(struct connection *c, uint32_t rings)
{
	for (uint32_t i = 0; i < 3 * rings; i++)
		if (c->ring_fds[i] >= 0)
			close(c->ring_fds[i]);
}

/* Ring indices are never used again, so that a late message cannot mean another ring. */
static int make_rings(struct connection *c, const struct quoit_ring_open *open)
{
	for (uint32_t i = 0; i < open->count; i++) {
		int *fds = &c->ring_fds[3 * i];
		int err = ring_new(c->session, c->first_ring + i, open, &c->new_rings[i], &fds[0],
				   &fds[1], &fds[2]);

		if (err < 0) {
			while (i-- > 0)
				ring_free(c->new_rings[i]);
			return err;
		}
		bind_ring(c->session, c->new_rings[i]);
	}
	return 0;
}

/* Rings are charged on top of the lease. */
static uint64_t rings_cost(const struct quoit_ring_open *open)
{
	struct quoit_ring_layout layout;

	ring_layout(open, &layout);
	return open->count * ring_cost(&layout);
}

/* Slots in a reactor, and memory. */
static int charge_ring_open(struct connection *c, char *text, size_t size)
{
	uint64_t bytes = rings_cost(&c->ring_open), left;
	int err = charge_rings(c, c->ring_open.count, &left);

	if (err < 0) {
		snprintf(text, size, "%u rings: %llu are left of the %llu of a user",
			 c->ring_open.count, (unsigned long long)left,
			 (unsigned long long)c->control->config->uid_rings);
		return err;
	}
	err = charge_memory(c, bytes, &left);
	if (err < 0) {
		charge_return_rings(c, c->ring_open.count);
		snprintf(text, size, "%llu bytes of rings: %llu are left",
			 (unsigned long long)bytes, (unsigned long long)left);
	}
	return err;
}

static void drop_ring(struct connection *c, struct ring *ring)
{
	charge_return_rings(c, 1);
	charge_return_memory(c, ring_cost(&ring->layout));
	ring_free(ring);
}

static void on_ring_open(struct connection *c, const struct quoit_ctl *m)
{
	char text[QUOIT_TEXT_BYTES];
	int err = check_ring_open(&m->ring_open, &c->ring_open, text, sizeof text);

	if (err < 0) {
		reply_result(c, m->type, m->seq, err, "%s", text);
		return;
	}
	if (c->ring_open.count > QUOIT_MAX_RINGS - c->first_ring) {
		reply_result(c, m->type, m->seq, -ENFILE, "%u more rings: a session has at most %u",
			     c->ring_open.count, QUOIT_MAX_RINGS);
		return;
	}
	err = charge_ring_open(c, text, sizeof text);
	if (err < 0) {
		reply_result(c, m->type, m->seq, err, "%s", text);
		return;
	}
	for (uint32_t i = 0; i < 3 * c->ring_open.count; i++)
		c->ring_fds[i] = -1;
	err = make_rings(c, &c->ring_open);
	if (err < 0) {
		charge_return_rings(c, c->ring_open.count);
		charge_return_memory(c, rings_cost(&c->ring_open));
		close_ring_fds(c, c->ring_open.count);
		reply_result(c, m->type, m->seq, err, "cannot make a ring: %s", strerror(-err));
		return;
	}
	c->pending = m->type;
	c->pending_seq = m->seq;
	c->rings_expected = c->ring_open.count;
	c->rings_error = 0;
	for (uint32_t i = 0; i < c->ring_open.count; i++) {
		struct mail mail = {.type = MAIL_RING_ADD, .session = c->session};

		mail.ring = c->new_rings[i];
		mailbox_send(&c->control->reactors[c->reactor].inbox, &mail);
	}
}

static void on_rings_added(struct connection *c, const struct mail *m)
{
	struct quoit_ctl answer = {.type = QUOIT_CTL_RING_OPEN, .seq = c->pending_seq};

	if (m->result < 0) {
		c->rings_error = m->result;
		drop_ring(c, m->ring);
	}
	if (--c->rings_expected)
		return;
	c->pending = 0;
	answer.result = c->rings_error;
	if (!c->rings_error) {
		answer.ring_reply.ring = c->first_ring;
		answer.ring_reply.count = c->ring_open.count;
		ring_layout(&c->ring_open, &answer.ring_reply.layout);
	} else {
		snprintf(answer.text, sizeof answer.text, "cannot add a ring: %s",
			 strerror(-c->rings_error));
	}
	c->first_ring += c->ring_open.count; /* of a failure some may be there until the end */
	if (c->state != CONNECTION_GONE)
		reply(c, &answer, c->ring_fds, c->rings_error ? 0 : 3 * c->ring_open.count);
	close_ring_fds(c, c->ring_open.count);
}

/* ---- files ---- */

static void refuse_file(struct connection *c, int err)
{
	c->pending = 0;
	reply_result(c, QUOIT_CTL_FILE_ADD, c->pending_seq, err,
		     err == -EMFILE ? "quoitd has no descriptor left"
				    : "not a regular file, open for reading or writing at any "
				      "offset");
}

/* What it is, only its file system knows: that may take long, and is asked elsewhere. */
static void on_file_add(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	c->pending = m->type;
	c->pending_seq = m->seq;
	if (fds->count)
		errands_check(&c->errands, fds->fd[0]);
	else
		refuse_file(c, -EMFILE);
}

void connection_look_at_errands(struct connection *c)
{
	int fd, err;
	uint32_t modes;

	if (!errands_checked(&c->errands, &fd, &err, &modes))
		return;
	if (err < 0 || c->state == CONNECTION_GONE)
		errands_close(&c->errands, fd);
	if (c->state == CONNECTION_GONE)
		return;
	if (err < 0) {
		refuse_file(c, err);
		return;
	}
	c->file_fd = fd;
	send_mail(c, MAIL_FILE_ADD, (uint32_t)fd, modes);
}

/* ---- operations ---- */

static void on_op(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	char name[QUOIT_NAME_BYTES];
	int number;

	log_escape(name, sizeof name, m->op.name, sizeof m->op.name);
	number = optable_number(name);
	if (number < 0) {
		reply_result(c, m->type, m->seq, number, "there is no operation '%s'", name);
		return;
	}
	answer.op.opcode = (uint32_t)number;
	reply(c, &answer, NULL, 0);
}

/* ---- the state machine ---- */

static void on_kill(struct connection *c, const struct quoit_ctl *m)
{
	struct connection *victim = control_find_session(c->control, m->end.session);
	unsigned long long id = m->end.session;

	if (!victim || (c->uid != 0 && c->uid != victim->uid)) {
		/* The same answer for both: whose session it is is nobody's business. */
		reply_result(c, m->type, m->seq, -ESRCH, "no session %llu of yours", id);
		return;
	}
	log_client(c->uid, "session %llu is ended by uid %u", id, c->uid);
	connection_end(victim, QUOIT_DAEMON_KILL_ASKED, "ended by request");
	reply_result(c, m->type, m->seq, 0, NULL);
}

static bool all_zero(const void *from, size_t size)
{
	const uint8_t *p = from;
	uint8_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum |= p[i];
	return !sum;
}

/* How much of the union a request uses. */
static size_t body_bytes(uint16_t type)
{
	struct quoit_ctl m;

	switch (type) {
	case QUOIT_CTL_HELLO:
		return sizeof m.hello;
	case QUOIT_CTL_RING_OPEN:
		return sizeof m.ring_open;
	case QUOIT_CTL_RING_CLOSE:
		return sizeof m.job.ring;
	case QUOIT_CTL_CANCEL:
		return sizeof m.job;
	case QUOIT_CTL_FILE_REMOVE:
		return sizeof m.file.index;
	case QUOIT_CTL_OP:
		return sizeof m.op.name;
	case QUOIT_CTL_CLOSE:
		return sizeof m.end;
	case QUOIT_CTL_KILL:
		return sizeof m.end.session;
	default:
		return 0;
	}
}

static bool is_well_formed(const struct quoit_ctl *m)
{
	size_t body = body_bytes(m->type);

	return m->magic == QUOIT_CTL_MAGIC && !m->flags && !m->result &&
	       all_zero(m->bytes + body, sizeof m->bytes - body) &&
	       all_zero(m->text, sizeof m->text);
}

static bool is_allowed(const struct connection *c, uint16_t type)
{
	switch (type) {
	case QUOIT_CTL_HELLO:
	case QUOIT_CTL_KILL:
		return c->state == CONNECTION_NEW;
	case QUOIT_CTL_RING_OPEN:
	case QUOIT_CTL_RING_CLOSE:
	case QUOIT_CTL_CANCEL:
	case QUOIT_CTL_FILE_ADD:
	case QUOIT_CTL_FILE_REMOVE:
	case QUOIT_CTL_OP:
	case QUOIT_CTL_CLOSE:
		return c->state == CONNECTION_OPEN;
	default:
		return false;
	}
}

static void dispatch(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	switch (m->type) {
	case QUOIT_CTL_HELLO:
		on_hello(c, m);
		break;
	case QUOIT_CTL_RING_OPEN:
		on_ring_open(c, m);
		break;
	case QUOIT_CTL_RING_CLOSE:
		ask_reactor(c, m, MAIL_RING_CLOSE, m->job.ring, 0);
		break;
	case QUOIT_CTL_CANCEL:
		ask_reactor(c, m, MAIL_CANCEL, m->job.ring, m->job.sq_index);
		break;
	case QUOIT_CTL_FILE_ADD:
		on_file_add(c, m, fds);
		break;
	case QUOIT_CTL_FILE_REMOVE:
		ask_reactor(c, m, MAIL_FILE_REMOVE, m->file.index, 0);
		break;
	case QUOIT_CTL_OP:
		on_op(c, m);
		break;
	case QUOIT_CTL_CLOSE:
		c->state = CONNECTION_CLOSING;
		ask_reactor(c, m, MAIL_CLOSE, m->end.flags, 0);
		break;
	default:
		on_kill(c, m);
		break;
	}
}

void connection_drop_fds(struct connection *c, const struct ctl_fds *fds)
{
	for (unsigned i = 0; i < fds->count; i++)
		errands_close(&c->errands, fds->fd[i]);
}

static bool has_its_fds(const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	if (m->type != QUOIT_CTL_FILE_ADD)
		return !fds->count && !fds->lost;
	return fds->count + fds->lost == 1;
}

void connection_request(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	if (!is_well_formed(m))
		protocol_error(c, "a message with unknown bits");
	else if (!is_allowed(c, m->type))
		protocol_error(c, "a message that its state does not allow");
	else if (c->pending)
		protocol_error(c, "a request before the reply to the last one");
	else if (!has_its_fds(m, fds))
		protocol_error(c, "another number of descriptors than its message needs");
	else if (m->type == QUOIT_CTL_CLOSE &&
		 (m->end.session || m->end.reserved || m->end.flags & ~QUOIT_CLOSE_FLAGS))
		protocol_error(c, "unknown flags of CLOSE");
	else {
		dispatch(c, m, fds);
		return;
	}
	connection_drop_fds(c, fds);
}

/* ---- the end ---- */

static void give_session_back(struct connection *c)
{
	struct control *control = c->control;

	session_stats_close(c->session, control->directory);
	session_free(c->session);
	c->session = NULL;
	control->sessions_of[c->reactor]--;
	charge_return_rings(c, c->rings);
	charge_return_memory(c, c->leased);
	totals_count(control->totals, QUOIT_DAEMON_SESSIONS_CLOSED);
}

void connection_answer(struct connection *c, const struct mail *m)
{
	if (m->type == MAIL_RING_ADD) {
		on_rings_added(c, m);
		return;
	}
	if (m->type == MAIL_FILE_ADD && m->result < 0)
		errands_close(&c->errands, c->file_fd);
	if (m->type == MAIL_RING_CLOSE && m->ring)
		drop_ring(c, m->ring);
	if (m->type == MAIL_CLOSE && c->state == CONNECTION_CLOSING) {
		unsigned long long id = c->session->id;

		give_session_back(c);
		log_client(c->uid, "session %llu is closed", id);
	} else if (m->type == MAIL_DEAD) {
		give_session_back(c);
		return;
	}
	if (c->state != CONNECTION_GONE) {
		struct quoit_ctl answer = {
			.type = c->pending, .seq = c->pending_seq, .result = m->result};

		if (m->type == MAIL_FILE_ADD && m->result >= 0) {
			answer.file.index = (uint32_t)m->result;
			answer.result = 0;
		}
		c->pending = 0;
		reply(c, &answer, NULL, 0);
	}
}

static void say_why(struct connection *c, const char *text)
{
	struct quoit_ctl m = {
		.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_END, .result = -ECONNABORTED};

	snprintf(m.text, sizeof m.text, "%s", text);
	(void)ctl_send(c->fd, &m, NULL, 0);
	log_client(c->uid, "pid %d uid %u session %llu is ended: %s", c->pid, c->uid,
		   c->session ? (unsigned long long)c->session->id : 0, text);
}

void connection_end(struct connection *c, uint32_t counter, const char *text)
{
	if (c->state == CONNECTION_GONE)
		return;
	totals_count(c->control->totals, counter);
	if (text)
		say_why(c, text);
	(void)epoll_ctl(c->control->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	if (c->pidfd >= 0)
		close(c->pidfd);
	errands_hang_up(&c->errands, c->fd);
	c->fd = c->pidfd = -1;
	c->state = CONNECTION_GONE;
	if (c->session)
		send_mail(c, MAIL_DEAD, 0, 0);
}
