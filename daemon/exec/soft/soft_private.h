/* SPDX-License-Identifier: MIT */
/*
 * soft_private.h - what the files of the soft device share
 *
 * Two kinds of threads: the one that calls the driver, and one for each stream.  Streams are
 * queues from the former to the latter.
 */
#ifndef QUOIT_SOFT_PRIVATE_H
#define QUOIT_SOFT_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "soft.h"
#include "soft_faults.h"
#include "soft_ranges.h"

struct quoit_device {
	/* Fixed once it is open. */
	int fd;           /* a memfd: its memory */
	char *base;       /* the same, as the host sees it, */
	uint64_t address; /* and as clients of the driver do */
	uint64_t bytes;
	uint64_t page; /* of the host */

	/* GPU-direct rings; set once. */
	const struct quoit_direct_requests *direct_requests;
	struct quoit_direct_words *direct_words;
	uint32_t direct_rings;

	/* The calling thread's alone. */
	struct soft_ranges host; /* memory of host_new and host_register */

	/* Under the lock, and broken is read without it. */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a mark is done, a thread has ended, the device is broken */
	struct soft_ranges allocated;
	LIST_HEAD(, quoit_device_stream) streams;
	LIST_HEAD(, quoit_device_pool) pools;
	uint32_t consumers;        /* threads of soft_direct.c */
	_Atomic int broken;        /* 0 or a sticky error */
	_Atomic uint32_t resident; /* of the consumers, those that have not left */
	const struct quoit_device_verdict *culprit;
	const char *why;
};

/* One place in a stream: a new one for each event_record, kept by the event and by what waits. */
struct soft_mark {
	atomic_uint users;
	atomic_bool done; /* set under the device's lock */
};

struct soft_copy {
	uint64_t to, from, bytes;
	enum quoit_device_way way;
};

struct soft_clear {
	uint64_t address, bytes;
};

struct soft_signal {
	uint32_t *word;
	uint32_t value;
};

#define SOFT_KERNEL_ARGS 4

struct soft_launch {
	const struct quoit_device_kernel *kernel;
	uint64_t arg[SOFT_KERNEL_ARGS]; /* its bytes, then zeros */
};

/* An entry of a stream. */
struct soft_task {
	/* On the stream's thread: 0 or a sticky error. */
	int (*run)(struct quoit_device *d, const struct soft_task *task);
	int suffers;                                /* soft_faults_next */
	const struct quoit_device_verdict *verdict; /* of the job, NULL: not known */
	struct soft_mark *mark;                     /* the task is one of its users; NULL: none */
	union {
		struct soft_copy copy;
		struct soft_clear clear;
		struct quoit_device_call call;
		struct soft_signal signal;
		uint64_t *stamp;
		struct soft_launch launch;
	};
};

/* ---- soft.c ---- */

static inline bool soft_is_sticky(int err)
{
	return err == -QUOIT_EGPUFAULT || err == -QUOIT_EDEVLOST;
}

/*
 * First in every call on a device: 0, or the sticky or injected error that it returns, or enum
 * soft_effect.
 */
int soft_enter(struct quoit_device *d, enum soft_function function);

/* A real device may deadlock in this function while a consumer is there (device.h): fault. */
void soft_want_parked(struct quoit_device *d);

/* Why, of what ran: in words of the device layer, as all errors there are one. */
#define SOFT_ASTRAY "a job or kernel used memory that is not its device's"

/* From now on every call returns this sticky error; why: a constant text.  Any thread. */
void soft_break(struct quoit_device *d, int err, const struct quoit_device_verdict *verdict,
		const char *why);

/* The device's time, nanoseconds. */
uint64_t soft_now(void);

/* ---- soft_memory.c ---- */

int soft_memory_new(struct quoit_device *d, uint64_t bytes, uint64_t *ret);
int soft_memory_free(struct quoit_device *d, uint64_t address);
int soft_host_new(struct quoit_device *d, size_t bytes, void **ret);
void soft_host_free(struct quoit_device *d, void *memory);
int soft_host_register(struct quoit_device *d, void *memory, size_t bytes);
void soft_host_unregister(struct quoit_device *d, void *memory);

/* Where these bytes of the device are; NULL: not all of them are of one allocation.  Any thread. */
void *soft_memory_find(struct quoit_device *d, uint64_t address, uint64_t bytes);

/* ---- soft_pool.c ---- */

/* Where the addresses of a device begin. */
uint64_t soft_address(uint32_t index);

int soft_pool_export(struct quoit_device *d, int *ret_fd);
int soft_pool_import(struct quoit_device *d, uint32_t index, int fd,
		     struct quoit_device_pool **ret);
void soft_pool_release(struct quoit_device_pool *p);
void soft_pool_release_all(struct quoit_device *d);
int soft_memory_export(struct quoit_device *d, uint64_t address, struct quoit_device_export *ret);
int soft_memory_import(struct quoit_device_pool *p, const struct quoit_device_export *from,
		       uint64_t bytes, uint64_t *ret);
int soft_memory_release(struct quoit_device_pool *p, uint64_t address);

/* As soft_memory_find, to be read, also what was imported.  Any thread. */
const void *soft_pool_find(struct quoit_device *d, uint64_t address, uint64_t bytes);

/* May streams read and write here? */
bool soft_host_is_known(const struct quoit_device *d, const void *memory, uint64_t bytes);

/* ---- soft_stream.c ---- */

int soft_stream_new(struct quoit_device *d, enum quoit_device_urgency urgency,
		    struct quoit_device_stream **ret);
void soft_stream_free(struct quoit_device_stream *s);

/* Ends all streams of a device once they have done their work. */
void soft_stream_free_all(struct quoit_device *d);

struct quoit_device *soft_stream_device(const struct quoit_device_stream *s);

/*
 * The next free entry, to be filled in; run is to be set.  As soft_enter; -EAGAIN: the stream is
 * full.  Without a submit nothing has happened.
 */
int soft_stream_reserve(struct quoit_device_stream *s, enum soft_function function,
			struct soft_task **ret);
void soft_stream_submit(struct quoit_device_stream *s);

/* A detached thread, which no signal reaches.  -errno. */
int soft_thread_start(void *(*run)(void *), void *argument);

/* ---- soft_event.c ---- */

int soft_event_new(struct quoit_device *d, struct quoit_device_event **ret);
void soft_event_free(struct quoit_device_event *e);
int soft_event_record(struct quoit_device_event *e, struct quoit_device_stream *s);
int soft_event_done(struct quoit_device_event *e);
int soft_event_wait(struct quoit_device_stream *s, struct quoit_device_event *e);

/* One user less; NULL is fine.  Any thread. */
void soft_mark_unref(struct soft_mark *mark);

/* ---- soft_copy.c, soft_run.c ---- */

int soft_copy(struct quoit_device_stream *s, uint64_t to, uint64_t from, uint64_t bytes,
	      enum quoit_device_way way);
int soft_clear(struct quoit_device_stream *s, uint64_t address, uint64_t bytes);
int soft_signal(struct quoit_device_stream *s, uint32_t *word, uint32_t value);
int soft_stamp(struct quoit_device_stream *s, uint64_t *word);
int soft_run(struct quoit_device_stream *s, const struct quoit_device_call *call);

/* Run a checked call here and now.  Any thread.  0 or a sticky error. */
int soft_run_call(struct quoit_device *d, const struct quoit_device_call *call);

/* ---- soft_direct.c ---- */

int soft_direct_open(struct quoit_device *d, const struct quoit_direct_requests *requests,
		     struct quoit_direct_words *words, uint32_t rings);
int soft_direct_start(struct quoit_device *d, uint32_t ring);

/* Tells all consumers to leave, and waits until they have. */
void soft_direct_close(struct quoit_device *d);

/* ---- soft_kernels.c ---- */

int soft_module_new(struct quoit_device *d, const void *image, size_t size,
		    struct quoit_device_module **ret, char *text, size_t text_size);
void soft_module_free(struct quoit_device_module *m);
int soft_kernel_find(struct quoit_device_module *m, const char *name,
		     struct quoit_device_kernel **ret, char *text, size_t text_size);
int soft_launch(struct quoit_device_stream *s, struct quoit_device_kernel *k,
		const struct quoit_device_launch *launch);

/* For ever. */
_Noreturn void soft_hang(void);

/* ---- soft_profile.c ---- */

/* Does somebody want to know of ranges?  For tests. */
bool soft_profile_open(void);
uint64_t soft_range_begin(struct quoit_device *d, uint8_t opcode, uint64_t job);
void soft_range_end(struct quoit_device *d, uint64_t range);

#endif
