/* SPDX-License-Identifier: MIT */
/*
 * quoit.h - hand jobs to quoitd, go on, and get the results back.
 *
 * A session (struct quoit_session) belongs to a process; a ring (struct
 * quoit_ring) belongs to one thread at a time.  A job is described by one
 * 64-byte SQE, made by one of the builders at the end of this file, and runs as
 * soon as the data that it reads is there.  Tensors are named by handles and
 * live in the daemon's memory.
 *
 *	struct quoit_session *s;
 *	struct quoit_ring *q;
 *
 *	quoit_open(&s, NULL);
 *	quoit_ring_open(&q, s, NULL);
 *	quoit_tensor a = quoit_matrix(q, QUOIT_F32, 1000, 1000);
 *	quoit_tensor b = quoit_matrix(q, QUOIT_F32, 1000, 1000);
 *	quoit_push(q, quoit_normal(a, 1, 0));
 *	quoit_push(q, quoit_gemm(b, a, a, 0, 1.0, 0.0));
 *	quoit_wait_tensor(q, b, QUOIT_FOREVER);
 *
 * Errors.  A function that returns int returns 0 (or what it counts) or a
 * negative errno, or -QUOIT_E* of abi.h.  Nothing here prints or exits.  When
 * quoitd is gone every call that would have to wait returns -ECONNRESET; what
 * was in flight then has an unknown outcome.  In a child after fork() every
 * call returns -EOWNERDEAD: the child opens a session of its own.
 *
 * Threads.  Calls on different rings may run at the same time, calls on one ring
 * may not: one that comes while another thread puts a job in, or sleeps in a wait, returns -EBUSY.
 * Calls on a session (open and close of rings, quoit_alloc, files) may
 * run at any time.
 *
 * Ordering.  Jobs that touch the same bytes run in the order of their submission
 * on one ring; all else may run at once and complete out of order.
 */
#ifndef QUOIT_H
#define QUOIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/abi.h>
#include <quoit/half.h>
#include <quoit/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All functions of this header whose bodies are here are in the library as well, for programs that
 * cannot compile them (Fortran, dlopen); so are those that macros of the same name hide here.
 */
#ifndef QUOIT_INLINE
#define QUOIT_INLINE static inline
#endif

/* On a builder: its SQE does nothing until it is pushed or started. */
#define QUOIT_TO_PUSH  __attribute__((warn_unused_result))
/* On a call whose result says whether there is anything to go on with. */
#define QUOIT_TO_CHECK __attribute__((warn_unused_result))

/* All fields zero, in C and in C++. */
#ifdef __cplusplus
#define QUOIT_ZEROS                                                                                \
	{                                                                                          \
	}
#else
#define QUOIT_ZEROS                                                                                \
	{                                                                                          \
		0                                                                                  \
	}
#endif

#define QUOIT_VERSION_MAJOR 0
#define QUOIT_VERSION_MINOR 1
#define QUOIT_VERSION_PATCH 0

#define QUOIT_FOREVER (-1) /* a timeout in milliseconds that never comes */

struct quoit_session;
struct quoit_ring;

/* A tensor's handle (abi.h); QUOIT_NO_TENSOR (0) is none. */
typedef uint32_t quoit_tensor;

/* A job of a managed ring: a slot of its table and the slot's generation; 0 is none. */
typedef uint64_t quoit_job;

/* ---- sessions ---- */

/* What a session is opened with: sizes in bytes, zeros are the defaults. */
struct quoit_open_params {
	const char *socket; /* NULL: $QUOIT_SOCKET, else the system's, else the user's */
	const char *name;   /* what the tools show; NULL: the program's name */
	/*
	 * Lease of host memory, promised whole; 0: a little is promised, and it grows as jobs need
	 * more, up to what the user may have, if there is so much then (quoit_info).
	 */
	uint64_t host_bytes;
	uint64_t device_bytes; /* lease of memory on every device; 0: the daemon's default */
	uint64_t arena_bytes;  /* what quoit_alloc can hand out; 0: an eighth of the lease, growing
				  with it */
	uint64_t pinned_bytes; /* the pinned region, a part of the lease; 0: none */
	uint32_t max_tensors;  /* alive at once; 0: the daemon's default */
	uint32_t flags;        /* QUOIT_OPEN_* */
};

/* It brings kernels (below): its jobs on devices run in processes of its user's own. */
#define QUOIT_OPEN_KERNELS 0x1u
/* Small jobs on devices in GPU-direct mode, if it can be had; quoit_info.direct says so. */
#define QUOIT_OPEN_DIRECT  0x2u
/*
 * A thread that waits stays on the CPU where it runs.  Else, if that is the CPU of the session's
 * reactor (quoit_info.reactor_cpu) and the thread may run on another, a wait moves it there, since
 * two on one CPU are slower by far; the CPUs that it may run on stay the same.
 */
#define QUOIT_OPEN_STAY    0x4u
#define QUOIT_OPEN_FLAGS   0x7u

/* What the daemon granted: sizes in bytes. */
struct quoit_info {
	uint64_t session;         /* the number that `quoit ps` shows and `quoit kill` takes */
	uint64_t host_bytes;      /* of the lease what is promised, */
	uint64_t host_bytes_most; /* and what it can grow to */
	uint64_t device_bytes;
	uint64_t arena_bytes;      /* now; quoit_alloc makes it larger, */
	uint64_t arena_bytes_most; /* up to here, where there is memory */
	uint64_t pinned_bytes;
	uint64_t tsc_hz; /* ticks a second of stamps and call-site times */
	uint32_t max_tensors;
	uint32_t max_jobs;
	uint32_t devices;    /* that quoit_use_device can name: 1 to this */
	int32_t reactor_cpu; /* where the session's reactor runs; -1: unknown, it may move */
	bool direct;         /* GPU-direct mode: it was asked for and granted */
	uint64_t ops[QUOIT_OP_NR / 64]; /* bit n: operation n can be run */
};

/*
 * Open a session.  params may be NULL.  *ret is the caller's until quoit_close.
 * -ENOENT or -ECONNREFUSED: no daemon there; -EACCES: not allowed to, or who
 * serves there cannot be trusted: not root, ourselves, or the user whom the socket's folder belongs
 * to, where nobody else may write in it or above it; -EDQUOT: the lease does not fit
 * (quoit_open_text says what is left); -EPROTO: another version; -EINVAL: a wish that cannot be;
 * -EUSERS: too many users bring kernels; -ENAMETOOLONG: the path; -ETIMEDOUT: quoitd is
 * stopped, which is seen within some seconds, or has not answered for 30 s; -ENOMEM.  Thread-safe.
 */
QUOIT_TO_CHECK int quoit_open(struct quoit_session **ret, const struct quoit_open_params *params);

/* In words why quoitd could not be reached or refused this thread's last request; never NULL. */
const char *quoit_open_text(void);

/*
 * Close all rings, wait for the jobs in flight (flags 0) or cancel those that have not
 * started (QUOIT_CLOSE_CANCEL), and free everything, rings too.  s may be NULL.  Never fails
 * half way: -ECONNRESET is said after everything has been freed, and a child frees its own
 * part (0).  No other call on s or its rings may run.
 */
int quoit_close(struct quoit_session *s, unsigned flags);
#ifndef QUOIT_CLOSE_CANCEL
#define QUOIT_CLOSE_CANCEL 0x1u
#endif

/* A copy of what hello granted; no round trip, thread-safe, in a child too. */
void quoit_get_info(const struct quoit_session *s, struct quoit_info *ret);

/*
 * The number of an operation by its name, for quoit_op4: how operations of plug-in
 * modules are found.  -ENOENT: quoitd does not have it; -ECONNRESET.  A round trip to the
 * daemon.
 */
int quoit_op_find(struct quoit_session *s, const char *name);

/* ---- devices ---- */

struct quoit_device_desc {
	char name[64];
	char address[16];       /* on PCI, like 0000:17:00.0; "": on no bus */
	uint64_t bytes;         /* of its memory */
	uint32_t units;         /* multiprocessors, or threads of a soft one */
	uint64_t jobs;          /* of this session that have ended there */
	uint64_t jobs_direct;   /* of these, in GPU-direct mode, */
	uint64_t jobs_streamed; /* and small jobs that went through streams all the same */
	bool up;                /* jobs run there now */
	bool lost;              /* it cannot be brought up: jobs fail with -ENODEV */
};

/*
 * What device `number` is, counted from 1 to quoit_info.devices; quoit_open_text says why it is
 * lost, if it is.  -ENODEV: there is none of that number, and the text says why.  A round trip to
 * the daemon.
 */
int quoit_device(struct quoit_session *s, unsigned number, struct quoit_device_desc *ret);

/* ---- kernels of one's own ---- */

/*
 * Load an image on a device: a cubin or PTX, or, on a soft device, the text "soft", which has
 * the built-in kernels `stencil5`, `saxpy` and `spin` (docs/gpu.md).  It is copied.  Returns its
 * index, for quoit_kernel.
 *
 * quoit_open_text says what was wrong, in the driver's words where it was the driver's to say:
 * -ENOEXEC: nothing that this device can load; -ENOTSUP: nor this driver; -EFBIG: more than
 * QUOIT_MAX_IMAGE_BYTES, or nothing; -ENFILE: QUOIT_MAX_IMAGES are loaded; -ENODEV: no such
 * device, or it is lost; -EPERM: the session was opened without QUOIT_OPEN_KERNELS;
 * -QUOIT_EGPUFAULT: the device's process ended meanwhile, perhaps over it; -ENOMEM; -ECONNRESET.
 * Waits for the device's process, which the first such session of a user starts.
 */
int quoit_kernels_load(struct quoit_session *s, unsigned device, const void *image, size_t size);

/* Jobs that were put in before still have its kernels, and keep their numbers.  -EBADF: no such. */
int quoit_kernels_unload(struct quoit_session *s, int image);

/*
 * Register a kernel of an image (struct quoit_kernel_desc, kernel.h): the number for
 * quoit_launch.  -ENOENT: the image has none of that name; -EINVAL: the description makes no
 * sense; -ENFILE: QUOIT_MAX_KERNELS are registered; -EBADF: no such image; else as
 * quoit_kernels_load.
 */
int quoit_kernel(struct quoit_session *s, int image, const struct quoit_kernel_desc *desc);

/* Arguments for a description: the address of a tensor of the job, one of its two scalars, */
QUOIT_INLINE struct quoit_kernel_arg quoit_arg_tensor(uint8_t index)
{
	struct quoit_kernel_arg a = QUOIT_ZEROS;

	a.kind = QUOIT_ARG_TENSOR;
	a.bytes = 8;
	a.index = index;
	return a;
}

QUOIT_INLINE struct quoit_kernel_arg quoit_arg_scalar(uint8_t index, uint8_t bytes)
{
	struct quoit_kernel_arg a = QUOIT_ZEROS;

	a.kind = QUOIT_ARG_SCALAR;
	a.bytes = bytes;
	a.index = index;
	return a;
}

/* or a constant of 1, 2, 4 or 8 bytes. */
QUOIT_INLINE struct quoit_kernel_arg quoit_arg_constant(uint64_t value, uint8_t bytes)
{
	struct quoit_kernel_arg a = QUOIT_ZEROS;

	a.kind = QUOIT_ARG_CONSTANT;
	a.bytes = bytes;
	a.value = value;
	return a;
}

/* ---- rings ---- */

/* Sizes count entries; zeros are the defaults.  docs/limits.md has the least and most. */
struct quoit_ring_params {
	uint32_t entries;    /* of the SQ, a power of two; 0: 256 */
	uint32_t cq_entries; /* 0: twice entries */
	uint32_t flags;      /* QUOIT_RING_RAW, QUOIT_RING_STAMPS */
	uint32_t jobs;       /* managed: slots of the job table; 0: entries */
};
#define QUOIT_RING_RAW 0x10000u /* user_data is yours and you reap; no quoit_job */
#ifndef QUOIT_RING_STAMPS
#define QUOIT_RING_STAMPS 0x1u /* times of each job, see struct quoit_stamps */
#endif

/*
 * Open one ring.  params may be NULL.  *ret is the caller's until quoit_ring_close or
 * quoit_close.  -EINVAL: sizes or flags that cannot be; -ENFILE: the session has had its rings;
 * -EDQUOT: beyond what its user may have (quoit_open_text says what is left); -ENOSPC: the
 * reactor has no room; -ENOMEM; -ECONNRESET.
 */
QUOIT_TO_CHECK int quoit_ring_open(struct quoit_ring **ret, struct quoit_session *s,
				   const struct quoit_ring_params *params);

/* Open `count` rings alike in one call, one per thread; all or none.  Errors are the same. */
QUOIT_TO_CHECK int quoit_rings_open(struct quoit_ring **ret, unsigned count,
				    struct quoit_session *s,
				    const struct quoit_ring_params *params);

/*
 * Wait for the ring's jobs, then close and free it.  q may be NULL.  -ECONNRESET: quoitd is gone,
 * and q is freed all the same; -EOWNERDEAD: it is not.
 */
int quoit_ring_close(struct quoit_ring *q);

/* Whose ring it is; the session stays its opener's. */
struct quoit_session *quoit_ring_session(const struct quoit_ring *q);

/*
 * A descriptor for somebody's epoll loop: it becomes readable once, at the next
 * CQE after quoit_ring_arm(), and with HUP when quoitd is gone.  Owned by q.
 * quoit_ring_arm returns 1 when CQEs are there already (reap them, then arm again), else 0,
 * or -ECONNRESET.
 */
int quoit_ring_fd(const struct quoit_ring *q);
int quoit_ring_arm(struct quoit_ring *q);

/* ---- submitting ---- */

/*
 * Put one job into the ring; it is published by quoit_flush, by any wait, and by
 * itself when a quarter of the ring is unpublished.
 *
 * quoit_push: nobody will ask for this job by name; no CQE when it succeeds.  A
 * failure shows where its output is read, and in quoit_failures().
 * quoit_start: *ret names the job until quoit_wait or quoit_detach has ended it.
 *
 * -EAGAIN: the ring (or the job table) is full even after reaping.  A managed
 * ring waits for room in the SQ rather than return it.
 *
 * On a raw ring quoit_push keeps sqe.user_data, for the CQE of a failure; creates,
 * views and frees have 0 there.  quoit_start is for managed rings only.
 */
int quoit_push_sqe(struct quoit_ring *q, const struct quoit_sqe *sqe);
int quoit_start_sqe(struct quoit_ring *q, const struct quoit_sqe *sqe, quoit_job *ret);

/* By value, for the builders below; inline, so that no compiler copies the SQE on the way. */
QUOIT_INLINE int quoit_push(struct quoit_ring *q, struct quoit_sqe sqe)
{
	return quoit_push_sqe(q, &sqe);
}

QUOIT_INLINE int quoit_start(struct quoit_ring *q, struct quoit_sqe sqe, quoit_job *ret)
{
	return quoit_start_sqe(q, &sqe, ret);
}

/*
 * Why the library refused the last call on this ring that it refused: one that returned
 * QUOIT_NO_TENSOR or NULL, or an errno that no job has failed with.  A sentence, valid until the
 * next call; "": it has refused none.  For errors of quoit_open and quoit_ring_open, and q NULL:
 * quoit_open_text.
 */
const char *quoit_error_text(const struct quoit_ring *q);

/* Publish what was put into the ring, and wake the daemon when it sleeps.  0, -ECONNRESET. */
int quoit_flush(struct quoit_ring *q);

/* ---- raw rings ---- */

/* The next free slot, to be filled completely by the caller; NULL: the ring is full. */
struct quoit_sqe *quoit_get_sqe(struct quoit_ring *q);

/* As quoit_get_sqe, up to `most` slots in one run; how many, 0: the ring is full. */
unsigned quoit_get_sqes(struct quoit_ring *q, unsigned most, struct quoit_sqe **ret);

/*
 * A run of ready CQEs: how many, and *ret points at the first, which need not lie in the ring.
 * More may be ready behind the run.  0: none; -ECONNRESET: none, and no daemon, which is looked for
 * at every fourth look in vain, and every 50 ms at most.
 */
int quoit_peek(struct quoit_ring *q, const struct quoit_cqe **ret);

/*
 * The i-th ready CQE, its error record and its stamps
 * (NULL without QUOIT_RING_STAMPS).  All valid until the CQE is released.
 */
const struct quoit_cqe *quoit_cqe_at(const struct quoit_ring *q, unsigned i);
const struct quoit_error *quoit_error_at(const struct quoit_ring *q, unsigned i);
const struct quoit_stamps *quoit_stamps_at(const struct quoit_ring *q, unsigned i);

/* Release the first n ready CQEs: n is at most how many quoit_peek has said there are. */
void quoit_release(struct quoit_ring *q, unsigned n);

/*
 * Flush and sleep until a CQE is ready; for some microseconds it looks before it sleeps.  Who has
 * one job at a time has its answer soonest by this: looks of one's own come too early, and hinder
 * quoitd, or too late.  0, -ETIME, -ECONNRESET.
 */
QUOIT_TO_CHECK int quoit_wait_cqe(struct quoit_ring *q, int timeout_ms);

/*
 * The sentence for a failed CQE: what was wrong and with what.  Into the caller's buffer, cut
 * where that ends, which is returned.  error may be NULL.  Thread-safe.
 */
const char *quoit_strerror_cqe(const struct quoit_cqe *cqe, const struct quoit_error *error,
			       char *buffer, size_t size);

/*
 * The sentence for an error record by itself (quoit_job_error, quoit_failures, quoit_wait_error),
 * as quoit_strerror_cqe.
 */
const char *quoit_strerror_record(const struct quoit_error *error, char *buffer, size_t size);

/* The name of an errno or QUOIT_E*, with or without its minus sign: static, never NULL. */
const char *quoit_strerror(int error);

/* ---- waiting (managed rings) ---- */

/*
 * On a raw ring all of these are -EINVAL.  Timeouts are milliseconds; 0 looks and does not wait.
 *
 * Every wait publishes first, sleeps, and is counted under the place in the
 * program that called it (struct quoit_site, in the ring's client pages).  The
 * macros below pass it; bindings may pass their own with the *_at functions.
 */
#define QUOIT_HERE_TEXT2(line) #line
#define QUOIT_HERE_TEXT(line)  QUOIT_HERE_TEXT2(line)
#define QUOIT_HERE             __FILE__ ":" QUOIT_HERE_TEXT(__LINE__)

/*
 * Wait until the job has ended, return its result, and free its slot.
 * -ETIME: it has not ended in time; the job stays valid.  (It is also the result of a
 * job that missed its own deadline, which quoit_result tells apart: -EINVAL then.)
 */
QUOIT_TO_CHECK int quoit_wait_at(struct quoit_ring *q, quoit_job job, int timeout_ms,
				 const char *here);
QUOIT_TO_CHECK int quoit_wait(struct quoit_ring *q, quoit_job job, int timeout_ms);
#define quoit_wait(q, job, timeout_ms) quoit_wait_at(q, job, timeout_ms, QUOIT_HERE)

/*
 * Wait until at least n of jobs[0..count) have ended (any: n = 1, all: n = count)
 * and return how many have; their slots stay, so that quoit_result can be asked.
 */
QUOIT_TO_CHECK int quoit_wait_n_at(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
				   unsigned n, int timeout_ms, const char *here);
QUOIT_TO_CHECK int quoit_wait_n(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
				unsigned n, int timeout_ms);
QUOIT_TO_CHECK int quoit_wait_any(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
				  int timeout_ms);
QUOIT_TO_CHECK int quoit_wait_all_of(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
				     int timeout_ms);
#define quoit_wait_n(q, jobs, count, n, timeout_ms)                                                \
	quoit_wait_n_at(q, jobs, count, n, timeout_ms, QUOIT_HERE)
#define quoit_wait_any(q, jobs, count, timeout_ms) quoit_wait_n(q, jobs, count, 1, timeout_ms)
#define quoit_wait_all_of(q, jobs, count, timeout_ms)                                              \
	quoit_wait_n(q, jobs, count, count, timeout_ms)

/*
 * Wait until the tensor has been written by all jobs before: 0, or its failure
 * (-QUOIT_EPOISON, -EBADF: no such tensor), or -ETIME.
 */
QUOIT_TO_CHECK int quoit_wait_tensor_at(struct quoit_ring *q, quoit_tensor t, int timeout_ms,
					const char *here);
QUOIT_TO_CHECK int quoit_wait_tensor(struct quoit_ring *q, quoit_tensor t, int timeout_ms);
#define quoit_wait_tensor(q, t, timeout_ms) quoit_wait_tensor_at(q, t, timeout_ms, QUOIT_HERE)

/*
 * The record of the failed job whose result the last wait on this ring has returned: of quoit_wait,
 * quoit_wait_tensor and quoit_read.  False: it returned none, be it that all went well, or that it
 * failed by itself (-ETIME, -EINVAL, -ECONNRESET).
 */
bool quoit_wait_error(struct quoit_ring *q, struct quoit_error *ret);

/*
 * What the last wait on this ring has returned, in words: the sentence for its error record, or,
 * where it has none, the error's name and quoit_error_text (q NULL: the name alone).  Into the
 * caller's buffer, which is returned.
 */
const char *quoit_strerror_wait(struct quoit_ring *q, int error, char *buffer, size_t size);

/* Wait until every job that was put into this ring has ended, well or not.  0, -ETIME. */
QUOIT_TO_CHECK int quoit_wait_all_at(struct quoit_ring *q, int timeout_ms, const char *here);
QUOIT_TO_CHECK int quoit_wait_all(struct quoit_ring *q, int timeout_ms);
#define quoit_wait_all(q, timeout_ms) quoit_wait_all_at(q, timeout_ms, QUOIT_HERE)

/*
 * A window: mark the end of a batch and wait until at most n batches (this one
 * included) have not ended.  n = 0 waits for this batch itself.  -EINVAL: n is beyond
 * QUOIT_MAX_WINDOW; -ETIME: more are open still, and this one is marked unless QUOIT_MAX_WINDOW
 * were open before it.
 */
QUOIT_TO_CHECK int quoit_window_at(struct quoit_ring *q, unsigned n, int timeout_ms,
				   const char *here);
QUOIT_TO_CHECK int quoit_window(struct quoit_ring *q, unsigned n, int timeout_ms);
#define quoit_window(q, n, timeout_ms) quoit_window_at(q, n, timeout_ms, QUOIT_HERE)
#define QUOIT_MAX_WINDOW               64u

/*
 * The result of a job that has ended; -EINPROGRESS: it has not; -EINVAL: no such job.  Does not
 * wait, and its slot stays.
 */
int quoit_result(struct quoit_ring *q, quoit_job job);

/* The error record of a job that has failed; false: it has not. */
bool quoit_job_error(struct quoit_ring *q, quoit_job job, struct quoit_error *ret);

/* The times of a job that has ended (QUOIT_RING_STAMPS); false: there are none. */
bool quoit_job_stamps(struct quoit_ring *q, quoit_job job, struct quoit_stamps *ret);

/* Nobody will ask for this job any more: its slot is freed when it ends. */
void quoit_detach(struct quoit_ring *q, quoit_job job);

/*
 * Cancel a job that has not started: it ends with -ECANCELED and its outputs are
 * poisoned.  -EALREADY: it has started or ended; -EINVAL: no such job; -EBUSY: too many that
 * quoitd has not yet seen are cancelled (docs/limits.md).  A round trip to the daemon.  The job
 * is still to be waited for or detached.
 */
int quoit_cancel(struct quoit_ring *q, quoit_job job);

/*
 * How many pushed or detached jobs have failed on this ring; *ret_last (may be
 * NULL) is the last one's record.
 */
uint64_t quoit_failures(struct quoit_ring *q, struct quoit_error *ret_last);

/* ---- tensors ---- */

/*
 * Four dims, always: missing leading ones are 1, not 0.  A tensor without elements has 0 rows
 * (dim[2]) or 0 columns (dim[3]); other dims of 0 were left out, and are refused.  A stride may be
 * zero or negative in a view.
 */
struct quoit_shape {
	uint8_t dtype; /* enum quoit_dtype; half.h converts to and from BF16 and F16 */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS]; /* in elements; all zero: dense, row by row */
};

/*
 * Where the tensors that this ring creates live from now on: 0 the host, which is where they
 * begin, else a device.  Jobs run where their tensors are, and a copy goes from one place to
 * another, host or device; dense tensors only there.  -ENODEV: there is none of that number, and
 * quoit_open_text says why.
 */
int quoit_use_device(struct quoit_ring *q, unsigned device);

/* As a flag of quoit_create: for this tensor only. */
#define QUOIT_CREATE_ON(device) (((device) + 1u) << 8)

/*
 * Create a tensor and its buffer.  Returns at once: the bytes come with the first
 * job that touches it, and are zero until written.  QUOIT_NO_TENSOR: max_tensors
 * are alive, the ring is full, shape or flags cannot be, or there is no such device;
 * quoit_error_text says which.  What quoitd finds wrong with a shape shows at the jobs that use it.
 * flags: QUOIT_CREATE_PINNED (which is on the host), QUOIT_CREATE_ON.  The handle may be used on
 * every ring of the session, once a job of its own ring that was put in later has ended.
 */
quoit_tensor quoit_create(struct quoit_ring *q, const struct quoit_shape *shape, unsigned flags);

/*
 * The same for a vector, a matrix, and for bytes that the client has by quoit_alloc: they stay
 * the caller's, to be kept until the tensor is freed and its jobs have ended.  QUOIT_NO_TENSOR
 * also for other memory.
 */
quoit_tensor quoit_vector(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t n);
quoit_tensor quoit_matrix(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t rows,
			  uint32_t cols);
quoit_tensor quoit_create_at(struct quoit_ring *q, const struct quoit_shape *shape, void *memory);

/*
 * A view on the buffer of t, of its dtype, `offset` bytes after t's first element; to be freed
 * as t is, in any order.  QUOIT_NO_TENSOR also for another dtype, or when t is no tensor.  One
 * element for all places has a stride that is not zero in some dim of 1, or is left to
 * broadcasting.
 */
quoit_tensor quoit_view(struct quoit_ring *q, quoit_tensor t, const struct quoit_shape *shape,
			uint64_t offset);

/*
 * End the tensor.  Jobs that use it go on; the bytes go back after the last one.  -EINVAL: t is
 * no tensor of this session; -EAGAIN: a raw ring is full.
 */
int quoit_free(struct quoit_ring *q, quoit_tensor t);

/* The shape that t was created with; false: t is not a tensor of this session. */
bool quoit_shape_of(struct quoit_ring *q, quoit_tensor t, struct quoit_shape *ret);

/* ---- memory that both sides see ---- */

/*
 * Bytes of the arena, 64-byte aligned; NULL: it is full, and cannot grow, which is asked for again
 * a tenth of a second later.  Thread-safe, no round trip unless it grows.  Free only when the jobs
 * on it have ended.
 */
void *quoit_alloc(struct quoit_session *s, size_t size);
void quoit_dealloc(struct quoit_session *s, void *memory);

/*
 * Copy from and to any memory, through the arena, as ordinary jobs in the order
 * of this ring.  `size` must be the tensor's elements, dense, row by row.
 * quoit_write returns when `from` may be used again, not when the tensor is
 * written; quoit_read returns when `to` is filled (an implicit wait), or with the failure of
 * what it reads.  -EINVAL: another size, no such tensor, a raw ring; -ENOMEM: the arena has no
 * room; -ECONNRESET.
 */
int quoit_write_at(struct quoit_ring *q, quoit_tensor t, const void *from, size_t size,
		   const char *here);
QUOIT_TO_CHECK int quoit_read_at(struct quoit_ring *q, quoit_tensor t, void *to, size_t size,
				 const char *here);
int quoit_write(struct quoit_ring *q, quoit_tensor t, const void *from, size_t size);
QUOIT_TO_CHECK int quoit_read(struct quoit_ring *q, quoit_tensor t, void *to, size_t size);
#define quoit_write(q, t, from, size) quoit_write_at(q, t, from, size, QUOIT_HERE)
#define quoit_read(q, t, to, size)    quoit_read_at(q, t, to, size, QUOIT_HERE)

/* ---- files ---- */

/*
 * Let jobs use an open file: the index for quoit_file_read and quoit_file_write,
 * or a negative errno.  The daemon keeps a duplicate; fd stays the caller's.
 * Regular files only, without O_APPEND (-EINVAL); -ENFILE: the session has all that it may
 * have; -ECONNRESET.  A daemon of another user writes to files on disks alone, or where its
 * administrator lists the file system (file-systems): elsewhere, as in memory (tmpfs, a memfd), on
 * an overlay, FUSE or NFS, jobs that write fail with -EACCES, as does this call if fd is for
 * writing only.  quoit_strerror and quoit_open_text name the file system.  A round trip to the
 * daemon.
 */
int quoit_file_add(struct quoit_session *s, int fd);

/* Jobs that were put in before still have it.  -EBADF, -EINVAL: no such index; -ECONNRESET. */
int quoit_file_remove(struct quoit_session *s, int index);

/* ---- builders: pure functions that fill an SQE ---- */

QUOIT_INLINE uint64_t quoit_bits(double x)
{
	union {
		double f;
		uint64_t u;
	} v;

	v.f = x;
	return v.u;
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_op4(uint8_t opcode, quoit_tensor t0,
						      quoit_tensor t1, quoit_tensor t2,
						      quoit_tensor t3)
{
	struct quoit_sqe sqe = QUOIT_ZEROS;

	sqe.opcode = opcode;
	sqe.tensor[0] = t0;
	sqe.tensor[1] = t1;
	sqe.tensor[2] = t2;
	sqe.tensor[3] = t3;
	return sqe;
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_op_arg(struct quoit_sqe sqe, uint8_t arg,
							 uint64_t scalar0, uint64_t scalar1)
{
	sqe.arg = arg;
	sqe.scalar[0] = scalar0;
	sqe.scalar[1] = scalar1;
	return sqe;
}

/* As quoit_op_arg, where scalars are of the tensors' kind, and these are integers. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_op_int(struct quoit_sqe sqe, uint8_t arg,
							 int64_t scalar0, int64_t scalar1)
{
	sqe = quoit_op_arg(sqe, arg, (uint64_t)scalar0, (uint64_t)scalar1);
	sqe.flags |= QUOIT_SQE_INT;
	return sqe;
}

/* Does nothing; ends when t (may be none) has been written. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_nop(quoit_tensor t)
{
	return quoit_op4(QUOIT_OP_NOP, t, 0, 0, 0);
}

/* Ends when every earlier job of the ring has. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_after_all(void)
{
	struct quoit_sqe sqe = quoit_op4(QUOIT_OP_NOP, 0, 0, 0, 0);

	sqe.flags = QUOIT_SQE_AFTER_ALL;
	return sqe;
}

/* Modifiers: sqe = quoit_with_priority(sqe, QUOIT_PRIO_HIGH), ... */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_with_priority(struct quoit_sqe sqe,
								uint8_t priority)
{
	sqe.priority = priority;
	return sqe;
}

/*
 * Must start within so many microseconds of its fetch, or ends with -ETIME; an operation of a
 * module, or a kernel of one's own, must have ended by then, or its process is killed.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_with_deadline(struct quoit_sqe sqe,
								uint32_t microseconds)
{
	sqe.deadline = microseconds;
	return sqe;
}

/* Starts only when the job that was put into the ring `back` jobs before it has ended. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_with_link(struct quoit_sqe sqe, uint32_t back)
{
	sqe.flags |= QUOIT_SQE_LINK;
	sqe.link = back;
	return sqe;
}

/*
 * A number is for floating-point tensors where its builder takes a double (quoit_fill, _scalar),
 * and for integer ones where it takes an integer (_int).  A job with the wrong one fails with
 * -EINVAL.  A floating-point number for an _int is an error of the compiler, C99 apart
 * (quoit/integers.h).
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_fill(quoit_tensor out, double value)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_FILL, out, 0, 0, 0), 0, quoit_bits(value), 0);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_fill_int(quoit_tensor out, int64_t value)
{
	return quoit_op_int(quoit_op4(QUOIT_OP_FILL, out, 0, 0, 0), 0, value, 0);
}

/* The operations with one input: quoit_copy(out, x), quoit_exp(out, x), ... */
#define QUOIT_BUILD1(name, NAME)                                                                   \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_##name(quoit_tensor out, quoit_tensor x) \
	{                                                                                          \
		return quoit_op4(QUOIT_OP_##NAME, out, x, 0, 0);                                   \
	}
QUOIT_BUILD1(copy, COPY)
QUOIT_BUILD1(cast, CAST)
QUOIT_BUILD1(relu, RELU)
QUOIT_BUILD1(exp, EXP)
QUOIT_BUILD1(log, LOG)
QUOIT_BUILD1(sqrt, SQRT)
QUOIT_BUILD1(tanh, TANH)
QUOIT_BUILD1(sin, SIN)
QUOIT_BUILD1(cos, COS)
QUOIT_BUILD1(sigmoid, SIGMOID)
#undef QUOIT_BUILD1

/* The operations with two inputs, and with a scalar as the second. */
#define QUOIT_BUILD2(name, NAME)                                                                   \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_##name(quoit_tensor out, quoit_tensor x, \
								 quoit_tensor y)                   \
	{                                                                                          \
		return quoit_op4(QUOIT_OP_##NAME, out, x, y, 0);                                   \
	}                                                                                          \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_##name##_scalar(                         \
		quoit_tensor out, quoit_tensor x, double y)                                        \
	{                                                                                          \
		return quoit_op_arg(quoit_op4(QUOIT_OP_##NAME, out, x, 0, 0), QUOIT_EW_SCALAR,     \
				    quoit_bits(y), 0);                                             \
	}                                                                                          \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_##name##_int(quoit_tensor out,           \
								       quoit_tensor x, int64_t y)  \
	{                                                                                          \
		return quoit_op_int(quoit_op4(QUOIT_OP_##NAME, out, x, 0, 0), QUOIT_EW_SCALAR, y,  \
				    0);                                                            \
	}
QUOIT_BUILD2(add, ADD)
QUOIT_BUILD2(sub, SUB)
QUOIT_BUILD2(mul, MUL)
QUOIT_BUILD2(div, DIV)
QUOIT_BUILD2(min, MIN)
QUOIT_BUILD2(max, MAX)
#undef QUOIT_BUILD2

/* out = a x + b y */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_axpby(quoit_tensor out, double a, quoit_tensor x,
							double b, quoit_tensor y)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_AXPBY, out, x, y, 0), 0, quoit_bits(a),
			    quoit_bits(b));
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_axpby_int(quoit_tensor out, int64_t a,
							    quoit_tensor x, int64_t b,
							    quoit_tensor y)
{
	return quoit_op_int(quoit_op4(QUOIT_OP_AXPBY, out, x, y, 0), 0, a, b);
}

/* out = x > 0 ? dy : 0 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_relu_grad(quoit_tensor out, quoit_tensor x,
							    quoit_tensor dy)
{
	return quoit_op4(QUOIT_OP_RELU_GRAD, out, x, dy, 0);
}

/* out.dim[i] = x.dim[perm[i]]; perm by QUOIT_PERM. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_transpose(quoit_tensor out, quoit_tensor x,
							    uint8_t perm)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_TRANSPOSE, out, x, 0, 0), perm, 0, 0);
}

/* Axes count over the four dims of the ABI: the last one is 3. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_roll(quoit_tensor out, quoit_tensor x,
						       uint8_t axis, int64_t shift)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_ROLL, out, x, 0, 0), axis, (uint64_t)shift, 0);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_gather(quoit_tensor out, quoit_tensor x,
							 quoit_tensor index, uint8_t axis)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_GATHER, out, x, index, 0), axis, 0, 0);
}

/* out = condition != 0 ? x : y */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_select(quoit_tensor out, quoit_tensor condition,
							 quoit_tensor x, quoit_tensor y)
{
	return quoit_op4(QUOIT_OP_SELECT, out, condition, x, y);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_compare(quoit_tensor out, quoit_tensor x,
							  enum quoit_predicate predicate,
							  quoit_tensor y)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_COMPARE, out, x, y, 0), (uint8_t)predicate, 0, 0);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_compare_scalar(quoit_tensor out, quoit_tensor x,
								 enum quoit_predicate predicate,
								 double y)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_COMPARE, out, x, 0, 0),
			    (uint8_t)((uint8_t)predicate | QUOIT_CMP_SCALAR), quoit_bits(y), 0);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_compare_int(quoit_tensor out, quoit_tensor x,
							      enum quoit_predicate predicate,
							      int64_t y)
{
	return quoit_op_int(quoit_op4(QUOIT_OP_COMPARE, out, x, 0, 0),
			    (uint8_t)((uint8_t)predicate | QUOIT_CMP_SCALAR), y, 0);
}

/*
 * Element i of out is number i of the stream `seed`, `offset` counter blocks in.
 * A block makes four float32 or two float64 numbers.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_uniform(quoit_tensor out, uint64_t seed,
							  uint64_t offset)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_UNIFORM, out, 0, 0, 0), 0, seed, offset);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_normal(quoit_tensor out, uint64_t seed,
							 uint64_t offset)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_NORMAL, out, 0, 0, 0), 0, seed, offset);
}

/*
 * C = alpha op(A) op(B) + beta C; flags: QUOIT_GEMM_TRANS_A | QUOIT_GEMM_TRANS_B.  A and B are
 * of one type, C of the same; for BF16 and F16, which are summed in float32 and rounded once, C
 * may be F32.  QUOIT_GEMM_TF32 lets a device with TF32 round the factors of an F32 product to it.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_gemm(quoit_tensor c, quoit_tensor a,
						       quoit_tensor b, uint8_t flags, double alpha,
						       double beta)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_GEMM, c, a, b, 0), flags, quoit_bits(alpha),
			    quoit_bits(beta));
}

/* Reductions over one axis (0..3 of the four dims) or QUOIT_AXIS_ALL. */
#define QUOIT_BUILD_REDUCE(name, NAME)                                                             \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_##name(quoit_tensor out, quoit_tensor x, \
								 uint8_t axis)                     \
	{                                                                                          \
		return quoit_op_arg(quoit_op4(QUOIT_OP_##NAME, out, x, 0, 0), axis, 0, 0);         \
	}
QUOIT_BUILD_REDUCE(sum, SUM)
QUOIT_BUILD_REDUCE(mean, MEAN)
QUOIT_BUILD_REDUCE(amax, AMAX)
QUOIT_BUILD_REDUCE(argmax, ARGMAX)
QUOIT_BUILD_REDUCE(sqnorm, SQNORM)
#undef QUOIT_BUILD_REDUCE

/* loss = scale sum((x - y)^2); gradient (may be none) = 2 scale (x - y). */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_sqloss(quoit_tensor loss, quoit_tensor x,
							 quoit_tensor y, quoit_tensor gradient,
							 double scale)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_SQLOSS, loss, x, y, gradient), 0, quoit_bits(scale),
			    0);
}

/*
 * Launch a kernel of quoit_kernel on these tensors, which are on its device (-EXDEV); those that
 * it has not are none.  Their dims are the kernel's own business.  quoit_op_arg(..., kernel,
 * scalar0, scalar1) gives it scalars, as bits.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_launch(int kernel, quoit_tensor t0,
							 quoit_tensor t1, quoit_tensor t2,
							 quoit_tensor t3)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_LAUNCH, t0, t1, t2, t3), (uint8_t)kernel, 0, 0);
}

/* Between a dense tensor and a file of quoit_file_add; the result counts bytes. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_file_read(quoit_tensor out, int file,
							    uint64_t offset)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_FILE_READ, out, 0, 0, 0), 0, offset, (uint64_t)file);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_file_write(quoit_tensor x, int file,
							     uint64_t offset)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_FILE_WRITE, x, 0, 0, 0), 0, offset, (uint64_t)file);
}

#ifdef __cplusplus
}
#endif

#include <quoit/integers.h>

#endif
