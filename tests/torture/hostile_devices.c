/* SPDX-License-Identifier: MIT */
/* hostile_devices.c - clients with tensors on devices, and devices, that die at any moment */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stage.h"

#define KIB         (UINT64_C(1) << 10)
#define PATIENCE_MS 60000
#define CROWD       6u /* clients at a time */
#define DEVICES     2u

/* Half of them lease 1 MiB of each device, the others 5 MiB, of 230. */
#define MOST_SESSIONS 40u

/* ---- a client ---- */

/* A client's work at a time: this many sets of tensors, each with its jobs. */
#define SETS     8u
#define ELEMENTS 1024u
#define SET_SQES 19u

/*
 * A set's tensors.  WHOLE: all of it is written.  HALF: half of it is written, the rest is new;
 * VIEW: that half.  FAR, on the other device: half of it is copied from there, the rest is new;
 * FAR_VIEW: that half.  SEEN_*: where the client sees them.
 */
enum { WHOLE = 1, HALF, VIEW, FAR, FAR_VIEW, SEEN_WHOLE, SEEN_HALF, SEEN_FAR, SET_TENSORS = 16 };

/* Jobs of a set that copy the result to where the client sees it. */
enum { SEE_WHOLE = 11, SEE_HALF, SEE_FAR };

/* How a client ends. */
enum { ALL_WELL, NO_SESSION, BAD_RESULT, BAD_BYTES };

struct client {
	struct raw_client raw;
	float secret;
	uint8_t device;
	int32_t res[SETS * SET_SQES];
};

static uint32_t handle(uint32_t set, uint32_t tensor)
{
	return 1u << QUOIT_HANDLE_INDEX_BITS | (set * SET_TENSORS + tensor);
}

static float *seen(const struct client *c, uint32_t set, uint32_t tensor)
{
	return (float *)(void *)c->raw.arena + (3 * set + tensor - SEEN_WHOLE) * ELEMENTS;
}

static struct quoit_sqe create(const struct client *c, uint32_t set, uint32_t tensor)
{
	struct quoit_sqe sqe = raw_vector(handle(set, tensor), ELEMENTS, RAW_ARENA_NOT);

	if (tensor >= SEEN_WHOLE)
		return raw_vector(handle(set, tensor), ELEMENTS,
				  (uint64_t)((uint8_t *)seen(c, set, tensor) - c->raw.arena));
	sqe.device = tensor == FAR ? 1 + c->device % DEVICES : c->device;
	return sqe;
}

static struct quoit_sqe half_of(uint32_t set, uint32_t view, uint32_t tensor)
{
	return (struct quoit_sqe){.opcode = QUOIT_OP_VIEW,
				  .base = {handle(set, view), handle(set, tensor)},
				  .dim = {1, 1, 1, ELEMENTS / 2},
				  .stride = {1, 1, 1, 1}};
}

static struct quoit_sqe fill(const struct client *c, uint32_t set, uint32_t tensor)
{
	struct quoit_sqe sqe = raw_job(QUOIT_OP_FILL, handle(set, tensor), 0, 0);
	double value = (double)c->secret;

	memcpy(&sqe.scalar[0], &value, sizeof value);
	return sqe;
}

static struct quoit_sqe give_back(uint32_t set, uint32_t tensor)
{
	return (struct quoit_sqe){.opcode = QUOIT_OP_FREE, .base = {handle(set, tensor)}};
}

static bool submit_set(struct client *c, uint32_t set)
{
	struct quoit_sqe sqes[SET_SQES] = {
		create(c, set, WHOLE),
		create(c, set, HALF),
		half_of(set, VIEW, HALF),
		create(c, set, FAR),
		half_of(set, FAR_VIEW, FAR),
		create(c, set, SEEN_WHOLE),
		create(c, set, SEEN_HALF),
		create(c, set, SEEN_FAR),
		fill(c, set, WHOLE),
		fill(c, set, VIEW),
		raw_job(QUOIT_OP_COPY, handle(set, FAR_VIEW), handle(set, VIEW), 0),
		[SEE_WHOLE] =
			raw_job(QUOIT_OP_COPY, handle(set, SEEN_WHOLE), handle(set, WHOLE), 0),
		[SEE_HALF] = raw_job(QUOIT_OP_COPY, handle(set, SEEN_HALF), handle(set, HALF), 0),
		[SEE_FAR] = raw_job(QUOIT_OP_COPY, handle(set, SEEN_FAR), handle(set, FAR), 0),
		give_back(set, WHOLE),
		give_back(set, VIEW),
		give_back(set, HALF),
		give_back(set, FAR_VIEW),
		give_back(set, FAR),
	};

	for (uint32_t i = 0; i < SET_SQES; i++) {
		sqes[i].user_data = set * SET_SQES + i;
		if (!raw_submit(&c->raw, &sqes[i]))
			return false;
	}
	return true;
}

/* Errors that a device's death may give a job. */
static bool is_a_death(int32_t res)
{
	return res == -QUOIT_EPOISON || res == -QUOIT_EGPUFAULT || res == -QUOIT_EDEVLOST ||
	       res == -ENODEV;
}

static bool reap_all(struct client *c)
{
	for (uint32_t i = 0; i < SETS * SET_SQES; i++) {
		struct quoit_cqe cqe;

		int err = raw_reap(&c->raw, PATIENCE_MS, &cqe, NULL);

		if (err || cqe.user_data >= SETS * SET_SQES || (cqe.res && !is_a_death(cqe.res))) {
			fprintf(stderr, "job %u of %u: %d, result %d; %llu bytes leased\n",
				err ? 0 : (unsigned)cqe.user_data % SET_SQES, SET_SQES, err,
				err ? 0 : cqe.res, (unsigned long long)c->raw.info.device_bytes);
			return false;
		}
		c->res[cqe.user_data] = cqe.res;
	}
	return true;
}

/* A copy that succeeded has the written values, and zeros; never another client's bytes. */
static bool is_right(const struct client *c, uint32_t set)
{
	const int32_t *res = &c->res[set * SET_SQES];

	for (uint32_t i = 0; i < ELEMENTS; i++) {
		float half = i < ELEMENTS / 2 ? c->secret : 0;

		if ((!res[SEE_WHOLE] && seen(c, set, SEEN_WHOLE)[i] != c->secret) ||
		    (!res[SEE_HALF] && seen(c, set, SEEN_HALF)[i] != half) ||
		    (!res[SEE_FAR] && seen(c, set, SEEN_FAR)[i] != half))
			return false;
	}
	return true;
}

static int play_round(struct client *c)
{
	memset(c->raw.arena, 0xee, 3 * SETS * ELEMENTS * sizeof(float));
	for (uint32_t set = 0; set < SETS; set++)
		if (!submit_set(c, set))
			return BAD_RESULT;
	if (!reap_all(c))
		return BAD_RESULT;
	for (uint32_t set = 0; set < SETS; set++)
		if (!is_right(c, set))
			return BAD_BYTES;
	for (uint32_t set = 0; set < SETS; set++)
		for (uint32_t tensor = SEEN_WHOLE; tensor <= SEEN_FAR; tensor++)
			if (raw_run(&c->raw, give_back(set, tensor)))
				return BAD_RESULT;
	return ALL_WELL;
}

static int play(struct client *c, uint32_t rounds)
{
	int end = ALL_WELL;

	for (uint32_t i = 0; i < rounds && end == ALL_WELL; i++)
		end = play_round(c);
	return end;
}

static const struct raw_wish wish = {
	.host_bytes = 1024 * KIB, .arena_bytes = 256 * KIB, .max_tensors = 128, .sq_entries = 256};

/* Half of them use GPU-direct mode. */
static struct raw_wish wish_of(uint32_t number)
{
	struct raw_wish mine = wish;

	mine.features = number / DEVICES % 2 ? QUOIT_FEATURE_DIRECT : 0;
	return mine;
}

static void choose_secret(struct client *c, uint32_t number)
{
	c->secret = (float)(1 + number);
	c->device = (uint8_t)(1 + number % DEVICES);
}

/* ---- its process ---- */

static _Atomic uint32_t *opened; /* number of sessions; shared with all clients */

/*
 * A leaving session keeps its lease until a device has freed its memory; a new one needs a lease of
 * its own.
 */
static void await_leases(struct stage *s)
{
	int ms = 0;

	while (stage_count(s, QUOIT_DAEMON_SESSIONS_OPENED) -
			       stage_count(s, QUOIT_DAEMON_SESSIONS_CLOSED) >
		       MOST_SESSIONS &&
	       ms++ < PATIENCE_MS)
		usleep(1000);
	CHECK(s, ms < PATIENCE_MS);
}

static pid_t start_client(struct stage *s, uint32_t number, uint32_t rounds)
{
	uint32_t before = atomic_load(opened);
	pid_t pid;

	await_leases(s);
	pid = fork();
	if (pid == 0) {
		const struct raw_wish mine = wish_of(number);
		static struct client c;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		choose_secret(&c, number);
		if (raw_open(&c.raw, s->daemon.socket, &mine))
			_exit(NO_SESSION);
		atomic_fetch_add(opened, 1);
		_exit(play(&c, rounds));
	}
	CHECK(s, pid > 0);
	for (int ms = 0; atomic_load(opened) == before && ms < PATIENCE_MS; ms++)
		usleep(1000);
	CHECK(s, atomic_load(opened) != before);
	stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
	return pid;
}

/* killed: it may have been doing anything, but must not have seen an error. */
static void bury(struct stage *s, pid_t pid, bool killed)
{
	int status = -1;

	if (!CHECK(s, waitpid(pid, &status, 0) == pid))
		return;
	if (killed && WIFSIGNALED(status))
		return;
	if (!CHECK(s, WIFEXITED(status) && WEXITSTATUS(status) == ALL_WELL))
		printf("  a client ended with %d\n", WEXITSTATUS(status));
}

/* ---- an executor ---- */

/* The process of this device, counted from 0, by the topology file; 0: there is none now. */
static pid_t executor_of(const struct stage *s, uint32_t device)
{
	char path[200], line[1024], start[24];
	pid_t pid = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", s->daemon.folder, QUOIT_STATS_TOPOLOGY);
	snprintf(start, sizeof start, "device %u: ", device + 1);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, ", pid ");

		if (!strncmp(line, start, strlen(start)) && at)
			pid = (pid_t)strtol(at + strlen(", pid "), NULL, 10);
	}
	if (f)
		fclose(f);
	return pid;
}

static pid_t await_executor(struct stage *s, uint32_t device, pid_t before)
{
	pid_t now = 0;
	int ms = 0;

	while ((!now || now == before || kill(now, 0)) && ms++ < PATIENCE_MS) {
		usleep(1000);
		now = executor_of(s, device);
	}
	CHECK(s, ms < PATIENCE_MS);
	return now;
}

/* Start them again, since used rings keep their pages. */
static void renew_executors(struct stage *s)
{
	for (uint32_t i = 0; i < DEVICES; i++) {
		pid_t pid = await_executor(s, i, 0);

		(void)kill(pid, SIGKILL);
		(void)await_executor(s, i, pid);
	}
}

static void kill_executor(struct stage *s)
{
	pid_t pid = executor_of(s, stage_random(s, DEVICES));

	if (pid > 0)
		(void)kill(pid, SIGKILL);
}

/* ---- cases ---- */

#define FOR_EVER UINT32_MAX

static void clients_die_with_jobs_on_a_device(struct stage *s)
{
	pid_t client[CROWD];

	for (uint32_t n = 0; n < stage_times(s, 5, 300) && !s->bad; n++) {
		for (uint32_t i = 0; i < CROWD; i++)
			client[i] = start_client(s, n * CROWD + i, FOR_EVER);
		for (uint32_t i = 0; i < CROWD; i++) {
			usleep(stage_random(s, 5000));
			(void)kill(client[i], SIGKILL);
		}
		for (uint32_t i = 0; i < CROWD; i++)
			bury(s, client[i], true);
	}
	renew_executors(s);
}

static void devices_die_under_their_clients(struct stage *s)
{
	pid_t client[CROWD];

	for (uint32_t i = 0; i < CROWD; i++)
		client[i] = start_client(s, i, stage_times(s, 20, 1000));
	for (uint32_t n = 0; n < stage_times(s, 6, 300); n++) {
		usleep(stage_random(s, 60000));
		kill_executor(s);
	}
	for (uint32_t i = 0; i < CROWD; i++)
		bury(s, client[i], false);
	renew_executors(s);
}

static void both_die(struct stage *s)
{
	pid_t client[CROWD];
	uint32_t n = 0;

	for (uint32_t i = 0; i < CROWD; i++)
		client[i] = start_client(s, n++, FOR_EVER);
	for (uint32_t k = 0; k < stage_times(s, 40, 3000) && !s->bad; k++) {
		uint32_t i = stage_random(s, CROWD);

		usleep(stage_random(s, 8000));
		if (k % 10 == 5)
			kill_executor(s);
		(void)kill(client[i], SIGKILL);
		bury(s, client[i], true);
		client[i] = start_client(s, n++, FOR_EVER);
	}
	for (uint32_t i = 0; i < CROWD; i++) {
		(void)kill(client[i], SIGKILL);
		bury(s, client[i], true);
	}
	renew_executors(s);
}

static void sessions_come_and_go(struct stage *s)
{
	for (uint32_t n = 0; n < stage_times(s, 20, 1000) && !s->bad; n++) {
		const struct raw_wish mine = wish_of(n);
		static struct client c;

		choose_secret(&c, n);
		if (!stage_open(s, &c.raw, &mine))
			return;
		CHECK(s, play(&c, 2) == ALL_WELL);
		CHECK(s, stage_leave(s, &c.raw) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	renew_executors(s);
}

static const struct stage_case cases[] = {
	{"sessions come and go", sessions_come_and_go},
	{"clients die with jobs on a device", clients_die_with_jobs_on_a_device},
	{"devices die under their clients", devices_die_under_their_clients},
	{"both die", both_die},
};

int main(int argc, char **argv)
{
	static const char *const options[] = {"--gpu=soft:2", "--gpu-lease=1M", "--reactors=2",
					      "--log=error", NULL};
	const struct stage_scene scene = {.options = options};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	setenv("QUOIT_SOFT_BYTES", "256M", 1);
	setenv("QUOIT_SOFT_DEVICES", "2", 1);
	opened = mmap(NULL, sizeof *opened, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (opened == MAP_FAILED)
		return 2;
	stage_play(&stage, &scene, cases, sizeof cases / sizeof cases[0]);
	return stage_end(&stage);
}
