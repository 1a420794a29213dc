/* SPDX-License-Identifier: MIT */
/* follow.c - read a quoitd's counters again and again */
#include "follow_private.h"

#include <errno.h>
#include <stdlib.h>

#include "read/daemon_state.h"
#include "read/rates.h"
#include "read/runtime.h"
#include "statm.h"

/* ---- totals ---- */

const struct counters_totals *follow_now(const struct follow *f)
{
	return f->readings ? &f->totals[f->readings % 2] : NULL;
}

const struct counters_totals *follow_before(const struct follow *f)
{
	const struct counters_totals *before = &f->totals[(f->readings + 1) % 2];

	return f->readings > 1 && rates_are_of_one(before, follow_now(f)) ? before : NULL;
}

/* ---- rows ---- */

static void make_rows(struct follow *f)
{
	f->row_count = 0;
	if (f->count > f->row_room) {
		void *rows = realloc(f->rows, f->room * sizeof *f->rows);

		if (!rows)
			return;
		f->rows = rows;
		f->row_room = f->room;
	}
	for (size_t i = 0; i < f->count; i++) {
		struct followed *s = &f->list[i];

		if (!s->readings)
			continue;
		f->rows[f->row_count++] = (struct session_row){
			.s = s->reading[s->readings % 2],
			.before = s->readings > 1 ? &s->reading[(s->readings + 1) % 2] : NULL,
			.process = s->process,
			.daemon_lives = f->daemon_lives &&
					counters_is_of(&s->reading[s->readings % 2], follow_now(f)),
			.now_ns = f->read_ns};
	}
}

/* Look up what the open file does not say; few users want that. */
static void look(struct follow *f, unsigned needs)
{
	struct process **list = calloc(f->row_count ? f->row_count : 1, sizeof *list);

	for (size_t i = 0; list && i < f->row_count; i++)
		list[i] = &f->rows[i].process;
	if (list && f->here)
		process_look(list, f->row_count, needs);
	free(list);
}

/* ---- cores ---- */

/* A core reports now and then; its last report stays until the next one. */
static void read_cores(struct follow *f)
{
	const struct counters_totals *to = follow_now(f), *from = follow_before(f);

	for (unsigned i = 0; i < QUOIT_MAX_CORES; i++) {
		const struct counter *a, *b;

		if (!from || i >= from->cores || i >= to->cores) {
			f->tiles[i] = -1;
			continue;
		}
		a = from->core[i].value;
		b = to->core[i].value;
		if (b[QUOIT_CORE_AS_OF].known && b[QUOIT_CORE_TILE_TICKS].known &&
		    b[QUOIT_CORE_AS_OF].value > a[QUOIT_CORE_AS_OF].value &&
		    b[QUOIT_CORE_TILE_TICKS].value >= a[QUOIT_CORE_TILE_TICKS].value)
			f->tiles[i] =
				100.0 *
				(double)(b[QUOIT_CORE_TILE_TICKS].value -
					 a[QUOIT_CORE_TILE_TICKS].value) /
				(double)(b[QUOIT_CORE_AS_OF].value - a[QUOIT_CORE_AS_OF].value);
	}
}

/* ---- quoitd ---- */

/* A zombie has no memory. */
static bool daemon_lives(struct follow *f)
{
	const struct counters_origin *o = &follow_now(f)->origin;
	uint64_t bytes = 0;

	if (!follow_before(f))
		statm_close(&f->statm);
	if (f->here && !follow_before(f))
		f->statm = statm_open(o->daemon_pid, o->started_ns);
	return (statm_read(f->statm, &bytes) && bytes) ||
	       runtime_daemon_lives(f->files.directory, o);
}

/* ---- all ---- */

int follow_open(struct follow *f, const char *socket)
{
	*f = (struct follow){.statm = -1};
	return session_files_open(&f->files, socket);
}

void follow_close(struct follow *f)
{
	follow_forget_sessions(f);
	statm_close(&f->statm);
	chosen_free(&f->chosen);
	timings_free(&f->timings);
	session_files_close(&f->files);
	free(f->list);
	free(f->rows);
	free(f->lines);
}

void follow_choose(struct follow *f, uint64_t session)
{
	for (size_t i = 0; i < f->row_count; i++) {
		struct process *one = &f->rows[i].process;

		if (f->rows[i].s.session != session)
			continue;
		if (f->here)
			process_look(&one, 1,
				     PROCESS_NEED_RESIDENT | PROCESS_NEED_FAULTS |
					     PROCESS_NEED_SMAPS | PROCESS_NEED_NUMA);
		chosen_read(&f->chosen, &f->files, &f->rows[i]);
		if (f->chosen.known)
			f->rows[i].limits = f->chosen.limits;
	}
}

/* An error for want of our own resources says nothing about quoitd: the last reading stays. */
static bool is_our_want(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

static int read_once(struct follow *f, unsigned needs)
{
	struct counters_totals *to = &f->totals[(f->readings + 1) % 2];
	int err = counters_read_totals(f->files.directory, to);
	uint64_t bytes;

	f->want = f->readings && is_our_want(err) ? err : 0;
	if (f->want) {
		f->daemon_lives = f->statm < 0 || statm_read(f->statm, &bytes);
		return err;
	}
	if (err) {
		f->daemon_lives = false;
		for (size_t i = 0; i < f->row_count; i++)
			f->rows[i].daemon_lives = false;
		return err;
	}
	f->readings++;
	if (f->readings > 1 && !follow_before(f))
		follow_forget_sessions(f);
	f->read_ns = runtime_now_ns();
	f->here = process_is_here(to->origin.pid_namespace);
	f->daemon_lives = daemon_lives(f);
	read_cores(f);
	follow_read_sessions(f);
	make_rows(f);
	f->shown = f->row_count;
	if (needs & ~(unsigned)PROCESS_NEED_RESIDENT)
		look(f, needs);
	return 0;
}

int follow_read(struct follow *f, unsigned needs)
{
	int err = read_once(f, needs);

	session_files_rest(&f->files);
	f->waiting = !f->daemon_lives && daemon_state_is_listened_to(f->files.socket);
	return err;
}
