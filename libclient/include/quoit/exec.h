/* SPDX-License-Identifier: MIT */
/*
 * exec.h - operations outside the daemon: what a plug-in module is made of, and what
 * quoitd and quoit-exec share.
 *
 * Code that can take a process down runs in quoit-exec, one process per module.  It may
 * be killed at any time: only its jobs in flight fail, each by name with -QUOIT_EEXEC,
 * and it is started again.  A module is a shared object that exports one object:
 *
 *	static int twice(void *state, struct quoit_exec_call *call) { ... }
 *
 *	static const struct quoit_exec_op ops[] = {
 *		{.name = "twice", .access = "WR--", .cost = 300, .run = twice},
 *	};
 *	const struct quoit_exec_module quoit_exec_module = {
 *		.version = QUOIT_EXEC_VERSION, .ops = ops, .count = 1};
 *
 * The administrator names it (quoitd --module=PATH); a client finds the operation's
 * number by quoit_op_find().  Everything of a module is called by one thread, one call
 * at a time.
 */
#ifndef QUOIT_EXEC_H
#define QUOIT_EXEC_H

#include <stdint.h>

#include <quoit/abi.h>
#include <quoit/device.h>
#include <quoit/direct.h>
#include <quoit/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- for authors of modules ---- */

#define QUOIT_EXEC_VERSION 8u
#define QUOIT_EXEC_MAX_OPS 32u

/* A view on memory: element (i, j, k, l) is at data + the sum of index times stride, in elements.
 */
struct quoit_exec_tensor {
	void *data; /* NULL: an optional tensor that was not given */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS];
	uint8_t dtype; /* enum quoit_dtype: f32, f64, i32 or i64 */
};

union quoit_exec_scalar {
	double f;
	int64_t i;
	uint64_t u;
};

/*
 * One job.  quoitd has checked that every element lies within the session's memory, that
 * no two elements of an output share bytes, and that outputs overlap no input.  What the
 * operation means by types, dims, arg and scalars it checks itself.  The contents of
 * inputs may change while it works: a check of an element holds for a copy of it only.
 */
struct quoit_exec_call {
	struct quoit_exec_tensor tensor[QUOIT_MAX_TENSORS_PER_JOB];
	union quoit_exec_scalar scalar[2];
	uint8_t arg;
	/* to be filled in by an operation that fails: the client's error record */
	uint8_t field;     /* enum quoit_field */
	uint64_t value[2]; /* what was found, what is allowed */
};

/* quoit_exec_op.flags */
/* Pure: a job that does not write what it reads could be run again.  Nothing does so yet. */
#define QUOIT_EXEC_RERUN 0x1u
#define QUOIT_EXEC_FLAGS 0x1u

struct quoit_exec_op {
	/* Required: lower-case letters, digits, '_'; fewer than QUOIT_EXEC_NAME_BYTES; unique. */
	const char *name;
	/* Required: a letter per tensor as in ops.def; 'W' must be written whole, every element. */
	const char *access;
	uint32_t flags; /* QUOIT_EXEC_* */
	uint32_t cost;  /* predicted picoseconds per element of the largest tensor */
	/* Required: 0 or what it counts, or a negative errno after filling in field and value. */
	int (*run)(void *state, struct quoit_exec_call *call);
};

struct quoit_exec_module {
	uint32_t version; /* QUOIT_EXEC_VERSION */
	uint32_t count;   /* of ops, 1 to QUOIT_EXEC_MAX_OPS */
	const struct quoit_exec_op *ops;
	/*
	 * Optional: once in each process, before anything else.  *ret_state goes to every
	 * call.  A negative errno (-ENODEV: what it drives is not there) leaves the module out.
	 */
	int (*init)(void **ret_state);
	/* Optional: before an orderly end.  Killed processes do not come here. */
	void (*exit)(void *state);
};

extern const struct quoit_exec_module quoit_exec_module;
#define QUOIT_EXEC_SYMBOL "quoit_exec_module"

/* ---- between quoitd and quoit-exec ---- */

/*
 * Descriptor 3 of quoit-exec is a SOCK_SEQPACKET socket.  It sends one hello; quoitd
 * answers with one start, and with descriptors: quoitd's pages, quoit-exec's pages, those of
 * GPU-direct requests, and one socket per channel.  After that nothing travels there but its end,
 * which ends quoit-exec.
 *
 * A channel belongs to one reactor: a ring of requests, a ring of answers (ring.h), and
 * its socket, which carries doorbells (one byte, either way) and, from quoitd, struct
 * quoit_exec_memory with the descriptors of a session's memory, always before the first
 * request that needs it.  So do struct quoit_exec_image, with a descriptor, and struct
 * quoit_exec_kernel, before LOAD and FIND.  Answers may come in any order.
 *
 * Each side maps the other's pages read-only, but that the requests of GPU-direct rings are in
 * pages that quoit-exec can write, since drivers register no others; quoitd reads nothing there.
 * quoitd trusts no word of quoit-exec: it ends a process that answers what it was not asked.
 *
 * A device is served in the same way.  Its requests run at once, each after those that it
 * names, which may still be under way; their answers come in such an order that nobody's
 * comes before that of one it has named.  Device memory begins with the first request that
 * names it, as zeros, and ends with QUOIT_EXEC_DROP; small buffers of a session that asked for
 * GPU-direct mode lie where quoitd wants in one piece of it, the slab, which the first request that
 * names it makes, as zeros; what is left there by a buffer that has ended is for quoitd to have
 * cleared.  The rings of that mode (direct.h), one per channel: requests in pages of their own,
 * words in quoit-exec's, behind the channels.
 *
 * A device's process may send a descriptor with its hello, by which others of its kind reach what
 * it has there; quoitd passes it on to them with struct quoit_exec_peer, on the first socket.  What
 * one of them is to read is named by the other, which answers EXPORT with it, and stays there until
 * the reader has answered.
 */
#define QUOIT_EXEC_SOCKET     3
#define QUOIT_EXEC_MAGIC      0x43455851u /* "QXEC" */
#define QUOIT_EXEC_ENTRIES    256u        /* of both rings */
#define QUOIT_EXEC_SLOTS      1024u       /* sessions whose memory a channel has mapped */
#define QUOIT_EXEC_REGIONS    4u          /* pageable, pinned, arena, bridge */
#define QUOIT_EXEC_PINNED     1u          /* of these, one that devices reach; */
#define QUOIT_EXEC_BRIDGE     3u          /* and what is between two devices: they do, too */
#define QUOIT_EXEC_ON_DEVICE  4u          /* as a view's region: device memory, */
#define QUOIT_EXEC_ON_PEER    5u          /* or that of device `buffer`, counted from 1 */
#define QUOIT_EXEC_DEVICES    8u
#define QUOIT_EXEC_AFTER      16u /* requests that one may name */
#define QUOIT_EXEC_STREAMS    8u  /* at most, of one device */
#define QUOIT_EXEC_NAME_BYTES 32
#define QUOIT_EXEC_TEXT_BYTES 128
#define QUOIT_EXEC_IN_SLAB    0x80000000u /* as a view's buffer: from that page of the slab on */
#define QUOIT_EXEC_PAGE       4096u

/* The rings of direct.h begin on the page after so many bytes. */
#define QUOIT_EXEC_DIRECT_AT(bytes)                                                                \
	(((uint64_t)(bytes) + QUOIT_EXEC_PAGE - 1) & ~(uint64_t)(QUOIT_EXEC_PAGE - 1))

struct quoit_exec_op_row {
	char name[QUOIT_EXEC_NAME_BYTES];
	char access[8];
	uint32_t flags;
	uint32_t cost;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_op_row) == 48, "no padding in a row");

struct quoit_exec_hello {
	uint32_t magic;
	uint32_t version;
	int32_t result; /* 0, or why there are no operations: -errno, with the text */
	uint32_t count;
	char text[QUOIT_EXEC_NAME_BYTES * 8];
	uint32_t devices; /* of its kind on this machine; 0: a module */
	uint32_t reserved;
	struct quoit_device_info device;
	struct quoit_exec_op_row op[QUOIT_EXEC_MAX_OPS];
};

struct quoit_exec_start {
	uint32_t magic;
	uint32_t channels;
	uint64_t daemon_bytes; /* lengths of the mappings */
	uint64_t exec_bytes;
	uint64_t direct_bytes;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_start) == 32, "no padding in a start");

/* On a channel's socket, with one descriptor per region that has bytes. */
struct quoit_exec_memory {
	uint32_t slot;
	uint32_t reserved;
	uint64_t bytes[QUOIT_EXEC_REGIONS];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_memory) == 40, "no padding");

/* The same, with the image's one descriptor, a sealed memfd. */
struct quoit_exec_image {
	uint32_t slot;
	uint32_t image;
	uint64_t bytes;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_image) == 16, "no padding");

/* The same, without any. */
struct quoit_exec_kernel {
	uint32_t slot;
	uint32_t kernel;
	uint32_t image; /* that has it */
	uint32_t reserved;
	struct quoit_kernel_desc desc;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_kernel) == 568, "no padding");

/*
 * On a device's first socket, with the descriptor of that device's pool; pid 0, without one: its
 * process is not there any more.
 */
struct quoit_exec_peer {
	uint32_t device; /* counted from 1 */
	int32_t pid;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_peer) == 8, "no padding");

enum quoit_exec_request_type {
	QUOIT_EXEC_RUN = 1,
	QUOIT_EXEC_UNMAP,  /* give the memory of `slot` back, and its kernels; answered */
	QUOIT_EXEC_DROP,   /* give device buffer `id` of `slot` back; not answered */
	QUOIT_EXEC_LOAD,   /* image `id` of `slot`; answered, and on failure the channel's text */
	QUOIT_EXEC_FIND,   /* kernel `id` of `slot`; the same */
	QUOIT_EXEC_UNLOAD, /* image `id` of `slot` and its kernels; not answered */
	/*
	 * To a device: the session of `slot` is dead.  What is not in a stream yet need not run,
	 * and is answered -ECANCELED in its order; not answered itself.
	 */
	QUOIT_EXEC_CANCEL,
	/*
	 * To a device: as RUN of a NOP, and once that is answered, exported[id] names the buffer of
	 * view 0 to other processes.
	 */
	QUOIT_EXEC_EXPORT,
};

struct quoit_exec_view {
	uint64_t offset; /* of the first element in its region or device buffer */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS];
	uint8_t region;
	uint8_t dtype;
	uint8_t given;   /* 0: there is no such tensor */
	uint8_t whole;   /* on a device: the buffer is written whole, and not read */
	uint32_t buffer; /* on a device: its number in the session; on a peer: that device */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_view) == 48, "no padding in a view");

struct quoit_exec_request {
	uint32_t id;    /* returned in the answer; UNMAP: the slot */
	uint32_t slot;  /* whose memory */
	uint8_t type;   /* enum quoit_exec_request_type */
	uint8_t op;     /* index into the module's operations; on a device: of ops.def */
	uint8_t arg;    /* of a LAUNCH: the kernel */
	uint8_t urgent; /* on a device: before what is not */
	uint8_t zero;   /* on a device, bit i: clear the place of view i, in the slab, first */
	uint8_t stamps; /* on a device: say when it began and ended */
	uint8_t afters; /* on a device: how many of after[] are given */
	uint8_t direct; /* on a device: it should have gone by the direct ring: start its consumer
			 */
	uint64_t scalar[2];
	uint64_t bytes[QUOIT_MAX_TENSORS_PER_JOB]; /* of the device buffer of view i */
	struct quoit_exec_view view[QUOIT_MAX_TENSORS_PER_JOB];
	QUOIT_UNNAMED union {
		uint32_t after[QUOIT_EXEC_AFTER]; /* ids of requests that must be done before */
		struct quoit_device_export from;  /* of view 1, on a peer; then afters is 0 */
	};
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_request) == 320, "requests begin on lines");

struct quoit_exec_answer {
	uint16_t id;
	uint8_t stream; /* of a device: in which it was, counted from 1; 0: in none */
	uint8_t reserved;
	uint8_t type;      /* of the request */
	uint8_t field;     /* of the error record */
	uint8_t uncleared; /* on a device, of one that failed: not all places of `zero` are clear */
	uint8_t refusal;   /* why `refused`: an errno */
	int32_t res;
	uint32_t stamp_error; /* how far start and end may be off, TSC ticks */
	uint64_t value[2];
	uint64_t start, end; /* on the device, TSC; 0: not asked for */
	uint64_t slab;       /* on a device: where that session's slab is, once it is clear */
	/*
	 * On a device: the driver was asked to reach so many bytes of the session's memory for this
	 * request, and did not.  They go through a staging buffer.
	 */
	uint64_t refused;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_answer) == 64, "answers begin on lines");

/* What quoitd writes: an array of these, one per channel. */
struct quoit_exec_daemon_channel {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t request_tail;
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t answer_head;
	uint32_t need_wake; /* the reactor sleeps: ring the channel's socket after an answer */
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_exec_request request[QUOIT_EXEC_ENTRIES];
	/*
	 * Of a device that is QUOIT_DEVICE_PROFILED: whose jobs they are, by request's id, written
	 * before the request.
	 */
	uint64_t job[QUOIT_EXEC_ENTRIES];
	/* Whose sessions they are, by slot, written before a request of theirs. */
	struct quoit_exec_owner {
		uint32_t user;  /* a number below QUOIT_EXEC_USERS, the same in all channels, */
		uint32_t share; /* and what it gets as against others: 1 or more */
	} owner[QUOIT_EXEC_SLOTS];
};

#define QUOIT_EXEC_USERS 1024u

/* A job for people: numbers of its session (the lower 24 bits) and ring, and its SQ index. */
#define QUOIT_EXEC_JOB(session, ring, sq_index)                                                    \
	((uint64_t)(session) << 40 | (uint64_t)(ring) << 32 | (uint32_t)(sq_index))
QUOIT_STATIC_ASSERT(QUOIT_MAX_RINGS <= 256, "a ring's number fits in there");

/*
 * In quoit_exec_words.running, as an id: a LOAD, no job and none of a direct ring.  A device's
 * process counts on from there, and begins anew after so many: each of a driver's calls that may
 * take long has a number of its own, and may take as long as a job.
 */
#define QUOIT_EXEC_ASKED (QUOIT_EXEC_ENTRIES + QUOIT_DIRECT_ENTRIES)
#define QUOIT_EXEC_CALLS 65536u

/* What quoit-exec writes: first its own words, then an array, one entry per channel. */
struct quoit_exec_words {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t need_wake; /* it sleeps: ring any channel's socket */
	int32_t fault;  /* set before it ends by itself: a sticky error of device.h */
	int32_t direct; /* why direct rings will have no consumers, once that is known: -errno */
	/*
	 * What each stream works at, a module in the first: channel in the upper half, id + 1 in
	 * the lower; 0: nothing.  And whose doing the fault was, 0: not known.  Hints: quoitd takes
	 * from them whom a deadline or a fault concerns, never whose memory is free.
	 */
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t running[QUOIT_EXEC_STREAMS];
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t culprit;
	uint64_t queries; /* events asked whether they are done, since its streams write no words */
	QUOIT_ALIGNED(QUOIT_LINE)
	char why[QUOIT_EXEC_TEXT_BYTES]; /* it ends by itself, for people */
};

struct quoit_exec_channel {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t request_head;
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t answer_tail;
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_exec_answer answer[QUOIT_EXEC_ENTRIES];
	char text[QUOIT_EXEC_TEXT_BYTES]; /* why the last LOAD or FIND failed, for people */
	struct quoit_device_export exported[QUOIT_EXEC_ENTRIES]; /* by the request's id */
	/*
	 * By slot: ticks of a module's time, or of a device's streams, that its sessions' requests
	 * have had; never less.  Not those of a direct ring.
	 */
	uint64_t had[QUOIT_EXEC_SLOTS];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_words) == 5 * QUOIT_LINE, "channels begin on a line");

#ifdef __cplusplus
}
#endif

#endif
