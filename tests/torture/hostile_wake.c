/* SPDX-License-Identifier: MIT */
/* hostile_wake.c - clients that do not ring, ring too often, or tamper with sleepers */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "stage.h"
#include "watches.h"

#define PATIENCE_MS 30000
#define RINGERS     3u

static const struct raw_wish wish = {.host_bytes = 1u << 20,
				     .arena_bytes = 64u << 10,
				     .max_tensors = 64,
				     .sq_entries = 64,
				     .cq_entries = 128};

static const struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};

static void set_cq_wait(const struct raw_client *c, uint32_t value)
{
	QUOIT_RING_STORE(&c->client->cq_wait, value, QUOIT_RING_SEQ_CST);
}

/* Publish without looking at need_wake. */
static void submit_silently(struct raw_client *c)
{
	uint32_t index;

	if (quoit_ring_reserve(&c->sq, &index)) {
		*raw_slot(c, index) = nop;
		quoit_ring_submit(&c->sq);
	}
}

/* ---- too few bells ---- */

/* No bell is rung for the job, so it is late; but it is not forgotten. */
static void work_without_a_bell(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &wish))
		return;
	for (uint32_t n = 1; n <= stage_times(s, 5, 100); n++) {
		usleep(1000 * stage_random(s, 100));
		submit_silently(&c);
		CHECK(s, raw_await_posted(&c, n));
		quoit_ring_release(&c.cq, quoit_ring_peek(&c.cq));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* The client says that it sleeps for ever, or never: quoitd only calls futex more or less often. */
static void lies_about_its_sleep(struct stage *s)
{
	for (uint32_t lie = 0; lie < 2; lie++) {
		struct raw_client c;

		if (!stage_open(s, &c, &wish))
			return;
		for (uint32_t n = 1; n <= stage_times(s, 2000, 300000); n++) {
			set_cq_wait(&c, lie ? UINT32_MAX : 0);
			CHECK(s, raw_submit(&c, &nop));
			if (n % 32 == 0) {
				CHECK(s, raw_await_posted(&c, n));
				quoit_ring_release(&c.cq, quoit_ring_peek(&c.cq));
			}
		}
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
}

/* ---- sockets that are not read ---- */

static void clear_nonblock(int fd)
{
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

/* Armed for every CQE, but the bytes are never read. */
static void ring_socket_full(struct stage *s)
{
	struct quoit_cqe cqe;
	struct raw_client c;

	if (!stage_open(s, &c, &wish))
		return;
	clear_nonblock(c.bell);
	for (uint32_t n = 0; n < stage_times(s, 3000, 500000) && !s->bad; n++) {
		__atomic_fetch_add(&c.client->arm, 1, __ATOMIC_SEQ_CST);
		CHECK(s, raw_submit(&c, &nop));
		CHECK(s, !raw_reap(&c, PATIENCE_MS, &cqe, NULL));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* Send requests and read no replies, so that there is not even room for the reason. */
static void control_socket_full(struct stage *s)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_RING_OPEN};
	uint64_t before = stage_count(s, QUOIT_DAEMON_KILL_SLOW_CTL);
	struct raw_client c;

	m.ring_open.sq_entries = 7; /* refused at once */
	if (!stage_open(s, &c, &wish))
		return;
	clear_nonblock(c.socket);
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		while (send(c.socket, &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			;
		if (stage_count(s, QUOIT_DAEMON_KILL_SLOW_CTL) > before)
			break;
		usleep(1000);
	}
	stage_expect(s, QUOIT_DAEMON_KILL_SLOW_CTL, 1);
	raw_close(&c);
}

/* ---- too many bells ---- */

struct storm {
	struct raw_client *client;
	_Atomic bool stop;
	_Atomic uint64_t events;
};

static void *ring_on(void *arg)
{
	struct storm *storm = arg;

	while (!storm->stop)
		if (send(storm->client->bell, "", 1, MSG_NOSIGNAL) == 1)
			storm->events++;
	return NULL;
}

static bool await_doorbells(const struct quoit_session_stats *stats, uint64_t events)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		if (__atomic_load_n(&stats->value[QUOIT_SESSION_KICKS], __ATOMIC_RELAXED) == events)
			return true;
		usleep(1000);
	}
	return false;
}

/* The canary shares the reactor with it. */
static void doorbell_storm(struct stage *s)
{
	const uint64_t least = stage_times(s, 100000, 10000000);
	const struct quoit_session_stats *stats;
	struct raw_client c;
	struct storm storm = {.client = &c};
	pthread_t threads[RINGERS];

	if (!stage_open(s, &c, &wish))
		return;
	stats = stage_stats(s, &c);
	CHECK(s, stats);
	clear_nonblock(c.bell);
	for (unsigned i = 0; i < RINGERS; i++)
		pthread_create(&threads[i], NULL, ring_on, &storm);
	do
		CHECK(s, !canary_check(&s->canary));
	while (storm.events < least && !s->bad);
	storm.stop = true;
	for (unsigned i = 0; i < RINGERS; i++)
		pthread_join(threads[i], NULL);
	CHECK(s, stats && await_doorbells(stats, storm.events)); /* each is counted */
	if (stats)
		munmap((void *)(uintptr_t)stats, sizeof *stats);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void futex(const uint32_t *word, int op, long value, const uint32_t *other)
{
	(void)syscall(SYS_futex, word, op, 1000, value, other, 0);
}

/* Wake all sleepers on any word of the ring, and move them to other words. */
static void *tamper(void *arg)
{
	struct storm *storm = arg;
	const uint32_t *client = (const uint32_t *)storm->client->client;
	const uint32_t *daemon = (const uint32_t *)storm->client->daemon;

	while (!storm->stop)
		for (unsigned i = 0; i < sizeof(struct quoit_client_words) / sizeof *client; i++) {
			futex(&client[i], FUTEX_WAKE, 0, NULL);
			futex(&daemon[i % 32], FUTEX_WAKE, 0, NULL);
			futex(&daemon[i % 32], FUTEX_REQUEUE, 1000, &client[i]);
			futex(&client[i], FUTEX_REQUEUE, 0, &client[0]);
		}
	return NULL;
}

static void futex_storm(struct stage *s)
{
	struct raw_client c;
	struct storm storm = {.client = &c};
	pthread_t thread;

	if (!stage_open(s, &c, &wish))
		return;
	pthread_create(&thread, NULL, tamper, &storm);
	for (unsigned n = 0; n < stage_times(s, 300, 50000) && !s->bad; n++) {
		usleep(stage_random(s, 1000));
		CHECK(s, !raw_run(&c, nop));
	}
	storm.stop = true;
	pthread_join(thread, NULL);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- sockets with many watches ---- */

static uint64_t dear_wakes(const struct stage *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->totals->header.reactors; i++)
		sum += __atomic_load_n(&s->totals->reactor[i].value[QUOIT_REACTOR_DEAR_WAKES],
				       __ATOMIC_RELAXED);
	return sum;
}

/* Each byte that is sent to it, and each that is read from it, goes through all watches. */
static void ring_that_many_watch(struct stage *s)
{
	uint64_t before = dear_wakes(s);
	struct quoit_cqe cqe;
	struct watches w;
	struct raw_client c;
	char byte;

	if (!stage_open(s, &c, &wish))
		return;
	watches_hang(s, &w, c.bell);
	for (uint32_t n = 0; n < stage_times(s, 200, 20000) && !s->bad; n++) {
		__atomic_fetch_add(&c.client->arm, 1, __ATOMIC_SEQ_CST);
		(void)send(c.bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		CHECK(s, raw_submit(&c, &nop));
		CHECK(s, !raw_reap(&c, PATIENCE_MS, &cqe, NULL));
		while (recv(c.bell, &byte, 1, MSG_DONTWAIT) == 1)
			;
	}
	for (int ms = 0; ms < PATIENCE_MS && dear_wakes(s) == before; ms++)
		usleep(1000);
	CHECK(s, dear_wakes(s) > before);
	watches_take_down(&w);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* The last byte is sent however expensive it is, and CLOSE waits for it. */
static void close_that_many_watch(struct stage *s)
{
	for (uint32_t n = 0; n < stage_times(s, 3, 100) && !s->bad; n++) {
		struct quoit_cqe cqe;
		struct watches w;
		struct raw_client c;

		if (!stage_open(s, &c, &wish))
			return;
		watches_hang(s, &w, c.bell);
		for (unsigned i = 0; i < 10; i++) {
			__atomic_fetch_add(&c.client->arm, 1, __ATOMIC_SEQ_CST);
			CHECK(s, raw_submit(&c, &nop));
			CHECK(s, !raw_reap(&c, PATIENCE_MS, &cqe, NULL));
		}
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
		watches_take_down(&w);
	}
}

/* Replies are late, since their user rests after each; none is lost. */
static void control_that_many_watch(struct stage *s)
{
	struct quoit_ctl m;
	struct watches w;
	struct raw_client c;
	unsigned count;

	if (!stage_open(s, &c, &wish))
		return;
	watches_hang(s, &w, c.socket);
	for (uint32_t n = 0; n < stage_times(s, 50, 2000) && !s->bad; n++) {
		m = (struct quoit_ctl){.type = QUOIT_CTL_OP};
		strcpy(m.op.name, "nop");
		CHECK(s, !raw_call(&c, &m, NULL, 0, &count));
	}
	watches_take_down(&w);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- the hunt for a lost wake-up ---- */

#define ALARM_NS 100000000
#define LOST_MS  80 /* a CQE that is older than this at the alarm was not announced */
#define STALL_MS                                                                                   \
	120 /* if the alarm is later than this, the machine stood still, and quoitd with it */
#define NEVER_MS 500 /* quoitd looks without a bell only after a longer time */

static uint64_t now_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static uint64_t ms_since(const struct raw_client *c, uint64_t ticks)
{
	return (now_ticks() - ticks) / (c->info.tsc_hz / 1000);
}

/*
 * Sleep on the CQ tail as libquoit does.  0: woken with a CQE; -ETIME: the alarm came, and there
 * was no CQE, or quoitd may have been stopped before its wake-up; -EIO: the alarm came, and there
 * was a CQE without a wake-up.
 */
static int sleep_once(struct raw_client *c)
{
	struct timespec alarm = {.tv_nsec = ALARM_NS};
	uint64_t since = now_ticks(), slept_ms;
	long n = 0;

	if (quoit_ring_sleep(&c->cq, &c->client->cq_wait))
		n = syscall(SYS_futex, &c->client->cq_tail, FUTEX_WAIT, c->cq.cached_tail, &alarm,
			    NULL, 0);
	n = n < 0 && errno == ETIMEDOUT ? -ETIME : 0;
	slept_ms = ms_since(c, since);
	quoit_ring_awake(&c->client->cq_wait);
	if (!n)
		return 0;
	if (!quoit_ring_peek(&c->cq) || slept_ms > STALL_MS)
		return -ETIME;
	since = c->stamps[c->cq.next & (c->layout.cq_entries - 1)].post;
	return ms_since(c, since) > LOST_MS ? -EIO : 0;
}

static void spin(const struct raw_client *c, uint64_t ns)
{
	uint64_t end = now_ticks() + ns * (c->info.tsc_hz / 1000000) / 1000;

	while (now_ticks() < end)
		quoit_pause();
}

/* Run one job from its submit to its CQE, with a sleep in between.  False: a wake-up was lost. */
static bool submit_and_sleep(struct stage *s, struct raw_client *c, unsigned *late)
{
	unsigned alarms = 0;

	if (!CHECK(s, raw_submit(c, &nop)))
		return false;
	spin(c, stage_random(s, 4000)); /* to fall asleep just when the job ends */
	while (!quoit_ring_peek(&c->cq)) {
		int err = sleep_once(c);

		if (!CHECK(s, err != -EIO))
			return false;
		alarms += err == -ETIME;
		if (!CHECK(s, alarms * ALARM_NS / 1000000 < NEVER_MS)) /* the doorbell was lost */
			return false;
	}
	*late += alarms;
	quoit_ring_release(&c->cq, 1);
	return true;
}

/*
 * Wait from not at all until long after the reactor has gone to sleep; usually about as long as it
 * takes to do so.
 */
static void delay(struct stage *s, const struct raw_client *c)
{
	spin(c, UINT64_C(1000) * stage_random(s, stage_random(s, 10) ? 150 : 1000));
}

static void lost_wake_hunt(struct stage *s)
{
	const unsigned cycles = stage_times(s, 20000, 600000);
	struct raw_wish stamped = wish;
	unsigned late = 0;
	struct raw_client c;

	stamped.flags = QUOIT_RING_STAMPS;
	if (!stage_open(s, &c, &stamped))
		return;
	/* a client that wakes quoitd by itself would hide our mistakes */
	canary_hold(&s->canary, true);
	for (unsigned n = 0; n < cycles; n++) {
		if (!submit_and_sleep(s, &c, &late))
			break;
		delay(s, &c);
	}
	canary_hold(&s->canary, false);
	if (late)
		printf("  (%u of %u sleeps were over %d ms: a busy machine)\n", late, cycles,
		       ALARM_NS / 1000000);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static const struct stage_case cases[] = {
	{"work without a bell", work_without_a_bell},
	{"lies about its sleep", lies_about_its_sleep},
	{"ring socket full", ring_socket_full},
	{"control socket full", control_socket_full},
	{"doorbell storm", doorbell_storm},
	{"futex storm", futex_storm},
	{"ring that many watch", ring_that_many_watch},
	{"close that many watch", close_that_many_watch},
	{"control that many watch", control_that_many_watch},
	{"lost wake hunt", lost_wake_hunt},
};

int main(int argc, char **argv)
{
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}
