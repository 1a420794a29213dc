/* SPDX-License-Identifier: MIT */
/*
 * exec.h - operations outside the daemon: how a plug-in module is made, and the protocol between
 * quoitd and quoit-exec.
 *
 * Code that can take a process down runs in quoit-exec, one process per module.  It may be killed
 * at any time: only its jobs in flight fail, each by name with -QUOIT_EEXEC, and it is started
 * again.  A module is a shared object that exports one object:
 *
 *	static int twice(void *state, struct quoit_exec_call *call) { ... }
 *
 *	static const struct quoit_exec_op ops[] = {
 *		{.name = "twice", .access = "WR--", .cost = 300, .run = twice},
 *	};
 *	const struct quoit_exec_module quoit_exec_module = {
 *		.version = QUOIT_EXEC_VERSION, .ops = ops, .count = 1};
 *
 * The administrator names it (quoitd --module=PATH); a client finds the operation's number by
 * quoit_find_op().  One thread makes all calls into a module, one call at a time.
 */
#ifndef QUOIT_EXEC_H
#define QUOIT_EXEC_H

#include <stdint.h>

#include <quoit/abi.h>
#include <quoit/call.h>
#include <quoit/device.h>
#include <quoit/direct.h>
#include <quoit/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- for authors of modules ---- */

#define QUOIT_EXEC_VERSION 9u
#define QUOIT_EXEC_MAX_OPS 32u

/* quoit_exec_op.flags */
/* Pure: a job whose outputs are not inputs could be run again.  quoitd does not use this yet. */
#define QUOIT_EXEC_RERUN 0x1u
#define QUOIT_EXEC_FLAGS 0x1u

struct quoit_exec_op {
	/* Required: lower-case letters, digits, '_'; fewer than QUOIT_EXEC_NAME_BYTES; unique. */
	const char *name;
	/*
	 * Required: one letter per tensor as in ops.def; 'W': the operation writes every element.
	 */
	const char *access;
	uint32_t flags; /* QUOIT_EXEC_* */
	uint32_t cost;  /* predicted picoseconds per element of the largest tensor */
	/*
	 * Required.  Returns 0 or a count, or a negative errno after it has filled in field and
	 * value.
	 */
	int (*run)(void *state, struct quoit_exec_call *call);
};

struct quoit_exec_module {
	uint32_t version; /* QUOIT_EXEC_VERSION */
	uint32_t count;   /* how many ops, 1 to QUOIT_EXEC_MAX_OPS */
	const struct quoit_exec_op *ops;
	/*
	 * Optional: called first, once in each process.  *ret_state is passed to every call.  A
	 * negative errno (-ENODEV: its hardware is missing) leaves the module out.
	 */
	int (*init)(void **ret_state);
	/* Optional: called before an orderly end; not when the process is killed. */
	void (*exit)(void *state);
};

extern const struct quoit_exec_module quoit_exec_module;
#define QUOIT_EXEC_SYMBOL "quoit_exec_module"

/* ---- between quoitd and quoit-exec ---- */

/*
 * Descriptor 3 of quoit-exec is a SOCK_SEQPACKET socket.  quoit-exec sends one hello; quoitd
 * answers with one start, and with descriptors: quoitd's pages, quoit-exec's pages, those of
 * GPU-direct requests, and one socket per channel.  Afterwards this socket carries only its own
 * end, which ends quoit-exec, and struct quoit_exec_peer.
 *
 * A channel belongs to one reactor: a ring of requests, a ring of answers (ring.h), and a socket.
 * The socket carries doorbells (one byte, either way).  From quoitd it also carries struct
 * quoit_exec_memory with the descriptors of a session's memory, always before the first request
 * that needs it; struct quoit_exec_image, with a descriptor, before LOAD; and struct
 * quoit_exec_kernel before FIND.  Answers may come in any order.
 *
 * Each side maps the other's pages read-only.  There is one exception: quoit-exec can write the
 * pages with requests of GPU-direct rings, because drivers register no read-only pages; quoitd
 * never reads these.  quoitd trusts no word of quoit-exec: it ends a process that answers a request
 * which quoitd did not send.
 *
 * A device is served in the same way.  Its requests run at once, each after those that it names,
 * which may still be under way; an answer comes only after the answers of the requests that its
 * request named.  Device memory begins, as zeros, with the first request that names it, and ends
 * with QUOIT_EXEC_DROP.
 *
 * Small buffers of a session that asked for GPU-direct mode lie in one piece of device memory, the
 * slab, where quoitd places them.  The first request that names the slab makes it, as zeros; later
 * quoitd has a place cleared before it uses the place again.  The rings of that mode (direct.h),
 * one per channel, have their requests in pages of their own, and their words in quoit-exec's
 * pages, behind the channels.
 *
 * A device's process may send a descriptor with its hello, by which other processes of its kind
 * reach its device memory; quoitd passes the descriptor on to them with struct quoit_exec_peer, on
 * the first socket.  To let one process read a buffer of another, quoitd sends EXPORT to the owner.
 * The owner answers with the buffer's name, and the buffer stays there until the reader has
 * answered.
 */
#define QUOIT_EXEC_SOCKET     3
#define QUOIT_EXEC_MAGIC      0x43455851u /* "QXEC" */
#define QUOIT_EXEC_ENTRIES    256u        /* entries of both rings */
#define QUOIT_EXEC_SLOTS      1024u       /* how many sessions' memory a channel can have mapped */
#define QUOIT_EXEC_REGIONS    4u /* regions of a session: pageable, pinned, arena, bridge */
#define QUOIT_EXEC_PINNED     1u /* the pinned region: devices can reach it */
#define QUOIT_EXEC_BRIDGE     3u /* the bridge, between two devices: devices can reach it */
#define QUOIT_EXEC_ON_DEVICE  4u /* as a view's region: device memory */
#define QUOIT_EXEC_ON_PEER    5u /* as a view's region: memory of device `buffer`, counted from 1 */
#define QUOIT_EXEC_DEVICES    8u
#define QUOIT_EXEC_AFTER      16u /* the most requests that one request may name */
#define QUOIT_EXEC_STREAMS    8u  /* the most streams of one device */
#define QUOIT_EXEC_NAME_BYTES 32
#define QUOIT_EXEC_TEXT_BYTES 128
/* as a view's buffer: in the slab, from the page that the lower bits name */
#define QUOIT_EXEC_IN_SLAB    0x80000000u
#define QUOIT_EXEC_PAGE       4096u

/* The rings of direct.h begin on the first page after this many bytes. */
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
	int32_t result; /* 0, or -errno: there are no operations, and text says why */
	uint32_t count;
	char text[QUOIT_EXEC_NAME_BYTES * 8];
	uint32_t devices; /* how many devices of its kind this machine has; 0: a module */
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

/* Sent on a channel's socket, with one descriptor for each region that has bytes. */
struct quoit_exec_memory {
	uint32_t slot;
	uint32_t reserved;
	uint64_t bytes[QUOIT_EXEC_REGIONS];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_memory) == 40, "no padding");

/* Sent on a channel's socket, with one descriptor: the image, a sealed memfd. */
struct quoit_exec_image {
	uint32_t slot;
	uint32_t image;
	uint64_t bytes;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_image) == 16, "no padding");

/* Sent on a channel's socket, without a descriptor. */
struct quoit_exec_kernel {
	uint32_t slot;
	uint32_t kernel;
	uint32_t image; /* the image that has the kernel */
	uint32_t reserved;
	struct quoit_kernel_desc desc;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_kernel) == 568, "no padding");

/*
 * Sent on a device's first socket, with the descriptor of that device's pool; pid 0, without a
 * descriptor: that device's process has ended.
 */
struct quoit_exec_peer {
	uint32_t device; /* counted from 1 */
	int32_t pid;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_peer) == 8, "no padding");

enum quoit_exec_request_type {
	QUOIT_EXEC_RUN = 1,
	QUOIT_EXEC_UNMAP, /* free the memory and the kernels of `slot`; answered */
	QUOIT_EXEC_DROP,  /* free device buffer `id` of `slot`; not answered */
	/* load image `id` of `slot`; answered, on failure with the channel's text */
	QUOIT_EXEC_LOAD,
	/* find kernel `id` of `slot`; answered, on failure with the channel's text */
	QUOIT_EXEC_FIND,
	QUOIT_EXEC_UNLOAD, /* unload image `id` of `slot` and its kernels; not answered */
	/*
	 * To a device: the session of `slot` is dead.  Requests that are not in a stream yet need
	 * not run, and are answered -ECANCELED in their order.  Not answered itself.
	 */
	QUOIT_EXEC_CANCEL,
	/*
	 * To a device: like RUN of a NOP.  Once it is answered, exported[id] names the buffer of
	 * view 0 for other processes.
	 */
	QUOIT_EXEC_EXPORT,
};

struct quoit_exec_view {
	uint64_t offset; /* of the first element in its region or device buffer */
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS];
	uint8_t region;
	uint8_t dtype;
	uint8_t given; /* 0: there is no such tensor */
	uint8_t whole; /* on a device: the job writes the whole buffer, and does not read it */
	/* on a device: the buffer's number in the session; on a peer: that device */
	uint32_t buffer;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_view) == 48, "no padding in a view");

struct quoit_exec_request {
	uint32_t id;    /* returned in the answer; UNMAP: the slot */
	uint32_t slot;  /* the slot whose memory it uses */
	uint8_t type;   /* enum quoit_exec_request_type */
	uint8_t op;     /* index into the module's operations; for a device: number in ops.def */
	uint8_t arg;    /* of a LAUNCH: the kernel */
	uint8_t urgent; /* on a device: runs before requests that are not urgent */
	uint8_t zero;   /* on a device, bit i: first clear the slab place of view i */
	uint8_t stamps; /* on a device: report when it began and ended */
	uint8_t afters; /* on a device: how many of after[] are given */
	/* on a device: it was meant for the direct ring; start the ring's consumer */
	uint8_t direct;
	uint64_t scalar[2];
	uint64_t bytes[QUOIT_MAX_TENSORS_PER_JOB]; /* size of the device buffer of view i */
	struct quoit_exec_view view[QUOIT_MAX_TENSORS_PER_JOB];
	QUOIT_UNNAMED union {
		uint32_t after[QUOIT_EXEC_AFTER]; /* ids of requests that must have ended before */
		struct quoit_device_export from;  /* of view 1, on a peer; then afters is 0 */
	};
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_request) == 320, "requests begin on lines");

struct quoit_exec_answer {
	uint16_t id;
	uint8_t stream; /* the device stream that it ran in, counted from 1; 0: none */
	uint8_t reserved;
	uint8_t type;  /* of the request */
	uint8_t field; /* of the error record */
	/* on a device, if the request failed: some places of `zero` are not clear */
	uint8_t uncleared;
	uint8_t refusal; /* the errno that explains `refused` */
	int32_t res;
	uint32_t stamp_error; /* how far start and end may be off, TSC ticks */
	uint64_t value[2];
	uint64_t start, end; /* on the device, TSC; 0: not asked for */
	uint64_t slab;       /* on a device: the address of the session's slab, once it is clear */
	/*
	 * On a device: this many bytes of the session's memory, which the request needs, could not
	 * be registered with the driver.  They go through a staging buffer.
	 */
	uint64_t refused;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_answer) == 64, "answers begin on lines");

/* The pages that quoitd writes: an array of these, one per channel. */
struct quoit_exec_daemon_channel {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t request_tail;
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t answer_head;
	uint32_t need_wake; /* 1: the reactor sleeps; ring the channel's socket after an answer */
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_exec_request request[QUOIT_EXEC_ENTRIES];
	/*
	 * For a device that is QUOIT_DEVICE_PROFILED: the job of each request, by the request's id,
	 * written before the request.
	 */
	uint64_t job[QUOIT_EXEC_ENTRIES];
	/* The user of each slot's session, written before the session's first request. */
	struct quoit_exec_owner {
		uint32_t user;  /* a number below QUOIT_EXEC_USERS, the same in all channels */
		uint32_t share; /* the user's share as against other users: 1 or more */
	} owner[QUOIT_EXEC_SLOTS];
};

#define QUOIT_EXEC_USERS 1024u

/* A job's number for people: of the session (the lower 24 bits), of the ring, and the SQ index. */
#define QUOIT_EXEC_JOB(session, ring, sq_index)                                                    \
	((uint64_t)(session) << 40 | (uint64_t)(ring) << 32 | (uint32_t)(sq_index))
QUOIT_STATIC_ASSERT(QUOIT_MAX_RINGS <= 256, "a ring's number fits in there");

/*
 * Ids in quoit_exec_words.running from here on name no job, not even one of a direct ring.  This
 * one names a LOAD.  A device's process counts on from here, and begins again after
 * QUOIT_EXEC_CALLS: each driver call that may take long has a number of its own, and may take as
 * long as a job.
 */
#define QUOIT_EXEC_ASKED (QUOIT_EXEC_ENTRIES + QUOIT_DIRECT_ENTRIES)
#define QUOIT_EXEC_CALLS 65536u

/* The pages that quoit-exec writes: first these words, then an array, one entry per channel. */
struct quoit_exec_words {
	/* 1: quoit-exec sleeps; ring any channel's socket */
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t need_wake;
	int32_t fault; /* set before the process ends by itself: a sticky error of device.h */
	/* -errno: direct rings will have no consumers, and why; 0: that is not known yet */
	int32_t direct;
	/*
	 * running: what each stream works at (a module uses the first): the channel in the upper
	 * half, id + 1 in the lower; 0: nothing.  culprit: in the same form, what caused the fault;
	 * 0: not known.  Both are hints: quoitd uses them to choose which job a deadline or a fault
	 * concerns, never to decide that memory is free.
	 */
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t running[QUOIT_EXEC_STREAMS];
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t culprit;
	uint64_t queries; /* how often events were polled, because the streams write no words */
	QUOIT_ALIGNED(QUOIT_LINE)
	char why[QUOIT_EXEC_TEXT_BYTES]; /* why the process ends by itself, for people */
};

struct quoit_exec_channel {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t request_head;
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t answer_tail;
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_exec_answer answer[QUOIT_EXEC_ENTRIES];
	char text[QUOIT_EXEC_TEXT_BYTES]; /* why the last LOAD or FIND failed, for people */
	struct quoit_device_export exported[QUOIT_EXEC_ENTRIES]; /* by the request's id */
	/*
	 * By slot: ticks of a module's time, or of a device's streams, that the session's requests
	 * have used; it never falls.  Requests of a direct ring are not counted.
	 */
	uint64_t had[QUOIT_EXEC_SLOTS];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_exec_words) == 5 * QUOIT_LINE, "channels begin on a line");

#ifdef __cplusplus
}
#endif

#endif
