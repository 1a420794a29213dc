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
 *	quoit_open(NULL, &s);
 *	quoit_open_ring(s, NULL, &q);
 *	quoit_tensor a = quoit_create_matrix(q, QUOIT_F32, 1000, 1000);
 *	quoit_tensor b = quoit_create_matrix(q, QUOIT_F32, 1000, 1000);
 *	quoit_push(q, quoit_normal(a, 1, 0));
 *	quoit_push(q, quoit_gemm(b, a, a, 0, 1.0, 0.0));
 *	quoit_wait_tensor(q, b, QUOIT_FOREVER);
 *
 * Errors.  A function that returns int returns 0 (or what it counts) or a
 * negative errno, or -QUOIT_E* of abi.h.  Nothing here prints or exits.  When
 * quoitd is gone every call that would have to wait returns -ECONNRESET; what
 * was in flight then has an unknown outcome.  In a child after fork() every
 * call returns -EOWNERDEAD, or does nothing where it returns no error: the child
 * opens a session of its own.
 *
 * Threads.  Calls on different rings may run at the same time, calls on one ring may not: a call
 * returns -EBUSY while another thread puts a job into the same ring or sleeps in a wait on it.
 * Calls on a session (open and close of rings, quoit_alloc, files) may
 * run at any time.
 *
 * Ordering.  Jobs of one ring that touch the same bytes run in the order of their submission.
 * All other jobs may run at the same time and complete in any order.
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
 * The library also exports each function whose body is in this header, and each that a macro of the
 * same name hides here, for programs that cannot compile the header (Fortran, dlopen).
 */
#ifndef QUOIT_INLINE
#define QUOIT_INLINE static inline
#endif

/* On a builder: its SQE does nothing until it is pushed or started. */
#define QUOIT_TO_PUSH  __attribute__((warn_unused_result))
/* On a call whose result must be looked at before the program goes on. */
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
	 * Lease of host memory, promised whole.  0: a small part is promised, and the lease grows
	 * as jobs need more, up to the user's limit, as long as there is memory (quoit_info).
	 */
	uint64_t host_bytes;
	uint64_t device_bytes; /* lease of memory on every device; 0: the daemon's default */
	/* what quoit_alloc can hand out; 0: an eighth of the lease, and it grows with the lease */
	uint64_t arena_bytes;
	uint64_t pinned_bytes; /* the pinned region, a part of the lease; 0: none */
	/*
	 * the shared region (quoit_acquire), a part of the lease; 0: none.  A tensor takes whole
	 * pages.
	 */
	uint64_t shared_bytes;
	uint32_t max_tensors; /* alive at once; 0: the daemon's default */
	uint32_t flags;       /* QUOIT_OPEN_* */
};

/* The session loads kernels (below): its jobs on devices run in processes of its user alone. */
#define QUOIT_OPEN_KERNELS 0x1u
/* Run small jobs on devices in GPU-direct mode if possible; quoit_info.direct says whether. */
#define QUOIT_OPEN_DIRECT  0x2u
/*
 * A thread that waits stays on its CPU.  Without this flag, a wait moves a thread away from the
 * CPU of the session's reactor (quoit_info.reactor_cpu) if it may run on another one, since both on
 * one CPU are far slower.  The set of CPUs that the thread may run on stays the same.
 */
#define QUOIT_OPEN_STAY    0x4u
#define QUOIT_OPEN_FLAGS   0x7u

/* What the daemon granted: sizes in bytes. */
struct quoit_info {
	uint64_t session;         /* the number that `quoit ps` shows and `quoit kill` takes */
	uint64_t host_bytes;      /* the part of the lease that is promised */
	uint64_t host_bytes_most; /* what the lease can grow to */
	uint64_t device_bytes;
	uint64_t arena_bytes;      /* size of the arena now; quoit_alloc makes it larger */
	uint64_t arena_bytes_most; /* what the arena can grow to, if there is memory */
	uint64_t pinned_bytes;
	uint64_t shared_bytes;
	uint64_t tsc_hz; /* ticks a second of stamps and call-site times */
	uint32_t max_tensors;
	uint32_t max_jobs;
	uint32_t devices;               /* quoit_use_device takes 1 to this */
	int32_t reactor_cpu;            /* of the session's reactor; -1: it may move */
	bool direct;                    /* GPU-direct mode: it was asked for and granted */
	uint64_t ops[QUOIT_OP_NR / 64]; /* bit n: operation n can be run */
};

/*
 * Open a session.  params may be NULL.  *ret is the caller's until quoit_close.  Thread-safe.
 *
 * -ENOENT or -ECONNREFUSED: no daemon is there; -EACCES: the socket may not be used, or the user
 * that serves it is not trusted; -EDQUOT: the lease does not fit (quoit_open_text says what is
 * left); -EPROTO: another version; -EINVAL: params that are not allowed; -EUSERS: too many users
 * bring kernels; -ENAMETOOLONG: the path; -ETIMEDOUT: quoitd is stopped, which is seen within some
 * seconds, or has not answered for 30 s; -ENOMEM.
 *
 * Trusted are root, the caller's own user, and the owner of the socket's folder if no other user
 * may write to that folder or to one above it.
 */
QUOIT_TO_CHECK int quoit_open(const struct quoit_open_params *params, struct quoit_session **ret);

/*
 * A sentence that says why quoitd or the library refused this thread's last call on a session:
 * quoit_open and all calls with a struct quoit_session, also quoit_alloc, and quoit_close_ring.
 * Never NULL; valid until this thread's next such call.
 */
const char *quoit_open_text(void);

/*
 * Close all rings, wait for the jobs in flight (flags 0) or cancel those that have not started
 * (QUOIT_CLOSE_CANCEL), and free everything, rings too.  s may be NULL.  No other call on s or its
 * rings may run.  It always frees everything: also when it returns -ECONNRESET, and in a child,
 * where it frees the child's part and returns 0.  The exceptions, where nothing was done and s goes
 * on, are -EINVAL: flags has unknown bits (quoit_open_text names them); and -EDEADLK: a function
 * calls it, and the session has teams.
 */
int quoit_close(struct quoit_session *s, unsigned flags);
#ifndef QUOIT_CLOSE_CANCEL
#define QUOIT_CLOSE_CANCEL 0x1u
#endif

/* A copy of what quoitd granted at open; no round trip; thread-safe; works in a child, too. */
void quoit_get_info(const struct quoit_session *s, struct quoit_info *ret);

/*
 * The number of an operation by its name, for quoit_op4: how operations of plug-in
 * modules are found.  -ENOENT: quoitd does not have it; -ECONNRESET.  A round trip to the
 * daemon.
 */
int quoit_find_op(struct quoit_session *s, const char *name);

/* ---- devices ---- */

struct quoit_device_desc {
	char name[64];
	char address[16];       /* on PCI, like 0000:17:00.0; "": on no bus */
	uint64_t bytes;         /* of its memory */
	uint32_t units;         /* multiprocessors, or threads of a soft one */
	uint64_t jobs;          /* jobs of this session that have ended on the device */
	uint64_t jobs_direct;   /* jobs of these that ran in GPU-direct mode */
	uint64_t jobs_streamed; /* small jobs of these that had to go through streams */
	bool up;                /* jobs can run on it now */
	bool lost;              /* it cannot be brought up: jobs fail with -ENODEV */
};

/*
 * Describe device `number`, from 1 to quoit_info.devices.  If it is lost, quoit_open_text says
 * why.  -ENODEV: there is no such device; quoit_open_text says why.  A round trip to the daemon.
 */
int quoit_query_device(struct quoit_session *s, unsigned number, struct quoit_device_desc *ret);

/* ---- your own kernels ---- */

/*
 * Load an image on a device: a cubin or PTX, or, on a soft device, the text "soft", which has
 * the built-in kernels `stencil5`, `saxpy` and `spin` (docs/gpu.md).  It is copied.  Returns its
 * index, for quoit_register_kernel.
 *
 * quoit_open_text says what was wrong, in the driver's words if the driver refused it.
 * -ENOEXEC: this device cannot load it; -ENOTSUP: this driver cannot; -EFBIG: more than
 * QUOIT_MAX_IMAGE_BYTES, or empty; -ENFILE: QUOIT_MAX_IMAGES are loaded; -ENODEV: no such
 * device, or it is lost; -EPERM: the session was opened without QUOIT_OPEN_KERNELS;
 * -QUOIT_EGPUFAULT: the device's process ended meanwhile, perhaps because of it; -ENOMEM;
 * -ECONNRESET.
 * Waits for the device's process, which the first such session of a user starts.
 */
int quoit_load_image(struct quoit_session *s, unsigned device, const void *image, size_t size);

/* Unload an image.  Earlier jobs still run its kernels.  -EBADF: there is no such image. */
int quoit_unload_image(struct quoit_session *s, int image);

/*
 * Register a kernel of an image (struct quoit_kernel_desc, kernel.h): the number for
 * quoit_launch.  -ENOENT: the image has no kernel of that name; -EINVAL: the description is
 * invalid; -ENFILE: QUOIT_MAX_KERNELS are registered; -EBADF: there is no such image; other
 * errors as quoit_load_image.
 */
int quoit_register_kernel(struct quoit_session *s, int image, const struct quoit_kernel_desc *desc);

/* An argument for a kernel's description: the address of one of the job's tensors. */
QUOIT_INLINE struct quoit_kernel_arg quoit_arg_tensor(uint8_t index)
{
	struct quoit_kernel_arg a = QUOIT_ZEROS;

	a.kind = QUOIT_ARG_TENSOR;
	a.bytes = 8;
	a.index = index;
	return a;
}

/* An argument for a kernel's description: one of the job's two scalars. */
QUOIT_INLINE struct quoit_kernel_arg quoit_arg_scalar(uint8_t index, uint8_t bytes)
{
	struct quoit_kernel_arg a = QUOIT_ZEROS;

	a.kind = QUOIT_ARG_SCALAR;
	a.bytes = bytes;
	a.index = index;
	return a;
}

/* An argument for a kernel's description: a constant of 1, 2, 4 or 8 bytes. */
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
	uint32_t flags;      /* QUOIT_RING_RAW, QUOIT_RING_STAMPS, QUOIT_RING_NO_CALLS */
	uint32_t jobs;       /* managed: slots of the job table; 0: entries */
};
#define QUOIT_RING_RAW      0x10000u /* you set user_data and reap the CQEs; no quoit_job */
#define QUOIT_RING_NO_CALLS 0x20000u /* its waits run no calls of teams (quoit/team.h) */
#ifndef QUOIT_RING_STAMPS
#define QUOIT_RING_STAMPS 0x1u /* times of each job, see struct quoit_stamps */
#endif

/*
 * Open one ring.  params may be NULL.  *ret is the caller's until quoit_close_ring or
 * quoit_close.  -EINVAL: sizes or flags that are not allowed; -ENFILE: all 64 ring numbers of the
 * session have been used; they are not reused; -EDQUOT: beyond the user's limit (quoit_open_text
 * says what is left); -ENOSPC: the reactor has no room; -ENOMEM; -ECONNRESET.
 */
QUOIT_TO_CHECK int quoit_open_ring(struct quoit_session *s, const struct quoit_ring_params *params,
				   struct quoit_ring **ret);

/* Open `count` equal rings in one call, one for each thread; all or none.  Same errors. */
QUOIT_TO_CHECK int quoit_open_rings(struct quoit_session *s, const struct quoit_ring_params *params,
				    unsigned count, struct quoit_ring **ret);

/*
 * Wait for the ring's jobs, then close and free it.  q may be NULL.  -ECONNRESET: quoitd is gone;
 * q is freed.  -EOWNERDEAD: this is a child process; q is not freed.
 */
int quoit_close_ring(struct quoit_ring *q);

/* The ring's session, which the caller does not own. */
struct quoit_session *quoit_get_session(const struct quoit_ring *q);

/*
 * A descriptor for an epoll loop, owned by q.  It becomes readable once, at the next CQE after
 * quoit_arm(), and reports HUP when quoitd is gone.  quoit_arm returns 1 when CQEs are
 * there already (reap them, then arm again), else 0, or -ECONNRESET.
 */
int quoit_get_fd(struct quoit_ring *q);
int quoit_arm(struct quoit_ring *q);

/* ---- submitting ---- */

/*
 * Put one job into the ring; it is published by quoit_flush, by any wait, and by itself when a
 * quarter of the ring is unpublished.
 *
 * quoit_push: the job has no name to wait for, and no CQE when it succeeds.  Its failure shows
 * where its output is read, and in quoit_count_failures().
 *
 * quoit_start: *ret names the job until quoit_wait or quoit_detach has ended it.
 *
 * -EINVAL: sqe.reserved0 is not 0, as that of a quoit_launch without a kernel, of a quoit_call
 * without a function, or of a quoit_op4 without an operation.
 *
 * -EAGAIN: the ring (or the job table) is full even after reaping.  A managed ring does not return
 * it for a full SQ: it waits for room.
 *
 * On a raw ring quoit_push keeps sqe.user_data, for the CQE of a failure; creates, views and frees
 * have 0 there.  quoit_start is for managed rings only.
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
 * A sentence that says why the library refused a call on this ring, for the last refused call.  A
 * call is refused when it returns QUOIT_NO_TENSOR, NULL, or an errno that is neither a job's failure
 * nor -EINPROGRESS; quoit_get_shape and quoit_get_job_stamps also when they return false.  "": no
 * call was refused.  Valid until the next call.  quoit_open_text has the sentence for calls on a
 * session and for quoit_close_ring; with q NULL this function returns that.
 */
const char *quoit_error_text(const struct quoit_ring *q);

/* Publish what was put into the ring, and wake the daemon when it sleeps.  0, -ECONNRESET. */
int quoit_flush(struct quoit_ring *q);

/* ---- raw rings ---- */

/* The next free slot, which the caller fills completely; NULL: the ring is full. */
struct quoit_sqe *quoit_get_sqe(struct quoit_ring *q);

/* As quoit_get_sqe, for up to `most` slots in one run; returns their number, 0: it is full. */
unsigned quoit_get_sqes(struct quoit_ring *q, unsigned most, struct quoit_sqe **ret);

/*
 * A run of ready CQEs: returns their number; *ret points at the first, which need not lie in the
 * ring.  More may be ready after the run.  0: none is ready.  -ECONNRESET: none is ready, and
 * quoitd is gone; every fourth call that finds no CQE checks for that, at most every 50 ms.
 */
int quoit_peek(struct quoit_ring *q, const struct quoit_cqe **ret);

/*
 * The i-th ready CQE, its error record and its stamps (NULL without QUOIT_RING_STAMPS).  i is below
 * what quoit_peek returned.  All are valid until the CQE is released.
 */
const struct quoit_cqe *quoit_get_cqe(const struct quoit_ring *q, unsigned i);
const struct quoit_error *quoit_get_error(const struct quoit_ring *q, unsigned i);
const struct quoit_stamps *quoit_get_stamps(const struct quoit_ring *q, unsigned i);

/* Release the first n ready CQEs; n is at most the number that quoit_peek returned. */
void quoit_release(struct quoit_ring *q, unsigned n);

/*
 * Flush and sleep until a CQE is ready; it polls for some microseconds before it sleeps.  With one
 * job in flight this is the fastest way to its answer.  A polling loop of your own either takes the
 * cache line before quoitd has written it, or looks late.  0, -ETIME, -ECONNRESET.
 */
QUOIT_TO_CHECK int quoit_wait_cqe(struct quoit_ring *q, int timeout_ms);

/*
 * Write the sentence for a failed CQE into the caller's buffer, and return the buffer.  The
 * sentence says what was wrong and with what; it is cut at the buffer's end.  error may be NULL.
 * Thread-safe.
 */
const char *quoit_strerror_cqe(const struct quoit_cqe *cqe, const struct quoit_error *error,
			       char *buffer, size_t size);

/*
 * The sentence for an error record by itself (quoit_get_job_error, quoit_count_failures,
 * quoit_get_wait_error), as quoit_strerror_cqe.
 */
const char *quoit_strerror_record(const struct quoit_error *error, char *buffer, size_t size);

/* The name of an errno or QUOIT_E*, with or without its minus sign: static, never NULL. */
const char *quoit_strerror(int error);

/* ---- waiting (managed rings) ---- */

/*
 * On a raw ring all of these return -EINVAL.  Timeouts are milliseconds; 0 does not wait.
 *
 * Every wait publishes first, sleeps, and is counted under the place in the
 * program that called it (struct quoit_site, in the ring's client pages).  The
 * macros below pass it; bindings may pass their own with the *_at functions, as `here`: a string
 * like "file.c:12" that is never freed, or NULL.
 */
#define QUOIT_HERE_TEXT2(line) #line
#define QUOIT_HERE_TEXT(line)  QUOIT_HERE_TEXT2(line)
#define QUOIT_HERE             __FILE__ ":" QUOIT_HERE_TEXT(__LINE__)

/*
 * Wait until the job has ended, return its result, and free its slot.
 * -ETIME: the job has not ended in time, and stays valid.  A job that missed its own deadline ends
 * with -ETIME, too; then its slot is freed, and quoit_get_result returns -EINVAL.
 */
QUOIT_TO_CHECK int quoit_wait_at(struct quoit_ring *q, quoit_job job, int timeout_ms,
				 const char *here);
QUOIT_TO_CHECK int quoit_wait(struct quoit_ring *q, quoit_job job, int timeout_ms);
#define quoit_wait(...) quoit_wait_at(__VA_ARGS__, QUOIT_HERE)

/*
 * Put a job in, and wait for its end.  Returns its result.  If it has not begun when the
 * time has passed, or waits for a lock or its kin, it is cancelled: -ETIME, and nothing of it has
 * happened.  If it runs, this waits on for its result.
 */
QUOIT_TO_CHECK int quoit_run_at(struct quoit_ring *q, struct quoit_sqe sqe, int timeout_ms,
				const char *here);
QUOIT_TO_CHECK int quoit_run(struct quoit_ring *q, struct quoit_sqe sqe, int timeout_ms);
#define quoit_run(...) quoit_run_at(__VA_ARGS__, QUOIT_HERE)

/*
 * Wait until at least n of jobs[0..count) have ended (any: n = 1, all: n = count)
 * and return how many have ended.  Their slots stay valid for quoit_get_result.
 */
QUOIT_TO_CHECK int quoit_wait_n_at(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
				   unsigned n, int timeout_ms, const char *here);
QUOIT_TO_CHECK int quoit_wait_n(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
				unsigned n, int timeout_ms);
QUOIT_TO_CHECK int quoit_wait_any_at(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
				     int timeout_ms, const char *here);
QUOIT_TO_CHECK int quoit_wait_any(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
				  int timeout_ms);
QUOIT_TO_CHECK int quoit_wait_all_of_at(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
					int timeout_ms, const char *here);
QUOIT_TO_CHECK int quoit_wait_all_of(struct quoit_ring *q, const quoit_job *jobs, unsigned count,
				     int timeout_ms);
#define quoit_wait_n(...)      quoit_wait_n_at(__VA_ARGS__, QUOIT_HERE)
#define quoit_wait_any(...)    quoit_wait_any_at(__VA_ARGS__, QUOIT_HERE)
#define quoit_wait_all_of(...) quoit_wait_all_of_at(__VA_ARGS__, QUOIT_HERE)

/*
 * Wait until all earlier jobs have written the tensor: 0, or its failure (-QUOIT_EPOISON, or
 * -EBADF: no such tensor), or -ETIME.
 */
QUOIT_TO_CHECK int quoit_wait_tensor_at(struct quoit_ring *q, quoit_tensor t, int timeout_ms,
					const char *here);
QUOIT_TO_CHECK int quoit_wait_tensor(struct quoit_ring *q, quoit_tensor t, int timeout_ms);
#define quoit_wait_tensor(...) quoit_wait_tensor_at(__VA_ARGS__, QUOIT_HERE)

/*
 * The error record of the failed job whose result the last wait on this ring returned (quoit_wait,
 * quoit_wait_tensor, quoit_read).  False: that wait returned no job's failure, because all went
 * well or because the wait itself failed (-ETIME, -EINVAL, -ECONNRESET).
 */
bool quoit_get_wait_error(struct quoit_ring *q, struct quoit_error *ret);

/*
 * Write a sentence for the error of the last wait on this ring into the caller's buffer, and return
 * the buffer: the sentence of its error record; or, without a record, the error's name and
 * quoit_error_text (q NULL: the name only).  The sentence has more than that of
 * quoit_strerror_record: the name of a function of a team (quoit_call), and what it said about its
 * failure; and why a tensor that the job uses was not made, if it was to be made on this ring.
 */
const char *quoit_strerror_wait(struct quoit_ring *q, int error, char *buffer, size_t size);

/* Wait until every job that was put into this ring has succeeded or failed.  0, -ETIME. */
QUOIT_TO_CHECK int quoit_wait_all_at(struct quoit_ring *q, int timeout_ms, const char *here);
QUOIT_TO_CHECK int quoit_wait_all(struct quoit_ring *q, int timeout_ms);
#define quoit_wait_all(...) quoit_wait_all_at(__VA_ARGS__, QUOIT_HERE)

/*
 * A window: mark the end of a batch and wait until at most n batches (this one
 * included) have not ended.  n = 0 waits for this batch itself.  -EINVAL: n is beyond
 * QUOIT_MAX_WINDOW.  -ETIME: more than n batches are still open; this one is marked, unless
 * QUOIT_MAX_WINDOW were open before it.
 */
QUOIT_TO_CHECK int quoit_window_at(struct quoit_ring *q, unsigned n, int timeout_ms,
				   const char *here);
QUOIT_TO_CHECK int quoit_window(struct quoit_ring *q, unsigned n, int timeout_ms);
#define quoit_window(...) quoit_window_at(__VA_ARGS__, QUOIT_HERE)
#define QUOIT_MAX_WINDOW  64u

/*
 * The result of a job that has ended; -EINPROGRESS: it has not; -EINVAL: no such job.  Does not
 * wait, and its slot stays.
 */
int quoit_get_result(struct quoit_ring *q, quoit_job job);

/* The error record of a job that has failed; false: it has not. */
bool quoit_get_job_error(struct quoit_ring *q, quoit_job job, struct quoit_error *ret);

/* The times of a job that has ended (QUOIT_RING_STAMPS); false: there are none. */
bool quoit_get_job_stamps(struct quoit_ring *q, quoit_job job, struct quoit_stamps *ret);

/* Give up the job's name: its slot is freed when the job ends. */
void quoit_detach(struct quoit_ring *q, quoit_job job);

/*
 * Cancel a job that has not started: it ends with -ECANCELED and its outputs are
 * poisoned.  The caller must still wait for it or detach it.  A call of a service, or one that waits
 * for a lock or its kin, ends so if it had not begun, and else with its own result.  -EALREADY: it
 * has started or ended;
 * -EINVAL: no such job; -EBUSY: too many jobs that quoitd has not fetched are cancelled already
 * (docs/limits.md).  A round trip to the daemon.
 */
int quoit_cancel(struct quoit_ring *q, quoit_job job);

/*
 * How many pushed or detached jobs have failed on this ring; *ret_last (may be
 * NULL) is the last one's record.
 */
uint64_t quoit_count_failures(struct quoit_ring *q, struct quoit_error *ret_last);

/* ---- rings that wait for each other ---- */

/*
 * A point in a ring's jobs, for jobs of the session's other rings (quoit_with_event): they wait for
 * it in quoitd, and no thread of the program does.  It may be copied, and passed to other threads;
 * it need not be freed.  It is good until 2^31 more jobs were put into its ring.
 */
struct quoit_event {
	uint32_t ring;  /* 1 + its number in the session; 0: no event, since none was recorded */
	uint32_t index; /* the SQE that must have been fetched, and its job ended */
};

/*
 * *ret happens when all jobs have ended that were put into the ring before; they are published now.
 * A failed job has ended, too: only the data tells of failures.  Errors as of quoit_push.
 */
QUOIT_TO_CHECK int quoit_record_event(struct quoit_ring *q, struct quoit_event *ret);

/* *ret happens when this job of quoit_start has ended.  -EINVAL: no such job, or a raw ring. */
QUOIT_TO_CHECK int quoit_get_event(struct quoit_ring *q, quoit_job job, struct quoit_event *ret);

/* ---- tensors ---- */

/*
 * There are always four dims; leading ones that are not used are 1, not 0.  An empty tensor has 0
 * rows (dim[2]) or 0 columns (dim[3]); 0 in another dim is refused.  A stride of a view may be zero
 * or negative.
 */
struct quoit_shape {
	uint8_t dtype; /* enum quoit_dtype; half.h converts to and from BF16 and F16 */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS]; /* in elements; all zero: dense, row by row */
};

/*
 * Where the tensors live that this ring creates from now on: 0 is the host (the default), 1 and
 * more are devices.  A job runs where its tensors are.  Only quoit_copy takes tensors in two
 * places, host or device, and these must be dense.  -ENODEV: there is no such device;
 * quoit_open_text says why.
 */
int quoit_use_device(struct quoit_ring *q, unsigned device);

/* As a flag of quoit_create: for this tensor only. */
#define QUOIT_CREATE_ON(device) (((device) + 1u) << 8)

/*
 * Create a tensor and its buffer.  Returns at once: the bytes come with the first
 * job that touches it, and are zero until written.  QUOIT_NO_TENSOR: max_tensors
 * are alive, the ring is full, shape or flags are not allowed, or there is no such device;
 * quoit_error_text says which.  If quoitd refuses a shape, the jobs that use the tensor fail.
 * flags: QUOIT_CREATE_PINNED or QUOIT_CREATE_SHARED (both on the host only), QUOIT_CREATE_ON.  Other
 * rings of the session may use the handle once a later job of the creating ring has ended.
 */
quoit_tensor quoit_create(struct quoit_ring *q, const struct quoit_shape *shape, unsigned flags);

/*
 * As quoit_create, for a vector, for a matrix, and for memory of quoit_alloc.  That memory stays
 * the caller's, who keeps it until the tensor is freed and its jobs have ended; other memory is
 * refused (QUOIT_NO_TENSOR).
 */
quoit_tensor quoit_create_vector(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t n);
quoit_tensor quoit_create_matrix(struct quoit_ring *q, enum quoit_dtype dtype, uint32_t rows,
				 uint32_t cols);
quoit_tensor quoit_create_in(struct quoit_ring *q, const struct quoit_shape *shape, void *memory);

/*
 * A view on the buffer of t, of the same dtype, `offset` bytes after t's first element.  The caller
 * frees it and t in any order.  QUOIT_NO_TENSOR also for another dtype, or when t is not a tensor.
 * Strides that are all zero mean a dense view.  For a view that repeats one element, set a stride
 * other than zero in a dim of 1, or let the operation broadcast.
 */
quoit_tensor quoit_view(struct quoit_ring *q, quoit_tensor t, const struct quoit_shape *shape,
			uint64_t offset);

/*
 * Free the tensor.  Jobs that use it go on; its memory is freed after the last of them.  -EINVAL: t
 * is not a tensor of this session; -EAGAIN: a raw ring is full.
 */
int quoit_free(struct quoit_ring *q, quoit_tensor t);

/* The shape that t was created with, in *ret; false: t is not a tensor of this session. */
bool quoit_get_shape(struct quoit_ring *q, quoit_tensor t, struct quoit_shape *ret);

/* ---- memory that both sides see ---- */

/*
 * Memory of the arena, 64-byte aligned.  NULL: the arena is full and cannot grow; the library asks
 * quoitd for as much again only after a tenth of a second; quoit_open_text says how large the arena
 * is.  Thread-safe; no round trip unless the arena grows.  Free it only when the jobs on it have
 * ended.
 */
void *quoit_alloc(struct quoit_session *s, size_t size);
void quoit_dealloc(struct quoit_session *s, void *memory);

/* ---- the program as one more worker ---- */

enum quoit_access {
	QUOIT_ACCESS_READ = 0,
	QUOIT_ACCESS_WRITE = 1, /* and read */
};

/*
 * Acquire a tensor of the shared region (QUOIT_CREATE_SHARED), or one with a name: wait until all
 * earlier jobs that write it (for writing: that use it) have ended, and return a pointer to its
 * first element in *ret.  Until quoit_release_tensor later jobs wait for the program as for a job:
 * those that write the tensor, and if it was acquired for writing also those that read it.  No byte
 * is copied.  Jobs of other rings, and other threads that acquire it, wait in the same way.
 *
 * An acquire that fails changes nothing.  -QUOIT_EPOISON: a job that should have written the tensor
 * failed (quoit_get_wait_error says which); -ENOTSUP: it is not in the shared region: create it
 * with QUOIT_CREATE_SHARED, or quoit_copy it to one that is; -EACCES: only the session that made a
 * tensor with a name acquires it for writing; -EFAULT: the memory of a tensor with a name was lost;
 * -EMFILE: the session holds QUOIT_MAX_HOLDS accesses; -EALREADY: this ring has acquired this very
 * tensor, release it first; -ETIME: not in time; -EINVAL: no such tensor, or a raw ring.
 *
 * A program that waits, while it holds a tensor, for a job that waits for that tensor, waits for
 * itself.  So does one that puts more such jobs into a ring than the ring takes.
 */
QUOIT_TO_CHECK int quoit_acquire_at(struct quoit_ring *q, quoit_tensor t, enum quoit_access access,
				    int timeout_ms, void **ret, const char *here);
QUOIT_TO_CHECK int quoit_acquire(struct quoit_ring *q, quoit_tensor t, enum quoit_access access,
				 int timeout_ms, void **ret);
#define quoit_acquire(...) quoit_acquire_at(__VA_ARGS__, QUOIT_HERE)

/*
 * The same without waiting: *ret is a job that ends when the tensor is acquired, and can be waited
 * for among others.  Then quoit_get_pointer has the pointer.  quoit_release_tensor before that
 * cancels the job (-ECANCELED).
 */
QUOIT_TO_CHECK int quoit_start_acquire_at(struct quoit_ring *q, quoit_tensor t,
					  enum quoit_access access, quoit_job *ret,
					  const char *here);
QUOIT_TO_CHECK int quoit_start_acquire(struct quoit_ring *q, quoit_tensor t,
				       enum quoit_access access, quoit_job *ret);
#define quoit_start_acquire(...) quoit_start_acquire_at(__VA_ARGS__, QUOIT_HERE)

/*
 * The pointer to the first element of a tensor that this ring has acquired.  -EINPROGRESS: not yet;
 * -EINVAL: this ring has not acquired it, or has released it.  Does not wait.
 */
int quoit_get_pointer(struct quoit_ring *q, quoit_tensor t, void **ret);

/*
 * Release a tensor that this ring has acquired, by the handle with which it was acquired; the
 * pointer must not be used any more.  The tensor may have been freed meanwhile: then its bytes come
 * back now.  Does not wait.  -EINVAL: this ring has not acquired it, or has released it.  What is
 * held when its ring or session is closed, or when the program ends, is released then.
 */
int quoit_release_tensor(struct quoit_ring *q, quoit_tensor t);

/*
 * Copy from and to any memory, through the arena, as ordinary jobs in the order
 * of this ring.  `size` must be the tensor's elements, dense, row by row.
 * quoit_write returns when `from` may be used again, not when the tensor is written.  quoit_read
 * waits until `to` is filled; if the job that wrote the tensor failed, it returns that failure.
 * -EINVAL: another size, no such tensor, or a raw ring; -ENOMEM: the arena has no room;
 * -ECONNRESET.
 */
int quoit_write_at(struct quoit_ring *q, quoit_tensor t, const void *from, size_t size,
		   const char *here);
QUOIT_TO_CHECK int quoit_read_at(struct quoit_ring *q, quoit_tensor t, void *to, size_t size,
				 const char *here);
int quoit_write(struct quoit_ring *q, quoit_tensor t, const void *from, size_t size);
QUOIT_TO_CHECK int quoit_read(struct quoit_ring *q, quoit_tensor t, void *to, size_t size);
#define quoit_write(...) quoit_write_at(__VA_ARGS__, QUOIT_HERE)
#define quoit_read(...)  quoit_read_at(__VA_ARGS__, QUOIT_HERE)

/* ---- files ---- */

/*
 * Let jobs use an open file.  Returns the index for quoit_read_file and quoit_write_file, or a
 * negative errno.  The daemon keeps a duplicate; fd stays the caller's.  Regular files only,
 * without O_APPEND (-EINVAL); -ENFILE: the session has as many files as it may have; -ECONNRESET.
 * A round trip to the daemon.
 *
 * A daemon that runs as another user writes only to files on disks, and on file systems that its
 * administrator lists (option file-systems).  On others, as in memory (tmpfs, a memfd), on an
 * overlay, FUSE or NFS, jobs that write fail with -EACCES, as does this call if fd is open only for
 * writing.  quoit_strerror_wait and quoit_open_text name the file system.
 */
int quoit_add_file(struct quoit_session *s, int fd);

/* Earlier jobs still use the file.  -EBADF, -EINVAL: there is no such index; -ECONNRESET. */
int quoit_remove_file(struct quoit_session *s, int index);

/* ---- builders: pure functions that fill an SQE ---- */

/* A double as a scalar of an SQE; quoit_float_bits of half.h is for a float of your kernel. */
QUOIT_INLINE uint64_t quoit_bits(double x)
{
	union {
		double f;
		uint64_t u;
	} v;

	v.f = x;
	return v.u;
}

/*
 * Any operation by its number (QUOIT_OP_*, quoit_find_op), without argument and scalars.  A number
 * that does not fit into the SQE's 8 bits, such as the error of a quoit_find_op that was not looked
 * at, also goes into sqe.reserved0: then quoit_push and quoit_start refuse the job (-EINVAL).
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_op4(int opcode, quoit_tensor t0, quoit_tensor t1,
						      quoit_tensor t2, quoit_tensor t3)
{
	struct quoit_sqe sqe = QUOIT_ZEROS;

	sqe.opcode = (uint8_t)opcode;
	sqe.reserved0 = opcode == (uint8_t)opcode ? 0 : (uint32_t)opcode;
	sqe.tensor[0] = t0;
	sqe.tensor[1] = t1;
	sqe.tensor[2] = t2;
	sqe.tensor[3] = t3;
	return sqe;
}

/*
 * The same job with an argument and two scalars, as bits: quoit_bits for a double.  An argument
 * that does not fit into 8 bits is refused as such an operation is; quoit_axis makes one of an axis.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_op_arg(struct quoit_sqe sqe, int arg,
							 uint64_t scalar0, uint64_t scalar1)
{
	sqe.arg = (uint8_t)arg;
	if (arg != (uint8_t)arg && sqe.reserved0 == 0)
		sqe.reserved0 = (uint32_t)arg;
	sqe.scalar[0] = scalar0;
	sqe.scalar[1] = scalar1;
	return sqe;
}

/* As quoit_op_arg, for operations on integer tensors whose scalars are integers. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_op_int(struct quoit_sqe sqe, int arg,
							 int64_t scalar0, int64_t scalar1)
{
	sqe = quoit_op_arg(sqe, arg, (uint64_t)scalar0, (uint64_t)scalar1);
	sqe.flags |= QUOIT_SQE_INT;
	return sqe;
}

/*
 * An axis as an argument: 0 to 3 count over the four dims of the ABI, -1 to -4 from the last one
 * back.  A job with any other axis fails (-EINVAL); QUOIT_AXIS_ALL stays as it is.
 */
QUOIT_INLINE uint8_t quoit_axis(int axis)
{
	if (axis < 0)
		axis += QUOIT_MAX_DIMS;
	return axis < 0 || axis > (int)QUOIT_AXIS_ALL ? QUOIT_AXIS_NONE : (uint8_t)axis;
}

/* Does nothing; ends when t (QUOIT_NO_TENSOR: no tensor) has been written. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_nop(quoit_tensor t)
{
	return quoit_op4(QUOIT_OP_NOP, t, 0, 0, 0);
}

/* Does nothing; ends when every earlier job of the ring has ended. */
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
 * The job must start within this many microseconds of its fetch, or it ends with -ETIME.  A call of
 * a team, an operation of a module, and one of your kernels must even end by then: of the last two
 * the process is killed; a function goes on, but its job has failed.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_with_deadline(struct quoit_sqe sqe,
								uint32_t microseconds)
{
	sqe.deadline = microseconds;
	return sqe;
}

/*
 * The two scalars of a job, as bits: for your kernels (quoit_launch), your functions (quoit_call)
 * and the operations of modules.  A floating-point number is an error of the compiler, as for an
 * _int below: quoit_bits and quoit_float_bits (half.h) give its bits.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_with_scalars(struct quoit_sqe sqe,
							       uint64_t scalar0, uint64_t scalar1)
{
	sqe.scalar[0] = scalar0;
	sqe.scalar[1] = scalar1;
	return sqe;
}

/* The job starts only after the job that was put into the ring `back` jobs earlier has ended. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_with_link(struct quoit_sqe sqe, uint32_t back)
{
	sqe.flags |= QUOIT_SQE_LINK;
	sqe.link = back;
	return sqe;
}

/*
 * The job starts only after the event of another ring (quoit_record_event), and may use tensors that
 * were made on that ring before it.  A job waits for one event or one link.  An event that was not
 * recorded goes into sqe.reserved0: then quoit_push and quoit_start refuse the job (-EINVAL).
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_with_event(struct quoit_sqe sqe,
							     struct quoit_event event)
{
	sqe.flags |= QUOIT_SQE_EVENT;
	sqe.link = event.index;
	sqe.event_ring = (uint8_t)(event.ring - 1);
	if ((event.ring == 0 || event.ring > QUOIT_MAX_RINGS) && sqe.reserved0 == 0)
		sqe.reserved0 = UINT32_MAX;
	return sqe;
}

/*
 * A builder that takes a double (quoit_fill, _scalar) is for floating-point tensors; one that takes
 * an integer (_int) is for integer tensors.  A job with the wrong kind of number fails (-EINVAL).
 * A floating-point number for an _int is an error of the compiler, C99 apart (quoit/integers.h).
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_fill(quoit_tensor out, double value)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_FILL, out, 0, 0, 0), 0, quoit_bits(value), 0);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_fill_int(quoit_tensor out, int64_t value)
{
	return quoit_op_int(quoit_op4(QUOIT_OP_FILL, out, 0, 0, 0), 0, value, 0);
}

/* ---- builders that ops.def makes, by the family of each row ---- */

/* One input: quoit_copy(out, x), quoit_exp(out, x), ... */
#define QUOIT_BUILD_FUNCTION(builder, opcode)                                                      \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe builder(quoit_tensor out, quoit_tensor x)      \
	{                                                                                          \
		return quoit_op4(opcode, out, x, 0, 0);                                            \
	}

/* Two inputs, or a number as the second: quoit_add(out, x, y), quoit_add_scalar(out, x, 2.5), ... */
#define QUOIT_BUILD_ARITHMETIC(builder, opcode)                                                    \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe builder(quoit_tensor out, quoit_tensor x,      \
							    quoit_tensor y)                        \
	{                                                                                          \
		return quoit_op4(opcode, out, x, y, 0);                                            \
	}                                                                                          \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe builder##_scalar(quoit_tensor out,             \
								     quoit_tensor x, double y)     \
	{                                                                                          \
		return quoit_op_arg(quoit_op4(opcode, out, x, 0, 0), QUOIT_EW_SCALAR,              \
				    quoit_bits(y), 0);                                             \
	}                                                                                          \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe builder##_int(quoit_tensor out,                \
								  quoit_tensor x, int64_t y)       \
	{                                                                                          \
		return quoit_op_int(quoit_op4(opcode, out, x, 0, 0), QUOIT_EW_SCALAR, y, 0);       \
	}

/* Over one axis (0 to 3, or -4 to -1) or QUOIT_AXIS_ALL: quoit_sum(out, x, axis), ... */
#define QUOIT_BUILD_REDUCTION(builder, opcode)                                                     \
	QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe builder(quoit_tensor out, quoit_tensor x,      \
							    int axis)                              \
	{                                                                                          \
		return quoit_op_arg(quoit_op4(opcode, out, x, 0, 0), quoit_axis(axis), 0, 0);      \
	}
#define QUOIT_BUILD_EXTREME QUOIT_BUILD_REDUCTION
#define QUOIT_BUILD_PLACE   QUOIT_BUILD_REDUCTION
#define QUOIT_BUILD_CAST    QUOIT_BUILD_FUNCTION

/* The others are below: each of them takes something else. */
#define QUOIT_BUILD_NONE(builder, opcode)
#define QUOIT_BUILD_MOVE(builder, opcode)
#define QUOIT_BUILD_TRANSPOSE(builder, opcode)
#define QUOIT_BUILD_ROLL(builder, opcode)
#define QUOIT_BUILD_GATHER(builder, opcode)
#define QUOIT_BUILD_SELECT(builder, opcode)
#define QUOIT_BUILD_COMPARE(builder, opcode)
#define QUOIT_BUILD_RANDOM(builder, opcode)
#define QUOIT_BUILD_BLEND(builder, opcode)
#define QUOIT_BUILD_GRADIENT(builder, opcode)
#define QUOIT_BUILD_PRODUCT(builder, opcode)
#define QUOIT_BUILD_LOSS(builder, opcode)

#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	QUOIT_BUILD_##family(quoit_##name, QUOIT_OP_##NAME)
#include <quoit/ops.def>
#undef QUOIT_OP

QUOIT_BUILD_FUNCTION(quoit_copy, QUOIT_OP_COPY)

#undef QUOIT_BUILD_FUNCTION
#undef QUOIT_BUILD_ARITHMETIC
#undef QUOIT_BUILD_REDUCTION
#undef QUOIT_BUILD_EXTREME
#undef QUOIT_BUILD_PLACE
#undef QUOIT_BUILD_CAST
#undef QUOIT_BUILD_NONE
#undef QUOIT_BUILD_MOVE
#undef QUOIT_BUILD_TRANSPOSE
#undef QUOIT_BUILD_ROLL
#undef QUOIT_BUILD_GATHER
#undef QUOIT_BUILD_SELECT
#undef QUOIT_BUILD_COMPARE
#undef QUOIT_BUILD_RANDOM
#undef QUOIT_BUILD_BLEND
#undef QUOIT_BUILD_GRADIENT
#undef QUOIT_BUILD_PRODUCT
#undef QUOIT_BUILD_LOSS

/* ---- the other builders ---- */

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

/* out.dim[i] = x.dim[perm[i]]; perm by QUOIT_PERM, whose axes may be negative, too. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_transpose(quoit_tensor out, quoit_tensor x,
							    uint8_t perm)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_TRANSPOSE, out, x, 0, 0), perm, 0, 0);
}

/*
 * Element i of x becomes element (i + shift) modulo the dim, along the axis: 0 to 3 of the four
 * dims, or -1 to -4, where -1 is the last one.  So in gather and in reductions.
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_roll(quoit_tensor out, quoit_tensor x, int axis,
						       int64_t shift)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_ROLL, out, x, 0, 0), quoit_axis(axis),
			    (uint64_t)shift, 0);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_gather(quoit_tensor out, quoit_tensor x,
							 quoit_tensor index, int axis)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_GATHER, out, x, index, 0), quoit_axis(axis), 0, 0);
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

/* loss = scale sum((x - y)^2); gradient (may be none) = 2 scale (x - y). */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_sqloss(quoit_tensor loss, quoit_tensor x,
							 quoit_tensor y, quoit_tensor gradient,
							 double scale)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_SQLOSS, loss, x, y, gradient), 0, quoit_bits(scale),
			    0);
}

/*
 * Launch a kernel of quoit_register_kernel on these tensors, which must be on its device (else
 * -EXDEV); give QUOIT_NO_TENSOR for those that it does not have.  Quoit does not check their dims.
 * quoit_with_scalars gives the kernel its scalars.  A number that names no kernel, such as the error
 * of a quoit_register_kernel that was not looked at, also goes into sqe.reserved0: then quoit_push
 * and quoit_start refuse the job (-EINVAL).
 */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_launch(int kernel, quoit_tensor t0,
							 quoit_tensor t1, quoit_tensor t2,
							 quoit_tensor t3)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_LAUNCH, t0, t1, t2, t3), kernel, 0, 0);
}

/* Read a dense tensor from a file of quoit_add_file, or write it; the result counts bytes. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_read_file(quoit_tensor out, int file,
							    uint64_t offset)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_FILE_READ, out, 0, 0, 0), 0, offset, (uint64_t)file);
}

QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_write_file(quoit_tensor x, int file,
							     uint64_t offset)
{
	return quoit_op_arg(quoit_op4(QUOIT_OP_FILE_WRITE, x, 0, 0, 0), 0, offset, (uint64_t)file);
}

#include <quoit/team.h>
#include <quoit/service.h>
#include <quoit/sync.h>
#include <quoit/named.h>
#include <quoit/keyspace.h>

#ifdef __cplusplus
}
#endif

#include <quoit/integers.h>

#endif
