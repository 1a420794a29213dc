/* SPDX-License-Identifier: MIT */
/*
 * soft_private.h - what the files of the soft device share.
 *
 * There are two kinds of threads: the one that calls the driver, and one for each stream or
 * consumer.  A stream is a queue from the former to the latter.
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
	int fd;           /* a memfd: the device's memory */
	char *base;       /* where the host has mapped it */
	uint64_t address; /* where it begins for users of the driver */
	uint64_t bytes;
	uint64_t page; /* of the host */

	/* GPU-direct rings; set once. */
	const struct quoit_direct_requests *direct_requests;
	struct quoit_direct_words *direct_words;
	uint32_t direct_rings;

	/* For the thread that calls the driver only. */
	struct soft_ranges host; /* memory of host_new and host_register */

	/* Under the lock; `broken` is also read without it. */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a mark is done, a thread has ended, the device is broken */
	struct soft_ranges allocated;
	LIST_HEAD(, quoit_device_stream) streams;
	LIST_HEAD(, quoit_device_pool) pools;
	uint32_t consumers;        /* threads of soft_direct.c */
	_Atomic int broken;        /* 0 or a sticky error */
	_Atomic uint32_t resident; /* consumers that have not left */
	const struct quoit_device_verdict *culprit;
	const char *why;
};

/* One place in a stream: each event_record makes one, kept by the event and by waiting streams. */
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
	uint64_t arg[SOFT_KERNEL_ARGS]; /* the argument's bytes, then zeros */
};

/* An entry of a stream. */
struct soft_task {
	/* Called on the stream's thread; returns 0 or a sticky error. */
	int (*run)(struct quoit_device *d, const struct soft_task *task);
	int suffers;                                /* soft_faults_next */
	const struct quoit_device_verdict *verdict; /* the job's; NULL: not known */
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
 * Comes first in every call on a device.  0, the sticky or injected error that the call returns, or
 * an enum soft_effect.
 */
int soft_enter(struct quoit_device *d, enum soft_function function);

/*
 * Break the device if a consumer is there: a real one might deadlock in this function (device.h).
 */
void soft_want_parked(struct quoit_device *d);

/*
 * Why the device broke while it ran work, for people: the device layer has one text for all faults.
 */
#define SOFT_ASTRAY "a job or kernel used memory that is not its device's"

/* From now on every call returns this sticky error; why: a constant text.  Any thread. */
void soft_break(struct quoit_device *d, int err, const struct quoit_device_verdict *verdict,
		const char *why);

/* The device's time in nanoseconds. */
uint64_t soft_now(void);

/* ---- soft_memory.c ---- */

int soft_memory_new(struct quoit_device *d, uint64_t bytes, uint64_t *ret);
int soft_memory_free(struct quoit_device *d, uint64_t address);
int soft_host_new(struct quoit_device *d, size_t bytes, void **ret);
void soft_host_free(struct quoit_device *d, void *memory);
int soft_host_register(struct quoit_device *d, void *memory, size_t bytes);
void soft_host_unregister(struct quoit_device *d, void *memory);

/* Where these bytes of the device are; NULL: they are not all in one allocation.  Any thread. */
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

/* soft_memory_find for reading, which also finds imported memory.  Any thread. */
const void *soft_pool_find(struct quoit_device *d, uint64_t address, uint64_t bytes);

/* May streams read and write this host memory? */
bool soft_host_is_known(const struct quoit_device *d, const void *memory, uint64_t bytes);

/* ---- soft_stream.c ---- */

int soft_stream_new(struct quoit_device *d, enum quoit_device_urgency urgency,
		    struct quoit_device_stream **ret);
void soft_stream_free(struct quoit_device_stream *s);

/* Ends all streams of a device once they have done their work, and waits for that. */
void soft_stream_free_all(struct quoit_device *d);

struct quoit_device *soft_stream_device(const struct quoit_device_stream *s);

/*
 * The next free entry; the caller fills it in and sets run.  As soft_enter; -EAGAIN: the stream is
 * full.  Nothing happens before soft_stream_submit.
 */
int soft_stream_reserve(struct quoit_device_stream *s, enum soft_function function,
			struct soft_task **ret);
void soft_stream_submit(struct quoit_device_stream *s);

/* Start a detached thread, which gets no signals.  0 or -errno. */
int soft_thread_start(void *(*run)(void *), void *argument);

/* ---- soft_event.c ---- */

int soft_event_new(struct quoit_device *d, struct quoit_device_event **ret);
void soft_event_free(struct quoit_device_event *e);
int soft_event_record(struct quoit_device_event *e, struct quoit_device_stream *s);
int soft_event_done(struct quoit_device_event *e);
int soft_event_wait(struct quoit_device_stream *s, struct quoit_device_event *e);

/* Drop one user's reference; NULL is fine.  Any thread. */
void soft_mark_unref(struct soft_mark *mark);

/* ---- soft_copy.c, soft_run.c ---- */

int soft_copy(struct quoit_device_stream *s, uint64_t to, uint64_t from, uint64_t bytes,
	      enum quoit_device_way way);
int soft_clear(struct quoit_device_stream *s, uint64_t address, uint64_t bytes);
int soft_signal(struct quoit_device_stream *s, uint32_t *word, uint32_t value);
int soft_stamp(struct quoit_device_stream *s, uint64_t *word);
int soft_run(struct quoit_device_stream *s, const struct quoit_device_call *call);

/* Run a checked call on the calling thread; any thread.  0 or a sticky error. */
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

/* Sleeps for ever. */
_Noreturn void soft_hang(void);

/* ---- soft_profile.c ---- */

/* Open the file for ranges; true: there is one.  For tests. */
bool soft_profile_open(void);
uint64_t soft_range_begin(struct quoit_device *d, uint8_t opcode, uint64_t job);
void soft_range_end(struct quoit_device *d, uint64_t range);

#endif
