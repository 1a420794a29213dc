/* SPDX-License-Identifier: MIT */
/* play_steps.c - do a ring's steps one after the other, and look at how they end */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "play.h"

static const struct plan_step *step_of(const struct player *w, uint32_t step)
{
	return &w->play->plan->step[step];
}

static bool complain(struct player *w, uint32_t step, const char *what, int err)
{
	char text[400], why[200];

	snprintf(text, sizeof text, "%s: %d (%s)", what, err,
		 quoit_strerror_wait(w->q, err, why, sizeof why));
	play_complain(w->play, step, text);
	return false;
}

/* ---- results ---- */

/* res is what a wait has returned just now. */
static bool check_result(struct player *w, uint32_t step, int res)
{
	const struct plan_step *s = step_of(w, step);
	const struct plan_step *cause = step_of(w, s->cause);
	struct quoit_error e = {0};

	if (res != s->result)
		return complain(w, step, "it ended otherwise", res);
	if (res >= 0)
		return true;
	if (!quoit_get_wait_error(w->q, &e))
		return complain(w, step, "it has no error record", res);
	if (e.code != s->code)
		return complain(w, step, "the first cause has another code", e.code);
	if (cause->named && e.cause != w->play->job[s->cause])
		return complain(w, step, "another step is called the first cause", e.code);
	return true;
}

static bool wait_for(struct player *w, uint32_t step)
{
	return check_result(w, step, quoit_wait(w->q, w->play->job[step], PLAY_PATIENCE_MS));
}

/* Look at the oldest step that was started. */
static bool look_at_oldest(struct player *w)
{
	uint32_t step = w->open[0];

	w->opens--;
	memmove(w->open, w->open + 1, w->opens * sizeof *w->open);
	return wait_for(w, step);
}

/* ---- other threads ---- */

static bool is_done(struct play *p, uint32_t step, bool *ret_stopped)
{
	bool done;

	pthread_mutex_lock(&p->lock);
	done = p->done[step];
	*ret_stopped = p->stopped;
	pthread_mutex_unlock(&p->lock);
	return done;
}

static void become_done(struct play *p, uint32_t step)
{
	pthread_mutex_lock(&p->lock);
	p->done[step] = true;
	pthread_mutex_unlock(&p->lock);
}

/* Go on for a moment with what others may wait for: publish, reap, run calls. */
static void go_on(struct player *w)
{
	quoit_job jobs[PLAY_OPEN];

	for (uint32_t i = 0; i < w->opens; i++)
		jobs[i] = w->play->job[w->open[i]];
	(void)quoit_flush(w->q);
	if (w->opens)
		(void)!quoit_wait_all_of(w->q, jobs, w->opens, 1);
	if (!w->session->has_lanes)
		(void)quoit_serve_team(w->session->team, 1);
	else
		usleep(100);
}

static bool await(struct player *w, uint32_t step)
{
	const time_t end = time(NULL) + PLAY_PATIENCE_MS / 1000;
	bool stopped;

	while (!is_done(w->play, step, &stopped)) {
		if (stopped)
			return false;
		if (time(NULL) > end)
			return complain(w, step, "another thread has not come to it", 0);
		go_on(w);
	}
	return true;
}

/* ---- jobs ---- */

static quoit_tensor tensor(const struct player *w, uint32_t number)
{
	return number == PLAN_NONE ? QUOIT_NO_TENSOR : w->play->tensor[number];
}

static struct quoit_sqe arithmetic(const struct plan_step *s, const quoit_tensor t[PLAN_OPERANDS])
{
	if (s->kind == PLAN_ADD)
		return t[2] ? quoit_add(t[0], t[1], t[2]) : quoit_add_int(t[0], t[1], s->number[0]);
	if (s->kind == PLAN_MUL)
		return t[2] ? quoit_mul(t[0], t[1], t[2]) : quoit_mul_int(t[0], t[1], s->number[0]);
	return t[2] ? quoit_max(t[0], t[1], t[2]) : quoit_max_int(t[0], t[1], s->number[0]);
}

static struct quoit_sqe build(const struct player *w, const struct plan_step *s)
{
	quoit_tensor t[PLAN_OPERANDS];

	for (uint32_t i = 0; i < PLAN_OPERANDS; i++)
		t[i] = tensor(w, s->operand[i]);
	switch (s->kind) {
	case PLAN_FILL:
		return quoit_fill_int(t[0], s->number[0]);
	case PLAN_COPY:
		return quoit_copy(t[0], t[1]);
	case PLAN_SUM:
		return quoit_sum(t[0], t[1], QUOIT_AXIS_ALL);
	case PLAN_NOP:
	case PLAN_AWAIT:
		return quoit_nop(t[0]);
	case PLAN_SEND:
		return quoit_send(w->session->queue[w->ring], t[0]);
	case PLAN_RECEIVE:
		return quoit_receive(w->session->queue[step_of(w, s->of)->ring], t[0]);
	case PLAN_CALL:
		return quoit_with_scalars(
			quoit_call(w->session->function[s->function], t[0], t[1], t[2], 0),
			(uint64_t)s->number[0], (uint64_t)s->number[1]);
	default:
		return arithmetic(s, t);
	}
}

static bool take_event(struct player *w, uint32_t step, int err)
{
	if (err)
		return complain(w, step, "it gives no event", err);
	become_done(w->play, step);
	return true;
}

static bool note_start(struct player *w, uint32_t step, int err)
{
	struct play *p = w->play;

	if (err)
		return complain(w, step, "it was not taken", err);
	if (!step_of(w, step)->marked)
		return true;
	return take_event(w, step, quoit_get_event(w->q, p->job[step], &p->event[step]));
}

static bool start(struct player *w, uint32_t step)
{
	const struct plan_step *s = step_of(w, step);
	struct quoit_sqe sqe;
	int err;

	if (s->after != PLAN_NONE && !await(w, s->after))
		return false;
	sqe = quoit_with_priority(build(w, s), s->priority);
	if (s->after != PLAN_NONE)
		sqe = quoit_with_event(sqe, w->play->event[s->after]);
	if (!s->named) {
		w->failures += s->result < 0;
		err = quoit_push(w->q, sqe);
		return err ? complain(w, step, "it was not taken", err) : true;
	}
	err = quoit_start(w->q, sqe, &w->play->job[step]);
	w->open[w->opens++] = step;
	return note_start(w, step, err);
}

/* ---- tensors ---- */

/* quoitd must have seen that it was attached before it is closed. */
static quoit_tensor make_named(struct player *w, uint32_t step, const struct quoit_shape *shape)
{
	const struct quoit_sync_params fresh = {.flags = QUOIT_SYNC_MUST_BE_NEW};
	int number;
	char name[32];

	snprintf(name, sizeof name, "%llx-step-%u", (unsigned long long)w->play->plan->options.seed,
		 step);
	number = quoit_open_tensor(w->session->s, name, shape, &fresh);
	if (number < 0 || w->nameds == PLAY_NAMED)
		return QUOIT_NO_TENSOR;
	w->named[w->nameds++] = number;
	return quoit_attach_tensor(w->q, number);
}

static bool make_tensor(struct player *w, uint32_t step)
{
	static const unsigned places[PLAN_PLACES] = {[PLAN_PINNED] = QUOIT_CREATE_PINNED,
						     [PLAN_SHARED] = QUOIT_CREATE_SHARED,
						     [PLAN_DEVICE] = QUOIT_CREATE_ON(1)};
	const struct plan_step *s = step_of(w, step);
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, s->n}};
	quoit_tensor t;

	if (s->kind == PLAN_CREATE && s->number[0] == PLAN_NAMED) {
		t = make_named(w, step, &shape);
	} else if (s->kind == PLAN_CREATE) {
		t = quoit_create(w->q, &shape, places[s->number[0]]);
	} else {
		shape.stride[0] = shape.stride[1] = shape.stride[2] = 1;
		shape.stride[3] = (int32_t)s->number[1];
		t = quoit_view(w->q, tensor(w, s->operand[1]), &shape,
			       (uint64_t)s->number[0] * sizeof(int32_t));
	}
	w->play->tensor[s->operand[0]] = t;
	return t ? true : complain(w, step, "no tensor", 0);
}

static bool free_tensor(struct player *w, uint32_t step)
{
	int err = quoit_free(w->q, tensor(w, step_of(w, step)->operand[0]));

	return err ? complain(w, step, "it was not taken", err) : true;
}

/* ---- the program ---- */

static bool ask(struct player *w, uint32_t step)
{
	const struct plan_step *s = step_of(w, step);

	return note_start(w, step,
			  quoit_start_acquire(w->q, tensor(w, s->operand[0]),
					      s->number[0] ? QUOIT_ACCESS_WRITE : QUOIT_ACCESS_READ,
					      &w->play->job[step]));
}

/* Compare what was acquired, and change it; atomic as in play_functions.c. */
static bool use_elements(struct player *w, const struct plan_step *asked, int32_t *at)
{
	const int64_t stride = w->play->plan->tensor[asked->operand[0]].stride;

	for (uint32_t i = 0; i < asked->n; i++) {
		int32_t *x = &at[(int64_t)i * stride];

		if (__atomic_load_n(x, __ATOMIC_RELAXED) != asked->found[i])
			return false;
		if (asked->number[0])
			__atomic_store_n(x, plan_change(asked->found[i]), __ATOMIC_RELAXED);
	}
	return true;
}

static bool use(struct player *w, uint32_t step)
{
	const struct plan_step *s = step_of(w, step), *asked = step_of(w, s->of);
	void *at;
	int err;

	if (!wait_for(w, s->of))
		return false;
	if (asked->result)
		return true;
	err = quoit_get_pointer(w->q, tensor(w, s->operand[0]), &at);
	if (err)
		return complain(w, step, "no pointer", err);
	return use_elements(w, asked, at) ? true : complain(w, step, "it finds other elements", 0);
}

static bool release(struct player *w, uint32_t step)
{
	int err = quoit_release_tensor(w->q, tensor(w, step_of(w, step)->operand[0]));

	return err ? complain(w, step, "it was not taken", err) : true;
}

static bool read_tensor(struct player *w, uint32_t step)
{
	const struct plan_step *s = step_of(w, step);
	const size_t bytes = w->play->plan->tensor[s->operand[0]].n * sizeof(int32_t);
	int32_t *to = malloc(bytes);
	bool good;

	if (!to)
		abort();
	good = check_result(w, step, quoit_read(w->q, tensor(w, s->operand[0]), to, bytes));
	if (good && !s->result && memcmp(to, s->found, bytes))
		good = complain(w, step, "it finds other elements", 0);
	free(to);
	if (good)
		become_done(w->play, step);
	return good;
}

static bool write_tensor(struct player *w, uint32_t step)
{
	const struct plan_step *s = step_of(w, step), *from = step_of(w, s->of);
	int err;

	if (!await(w, s->of))
		return false;
	err = quoit_write(w->q, tensor(w, s->operand[0]), from->found,
			  from->n * sizeof *from->found);
	return err ? complain(w, step, "it was not taken", err) : true;
}

/* ---- all of them ---- */

static bool do_step(struct player *w, uint32_t step)
{
	switch (step_of(w, step)->kind) {
	case PLAN_CREATE:
	case PLAN_VIEW:
		return make_tensor(w, step);
	case PLAN_FREE:
		return free_tensor(w, step);
	case PLAN_ASK:
		return ask(w, step);
	case PLAN_USE:
		return use(w, step);
	case PLAN_RELEASE:
		return release(w, step);
	case PLAN_READ:
		return read_tensor(w, step);
	case PLAN_WRITE:
		return write_tensor(w, step);
	case PLAN_RECORD:
		return take_event(w, step, quoit_record_event(w->q, &w->play->event[step]));
	default:
		return start(w, step);
	}
}

static bool is_stopped(struct player *w)
{
	bool stopped;

	(void)is_done(w->play, 0, &stopped);
	return stopped;
}

static bool complain_of_failures(struct player *w, uint32_t last)
{
	char text[200];
	struct quoit_error e = {0};
	uint64_t count = quoit_count_failures(w->q, &e);

	return complain(w, last, quoit_strerror_record(&e, text, sizeof text), (int)count);
}

static bool end(struct player *w, uint32_t last)
{
	int err;

	while (w->opens)
		if (!look_at_oldest(w))
			return false;
	err = quoit_wait_all(w->q, PLAY_PATIENCE_MS);
	if (err)
		return complain(w, last, "jobs do not end", err);
	if (quoit_count_failures(w->q, NULL) != w->failures)
		return complain_of_failures(w, last);
	for (uint32_t i = 0; i < w->nameds; i++)
		if (quoit_close_sync(w->session->s, w->named[i]))
			return complain(w, last, "a tensor with a name cannot be closed", 0);
	return true;
}

void *play_steps(void *player)
{
	struct player *w = player;
	const struct plan *p = w->play->plan;
	bool holds = false, good = true;

	for (uint32_t i = 0; good && i < p->steps; i++) {
		if (p->step[i].ring != w->ring)
			continue;
		/* What it waits for may wait for what it holds. */
		holds = p->step[i].kind == PLAN_ASK ||
			(holds && p->step[i].kind != PLAN_RELEASE &&
			 !(p->step[i].kind == PLAN_USE && p->step[p->step[i].of].result));
		while (good && !holds && w->opens > PLAY_OPEN / 2)
			good = look_at_oldest(w);
		good = good && !is_stopped(w) && do_step(w, i);
	}
	if (good)
		(void)end(w, p->steps - 1);
	return NULL;
}
