/* SPDX-License-Identifier: MIT */
/*
 * device.h - the device layer: the functions of a device driver that quoit-exec calls.
 *
 * A driver is one table of functions.  There are two: quoit-cuda.so (folder cuda/) and `soft`, host
 * threads with the same semantics, built into quoit-exec.  quoit-exec alone decides what runs when;
 * a driver only does what it is told, in the order of a stream.
 *
 * One thread makes all calls.  A function may block only where its comment says so.  It returns 0
 * or its count, or a negative errno, or one of the two sticky errors: -QUOIT_EGPUFAULT (a job on
 * the device has broken its context) and -QUOIT_EDEVLOST (the device is gone).  After a sticky
 * error quoit-exec neither calls the driver nor trusts its results, and ends at once.
 *
 * Addresses on a device are numbers, not pointers: the host cannot reach that memory.
 */
#ifndef QUOIT_DEVICE_H
#define QUOIT_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <quoit/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QUOIT_DEVICE_VERSION 6u

struct quoit_device;        /* an opened device; the driver defines it */
struct quoit_device_stream; /* work that runs in order; different streams run at the same time */
struct quoit_device_event;  /* a place in a stream */
struct quoit_device_module; /* kernels that a client has brought */
struct quoit_device_kernel;
struct quoit_device_pool;     /* memory of another device, which belongs to another process */
struct quoit_direct_requests; /* direct.h */
struct quoit_direct_words;

/* A description of a device; fixed once it is open. */
struct quoit_device_info {
	char name[64];
	char address[16];    /* on PCI, like 0000:17:00.0; "": the device is on no bus */
	char driver[32];     /* the driver's version */
	uint64_t bytes;      /* of the device's memory */
	uint32_t units;      /* multiprocessors, or threads of a soft device */
	uint32_t flags;      /* QUOIT_DEVICE_* */
	uint64_t clock_step; /* nanoseconds per step of the device's clock; 0: finer than 1 ns */
	uint64_t ops[QUOIT_OP_NR / 64]; /* bit n: it can run operation n */
};
/* Streams can write words: `signal` works.  Without this flag, quoit-exec polls events. */
#define QUOIT_DEVICE_SIGNALS  0x1u
/* A profiler is attached: quoit-exec calls range_begin and range_end. */
#define QUOIT_DEVICE_PROFILED 0x2u
/* Its units are cores of the host; each runs a job of its own. */
#define QUOIT_DEVICE_HOST     0x4u
/* It has a library for matrix products. */
#define QUOIT_DEVICE_BLAS     0x8u
/* It computes f64 at a quarter of f32's speed or faster. */
#define QUOIT_DEVICE_DOUBLES  0x10u
QUOIT_STATIC_ASSERT(sizeof(struct quoit_device_info) == 168, "no padding in an info");

/* A view on device memory: element (i, j, k, l) is at data + the sum of index times stride. */
struct quoit_device_tensor {
	uint64_t data; /* address of the first element; 0: an optional tensor that is not given */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS]; /* in elements; 0 in a dim that is broadcast */
	uint8_t dtype;                  /* enum quoit_dtype */
	uint8_t reserved[7];
};

/*
 * A job reports here that the contents of its inputs were bad (an index out of range).  It lies in
 * host memory of host_new, and is all zero before.  The first failure stays: res is a negative
 * errno.  Read it when the job has ended.
 */
struct quoit_device_verdict {
	int32_t res;
	uint32_t reserved;
	uint64_t value[2]; /* the value found, the value allowed */
};

/*
 * One operation of ops.def.  quoit-exec passes only calls whose types, shapes, bounds and overlaps
 * have been checked: dims of inputs are those of the operation's shape rule, already broadcast
 * (stride 0).
 */
struct quoit_device_call {
	uint8_t opcode;
	uint8_t arg;
	uint8_t reserved[6];
	struct quoit_device_tensor tensor[QUOIT_MAX_TENSORS_PER_JOB];
	uint64_t scalar[2];
	struct quoit_device_verdict *verdict;
};

/* The name of one piece of a device's memory for other processes; the driver defines it. */
struct quoit_device_export {
	uint64_t word[8];
};

/* A launch of a client's kernel: arguments one after the other, each aligned to its size. */
struct quoit_device_launch {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes;
	uint32_t args; /* how many arguments */
	const void *arg[16];
	uint8_t arg_bytes[16];
	const struct quoit_device_verdict *verdict; /* names the job: `health` may return it */
};

enum quoit_device_way {
	QUOIT_DEVICE_IN,     /* host to device */
	QUOIT_DEVICE_OUT,    /* device to host */
	QUOIT_DEVICE_WITHIN, /* on the device */
};

enum quoit_device_urgency { QUOIT_DEVICE_NORMAL, QUOIT_DEVICE_URGENT };

struct quoit_device_driver {
	uint32_t version; /* QUOIT_DEVICE_VERSION */
	const char *name; /* "cuda", "soft" */

	/* ---- devices ---- */

	/*
	 * The number of devices.  0 or a negative errno: there are none, and text tells people why.
	 * May take seconds.
	 */
	int (*count)(char *text, size_t size);
	/*
	 * Open device `index`.  On failure text says why; on success text says what could be
	 * better, or is empty.  May take seconds.
	 */
	int (*open)(uint32_t index, struct quoit_device **ret, struct quoit_device_info *ret_info,
		    char *text, size_t size);
	/* Waits for running work.  d may be NULL. */
	void (*close)(struct quoit_device *d);
	/*
	 * 0, or the sticky error of the device.  *ret_verdict: the verdict of the job that caused
	 * it; NULL: not known.
	 */
	int (*health)(struct quoit_device *d, const struct quoit_device_verdict **ret_verdict);
	/*
	 * The driver's own words for this error, if it was the last one or a sticky one; NULL: the
	 * driver has none.  Valid until the next call.
	 */
	const char *(*why)(struct quoit_device *d, int err);
	/*
	 * Read the device's clock and the host's (TSC ticks) at one moment.  *ret_error: how far
	 * the two may be apart, in ticks, not counting the clock's step.  May take some
	 * microseconds.
	 */
	int (*clock)(struct quoit_device *d, uint64_t *ret_device_ns, uint64_t *ret_ticks,
		     uint64_t *ret_error);

	/* ---- memory ---- */

	/* Device memory; -ENOMEM: there is not enough.  quoit-exec keeps freed memory for reuse. */
	int (*memory_new)(struct quoit_device *d, uint64_t bytes, uint64_t *ret);
	/* Called when no running work uses the memory any more. */
	int (*memory_free)(struct quoit_device *d, uint64_t address);
	/* Host memory that streams can read and write directly.  May block. */
	int (*host_new)(struct quoit_device *d, size_t bytes, void **ret);
	void (*host_free)(struct quoit_device *d, void *memory);
	/* The same for existing memory; -ENOMEM, -ENOTSUP: copies of it need a staging buffer. */
	int (*host_register)(struct quoit_device *d, void *memory, size_t bytes);
	void (*host_unregister)(struct quoit_device *d, void *memory);

	/*
	 * ---- memory of other devices of this kind; all NULL: devices cannot reach each other ----
	 */

	/*
	 * A descriptor by which other processes reach the memory that memory_new returns; the
	 * caller owns it. quoit-exec calls this right after open, since a driver may have to
	 * allocate in another way then. -ENOTSUP: other processes cannot reach it.
	 */
	int (*pool_export)(struct quoit_device *d, int *ret_fd);
	/*
	 * Import such a descriptor from the process of device `index`; fd stays the caller's.  On
	 * failure this device cannot reach that one.  May block.
	 */
	int (*pool_import)(struct quoit_device *d, uint32_t index, int fd,
			   struct quoit_device_pool **ret);
	/* Called when no piece of the pool is imported any more. */
	void (*pool_release)(struct quoit_device_pool *p);
	/* Name a piece of memory_new for another process. */
	int (*memory_export)(struct quoit_device *d, uint64_t address,
			     struct quoit_device_export *ret);
	/*
	 * The address at which streams of the importing device read that piece, as memory WITHIN
	 * it.  The owner frees it only after it was released here, unless this process dies.  Both
	 * functions may block.
	 */
	int (*memory_import)(struct quoit_device_pool *p, const struct quoit_device_export *from,
			     uint64_t bytes, uint64_t *ret);
	int (*memory_release)(struct quoit_device_pool *p, uint64_t address);

	/* ---- streams ---- */

	int (*stream_new)(struct quoit_device *d, enum quoit_device_urgency urgency,
			  struct quoit_device_stream **ret);
	void (*stream_free)(struct quoit_device_stream *s);
	int (*event_new)(struct quoit_device *d, struct quoit_device_event **ret);
	void (*event_free)(struct quoit_device_event *e);
	/* e now marks the end of the work in s; work that is put into s later does not count. */
	int (*event_record)(struct quoit_device_event *e, struct quoit_device_stream *s);
	/* 1: all work before it has ended; 0: not yet. */
	int (*event_done)(struct quoit_device_event *e);
	/* Work that is put into s from now on waits for e, as recorded last. */
	int (*stream_wait)(struct quoit_device_stream *s, struct quoit_device_event *e);

	/*
	 * ---- work, put into a stream ----
	 *
	 * -EAGAIN, also from event_record and stream_wait: the stream is full, and nothing was put
	 * into it. quoit-exec asks again until there is room.
	 */

	/* Host memory must be of host_new or host_register. */
	int (*copy)(struct quoit_device_stream *s, uint64_t to, uint64_t from, uint64_t bytes,
		    enum quoit_device_way way);
	int (*clear)(struct quoit_device_stream *s, uint64_t address, uint64_t bytes);
	/*
	 * Run an operation.  -ENOTSUP: the device cannot run it on this type or shape; -EINVAL: its
	 * input is empty, and it has no result for that.  On an error nothing was put into the
	 * stream.  The driver copies the call.
	 */
	int (*run)(struct quoit_device_stream *s, const struct quoit_device_call *call);
	/*
	 * Write a word of host memory after all earlier work; a reader of the word sees that work's
	 * results.
	 */
	int (*signal)(struct quoit_device_stream *s, uint32_t *word, uint32_t value);
	/* Write the device's time in nanoseconds into host memory. */
	int (*stamp)(struct quoit_device_stream *s, uint64_t *word);

	/* ---- kernels that a client has brought ---- */

	/*
	 * Load a cubin or PTX; on `soft` the text "soft", or a text that begins with "soft:".  On
	 * failure text says why.
	 */
	int (*module_new)(struct quoit_device *d, const void *image, size_t size,
			  struct quoit_device_module **ret, char *text, size_t text_size);
	void (*module_free)(struct quoit_device_module *m);
	/*
	 * Find a kernel and load its code now.  -ENOENT: the module has no such kernel; -ENOMEM,
	 * -EINVAL and others: it cannot be loaded, and text says why if the driver does.  *ret is
	 * valid as long as its module.
	 */
	int (*kernel_find)(struct quoit_device_module *m, const char *name,
			   struct quoit_device_kernel **ret, char *text, size_t text_size);
	int (*launch)(struct quoit_device_stream *s, struct quoit_device_kernel *k,
		      const struct quoit_device_launch *launch);

	/* ---- GPU-direct rings (direct.h); both NULL: this kind of device has no consumers ---- */

	/*
	 * Called once, before the first start: hand over the rings, and load all code that may run
	 * beside a consumer.  -ENOTSUP and others: there will be no consumers.  May block.
	 */
	int (*direct_open)(struct quoit_device *d, const struct quoit_direct_requests *requests,
			   struct quoit_direct_words *words, uint32_t rings);
	/*
	 * Start the consumer of a ring that has none.  The consumer has started when it beats,
	 * which may never happen.  quoit-exec tells it to leave by the ring's words, and it has
	 * left when they say so.
	 *
	 * While a consumer is there, quoit-exec must not call a function that may wait until the
	 * device is idle: memory_*, pool_*, host_*, stream_new, stream_free, module_*, kernel_find,
	 * close, launch of a kernel for the first time, and run for a product that is not small
	 * (quoit_direct_product).  All other functions neither wait nor allocate or free memory.
	 */
	int (*direct_start)(struct quoit_device *d, uint32_t ring);

	/* ---- for profilers; both NULL where devices are never QUOIT_DEVICE_PROFILED ---- */

	/*
	 * The begin and the end of a job's way through a stream; ranges of several jobs may
	 * overlap.  opcode: the job's operation; job: its name (QUOIT_EXEC_JOB of exec.h).
	 * range_begin returns the argument for range_end.
	 */
	uint64_t (*range_begin)(struct quoit_device *d, uint8_t opcode, uint64_t job);
	void (*range_end)(struct quoit_device *d, uint64_t range);
};

/* The symbol that quoit-cuda.so exports. */
extern const struct quoit_device_driver quoit_device_driver;
#define QUOIT_DEVICE_SYMBOL "quoit_device_driver"

#ifdef __cplusplus
}
#endif

#endif
