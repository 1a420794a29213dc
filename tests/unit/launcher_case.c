/* SPDX-License-Identifier: MIT */
/* launcher_case.c - run a launcher with the test as its quoitd */
#include "launcher_case.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit/ring.h>

#include "base/memfd.h"
#include "base/tsc.h"
#include "processes/executor_process.h"

#define PATIENCE_MS 10000
#define MASK        (QUOIT_EXEC_ENTRIES - 1)

static struct executor_process process;
static struct quoit_exec_daemon_channel *daemon_side;
static const struct quoit_exec_channel *exec_side;
static struct quoit_producer requests;
static struct quoit_consumer answers;
static int sockets[2], channel;
static pthread_t thread;
static bool is_profiled;

/* ---- open and close ---- */

static void *serve(void *arg)
{
	const uint32_t flags = QUOIT_DEVICE_SIGNALS | (is_profiled ? QUOIT_DEVICE_PROFILED : 0);
	const struct driver driver = {.api = &counting_driver,
				      .info = {.flags = flags, .clock_step = QUOITD_CLOCK_STEP}};
	int err = launch(sockets[1], &driver);

	(void)arg;
	return (void *)(intptr_t)err;
}

void quoitd_send_memory(uint32_t slot)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct quoit_exec_memory message = {.slot = slot,
					    .bytes = {[QUOIT_EXEC_PINNED] = QUOITD_PINNED}};
	struct iovec data = {&message, sizeof message};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fd = memfd_create_sealed("test", QUOITD_PINNED);

	cr_assert_geq(fd, 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	cr_assert_eq(sendmsg(channel, &msg, 0), sizeof message);
	close(fd);
}

void quoitd_open(bool profiled)
{
	is_profiled = profiled;
	tsc_init();
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	process = (struct executor_process){.pidfd = -1, .socket = sockets[0]};
	cr_assert_eq(executor_process_serve(&process, 1, &channel), 0);
	daemon_side = process.daemon_pages;
	exec_side = (const void *)((const struct quoit_exec_words *)process.exec_pages + 1);
	quoit_producer_init(&requests, &daemon_side->request_tail, &exec_side->request_head,
			    QUOIT_EXEC_ENTRIES);
	quoit_consumer_init(&answers, &daemon_side->answer_head, &exec_side->answer_tail,
			    QUOIT_EXEC_ENTRIES);
	for (uint32_t i = 0; i < QUOITD_SESSIONS; i++)
		quoitd_send_memory(i);
	cr_assert_eq(pthread_create(&thread, NULL, serve, NULL), 0);
}

void quoitd_close(void)
{
	void *err;

	counting_let_go();
	close(sockets[0]);
	pthread_join(thread, &err);
	cr_expect_null(err);
	close(sockets[1]);
	close(channel);
	munmap(process.daemon_pages, process.daemon_bytes);
	munmap(process.exec_pages, process.exec_bytes);
}

struct quoit_exec_daemon_channel *quoitd_channel(void)
{
	return daemon_side;
}

bool quoitd_heard_bell(void)
{
	char bell;

	return recv(channel, &bell, 1, MSG_DONTWAIT) == 1;
}

/* ---- requests ---- */

static struct quoit_exec_request job(uint32_t id, uint32_t out, uint32_t in, int after,
				     uint32_t elements)
{
	const struct quoit_exec_view view = {.dim = {1, 1, 1, elements},
					     .stride = {1, 1, 1, 1},
					     .region = QUOIT_EXEC_ON_DEVICE,
					     .given = 1};
	const uint64_t bytes = (elements * sizeof(float) + 4095) & ~UINT64_C(4095);
	struct quoit_exec_request q = {.id = id,
				       .type = QUOIT_EXEC_RUN,
				       .op = QUOIT_OP_ADD,
				       .bytes = {bytes, bytes},
				       .view = {view, view}};

	q.view[0].buffer = out;
	q.view[1].buffer = in;
	if (after >= 0) {
		q.afters = 1;
		q.after[0] = (uint32_t)after;
	}
	return q;
}

struct quoit_exec_request quoitd_job(uint32_t id, uint32_t out, uint32_t in, int after)
{
	return job(id, out, in, after, 2);
}

struct quoit_exec_request quoitd_large_job(uint32_t id, uint32_t out, uint32_t in, int after)
{
	return job(id, out, in, after, SMALL_BYTES / sizeof(float) + 1);
}

void quoitd_put(const struct quoit_exec_request *q)
{
	uint32_t i = 0;

	cr_assert(quoit_ring_reserve(&requests, &i));
	daemon_side->request[i & MASK] = *q;
}

void quoitd_publish(void)
{
	const struct quoit_exec_words *words = process.exec_pages;

	if (quoit_ring_submit_wake(&requests, &words->need_wake))
		cr_assert_eq(send(channel, "", 1, 0), 1);
}

/* ---- waiting ---- */

static void nap(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	nanosleep(&time, NULL);
}

void quoitd_nap(unsigned ms)
{
	nap(ms * 1000000L);
}

unsigned quoitd_answers(void)
{
	return quoit_ring_peek(&answers);
}

unsigned quoitd_answers_taken(void)
{
	return answers.next;
}

struct quoit_exec_answer quoitd_answer(unsigned back)
{
	return exec_side->answer[(answers.next - 1 - back) & MASK];
}

struct quoit_exec_answer quoitd_next_answer(void)
{
	for (uint64_t since = tsc_now(); !quoit_ring_peek(&answers); nap(10000))
		cr_assert_lt(tsc_to_ns(tsc_now() - since), PATIENCE_MS * UINT64_C(1000000),
			     "an answer is missing");
	quoit_ring_release(&answers, 1);
	cr_expect_eq(quoitd_answer(0).res, 0);
	return quoitd_answer(0);
}

void quoitd_expect_answers(unsigned n)
{
	for (; n; n--)
		(void)quoitd_next_answer();
}

void quoitd_expect_runs(unsigned n)
{
	for (uint64_t since = tsc_now();
	     counting_now().run < n &&
	     tsc_to_ns(tsc_now() - since) < PATIENCE_MS * UINT64_C(1000000);)
		nap(10000);
	cr_assert_eq(counting_now().run, n);
}

struct quoit_exec_answer quoitd_run_alone(const struct quoit_exec_request *q)
{
	quoitd_put(q);
	quoitd_publish();
	return quoitd_next_answer();
}

struct counting_calls quoitd_warm_up(void)
{
	struct quoit_exec_request q = quoitd_job(0, 0, 1, -1);

	(void)quoitd_run_alone(&q);
	return counting_now();
}
