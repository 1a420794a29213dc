/* SPDX-License-Identifier: MIT */
/*
 * test_features.c - quoitd says which features the kernel refuses, and everything works without
 * them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "daemon.h"
#include "refuse.h"

#define MIB           (UINT64_C(1) << 20)
#define WORDS         (3 * MIB / 4)
#define PATIENCE      500 /* times 10 ms */
#define SO_PEERPIDFD_ 77

enum feature { IO_URING, BUFFERS, PIDFD, MBIND, HUGE_PAGES, MEMLOCK, USERFAULTFD, ALL, NONE };

/* In the order of enum feature; a feature's calls lie side by side. */
static const struct refused_call calls[] = {
	{SYS_io_uring_setup, 0, 0}, {SYS_io_uring_register, 0, 0},
	{SYS_pidfd_open, 0, 0},     {SYS_getsockopt, 3, SO_PEERPIDFD_},
	{SYS_mbind, 0, 0},          {SYS_madvise, 3, MADV_HUGEPAGE},
	{SYS_mlock, 0, 0},          {SYS_mlock2, 0, 0},
	{SYS_userfaultfd, 0, 0},
};

static const struct {
	const char *label;
	unsigned first, count;
} features[] = {
	[IO_URING] = {"io_uring", 0, 1},
	[BUFFERS] = {"registered buffers", 1, 1},
	[PIDFD] = {"pidfd", 2, 2},
	[MBIND] = {"mbind", 4, 1},
	[HUGE_PAGES] = {"huge pages", 5, 1},
	[MEMLOCK] = {"memlock", 6, 2},
	[USERFAULTFD] = {"userfaultfd", 8, 1},
	[ALL] = {NULL, 0, sizeof calls / sizeof calls[0]},
	[NONE] = {NULL, 0, 0},
};

struct refusal {
	enum feature feature;
	int error;
};

/* For the next daemon; there is no other way to pass it. */
static struct refusal asked;

static void prepare(const struct daemon *d)
{
	if (daemon_log_to_file(d) < 0)
		_exit(126);
	refuse_calls(&calls[features[asked.feature].first], features[asked.feature].count,
		     asked.error);
}

static void start(struct daemon *d, struct refusal refusal)
{
	static const char *const options[] = {"--log=info", NULL};

	asked = refusal;
	cr_assert_eq(daemon_start_prepared(d, options, prepare), 0);
}

static char *read_file(const struct daemon *d, const char *name)
{
	char path[128], *text = calloc(1, 65536);
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", d->folder, name);
	f = fopen(path, "r");
	cr_assert(f && text, "%s", path);
	(void)!fread(text, 1, 65535, f);
	fclose(f);
	return text;
}

static unsigned count(const char *text, const char *words)
{
	unsigned n = 0;

	while ((text = strstr(text, words)) != NULL) {
		text++;
		n++;
	}
	return n;
}

/* How often the topology and the log name the feature, with this reason. */
static void expect_said(const struct daemon *d, const char *label, int error, unsigned times)
{
	char *topology = read_file(d, QUOIT_STATS_TOPOLOGY);
	char line[256];

	snprintf(line, sizeof line, "missing: %s (%s): ", label, strerror(error));
	cr_expect_eq(count(topology, line), times, "'%s' in\n%s", line, topology);
	snprintf(line, sizeof line, "unavailable: %s (%s): ", label, strerror(error));
	cr_expect_eq(daemon_log_count(d, line, times), times, "'%s' in the log", line);
	free(topology);
}

static int run(struct quoit_ring *q, struct quoit_sqe sqe)
{
	quoit_job job;
	int err = quoit_start(q, sqe, &job);

	return err ? err : quoit_wait(q, job, QUOIT_FOREVER);
}

/* Run jobs in both regions, also by workers, and through a file and back. */
static void expect_works(const struct daemon *d)
{
	struct quoit_open_params p = {.socket = d->socket,
				      .host_bytes = 64 * MIB,
				      .arena_bytes = 8 * MIB,
				      .pinned_bytes = 16 * MIB};
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, WORDS}};
	int32_t *got = malloc(WORDS * 4);
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor a, b;
	int fd, file;

	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	fd = open(d->folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	file = quoit_add_file(s, fd);
	cr_assert_geq(file, 0);
	a = quoit_create(q, &shape, QUOIT_CREATE_PINNED);
	b = quoit_create(q, &shape, 0);
	cr_expect_eq(run(q, quoit_fill_int(a, 41)), 0);
	cr_expect_eq(run(q, quoit_add_int(b, a, 1)), 0);
	cr_expect_eq(run(q, quoit_write_file(b, file, 0)), WORDS * 4);
	cr_expect_eq(run(q, quoit_read_file(a, file, 0)), WORDS * 4);
	cr_assert_eq(quoit_read(q, a, got, WORDS * 4), 0);
	for (unsigned i = 0; i < WORDS; i++)
		cr_assert_eq(got[i], 42, "word %u", i);
	free(got);
	close(fd);
	quoit_close(s, 0);
}

static struct refusal refusals[] = {
	{IO_URING, EPERM},    {IO_URING, ENOSYS},    {PIDFD, EPERM},      {PIDFD, ENOSYS},
	{MBIND, EPERM},       {MBIND, ENOSYS},       {HUGE_PAGES, EPERM}, {HUGE_PAGES, EINVAL},
	{USERFAULTFD, EPERM}, {USERFAULTFD, ENOSYS}, {MEMLOCK, EPERM},    {MEMLOCK, ENOSYS},
	{BUFFERS, EPERM},     {BUFFERS, EINVAL},
};

ParameterizedTestParameters(features, one_that_is_refused_is_named_once_and_not_needed)
{
	return cr_make_param_array(struct refusal, refusals, sizeof refusals / sizeof refusals[0]);
}

ParameterizedTest(struct refusal *r, features, one_that_is_refused_is_named_once_and_not_needed)
{
	struct daemon d;

	start(&d, *r);
	for (enum feature i = 0; i < ALL; i++)
		expect_said(&d, features[i].label, r->error, i == r->feature);
	expect_works(&d);
	daemon_stop(&d);
}

Test(features, all_may_be_refused_together)
{
	struct daemon d;

	start(&d, (struct refusal){ALL, EPERM});
	for (enum feature i = 0; i < ALL; i++)
		/* these belong to io_uring */
		expect_said(&d, features[i].label, EPERM, i != BUFFERS);
	expect_works(&d);
	daemon_stop(&d);
}

Test(features, those_that_are_there_are_not_named)
{
	struct daemon d;

	start(&d, (struct refusal){NONE, 0});
	for (enum feature i = 0; i < ALL; i++) {
		expect_said(&d, features[i].label, EPERM, 0);
		expect_said(&d, features[i].label, ENOSYS, 0);
	}
	expect_works(&d);
	daemon_stop(&d);
}

/* ---- users ---- */

/* All users but one would look the same to it. */
Test(features, a_daemon_for_all_does_not_run_where_it_cannot_tell_users_apart)
{
	const char *build = getenv("QUOIT_BUILD");
	char command[512], said[1024] = "", folder[] = "/tmp/quoit-users-XXXXXX";
	FILE *out;

	cr_assert_not_null(mkdtemp(folder));
	snprintf(command, sizeof command,
		 "timeout 10 unshare --user --map-root-user %s/quoitd --socket=%s/quoitd.sock 2>&1",
		 build ? build : "build", folder);
	out = popen(command, "r");
	cr_assert_not_null(out);
	(void)!fread(said, 1, sizeof said - 1, out);
	cr_expect_neq(pclose(out), 0);
	rmdir(folder);
	if (!strncmp(said, "unshare: ", 9))
		cr_skip_test("no user namespaces here");
	cr_expect(strstr(said, "uid_map"), "%s", said);
}

/* ---- pidfd ---- */

static bool session_ends(const struct daemon *d, unsigned long long id, unsigned naps)
{
	char path[160];

	snprintf(path, sizeof path, "%s/" QUOIT_STATS_SESSION, d->folder, id);
	while (access(path, F_OK) == 0 && naps--)
		usleep(10000);
	return access(path, F_OK) != 0;
}

/* Start a client that dies, and its child that holds the sockets; returns the child and session. */
static pid_t leave_child(const struct daemon *d, unsigned long long *ret_id)
{
	struct {
		pid_t child;
		unsigned long long id;
	} news = {0};
	int tell[2];
	pid_t client;

	cr_assert_eq(pipe(tell), 0);
	client = fork();
	if (client == 0) {
		struct quoit_open_params p = {.socket = d->socket};
		struct quoit_session *s;
		struct quoit_info info;

		if (quoit_open(&p, &s))
			_exit(1);
		quoit_get_info(s, &info);
		news.id = info.session;
		news.child = fork();
		if (news.child == 0) {
			pause();
			_exit(0);
		}
		(void)!write(tell[1], &news, sizeof news);
		_exit(0);
	}
	cr_assert_eq(read(tell[0], &news, sizeof news), sizeof news);
	cr_assert_eq(waitpid(client, NULL, 0), client);
	close(tell[0]);
	close(tell[1]);
	*ret_id = news.id;
	return news.child;
}

Test(features, session_ends_with_its_process_whoever_holds_the_socket)
{
	unsigned long long id;
	struct daemon d;
	char *topology;
	pid_t child;

	start(&d, (struct refusal){NONE, 0});
	topology = read_file(&d, QUOIT_STATS_TOPOLOGY);
	if (!strstr(topology, "missing: pidfd")) {
		child = leave_child(&d, &id);
		cr_expect(session_ends(&d, id, PATIENCE));
		kill(child, SIGKILL);
	}
	free(topology);
	daemon_stop(&d);
}

Test(features, without_pidfds_it_ends_when_nobody_holds_the_socket_any_more)
{
	unsigned long long id;
	struct daemon d;
	pid_t child;

	start(&d, (struct refusal){PIDFD, ENOSYS});
	child = leave_child(&d, &id);
	cr_expect_not(session_ends(&d, id, 10));
	kill(child, SIGKILL);
	cr_expect(session_ends(&d, id, PATIENCE));
	daemon_stop(&d);
}
