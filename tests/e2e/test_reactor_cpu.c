/* SPDX-License-Identifier: MIT */
/* test_reactor_cpu.c - a waiting thread leaves the CPU of its session's reactor */
#include <criterion/criterion.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client.h"
#include "library.h"

/* The library is linked into this program, so its calls come here. */
static unsigned moves;

int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set)
{
	moves++;
	return (int)syscall(SYS_sched_setaffinity, pid, bytes, set);
}

struct place {
	struct client c;
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor t;
	int cpu; /* the reactor's */
	cpu_set_t all;
};

/* Put the thread on the reactor's CPU; `free`: it may move to another one. */
static void place_open(struct place *p, unsigned flags, bool free)
{
	static const char *const options[] = {"--reactors=1", NULL};
	struct quoit_info info;
	cpu_set_t one;
	struct quoit_open_params params = {.host_bytes = 64 << 20, .flags = flags};

	client_open(&p->c, options, NULL);
	params.socket = p->c.d.socket;
	cr_assert_eq(quoit_open(&params, &p->s), 0);
	cr_assert_eq(quoit_open_ring(p->s, NULL, &p->q), 0);
	quoit_get_info(p->s, &info);
	p->cpu = info.reactor_cpu;
	cr_assert_geq(p->cpu, 0);
	p->t = quoit_create_vector(p->q, QUOIT_F32, 1 << 22);
	sched_getaffinity(0, sizeof p->all, &p->all);
	if (CPU_COUNT(&p->all) < 2)
		cr_skip_test("one CPU");
	CPU_ZERO(&one);
	CPU_SET(p->cpu, &one);
	cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
	if (free)
		cr_assert_eq(sched_setaffinity(0, sizeof p->all, &p->all), 0);
	moves = 0;
}

static void wait_once(struct place *p)
{
	cr_assert_eq(quoit_push(p->q, quoit_normal(p->t, 1, 0)), 0);
	cr_assert_eq(quoit_wait_all(p->q, QUOIT_FOREVER), 0);
}

static void place_close(struct place *p)
{
	quoit_close(p->s, 0);
	client_close(&p->c);
}

Test(reactor_cpu, waiting_thread_leaves_it)
{
	struct place p;
	cpu_set_t now;

	place_open(&p, 0, true);
	/* The scheduler may have moved the thread already: bring it back. */
	for (int i = 0; i < 100 && !moves; i++) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(p.cpu, &one);
		cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
		cr_assert_eq(sched_setaffinity(0, sizeof p.all, &p.all), 0);
		moves = 0;
		wait_once(&p);
	}
	cr_expect_eq(moves, 2, "there and back");
	sched_getaffinity(0, sizeof now, &now);
	cr_expect(CPU_EQUAL(&now, &p.all), "it may run where it might before");
	cr_expect_not(p.q->client->shares_cpu);
	place_close(&p);
}

Test(reactor_cpu, thread_that_may_run_nowhere_else_stays)
{
	struct place p;

	place_open(&p, 0, false);
	for (int i = 0; i < 10; i++)
		wait_once(&p);
	cr_expect_eq(moves, 0);
	cr_expect_eq(sched_getcpu(), p.cpu);
	cr_expect(p.q->client->shares_cpu, "the reactor does not spin for it");
	place_close(&p);
}

Test(reactor_cpu, thread_that_shall_stay_is_not_moved)
{
	struct place p;

	place_open(&p, QUOIT_OPEN_STAY, true);
	for (int i = 0; i < 10; i++)
		wait_once(&p);
	cr_expect_eq(moves, 0);
	place_close(&p);
}
