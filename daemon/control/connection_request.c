/* SPDX-License-Identifier: MIT */
/* connection_request.c - checks clients' requests, and passes each to the code that handles it */
#include "connection_kernels.h"
#include "connection_memory.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <quoit/file_system.h>

#include "base/log.h"
#include "counters.h"
#include "hello.h"
#include "ops/optable.h"
#include "recorder.h"
#include "shares.h"

/* ---- requests that are answered here ---- */

static void on_hello(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = QUOIT_CTL_HELLO, .seq = m->seq};
	struct session *s = NULL;

	answer.result = session_admit(c, &m->hello, &answer, &s);
	if (answer.result < 0) {
		log_client(c->uid, "refused pid %d of uid %u: %s", c->pid, c->uid, answer.text);
		connection_reply(c, &answer, NULL, 0);
		return;
	}
	c->session = s;
	c->state = CONNECTION_OPEN;
	ctl_let_descriptors_pass(c->fd, true);
	totals_count(c->control->totals, QUOIT_DAEMON_SESSIONS_OPENED);
	connection_reply(c, &answer, NULL, 0);
	log_session(s, "session %llu: pid %d uid %u '%s' on reactor %u, lease %llu KiB",
		    (unsigned long long)s->id, c->pid, c->uid, s->name, c->reactor,
		    (unsigned long long)s->memory.lease >> 10);
}

static void on_op(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	char name[QUOIT_NAME_BYTES];
	int number;

	log_escape(name, sizeof name, m->op.name, sizeof m->op.name);
	number = optable_number(name);
	if (number < 0) {
		connection_reply_result(c, m->type, m->seq, number, "unknown operation '%s'", name);
		return;
	}
	answer.op.opcode = (uint32_t)number;
	connection_reply(c, &answer, NULL, 0);
}

static void on_device(struct connection *c, const struct quoit_ctl *m)
{
	struct executors *executors = c->control->executors;
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	const struct quoit_device_info *info;
	const struct device_memory *mine;
	uint32_t number;

	if (!m->device.number || m->device.number > executors_devices(executors)) {
		executors_missing(executors, c->control->gpu, answer.text, sizeof answer.text);
		connection_reply_result(c, m->type, m->seq, -ENODEV, "no device %u: %s",
					m->device.number, answer.text);
		return;
	}
	number = c->session->first_device + m->device.number - 1;
	info = executors_device(executors, m->device.number);
	mine = &c->session->device[m->device.number - 1];
	memcpy(answer.device_reply.name, info->name, sizeof answer.device_reply.name);
	memcpy(answer.device_reply.address, info->address, sizeof answer.device_reply.address);
	answer.device_reply.bytes = info->bytes;
	answer.device_reply.units = info->units;
	answer.device_reply.jobs = __atomic_load_n(&mine->jobs, __ATOMIC_RELAXED);
	answer.device_reply.direct = __atomic_load_n(&mine->direct, __ATOMIC_RELAXED);
	answer.device_reply.streamed = __atomic_load_n(&mine->streamed, __ATOMIC_RELAXED);
	switch (executors_state(executors, number)) {
	case PORT_UP:
		answer.device_reply.state = QUOIT_DEVICE_UP;
		break;
	case PORT_LOST:
		answer.device_reply.state = QUOIT_DEVICE_LOST;
		executors_reason(executors, number, answer.text, sizeof answer.text);
		break;
	default:
		answer.device_reply.state = QUOIT_DEVICE_DOWN;
		break;
	}
	connection_reply(c, &answer, NULL, 0);
}

static void on_kill(struct connection *c, const struct quoit_ctl *m)
{
	struct connection *victim = control_find_session(c->control, m->end.session);
	unsigned long long id = m->end.session;

	if (!victim || (c->uid != 0 && c->uid != victim->uid)) {
		/* One answer for both: a user may not learn that another user's session exists. */
		connection_reply_result(c, m->type, m->seq, -ESRCH, "you have no session %llu", id);
		return;
	}
	log_about(&(struct log_about){.uid = c->uid, .session = id},
		  "session %llu is ended by uid %u", id, c->uid);
	connection_end(victim, QUOIT_DAEMON_KILL_ASKED, "ended by request");
	connection_reply_result(c, m->type, m->seq, 0, NULL);
}

/* ---- files ---- */

/* kind: only used for -EACCES */
static void refuse_file(struct connection *c, int err, const struct files_kind *kind)
{
	char name[QUOIT_FILE_SYSTEM_BYTES], text[QUOIT_TEXT_BYTES];

	switch (err) {
	case -EMFILE:
		snprintf(text, sizeof text,
			 "quoitd has no file descriptor left (its limit: LimitNOFILE= of the unit, "
			 "ulimit -n)");
		break;
	case -EACCES:
		snprintf(text, sizeof text,
			 "a write-only file on %s: this quoitd does not write there for other "
			 "users (option file-systems)",
			 quoit_file_system_name(kind->withheld_by, name));
		break;
	default:
		snprintf(text, sizeof text,
			 "expected a regular file, open for reading or writing, without O_APPEND "
			 "and O_PATH");
		break;
	}
	c->pending = 0;
	connection_reply_result(c, QUOIT_CTL_FILE_ADD, c->pending_seq, err, text);
}

/* Only its file system knows what it is.  Asking may take long, so a blocking call does it. */
static void on_file_add(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	c->pending = m->type;
	c->pending_seq = m->seq;
	if (fds->count)
		blocking_check(&c->blocking, fds->fd[0]);
	else
		refuse_file(c, -EMFILE, NULL);
}

/* False: it is too late for a request that had to wait. */
static bool may_go_on(const struct connection *c)
{
	return c->state != CONNECTION_GONE && c->state != CONNECTION_DRAINING;
}

static void end_file_check(struct connection *c)
{
	int fd, err;
	struct files_kind kind;
	struct mail m;

	if (!blocking_checked(&c->blocking, &fd, &err, &kind))
		return;
	if (err < 0 || !may_go_on(c))
		blocking_close(&c->blocking, fd);
	if (!may_go_on(c))
		return;
	if (err < 0) {
		refuse_file(c, err, &kind);
		return;
	}
	c->file_fd = fd;
	m = (struct mail){.type = MAIL_FILE_ADD,
			  .session = c->session,
			  .a = (uint32_t)fd,
			  .b = kind.modes,
			  .result = (int32_t)kind.withheld_by};
	mailbox_send(&c->control->reactors[c->reactor].inbox, &m);
}

/* ---- what is allowed ---- */

static bool all_zero(const void *from, size_t size)
{
	const uint8_t *p = from;
	uint8_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum |= p[i];
	return !sum;
}

/* How many bytes of the union a request uses. */
static size_t body_bytes(uint16_t type)
{
	struct quoit_ctl m;

	switch (type) {
	case QUOIT_CTL_HELLO:
		return sizeof m.hello;
	case QUOIT_CTL_RING_OPEN:
		return sizeof m.ring_open;
	case QUOIT_CTL_ARENA_MORE:
		return sizeof m.arena_more;
	case QUOIT_CTL_RING_CLOSE:
		return sizeof m.job.ring;
	case QUOIT_CTL_CANCEL:
		return sizeof m.job;
	case QUOIT_CTL_FILE_REMOVE:
		return sizeof m.file.index;
	case QUOIT_CTL_OP:
		return sizeof m.op.name;
	case QUOIT_CTL_DEVICE:
		return sizeof m.device.number;
	case QUOIT_CTL_IMAGE_ADD:
	case QUOIT_CTL_IMAGE_REMOVE:
	case QUOIT_CTL_KERNEL_ADD:
		return sizeof m.kernels.of;
	case QUOIT_CTL_CLOSE:
		return sizeof m.end;
	case QUOIT_CTL_KILL:
		return sizeof m.end.session;
	case QUOIT_CTL_TRACE:
		return offsetof(struct quoit_ctl, trace.sessions) -
		       offsetof(struct quoit_ctl, trace);
	case QUOIT_CTL_USER:
		return sizeof m.user.uid;
	case QUOIT_CTL_SHARE:
		return sizeof m.user;
	case QUOIT_CTL_COUNTERS:
		return offsetof(struct quoit_ctl, counters.reserved) -
		       offsetof(struct quoit_ctl, counters);
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
	case QUOIT_CTL_TRACE:
	case QUOIT_CTL_USER:
	case QUOIT_CTL_SHARE:
		return c->state == CONNECTION_NEW;
	case QUOIT_CTL_COUNTERS:
		return c->state == CONNECTION_NEW || c->state == CONNECTION_RECORDS;
	case QUOIT_CTL_ARENA:
	case QUOIT_CTL_RING_OPEN:
	case QUOIT_CTL_READY:
	case QUOIT_CTL_ARENA_MORE:
	case QUOIT_CTL_RING_CLOSE:
	case QUOIT_CTL_CANCEL:
	case QUOIT_CTL_FILE_ADD:
	case QUOIT_CTL_FILE_REMOVE:
	case QUOIT_CTL_OP:
	case QUOIT_CTL_DEVICE:
	case QUOIT_CTL_IMAGE_ADD:
	case QUOIT_CTL_IMAGE_REMOVE:
	case QUOIT_CTL_KERNEL_ADD:
	case QUOIT_CTL_CLOSE:
		return c->state == CONNECTION_OPEN;
	default:
		return false;
	}
}

/* The requests that quoitd's own user may make, too: they touch no client's memory. */
static bool asks_of_users(uint16_t type)
{
	return type == QUOIT_CTL_USER || type == QUOIT_CTL_SHARE;
}

/* For RING_OPEN, the exact number is checked with the rest of the request. */
static bool has_its_fds(const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	bool has_one = m->type == QUOIT_CTL_FILE_ADD || m->type == QUOIT_CTL_IMAGE_ADD ||
		       m->type == QUOIT_CTL_KERNEL_ADD || m->type == QUOIT_CTL_ARENA;

	if (m->type == QUOIT_CTL_RING_OPEN)
		return fds->count <= QUOIT_MAX_RINGS;
	return fds->count + fds->lost == has_one;
}

/* ---- handing out requests ---- */

static void ask_reactor(struct connection *c, const struct quoit_ctl *m, uint8_t type, uint32_t a,
			uint32_t b)
{
	c->pending = m->type;
	c->pending_seq = m->seq;
	connection_send_mail(c, type, a, b);
}

static void dispatch(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	switch (m->type) {
	case QUOIT_CTL_HELLO:
		on_hello(c, m);
		break;
	case QUOIT_CTL_RING_OPEN:
		connection_open_rings(c, m, fds);
		break;
	case QUOIT_CTL_ARENA:
		connection_take_arena(c, m, fds);
		break;
	case QUOIT_CTL_READY:
		connection_ready(c, m);
		break;
	case QUOIT_CTL_ARENA_MORE:
		connection_arena_more(c, m);
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
	case QUOIT_CTL_DEVICE:
		on_device(c, m);
		break;
	case QUOIT_CTL_IMAGE_ADD:
	case QUOIT_CTL_IMAGE_REMOVE:
	case QUOIT_CTL_KERNEL_ADD:
		connection_kernels(c, m, fds);
		break;
	case QUOIT_CTL_CLOSE:
		c->state = CONNECTION_CLOSING;
		ask_reactor(c, m, MAIL_CLOSE, m->end.flags, 0);
		break;
	case QUOIT_CTL_TRACE:
		recorder_request(c, m);
		break;
	case QUOIT_CTL_USER:
		shares_tell(c, m);
		break;
	case QUOIT_CTL_SHARE:
		shares_set(c, m);
		break;
	case QUOIT_CTL_COUNTERS:
		counters_request(c, m);
		break;
	default:
		on_kill(c, m);
		break;
	}
}

void connection_drop_fds(struct connection *c, const struct ctl_fds *fds)
{
	for (unsigned i = 0; i < fds->count; i++)
		blocking_close(&c->blocking, fds->fd[i]);
}

/* Too many descriptors wait to be closed, and the request brings more: it waits, unanswered. */
static void hold(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	c->pending = m->type;
	c->held = *m;
	c->held_fds = *fds;
}

static void let_go_on(struct connection *c)
{
	const struct ctl_fds fds = c->held_fds;

	c->held_fds.count = 0;
	c->pending = 0;
	dispatch(c, &c->held, &fds);
}

void connection_look_at_blocking(struct connection *c)
{
	end_file_check(c);
	connection_look_at_memory(c);
	if (c->held_fds.count && may_go_on(c) && !blocking_is_behind(&c->blocking))
		let_go_on(c);
}

static void protocol_error(struct connection *c, const char *what)
{
	connection_end(c, QUOIT_DAEMON_KILL_PROTO, what);
}

void connection_request(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	if (!is_well_formed(m))
		protocol_error(c, "protocol error: a message has unknown bits set");
	else if (!is_allowed(c, m->type))
		protocol_error(c,
			       "protocol error: a message came in a state that does not allow it");
	else if (c->only_asks && !asks_of_users(m->type))
		connection_refuse(c, QUOIT_DAEMON_REFUSED_UID, -EACCES,
				  "this quoitd serves other users, not the one that it runs as");
	else if (c->pending)
		protocol_error(c,
			       "protocol error: a request came before the reply to the last one");
	else if (m->type == QUOIT_CTL_COUNTERS && !ctl_is_read(c->fd))
		/* each reply may bring a descriptor, and all that are unread are quoitd's */
		protocol_error(c, "protocol error: a request came before the last reply was read");
	else if (!has_its_fds(m, fds))
		protocol_error(c, "protocol error: a message has the wrong number of descriptors");
	else if (m->type == QUOIT_CTL_CLOSE &&
		 (m->end.session || m->end.reserved || m->end.flags & ~QUOIT_CLOSE_FLAGS))
		protocol_error(c, "protocol error: CLOSE has unknown flags or fields");
	else {
		if (fds->count && blocking_is_behind(&c->blocking))
			hold(c, m, fds);
		else
			dispatch(c, m, fds);
		return;
	}
	connection_drop_fds(c, fds);
}
