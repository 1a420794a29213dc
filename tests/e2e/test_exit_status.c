/* SPDX-License-Identifier: MIT */
/*
 * test_exit_status.c - a quoitd that cannot start says why, in words and by number, and leaves no
 * files
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/exit_status.h"
#include "service.h"

static void expect(struct service *s, const char *option, int status, const char *words)
{
	const char *const options[] = {option, NULL};
	char log[4096];

	cr_expect_eq(service_fail(s, options, log, sizeof log), status, "%s: %s",
		     option ? option : s->d.socket, log);
	cr_expect(strstr(log, words), "%s", log);
}

/* Start it at a socket that is free. */
static void expect_at(const char *socket, int status, const char *words)
{
	struct service s;

	service_init(&s);
	snprintf(s.d.socket, sizeof s.d.socket, "%s", socket);
	expect(&s, NULL, status, words);
	cr_expect_eq(access(socket, F_OK), -1, "%s", socket);
	service_done(&s);
}

Test(exit_status, options_that_make_no_sense)
{
	struct service s;

	service_init(&s);
	strcpy(s.d.socket, "/tmp/quoit-not-made/s");
	expect(&s, "--frobnicate", STATUS_OPTIONS, "unknown option");
	expect(&s, "--max-jobs=many", STATUS_OPTIONS, "invalid value 'many' for option max-jobs");
	cr_expect_eq(access("/tmp/quoit-not-made", F_OK), -1);
	service_done(&s);
}

Test(exit_status, words_of_options_that_only_the_machine_can_judge)
{
	struct service s;

	service_init(&s);
	service_listen(&s, SOCK_SEQPACKET);
	expect(&s, "--gpu=sofd", STATUS_OPTIONS, "gpu: invalid value 'sofd'");
	expect(&s, "--cpus=1023", STATUS_OPTIONS, "'1023' has none of the CPUs of this machine");
	service_done(&s);
}

Test(exit_status, a_folder_that_cannot_be_made)
{
	expect_at("/nowhere/else/s", STATUS_PLACE, "No such file or directory");
	expect_at("/etc/passwd/s", STATUS_PLACE, "Not a directory");
}

Test(exit_status, a_folder_that_another_one_has)
{
	struct service one, two;

	service_init(&one);
	cr_assert_eq(service_start(&one, NULL), 0);
	service_init(&two);
	strcpy(two.d.socket, one.d.socket);
	expect(&two, NULL, STATUS_TAKEN, "Address already in use");
	cr_expect_eq(access(one.d.socket, F_OK), 0);
	service_done(&two);
	service_stop(&one);
}

/* The listener holds no lock, and stays. */
Test(exit_status, a_socket_at_which_somebody_listens)
{
	struct service s;
	int listener;

	service_init(&s);
	service_listen(&s, SOCK_SEQPACKET);
	listener = s.listener[0];
	s.listener[0] = -1; /* not passed */
	expect(&s, NULL, STATUS_TAKEN, "Address already in use");
	cr_expect_eq(access(s.d.socket, F_OK), 0);
	close(listener);
	service_done(&s);
}

/* ---- file systems that are full or read-only: case 76 ---- */

static char folder[64];

static bool mount_here(const char *options, unsigned long flags)
{
	strcpy(folder, "/tmp/quoit-full-XXXXXX");
	cr_assert(mkdtemp(folder));
	if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("quoit-test", folder, "tmpfs", flags, options) == 0)
		return true;
	rmdir(folder);
	return false;
}

static void expect_here(const char *words)
{
	char socket[96];

	snprintf(socket, sizeof socket, "%s/s", folder);
	expect_at(socket, STATUS_PLACE, words);
	cr_expect_eq(umount(folder), 0);
	cr_expect_eq(rmdir(folder), 0);
}

Test(exit_status, a_file_system_without_room)
{
	if (!mount_here("size=64k", 0))
		cr_skip_test("it may not mount anything");
	expect_here("no room for counter files (1024 KiB)");
}

Test(exit_status, a_file_system_without_room_for_another_file)
{
	if (!mount_here("nr_inodes=1", 0))
		cr_skip_test("it may not mount anything");
	expect_here("No space left on device");
}

Test(exit_status, a_file_system_that_is_read_only)
{
	if (!mount_here(NULL, MS_RDONLY))
		cr_skip_test("it may not mount anything");
	expect_here("Read-only file system");
}

/* ---- rights ---- */

Test(exit_status, a_user_namespace_without_all_users)
{
	const char *build = getenv("QUOIT_BUILD");
	char command[512];
	int status;

	if (system("unshare --user true 2>/dev/null"))
		cr_skip_test("it may not make a user namespace");
	snprintf(command, sizeof command,
		 "unshare --user %s/quoitd --socket=/tmp/quoit-not-made/s 2>/dev/null",
		 build ? build : "build");
	status = system(command);
	cr_expect_eq(WEXITSTATUS(status), STATUS_RIGHTS, "%#x", (unsigned)status);
	cr_expect_eq(access("/tmp/quoit-not-made", F_OK), -1);
}
