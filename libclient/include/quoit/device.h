/* SPDX-License-Identifier: MIT */
/*
 * device.h - the device layer: what quoit-exec asks of a kind of device.
 *
 * A driver is one table of functions.  There are two: quoit-cuda.so (folder cuda/) and
 * `soft`, host threads with the same semantics, built into quoit-exec.  quoit-exec alone
 * decides what runs when; a driver only does what it is told, in the order of a stream.
 *
 * Everything here is called by one thread.  Nothing blocks but what says so.  A function
 * returns 0 or what it counts, or a negative errno, or one of the two sticky errors:
 * -QUOIT_EGPUFAULT (something that ran on the device has broken its context) and
 * -QUOIT_EDEVLOST (the device is gone).  After a sticky error nothing of the driver may
 * be believed or called, and quoit-exec ends at once.
 *
 * Addresses on a device are numbers, not pointers: the host cannot reach what is there.
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

struct quoit_device;        /* an opened device: a driver's own */
struct quoit_device_stream; /* work in order; streams among each other run at once */
struct quoit_device_event;  /* a place in a stream */
struct quoit_device_module; /* kernels that a client has brought */
struct quoit_device_kernel;
struct quoit_device_pool;     /* memory of another device, which another process has */
struct quoit_direct_requests; /* direct.h */
struct quoit_direct_words;

/* What a device is; fixed once it is open. */
struct quoit_device_info {
	char name[64];
	char address[16];    /* on PCI, like 0000:17:00.0; "" for one that is on no bus */
	char driver[32];     /* its version */
	uint64_t bytes;      /* of its memory */
	uint32_t units;      /* multiprocessors, or threads */
	uint32_t flags;      /* QUOIT_DEVICE_* */
	uint64_t clock_step; /* ns: its clock goes in steps of so many; 0: finer than that */
	uint64_t ops[QUOIT_OP_NR / 64]; /* bit n: it can run operation n */
};
/* Streams can write words: `signal` works.  Else quoit-exec asks events. */
#define QUOIT_DEVICE_SIGNALS  0x1u
/* A profiler is there: quoit-exec calls range_begin and range_end. */
#define QUOIT_DEVICE_PROFILED 0x2u
/* Its units are cores of the host, each of which does a job of its own. */
#define QUOIT_DEVICE_HOST     0x4u
/* It has a library for products. */
#define QUOIT_DEVICE_BLAS     0x8u
/* It does f64 at no less than a quarter of f32's speed. */
#define QUOIT_DEVICE_DOUBLES  0x10u
QUOIT_STATIC_ASSERT(sizeof(struct quoit_device_info) == 168, "no padding in an info");

/* A view on device memory: element (i, j, k, l) is at data + the sum of index times stride. */
struct quoit_device_tensor {
	uint64_t data; /* address of the first element; 0: an optional tensor that is not given */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS]; /* in elements; 0 in a dim that broadcasts */
	uint8_t dtype;                  /* enum quoit_dtype */
	uint8_t reserved[7];
};

/*
 * Where a job says that the contents of its inputs were bad (an index out of range): in host
 * memory of host_new, all zero before.  The first failure stays: res as a negative errno.  To be
 * read when the job is done.
 */
struct quoit_device_verdict {
	int32_t res;
	uint32_t reserved;
	uint64_t value[2]; /* what was found, what is allowed */
};

/*
 * One operation of ops.def.  Types, shapes, bounds and overlaps have been checked: dims of
 * inputs are those of the operation's shape rule, already broadcast (stride 0).
 */
struct quoit_device_call {
	uint8_t opcode;
	uint8_t arg;
	uint8_t reserved[6];
	struct quoit_device_tensor tensor[QUOIT_MAX_TENSORS_PER_JOB];
	uint64_t scalar[2];
	struct quoit_device_verdict *verdict;
};

/* One piece of a device's memory, as other processes are told of it; a driver's own. */
struct quoit_device_export {
	uint64_t word[8];
};

/* A launch of a client's kernel: arguments one after the other, each aligned to its size. */
struct quoit_device_launch {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes;
	uint32_t args; /* how many */
	const void *arg[16];
	uint8_t arg_bytes[16];
	const struct quoit_device_verdict *verdict; /* names the job: health may say it */
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
	 * How many there are.  0 or a negative errno: none, and text says why, for people.  May
	 * take seconds.
	 */
	int (*count)(char *text, size_t size);
	/*
	 * Open number `index`; on failure text says why, else what could be better, if anything.
	 * May take seconds.
	 */
	int (*open)(uint32_t index, struct quoit_device **ret, struct quoit_device_info *ret_info,
		    char *text, size_t size);
	/* Waits for what runs.  NULL is fine. */
	void (*close)(struct quoit_device *d);
	/*
	 * Has something gone wrong for good?  0 or a sticky error; *ret_verdict: that of the job
	 * whose doing it was, NULL: not known.
	 */
	int (*health)(struct quoit_device *d, const struct quoit_device_verdict **ret_verdict);
	/*
	 * What the driver says of this error, for people, if it was the last one or one for good;
	 * NULL: nothing.  Valid until the next call.
	 */
	const char *(*why)(struct quoit_device *d, int err);
	/*
	 * The device's clock and ours (TSC ticks) at one moment; *ret_error: how far they may be
	 * apart, in ticks, beside the clock's step.  May take some microseconds.
	 */
	int (*clock)(struct quoit_device *d, uint64_t *ret_device_ns, uint64_t *ret_ticks,
		     uint64_t *ret_error);

	/* ---- memory ---- */

	/* Device memory; -ENOMEM: there is not enough.  quoit-exec keeps what is freed for reuse.
	 */
	int (*memory_new)(struct quoit_device *d, uint64_t bytes, uint64_t *ret);
	/* Nothing that runs uses it any more. */
	int (*memory_free)(struct quoit_device *d, uint64_t address);
	/* Host memory that streams read and write without a detour.  May block. */
	int (*host_new)(struct quoit_device *d, size_t bytes, void **ret);
	void (*host_free)(struct quoit_device *d, void *memory);
	/* The same for memory that is there; -ENOMEM, -ENOTSUP: it goes through a staging buffer.
	 */
	int (*host_register)(struct quoit_device *d, void *memory, size_t bytes);
	void (*host_unregister)(struct quoit_device *d, void *memory);

	/* ---- memory of other devices of this kind; all NULL: nobody's is reached ---- */

	/*
	 * What other processes need to reach what memory_new gives: a descriptor, the caller's.
	 * At once after open, since a driver may have to have its memory in another way then.
	 * -ENOTSUP: they cannot.
	 */
	int (*pool_export)(struct quoit_device *d, int *ret_fd);
	/*
	 * The same from the process that has device `index`; fd stays the caller's.  On failure
	 * this device does not reach that one.  May block.
	 */
	int (*pool_import)(struct quoit_device *d, uint32_t index, int fd,
			   struct quoit_device_pool **ret);
	/* No piece of it is imported any more. */
	void (*pool_release)(struct quoit_device_pool *p);
	/* Name a piece of memory_new to another process. */
	int (*memory_export)(struct quoit_device *d, uint64_t address,
			     struct quoit_device_export *ret);
	/*
	 * Where streams of the importing device read that piece, as memory WITHIN it.  It is not
	 * freed over there before it is released here, unless that process dies.  Both may block.
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
	/* e is now the end of what s has; what is put into s later does not count. */
	int (*event_record)(struct quoit_device_event *e, struct quoit_device_stream *s);
	/* 1: everything before it is done, 0: not yet. */
	int (*event_done)(struct quoit_device_event *e);
	/* What is put into s from now on waits for e, as recorded last. */
	int (*stream_wait)(struct quoit_device_stream *s, struct quoit_device_event *e);

	/*
	 * ---- work, put into a stream ----
	 *
	 * -EAGAIN, also of event_record and stream_wait: the stream is full, and nothing was put
	 * into it.  quoit-exec asks again until it is.
	 */

	/* Host memory must be of host_new or host_register. */
	int (*copy)(struct quoit_device_stream *s, uint64_t to, uint64_t from, uint64_t bytes,
		    enum quoit_device_way way);
	int (*clear)(struct quoit_device_stream *s, uint64_t address, uint64_t bytes);
	/*
	 * Run an operation.  -ENOTSUP: not on this type or shape; -EINVAL: of nothing, where that
	 * has no result; nothing was put into the stream then.  The call is copied.
	 */
	int (*run)(struct quoit_device_stream *s, const struct quoit_device_call *call);
	/* Write a word of host memory, after all before it, and visible after all of that. */
	int (*signal)(struct quoit_device_stream *s, uint32_t *word, uint32_t value);
	/* Write the device's time in nanoseconds into host memory. */
	int (*stamp)(struct quoit_device_stream *s, uint64_t *word);

	/* ---- kernels that a client has brought ---- */

	/* A cubin or PTX; on `soft` the text "soft", or what begins with "soft:".  On failure text
	 * says why.
	 */
	int (*module_new)(struct quoit_device *d, const void *image, size_t size,
			  struct quoit_device_module **ret, char *text, size_t text_size);
	void (*module_free)(struct quoit_device_module *m);
	/*
	 * Its code is loaded now.  -ENOENT: the module has no such kernel; -ENOMEM, -EINVAL and
	 * others: it cannot be loaded, and text says why where the driver does.  Valid as long as
	 * its module.
	 */
	int (*kernel_find)(struct quoit_device_module *m, const char *name,
			   struct quoit_device_kernel **ret, char *text, size_t text_size);
	int (*launch)(struct quoit_device_stream *s, struct quoit_device_kernel *k,
		      const struct quoit_device_launch *launch);

	/* ---- GPU-direct rings (direct.h); both NULL: this kind of device has no consumers ---- */

	/*
	 * Once, before the first start: these are the rings, and what may run beside a consumer is
	 * loaded.  -ENOTSUP and others: there will be none.  May block.
	 */
	int (*direct_open)(struct quoit_device *d, const struct quoit_direct_requests *requests,
			   struct quoit_direct_words *words, uint32_t rings);
	/*
	 * Start the consumer of a ring that has none.  It is there when it beats, which may be
	 * never; it is told to leave by its words, and has left when they say so.  While one is
	 * there, no function may be called that may wait for the device to be idle: memory_*,
	 * pool_*, host_*, stream_new, stream_free, module_*, kernel_find, close, launch of a
	 * kernel for the first time, and run for a product that is not small
	 * (quoit_direct_product).  All others neither wait nor take or give back memory.
	 */
	int (*direct_start)(struct quoit_device *d, uint32_t ring);

	/* ---- for profilers; both NULL where devices are never QUOIT_DEVICE_PROFILED ---- */

	/*
	 * A job begins its way through a stream, and has ended; between the two others may. opcode:
	 * its operation, job: whose it is (QUOIT_EXEC_JOB of exec.h).  What is returned is for
	 * range_end.
	 */
	uint64_t (*range_begin)(struct quoit_device *d, uint8_t opcode, uint64_t job);
	void (*range_end)(struct quoit_device *d, uint64_t range);
};

/* What quoit-cuda.so exports. */
extern const struct quoit_device_driver quoit_device_driver;
#define QUOIT_DEVICE_SYMBOL "quoit_device_driver"

#ifdef __cplusplus
}
#endif

#endif
