/* SPDX-License-Identifier: MIT */
/* test_watchdog.c - who is taken to be stuck, and who only sleeps */
#include <criterion/criterion.h>

#include "host/watchdog.h"

#define INTERVAL 1000000u

/* A thread, as far as the watchdog sees it. */
struct thread {
	uint64_t progress;
	unsigned kicks;
	bool answers; /* to a kick */
};

static uint64_t progress(void *of, uint32_t index)
{
	const struct thread *t = of;

	return t[index].progress;
}

static void kick(void *of)
{
	struct thread *t = of;

	t->kicks++;
	t->progress += t->answers;
}

static struct watchdog_subject subject(struct thread *t)
{
	return (struct watchdog_subject){
		.name = "one", .of = t, .progress = progress, .kick = kick};
}

/* The first look at which all is not well, 0: all of them are. */
static unsigned looks_until_stuck(struct watchdog_subject *s, unsigned count)
{
	for (unsigned i = 1; i <= 20; i++)
		if (!watchdog_look(s, count, INTERVAL))
			return i;
	return 0;
}

Test(watchdog, who_gets_on_by_himself_is_never_kicked)
{
	struct thread t = {.progress = 1};
	struct watchdog_subject s = subject(&t);

	for (int i = 0; i < 20; i++) {
		cr_expect(watchdog_look(&s, 1, INTERVAL));
		t.progress++;
	}
	cr_expect_eq(t.kicks, 0);
}

Test(watchdog, who_sleeps_gets_on_when_kicked)
{
	struct thread t = {.answers = true};
	struct watchdog_subject s = subject(&t);

	cr_expect_eq(looks_until_stuck(&s, 1), 0);
	cr_expect_geq(t.kicks, 9);
}

Test(watchdog, who_does_not_get_on_for_three_looks_is_stuck)
{
	struct thread t = {.progress = 7};
	struct watchdog_subject s = subject(&t);

	cr_assert(watchdog_look(&s, 1, INTERVAL));
	cr_expect_eq(looks_until_stuck(&s, 1), WATCHDOG_LOOKS - 1);
	cr_expect_not(watchdog_look(&s, 1, INTERVAL));
	cr_expect_eq(t.kicks, WATCHDOG_LOOKS);
}

Test(watchdog, who_gets_on_again_is_stuck_no_more)
{
	struct thread t = {0};
	struct watchdog_subject s = subject(&t);

	cr_assert_neq(looks_until_stuck(&s, 1), 0);
	t.progress++;
	cr_expect(watchdog_look(&s, 1, INTERVAL));
	cr_expect_eq(looks_until_stuck(&s, 1), WATCHDOG_LOOKS - 1);
}

Test(watchdog, all_is_not_well_while_one_of_many_is_stuck)
{
	struct thread t[3] = {{.answers = true}, {0}, {.answers = true}};
	struct watchdog_subject s[3] = {subject(&t[0]), subject(&t[1]), subject(&t[2])};

	cr_expect_neq(looks_until_stuck(s, 3), 0);
	for (int i = 0; i < 10; i++)
		cr_expect_not(watchdog_look(s, 3, INTERVAL));
	t[1].progress++;
	cr_expect(watchdog_look(s, 3, INTERVAL));
}
