/* SPDX-License-Identifier: MIT */
/* connection_request.c - passes each request of a client to the code that handles it */
#include "connection_functions.h"
#include "connection_kernels.h"
#include "connection_memory.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "charge.h"
#include "connections.h"
#include "counters.h"
#include "hello.h"
#include "ops/optable.h"
#include "recorder.h"
#include "services.h"
#include "shares.h"

/* ---- HELLO ---- */

/*
 * A program that has crashed is often started again at once, while quoitd still ends its session:
 * the user's memory is about to come back.
 */
static bool may_get_memory(const struct connection *c)
{
	return budget_one_may_leave(c->control->budget, c->uid) && totals_now_ns() < c->patience_ns;
}

static void on_hello(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = QUOIT_CTL_HELLO, .seq = m->seq};
	struct session *s = NULL;

	answer.result = session_admit(c, &m->hello, &answer, &s);
	if (answer.result == -EDQUOT && may_get_memory(c) && connection_wait(c)) {
		c->pending = m->type;
		c->held = *m;
		c->returns_seen = budget_returns(c->control->budget, c->uid);
		return;
	}
	if (answer.result == -EDQUOT)
		charge_refused(c);
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

bool connection_hello_waits(const struct connection *c)
{
	return c->waits && c->state == CONNECTION_NEW;
}

static void look_at_hello(struct connection *c)
{
	if (!connection_hello_waits(c) ||
	    (c->returns_seen == budget_returns(c->control->budget, c->uid) &&
	     totals_now_ns() < c->patience_ns))
		return;
	c->pending = 0;
	connection_wait_over(c);
	on_hello(c, &c->held);
}

/* ---- other requests that are answered here ---- */

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
	struct connection *victim = connections_find_session(c->control, m->end.session);
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
		connection_add_file(c, m, fds);
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
	case QUOIT_CTL_FUNCTION_ADD:
		connection_add_function(c, m);
		break;
	case QUOIT_CTL_SERVE:
		services_serve(c, m);
		break;
	case QUOIT_CTL_SERVICE:
		services_open(c, m);
		break;
	case QUOIT_CTL_SERVICE_FUNCTION:
		services_find_function(c, m);
		break;
	case QUOIT_CTL_SERVICE_CLOSE:
		services_close(c, m);
		break;
	case QUOIT_CTL_CALLER:
		services_give_memory(c, m);
		break;
	case QUOIT_CTL_SYNC:
		services_open_sync(c, m);
		break;
	case QUOIT_CTL_TENSOR:
		services_make_tensor(c, m, fds);
		break;
	case QUOIT_CTL_TENSOR_MEMORY:
		services_give_tensor(c, m);
		break;
	case QUOIT_CTL_SERVICES:
		services_tell(c, m);
		break;
	case QUOIT_CTL_CALLERS:
		services_tell_callers(c, m);
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

bool connection_may_go_on(const struct connection *c)
{
	return c->state != CONNECTION_GONE && c->state != CONNECTION_DRAINING;
}

void connection_look_at_waiting(struct connection *c)
{
	connection_look_at_files(c);
	connection_look_at_memory(c);
	look_at_hello(c);
	if (c->held_fds.count && connection_may_go_on(c) && !blocking_is_behind(&c->blocking))
		let_go_on(c);
}

void connection_request(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	if (!connection_check(c, m, fds))
		connection_drop_fds(c, fds);
	else if (fds->count && blocking_is_behind(&c->blocking))
		hold(c, m, fds);
	else
		dispatch(c, m, fds);
}
