/* SPDX-License-Identifier: MIT */
/* queue_load.c - processes that send to a queue and receive from it, and what must hold */
#include "queue_load.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MIB         (UINT64_C(1) << 20)
#define PATIENCE_MS 60000
#define MIX         UINT64_C(0x9E3779B97F4A7C15)

/* A job, and the tensors for messages of each size, and for several of the first one. */
struct slot {
	quoit_tensor t[QUEUE_SIZES];
	quoit_tensor rows[QUEUE_ROWS + 1]; /* with so many */
	quoit_job job;
	uint64_t stamp; /* of the first message that it sends */
	unsigned size;
	unsigned count; /* its rows; 0: it is one message */
	bool has_ended;
	int result;
};

/* Jobs under way, in the order in which they were begun. */
struct way {
	struct slot slot[QUEUE_WINDOW];
	unsigned first, count;
};

struct queue_hand {
	struct queue_load *l;
	unsigned number;
	struct quoit_session *s;
	struct quoit_ring *q;
	int queue;
	struct way sends, receives;
	unsigned wanted;            /* size of the next message, as far as it has heard */
	uint64_t last[QUEUE_HANDS]; /* number of each sender's last message, from 1 */
	uint64_t *words;            /* of one message */
	uint64_t random;
};

static uint32_t draw(struct queue_hand *h, uint32_t below)
{
	h->random = h->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(h->random >> 33) % below;
}

__attribute__((format(printf, 2, 3))) static bool wrong(struct queue_hand *h, const char *format,
							...)
{
	char *to = h->l->hand[h->number].wrong;
	va_list args;

	va_start(args, format);
	if (!*to)
		vsnprintf(to, sizeof h->l->hand[0].wrong, format, args);
	va_end(args);
	return false;
}

static bool may(const struct queue_hand *h, uint32_t what)
{
	return h->l->mode.may & what;
}

static void nap(struct queue_hand *h, uint32_t most_us)
{
	const struct timespec t = {.tv_nsec = draw(h, most_us) * 1000L};

	if (t.tv_nsec)
		(void)nanosleep(&t, NULL);
}

static void happened(struct queue_hand *h)
{
	atomic_fetch_add(&h->l->hand[h->number].ended, 1);
}

/* Has it not happened, as it may? */
static bool gave_up(struct queue_hand *h, int result)
{
	const bool late = result == -ETIME && may(h, QUEUE_MAY_LATE),
		   closed =
			   result == -EINVAL && may(h, QUEUE_MAY_CLOSE), /* before it was fetched */
		cancelled = result == -ECANCELED &&
			    (may(h, QUEUE_MAY_LATE | QUEUE_MAY_CLOSE) || h->l->stop);

	if (late || cancelled || closed)
		atomic_fetch_add(&h->l->hand[h->number].gave_up, 1);
	return late || cancelled || closed;
}

/* ---- messages ---- */

/* Each word of a message says whose it is, which one, and where it is in it. */
static uint64_t stamp_of(unsigned sender, unsigned size, uint32_t number)
{
	return (uint64_t)(sender + 1) << 56 | (uint64_t)size << 48 | number;
}

static uint64_t word_of(uint64_t stamp, uint64_t i)
{
	return stamp ^ i * MIX;
}

static unsigned messages_of(const struct slot *slot)
{
	return slot->count ? slot->count : 1;
}

static quoit_tensor tensor_of(const struct slot *slot)
{
	return slot->count ? slot->rows[slot->count] : slot->t[slot->size];
}

static bool write_messages(struct queue_hand *h, const struct slot *slot)
{
	const uint32_t n = h->l->mode.size[slot->size];
	quoit_tensor t = tensor_of(slot);
	int err;

	for (uint32_t k = 0; k < messages_of(slot); k++)
		for (uint32_t i = 0; i < n; i++)
			h->words[k * n + i] = word_of(slot->stamp + k, i);
	err = quoit_write(h->q, t, h->words, messages_of(slot) * n * sizeof *h->words);
	if (err)
		return wrong(h, "a message cannot be written: %d: %s", err, quoit_error_text(h->q));
	/* its data may be there later than that of the next one */
	for (unsigned k = draw(h, 4); k == 1 || k == 2; k--)
		if (quoit_push(h->q, quoit_add_int(t, t, 0)))
			return wrong(h, "a job was refused");
	return true;
}

/* Numbers of a sender increase, but for what a dead receiver did not get. */
static bool check_number(struct queue_hand *h, unsigned sender, uint32_t number)
{
	if (number + UINT64_C(1) > h->last[sender]) {
		h->last[sender] = number + UINT64_C(1);
		return true;
	}
	atomic_fetch_add(&h->l->backward, 1);
	return may(h, QUEUE_MAY_DIE) || wrong(h, "message %u of %u came behind %llu", number,
					      sender, (unsigned long long)h->last[sender] - 1);
}

/* It was asked for, was not given up, and comes once. */
static bool check_fate(struct queue_hand *h, unsigned sender, uint32_t number)
{
	uint8_t fate = atomic_fetch_or(&h->l->fate[sender][number], FATE_RECEIVED);

	if (fate & FATE_RECEIVED)
		return wrong(h, "message %u of %u came twice", number, sender);
	if (fate & FATE_FAILED)
		return wrong(h, "message %u of %u came, and had not been sent", number, sender);
	return fate & FATE_ASKED || wrong(h, "message %u of %u came from nowhere", number, sender);
}

static bool check_message(struct queue_hand *h, const uint64_t *words, unsigned size)
{
	const uint64_t stamp = words[0];
	const unsigned sender = (unsigned)(stamp >> 56) - 1;

	for (uint32_t i = 1; i < h->l->mode.size[size]; i++)
		if (words[i] != word_of(stamp, i))
			return wrong(h, "a message is torn: %#llx at first, %#llx at %u",
				     (unsigned long long)stamp,
				     (unsigned long long)(words[i] ^ i * MIX), i);
	if (sender >= QUEUE_HANDS || (stamp >> 48 & 0xff) != size)
		return wrong(h, "a message begins with %#llx", (unsigned long long)stamp);
	return check_fate(h, sender, (uint32_t)stamp) && check_number(h, sender, (uint32_t)stamp);
}

/* ---- jobs ---- */

static struct slot *slot_at(struct way *w, unsigned i)
{
	return &w->slot[(w->first + i) % QUEUE_WINDOW];
}

static void cancel_some(struct queue_hand *h, struct way *w)
{
	if (draw(h, 4))
		return;
	(void)quoit_flush(h->q);
	nap(h, 300);
	(void)quoit_cancel(h->q, slot_at(w, draw(h, w->count))->job);
}

/* Begin it, and perhaps give it up; with a short time it ends at once, in one way or the other. */
static bool begin(struct queue_hand *h, struct way *w, struct quoit_sqe sqe)
{
	struct slot *slot = slot_at(w, w->count++);

	atomic_store(&h->l->hand[h->number].is_busy, true);
	slot->has_ended = false;
	if (may(h, QUEUE_MAY_LATE) && w->count == 1 && !draw(h, 4)) {
		slot->has_ended = true;
		slot->result = quoit_run(h->q, sqe, (int)draw(h, 3));
		w->count--;
		return true;
	}
	if (may(h, QUEUE_MAY_LATE) && !draw(h, 3))
		sqe = quoit_with_deadline(sqe, 1 + draw(h, 2000));
	if (quoit_start(h->q, sqe, &slot->job) || quoit_flush(h->q))
		return wrong(h, "a job was refused");
	if (may(h, QUEUE_MAY_LATE))
		cancel_some(h, w);
	return true;
}

static int result_of(struct queue_hand *h, struct slot *slot)
{
	int res = slot->has_ended ? slot->result : quoit_wait(h->q, slot->job, PATIENCE_MS);

	if (!h->sends.count && !h->receives.count)
		atomic_store(&h->l->hand[h->number].is_busy, false);
	return res;
}

/* ---- sending ---- */

static bool end_send(struct queue_hand *h, struct slot *slot)
{
	const uint32_t first = (uint32_t)slot->stamp;
	int res = result_of(h, slot);

	if (res && !gave_up(h, res))
		return wrong(h, "a send ended with %d: %s", res, quoit_error_text(h->q));
	for (uint32_t i = first; i < first + messages_of(slot); i++) {
		uint8_t fate =
			atomic_fetch_or(&h->l->fate[h->number][i], res ? FATE_FAILED : FATE_SENT);

		if (res && fate & FATE_RECEIVED)
			return wrong(h, "message %u was received, and its send ended with %d", i,
				     res);
	}
	if (!res)
		happened(h);
	return true;
}

static bool prepare_send(struct queue_hand *h, unsigned size, unsigned count, struct slot *slot)
{
	uint32_t number = atomic_fetch_add(&h->l->hand[h->number].number, count ? count : 1);

	slot->size = size;
	slot->count = count;
	slot->stamp = stamp_of(h->number, slot->size, number);
	if (number + messages_of(slot) > QUEUE_FATES)
		return wrong(h, "it has no numbers left");
	for (unsigned i = 0; i < messages_of(slot); i++)
		atomic_store(&h->l->fate[h->number][number + i], FATE_ASKED);
	return write_messages(h, slot);
}

/* How many rows the next job has; 0: it is of one message alone. */
static unsigned draw_count(struct queue_hand *h)
{
	return may(h, QUEUE_MAY_ROWS) ? draw(h, QUEUE_ROWS + 1) : 0;
}

static bool end_oldest_send(struct queue_hand *h)
{
	struct slot *slot = slot_at(&h->sends, 0);

	h->sends.first = (h->sends.first + 1) % QUEUE_WINDOW;
	h->sends.count--;
	return end_send(h, slot);
}

static bool do_send(struct queue_hand *h)
{
	struct slot *slot = slot_at(&h->sends, h->sends.count);
	struct quoit_sqe sqe;

	if (!prepare_send(h, draw(h, h->l->mode.sizes), draw_count(h), slot))
		return false;
	sqe = slot->count ? quoit_send_rows(h->queue, tensor_of(slot))
			  : quoit_send(h->queue, tensor_of(slot));
	if (!begin(h, &h->sends, sqe))
		return false;
	if (slot->has_ended)
		return end_send(h, slot);
	return h->sends.count < h->l->mode.window || end_oldest_send(h);
}

/* ---- receiving ---- */

/* It is told how large the next message is; another may get that before it asks again. */
static bool take_another_size(struct queue_hand *h)
{
	unsigned dim[QUOIT_MAX_DIMS];
	char text[200];

	quoit_strerror_wait(h->q, -EMSGSIZE, text, sizeof text);
	atomic_fetch_add(&h->l->retried, 1);
	if (sscanf(text, "%*[^:]: the next message has dims %u %u %u %u", &dim[0], &dim[1], &dim[2],
		   &dim[3]) != 4 &&
	    sscanf(text, "the next message has dims %u %u %u %u", &dim[0], &dim[1], &dim[2],
		   &dim[3]) != 4)
		return wrong(h, "a message that does not fit: \"%s\"", text);
	for (unsigned i = 0; i < h->l->mode.sizes; i++)
		if (dim[3] == h->l->mode.size[i]) {
			h->wanted = i;
			return true;
		}
	return wrong(h, "a message of %u elements", dim[3]);
}

static bool end_receive(struct queue_hand *h, struct slot *slot)
{
	const uint32_t n = h->l->mode.size[slot->size];
	int res = result_of(h, slot), err;

	if (res == -EMSGSIZE && h->l->mode.sizes > 1)
		return take_another_size(h);
	if (slot->count ? res <= 0 || res > (int)slot->count : res != 0)
		return gave_up(h, res) ||
		       wrong(h, "a receive ended with %d: %s", res, quoit_error_text(h->q));
	err = quoit_read(h->q, tensor_of(slot), h->words, messages_of(slot) * n * sizeof *h->words);
	if (err)
		return wrong(h, "a message cannot be read: %d: %s", err, quoit_error_text(h->q));
	happened(h);
	for (int i = 0; i < (res ? res : 1); i++)
		if (!check_message(h, h->words + (size_t)i * n, slot->size))
			return false;
	return true;
}

static bool end_oldest_receive(struct queue_hand *h)
{
	struct slot *slot = slot_at(&h->receives, 0);

	h->receives.first = (h->receives.first + 1) % QUEUE_WINDOW;
	h->receives.count--;
	return end_receive(h, slot);
}

/* Those of several sizes come one by one: the next one's size is not known. */
static bool do_receive(struct queue_hand *h)
{
	const uint32_t window = h->l->mode.sizes > 1 ? 1 : h->l->mode.window;
	struct slot *slot = slot_at(&h->receives, h->receives.count);

	slot->size = h->wanted;
	slot->count = draw_count(h);
	if (!begin(h, &h->receives,
		   slot->count ? quoit_receive_rows(h->queue, tensor_of(slot))
			       : quoit_receive(h->queue, tensor_of(slot))))
		return false;
	if (slot->has_ended)
		return end_receive(h, slot);
	return h->receives.count < window || end_oldest_receive(h);
}

/* ---- hands ---- */

static bool end_all(struct queue_hand *h)
{
	bool good = true;

	while (good && h->sends.count)
		good = end_oldest_send(h);
	while (good && h->receives.count)
		good = end_oldest_receive(h);
	return good;
}

/* What waits ends, and what the queue has given it is its own. */
static bool open_again(struct queue_hand *h)
{
	int err = quoit_close_sync(h->s, h->queue);

	if (err)
		return wrong(h, "it cannot be closed: %d", err);
	if (!end_all(h))
		return false;
	h->queue = quoit_open_queue(h->s, QUEUE_NAME, NULL);
	return h->queue >= 0 || wrong(h, "it cannot be opened again: %d", h->queue);
}

static void make_tensors(struct queue_hand *h, struct way *w)
{
	for (unsigned i = 0; i < QUEUE_WINDOW; i++)
		for (unsigned k = 0; k < h->l->mode.sizes; k++)
			w->slot[i].t[k] = quoit_create_vector(h->q, QUOIT_I64, h->l->mode.size[k]);
	for (unsigned i = 0; i < QUEUE_WINDOW && may(h, QUEUE_MAY_ROWS); i++)
		for (unsigned k = 1; k <= QUEUE_ROWS; k++)
			w->slot[i].rows[k] =
				quoit_create_matrix(h->q, QUOIT_I64, k, h->l->mode.size[0]);
}

struct queue_hand *queue_hand_open(struct queue_load *l, unsigned i)
{
	const struct quoit_open_params open = {.socket = l->socket, .host_bytes = 32 * MIB};
	const struct quoit_sync_params params = {.value = l->mode.messages, .most = l->mode.bytes};
	struct queue_hand *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->l = l;
	h->number = i;
	h->random = (uint64_t)getpid();
	h->words = malloc(l->mode.bytes);
	if (!h->words || quoit_open(&open, &h->s) || quoit_open_ring(h->s, NULL, &h->q)) {
		(void)wrong(h, "nothing could be opened: %s", quoit_open_text());
		return h;
	}
	h->queue = quoit_open_queue(h->s, QUEUE_NAME, &params);
	if (h->queue < 0)
		(void)wrong(h, "no queue: %d: %s", h->queue, quoit_open_text());
	make_tensors(h, &h->sends);
	make_tensors(h, &h->receives);
	return h;
}

bool queue_hand_close(struct queue_hand *h)
{
	int err = quoit_close(h->s, 0);

	free(h->words);
	free(h);
	return !err;
}

int queue_hand_send(struct queue_hand *h, unsigned size, int timeout_ms)
{
	struct slot *slot = &h->sends.slot[0];

	if (!prepare_send(h, size, 0, slot))
		return -EIO;
	slot->has_ended = true;
	slot->result = quoit_run(h->q, quoit_send(h->queue, slot->t[size]), timeout_ms);
	if (slot->result != -ETIME)
		return end_send(h, slot) ? 0 : -EIO;
	atomic_fetch_or(&h->l->fate[h->number][(uint32_t)slot->stamp], FATE_FAILED);
	return -ETIME;
}

int queue_hand_receive(struct queue_hand *h, int timeout_ms)
{
	struct slot *slot = &h->receives.slot[0];

	do {
		slot->size = h->wanted;
		slot->count = 0;
		slot->has_ended = true;
		slot->result =
			quoit_run(h->q, quoit_receive(h->queue, slot->t[slot->size]), timeout_ms);
		if (slot->result == -ETIME)
			return -ETIME;
		if (!end_receive(h, slot))
			return -EIO;
	} while (slot->result == -EMSGSIZE);
	return 0;
}

/* ---- processes ---- */

static bool do_something(struct queue_hand *h)
{
	const bool sends = h->number < 2 || (h->number == QUEUE_WORKERS - 1 && draw(h, 2));

	if (may(h, QUEUE_MAY_CLOSE) && !draw(h, 50))
		return open_again(h);
	return sends ? do_send(h) : do_receive(h);
}

/* What it waits for may never come. */
static void cancel_receives(struct queue_hand *h)
{
	for (unsigned i = 0; i < h->receives.count; i++)
		(void)quoit_cancel(h->q, slot_at(&h->receives, i)->job);
}

static int run(struct queue_load *l, unsigned i)
{
	struct queue_hand *h = queue_hand_open(l, i);

	if (!h || *l->hand[i].wrong)
		return 21;
	while (!atomic_load(&l->stop))
		if (!do_something(h))
			return 22;
	cancel_receives(h);
	if (!end_all(h))
		return 23;
	return queue_hand_close(h) ? 0 : 24;
}

struct queue_load *queue_load_new(const char *socket, const struct queue_mode *mode)
{
	struct queue_load *l = mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (l == MAP_FAILED)
		return NULL;
	l->socket = socket;
	l->mode = *mode;
	return l;
}

void queue_load_free(struct queue_load *l)
{
	munmap(l, sizeof *l);
}

pid_t queue_load_start(struct queue_load *l, unsigned i)
{
	pid_t pid;

	atomic_store(&l->hand[i].is_busy, false);
	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(run(l, i));
}

uint64_t queue_load_ended(const struct queue_load *l)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < QUEUE_HANDS; i++)
		n += atomic_load(&l->hand[i].ended);
	return n;
}

uint64_t queue_load_lost(const struct queue_load *l)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < QUEUE_HANDS; i++)
		for (uint32_t k = 0; k < atomic_load(&l->hand[i].number); k++) {
			uint8_t fate = atomic_load(&l->fate[i][k]);

			n += fate & FATE_SENT && !(fate & FATE_RECEIVED);
		}
	return n;
}
