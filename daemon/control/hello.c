/* SPDX-License-Identifier: MIT */
/* hello.c - opens sessions: checks the version, makes the session, gives it to a reactor */
#include "hello.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hang_injection.h"
#include "base/log.h"
#include "base/process_limits.h"
#include "base/tsc.h"
#include "hello_charge.h"
#include "hello_limits.h"
#include "hello_place.h"
#include "observe/latency.h"
#include "observe/session_stats.h"
#include "ops/optable.h"
#include "recorder.h"

static int check_version(struct connection *c, const struct quoit_hello *h,
			 struct quoit_ctl *answer)
{
	if (h->abi_version == QUOIT_ABI_VERSION && h->sqe_size == sizeof(struct quoit_sqe) &&
	    h->cqe_size == sizeof(struct quoit_cqe))
		return 0;
	snprintf(answer->text, sizeof answer->text,
		 "client has ABI %u (SQE %u, CQE %u), quoitd ABI %u (SQE %zu, CQE %zu): install "
		 "both from one version",
		 h->abi_version, h->sqe_size, h->cqe_size, QUOIT_ABI_VERSION,
		 sizeof(struct quoit_sqe), sizeof(struct quoit_cqe));
	totals_count(c->control->totals, QUOIT_DAEMON_REFUSED_VERSION);
	return -EPROTO;
}

static void log_counters(const struct session *s, int err)
{
	if (err < 0)
		log_session(s, "cannot make the counter file of session %llu: %s",
			    (unsigned long long)s->id, strerror(-err));
}

static void hand_over(struct connection *c, struct session *s, const struct quoit_hello *h)
{
	struct control *control = c->control;
	const struct placement_core *core;
	struct mail m = {.type = MAIL_SESSION_ADD, .session = s};

	hang_at(HANG_CONTROL);
	core = hello_place(c, s, h);
	log_counters(s, session_stats_open(s, control->directory, c->reactor, (int32_t)core->node));
	log_counters(s, LATENCY_ON ? latency_open(s, control->directory) : 0);
	recorder_meet(control, s);
	mailbox_send(&s->reactor->inbox, &m);
}

static void fill_reply(const struct session *s, struct quoit_hello_reply *r)
{
	r->features = QUOIT_FEATURE_MODULES | (s->kernels ? QUOIT_FEATURE_KERNELS : 0) |
		      (s->direct ? QUOIT_FEATURE_DIRECT : 0);
	r->session = s->id;
	r->host_bytes = s->memory.promise;
	r->host_most = s->memory.most;
	r->shared_pages = (uint32_t)(s->shared_bytes / QUOIT_CTL_PAGE);
	r->arena_bytes = s->arena_bytes - s->shared_bytes;
	r->arena_most = s->arena_most - s->shared_bytes;
	r->pinned_bytes = s->pinned_bytes;
	r->device_bytes = s->device[0].lease;
	r->devices = (uint16_t)s->devices;
	r->max_tensors = s->max_tensors;
	r->max_jobs = s->max_jobs;
	r->max_entries = QUOIT_MAX_ENTRIES;
	r->tsc_hz = tsc_hz();
	optable_bitmap(r->ops);
}

/* Make the session, and join it to its user. */
static int make_session(struct connection *c, const struct session_limits *limits,
			struct session **ret)
{
	struct control *control = c->control;
	struct user *user;
	const struct budget_user *b = budget_of(control->budget, c->uid);
	int err = users_join(&control->users, c->uid, (uint32_t)b->may.value[RULE_SHARE], &user);

	if (err < 0)
		return err;
	err = session_new(limits, ++control->next_session, ret);
	if (err < 0) {
		users_leave(&control->users, user);
		return err;
	}
	(*ret)->user = user;
	(*ret)->uid = c->uid;
	(*ret)->pid = c->pid;
	(*ret)->blocking = &c->blocking;
	c->lease = c->lease_peak = limits->host_bytes;
	c->arena_bytes = c->arena_peak = limits->arena_bytes;
	c->span = session_span(limits);
	control->span += c->span;
	user->span += c->span;
	return 0;
}

int session_admit(struct connection *c, const struct quoit_hello *hello, struct quoit_ctl *answer,
		  struct session **ret)
{
	char why[QUOIT_TEXT_BYTES - sizeof "cannot make a session: "];
	struct session_limits limits;
	int err = check_version(c, hello, answer);

	answer->hello_reply.abi_version = QUOIT_ABI_VERSION;
	if (!err && !hello_limits(c, hello, &limits, answer->text, sizeof answer->text))
		err = hello->device_bytes && !limits.devices ? -ENODEV : -EINVAL;
	if (!err)
		err = hello_charge(c, hello, &limits, answer);
	if (err < 0)
		return err;
	err = make_session(c, &limits, ret);
	if (err < 0) {
		hello_uncharge(c);
		process_limits_explain(err, why, sizeof why);
		snprintf(answer->text, sizeof answer->text, "cannot make a session: %s", why);
		return err;
	}
	memcpy((*ret)->name, hello->name, sizeof(*ret)->name);
	fill_reply(*ret, &answer->hello_reply);
	hand_over(c, *ret, hello);
	if (c->control->reactors[c->reactor].is_pinned)
		answer->hello_reply.reactor_cpu = c->control->reactors[c->reactor].cpu + 1;
	return 0;
}
