/* SPDX-License-Identifier: MIT */
/*
 * test_machines.c - kernels, containers and environments that allow less than usual: Quoit finds
 * another way, or says what to do, and nothing hangs
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "daemon.h"
#include "process.h"
#include "refuse.h"
#include "tool.h"
#include "users.h"

#define SAID_BYTES 8192
#define CROWDED    4000011u /* a user */

/* ---- refused calls ---- */

static int refused_call, refused_with;

static void refuse_one(void)
{
	const struct refused_call call = {refused_call, 0, 0};

	refuse_calls(&call, 1, refused_with);
}

/* Run a private quoitd without this call. */
static void expect_run_without(int number, int error)
{
	const char *const run[] = {"quoit", "run", "--", "true", NULL};
	const char *const record[] = {"quoit",     "trace", "record", "-o",
				      "/dev/null", "--",    "true",   NULL};
	char said[SAID_BYTES];

	refused_call = number;
	refused_with = error;
	cr_expect_eq(tool_run_prepared(said, sizeof said, refuse_one, run), 0, "%s", said);
	cr_expect_eq(tool_run_prepared(said, sizeof said, refuse_one, record), 0, "%s", said);
}

Test(machines, without_close_range)
{
	expect_run_without(SYS_close_range, ENOSYS);
	expect_run_without(SYS_close_range, EPERM);
}

Test(machines, without_pidfds)
{
	expect_run_without(SYS_pidfd_open, ENOSYS);
}

/* For sh: the keeper of the private quoitd is the first child of our parent, `quoit run`. */
#define KEEPER "$(cat /proc/$PPID/task/$PPID/children | tr ' ' '\\n' | head -n 1)"

/* Without a pidfd, the death of a quoitd is still noticed. */
Test(machines, without_pidfds_the_end_of_quoitd_is_seen)
{
	const char *const run[] = {
		"quoit", "run", "--",
		"sh",    "-c",  "kill -KILL $(cat /proc/" KEEPER "/task/*/children); sleep 1",
		NULL};
	char said[SAID_BYTES];

	refused_call = SYS_pidfd_open;
	refused_with = ENOSYS;
	cr_expect_eq(tool_run_prepared(said, sizeof said, refuse_one, run), 0, "%s", said);
	cr_expect(strstr(said, "quoitd has ended"), "%s", said);
}

static void as_it_is(void)
{
}

/*
 * The program may also run on the reactor's CPU: on a machine of two it would otherwise have only
 * one, even while the reactor sleeps.  A thread that waits there leaves that CPU by libquoit
 * (test_reactor_cpu).
 */
Test(machines, a_program_may_run_where_quoit_run_may)
{
	const char *const run[] = {
		"quoit", "run", "--",
		"sh",    "-c",  "test \"$(grep Cpus_allowed: /proc/self/status)\" = \"$CPUS\"",
		NULL};
	char said[SAID_BYTES], line[1024] = "";
	FILE *f = fopen("/proc/self/status", "re");

	cr_assert(f);
	while (fgets(line, sizeof line, f) && strncmp(line, "Cpus_allowed:", 13))
		;
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	setenv("CPUS", line, 1);
	cr_expect_eq(tool_run_prepared(said, sizeof said, as_it_is, run), 0, "%s", said);
}

/*
 * The kernel's autogroups are made for sessions: so a program with many threads leaves its quoitd
 * as much time as it has itself.
 */
Test(machines, a_private_quoitd_leads_a_session)
{
	const char *const run[] = {"quoit",
				   "run",
				   "--",
				   "sh",
				   "-c",
				   "keeper=" KEEPER "; "
				   "quoitd=$(cat /proc/$keeper/task/*/children | tr -d ' '); "
				   "test \"$(cut -d ' ' -f 6 /proc/$quoitd/stat)\" = $keeper",
				   NULL};
	char said[SAID_BYTES];

	cr_expect_eq(tool_run_prepared(said, sizeof said, as_it_is, run), 0, "%s", said);
}

static void refuse_one_of_daemon(const struct daemon *d)
{
	(void)daemon_log_to_file(d);
	refuse_one();
}

/* A client that left a CPU which the reactor does not use would only lose time. */
Test(machines, a_reactor_that_is_not_pinned_has_no_cpu)
{
	static const char *const options[] = {"--log=info", NULL};
	struct quoit_open_params p = {0};
	struct quoit_session *session;
	struct quoit_info info;
	struct daemon d;

	refused_call = SYS_sched_setaffinity;
	refused_with = EPERM;
	cr_assert_eq(daemon_start_prepared(&d, options, refuse_one_of_daemon), 0);
	p.socket = d.socket;
	cr_assert_eq(quoit_open(&p, &session), 0, "%s", quoit_open_text());
	quoit_get_info(session, &info);
	cr_expect_eq(info.reactor_cpu, -1);
	cr_expect_eq(quoit_close(session, 0), 0);
	daemon_stop(&d);
}

/* ---- descriptors ---- */

static unsigned closed; /* a bit for each of 0 to 2 */

static void close_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (closed & 1u << fd)
			close(fd);
}

static void close_standard_of_daemon(const struct daemon *d)
{
	(void)d;
	close_standard();
}

/* Expect "/dev/null" there, and not a file of quoitd's. */
static void expect_standard(pid_t pid)
{
	char path[64], target[256];
	ssize_t n;

	for (int fd = 0; fd <= 2; fd++) {
		if (!(closed & 1u << fd))
			continue;
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
		n = readlink(path, target, sizeof target - 1);
		target[n < 0 ? 0 : n] = '\0';
		cr_expect_str_eq(target, "/dev/null", "descriptor %d of %#x", fd, closed);
	}
}

Test(machines, quoitd_started_with_closed_descriptors)
{
	static const char *const options[] = {"--log=debug", NULL};
	char said[SAID_BYTES];
	struct daemon d;

	for (closed = 1; closed < 8; closed++) {
		cr_assert_eq(daemon_start_prepared(&d, options, close_standard_of_daemon), 0);
		expect_standard(d.pid);
		cr_expect_eq(tool_run(said, sizeof said, "topo --socket=%s", d.socket), 0, "%s",
			     said);
		daemon_stop(&d);
	}
}

Test(machines, quoit_run_with_closed_descriptors)
{
	const char *const run[] = {"quoit", "run", "--", "true", NULL};
	char said[SAID_BYTES];

	for (closed = 1; closed < 8; closed++)
		cr_expect_eq(tool_run_prepared(said, sizeof said, close_standard, run), 0,
			     "%#x: %s", closed, said);
}

static int keep_standard_closed(const char *socket)
{
	const struct quoit_open_params p = {.socket = socket};
	struct quoit_session *session;
	struct quoit_ring *q;
	int bad = 0;

	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	if (quoit_open(&p, &session) < 0 || quoit_open_ring(session, NULL, &q) < 0)
		return 100;
	for (int fd = 0; fd <= 2; fd++)
		bad += fcntl(fd, F_GETFD) >= 0;
	return bad;
}

/* Otherwise a program's output would go into our socket. */
Test(machines, libquoit_leaves_closed_descriptors_alone)
{
	struct daemon d;
	int status;
	pid_t pid;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	pid = fork();
	if (!pid)
		_exit(keep_standard_closed(d.socket));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(WEXITSTATUS(status), 0);
	daemon_stop(&d);
}

/* ---- the user's service manager ---- */

static struct sockaddr_un manager;

static void be_a_service(void)
{
	setenv("NOTIFY_SOCKET", manager.sun_path, 1);
	setenv("WATCHDOG_USEC", "200000", 1);
	setenv("LISTEN_FDS", "1", 1);
	setenv("LISTEN_FDNAMES", "its.socket", 1);
}

/* The command keeps the service manager's variables; its quoitd sends no messages. */
Test(machines, a_private_quoitd_does_not_speak_for_its_service)
{
	const char *const run[] = {
		"quoit", "run",
		"--",    "sh",
		"-c",    "echo $NOTIFY_SOCKET $WATCHDOG_USEC $LISTEN_FDS $LISTEN_FDNAMES; sleep 1",
		NULL};
	char said[SAID_BYTES], folder[] = "/tmp/quoit-e2e-XXXXXX", heard[256];
	int notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	cr_assert(mkdtemp(folder));
	manager.sun_family = AF_UNIX;
	snprintf(manager.sun_path, sizeof manager.sun_path, "%s/notify", folder);
	cr_assert_eq(bind(notify, (struct sockaddr *)&manager, sizeof manager), 0);
	cr_expect_eq(tool_run_prepared(said, sizeof said, be_a_service, run), 0, "%s", said);
	cr_expect(strstr(said, "/notify 200000 1 its.socket"), "%s", said);
	cr_expect_eq(recv(notify, heard, sizeof heard, 0), -1);
	close(notify);
	(void)unlink(manager.sun_path);
	(void)rmdir(folder);
}

static void be_a_service_as_daemon(const struct daemon *d)
{
	(void)d;
	setenv("NOTIFY_SOCKET", "/nowhere", 1);
	setenv("QUOIT_KEPT", "yes", 1);
}

/* Processes of modules and devices send none either. */
Test(machines, an_executor_does_not_speak_for_quoitd)
{
	static const char *const options[] = {"--gpu=soft:1", NULL};
	char command[256];
	struct daemon d;

	cr_assert_eq(daemon_start_prepared(&d, options, be_a_service_as_daemon), 0);
	snprintf(command, sizeof command,
		 "for c in $(cat /proc/%d/task/*/children); do tr '\\0' '\\n' </proc/$c/environ; "
		 "done | grep -E '^(NOTIFY_SOCKET|QUOIT_KEPT)=' | grep -c -v NOTIFY | grep -qx 1",
		 (int)d.pid);
	cr_expect_eq(system(command), 0);
	snprintf(command, sizeof command,
		 "for c in $(cat /proc/%d/task/*/children); do tr '\\0' '\\n' </proc/$c/environ; "
		 "done | grep -q '^NOTIFY_SOCKET='",
		 (int)d.pid);
	cr_expect_neq(system(command), 0);
	daemon_stop(&d);
}

/* ---- the first process of a container ---- */

/* Orphans come to a process that asked for them, as to the first process of a container. */
static void become_reaper(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void expect_no_zombies(const char *const *words)
{
	char said[SAID_BYTES];

	cr_expect_eq(tool_run_prepared(said, sizeof said, become_reaper, words), 0, "%s", said);
	cr_expect(strstr(said, "zombies: 0"), "%s", said);
}

#define LEAVE_ORPHANS                                                                              \
	"for i in 1 2 3; do sh -c 'sleep 0.1 & :'; done; sleep 1;"                                 \
	"echo zombies: $(ps --ppid $PPID -o stat= | grep -c Z)"

Test(machines, quoit_run_reaps_orphans)
{
	const char *const run[] = {"quoit", "run", "--", "sh", "-c", LEAVE_ORPHANS, NULL};

	expect_no_zombies(run);
}

Test(machines, quoit_trace_record_reaps_orphans)
{
	char path[] = "/tmp/quoit-e2e-XXXXXX";
	const char *const record[] = {"quoit", "trace", "record", "-o",          path,
				      "--",    "sh",    "-c",     LEAVE_ORPHANS, NULL};

	close(mkstemp(path));
	expect_no_zombies(record);
	(void)unlink(path);
}

/* ---- folders ---- */

/*
 * Enter a mount namespace.  The test is skipped if that is not allowed, or if it would hide the
 * folder of the test's own programs.
 */
static void take_mounts(void)
{
	char *folder = realpath(tool_folder(), NULL);
	const bool goes = folder && !strncmp(folder, "/tmp/", 5);

	free(folder);
	if (goes)
		cr_skip_test("the build is below /tmp");
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		cr_skip_test("it may not mount anything");
}

static void take_tmp_away(void)
{
	unsetenv("XDG_RUNTIME_DIR");
	cr_assert_eq(mount("none", "/tmp", "tmpfs", MS_RDONLY, NULL), 0);
}

static void use_tmpdir(void)
{
	take_tmp_away();
	cr_assert_eq(mount("none", "/mnt", "tmpfs", 0, NULL), 0);
	setenv("TMPDIR", "/mnt", 1);
}

static void use_no_folder(void)
{
	take_tmp_away();
	setenv("TMPDIR", "/nowhere", 1);
}

static void use_long_folder(void)
{
	char path[200] = "/";

	take_tmp_away();
	memset(path + 1, 'x', 120);
	setenv("TMPDIR", path, 1);
}

Test(machines, where_tmp_is_read_only_tmpdir_is_obeyed_and_places_are_named)
{
	const char *const run[] = {"quoit", "run", "--", "sh", "-c", "echo $QUOIT_SOCKET", NULL};
	char said[SAID_BYTES];

	take_mounts();
	cr_expect_eq(tool_run_prepared(said, sizeof said, use_tmpdir, run), 0, "%s", said);
	cr_expect(strstr(said, "/mnt/quoit-run."), "%s", said);
	cr_expect_eq(tool_run_prepared(said, sizeof said, use_no_folder, run), 125, "%s", said);
	cr_expect(strstr(said, "TMPDIR=/nowhere: No such file or directory"), "%s", said);
	cr_expect(strstr(said, "/tmp: Read-only file system"), "%s", said);
	cr_expect_eq(tool_run_prepared(said, sizeof said, use_long_folder, run), 125, "%s", said);
	cr_expect(strstr(said, "too long for a socket's path"), "%s", said);
}

#ifndef QUOIT_SANITIZE /* a sanitizer reads its options, and much else, from /proc */
static void hide_proc(void)
{
	cr_assert_eq(mount("none", "/proc", "tmpfs", 0, NULL), 0);
}

Test(machines, without_proc_there_is_a_sentence)
{
	const char *const run[] = {"quoit", "run", "--", "true", NULL};
	char said[SAID_BYTES];

	take_mounts();
	cr_expect_eq(tool_run_prepared(said, sizeof said, hide_proc, run), 125, "%s", said);
	cr_expect(strstr(said, "cannot use /proc/self/fd"), "%s", said);
	cr_expect(strstr(said, "mount -t proc proc /proc"), "%s", said);
}
#endif

/* As if another quoitd had a private /tmp that a cleaner goes through. */
static void clean_tmp(void)
{
	FILE *f;

	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("TMPDIR");
	cr_assert_eq(mount("none", "/tmp", "tmpfs", 0, "mode=1777"), 0);
	f = fopen("/tmp/cleaner.conf", "w");
	cr_assert(f);
	fputs("q /tmp 1777 root root 1s\n", f);
	fclose(f);
	cr_assert_eq(mkdir("/tmp/old", 0755), 0);
}

Test(machines, a_cleaner_leaves_a_live_quoitd_alone)
{
	const char *const run[] = {
		"quoit",
		"run",
		"--",
		"sh",
		"-c",
		"sleep 2; systemd-tmpfiles --clean /tmp/cleaner.conf; ls -d /tmp/*; "
		"d=$(dirname $QUOIT_SOCKET); ls $d; exec " /* the files can still be read */
		"cat $d/totals >/dev/null",
		NULL};
	char said[SAID_BYTES];

	if (system("command -v systemd-tmpfiles >/dev/null"))
		cr_skip_test("systemd-tmpfiles is missing");
	take_mounts();
	cr_expect_eq(tool_run_prepared(said, sizeof said, clean_tmp, run), 0, "%s", said);
	cr_expect_not(strstr(said, "/tmp/old"), "%s", said); /* the cleaner has worked */
	cr_expect(strstr(said, "totals") && strstr(said, "topology"), "%s", said);
}

/* ---- a quoitd for all users, in a folder of its own ---- */

#define PLACE "/mnt/top/place"

static mode_t its_umask;

/* Become a user, in a folder that this user makes. */
static void serve_all(const struct daemon *d)
{
	(void)d;
	umask(its_umask);
	if (setgroups(0, NULL) < 0 || setresgid(USERS_GROUP, USERS_GROUP, USERS_GROUP) < 0 ||
	    setresuid(USERS_BOB, USERS_BOB, USERS_BOB) < 0)
		_exit(126);
}

static void start_at_place(struct daemon *d, mode_t mask)
{
	static const char *const options[] = {"--private=no", "--lax-memory",
					      "--socket=" PLACE "/quoitd.sock", NULL};

	its_umask = mask;
	cr_assert_eq(daemon_start_prepared(d, options, serve_all), 0);
	strcpy(d->socket, PLACE "/quoitd.sock");
}

static void make_place(mode_t mode)
{
	if (geteuid() != 0)
		cr_skip("only root can be other users");
	take_mounts();
	cr_assert_eq(mount("none", "/mnt", "tmpfs", 0, "mode=755"), 0);
	cr_assert_eq(mkdir("/mnt/top", 0755), 0);
	cr_assert_eq(chmod("/mnt/top", mode), 0);
	cr_assert_eq(chown("/mnt/top", USERS_BOB, USERS_GROUP), 0);
}

/* The result of quoit_open for this user; `nobody`: in a user namespace without any user. */
static int open_as(const struct daemon *d, uid_t uid, bool nobody, char ret_text[256])
{
	const struct quoit_open_params p = {.socket = d->socket};
	struct quoit_session *session;
	int says[2], status, err;
	pid_t pid;

	cr_assert_eq(pipe(says), 0);
	pid = fork();
	if (!pid) {
		if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
		    setresuid(uid, uid, uid) < 0 || (nobody && unshare(CLONE_NEWUSER) < 0))
			_exit(126);
		err = quoit_open(&p, &session);
		(void)!write(says[1], quoit_open_text(), strlen(quoit_open_text()));
		_exit(-err);
	}
	close(says[1]);
	memset(ret_text, 0, 256);
	(void)!read(says[0], ret_text, 255);
	close(says[0]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return -WEXITSTATUS(status);
}

Test(machines, whatever_its_umask_a_quoitd_for_all_serves_all)
{
	static const mode_t masks[] = {022, 027, 077};
	char text[256], said[SAID_BYTES];
	struct daemon d;

	make_place(0755);
	for (unsigned i = 0; i < 3; i++) {
		start_at_place(&d, masks[i]);
		cr_expect_eq(open_as(&d, USERS_ALICE, false, text), 0, "%o: %s", masks[i], text);
		cr_expect_eq(open_as(&d, 0, false, text), 0, "%o: %s", masks[i], text);
		cr_expect_eq(users_run(USERS_ALICE, USERS_ALICE, said, sizeof said,
				       (const char *const[]){"quoit", "topo", "--socket",
							     PLACE "/quoitd.sock", NULL}),
			     0, "%o: %s", masks[i], said);
		daemon_stop(&d);
		cr_expect(unlink(PLACE "/lock") == 0 && rmdir(PLACE) == 0);
	}
}

/* If others may write to the folder, any user could have made the socket. */
Test(machines, a_quoitd_in_a_folder_of_everybody_is_not_trusted)
{
	struct daemon d;
	char text[256];

	make_place(01777);
	start_at_place(&d, 022);
	cr_expect_eq(open_as(&d, USERS_ALICE, false, text), -EACCES, "%s", text);
	cr_expect(strstr(text, "served by uid 4000002"), "%s", text);
	cr_expect_eq(chmod("/mnt/top", 0755), 0);
	cr_expect_eq(open_as(&d, USERS_ALICE, false, text), 0, "%s", text);
	cr_expect_eq(chmod("/mnt", 0775), 0);
	cr_expect_eq(open_as(&d, USERS_ALICE, false, text), -EACCES, "%s", text);
	daemon_stop(&d);
}

/* There the socket's uid, the folder's and our own all look alike. */
Test(machines, the_number_of_all_who_are_unknown_is_nobodys)
{
	struct daemon d;
	char text[256];

	make_place(0755);
	start_at_place(&d, 022);
	cr_expect_eq(open_as(&d, USERS_ALICE, true, text), -EACCES, "%s", text);
	cr_expect(strstr(text, "unknown in this user namespace"), "%s", text);
	daemon_stop(&d);
}

Test(machines, a_private_quoitd_of_an_unknown_user_is_refused)
{
	char said[SAID_BYTES];

	if (system("unshare --user true 2>/dev/null"))
		cr_skip_test("it may not make a user namespace");
	snprintf(said, sizeof said,
		 "exec timeout 20 unshare --user %s/quoitd --private --socket=/tmp/no/s",
		 tool_folder());
	cr_expect_eq(WEXITSTATUS(system(said)), 77);
}

Test(machines, a_folder_that_is_closed_is_named)
{
	struct daemon d;
	char text[256];

	make_place(0755);
	start_at_place(&d, 022);
	cr_expect_eq(chmod("/mnt/top", 0700), 0);
	cr_expect_eq(open_as(&d, USERS_ALICE, false, text), -EACCES);
	cr_expect(strstr(text, "the folder /mnt/top is closed to this user"), "%s", text);
	daemon_stop(&d);
}

/* ---- limits of the process ---- */

static struct rlimit tight;
static int tight_resource;

static void be_tight(void)
{
	(void)setrlimit((__rlimit_resource_t)tight_resource, &tight);
}

static void be_tight_as_daemon(const struct daemon *d)
{
	(void)daemon_log_to_file(d);
	be_tight();
}

/* Expect a quoitd with this limit to serve, and its program to work. */
static void expect_served(int resource, uint64_t bytes)
{
	struct quoit_open_params p = {0};
	struct quoit_session *session;
	struct quoit_ring *q;
	struct daemon d;

	tight_resource = resource;
	tight = (struct rlimit){bytes, bytes};
	cr_assert_eq(daemon_start_prepared(&d, NULL, be_tight_as_daemon), 0, "%d", resource);
	p.socket = d.socket;
	cr_assert_eq(quoit_open(&p, &session), 0, "%d: %s", resource, quoit_open_text());
	cr_expect_eq(quoit_open_ring(session, NULL, &q), 0, "%s", quoit_open_text());
	cr_expect_eq(quoit_close(session, 0), 0);
	daemon_stop(&d);
}

Test(machines, default_leases_fit_into_its_limits)
{
	expect_served(RLIMIT_FSIZE, UINT64_C(1) << 30);
#ifndef QUOIT_SANITIZE /* a sanitizer reserves terabytes */
	expect_served(RLIMIT_AS, UINT64_C(4) << 30);
#endif
}

static void multiply(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t side)
{
	quoit_tensor a = quoit_create_matrix(q, dtype, side, side);
	quoit_tensor b = quoit_create_matrix(q, dtype, side, side);
	quoit_tensor sum = quoit_create_vector(q, QUOIT_F32, 1),
		     c = quoit_create_matrix(q, QUOIT_F32, side, side);
	float got;

	cr_assert_eq(quoit_push(q, quoit_fill(a, 1)), 0);
	cr_assert_eq(quoit_push(q, quoit_gemm(b, a, a, 0, 1.0, 0.0)), 0);
	cr_assert_eq(quoit_push(q, quoit_cast(c, b)), 0);
	cr_assert_eq(quoit_push(q, quoit_sum(sum, c, QUOIT_AXIS_ALL)), 0);
	cr_assert_eq(quoit_read(q, sum, &got, sizeof got), 0);
	cr_expect_eq(got, (float)(side * side * side));
}

/* Less than the stack of a product by our own kernels, on any thread. */
Test(machines, however_small_a_stack_is_allowed)
{
	const char *const options[] = {"--blas=built-in", NULL};
	struct quoit_open_params p = {0};
	struct quoit_session *session;
	struct quoit_ring *q;
	struct daemon d;

	tight_resource = RLIMIT_STACK;
	tight = (struct rlimit){128 << 10, 128 << 10};
	cr_assert_eq(daemon_start_prepared(&d, options, be_tight_as_daemon), 0);
	p.socket = d.socket;
	cr_assert_eq(quoit_open(&p, &session), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(session, NULL, &q), 0, "%s", quoit_open_text());
	for (uint32_t side = 8; side <= 256; side *= 32) {
		multiply(q, QUOIT_F32, side);
		multiply(q, QUOIT_F64, side);
	}
	cr_expect_eq(quoit_close(session, 0), 0);
	daemon_stop(&d);
}

static unsigned few;

/* Limit the threads of a user; no other test has this uid. */
static void have_few_threads(const struct daemon *d)
{
	const struct rlimit limit = {few, few};

	(void)daemon_log_to_file(d);
	if (chown(d->folder, CROWDED, CROWDED) < 0 || setrlimit(RLIMIT_NPROC, &limit) < 0 ||
	    setgroups(0, NULL) < 0 || setgid(CROWDED) < 0 || setuid(CROWDED) < 0)
		_exit(126);
}

/* quoitd writes its topology a moment after the log line: a few seconds are more than enough. */
static bool topo_comes_to_say(const struct daemon *d, const char *words)
{
	char said[SAID_BYTES];

	for (unsigned i = 0; i < 500; i++) {
		if (tool_run(said, sizeof said, "topo --socket=%s", d->socket) != 0)
			return false;
		if (strstr(said, words))
			return true;
		(void)usleep(10000);
	}
	return false;
}

/*
 * With the fewest threads with which quoitd starts, none is left for features that it can do
 * without.
 */
Test(machines, where_there_are_too_few_threads_a_worker_has_one)
{
	static const char missing[] =
		": a second thread of each worker (Resource temporarily unavailable)";
	static const char *const options[] = {"--log=info", "--blas=built-in", NULL};
	struct daemon d;

	if (geteuid() != 0)
		cr_skip_test("only root can be another user");
	for (few = 2; daemon_start_prepared(&d, options, have_few_threads) != 0; few++)
		cr_assert_lt(few, 200);
	cr_expect_eq(daemon_log_count(&d, missing, 1), 1);
	cr_expect(topo_comes_to_say(&d, missing));
	daemon_stop(&d);
}

static void expect_refused(int resource, uint64_t bytes, const char *words)
{
	struct quoit_open_params p = {.host_bytes = UINT64_C(256) << 20};
	struct quoit_session *session;
	struct daemon d;

	tight_resource = resource;
	tight = (struct rlimit){bytes, bytes};
	cr_assert_eq(daemon_start_prepared(&d, (const char *const[]){"--memory=2G", NULL},
					   be_tight_as_daemon),
		     0, "%d", resource);
	p.socket = d.socket;
	cr_expect_lt(quoit_open(&p, &session), 0);
	cr_expect(strstr(quoit_open_text(), words), "%s", quoit_open_text());
	daemon_stop(&d);
}

Test(machines, what_does_not_fit_names_the_limit)
{
	expect_refused(RLIMIT_FSIZE, UINT64_C(1) << 30,
		       "RLIMIT_FSIZE allows 1048576 KiB of a file (ulimit -f, LimitFSIZE=)");
#ifndef QUOIT_SANITIZE
	expect_refused(RLIMIT_AS, UINT64_C(4) << 30,
		       "RLIMIT_AS allows 4194304 KiB (ulimit -v, LimitAS=)");
#endif
}

Test(machines, files_that_must_be_tiny_are_a_sentence)
{
	const char *const run[] = {"quoit", "run", "--", "true", NULL};
	char said[SAID_BYTES];

	tight_resource = RLIMIT_FSIZE;
	tight = (struct rlimit){UINT64_C(512) << 10, UINT64_C(512) << 10};
	cr_expect_eq(tool_run_prepared(said, sizeof said, be_tight, run), 125, "%s", said);
	cr_expect(strstr(said, "File too large; RLIMIT_FSIZE allows 512 KiB"), "%s", said);
}

#ifndef QUOIT_SANITIZE /* a sanitizer reserves terabytes */
/* Either quoitd starts, or it names the limit. */
Test(machines, whatever_addresses_it_has)
{
	/* the less it has, the earlier it fails */
	static const uint64_t mib[] = {84, 88, 92, 96, 100, 300, 1000, 2000};
	const char *const run[] = {"quoit", "run", "--", "true", NULL};
	char said[SAID_BYTES];

	tight_resource = RLIMIT_AS;
	for (unsigned i = 0; i < sizeof mib / sizeof mib[0]; i++) {
		int status;

		tight = (struct rlimit){mib[i] << 20, mib[i] << 20};
		status = tool_run_prepared(said, sizeof said, be_tight, run);
		cr_expect(status == 0 || (status == 125 && strstr(said, "RLIMIT_AS")),
			  "%d MiB: %d, %s", (int)mib[i], status, said);
	}
}
#endif

/* ---- advice that the kernel does not know ---- */

static uint32_t refused_advice;

static void refuse_advice(void)
{
	const struct refused_call call = {SYS_madvise, 3, refused_advice};

	refuse_calls(&call, 1, EINVAL);
}

/* A child must not use its parent's session. */
static int use_and_fork(const char *socket)
{
	const struct quoit_open_params p = {.socket = socket};
	struct quoit_session *session, *own;
	struct quoit_ring *q;
	int status;
	pid_t pid;

	refuse_advice();
	if (quoit_open(&p, &session) < 0 || quoit_open_ring(session, NULL, &q) < 0)
		return 1;
	pid = fork();
	if (!pid) {
		if (quoit_push(q, quoit_nop(QUOIT_NO_TENSOR)) != -EOWNERDEAD)
			_exit(2);
		if (quoit_open(&p, &own) < 0 || quoit_open_ring(own, NULL, &q) < 0)
			_exit(3);
		_exit(quoit_push(q, quoit_nop(QUOIT_NO_TENSOR)) || quoit_close(own, 0) ||
		      quoit_close(session, 0));
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return 4 + WEXITSTATUS(status);
	return quoit_push(q, quoit_nop(QUOIT_NO_TENSOR)) || quoit_wait_all(q, QUOIT_FOREVER) ||
	       quoit_close(session, 0);
}

Test(machines, advice_that_is_refused_is_done_without)
{
	static const uint32_t advice[] = {MADV_WIPEONFORK, MADV_DONTFORK, MADV_DONTDUMP,
					  MADV_HUGEPAGE};
	struct daemon d;
	int status;
	pid_t pid;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	for (unsigned i = 0; i < sizeof advice / sizeof advice[0]; i++) {
		refused_advice = advice[i];
		pid = fork();
		if (!pid)
			_exit(use_and_fork(d.socket));
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_expect_eq(status, 0, "%u: %#x", advice[i], (unsigned)status);
	}
	daemon_stop(&d);
}

/* ---- libraries ---- */

/* Read the line of the thread's status in /proc that begins with `label`. */
static void read_status(pid_t pid, pid_t thread, const char *label, char ret[128])
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)thread);
	f = fopen(path, "re");
	cr_assert(f);
	*ret = '\0';
	while (fgets(line, sizeof line, f))
		if (!strncmp(line, label, strlen(label)))
			snprintf(ret, 128, "%s", line + strlen(label) + 1);
	fclose(f);
}

static void start_with(struct daemon *d, const char *blas, daemon_prepare_fn *prepare)
{
	char option[64];

	snprintf(option, sizeof option, "--blas=%s", blas);
	cr_assert_eq(daemon_start_prepared(d, (const char *const[]){option, "--log=info", NULL},
					   prepare),
		     0, "%s", blas);
}

static char libraries[] = "/tmp/quoit-e2e-XXXXXX";

static void find_rude_blas(const struct daemon *d)
{
	(void)daemon_log_to_file(d);
	setenv("LD_LIBRARY_PATH", libraries, 1);
	/* The library aborts if it finds one of these. */
	setenv("OMP_PROC_BIND", "true", 1);
	setenv("GOMP_CPU_AFFINITY", "0", 1);
	setenv("KMP_AFFINITY", "compact", 1);
	setenv("MKL_NUM_THREADS", "1", 1);
}

static void offer_rude_blas(void)
{
	char target[1024], path[64], folder[512];

	cr_assert(mkdtemp(libraries));
	cr_assert(realpath(tool_folder(), folder));
	snprintf(target, sizeof target, "%s/modules/rude_blas.so", folder);
	snprintf(path, sizeof path, "%s/libopenblas.so.0", libraries);
	cr_assert_eq(symlink(target, path), 0);
}

static float scale_denormal(const struct daemon *d)
{
	const struct quoit_open_params p = {.socket = d->socket};
	struct quoit_session *session;
	struct quoit_ring *q;
	quoit_tensor t;
	float x = -1;

	cr_assert_eq(quoit_open(&p, &session), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(session, NULL, &q), 0);
	t = quoit_create_vector(q, QUOIT_F32, 1);
	(void)quoit_push(q, quoit_fill(t, 1e-40));
	(void)quoit_push(q, quoit_mul_scalar(t, t, 0.5));
	cr_expect_eq(quoit_read(q, t, &x, sizeof x), 0);
	quoit_close(session, 0);
	return x;
}

Test(machines, a_blas_cannot_change_quoitd)
{
	static const char *const labels[] = {"Cpus_allowed_list:", "SigIgn:", "Umask:"};
	char usual[3][128], now[128], path[64], topology[8192];
	const float half = 1e-40f * 0.5f;
	struct daemon d;

	offer_rude_blas();
	start_with(&d, "built-in", find_rude_blas);
	for (int i = 0; i < 3; i++)
		read_status(d.pid, d.pid, labels[i], usual[i]);
	daemon_stop(&d);
	start_with(&d, "openblas", find_rude_blas);
	for (int i = 0; i < 3; i++) {
		read_status(d.pid, d.pid, labels[i], now);
		cr_expect_str_eq(now, usual[i], "%s", labels[i]);
	}
	cr_expect_eq(scale_denormal(&d), half);
	cr_expect_eq(daemon_log_count(&d,
				      "OpenBLAS changed the CPUs the signals the "
				      "floating-point mode the umask of quoitd",
				      1),
		     1);
	daemon_topology(&d, topology, sizeof topology);
	cr_expect(strstr(topology, "blas: OpenBLAS, ") && strstr(topology, "by --blas"), "%s",
		  topology);
	daemon_stop(&d); /* by SIGTERM */
	snprintf(path, sizeof path, "%s/libopenblas.so.0", libraries);
	(void)unlink(path);
	(void)rmdir(libraries);
}

static void product(const struct daemon *d, float *to, unsigned n)
{
	const struct quoit_open_params p = {.socket = d->socket};
	struct quoit_session *session;
	struct quoit_ring *q;
	quoit_tensor a, b;

	cr_assert_eq(quoit_open(&p, &session), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(session, NULL, &q), 0);
	a = quoit_create_matrix(q, QUOIT_F32, n, n);
	b = quoit_create_matrix(q, QUOIT_F32, n, n);
	cr_assert_eq(quoit_push(q, quoit_normal(a, 7, 0)), 0);
	cr_assert_eq(quoit_push(q, quoit_gemm(b, a, a, 0, 1, 0)), 0);
	cr_assert_eq(quoit_read(q, b, to, sizeof *to * n * n), 0);
	quoit_close(session, 0);
}

/* With a named library, results do not depend on which library was fastest at the start. */
Test(machines, the_bits_of_a_product_are_the_same_at_every_start)
{
	static const char *const names[] = {"built-in", "openblas"};
	static float first[300 * 300], again[300 * 300];

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		for (unsigned start = 0; start < 3; start++) {
			struct daemon d;

			start_with(&d, names[i], NULL);
			product(&d, start ? again : first, 300);
			daemon_stop(&d);
			cr_expect(!start || !memcmp(first, again, sizeof first), "%s", names[i]);
		}
}

Test(machines, a_blas_that_is_named_is_taken_or_refused)
{
	char said[SAID_BYTES], topology[8192];
	struct daemon d;

	start_with(&d, "built-in", NULL);
	daemon_topology(&d, topology, sizeof topology);
	cr_expect(strstr(topology, "blas: built-in, "), "%s", topology);
	daemon_stop(&d);
	cr_expect_eq(tool_run(said, sizeof said, "run --blas=mkl -- true"), 125);
	cr_expect(strstr(said, "blas: invalid value 'mkl': allowed are auto, built-in, OpenBLAS, "),
		  "%s", said);
}

static void set_topology(const struct daemon *d)
{
	(void)daemon_log_to_file(d);
	setenv("HWLOC_SYNTHETIC", "numa:2 core:4 pu:2", 1);
	setenv("HWLOC_COMPONENTS", "-linux", 1);
}

Test(machines, variables_of_hwloc_are_ignored_which_is_said)
{
	char usual[8192], topology[8192];
	struct daemon d;

	start_with(&d, "built-in", NULL);
	daemon_topology(&d, usual, sizeof usual);
	daemon_stop(&d);
	start_with(&d, "built-in", set_topology);
	daemon_topology(&d, topology, sizeof topology);
	cr_expect_eq(strcspn(usual, "\n"), strcspn(topology, "\n"), "%s", topology);
	cr_expect_eq(strncmp(usual, topology, strcspn(usual, "\n")), 0, "%s", topology);
	cr_expect_eq(daemon_log_count(&d, "HWLOC_SYNTHETIC in the environment is ignored", 1), 1);
	daemon_stop(&d);
}

/* ---- a quoitd that is stopped ---- */

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void expect_silent(const struct daemon *d, const char *command, const char *words)
{
	double begin = seconds_now();
	char said[SAID_BYTES];

	(void)tool_run(said, sizeof said, "%s --socket=%s", command, d->socket);
	cr_expect(strstr(said, words), "%s: %s", command, said);
	cr_expect_lt(seconds_now() - begin, 15, "%s", command);
}

Test(machines, a_quoitd_that_is_stopped_is_told_and_keeps_nobody)
{
	struct quoit_open_params p = {0};
	struct quoit_session *session;
	struct daemon d;
	double begin;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	p.socket = d.socket;
	process_stop(d.pid);
	begin = seconds_now();
	cr_expect_eq(quoit_open(&p, &session), -ETIMEDOUT);
	cr_expect(strstr(quoit_open_text(), "is stopped"), "%s", quoit_open_text());
	cr_expect_lt(seconds_now() - begin, 15);
	expect_silent(&d, "kill 1", "quoitd does not answer: nothing for 5 s");
	expect_silent(&d, "share", "quoitd does not answer: nothing for 5 s");
	expect_silent(&d, "ps", "does not move: reactor 0");
	expect_silent(&d, "topo", "does not move: reactor 0");
	expect_silent(&d, "stat", "does not move: reactor 0");
	expect_silent(&d, "top --batch -n 1", "does not move: reactor 0");
	cr_assert_eq(kill(d.pid, SIGCONT), 0);
	cr_expect_eq(quoit_open(&p, &session), 0, "%s", quoit_open_text());
	quoit_close(session, 0);
	daemon_stop(&d);
}

/* Once a second it reports that it is alive, but not more often. */
Test(machines, a_quoitd_with_nothing_to_do_is_not_silent)
{
	struct daemon d;
	char said[SAID_BYTES];

	cr_assert_eq(daemon_start(&d, NULL), 0);
	sleep(7);
	(void)tool_run(said, sizeof said, "ps --socket=%s", d.socket);
	cr_expect_not(strstr(said, "does not move"), "%s", said);
	daemon_stop(&d);
}
