/* SPDX-License-Identifier: MIT */
/* counting_driver.c - a device's driver that only counts its calls */
#include "counting_driver.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/exec.h>

#include "base/tsc.h"

struct quoit_device_stream {
	uint32_t *word, value; /* the value is still to be written to the word */
};

static struct counting_calls calls;
static bool held;        /* streams do not write */
static unsigned refused; /* the number of the host_register call that fails; 0: none */
static unsigned stalls;  /* calls of clear that will find a full stream */
static struct quoit_device_stream streams[QUOIT_EXEC_STREAMS];
static unsigned stream_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* It cannot read its clock. */
static bool busy;

void counting_be_busy(void)
{
	__atomic_store_n(&busy, true, __ATOMIC_RELEASE);
}

static void count(unsigned *counter)
{
	pthread_mutex_lock(&lock);
	++*counter;
	pthread_mutex_unlock(&lock);
}

static int do_health(struct quoit_device *d, const struct quoit_device_verdict **ret)
{
	(void)d;
	*ret = NULL;
	return 0;
}

static const char *do_why(struct quoit_device *d, int err)
{
	(void)d;
	(void)err;
	return NULL;
}

static int do_clock(struct quoit_device *d, uint64_t *ret_ns, uint64_t *ret_ticks,
		    uint64_t *ret_error)
{
	(void)d;
	if (__atomic_load_n(&busy, __ATOMIC_ACQUIRE))
		return -EAGAIN;
	*ret_ns = COUNTING_READING_NS;
	*ret_error = 1;
	*ret_ticks = tsc_now();
	return 0;
}

static int do_memory_new(struct quoit_device *d, uint64_t bytes, uint64_t *ret)
{
	static uint64_t next = UINT64_C(1) << 40;

	(void)d;
	*ret = next;
	next += bytes;
	count(&calls.memory_new);
	return 0;
}

static int do_memory_free(struct quoit_device *d, uint64_t address)
{
	(void)d;
	(void)address;
	count(&calls.memory_free);
	return 0;
}

static int do_host_new(struct quoit_device *d, size_t bytes, void **ret)
{
	(void)d;
	count(&calls.host_new);
	*ret = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
	if (*ret)
		memset(*ret, 0, bytes);
	return *ret ? 0 : -ENOMEM;
}

static void do_host_free(struct quoit_device *d, void *memory)
{
	(void)d;
	free(memory);
}

static int do_host_register(struct quoit_device *d, void *memory, size_t bytes)
{
	(void)d;
	(void)memory;
	(void)bytes;
	count(&calls.host_register);
	return calls.host_register == refused ? -ENOMEM : 0;
}

static void do_host_unregister(struct quoit_device *d, void *memory)
{
	(void)d;
	(void)memory;
	count(&calls.host_unregister);
}

static int do_stream_new(struct quoit_device *d, enum quoit_device_urgency urgency,
			 struct quoit_device_stream **ret)
{
	(void)d;
	(void)urgency;
	*ret = &streams[stream_count++];
	return 0;
}

static void do_stream_free(struct quoit_device_stream *s)
{
	(void)s;
}

static int do_event_new(struct quoit_device *d, struct quoit_device_event **ret)
{
	static char events[64];

	(void)d;
	*ret = (struct quoit_device_event *)&events[calls.event_new];
	count(&calls.event_new);
	return 0;
}

static void do_event_free(struct quoit_device_event *e)
{
	(void)e;
}

static int do_event_record(struct quoit_device_event *e, struct quoit_device_stream *s)
{
	(void)e;
	(void)s;
	count(&calls.record);
	return 0;
}

static int do_stream_wait(struct quoit_device_stream *s, struct quoit_device_event *e)
{
	(void)e;
	(void)s;
	count(&calls.wait);
	return 0;
}

static int do_copy(struct quoit_device_stream *s, uint64_t to, uint64_t from, uint64_t bytes,
		   enum quoit_device_way way)
{
	(void)s;
	(void)to;
	(void)from;
	(void)bytes;
	(void)way;
	count(&calls.copy);
	return 0;
}

static int do_clear(struct quoit_device_stream *s, uint64_t address, uint64_t bytes)
{
	(void)s;
	(void)address;
	(void)bytes;
	if (stalls) {
		stalls--;
		return -EAGAIN;
	}
	count(&calls.clear);
	return 0;
}

static int do_run(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	(void)s;
	(void)call;
	pthread_mutex_lock(&lock);
	calls.run++;
	calls.registered_at_run = calls.host_register;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int do_signal(struct quoit_device_stream *s, uint32_t *word, uint32_t value)
{
	pthread_mutex_lock(&lock);
	calls.signal++;
	s->word = word;
	s->value = value;
	if (!held)
		__atomic_store_n(word, value, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	return 0;
}

static int do_stamp(struct quoit_device_stream *s, uint64_t *word)
{
	(void)s;
	*word = COUNTING_STAMP_NS;
	count(&calls.stamp);
	return 0;
}

/* The first range is number 1. */
static uint64_t do_range_begin(struct quoit_device *d, uint8_t opcode, uint64_t job)
{
	uint64_t range;

	(void)d;
	pthread_mutex_lock(&lock);
	range = ++calls.range_begin;
	calls.range_opcode = opcode;
	calls.range_job = job;
	pthread_mutex_unlock(&lock);
	return range;
}

/* The end of a range that never began does not count. */
static void do_range_end(struct quoit_device *d, uint64_t range)
{
	(void)d;
	pthread_mutex_lock(&lock);
	calls.range_end += range && range <= calls.range_begin;
	pthread_mutex_unlock(&lock);
}

const struct quoit_device_driver counting_driver = {.version = QUOIT_DEVICE_VERSION,
						    .name = "counting",
						    .health = do_health,
						    .why = do_why,
						    .clock = do_clock,
						    .memory_new = do_memory_new,
						    .memory_free = do_memory_free,
						    .host_new = do_host_new,
						    .host_free = do_host_free,
						    .host_register = do_host_register,
						    .host_unregister = do_host_unregister,
						    .stream_new = do_stream_new,
						    .stream_free = do_stream_free,
						    .event_new = do_event_new,
						    .event_free = do_event_free,
						    .event_record = do_event_record,
						    .stream_wait = do_stream_wait,
						    .copy = do_copy,
						    .clear = do_clear,
						    .run = do_run,
						    .signal = do_signal,
						    .stamp = do_stamp,
						    .range_begin = do_range_begin,
						    .range_end = do_range_end};

struct counting_calls counting_now(void)
{
	struct counting_calls now;

	pthread_mutex_lock(&lock);
	now = calls;
	pthread_mutex_unlock(&lock);
	return now;
}

void counting_refuse(unsigned n)
{
	pthread_mutex_lock(&lock);
	refused = calls.host_register + n;
	pthread_mutex_unlock(&lock);
}

/* Call it before there are jobs, since their thread reads it. */
void counting_stall(unsigned n)
{
	stalls = n;
}

void counting_hold(void)
{
	pthread_mutex_lock(&lock);
	held = true;
	pthread_mutex_unlock(&lock);
}

bool counting_step(unsigned stream, unsigned left)
{
	struct quoit_device_stream *s = &streams[stream];
	bool can;

	pthread_mutex_lock(&lock);
	can = s->word && s->value - *s->word > left;
	if (can)
		__atomic_store_n(s->word, *s->word + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	return can;
}

void counting_let_go(void)
{
	pthread_mutex_lock(&lock);
	held = false;
	for (unsigned i = 0; i < QUOIT_EXEC_STREAMS; i++)
		if (streams[i].word)
			__atomic_store_n(streams[i].word, streams[i].value, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}
