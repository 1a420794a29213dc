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
 * What C99 or C++ lacks of C11 gcc and clang have as extensions; __extension__ keeps -Wpedantic
 * silent about them.
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
#define QUOIT_UNNAMED __extension__ /* before a struct or union without a name in another one */

#define QUOIT_ABI_VERSION 5u

/* The cache line that words of different writers keep apart by. */
#define QUOIT_LINE 64

/* ---- limits of the ABI (a session's own limits come with hello) ---- */

#define QUOIT_MAX_DIMS            4 /* every tensor has four; missing leading ones are 1 */
#define QUOIT_MAX_TENSORS_PER_JOB 4
#define QUOIT_MIN_ENTRIES         8u /* of an SQ; a power of two */
#define QUOIT_MAX_ENTRIES         32768u
#define QUOIT_MAX_RINGS           64u /* of one session */
#define QUOIT_MAX_FILES           64u /* registered by one session */

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
	QUOIT_BF16 = 4, /* bfloat16; half.h converts.  ops.def says what knows these two: */
	QUOIT_F16 = 5,  /* IEEE binary16; all else is -ENOTSUP */
	QUOIT_DTYPE_NR,
	/* Kept for complex elements of two f32 or f64: -ENOTSUP. */
	QUOIT_C64 = QUOIT_DTYPE_NR,
	QUOIT_C128,
};

/* ---- operations ---- */

/* QUOIT_OP_NOP, QUOIT_OP_CREATE, ...: one per row of ops.def. */
enum quoit_opcode {
#define QUOIT_OP(nr, NAME, name, access, shape, types, cost, flags, help) QUOIT_OP_##NAME = nr,
#include <quoit/ops.def>
#undef QUOIT_OP
};

/* Kept for what is to come: -ENOTSUP. */
#define QUOIT_OP_SORT    16
#define QUOIT_OP_SCATTER 17

/* Operations of plug-in modules have the numbers from here to 254. */
#define QUOIT_OP_MODULE_FIRST 192
#define QUOIT_OP_MODULE_LAST  254
#define QUOIT_OP_NR           256

/* ---- submission queue entry ---- */

/* sqe.flags */
#define QUOIT_SQE_QUIET     0x01u /* no CQE when the job succeeds */
#define QUOIT_SQE_AFTER_ALL 0x02u /* NOP only: starts when all before it in its ring are done */
#define QUOIT_SQE_LINK      0x04u /* sqe.link says which earlier job must be done first */
#define QUOIT_SQE_INT       0x08u /* the scalars are integers (int64_t), not doubles */
#define QUOIT_SQE_FLAGS     0x0fu /* all that are defined */

/* sqe.priority */
enum quoit_priority {
	QUOIT_PRIO_NORMAL = 0,
	QUOIT_PRIO_HIGH = 1,
	QUOIT_PRIO_LOW = 2,
	QUOIT_PRIO_NR,
};

/* sqe.arg of CREATE: the type in the low four bits, and */
#define QUOIT_CREATE_DTYPE_MASK 0x0fu
#define QUOIT_CREATE_PINNED     0x10u /* bytes from the pinned region */
#define QUOIT_CREATE_ARENA      0x20u /* bytes are the client's, sqe.offset bytes into its arena */

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

/* sqe.arg of reductions, ROLL and GATHER: an axis 0..3 of the four dims, or all of them */
#define QUOIT_AXIS_ALL 0xffu

/* sqe.arg of TRANSPOSE: out.dim[i] = in.dim[(arg >> 2 * i) & 3] */
#define QUOIT_PERM(a, b, c, d) ((uint8_t)((a) | (b) << 2 | (c) << 4 | (d) << 6))

/*
 * 64 bytes.  tensor[0] is the output where there is one.  A scalar is the bits
 * of a double for floating-point tensors and of an int64_t for integer ones,
 * unless ops.def says otherwise.  Where both can be (FILL, the operations of two
 * inputs, AXPBY, COMPARE) QUOIT_SQE_INT says that they are integers; a scalar of
 * the other kind than the tensors is -EINVAL.  Elsewhere the flag must not be set.
 *
 * CREATE and VIEW use the words from tensor[2] on for the shape: dims, strides
 * in elements, and an offset in bytes (CREATE: into the arena with
 * QUOIT_CREATE_ARENA, else zero; VIEW: from the first element of tensor[1], modulo
 * 2^64, so that a view can begin before it).
 * All four strides zero means dense, row by row.
 */
struct quoit_sqe {
	uint8_t opcode;     /* enum quoit_opcode */
	uint8_t flags;      /* QUOIT_SQE_* */
	uint8_t device;     /* CREATE: where the bytes live: 0 the host, n device n - 1; else 0 */
	uint8_t arg;        /* by operation, above */
	uint32_t reserved0; /* zero */
	uint64_t user_data; /* returned unchanged in the CQE */
	QUOIT_UNNAMED union {
		QUOIT_UNNAMED struct {
			uint32_t tensor[QUOIT_MAX_TENSORS_PER_JOB];
			uint32_t deadline; /* microseconds after fetch; 0: none */
			uint32_t link; /* with QUOIT_SQE_LINK: how many SQEs back on this ring */
			uint64_t scalar[2];
			uint8_t priority; /* enum quoit_priority */
			uint8_t reserved[7];
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

/* cqe.flags */
#define QUOIT_CQE_ERROR 0x1u /* the error record of this slot belongs to this CQE */

/* res: 0 or what the operation counts (FILE_READ, FILE_WRITE: bytes), else -errno or -QUOIT_E*. */
struct quoit_cqe {
	uint64_t user_data;
	int32_t res;
	uint32_t flags; /* QUOIT_CQE_* */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_cqe) == 16, "a CQE is 16 bytes");

/* ---- errors of our own, beside errno ---- */

enum quoit_errno {
	QUOIT_EPOISON = 4096,   /* reads what a failed job should have written (see cause) */
	QUOIT_EGPUFAULT = 4097, /* the device faulted while the job was on it */
	QUOIT_EDEVLOST = 4098,  /* the device is gone, and with it the bytes */
	QUOIT_EEXEC = 4099,     /* the executor process died with the job in flight */
};

/* The part of an SQE that an error is about: quoit_error.field. */
enum quoit_field {
	QUOIT_FIELD_NONE = 0,
	QUOIT_FIELD_OPCODE,
	QUOIT_FIELD_FLAGS,
	QUOIT_FIELD_DEVICE, /* of a fault, values: the device, enum quoit_fault */
	QUOIT_FIELD_ARG,
	QUOIT_FIELD_TENSOR0 = 6, /* 5 was of version 2; of -EINVAL and -ENOTSUP, values: enum
				    quoit_misfit; of -EBADF: the handle, and what its index is
				    below; of -EXDEV: where it is, and where it would have to be */
	QUOIT_FIELD_TENSOR1,
	QUOIT_FIELD_TENSOR2,
	QUOIT_FIELD_TENSOR3,
	QUOIT_FIELD_DEADLINE, /* of -ETIME: the milliseconds that any job may run, 0: its own time
			       */
	QUOIT_FIELD_LINK,
	QUOIT_FIELD_SCALAR0,
	QUOIT_FIELD_SCALAR1,
	QUOIT_FIELD_PRIORITY,
	QUOIT_FIELD_RESERVED,
	QUOIT_FIELD_DIM,
	QUOIT_FIELD_STRIDE, /* of a job, values: which of its tensors lies so that it cannot be used
			     */
	QUOIT_FIELD_OFFSET,
	QUOIT_FIELD_MEMORY, /* values: bytes needed, bytes of the lease that are left (0: enough
			       are, but not to be had) */
	QUOIT_FIELD_FILE,
	QUOIT_FIELD_EXECUTOR,    /* values: its pid, how it ended (waitpid's status); or 0, there is
				    none to run on, and its device (0: a module's) */
	QUOIT_FIELD_SCALAR_KIND, /* values: 1: integers, 0: doubles; the type (enum quoit_dtype) of
				    the tensors that they are for */
	QUOIT_FIELD_NR,
};

/*
 * Why a tensor cannot be operand of an operation: value[0] of its error record.  Operations of
 * modules have words of their own.
 */
enum quoit_misfit {
	QUOIT_MISFIT_DIM = 0, /* + 0 to 3, which; value[1]: that dim, and above its 32 bits the one
				 that is allowed */
	QUOIT_MISFIT_DIM_OR_1 = 0x10, /* the same, and 1 is allowed as well, which is broadcast */
	QUOIT_MISFIT_TYPE = 0x100, /* + its enum quoit_dtype; value[1]: QUOIT_MISFIT_TYPE + what it
			  would have to be; with -ENOTSUP a bit for each that it may be */
	QUOIT_MISFIT_OVERLAP = 0x200, /* + 0 to 3: with that tensor of the job */
	QUOIT_MISFIT_UNUSED = 0x300,  /* the operation, with its arg, takes none there; */
	QUOIT_MISFIT_ABSENT = 0x400,  /* it takes one */
	QUOIT_MISFIT_PLACE = 0x500,   /* + the device where it is: the operation is the host's */
	QUOIT_MISFIT_SIZE = 0x600, /* a copy between places is of dense tensors alike; value[1]: its
				      elements */
};

/* Whose doing it was that a device faulted. */
enum quoit_fault {
	QUOIT_FAULT_UNKNOWN = 0,
	QUOIT_FAULT_OWN = 1,
	QUOIT_FAULT_OTHER = 2,
};

/* Error record i belongs to CQ slot i and is valid until that CQE is released. */
struct quoit_error {
	uint64_t user_data; /* of the failed job */
	uint64_t cause; /* user_data of the job that failed first; the same when that is this one */
	uint64_t value[2]; /* what was found and what was allowed, by field */
	int32_t code;      /* the first cause's -errno or -QUOIT_E* */
	uint8_t opcode;    /* the first cause's operation */
	uint8_t field;     /* enum quoit_field */
	uint16_t ring;     /* the first cause's ring in its session */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_error) == 40, "no padding in an error record");

/* Times of a job as TSC ticks (hello's reply has their rate); an array indexed like the CQ. */
struct quoit_stamps {
	uint64_t submit; /* the client's own word, copied */
	uint64_t fetch;
	uint64_t start;
	uint64_t end;
	uint64_t post;
	uint64_t device_start; /* on a device, by its own clock; else 0 */
	uint64_t device_end;
	uint64_t device_error; /* how far these two may be off */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_stamps) == 64, "one line per job");

/* ---- pages that the client writes and quoitd reads ---- */

/* When samples (sample.h) were submitted and reaped: the latter beside the index that changes then.
 */
#define QUOIT_NOTED 7u

/*
 * Words of a tail's line (ring.h), the upper half of whose first is the tail: an SQE; a CQE as its
 * flags, user_data and res.
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
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t cq_wait; /* 1: sleeps on the CQ tail */
	uint32_t arm; /* changed at every arm: one byte on the ring's socket at the next CQE */
	uint64_t last_reap; /* TSC */
	/* 1: it runs on its reactor's CPU and does not leave it: quoitd does not spin for it. */
	uint32_t shares_cpu;
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t submitted[QUOIT_NOTED];
	/*
	 * The one line of these pages that quoitd writes; it never reads it.  Why it is here:
	 * docs/decisions.md, D16.
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

/* Beside SQE slot i: when it was submitted and by which call site; with QUOIT_RING_STAMPS. */
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
	uint64_t waits; /* how often it slept or spun */
	uint64_t ticks; /* for how long in all, TSC */
	uint64_t longest;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_site) == 64, "one line per site");

/* ---- pages that quoitd writes, and reads nothing of; libquoit maps them for reading only ---- */

struct quoit_daemon_words {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t sq_head;
	QUOIT_ALIGNED(QUOIT_LINE)
	uint32_t need_wake; /* 1: the reactor sleeps; ring the doorbell after a submit */
	uint32_t tracing;   /* not 0: somebody records (trace.h); changed for each allowance */
	uint32_t sampling;  /* how rare samples are (sample.h) */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_daemon_words) == 2 * QUOIT_LINE, "a line each");

/*
 * Where things lie in the two parts of a ring's memory, in bytes from their starts: first the
 * pages that the client writes, behind them those that quoitd writes.  The words are at offset 0
 * of each.  Both sides reckon it by themselves (quoit_ring_layout_of of ctl.h).
 */
struct quoit_ring_layout {
	uint32_t sq_entries; /* powers of two */
	uint32_t cq_entries;
	uint32_t client_bytes; /* of the part, whole pages */
	uint32_t sqes;         /* struct quoit_sqe[sq_entries] */
	uint32_t notes;        /* struct quoit_note[sq_entries] */
	uint32_t sites;        /* struct quoit_site[QUOIT_MAX_SITES] */
	uint32_t events;       /* struct quoit_ring_events (trace.h) */
	uint32_t daemon_bytes; /* of the part, whole pages */
	uint32_t cqes;         /* struct quoit_cqe[cq_entries] */
	uint32_t errors;       /* struct quoit_error[cq_entries] */
	uint32_t stamps;       /* struct quoit_stamps[cq_entries]; 0 without QUOIT_RING_STAMPS */
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_ring_layout) == 44, "no padding in a layout");

#endif
