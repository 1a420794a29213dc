/* SPDX-License-Identifier: MIT */
/* test_processes.c - the examples for those who come from multiprocessing do what they say */
#include <string.h>

#include <criterion/criterion.h>

#include "tool.h"

/* Under a quoitd of its own; and soon after the end quoitd has nothing left of it. */
static void expect(const char *program, const char *const *lines)
{
	const char *folder = tool_folder();
	char said[4096];

	cr_expect_eq(tool_run(said, sizeof said,
			      "run -- sh -c '%s/examples/%s || exit 1; i=0; "
			      "while [ $(%s/quoit ps -o pid | wc -l) -gt 1 ]; do "
			      "[ $((i += 1)) -lt 200 ] || exit 2; sleep 0.05; done; "
			      "%s/quoit ls -o name; true'",
			      folder, program, folder, folder),
		     0, "%s: %s", program, said);
	for (; *lines; lines++)
		cr_expect(strstr(said, *lines), "%s: '%s' is missing in: %s", program, *lines,
			  said);
	cr_expect(strlen(said) >= 5 && !strcmp(said + strlen(said) - 5, "NAME\n"),
		  "%s has left: %s", program, said);
}

Test(processes, pool_calls_functions_and_is_joined)
{
	expect("processes_pool",
	       (const char *[]){"the sum of 20 roots is 57.194\n", "function 'root' ",
				"failed with EDOM: -1 has no root\n", "function 'crash' ",
				"failed with QUOIT_EEXEC: process ",
				"joined 3 processes: 1 crashed, 0 failed\n", NULL});
}

Test(processes, queue_and_pipe_are_whole_and_ordered)
{
	expect("processes_queue",
	       (const char *[]){"3 producers, 2 consumers: 300 messages, the sum is 14850\n",
				"10 times there and back: the last answer is 20\n", NULL});
}

Test(processes, lock_survives_its_holder)
{
	expect("processes_lock",
	       (const char *[]){"4 x 25 additions: 100, repaired 1 times, 0 processes failed\n",
				NULL});
}

Test(processes, manager_has_what_processes_wait_for)
{
	expect("processes_manager",
	       (const char *[]){"6 processes began together, at most 2 at once, and took turns: "
				"5 4 3 2 1 0\n",
				NULL});
}

Test(processes, value_and_array_are_the_same_for_all)
{
	expect("processes_shared",
	       (const char *[]){
		       "4 processes have computed 4000 elements, whose sum is 30000; 0 failed\n",
		       NULL});
}

Test(processes, dict_list_and_namespace_lose_nothing)
{
	expect("processes_dict",
	       (const char *[]){
		       "a dict of 4 results, whose sum is 15, and a list of 100; 0 failed\n",
		       NULL});
}

Test(processes, children_have_sessions_of_their_own_and_leave_nothing)
{
	expect("processes_fork",
	       (const char *[]){"two children had sessions of their own, and the parent goes on\n",
				"a process that cancels its jobs has ended: 0 is written\n",
				"a process that waits for its jobs has ended: 7 is written\n",
				NULL});
}
