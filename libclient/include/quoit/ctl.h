/* SPDX-License-Identifier: MIT */
/*
 * ctl.h - the messages of the control socket.
 *
 * The socket is SOCK_SEQPACKET.  Every message, both ways, is exactly one
 * struct quoit_ctl; what a message's type does not use is zero, and quoitd
 * checks that.  A client sends one request at a time and reads its reply before
 * the next.  Anything else (another length, an unknown type, a type that the
 * state of the session does not allow, descriptors that were not asked for) ends
 * the connection with a reason that is counted.
 *
 *   state    allowed requests
 *   new      HELLO, KILL, TRACE, USER, SHARE
 *   open     ARENA, RING_OPEN, READY, ARENA_MORE, RING_CLOSE, CANCEL, FILE_ADD, FILE_REMOVE, OP,
 *            DEVICE, IMAGE_ADD, IMAGE_REMOVE, KERNEL_ADD, CLOSE
 *   closing  none: CLOSE's reply is the last message
 *   records  none: the recording ends with the connection
 *
 * Memory that both sides see is the client's: it makes it, and it is charged for it; quoitd only
 * maps it.  The arena, and each ring, is a memfd, which is handed over in two steps:
 *
 *   1. ARENA or RING_OPEN carries it, sealed against shrinking and growing, as long as HELLO's
 *      reply says of the arena and quoit_ring_layout_of of a ring, or longer.  It may be empty.
 *      quoitd maps it for reading and writing, asks for the memory of its node, so that pages that
 *      come from now on come there, and looks at none of them.
 *   2. The client sees to it that every page is there, adds the seals that the reply names, and
 *      says READY.  quoitd checks both, and locks the pages.  Only then it uses them.
 *
 * HELLO is followed by ARENA, and that by READY, before the first RING_OPEN; each RING_OPEN is
 * followed by READY.  Other requests may come in between.
 *
 * An arena can grow: where HELLO's reply has a larger arena_most, the memfd may be so long, of
 * which only arena_bytes have to be there.  Once the pages behind these are there, too, up to some
 * place, ARENA_MORE says so; quoitd charges them to the user, checks and locks them, and then they
 * are of the arena.  Nothing of it goes back before the session ends.
 */
#ifndef QUOIT_CTL_H
#define QUOIT_CTL_H

#include <quoit/abi.h>
#include <quoit/kernel.h>
#include <quoit/trace.h>

#define QUOIT_CTL_MAGIC 0x54494f51u /* "QOIT" */

enum quoit_ctl_type {
	QUOIT_CTL_HELLO = 1,
	QUOIT_CTL_RING_OPEN,  /* request carries a memfd for each ring, reply a socket for each */
	QUOIT_CTL_RING_CLOSE, /* replied to when the ring's last job has ended */
	QUOIT_CTL_CANCEL,
	QUOIT_CTL_FILE_ADD, /* request carries one descriptor */
	QUOIT_CTL_FILE_REMOVE,
	QUOIT_CTL_CLOSE,  /* replied to when the last job has ended */
	QUOIT_CTL_KILL,   /* end somebody's session: its own uid and root may */
	QUOIT_CTL_END,    /* from the daemon, unasked, the last message: why it ends the session */
	QUOIT_CTL_OP,     /* the number of an operation by its name */
	QUOIT_CTL_DEVICE, /* what a device is */
	/*
	 * Kernels, of a session whose hello offered them.  IMAGE_ADD and KERNEL_ADD carry a memfd,
	 * sealed against writing, growing and shrinking: the image, or a struct quoit_kernel_desc.
	 * They are replied to once the device's process has loaded the one, or found the other.
	 */
	QUOIT_CTL_IMAGE_ADD,
	QUOIT_CTL_IMAGE_REMOVE, /* and its kernels; jobs that were put in before still have them */
	QUOIT_CTL_KERNEL_ADD,
	/*
	 * Record sessions into files (trace.h): one of the own uid's, or all of these, also those
	 * that are opened later; root: anybody's.  It ends with the connection.
	 */
	QUOIT_CTL_TRACE,
	/*
	 * The share of the user with the lowest uid from this one on, and what it has; -ENOENT:
	 * there is none.  Root and quoitd's own user learn of all, others of themselves.
	 */
	QUOIT_CTL_USER,
	/*
	 * Give a user a share, until quoitd ends or reloads: root and quoitd's own user.  The text
	 * of the reply is the file in which it could be said for good, "" where that is not known.
	 */
	QUOIT_CTL_SHARE,
	QUOIT_CTL_ARENA, /* request carries a memfd */
	/*
	 * What was handed over is there and sealed.  Where it is not, it is no longer quoitd's: it
	 * must be handed over again.
	 */
	QUOIT_CTL_READY,
	QUOIT_CTL_ARENA_MORE, /* the arena has so many bytes now */
	QUOIT_CTL_NR,
};

/* hello.features and its reply: what one side offers; an unknown offer is ignored. */
#define QUOIT_FEATURE_MODULES 0x1u /* operations of plug-in modules may be listed */
#define QUOIT_FEATURE_KERNELS 0x2u /* brings kernels: devices in processes of its user's own */
#define QUOIT_FEATURE_DIRECT  0x4u /* small jobs on devices in GPU-direct mode: wanted; granted */

/* ring_open.flags */
#define QUOIT_RING_STAMPS 0x1u /* fill the stamps array, copy submit times */
#define QUOIT_RING_FLAGS  0x1u

/* close.flags */
#define QUOIT_CLOSE_CANCEL 0x1u /* cancel what has not started instead of waiting for it */
#define QUOIT_CLOSE_FLAGS  0x1u

#define QUOIT_NAME_BYTES 32
#define QUOIT_TEXT_BYTES 112

/* Sizes are bytes; 0 asks for the daemon's default. */
struct quoit_hello {
	uint32_t abi_version;
	uint16_t sqe_size;
	uint16_t cqe_size;
	uint64_t features;
	uint64_t host_bytes;   /* lease of host memory: everything below is part of it; 0: a part
				  of what there is, which grows */
	uint64_t device_bytes; /* lease of memory on every device */
	uint64_t arena_bytes;  /* the range that the client maps */
	uint64_t pinned_bytes; /* the pinned region */
	uint32_t max_tensors;
	uint32_t cpu_hint; /* 1 + the CPU that the client runs on, whose node its session is to be
			      near where quoitd cannot look that up; 0, or no such CPU: not known */
	char name[QUOIT_NAME_BYTES]; /* shown by the tools; printable ASCII */
};

struct quoit_hello_reply {
	uint32_t abi_version; /* the daemon's, also when it refuses */
	uint32_t max_tensors;
	uint64_t features;
	uint64_t session;
	uint64_t host_bytes;
	uint64_t device_bytes;
	uint64_t arena_bytes;
	uint64_t pinned_bytes;
	uint64_t tsc_hz;
	uint64_t ops[QUOIT_OP_NR / 64]; /* bit n: operation n can be run */
	uint32_t max_jobs;              /* in flight, over all rings of the session */
	uint32_t max_entries;           /* of an SQ */
	uint32_t devices;               /* that a CREATE can name: 1 to this */
	uint32_t reactor_cpu; /* of the session's reactor, + 1; 0: it may run on several */
	uint64_t host_most;   /* host_bytes are promised; the lease grows up to here, where there
				 is memory (not promised) */
	uint64_t arena_most;  /* and the arena up to here, by ARENA_MORE */
};

enum quoit_device_state {
	QUOIT_DEVICE_UP = 0,
	QUOIT_DEVICE_DOWN = 1, /* being started again */
	QUOIT_DEVICE_LOST = 2, /* it could not be, time and again: its jobs fail */
};

struct quoit_device_reply {
	char name[64];
	char address[16];  /* on PCI; "": on no bus */
	uint64_t bytes;    /* of its memory */
	uint64_t jobs;     /* of this session that have ended there */
	uint64_t direct;   /* of these, by the device's resident consumer, */
	uint64_t streamed; /* and through streams although they could have gone to it */
	uint32_t units;    /* multiprocessors, or threads */
	uint32_t state;    /* enum quoit_device_state */
};

enum quoit_share_from {
	QUOIT_SHARE_OF_ALL = 0, /* uid-share */
	QUOIT_SHARE_OF_GROUP = 1,
	QUOIT_SHARE_OF_USER = 2, /* its own section */
	QUOIT_SHARE_SET = 3,     /* by SHARE */
};

struct quoit_user_reply {
	uint32_t uid;
	uint32_t share;
	uint32_t from; /* enum quoit_share_from; the text says where that is */
	uint32_t sessions;
	uint64_t connections;
	uint64_t rings;
	uint64_t host_bytes;   /* leased, with tables and rings, */
	uint64_t device_bytes; /* and on each device */
	uint64_t host_limit;   /* what it may have of it, by what others have now */
};

struct quoit_ring_open {
	uint32_t sq_entries; /* a power of two */
	uint32_t cq_entries; /* a power of two, at least sq_entries; 0: twice sq_entries */
	uint32_t flags;      /* QUOIT_RING_* */
	uint32_t count;      /* rings to open; all alike */
};

/* Of RING_OPEN; of ARENA, the last word. */
struct quoit_ring_reply {
	uint32_t ring; /* the first one's index in the session, the others follow */
	uint32_t count;
	uint32_t seals; /* F_SEAL_*: what the memory needs beside those that it came with */
	uint32_t reserved;
};

#define QUOIT_CTL_PAGE 4096u /* each part of a ring's memory is whole pages of so many bytes */

/* The next array behind *end, on lines of its own. */
static inline uint32_t quoit_ring_place(uint32_t *end, uint64_t bytes)
{
	uint32_t at = *end;

	*end += (uint32_t)((bytes + QUOIT_LINE - 1) / QUOIT_LINE * QUOIT_LINE);
	return at;
}

/* What lies where in a ring's memory; both sizes and the flags are good (cq_entries is not 0). */
static inline void quoit_ring_layout_of(const struct quoit_ring_open *open,
					struct quoit_ring_layout *ret)
{
	const uint64_t sq = open->sq_entries, cq = open->cq_entries;
	uint32_t end = 0;

	ret->sq_entries = open->sq_entries;
	ret->cq_entries = open->cq_entries;
	(void)quoit_ring_place(&end, sizeof(struct quoit_client_words));
	ret->sites = quoit_ring_place(&end, QUOIT_MAX_SITES * sizeof(struct quoit_site));
	ret->events = quoit_ring_place(&end, sizeof(struct quoit_ring_events));
	ret->sqes = quoit_ring_place(&end, sq * sizeof(struct quoit_sqe));
	ret->notes = quoit_ring_place(&end, sq * sizeof(struct quoit_note));
	ret->client_bytes = (end + QUOIT_CTL_PAGE - 1) / QUOIT_CTL_PAGE * QUOIT_CTL_PAGE;
	end = 0;
	(void)quoit_ring_place(&end, sizeof(struct quoit_daemon_words));
	ret->cqes = quoit_ring_place(&end, cq * sizeof(struct quoit_cqe));
	ret->errors = quoit_ring_place(&end, cq * sizeof(struct quoit_error));
	ret->stamps = 0;
	if (open->flags & QUOIT_RING_STAMPS)
		ret->stamps = quoit_ring_place(&end, cq * sizeof(struct quoit_stamps));
	ret->daemon_bytes = (end + QUOIT_CTL_PAGE - 1) / QUOIT_CTL_PAGE * QUOIT_CTL_PAGE;
}

/* Bytes of a ring's memory: the client's pages, then quoitd's. */
static inline uint64_t quoit_ring_bytes(const struct quoit_ring_layout *layout)
{
	return (uint64_t)layout->client_bytes + layout->daemon_bytes;
}

struct quoit_ctl {
	uint32_t magic;
	uint16_t type;  /* enum quoit_ctl_type; a reply has its request's */
	uint16_t flags; /* zero */
	uint32_t seq;   /* picked by the client, returned in the reply */
	int32_t result; /* in a reply: 0 or -errno; in a request: zero */
	QUOIT_UNNAMED union {
		struct quoit_hello hello;
		struct quoit_hello_reply hello_reply;
		struct quoit_ring_open ring_open;
		struct quoit_ring_reply ring_reply;
		struct {
			uint32_t ring;
			/*
			 * CANCEL: free-running.  An SQE that was not fetched yet ends with
			 * -ECANCELED then, unless it is invalid, or a CREATE, VIEW or FREE, which
			 * is done all the same.
			 */
			uint32_t sq_index;
		} job;
		struct {
			uint32_t index;
			uint32_t reserved;
		} file;
		struct {
			uint64_t session;
			uint32_t flags;
			uint32_t reserved;
		} end; /* CLOSE: flags; KILL: session */
		struct {
			uint64_t session;  /* 0: all */
			uint32_t records;  /* of each file, a power of two; 0: the default */
			uint32_t sessions; /* in the reply: so many are recorded now */
		} trace;
		struct {
			uint64_t bytes; /* whole pages of QUOIT_CTL_PAGE */
		} arena_more;
		struct {
			uint32_t number; /* counted from 1 */
			uint32_t reserved;
		} device;
		struct quoit_device_reply device_reply;
		struct {
			uint32_t of;    /* IMAGE_ADD: the device; the others: the image */
			uint32_t index; /* in the reply of an ADD */
		} kernels;
		struct {
			char name[QUOIT_NAME_BYTES]; /* ended by zeros */
			uint32_t opcode;             /* in the reply */
			uint32_t reserved;
		} op;
		struct {
			uint32_t uid;
			uint32_t share; /* SHARE: 1 to 10000 */
		} user;
		struct quoit_user_reply user_reply;
		uint8_t bytes[128];
	};
	char text[QUOIT_TEXT_BYTES]; /* in a reply that refuses: why, with what was found and
					allowed; and in that of DEVICE why it is lost, in those of
					USER and SHARE what is said there */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_hello) == 88, "no padding in hello");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_hello_reply) == 128, "no padding in hello's reply");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_ring_reply) == 16, "no padding in RING_OPEN's reply");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_user_reply) == 56, "no padding in USER's reply");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_ctl) == 256, "every control message is 256 bytes");

#endif
