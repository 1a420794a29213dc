/* SPDX-License-Identifier: MIT */
/*
 * abi.h - what a client and quoitd share in memory: words, entries, numbers.
 *
 * No functions, no pointers, no implicit padding.  Every type that crosses the
 * boundary has its size and the offsets that matter asserted where it is
 * declared, and tests/unit/test_abi.c asserts them again.
 *
 * Numbers of operations and bits of flags are never reused.  A bit or a word
 * that this header calls reserved must be zero; quoitd checks.
 */
#ifndef QUOIT_ABI_H
#define QUOIT_ABI_H

#include <stdint.h>

/*
 * gcc and clang have as extensions the parts of C11 that C99 and C++ lack; __extension__ keeps
 * -Wpedantic silent about them.
 */
#ifdef __cplusplus
#define QUOIT_STATIC_ASSERT(expr, text) static_assert(expr, text)
#define QUOIT_ALIGNED(n)                alignas(n)
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#define QUOIT_STATIC_ASSERT(expr, text) _Static_assert(expr, text)
#define QUOIT_ALIGNED(n)                _Alignas(n)
#else
#define QUOIT_STATIC_ASSERT(expr, text) __extension__ _Static_assert(expr, text)
#define QUOIT_ALIGNED(n)                __attribute__((aligned(n)))
#endif
/* before a struct or union that has no name and lies in another one */
#define QUOIT_UNNAMED __extension__

#define QUOIT_ABI_VERSION 7u

/* The cache line: words that different sides write lie on different lines. */
#define QUOIT_LINE 64

/* ---- limits of the ABI (a session's own limits come with hello) ---- */

#define QUOIT_MAX_DIMS            4 /* every tensor has four; missing leading ones are 1 */
#define QUOIT_MAX_TENSORS_PER_JOB 4
#define QUOIT_MIN_ENTRIES         8u /* of an SQ; a power of two */
#define QUOIT_MAX_ENTRIES         32768u
#define QUOIT_MAX_RINGS           64u  /* of one session */
#define QUOIT_MAX_FILES           64u  /* registered by one session */
#define QUOIT_MAX_HOLDS           128u /* accesses that one session's program holds (ACQUIRE_*) */
#define QUOIT_MAX_FUNCTIONS       64u  /* of one team: of a ring with QUOIT_RING_CALLS */
#define QUOIT_MAX_SERVICES        64u  /* that one session calls */

/* ---- handles ---- */

/*
 * A tensor's handle is picked by the client: the low 20 bits are an index below
 * the session's max_tensors, the high 12 bits a generation, which the client
 * changes whenever it uses an index again, so that a late job cannot reach a
 * newer tensor by an old name.  Index 0 is never a tensor: handle 0 means "none".
 */
#define QUOIT_HANDLE_INDEX_BITS 20
#define QUOIT_HANDLE_INDEX_MASK ((1u << QUOIT_HANDLE_INDEX_BITS) - 1)
#define QUOIT_NO_TENSOR         0u

/* ---- types of elements ---- */

enum quoit_dtype {
	QUOIT_F32 = 0,
	QUOIT_F64 = 1,
	QUOIT_I32 = 2,
	QUOIT_I64 = 3,
	/* half.h converts to and from these two; ops.def says which operations take them. */
	QUOIT_BF16 = 4, /* bfloat16 */
	QUOIT_F16 = 5,  /* IEEE binary16 */
	QUOIT_DTYPE_NR,
	/* Reserved for complex elements of two f32 or f64: -ENOTSUP. */
	QUOIT_C64 = QUOIT_DTYPE_NR,
	QUOIT_C128,
};

/* ---- operations ---- */

/* QUOIT_OP_NOP, QUOIT_OP_CREATE, ...: one per row of ops.def. */
enum quoit_opcode {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	QUOIT_OP_##NAME = nr,
#include <quoit/ops.def>
#undef QUOIT_OP
};

/* Reserved for later operations: -ENOTSUP. */
#define QUOIT_OP_SORT    16
#define QUOIT_OP_SCATTER 17

/* Operations of plug-in modules have the numbers from here to 254. */
#define QUOIT_OP_MODULE_FIRST 192
#define QUOIT_OP_MODULE_LAST  254
#define QUOIT_OP_NR           256

/* ---- submission queue entry ---- */

/* sqe.flags */
#define QUOIT_SQE_QUIET     0x01u /* no CQE when the job succeeds */
/* NOP only: starts when all earlier jobs of its ring have ended */
#define QUOIT_SQE_AFTER_ALL 0x02u
#define QUOIT_SQE_LINK      0x04u /* sqe.link says which earlier job must have ended first */
#define QUOIT_SQE_INT       0x08u /* the scalars are integers (int64_t), not doubles */
/* sqe.link is an SQ index of the ring sqe.event_ring: that SQE must have been fetched and ended */
#define QUOIT_SQE_EVENT     0x10u
#define QUOIT_SQE_FLAGS     0x1fu /* all that are defined */

/* sqe.priority */
enum quoit_priority {
	QUOIT_PRIO_NORMAL = 0,
	QUOIT_PRIO_HIGH = 1,
	QUOIT_PRIO_LOW = 2,
	QUOIT_PRIO_NR,
};

/* sqe.arg of CREATE: the type in the low four bits, and these flags */
#define QUOIT_CREATE_DTYPE_MASK 0x0fu
#define QUOIT_CREATE_PINNED     0x10u /* its bytes are in the pinned region */
/* its bytes are the client's, sqe.offset bytes into its arena */
#define QUOIT_CREATE_ARENA      0x20u
#define QUOIT_CREATE_SHARED     0x40u /* its bytes are in the shared region: it can be acquired */
/* its bytes are those of a tensor with a name, whose number is tensor[1]; the type is that one's */
#define QUOIT_CREATE_NAMED      0x80u

/* sqe.arg of GEMM */
#define QUOIT_GEMM_TRANS_A 0x01u
#define QUOIT_GEMM_TRANS_B 0x02u
#define QUOIT_GEMM_TF32    0x04u /* f32 only: factors may be rounded to 10 bits of fraction */

/* sqe.arg of element-wise operations with two inputs */
#define QUOIT_EW_SCALAR  0x01u /* the second input is sqe.scalar[0]; tensor[2] must be none */
#define QUOIT_EW_REVERSE 0x02u /* with SCALAR: the scalar is the first input */

/* sqe.arg of COMPARE: the predicate, and QUOIT_CMP_SCALAR */
enum quoit_predicate {
	QUOIT_CMP_EQ = 0,
	QUOIT_CMP_NE = 1,
	QUOIT_CMP_LT = 2,
	QUOIT_CMP_LE = 3,
	QUOIT_CMP_GT = 4,
	QUOIT_CMP_GE = 5,
	QUOIT_CMP_NR,
};
#define QUOIT_CMP_MASK   0x0fu
#define QUOIT_CMP_SCALAR 0x10u /* compare with sqe.scalar[0]; tensor[2] must be none */

/*
 * sqe.arg of reductions, ROLL and GATHER: an axis 0..3 of the four dims, or (reductions only) all of
 * them.  NONE stands for an axis that there is not, so that the job is refused (quoit_axis).
 */
#define QUOIT_AXIS_ALL  0xffu
#define QUOIT_AXIS_NONE 0xfeu

/*
 * sqe.arg of TRANSPOSE: out.dim[i] = in.dim[(arg >> 2 * i) & 3].  Axes 0 to 3, or -4 to -1, which
 * have the same last two bits.
 */
#define QUOIT_PERM(a, b, c, d) ((uint8_t)(((a)&3) | ((b)&3) << 2 | ((c)&3) << 4 | ((d)&3) << 6))

/*
 * 64 bytes.  tensor[0] is the output, if there is one.  A scalar is the bits of a double for
 * floating-point tensors and of an int64_t for integer ones, unless ops.def says otherwise.  Where
 * both are possible (FILL, the operations of two inputs, AXPBY, COMPARE) QUOIT_SQE_INT says that
 * they are integers; scalars of another kind than the tensors are -EINVAL.  Elsewhere the flag must
 * not be set.
 *
 * CREATE and VIEW use the words from tensor[2] on for the shape: dims, strides in elements, and an
 * offset in bytes.  For CREATE this is an offset into the arena with QUOIT_CREATE_ARENA, else zero.
 * For VIEW it counts from the first element of tensor[1], modulo 2^64, so that a view can begin
 * before it.  All four strides zero means dense, row by row.
 */
struct quoit_sqe {
	uint8_t opcode;     /* enum quoit_opcode */
	uint8_t flags;      /* QUOIT_SQE_* */
	uint8_t device;     /* CREATE: where its bytes live, 0: the host, n: device n - 1; else 0 */
	uint8_t arg;        /* depends on the operation: see above */
	uint32_t reserved0; /* zero; some builders mark an impossible job here */
	uint64_t user_data; /* returned unchanged in the CQE */
	QUOIT_UNNAMED union {
		QUOIT_UNNAMED struct {
			uint32_t tensor[QUOIT_MAX_TENSORS_PER_JOB];
			uint32_t deadline; /* microseconds after fetch; 0: none */
			/*
			 * with QUOIT_SQE_LINK: how many SQEs back on this ring; with
			 * QUOIT_SQE_EVENT: the SQ index on event_ring
			 */
			uint32_t link;
			uint64_t scalar[2];
			uint8_t priority; /* enum quoit_priority */
			/*
			 * CALL: a function's number in its team, and the team's ring, or
			 * QUOIT_TEAM_SERVICE + the number of a service (ctl.h); else 0
			 */
			uint8_t function;
			uint8_t team;
			uint8_t event_ring; /* of QUOIT_SQE_EVENT; else 0 */
			uint8_t reserved[4];
		};
		QUOIT_UNNAMED struct {     /* RETURN; its user_data is that of the call's CQE */
			uint64_t found[2]; /* of a failure: quoit_error.value */
			int32_t result;    /* 0 or a count, or -errno */
			uint32_t about;    /* of a failure: quoit_error.field */
			uint64_t began, finished; /* TSC: when the function ran; 0: not known */
			uint64_t results;         /* of a service: QUOIT_RESULTS_AT; else 0 */
		};
		QUOIT_UNNAMED struct {
			uint32_t base[2]; /* the same words as tensor[0] and tensor[1] */
			uint32_t dim[QUOIT_MAX_DIMS];
			int32_t stride[QUOIT_MAX_DIMS];
			uint64_t offset;
		};
		uint64_t word[6];
	};
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_sqe) == 64, "an SQE is 64 bytes");

/* ---- completion queue entry ---- */

/*
 * ACQUIRE_READ and ACQUIRE_WRITE are jobs that end when the program may access the tensor: alone if
 * it may write, beside others if it only reads.  The CQE says where the tensor's first element is
 * (QUOIT_CQE_PLACE), so these jobs cannot be QUIET.  From then on the program holds the access:
 * later jobs wait for it as they wait for a job, and the tensor's bytes neither move nor go, until
 * RELEASE, whose scalar[0] is the SQ index of the acquire on the same ring.  The arg of an acquire
 * is the place in the program that made it: an index into its ring's call-site table, 0: unknown;
 * it is only shown.  RELEASE takes effect at its fetch, or earlier if the ring cannot take the SQEs
 * before it; so it takes no link, deadline or priority.  A RELEASE (or CANCEL) of an acquire that
 * has not ended ends it with
 * -ECANCELED.  An acquire that fails changes nothing.
 */

/*
 * CALL is a job that the client's own program runs.  Its function belongs to a team, which is a ring
 * that was opened with QUOIT_RING_CALLS: when the call's turn has come, quoitd posts a CQE there
 * (res: the function's number in the team) with a call entry beside it, and the program answers by
 * RETURN on that ring, with the CQE's user_data.  RETURN takes effect at its fetch and posts no CQE
 * unless it is refused.  CQEs of calls have no flags; a refused RETURN has QUOIT_CQE_ERROR.
 */

/* sqe.team from here on: a service of the session, which other processes serve */
#define QUOIT_TEAM_SERVICE 64u

/* Who may call a service, besides its user and root: as in a file's mode. */
#define QUOIT_SERVE_GROUP  0010u /* a group, of which the process that serves is one */
#define QUOIT_SERVE_OTHERS 0001u
#define QUOIT_SERVE_MODE   0011u /* all of them */

#define QUOIT_SERVICE_MOST_MS 3600000u /* the longest wait for a process that serves */

/*
 * A ring that serves a service (SERVE of ctl.h) gets calls of many sessions.  Their entries say who
 * calls, and their tensors lie in the caller's memory (CALLER of ctl.h), which the process may only
 * read.  What a function writes, the process puts into its own memory (of its own session: the
 * shared region and the arena): each output that the call has, in the order of the tensors, dense,
 * each one from a multiple of QUOIT_LINE bytes.  RETURN says where they begin.  quoitd copies them
 * into the caller's tensors.  The call's user_data has a number of less than cq_entries in its lower
 * half, and a serial in its upper half: when quoitd has copied, it stores the serial in the ring's
 * word `results` of that number, and the memory is the process's again.  A RETURN that fails may say
 * there where QUOIT_CALL_TEXT_BYTES of words are, instead.
 *
 * A CQE whose res is QUOIT_CALLER_LEFT has no entry, and needs no RETURN: the caller whose number is
 * user_data calls no more, so that the process can unmap the caller's memory.
 */
#define QUOIT_CALLER_LEFT       256
#define QUOIT_CALL_TEXT_BYTES   120
/* RETURN's word for results at so many bytes from the start of the shared region */
#define QUOIT_RESULTS_AT(place) (1 + (uint64_t)(place))

/* cqe.flags */
#define QUOIT_CQE_ERROR       0x1u /* the error record of this slot belongs to this CQE */
/* of an acquire that has succeeded: these bits of flags are the lowest of the place */
#define QUOIT_CQE_PLACE_SHIFT 16
#define QUOIT_CQE_PLACE_BITS  12

/*
 * Where an acquired tensor's first element is, in bytes from the start of the shared region, or of
 * the memory of a tensor with a name: res counts pages of 4 KiB, and the upper half of flags the
 * bytes beyond.
 */
#define QUOIT_CQE_PLACE(cqe)                                                                       \
	((uint64_t)(uint32_t)(cqe)->res << QUOIT_CQE_PLACE_BITS |                                  \
	 (cqe)->flags >> QUOIT_CQE_PLACE_SHIFT)

/*
 * res: 0 or the operation's count (FILE_READ, FILE_WRITE: bytes; acquires: pages), else -errno or
 * -QUOIT_E*.
 */
struct quoit_cqe {
	uint64_t user_data;
	int32_t res;
	uint32_t flags; /* QUOIT_CQE_* */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_cqe) == 16, "a CQE is 16 bytes");

/* ---- things with a name (sync.h) ---- */

/*
 * A CALL whose team is QUOIT_TEAM_SERVICE + the number of such a thing: quoitd itself does what its
 * function says.  Its one tensor may be left out, but for queues; it orders the job by the data.  A
 * keyspace's jobs have others (keyspace.h).
 */
enum quoit_sync_kind {
	QUOIT_SYNC_LOCK = 1,
	QUOIT_SYNC_FLAG,
	QUOIT_SYNC_SEMAPHORE,
	QUOIT_SYNC_BARRIER,
	QUOIT_SYNC_QUEUE,
	QUOIT_SYNC_KEYSPACE,
	QUOIT_SYNC_TENSOR, /* it has no functions: jobs use it as any tensor (QUOIT_CREATE_NAMED) */
	QUOIT_SYNC_NR,
};

/* Their names, from 0, which is a service. */
#define QUOIT_SYNC_NAMES                                                                           \
	{                                                                                          \
		"service", "lock", "flag", "semaphore", "barrier", "queue", "keyspace", "tensor"   \
	}

#define QUOIT_CONDITIONS 8u /* of a lock */

/* What a job does: its function's number (quoit_call). */
enum quoit_sync_op {
	QUOIT_SYNC_LOCK_IT = 0,
	QUOIT_SYNC_UNLOCK,
	QUOIT_SYNC_WAIT_CONDITION, /* sqe.arg: the condition */
	QUOIT_SYNC_NOTIFY,         /* the same; scalar[0] (uint64_t): how many, UINT64_MAX: all */
	QUOIT_SYNC_SET_FLAG,
	QUOIT_SYNC_CLEAR_FLAG,
	QUOIT_SYNC_WAIT_FLAG,
	QUOIT_SYNC_TAKE, /* scalar[0] (uint64_t): how many */
	QUOIT_SYNC_GIVE,
	QUOIT_SYNC_ARRIVE,
	QUOIT_SYNC_SEND,      /* tensor 0 is read; tensor 1, which may be left out, is waited for */
	QUOIT_SYNC_SEND_ROWS, /* the same, and each row of tensor 0 is a message */
	QUOIT_SYNC_RECEIVE,   /* tensor 0 is written */
	QUOIT_SYNC_RECEIVE_ROWS, /* the same; the result says how many rows are messages */
	QUOIT_SYNC_PEEK,         /* tensor 0 is written, a struct quoit_message */
	/*
	 * Tensor 0 may be given, and gets a struct quoit_key_state; tensor 1 is the key, text up to
	 * a NUL or the tensor's end; scalar[0] (uint64_t) is a revision.  All are without gaps.
	 */
	QUOIT_SYNC_PUT,    /* tensor 2: the value, of which scalar[1] bytes count */
	QUOIT_SYNC_GET,    /* tensor 2 gets the value, and zeros behind it; no revision */
	QUOIT_SYNC_DELETE, /* the revision is the one that the key must have, as of a PUT */
	QUOIT_SYNC_LIST, /* tensor 1: a prefix; tensor 2 gets entries; tensor 3: the last key before */
	QUOIT_SYNC_WATCH, /* sqe.arg: QUOIT_WATCH_PREFIX, or 0 */
	QUOIT_SYNC_OP_NR,
};

#define QUOIT_MESSAGE_ROWS 1024u /* the most messages of one job */

/* What the next message of a queue is, as a vector of five QUOIT_I64. */
struct quoit_message {
	int64_t dtype; /* enum quoit_dtype */
	int64_t dim[QUOIT_MAX_DIMS];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_message) == 40, "five elements");

/* ---- keyspaces (keyspace.h) ---- */

#define QUOIT_KEY_BYTES    256u   /* a key with the NUL behind it */
#define QUOIT_VALUE_BYTES  65536u /* the most of a value, and of a page of LIST */
#define QUOIT_LIST_KEYS    256u   /* the most in one page */
#define QUOIT_ANY_REVISION UINT64_MAX
#define QUOIT_WATCH_PREFIX 1u /* all keys that begin so, and not one */

/* What there is to say of a key, or of those with a prefix, as a vector of four QUOIT_I64. */
struct quoit_key_state {
	/*
	 * PUT, GET: of the key.  DELETE: of the deletion.  WATCH of a key: of the key, 0: there is
	 * none; of a prefix, and LIST: the newest among the keys
	 */
	uint64_t revision;
	uint64_t now;   /* the keyspace's: that of the newest change of all */
	uint64_t bytes; /* of the value; LIST: of the page; WATCH of a prefix: 0 */
	uint64_t keys;  /* LIST and WATCH of a prefix: how many have it; else in all */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_key_state) == 32, "four elements");

/* An entry of a page: the next one is `size` bytes behind. */
struct quoit_key_entry {
	uint64_t revision; /* of the key's last change */
	uint32_t bytes;    /* of its value */
	uint32_t size;     /* of this entry, a multiple of 8 */
	char key[8];       /* as long as it is, with a NUL behind it */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_key_entry) == 24, "no padding in an entry");

/* A result above 0, of a lock: the session that held it has ended, and did not unlock it. */
#define QUOIT_OWNER_DIED 1

/* sync.flags (ctl.h) */
#define QUOIT_SYNC_MUST_EXIST  0x1u /* open what is there, make nothing */
#define QUOIT_SYNC_MUST_BE_NEW 0x2u
#define QUOIT_SYNC_RECURSIVE   0x4u /* of a lock: its holder may lock it again */
#define QUOIT_SYNC_UNDO        0x8u /* of a semaphore: what a session took is given back at its end */
/* of a tensor: this session only reads it */
#define QUOIT_SYNC_READ_ONLY   0x10u
/*
 * of a tensor or a keyspace, where it is made: users whom `mode` lets in may only read it, as its
 * own user and root need not
 */
#define QUOIT_SYNC_OTHERS_READ 0x20u

/* ---- Quoit's own errors, beside errno ---- */

enum quoit_errno {
	QUOIT_EPOISON = 4096, /* the job reads what a failed job should have written (see cause) */
	QUOIT_EGPUFAULT = 4097, /* the device faulted while the job was on it */
	QUOIT_EDEVLOST = 4098,  /* the device is gone, and with it the bytes */
	QUOIT_EEXEC = 4099,     /* the executor process died with the job in flight */
};

/*
 * The part of an SQE that an error is about: quoit_error.field.  "values" are quoit_error.value[0]
 * and value[1].
 */
enum quoit_field {
	QUOIT_FIELD_NONE = 0,
	QUOIT_FIELD_OPCODE,
	QUOIT_FIELD_FLAGS,
	QUOIT_FIELD_DEVICE, /* of a fault, values: the device, enum quoit_fault */
	QUOIT_FIELD_ARG,
	/*
	 * 5 was used by version 2.  -EINVAL, -ENOTSUP: values: enum quoit_misfit.  -EBADF: values:
	 * the handle, and the bound that its index must be below.  -EXDEV: values: the tensor's
	 * place, and the place that it must have.
	 */
	QUOIT_FIELD_TENSOR0 = 6,
	QUOIT_FIELD_TENSOR1,
	QUOIT_FIELD_TENSOR2,
	QUOIT_FIELD_TENSOR3,
	/*
	 * -ETIME: values: the milliseconds that any job may run, and 0; or, if the job missed its
	 * own deadline: 0 and QUOIT_MISSED
	 */
	QUOIT_FIELD_DEADLINE,
	QUOIT_FIELD_LINK,
	QUOIT_FIELD_SCALAR0,
	QUOIT_FIELD_SCALAR1,
	QUOIT_FIELD_PRIORITY,
	QUOIT_FIELD_RESERVED,
	QUOIT_FIELD_DIM,
	/* of a job, values: the tensor that is not dense, or whose elements overlap in an output */
	QUOIT_FIELD_STRIDE,
	QUOIT_FIELD_OFFSET,
	/*
	 * values: bytes needed; bytes of the lease that are left (0: enough are left, but no
	 * memory)
	 */
	QUOIT_FIELD_MEMORY,
	QUOIT_FIELD_FILE,
	/*
	 * values: the process's pid, and how it ended (waitpid's status); or, if there is no
	 * process to run on: 0, and its device (0: a module's)
	 */
	QUOIT_FIELD_EXECUTOR,
	/* values: 1 for integers, 0 for doubles; the type (enum quoit_dtype) of the tensors */
	QUOIT_FIELD_SCALAR_KIND,
	/* an acquire: values: accesses that the program holds already; the most that it may hold */
	QUOIT_FIELD_HOLDS,
	/* a call: values: the function's number; how many its team has (0: there is no such team) */
	QUOIT_FIELD_FUNCTION,
	/* values: the ring and the SQ index that the event names */
	QUOIT_FIELD_EVENT,
	/*
	 * a call of a service, values: the service's number; the milliseconds for which no process
	 * has served it; -QUOIT_EEXEC: the pid of the process that had the call, and has gone
	 */
	QUOIT_FIELD_SERVICE,
	/* a CREATE, values: the number of a tensor with a name; how many a session may have */
	QUOIT_FIELD_NAMED,
	/*
	 * of a keyspace, values: the key's revision, 0: there is no such key; that which it must
	 * have
	 */
	QUOIT_FIELD_REVISION,
	/* of a keyspace, values: bytes that there are, or that are needed; the most that fit */
	QUOIT_FIELD_BYTES,
	QUOIT_FIELD_NR,
};

/*
 * Why a tensor cannot be an operand of an operation: value[0] of its error record.  Modules define
 * their own words for their operations.
 */
enum quoit_misfit {
	/*
	 * + 0 to 3: the wrong dim; value[1]: that dim, and in the upper 32 bits the dim that is
	 * allowed
	 */
	QUOIT_MISFIT_DIM = 0,
	QUOIT_MISFIT_DIM_OR_1 = 0x10, /* as DIM; a dim of 1, which is broadcast, is allowed, too */
	/*
	 * + the tensor's enum quoit_dtype.  value[1]: QUOIT_MISFIT_TYPE + the required type; with
	 * -ENOTSUP one bit for each allowed type.
	 */
	QUOIT_MISFIT_TYPE = 0x100,
	QUOIT_MISFIT_OVERLAP = 0x200, /* + 0 to 3: it overlaps that tensor of the job */
	QUOIT_MISFIT_UNUSED = 0x300,  /* the operation, with this arg, takes no tensor there */
	QUOIT_MISFIT_ABSENT = 0x400,  /* the operation takes a tensor there, and none is given */
	/* + the device where it is: the operation runs on the host only */
	QUOIT_MISFIT_PLACE = 0x500,
	/*
	 * a copy between host and device needs dense tensors of equal size; value[1]: its elements
	 */
	QUOIT_MISFIT_SIZE = 0x600,
	/* an acquire: it is not in the shared region; a call: nor in the arena */
	QUOIT_MISFIT_NOT_SHARED = 0x700,
	QUOIT_MISFIT_READ_ONLY = 0x800, /* -EACCES: it has a name, and the session only reads it */
	/* it has a name: no device, module or service reaches its memory */
	QUOIT_MISFIT_NAMED = 0x900,
	QUOIT_MISFIT_LOST = 0xa00, /* -EFAULT: it has a name, and its memory was lost */
};

/*
 * A deadline that was missed: as the SQE had it, and in the upper 32 bits for how many microseconds
 * the job had been with what runs it (0: for none, since it had not begun).
 */
#define QUOIT_MISSED(deadline, with) ((uint32_t)(deadline) | (uint64_t)(uint32_t)(with) << 32)

/* Which job made a device fault: the session's own, or another one's. */
enum quoit_fault {
	QUOIT_FAULT_UNKNOWN = 0,
	QUOIT_FAULT_OWN = 1,
	QUOIT_FAULT_OTHER = 2,
};

/* Error record i belongs to CQ slot i and is valid until that CQE is released. */
struct quoit_error {
	uint64_t user_data; /* of the failed job */
	/* user_data of the job that failed first; equal to user_data if this job did */
	uint64_t cause;
	uint64_t value[2]; /* what was found and what was allowed, by field */
	int16_t code;      /* the first cause's -errno or -QUOIT_E* */
	uint8_t function;  /* if the first cause is a CALL: as in its SQE; else 0 */
	uint8_t team;      /* the same */
	uint8_t opcode;    /* the first cause's operation */
	uint8_t field;     /* enum quoit_field */
	uint16_t ring;     /* the first cause's ring in its session */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_error) == 40, "no padding in an error record");

/* ---- calls ---- */

/* A tensor of a call.  Element (i, j, k, l) is at the sum of index times stride, in elements. */
struct quoit_call_tensor {
	/*
	 * of its first element, in bytes from the start of the arena, which begins with the shared
	 * region, or of the memory that `named` says
	 */
	uint64_t place;
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS];
	uint8_t dtype; /* enum quoit_dtype */
	uint8_t given; /* 0: it is optional and absent, and all else is zero */
	uint8_t named; /* 1 + the number of a tensor with a name (CREATE_NAMED); else 0 */
	uint8_t reserved[5];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_call_tensor) == 48, "no padding in a call's tensor");

/* Call entry i belongs to CQ slot i, and is valid until that CQE is released. */
struct quoit_call_entry {
	uint64_t user_data; /* of the call's job, */
	uint16_t ring;      /* and its ring */
	uint8_t function;   /* its number in the team */
	uint8_t arg;        /* as in the job's SQE, and so are the scalars */
	uint32_t caller;    /* of a service: who calls (CALLER of ctl.h), never 0; else 0, */
	uint64_t scalar[2];
	uint32_t uid; /* and its user and process; of a team 0 */
	uint32_t pid;
	uint64_t reserved[3];
	struct quoit_call_tensor tensor[QUOIT_MAX_TENSORS_PER_JOB];
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_call_entry) == 256, "whole lines, and no padding");

/* Times of a job as TSC ticks (hello's reply has their rate); an array indexed like the CQ. */
struct quoit_stamps {
	uint64_t submit; /* the client's own word, copied */
	uint64_t fetch;
	uint64_t start;
	uint64_t end;
	uint64_t post;
	uint64_t device_start; /* on a device, by the device's own clock; else 0 */
	uint64_t device_end;
	uint64_t device_error; /* how far device_start and device_end may be off, in ticks */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_stamps) == 64, "one line per job");

/* ---- pages that the client writes and quoitd reads ---- */

/*
 * Words that say when samples (sample.h) were submitted and when they were reaped.  The words for
 * reaped samples lie beside cq_head, which changes at the same time.
 */
#define QUOIT_NOTED 7u

/*
 * How many words the line of a tail carries (ring.h): a whole SQE; of a CQE its flags, user_data
 * and res.  The tail is the upper half of the first word.
 */
#define QUOIT_SQ_CARRIES 8u
#define QUOIT_CQ_CARRIES 3u

struct quoit_client_words {
	QUOIT_UNNAMED union {
		QUOIT_ALIGNED(QUOIT_LINE) uint64_t sq[QUOIT_SQ_CARRIES];
		QUOIT_UNNAMED struct {
			uint32_t sq_first;
			uint32_t sq_tail;
		};
	};
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t cq_head;
	uint64_t reaped[QUOIT_NOTED];
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t cq_wait; /* 1: the client sleeps on the CQ tail */
	/* the client changes it to ask for one byte on the ring's socket at the next CQE */
	uint32_t arm;
	uint64_t last_reap; /* TSC */
	/*
	 * 1: the client's thread runs on its reactor's CPU and does not leave it: quoitd does not
	 * spin for it.
	 */
	uint32_t shares_cpu;
	/* of a ring with QUOIT_RING_CALLS: how many threads serve it, */
	uint32_t lanes;
	/* and how many functions of a service wait there, so that their threads may run others */
	uint32_t suspended;
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t submitted[QUOIT_NOTED];
	/*
	 * quoitd writes this one line of the client's pages, and never reads it; docs/decisions.md,
	 * D16, says why it lies here.
	 */
	QUOIT_UNNAMED union {
		QUOIT_ALIGNED(QUOIT_LINE) uint64_t cq[QUOIT_CQ_CARRIES];
		QUOIT_UNNAMED struct {
			uint32_t cq_first;
			uint32_t cq_tail; /* also the word that a client sleeps on */
		};
	};
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_client_words) == 5 * QUOIT_LINE, "a line each");
QUOIT_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "where a word's upper half is");

/* Beside SQE slot i: when the SQE was submitted and by which call site; with QUOIT_RING_STAMPS. */
struct quoit_note {
	uint64_t submit; /* TSC */
	uint32_t site;   /* index into the call-site table; 0: unknown */
	uint32_t reserved;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_note) == 16, "no padding in a note");

/* A place in the program that waited on this ring. */
#define QUOIT_MAX_SITES 64u
struct quoit_site {
	char name[40];  /* "file.c:123", ended by a NUL if shorter */
	uint64_t waits; /* how often the program slept or spun there */
	uint64_t ticks; /* how long in all, TSC ticks */
	uint64_t longest;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_site) == 64, "one line per site");

/*
 * What a service's function said when it failed.  A ring has the last few, in no order.
 */
#define QUOIT_RING_TEXTS 16u
struct quoit_call_text {
	uint64_t user_data;               /* of the call's job */
	char text[QUOIT_CALL_TEXT_BYTES]; /* ended by a NUL if shorter */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_call_text) == 128, "no padding in a text");

/* ---- pages that quoitd writes and never reads; libquoit maps them read-only ---- */

struct quoit_daemon_words {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t sq_head;
	QUOIT_ALIGNED(QUOIT_LINE)
	uint32_t need_wake; /* 1: the reactor sleeps; ring the doorbell after a submit */
	uint32_t tracing;  /* not 0: a recorder is at work (trace.h); changes with each allowance */
	uint32_t sampling; /* how rare samples are (sample.h) */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_daemon_words) == 2 * QUOIT_LINE, "a line each");

/*
 * Where things lie in the two parts of a ring's memory, in bytes from the start of each part: first
 * the pages that the client writes, then those that quoitd writes.  The words are at offset 0 of
 * each part.  Both sides compute the layout by themselves (quoit_ring_layout_of of ctl.h).
 */
struct quoit_ring_layout {
	uint32_t sq_entries; /* powers of two */
	uint32_t cq_entries;
	uint32_t client_bytes; /* of the client's part, whole pages */
	uint32_t sqes;         /* struct quoit_sqe[sq_entries] */
	uint32_t notes;        /* struct quoit_note[sq_entries] */
	uint32_t sites;        /* struct quoit_site[QUOIT_MAX_SITES] */
	uint32_t events;       /* struct quoit_ring_events (trace.h) */
	uint32_t daemon_bytes; /* of quoitd's part, whole pages */
	uint32_t cqes;         /* struct quoit_cqe[cq_entries] */
	uint32_t errors;       /* struct quoit_error[cq_entries] */
	uint32_t stamps;       /* struct quoit_stamps[cq_entries]; 0 without QUOIT_RING_STAMPS */
	uint32_t calls;        /* struct quoit_call_entry[cq_entries]; 0 without QUOIT_RING_CALLS */
	uint32_t results;      /* uint32_t[cq_entries]; 0 without QUOIT_RING_CALLS */
	uint32_t texts;        /* struct quoit_call_text[QUOIT_RING_TEXTS] */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_ring_layout) == 56, "no padding in a layout");

#endif
