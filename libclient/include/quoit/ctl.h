/* SPDX-License-Identifier: MIT */
/*
 * ctl.h - the messages of the control socket.
 *
 * The socket is SOCK_SEQPACKET.  Every message, both ways, is exactly one struct quoit_ctl; fields
 * that its type does not use are zero, and quoitd checks that.  A client sends one request at a
 * time and reads its reply before the next.  Anything else (another length, an unknown type, a type
 * that the state of the session does not allow, descriptors that were not asked for) ends the
 * connection with a reason that is counted.
 *
 *   state    allowed requests
 *   new      HELLO, KILL, TRACE, USER, SHARE, COUNTERS, SERVICES, CALLERS
 *   open     ARENA, RING_OPEN, READY, ARENA_MORE, RING_CLOSE, CANCEL, FILE_ADD, FILE_REMOVE, OP,
 *            DEVICE, IMAGE_ADD, IMAGE_REMOVE, KERNEL_ADD, FUNCTION_ADD, SERVE, SERVICE,
 *            SERVICE_FUNCTION, SERVICE_CLOSE, CALLER, SYNC, TENSOR, TENSOR_MEMORY, CLOSE
 *   closing  none: CLOSE's reply is the last message
 *   records  COUNTERS; the recording ends with the connection
 *
 * The client makes the memory that both sides share, and is charged for it; quoitd only maps it.
 * The arena is one memfd, and so is each ring.  A memfd is handed over in two steps:
 *
 *   1. ARENA, RING_OPEN or TENSOR carries it, sealed against shrinking and growing.  It is at least
 *      as long as HELLO's reply says for the shared region and the arena together, or
 *      quoit_ring_layout_of for a ring, or as the tensor is.  It may have no pages yet.  quoitd maps it for reading and writing, and asks the kernel to place its later
 *      pages on the session's node.  quoitd reads none of them.
 *   2. The client allocates every page, adds the seals that the reply names, and sends READY.
 *      quoitd checks both, and locks the pages.  Only then does it use them.
 *
 * ARENA's memfd begins with the shared region, where quoitd places tensors (QUOIT_CREATE_SHARED);
 * the arena, where the client places them, follows.
 *
 * Before the first RING_OPEN the client sends HELLO, ARENA and READY; after each RING_OPEN or TENSOR
 * it sends READY.  Other requests may come in between.
 *
 * An arena can grow if HELLO's reply has an arena_most that is larger than arena_bytes.  Its memfd
 * must then have room for arena_most, though only arena_bytes need pages at first.  Later the client
 * sends ARENA_MORE with the new end.  quoitd charges the pages to the user, checks and locks them,
 * and takes them into the arena.  -EDQUOT: they are beyond the user's limit; -EFAULT: they are not
 * beyond it, but not allocated.  So a client asks first, and allocates the pages and asks again
 * after -EFAULT: the seals keep it from giving them back.  The arena does not shrink before the
 * session ends.
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
	QUOIT_CTL_KILL,   /* end a session: its own uid and root may */
	QUOIT_CTL_END,    /* quoitd's last message, without a request: why it ends the session */
	QUOIT_CTL_OP,     /* the number of an operation by its name */
	QUOIT_CTL_DEVICE, /* describe a device */
	/*
	 * Kernels, for a session whose HELLO offered them.  IMAGE_ADD and KERNEL_ADD carry a memfd,
	 * sealed against writing, growing and shrinking: the image, or a struct quoit_kernel_desc.
	 * quoitd replies once the device's process has loaded the image, or found the kernel.
	 */
	QUOIT_CTL_IMAGE_ADD,
	QUOIT_CTL_IMAGE_REMOVE, /* its kernels, too; earlier jobs can still run them */
	QUOIT_CTL_KERNEL_ADD,
	/*
	 * Record sessions into files (trace.h): one session or all, also those that are opened
	 * later.  Root may record every session, other users their own.  Recording ends with the
	 * connection.
	 */
	QUOIT_CTL_TRACE,
	/*
	 * The share and the use of one user: the user with the lowest uid that is not below the
	 * given one. -ENOENT: there is none.  Root and quoitd's own user may see all users, others
	 * only themselves.
	 */
	QUOIT_CTL_USER,
	/*
	 * Give a user a share until quoitd ends or reloads; only root and quoitd's own user may.
	 * The text of the reply names the file where the share can be set for good; "": that is not
	 * known.
	 */
	QUOIT_CTL_SHARE,
	QUOIT_CTL_ARENA, /* request carries a memfd */
	/*
	 * The memory that was handed over has all its pages and seals.  If quoitd finds that it has
	 * not, quoitd drops it, and the client must hand it over again.
	 */
	QUOIT_CTL_READY,
	QUOIT_CTL_ARENA_MORE, /* the arena has this many bytes now */
	/*
	 * The files of the caller's own sessions (stats.h, trace.h), for those who may not pass the
	 * folder in which they lie.  With `list`, the reply names the sessions that have a file of
	 * this kind, from the given number on, in order; fewer than QUOIT_COUNTERS_LISTED are the
	 * last ones.  Without it, the reply carries a descriptor of this session's file, open for
	 * reading only.  -ENOENT: the caller has no such file.
	 */
	QUOIT_CTL_COUNTERS,
	QUOIT_CTL_FUNCTION_ADD, /* a function of a team, for CALL jobs */
	/*
	 * Services: functions that other sessions may call.  A service has a name, which belongs to
	 * the user of those that serve it.
	 *
	 * SERVE: this team's ring serves a service from now on, and no longer its own session.  All
	 * that serve one have its functions, in the same order; the newest may have more.
	 * SERVICE: look up a service, to call it.  quoitd replies as soon as somebody serves it, at
	 * the latest after reply_ms.  -ENOENT: nobody does, or this user may not call it.
	 * SERVICE_FUNCTION: the number of a function there by its name.
	 * SERVICE_CLOSE: calls that wait fail with -ECANCELED.
	 * CALLER: the memory of a session that calls, for reading; the reply carries its memfd.
	 * SERVICES, CALLERS: describe the service, or the caller of one, with the lowest number from
	 * a given one on.  Users see the services that they may call, and their own callers and the
	 * callers of their services; root, quoitd's own user and members of the group of option
	 * stats-group see all.  -ENOENT: no further one.
	 */
	QUOIT_CTL_SERVE,
	QUOIT_CTL_SERVICE,
	QUOIT_CTL_SERVICE_FUNCTION,
	QUOIT_CTL_SERVICE_CLOSE,
	QUOIT_CTL_CALLER,
	QUOIT_CTL_SERVICES,
	QUOIT_CTL_CALLERS,
	/*
	 * Open a thing with a name, or make it (sync.h).  It is called and closed as a service is
	 * (SERVICE_CLOSE), and listed with them.
	 */
	QUOIT_CTL_SYNC,
	/*
	 * Make a tensor with a name; the request carries its memory.  Nobody else can open it before
	 * READY, whose reply is as that of SYNC.  -EEXIST, also of READY: the user has something of
	 * this name.  SYNC opens one that there is.
	 */
	QUOIT_CTL_TENSOR,
	QUOIT_CTL_TENSOR_MEMORY, /* the reply carries its memfd, which can be mapped for reading */
	QUOIT_CTL_NR,
};

/*
 * hello.features and its reply: what one side offers.  Each side ignores offers that it does not
 * know.
 */
#define QUOIT_FEATURE_MODULES 0x1u /* operations of plug-in modules may be listed */
/* the session brings kernels: its device jobs run in processes of its user alone */
#define QUOIT_FEATURE_KERNELS 0x2u
/* GPU-direct mode for small jobs on devices: requested; granted */
#define QUOIT_FEATURE_DIRECT  0x4u

/* ring_open.flags */
#define QUOIT_RING_STAMPS 0x1u /* fill the stamps array, copy submit times */
#define QUOIT_RING_CALLS  0x2u /* a team's: quoitd posts calls, the client returns them */
#define QUOIT_RING_FLAGS  0x3u

/* close.flags */
#define QUOIT_CLOSE_CANCEL 0x1u /* cancel what has not started instead of waiting for it */
#define QUOIT_CLOSE_FLAGS  0x1u

#define QUOIT_NAME_BYTES 32
#define QUOIT_TEXT_BYTES 112

/*
 * Sizes are bytes; 0 asks for the daemon's default.  host_bytes is the whole lease: device_bytes
 * apart, all others are parts of it.
 */
struct quoit_hello {
	uint32_t abi_version;
	uint16_t sqe_size;
	uint16_t cqe_size;
	uint64_t features;
	uint64_t host_bytes;   /* lease of host memory, with arena and pinned region; 0: it grows */
	uint64_t device_bytes; /* lease of memory on every device */
	uint64_t arena_bytes;  /* the arena */
	uint64_t pinned_bytes; /* the pinned region */
	uint64_t shared_bytes; /* the shared region */
	uint32_t max_tensors;
	/*
	 * 1 + the CPU that the client runs on; 0 or an unknown CPU: not known.  quoitd places the
	 * session near that CPU's node if it cannot look up the client's node.
	 */
	uint32_t cpu_hint;
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
	uint16_t max_entries;           /* of an SQ */
	uint16_t devices;               /* a CREATE can name devices 1 to this */
	uint32_t shared_pages;          /* of QUOIT_CTL_PAGE: the shared region */
	/* 1 + the CPU of the session's reactor; 0: the reactor may run on several CPUs */
	uint32_t reactor_cpu;
	/* the lease can grow from host_bytes, which are promised, to this if there is memory */
	uint64_t host_most;
	uint64_t arena_most; /* the arena can grow to this, by ARENA_MORE */
};

/* A session's files, for COUNTERS. */
enum quoit_counters_kind {
	QUOIT_COUNTERS_SESSION = 0, /* session.N */
	QUOIT_COUNTERS_LATENCY = 1, /* latency.N */
	QUOIT_COUNTERS_TRACE = 2,   /* trace.N; also of sessions that have ended, see trace.h */
	QUOIT_COUNTERS_KINDS,
};

#define QUOIT_COUNTERS_LISTED 15u /* sessions in one reply */

struct quoit_counters_reply {
	uint32_t count;
	uint32_t reserved;
	uint64_t session[QUOIT_COUNTERS_LISTED];
};

enum quoit_device_state {
	QUOIT_DEVICE_UP = 0,
	QUOIT_DEVICE_DOWN = 1, /* being started again */
	QUOIT_DEVICE_LOST = 2, /* restarts have failed repeatedly: its jobs fail */
};

struct quoit_device_reply {
	char name[64];
	char address[16]; /* on PCI; "": on no bus */
	uint64_t bytes;   /* of its memory */
	uint64_t jobs;    /* jobs of this session that have ended on the device */
	uint64_t direct;  /* jobs of these that the device's resident consumer ran */
	/* jobs of these that went through streams but were small enough for the consumer */
	uint64_t streamed;
	uint32_t units; /* multiprocessors, or threads of a soft device */
	uint32_t state; /* enum quoit_device_state */
};

enum quoit_share_from {
	QUOIT_SHARE_OF_ALL = 0, /* option uid-share */
	QUOIT_SHARE_OF_GROUP = 1,
	QUOIT_SHARE_OF_USER = 2, /* the user's own section */
	QUOIT_SHARE_SET = 3,     /* by a SHARE request */
};

/* service.uid in a request: the client's own user */
#define QUOIT_SERVICE_OWN UINT32_MAX

struct quoit_service_reply {
	uint64_t service;
	char name[QUOIT_NAME_BYTES];
	uint32_t uid;
	uint32_t gid;
	uint32_t mode;
	uint32_t servers; /* rings that serve it */
	uint32_t lanes;   /* threads in all of these */
	/* 1: the rest is known; 0: it is 0, since only its user and those who see all may see it */
	uint32_t known;
	uint32_t kind;    /* enum quoit_sync_kind; 0: a service */
	uint32_t callers; /* sessions that have looked it up */
	uint32_t waiting; /* calls that no ring has got, */
	uint32_t running; /* and those that one has */
	uint64_t calls;   /* that have returned */
	uint64_t failed;  /* of these */
	uint64_t again;   /* calls that went to another ring, since theirs went away first */
	uint64_t ticks;   /* that calls ran */
	/*
	 * of a flag 1 if it is set; of a semaphore how many it has; of a barrier how many wait; of a
	 * queue its messages; of a keyspace its keys
	 */
	uint64_t value;
	uint32_t holder; /* of a lock: the process that holds it; 0: none */
	uint32_t kib;    /* of a queue or a keyspace: KiB that what is in it takes, rounded up */
};

struct quoit_caller_reply {
	uint64_t service;
	uint64_t caller;
	uint64_t session;
	uint32_t uid;
	uint32_t pid;
	uint32_t waiting;
	uint32_t running;
	uint64_t calls; /* that have returned */
	uint64_t failed;
	uint64_t ticks;      /* that they ran, */
	uint64_t wait_ticks; /* and waited before */
	uint64_t longest;    /* of the former, of one call */
};

struct quoit_user_reply {
	uint32_t uid;
	uint32_t share;
	uint32_t from; /* enum quoit_share_from; the reply's text names the place */
	uint32_t sessions;
	uint64_t connections;
	uint64_t rings;
	uint64_t host_bytes;   /* leased host memory, with tables and rings */
	uint64_t device_bytes; /* leased memory on each device */
	uint64_t host_limit; /* the most host memory that it may have, given what others have now */
};

struct quoit_ring_open {
	uint32_t sq_entries; /* a power of two */
	uint32_t cq_entries; /* a power of two, at least sq_entries; 0: twice sq_entries */
	uint32_t flags;      /* QUOIT_RING_* */
	uint32_t count;      /* how many rings to open, all alike */
};

/* Reply to RING_OPEN; the reply to ARENA uses only `seals`. */
struct quoit_ring_reply {
	uint32_t ring; /* index of the first ring in the session; the others follow */
	uint32_t count;
	uint32_t seals; /* F_SEAL_*: seals that the client must add to the memory */
	uint32_t reserved;
};

#define QUOIT_CTL_PAGE 4096u /* both parts of a ring's memory are whole pages of this many bytes */

/* Reserve room for the next array behind *end, on cache lines of its own; its offset. */
static inline uint32_t quoit_ring_place(uint32_t *end, uint64_t bytes)
{
	uint32_t at = *end;

	*end += (uint32_t)((bytes + QUOIT_LINE - 1) / QUOIT_LINE * QUOIT_LINE);
	return at;
}

/* The layout of a ring's memory.  The sizes and flags must be valid; cq_entries must not be 0. */
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
	ret->calls = ret->results = 0;
	if (open->flags & QUOIT_RING_CALLS) {
		ret->calls = quoit_ring_place(&end, cq * sizeof(struct quoit_call_entry));
		ret->results = quoit_ring_place(&end, cq * sizeof(uint32_t));
	}
	ret->texts = quoit_ring_place(&end, QUOIT_RING_TEXTS * sizeof(struct quoit_call_text));
	ret->daemon_bytes = (end + QUOIT_CTL_PAGE - 1) / QUOIT_CTL_PAGE * QUOIT_CTL_PAGE;
}

/* Bytes of a ring's memory: the client's pages, then quoitd's. */
static inline uint64_t quoit_ring_bytes(const struct quoit_ring_layout *layout)
{
	return (uint64_t)layout->client_bytes + layout->daemon_bytes;
}

struct quoit_ctl {
	uint32_t magic;
	uint16_t type;  /* enum quoit_ctl_type; a reply has its request's type */
	uint16_t flags; /* zero */
	uint32_t seq;   /* the client picks it; the reply returns it */
	int32_t result; /* in a reply: 0 or -errno; in a request: zero */
	QUOIT_UNNAMED union {
		struct quoit_hello hello;
		struct quoit_hello_reply hello_reply;
		struct quoit_ring_open ring_open;
		struct quoit_ring_reply ring_reply;
		struct {
			uint32_t ring;
			/*
			 * CANCEL: free-running.  An SQE that quoitd has not fetched yet ends with
			 * -ECANCELED when it is fetched.  Exceptions: an invalid SQE fails with its
			 * own error, and a CREATE, VIEW or FREE is still carried out.
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
			uint32_t sessions; /* in the reply: how many sessions are recorded now */
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
			char name[QUOIT_NAME_BYTES]; /* printable ASCII without blanks, and zeros */
			/* a letter as in ops.def for each tensor of a call, and zeros */
			char access[8];
			uint32_t ring;   /* the team's */
			uint32_t number; /* in the reply */
		} function;
		struct {
			char name[QUOIT_NAME_BYTES]; /* as a function's */
			uint32_t ring;               /* a team's */
			uint32_t mode;               /* QUOIT_SERVE_* */
			uint32_t gid;                /* 0 without QUOIT_SERVE_GROUP */
			uint32_t reserved;
		} serve;
		struct {
			char name[QUOIT_NAME_BYTES];
			uint32_t uid;      /* the service's user, or QUOIT_SERVICE_OWN */
			uint32_t wait_ms;  /* how long each call waits until somebody serves it, */
			uint32_t reply_ms; /* and the reply; 0 to QUOIT_SERVICE_MOST_MS, both */
			uint32_t number;   /* in the reply: SERVICE_FUNCTION, SERVICE_CLOSE */
		} service;
		struct {
			char name[QUOIT_NAME_BYTES]; /* of the function; SERVICE_CLOSE: zeros */
			uint32_t service;
			uint32_t number; /* in the reply, */
			char access[8];  /* and this, too */
		} service_function;
		struct {
			uint32_t ring; /* that serves, and has got a call */
			uint32_t caller;
			uint64_t bytes; /* in the reply: of the memory */
		} caller;
		struct {
			char name[QUOIT_NAME_BYTES];
			uint32_t uid;  /* its user, or QUOIT_SERVICE_OWN */
			uint16_t kind; /* enum quoit_sync_kind */
			uint16_t flags;
			uint32_t mode; /* QUOIT_SERVE_* */
			uint32_t gid;
			uint64_t value, most;
			uint32_t number; /* in the reply: SERVICE_CLOSE; */
			uint32_t dtype;  /* and what a tensor is */
			uint32_t dim[QUOIT_MAX_DIMS];
		} sync;
		struct {
			char name[QUOIT_NAME_BYTES];
			uint16_t dtype; /* enum quoit_dtype */
			uint16_t flags; /* QUOIT_SYNC_OTHERS_READ */
			uint32_t mode;  /* QUOIT_SERVE_* */
			uint32_t gid;
			uint32_t dim[QUOIT_MAX_DIMS]; /* none is 0 */
			uint32_t reserved;
		} tensor;
		struct {
			uint32_t number; /* of a tensor, as SYNC's reply has it */
			uint32_t reserved;
			uint64_t bytes; /* in the reply */
		} tensor_memory;
		struct {
			uint64_t service; /* the lowest number; CALLERS: the service */
			uint64_t caller;  /* CALLERS: the lowest number */
		} services;
		struct quoit_service_reply service_reply;
		struct quoit_caller_reply caller_reply;
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
		struct {
			uint64_t session;
			uint16_t kind; /* enum quoit_counters_kind */
			uint16_t list; /* 0 or 1 */
			uint32_t reserved;
		} counters;
		struct quoit_counters_reply counters_reply;
		uint8_t bytes[128];
	};
	/*
	 * In a reply that refuses: why, with what was found and what is allowed.  DEVICE: why the
	 * device is lost.  USER and SHARE: see there.
	 */
	char text[QUOIT_TEXT_BYTES];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_hello) == 96, "no padding in hello");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_hello_reply) == 128, "no padding in hello's reply");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_ring_reply) == 16, "no padding in RING_OPEN's reply");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_user_reply) == 56, "no padding in USER's reply");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_service_reply) == 128, "no padding in SERVICES' reply");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_caller_reply) == 80, "no padding in CALLERS' reply");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_counters_reply) == 128, "no padding in COUNTERS' reply");
QUOIT_STATIC_ASSERT(sizeof(struct quoit_ctl) == 256, "every control message is 256 bytes");

#endif
