/* SPDX-License-Identifier: MIT */
/* stage.c - check what must hold after every bad client */
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenes.h"

#define SETTLE_MS    2000
#define COUNT_MS     5000
#define PATIENCE_MS  30000
#define MOST_OPTIONS 8

/* The allocator's caches may keep this; a sanitizer's own memory is not quoitd's. */
#ifdef QUOIT_SANITIZE
#define SLACK     UINT64_MAX / 2
#define SLOWER_BY 10
#else
#define SLACK     (UINT64_C(4) << 20)
#define SLOWER_BY 1
#endif

static const uint32_t reasons[] = {
	QUOIT_DAEMON_REFUSED_UID,     QUOIT_DAEMON_REFUSED_CONNECTIONS,
	QUOIT_DAEMON_REFUSED_VERSION, QUOIT_DAEMON_REFUSED_LEASE,
	QUOIT_DAEMON_KILL_PROTO,      QUOIT_DAEMON_KILL_SLOW_CTL,
	QUOIT_DAEMON_KILL_HANDSHAKE,  QUOIT_DAEMON_KILL_RING_TAIL,
	QUOIT_DAEMON_KILL_CQ_HEAD,    QUOIT_DAEMON_KILL_MEM_VANISHED,
	QUOIT_DAEMON_KILL_ASKED,      QUOIT_DAEMON_CLIENTS_DIED,
	QUOIT_DAEMON_CLIENTS_LEFT,    QUOIT_DAEMON_SESSIONS_STOPPED,
	QUOIT_DAEMON_KILL_SHORTAGE,   QUOIT_DAEMON_REFUSED_RINGS,
	QUOIT_DAEMON_REFUSED_KERNELS, QUOIT_DAEMON_KILL_RETURN,
};
#define REASONS (sizeof reasons / sizeof reasons[0])

/* END's words for reasons that a reactor finds. */
static const struct {
	const char *word;
	uint32_t reason;
} words[] = {
	{"(ring_tail)", QUOIT_DAEMON_KILL_RING_TAIL},
	{"(cq_head)", QUOIT_DAEMON_KILL_CQ_HEAD},
	{"(mem_vanished)", QUOIT_DAEMON_KILL_MEM_VANISHED},
	{"(return)", QUOIT_DAEMON_KILL_RETURN},
	{"does not read quoitd's replies", QUOIT_DAEMON_KILL_SLOW_CTL},
	{"protocol error", QUOIT_DAEMON_KILL_PROTO},
};

/* ---- checks ---- */

bool stage_check(struct stage *s, bool good, const char *file, int line, const char *text)
{
	if (!good) {
		printf("%s: %s:%d: %s\n", s->name, file, line, text);
		s->bad = true;
	}
	return good;
}

static void fail(struct stage *s, const char *text)
{
	printf("%s: %s\n", s->name, text);
	s->bad = true;
}

uint32_t stage_random(struct stage *s, uint32_t below)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (uint32_t)(s->random >> 32) % below;
}

/* ---- counters ---- */

uint64_t stage_count(const struct stage *s, uint32_t counter)
{
	return __atomic_load_n(&s->totals->value[counter], __ATOMIC_RELAXED);
}

void stage_expect(struct stage *s, uint32_t counter, uint64_t events)
{
	s->expected[counter] += events;
}

static const void *map_file(const struct stage *s, const char *name, size_t bytes)
{
	char path[200];
	void *at = MAP_FAILED;
	int fd;

	snprintf(path, sizeof path, "%s/%s", s->daemon.folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
	}
	return at == MAP_FAILED ? NULL : at;
}

const struct quoit_session_stats *stage_stats(const struct stage *s, const struct raw_client *c)
{
	char name[48];

	snprintf(name, sizeof name, QUOIT_STATS_SESSION, (unsigned long long)c->info.session);
	return map_file(s, name, sizeof(struct quoit_session_stats));
}

static void check_counters(struct stage *s)
{
	for (unsigned i = 0; i < REASONS; i++) {
		uint32_t r = reasons[i];
		uint64_t expected = s->counted[r] + s->expected[r];
		char text[120];

		for (int ms = 0; stage_count(s, r) < expected && ms < COUNT_MS; ms++)
			usleep(1000);
		if (stage_count(s, r) == expected)
			continue;
		snprintf(text, sizeof text, "%s rose by %lld and not by %llu",
			 s->totals->daemon_label[r], (long long)(stage_count(s, r) - s->counted[r]),
			 (unsigned long long)s->expected[r]);
		fail(s, text);
	}
}

/* ---- before and after a case ---- */

static void check_census(struct stage *s)
{
	char text[120];
	struct census now;

	for (int ms = 0;; ms += 10) {
		census_take(s->daemon.pid, &now);
		if (census_is_back(&s->before, &now, SLACK, text, sizeof text))
			return;
		if (ms >= SETTLE_MS * SLOWER_BY)
			break;
		usleep(10000);
	}
	fail(s, text);
}

static void before_case(struct stage *s, const struct stage_case *c)
{
	s->name = c->name;
	s->skip = NULL;
	s->bad = false;
	memset(s->expected, 0, sizeof s->expected);
	if (!s->totals)
		return;
	/* after a pause quoitd may have fewer resources than later */
	(void)canary_check(&s->canary);
	census_take(s->daemon.pid, &s->before);
	for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++)
		s->counted[i] = stage_count(s, i);
}

static bool is_alive(struct stage *s)
{
	int status;

	if (s->daemon.pid < 0 || waitpid(s->daemon.pid, &status, WNOHANG) == 0)
		return s->daemon.pid > 0;
	printf("%s: quoitd died, wait status %#x\n", s->name, (unsigned)status);
	s->daemon.pid = -1;
	s->bad = true;
	return false;
}

static void check_house(struct stage *s)
{
	const char *word;

	if (!s->totals || !is_alive(s))
		return;
	word = canary_check(&s->canary);
	if (word)
		printf("%s: the canary: %s\n", s->name, word);
	s->bad |= word != NULL;
	check_counters(s);
	check_census(s);
	(void)is_alive(s);
}

/* False: it has slowed the canary down, and nothing else was wrong. */
static bool try_case(struct stage *s, const struct stage_case *c)
{
	before_case(s, c);
	pace_begin(&s->pace, s->times && s->totals ? &s->canary : NULL, s->daemon.pid);
	c->run(s);
	pace_end(&s->pace);
	check_house(s);
	return s->bad || s->skip || pace_was_kept(&s->pace);
}

static void play_case(struct stage *s, const struct stage_case *c)
{
	if (!try_case(s, c) && !try_case(s, c))
		fail(s, "the canary was slowed down, twice");
	if (s->skip && !s->bad)
		printf("  skipped  %s: %s\n", s->name, s->skip);
	else
		printf("  %s  %s\n", s->bad ? "FAILED " : "ok     ", s->name);
	fflush(stdout);
	s->failed += s->bad;
	s->skipped += !s->bad && s->skip;
	s->passed += !s->bad && !s->skip;
}

static bool is_wanted(const struct stage *s, const struct stage_case *c)
{
	return !s->only || !strcmp(s->only, c->name);
}

static bool any_is_wanted(const struct stage *s, const struct stage_case *cases, unsigned count)
{
	bool any = false;

	for (unsigned i = 0; i < count; i++)
		any |= is_wanted(s, &cases[i]);
	return any;
}

void stage_play_alone(struct stage *s, const struct stage_case *cases, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (!is_wanted(s, &cases[i]))
			continue;
		play_case(s, &cases[i]);
		if (s->totals && s->daemon.pid < 0) {
			printf("  (no quoitd: %u cases not tried)\n", count - i - 1);
			return;
		}
	}
}

void stage_skip(struct stage *s, const struct stage_case *cases, unsigned count, const char *why)
{
	for (unsigned i = 0; i < count; i++)
		printf("  skipped  %s: %s\n", cases[i].name, why);
	s->skipped += count;
}

/* Let quoitd make its permanent things, which would look like leaks of the first case. */
static void rehearse(struct stage *s)
{
	static const struct raw_wish wish = {.host_bytes = 1u << 20, .sq_entries = 8};
	struct raw_client c;

	if (raw_open(&c, s->daemon.socket, &wish))
		return;
	(void)raw_run(&c, raw_vector(1, 1000, RAW_ARENA_NOT));
	(void)raw_run(&c, raw_job(QUOIT_OP_FILL, 1, 0, 0));
	(void)stage_leave(s, &c);
	for (int ms = 0; !stage_count(s, QUOIT_DAEMON_CLIENTS_LEFT) && ms < COUNT_MS; ms++)
		usleep(1000);
}

bool stage_has_users(void)
{
	return getuid() == 0;
}

/* Start quoitd where its clients can reach it. */
static int start_daemon(struct stage *s, const struct stage_scene *scene)
{
	const char *options[MOST_OPTIONS + 1] = {"--private=no"};
	unsigned count = stage_has_users() && !scene->owner;
	int err;

	for (unsigned i = 0; scene->options && scene->options[i]; i++)
		options[count++] = scene->options[i];
	options[count] = NULL;
	err = daemon_start_prepared(&s->daemon, options, scene->prepare);
	if (err || !stage_has_users())
		return err;
	raw_set_user(scene->owner ? scene->owner : SCENE_MALLORY);
	return chmod(s->daemon.folder, 0755) < 0 ? -errno : 0;
}

static bool raise_curtain(struct stage *s, const struct stage_scene *scene)
{
	uid_t canary = scene->owner ? scene->owner : stage_has_users() ? SCENE_CANARY : 0;
	int err = start_daemon(s, scene);

	if (err) {
		printf("quoitd does not start: %s\n", strerror(-err));
		return false;
	}
	s->totals = map_file(s, QUOIT_STATS_TOTALS, sizeof *s->totals);
	err = canary_start(&s->canary, s->daemon.socket, canary);
	if (err)
		printf("the canary does not start: %s\n",
		       s->canary.words ? canary_check(&s->canary) : strerror(-err));
	if (!s->totals || err)
		return false;
	rehearse(s);
	return true;
}

void stage_play(struct stage *s, const struct stage_scene *scene, const struct stage_case *cases,
		unsigned count)
{
	if (!any_is_wanted(s, cases, count))
		return;
	if (raise_curtain(s, scene))
		stage_play_alone(s, cases, count);
	else
		s->failed++;
	canary_stop(&s->canary);
	if (s->totals)
		munmap((void *)(uintptr_t)s->totals, sizeof *s->totals);
	s->totals = NULL;
	raw_set_user(0);
	daemon_stop(&s->daemon);
}

/* ---- clients ---- */

bool stage_open(struct stage *s, struct raw_client *c, const struct raw_wish *wish)
{
	int err = raw_open(c, s->daemon.socket, wish);

	if (err)
		printf("%s: cannot open a session: %s: %s\n", s->name, strerror(-err), c->text);
	s->bad |= err != 0;
	return !err;
}

static uint32_t reason_of(const char *text)
{
	for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(text, words[i].word))
			return words[i].reason;
	return QUOIT_DAEMON_NR;
}

/* Note how it ended, and expect that to be counted. */
static uint32_t note_end(struct stage *s, const struct raw_client *c)
{
	uint32_t reason = reason_of(c->text);

	if (reason == QUOIT_DAEMON_NR)
		printf("%s: ended with \"%s\"\n", s->name, c->text);
	else
		stage_expect(s, reason, 1);
	s->bad |= reason == QUOIT_DAEMON_NR;
	return reason;
}

void stage_await_end(struct stage *s, struct raw_client *c, uint32_t reason)
{
	if (!raw_has_ended(c, PATIENCE_MS) || !c->ended)
		fail(s, "the session did not end with a message");
	else if (note_end(s, c) != reason)
		fail(s, c->text);
	raw_close(c);
}

uint32_t stage_leave(struct stage *s, struct raw_client *c)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CLOSE, .end.flags = QUOIT_CLOSE_CANCEL};
	uint32_t reason = QUOIT_DAEMON_CLIENTS_LEFT;
	unsigned count;

	if (raw_call(c, &m, NULL, 0, &count) == 0)
		stage_expect(s, reason, 1);
	else
		reason = note_end(s, c);
	raw_close(c);
	return reason;
}

void stage_die(struct stage *s, struct raw_client *c)
{
	stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
	raw_close(c);
}
