/* SPDX-License-Identifier: MIT */
/*
 * hostile_users.c - quoitd as a service, and clients of several users; for root only
 *
 * It uses three uids without an account: the service's, and two clients'.  The clients are
 * processes of their own; their exit status tells failures.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/trace.h>

#include "ctl_client.h"
#include "scenes.h"

#define MIB (UINT64_C(1) << 20)

static const struct raw_wish wish = {
	.host_bytes = 8 * MIB, .arena_bytes = MIB, .max_tensors = 64, .sq_entries = 64};

/* Run a client as this user; true: it found no error. */
static bool run_as(uid_t uid, int (*client)(const char *socket), const char *socket)
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		scene_become(uid);
		status = client(socket);
		fflush(NULL);
		_exit(status);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

/* In a client: print a line and return 1 if `bad`. */
static int wrong(bool bad, const char *what)
{
	if (bad)
		printf("uid %u: %s\n", (unsigned)getuid(), what);
	return bad;
}

/* ---- files in memory, opened again ---- */

static int reopen(int fd, int flags)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

/* ---- who may be a client ---- */

static int is_refused(const char *socket)
{
	struct raw_client c;

	return wrong(raw_open(&c, socket, &wish) != -ECONNRESET, "was let in") ||
	       wrong(!strstr(c.text, "not the one that it runs as"), "was not told why");
}

static void the_services_own_user(struct stage *s)
{
	CHECK(s, run_as(SCENE_SERVICE, is_refused, s->daemon.socket));
	stage_expect(s, QUOIT_DAEMON_REFUSED_UID, 1);
}

/* ---- a user's remains ---- */

#define PATTERN UINT64_C(0x40934a4584f4c6e7) /* an arbitrary double */

static int leave_a_pattern(const char *socket)
{
	struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, 1, 0, 0);
	struct raw_client c;

	if (wrong(raw_open(&c, socket, &wish) != 0, "cannot open a session"))
		return 1;
	fill.scalar[0] = PATTERN;
	memset(c.arena, 0x5a, c.info.arena_bytes);
	return wrong(raw_run(&c, raw_vector(1, (uint32_t)(3 * MIB / 2), RAW_ARENA_NOT)) != 0 ||
			     raw_run(&c, fill) != 0,
		     "cannot fill its memory");
}

static int find_only_zeros(const char *socket)
{
	struct quoit_sqe sum = {.opcode = QUOIT_OP_SQNORM, .arg = QUOIT_AXIS_ALL, .tensor = {2, 1}};
	struct raw_client c;
	uint64_t i = 0;

	if (wrong(raw_open(&c, socket, &wish) != 0, "cannot open a session"))
		return 1;
	while (i < c.info.arena_bytes && !c.arena[i])
		i++;
	if (wrong(i < c.info.arena_bytes, "found bytes in a new arena"))
		return 1;
	if (wrong(raw_run(&c, raw_vector(1, (uint32_t)(3 * MIB / 2), RAW_ARENA_NOT)) != 0 ||
			  raw_run(&c, raw_vector(2, 1, 0)) != 0 || raw_run(&c, sum) != 0,
		  "cannot read its memory"))
		return 1;
	return wrong(*(const float *)(const void *)c.arena != 0, "found bytes in a new tensor");
}

static void memory_of_the_last_user(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 3, 300) && !s->bad; i++) {
		CHECK(s, run_as(SCENE_ALICE, leave_a_pattern, s->daemon.socket));
		CHECK(s, run_as(SCENE_BOB, find_only_zeros, s->daemon.socket));
		stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 2);
	}
}

/* ---- other users' sessions ---- */

static uint64_t victim; /* the session that a client tries to end */

static int end_the_victim(const char *socket)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_KILL, .end.session = victim};
	struct raw_client c;
	unsigned count;
	int err = raw_connect(&c, socket);

	if (!err)
		err = raw_call(&c, &m, NULL, 0, &count);
	return wrong(err != -ESRCH, "could end another user's session");
}

static void session_of_another_user(struct stage *s)
{
	struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};
	struct raw_client c;

	if (!stage_open(s, &c, &wish)) /* a session of none of these users */
		return;
	victim = c.info.session;
	CHECK(s, run_as(SCENE_BOB, end_the_victim, s->daemon.socket));
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
	CHECK(s, !raw_run(&c, nop));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- files in memory ---- */

static int add_file(struct raw_client *c, int flags, uint32_t *ret_index)
{
	int memory = memfd_create("torture", MFD_CLOEXEC), fd = reopen(memory, flags);
	int result = ctl_add_file(c, fd, ret_index);

	close(memory);
	close(fd);
	return result;
}

static int write_into_memory(const char *socket)
{
	struct quoit_sqe job = {.opcode = QUOIT_OP_FILE_WRITE, .tensor = {1}};
	struct raw_client c;
	uint32_t index;
	int bad = 0;

	if (wrong(raw_open(&c, socket, &wish) != 0, "cannot open a session"))
		return 1;
	bad += wrong(raw_run(&c, raw_vector(1, 1, 0)) != 0, "cannot make a tensor");
	bad += wrong(add_file(&c, O_WRONLY, &index) != -EACCES, "may write a file in memory");
	bad += wrong(add_file(&c, O_RDWR, &index) != 0, "may not read a file in memory");
	job.scalar[1] = index;
	bad += wrong(raw_run(&c, job) != -EACCES, "has written to a file in memory");
	raw_close(&c);
	return bad;
}

static void files_in_memory_are_not_written_for_another_user(struct stage *s)
{
	CHECK(s, run_as(SCENE_ALICE, write_into_memory, s->daemon.socket));
	stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
}

/* ---- counter files ---- */

static struct stat folder_was; /* the outer folder, before there were sessions */

static void path_of(const char *socket, const char *format, char *ret, size_t size)
{
	char name[48];

	snprintf(name, sizeof name, format, (unsigned long long)victim);
	snprintf(ret, size, "%.*s/%s", (int)(strrchr(socket, '/') - socket), socket, name);
}

/* A counter file of the victim, opened in this way; -errno. */
static int open_counters(const char *socket, const char *format, int flags)
{
	char path[200];
	int fd;

	path_of(socket, format, path, sizeof path);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Ask for a session's file, or for a list of those from that number on; the result or -errno. */
static int ask_for(const char *socket, uint16_t kind, uint16_t list, uint64_t session,
		   struct quoit_ctl *m, int *ret_fd)
{
	unsigned count = 0;
	struct raw_client c;
	int err = raw_connect(&c, socket);

	*ret_fd = -1;
	*m = (struct quoit_ctl){.type = QUOIT_CTL_COUNTERS,
				.counters = {.session = session, .kind = kind, .list = list}};
	if (err)
		return err;
	err = raw_call(&c, m, ret_fd, 1, &count);
	raw_close(&c);
	return err ? err : (int)count;
}

static int read_own(const char *socket, uint16_t kind)
{
	struct quoit_ctl m;
	char byte;
	int none, fd;

	return wrong(ask_for(socket, kind, 1, 0, &m, &none) != 0 || m.counters_reply.count != 1 ||
			     m.counters_reply.session[0] != victim,
		     "is not told of its own session, and no other") ||
	       wrong(ask_for(socket, kind, 1, victim + 1, &m, &none) != 0 || m.counters_reply.count,
		     "is told of sessions before the one that it asks for") ||
	       wrong(ask_for(socket, kind, 0, victim, &m, &fd) != 1, "gets no counter file") ||
	       wrong(read(fd, &byte, 1) != 1, "cannot read its own counter file") ||
	       wrong(mmap(NULL, 1, PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED,
		     "mapped it to write") ||
	       wrong(fchmod(fd, 0666) == 0, "changed its mode") ||
	       wrong(reopen(fd, O_RDWR) >= 0, "opened it to write");
}

static int read_own_counters(const char *socket)
{
	return read_own(socket, QUOIT_COUNTERS_SESSION) || read_own(socket, QUOIT_COUNTERS_LATENCY);
}

/* What is there and what is not must look alike. */
static int guess(const char *socket, const char *format, uint16_t kind)
{
	const uint64_t of = victim;
	int bad = 0;

	for (unsigned i = 0; i < 2 && !bad; i++, victim += 1000) {
		struct quoit_ctl m;
		struct stat st;
		char path[200];
		int fd;

		path_of(socket, format, path, sizeof path);
		bad = wrong(open_counters(socket, format, O_RDONLY) != -EACCES,
			    "opened a file in the folder") ||
		      wrong(stat(path, &st) == 0 || errno != EACCES, "can ask about a file") ||
		      wrong(unlink(path) == 0 || errno != EACCES, "can ask for a file's end") ||
		      wrong(link("/proc/self/stat", path) == 0 || errno == EEXIST,
			    "learns of a file by a link") ||
		      wrong(ask_for(socket, kind, 0, victim, &m, &fd) != -ENOENT || fd >= 0,
			    "is given a file of another's session") ||
		      wrong(ask_for(socket, kind, 1, 0, &m, &fd) != 0 || m.counters_reply.count,
			    "is told of another's session");
	}
	victim = of;
	return bad;
}

/* All that a user sees of the folders: names of files, and the outer folder's times and size. */
static int see_no_sessions(const char *socket)
{
	char path[200], inner[240];
	struct dirent *entry;
	struct stat st;
	int bad = 0;
	DIR *dir;

	snprintf(path, sizeof path, "%.*s", (int)(strrchr(socket, '/') - socket), socket);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		bad += wrong(strstr(entry->d_name, "session") || strstr(entry->d_name, "latency") ||
				     strstr(entry->d_name, "trace"),
			     "sees a session's file beside the socket");
	if (dir)
		closedir(dir);
	snprintf(inner, sizeof inner, "%s/" QUOIT_STATS_PRIVATE, path);
	bad += wrong(!dir || stat(inner, &st) < 0 || open(inner, O_RDONLY | O_CLOEXEC) >= 0 ||
			     open(inner, O_PATH | O_CLOEXEC) < 0,
		     "does not see the outer folder, or sees into it");
	bad += wrong(st.st_mtim.tv_sec != folder_was.st_mtim.tv_sec ||
			     st.st_mtim.tv_nsec != folder_was.st_mtim.tv_nsec ||
			     st.st_ctim.tv_nsec != folder_was.st_ctim.tv_nsec ||
			     st.st_size != folder_was.st_size || st.st_nlink != folder_was.st_nlink,
		     "sees in the outer folder's times or size that there is another session");
	snprintf(inner, sizeof inner, "%s/" QUOIT_STATS_SESSIONS, path);
	return bad + wrong(stat(inner, &st) == 0 || errno != EACCES,
			   "sees times or size of the sessions' folder");
}

static int read_foreign_counters(const char *socket)
{
	return guess(socket, QUOIT_STATS_SESSION, QUOIT_COUNTERS_SESSION) ||
	       guess(socket, QUOIT_STATS_LATENCY, QUOIT_COUNTERS_LATENCY) ||
	       see_no_sessions(socket);
}

/* ---- invalid requests for counter files ---- */

static int ask_wrongly(const char *socket)
{
	struct quoit_ctl m;
	int fd;

	return wrong(ask_for(socket, QUOIT_COUNTERS_KINDS, 0, 1, &m, &fd) != -EINVAL ||
			     ask_for(socket, 0, 2, 1, &m, &fd) != -EINVAL ||
			     ask_for(socket, 0, 1, UINT64_MAX, &m, &fd) != 0,
		     "is not told what is allowed");
}

static void requests_for_counters_are_checked(struct stage *s)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC,
			      .type = QUOIT_CTL_COUNTERS,
			      .counters = {.session = 1, .kind = QUOIT_COUNTERS_SESSION}};
	struct raw_client c;

	CHECK(s, run_as(SCENE_ALICE, ask_wrongly, s->daemon.socket));
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 3);
	if (!CHECK(s, !ctl_connect_as(&c, s->daemon.socket, SCENE_BOB)))
		return;
	/* Descriptors that wait to be taken count as quoitd's: one reply at a time. */
	ctl_leave_unread(s, &c, &m);
}

static void counter_files_are_for_their_user(struct stage *s)
{
	struct quoit_ctl m = ctl_hello(), answer;
	struct raw_client c;
	char path[200];

	path_of(s->daemon.socket, QUOIT_STATS_PRIVATE, path, sizeof path);
	CHECK(s, !stat(path, &folder_was));
	if (!CHECK(s, !ctl_connect_as(&c, s->daemon.socket, SCENE_ALICE)))
		return;
	if (CHECK(s, !ctl_ask(c.socket, &m, -1, &answer) && !answer.result)) {
		victim = answer.hello_reply.session;
		CHECK(s, run_as(SCENE_ALICE, read_own_counters, s->daemon.socket));
		CHECK(s, run_as(SCENE_BOB, read_foreign_counters, s->daemon.socket));
		stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 2 * 3 + 2 * 4); /* who asked */
	}
	stage_die(s, &c);
}

/* ---- recordings ---- */

#define ALICES 3u

static int read_own_trace(const char *socket)
{
	return read_own(socket, QUOIT_COUNTERS_TRACE);
}

static int read_foreign_trace(const char *socket)
{
	struct quoit_ctl m;
	int fd;

	return wrong(open_counters(socket, QUOIT_STATS_TRACE, O_RDONLY) != -EACCES ||
			     ask_for(socket, QUOIT_COUNTERS_TRACE, 0, victim, &m, &fd) != -ENOENT,
		     "opened the trace of another's session");
}

static bool open_as(struct stage *s, uid_t uid, struct raw_client *c, uint64_t *ret_session)
{
	struct quoit_ctl m = ctl_hello(), answer;

	if (!CHECK(s, !ctl_connect_as(c, s->daemon.socket, uid)) ||
	    !CHECK(s, !ctl_ask(c->socket, &m, -1, &answer) && !answer.result))
		return false;
	*ret_session = answer.hello_reply.session;
	return true;
}

static bool is_recorded(struct stage *s, uint64_t session)
{
	int fd;

	victim = session;
	fd = open_counters(s->daemon.socket, QUOIT_STATS_TRACE, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A quarter of what root may have is one of the largest files; others get none. */
static void root_records_all_users_and_none_takes_all_of_it(struct stage *s)
{
	struct raw_client alice[ALICES], bob, recorder;
	uint64_t hers[ALICES], his;

	for (unsigned i = 0; i < ALICES; i++)
		if (!open_as(s, SCENE_ALICE, &alice[i], &hers[i]))
			return;
	if (!open_as(s, SCENE_BOB, &bob, &his))
		return;
	raw_set_user(0);
	CHECK(s, ctl_record(s, &recorder, QUOIT_TRACE_MOST) == 3); /* and the canary's */
	raw_set_user(SCENE_MALLORY);
	CHECK(s, is_recorded(s, hers[0]) && !is_recorded(s, hers[1]) && !is_recorded(s, hers[2]));
	CHECK(s, is_recorded(s, his));
	CHECK(s, run_as(SCENE_BOB, read_own_trace, s->daemon.socket));
	CHECK(s, run_as(SCENE_ALICE, read_foreign_trace, s->daemon.socket));
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 3 + 1); /* who asked */
	ctl_leave(s, &recorder);
	for (unsigned i = 0; i < ALICES; i++)
		stage_die(s, &alice[i]);
	stage_die(s, &bob);
}

/* ---- what /proc shows of quoitd ---- */

static pid_t quoitd; /* the quoitd that a client looks at */

/* Open one of its entries in /proc; 0 or -errno. */
static int look(const char *entry)
{
	char path[40];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)quoitd, entry);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int see_nothing(const char *socket)
{
	(void)socket;
	return wrong(look("fd") != -EACCES, "sees its descriptors") ||
	       wrong(look("maps") != -EACCES, "sees its mappings") ||
	       wrong(look("mem") != -EACCES, "sees its memory");
}

static int see_all(const char *socket)
{
	(void)socket;
	return wrong(look("fd") || look("maps"), "does not see what its own quoitd has");
}

static void expect_no_core(struct stage *s)
{
	unsigned long long most = 1;
	char path[40], line[128];
	FILE *limits;

	snprintf(path, sizeof path, "/proc/%d/limits", (int)quoitd);
	limits = fopen(path, "re");
	while (limits && fgets(line, sizeof line, limits))
		(void)sscanf(line, "Max core file size %*s %llu", &most);
	if (limits)
		fclose(limits);
	CHECK(s, most == 0);
}

static void service_is_closed_to_its_own_user_too(struct stage *s)
{
	quoitd = s->daemon.pid;
	CHECK(s, run_as(SCENE_SERVICE, see_nothing, s->daemon.socket));
	CHECK(s, run_as(SCENE_ALICE, see_nothing, s->daemon.socket));
	expect_no_core(s);
}

static void private_quoitd_is_open_to_its_user_alone(struct stage *s)
{
	quoitd = s->daemon.pid;
	CHECK(s, run_as(SCENE_SERVICE, see_all, s->daemon.socket));
	CHECK(s, run_as(SCENE_ALICE, see_nothing, s->daemon.socket));
	expect_no_core(s);
}

static const struct stage_case cases[] = {
	{"the service's own user", the_services_own_user},
	{"memory of the last user", memory_of_the_last_user},
	{"session of another user", session_of_another_user},
	{"files in memory are not written for another user",
	 files_in_memory_are_not_written_for_another_user},
	{"counter files are for their user", counter_files_are_for_their_user},
	{"requests for counter files are checked", requests_for_counters_are_checked},
	{"root records all users, and none takes all of it",
	 root_records_all_users_and_none_takes_all_of_it},
	{"/proc shows a service to nobody", service_is_closed_to_its_own_user_too},
};
static const struct stage_case private_cases[] = {
	{"/proc shows a private quoitd to its user alone",
	 private_quoitd_is_open_to_its_user_alone},
};
#define COUNT(a) (sizeof a / sizeof a[0])

int main(int argc, char **argv)
{
	const struct stage_scene service = {.prepare = scene_as_service};
	const struct stage_scene private = {.prepare = scene_as_owner, .owner = SCENE_SERVICE};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	if (stage_has_users()) {
		stage_play(&stage, &service, cases, COUNT(cases));
		stage_play(&stage, &private, private_cases, COUNT(private_cases));
	} else {
		stage_skip(&stage, cases, COUNT(cases), "only root can be several users");
		stage_skip(&stage, private_cases, COUNT(private_cases),
			   "only root can be several users");
	}
	return stage_end(&stage);
}
