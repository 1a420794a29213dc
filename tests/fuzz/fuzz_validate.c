/* SPDX-License-Identifier: MIT */
/*
 * fuzz_validate.c - give any SQEs to a session: accepted ones must be sound.
 *
 * The input is cut into chunks of an SQE's size.  Most are mended so far that they get past the
 * first checks (known handles, small dims); others stay as they are.  A view that is accepted must
 * lie in its buffer to the byte, and its description must be true.  A job that is accepted is run
 * on memory that ends where its buffers end, or belongs to the one device of its tensors, or is a
 * copy from one device to another.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cpu/backend_cpu.h"
#include "job/fast_elementwise.h"
#include "job/shape.h"
#include "job/tensor.h"
#include "ops/ops.h"
#include "ops/optable.h"
#include "session/kernels.h"
#include "session/session_team.h"

#define LEASE     (UINT64_C(4) << 20)
#define TENSORS   32u
#define SMALL     4096u  /* views with at most this many elements are checked one by one */
#define RUN_NS    20000u /* jobs that are predicted to take longer are not run */
#define RUN_BYTES (UINT64_C(256) << 10)

#define DEVICES      2u
#define FIRST_DEVICE 1u /* number of its executor */

/* Bits of a chunk's third byte (device), which only CREATE uses. */
#define MEND_NOTHING 0x80u
#define MEND_LESS    0x40u
#define MEND_ALIKE   0x20u
#define MEND_DEVICE  0x10u /* the CREATE is on the device that the last bit chooses */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct session *session;
static uint32_t generation[TENSORS];

#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "fuzz_validate: line %d: %s\n", __LINE__, #condition);     \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Each device has one kernel for every combination of four access letters. */
#define LETTERS "WMR-"
#define KERNELS 128u /* there are this many: number % KERNELS is one of them */

static void add_kernels(void)
{
	struct kernels_ask ask = {0};

	for (ask.of = 1; ask.of <= DEVICES; ask.of++) {
		ask.fd = dup(0);
		REQUIRE(kernels_add_image(session, &ask) == 0);
	}
	for (unsigned n = 0; n < KERNELS; n++) {
		ask.of = n % DEVICES;
		ask.desc = (struct quoit_kernel_desc){.args = n & 1};
		ask.desc.arg[0].kind = QUOIT_ARG_SCALAR;
		for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
			ask.desc.access[i] = LETTERS[n / DEVICES >> 2 * i & 3];
		REQUIRE(kernels_add_kernel(session, &ask) == 0 && ask.index == n);
		session->kernels->kernel[n].ready = true;
	}
}

/* A team on ring 0, which has a function for some combinations of letters. */
static struct ring team;

static char letter_of(unsigned function, unsigned tensor)
{
	return "WMRrw-"[(function * 7 + tensor * (1 + function / 6)) % 6];
}

static void add_functions(void)
{
	struct function_ask ask = {.name = "f"};

	team.session = session;
	team.team = team_new();
	REQUIRE(team.team != NULL);
	session->rings[0] = &team;
	session->ring_count = 1;
	for (unsigned n = 0; n < QUOIT_MAX_FUNCTIONS; n++) {
		ask.name[1] = (char)('!' + n);
		for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
			ask.access[i] = letter_of(n, i);
		REQUIRE(team_add(session, &ask) == 0 && ask.number == n);
	}
	ask.name[0] = 'g';
	REQUIRE(team_add(session, &ask) == -ENFILE);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const struct session_limits limits = {.host_bytes = LEASE,
					      .shared_bytes = 16 << 10,
					      .arena_bytes = (16 + 64) << 10,
					      .device_bytes = LEASE,
					      .devices = DEVICES,
					      .first_device = FIRST_DEVICE,
					      .device_job_ns = UINT64_C(7500000000),
					      .kernels = true,
					      .max_tensors = TENSORS,
					      .max_jobs = 64};
	struct ops_choice choice;

	(void)argc;
	(void)argv;
	optable_init();
	(void)ops_init("auto", &choice);
	REQUIRE(session_new(&limits, 1, &session) == 0);
	add_kernels();
	add_functions();
	return 0;
}

/* ---- views ---- */

static int64_t address(const struct view *v, const uint32_t at[QUOIT_MAX_DIMS], uint32_t element)
{
	__int128 sum = (__int128)v->offset;

	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
		sum += (__int128)at[d] * v->stride[d] * element;
	REQUIRE(sum >= 0 && sum < INT64_MAX);
	return (int64_t)sum;
}

/* The farthest elements are at corners, so if these lie inside, all do. */
static void check_corners(const struct view *v, uint64_t size, uint32_t element)
{
	uint64_t lo = UINT64_MAX, hi = 0;

	for (unsigned corner = 0; corner < 1u << QUOIT_MAX_DIMS; corner++) {
		uint32_t at[QUOIT_MAX_DIMS];
		uint64_t first;

		for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
			at[d] = corner >> d & 1 ? v->dim[d] - 1 : 0;
		first = (uint64_t)address(v, at, element);
		REQUIRE(first + element <= size);
		REQUIRE(first % element == 0);
		lo = first < lo ? first : lo;
		hi = first + element > hi ? first + element : hi;
	}
	REQUIRE(v->lo == lo);
	REQUIRE(v->hi == hi);
}

/* Check the view's description, element by element. */
static void check_claims(const struct view *v, uint32_t element)
{
	uint64_t span = (v->hi - v->lo) / element, used = 0, order = 0;
	bool disjoint = true, dense = true;
	uint8_t *seen = calloc(span, 1);
	uint32_t at[QUOIT_MAX_DIMS];

	for (at[0] = 0; at[0] < v->dim[0]; at[0]++)
		for (at[1] = 0; at[1] < v->dim[1]; at[1]++)
			for (at[2] = 0; at[2] < v->dim[2]; at[2]++)
				for (at[3] = 0; at[3] < v->dim[3]; at[3]++, order++) {
					uint64_t place =
						((uint64_t)address(v, at, element) - v->lo) /
						element;

					dense &= place == order && v->lo == v->offset;
					disjoint &= !seen[place];
					used += !seen[place];
					seen[place] = 1;
				}
	free(seen);
	REQUIRE(!v->writable || disjoint);
	REQUIRE(v->dense == dense);
	REQUIRE(!v->covers || used == span);
}

static void check_view(const struct view *v)
{
	uint64_t size = session->buffers[v->buffer].size, elements = 1;
	uint32_t element = op_dtype_size(v->dtype);

	REQUIRE(element);
	REQUIRE(v->lo <= v->hi);
	REQUIRE(v->hi <= size);
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
		elements *= v->dim[d];
	REQUIRE(v->elements == elements);
	if (!elements) {
		REQUIRE(v->lo == v->hi);
		return;
	}
	check_corners(v, size, element);
	if (elements <= SMALL && (v->hi - v->lo) / element <= 64 * SMALL)
		check_claims(v, element);
}

/* ---- jobs ---- */

/* Run the job on memory of its own, each buffer exactly as long as it says. */
static void run(const struct quoit_sqe *sqe, const struct plan *plan)
{
	const struct op_impl *impl = ops_find(sqe->opcode);
	uint8_t *memory[QUOIT_MAX_TENSORS_PER_JOB] = {NULL};
	struct op_args args;

	if (!impl)
		return;
	cpu_arguments(session, sqe, plan->tensors, plan->view, &args);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct view *v;
		unsigned j = 0;

		if (!(plan->tensors & 1u << i))
			continue;
		v = &session->views[plan->view[i]];
		while (j < i && !(plan->tensors & 1u << j &&
				  session->views[plan->view[j]].buffer == v->buffer))
			j++;
		memory[i] = j < i ? memory[j] : calloc(1, session->buffers[v->buffer].size);
		args.t[i].data = memory[i] + v->offset;
	}
	impl->run(&args, 0, 1);
	if (impl->finish)
		impl->finish(&args);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		for (unsigned j = 0; j < i; j++)
			if (memory[i] == memory[j])
				memory[i] = NULL;
		free(memory[i]);
	}
}

/* We do not compile the BLAS, so no sanitizer would notice that it reads too far. */
static void check_product(const struct quoit_sqe *sqe, const struct plan *plan)
{
	const struct view *c = &session->views[plan->view[0]], *a = &session->views[plan->view[1]],
			  *b = &session->views[plan->view[2]];
	unsigned ta = sqe->arg & QUOIT_GEMM_TRANS_A ? 1 : 0;
	unsigned tb = sqe->arg & QUOIT_GEMM_TRANS_B ? 1 : 0;

	REQUIRE(a->dim[2 + ta] == c->dim[2]);
	REQUIRE(a->dim[3 - ta] == b->dim[2 + tb]);
	REQUIRE(b->dim[3 - tb] == c->dim[3]);
}

/* A kernel has the tensors that it was registered with, on its device, and no others. */
static void check_launch(const struct quoit_sqe *sqe, const struct plan *plan)
{
	REQUIRE(sqe->arg < KERNELS);
	REQUIRE(plan->executor == FIRST_DEVICE + sqe->arg % DEVICES);
	REQUIRE(plan->on_device == plan->tensors);
	REQUIRE(!sqe->scalar[1] && (!sqe->scalar[0] || sqe->arg & 1));
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		char letter = LETTERS[sqe->arg / DEVICES >> 2 * i & 3];

		REQUIRE(!(plan->tensors & 1u << i) == (letter == '-'));
		REQUIRE(!(plan->reads & 1u << i) == (letter == '-' || letter == 'W'));
		REQUIRE(!(plan->writes & 1u << i) == (letter == '-' || letter == 'R'));
	}
}

/* A function has the tensors that it was entered with, where the program can reach them. */
static void check_call(const struct quoit_sqe *sqe, const struct plan *plan)
{
	REQUIRE(!sqe->team && sqe->function < QUOIT_MAX_FUNCTIONS);
	REQUIRE(!plan->cost && !plan->piece && plan->executor == NO_EXECUTOR);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const char letter = letter_of(sqe->function, i);
		const bool given = plan->tensors >> i & 1;

		REQUIRE(!given || letter != '-');
		REQUIRE(given || !strchr("WMR", letter));
		REQUIRE((plan->reads >> i & 1) == (given && strchr("MRr", letter)));
		REQUIRE((plan->writes >> i & 1) == (given && strchr("WMw", letter)));
		REQUIRE(!given || session->buffers[plan->t[i]->buffer].place == PLACE_ARENA);
	}
}

/* The place that runs the job can reach all its tensors. */
static void check_place(const struct quoit_sqe *sqe, const struct plan *plan)
{
	bool there = plan->executor != NO_EXECUTOR, across = plan->executor == BRIDGE_EXECUTOR;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct view *v = &session->views[plan->view[i]];

		if (!(plan->tensors & 1u << i))
			continue;
		REQUIRE(v->device == session->buffers[v->buffer].device);
		REQUIRE(!v->device == !(plan->on_device & 1u << i));
		REQUIRE(there || !v->device || sqe->opcode == QUOIT_OP_NOP);
		REQUIRE(!there || across || v->device == plan->executor - FIRST_DEVICE + 1 ||
			(sqe->opcode == QUOIT_OP_COPY && !v->device));
		if (across || (there && plan->on_device != plan->tensors))
			REQUIRE(v->dense && v->elements == plan->t[0]->elements &&
				v->dtype == plan->t[0]->dtype);
	}
	REQUIRE(!there || plan->on_device || sqe->opcode == QUOIT_OP_LAUNCH);
	REQUIRE(!across || (sqe->opcode == QUOIT_OP_COPY && plan->t[0]->device &&
			    plan->t[1]->device && plan->t[0]->device != plan->t[1]->device));
}

static void check_plan(const struct quoit_sqe *sqe, const struct plan *plan)
{
	uint64_t bytes = 0;

	REQUIRE(!((plan->reads | plan->writes) & ~plan->tensors));
	REQUIRE(plan->cost <= VALIDATE_MAX_NS);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		if (!(plan->tensors & 1u << i))
			continue;
		REQUIRE(plan->view[i] < session->views_used);
		REQUIRE(session->views[plan->view[i]].refs);
		REQUIRE(session_view(session, sqe->tensor[i]) == plan->view[i]);
		REQUIRE(!(plan->writes & 1u << i) || session->views[plan->view[i]].writable);
		bytes += session->buffers[session->views[plan->view[i]].buffer].size;
	}
	if (sqe->opcode == QUOIT_OP_GEMM)
		check_product(sqe, plan);
	if (sqe->opcode == QUOIT_OP_LAUNCH)
		check_launch(sqe, plan);
	if (plan->row->flags & OP_CALL)
		check_call(sqe, plan);
	REQUIRE(!(plan->row->flags & OP_RETURN));
	if (plan->row->flags & OP_ACQUIRE) {
		REQUIRE(session->buffers[plan->t[0]->buffer].fixed == FIXED_SHARED);
		REQUIRE(!(sqe->flags & QUOIT_SQE_QUIET));
	}
	check_place(sqe, plan);
	if (!plan->on_device && plan->executor == NO_EXECUTOR && plan->cost <= RUN_NS &&
	    plan->elements <= SMALL && bytes <= RUN_BYTES)
		run(sqe, plan);
}

/* For a refused job validate_outputs finds its existing outputs, and nothing else. */
static void check_outputs(const struct quoit_sqe *sqe)
{
	struct plan plan;

	validate_outputs(session, sqe, &plan);
	REQUIRE(plan.refused && !plan.reads && plan.writes == plan.tensors);
	REQUIRE(!plan.on_device && plan.executor == NO_EXECUTOR && !plan.cost);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (plan.writes & 1u << i)
			REQUIRE(session_view(session, sqe->tensor[i]) == plan.view[i] &&
				plan.t[i] == &session->views[plan.view[i]]);
}

/*
 * A job that the fast path accepts must also be accepted by the slow path, with the same meaning.
 */
static void check_small(const struct quoit_sqe *sqe)
{
	struct fast_elementwise_job job;
	struct fault fault;
	struct plan plan;

	if (!fast_elementwise_fits(session, sqe, &job))
		return;
	REQUIRE(!(sqe->flags & ~(QUOIT_SQE_QUIET | QUOIT_SQE_INT)));
	REQUIRE(validate_job(session, sqe, &plan, &fault) == 0);
	REQUIRE(plan.writes == 1 && plan.reads == (plan.tensors & ~1u));
	for (unsigned i = 0; i < OP_SHORT_TENSORS; i++)
		REQUIRE(job.t[i] == plan.t[i]);
	REQUIRE(!plan.t[3] && !plan.on_device);
	REQUIRE(plan.elements == job.t[0]->elements && plan.elements <= OP_SHORT);
}

/* ---- the grammar ---- */

static uint32_t known_handle(uint32_t word)
{
	uint32_t index = word % TENSORS;

	return session->tensors[index].handle;
}

static void mend_new_handle(struct quoit_sqe *sqe)
{
	uint32_t index = 1 + sqe->base[0] % (TENSORS - 1);

	sqe->base[0] = (++generation[index] & 0xfff) << QUOIT_HANDLE_INDEX_BITS | index;
}

static void mend_shape(struct quoit_sqe *sqe)
{
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		if (!(sqe->dim[d] & 0x80)) /* small dims, so that tensors often fit together */
			sqe->dim[d] = d < 2 ? 1 + (sqe->dim[d] % 8 == 0) : sqe->dim[d] % 4;
		if (!(sqe->stride[d] & 0x80))
			sqe->stride[d] = sqe->stride[d] % 32 - 8;
	}
	if (sqe->dim[0] & 1) /* dense, like most views */
		memset(sqe->stride, 0, sizeof sqe->stride);
	sqe->offset &=
		sqe->opcode == QUOIT_OP_CREATE && !(sqe->arg & QUOIT_CREATE_ARENA) ? 0 : 0x3fe;
}

/* Another tensor with this one's type and dims; any, if there is none. */
static uint32_t alike_handle(uint32_t word, uint32_t like)
{
	uint32_t view = session_view(session, like);

	for (uint32_t k = 0; view != NIL && k < TENSORS; k++) {
		uint32_t handle = known_handle(word + k), other = session_view(session, handle);

		if (other != NIL && other != view &&
		    shape_same_dims(&session->views[other], &session->views[view]) &&
		    session->views[other].dtype == session->views[view].dtype)
			return handle;
	}
	return known_handle(word);
}

/* A tensor on this device; any, if there is none. */
static uint32_t handle_on(uint32_t word, uint8_t device)
{
	for (uint32_t k = 0; k < TENSORS; k++) {
		uint32_t handle = known_handle(word + k), view = session_view(session, handle);

		if (view != NIL && session->views[view].device == device)
			return handle;
	}
	return known_handle(word);
}

/* Name an existing kernel with as many tensors as it has: all on its device, or one elsewhere. */
static void mend_launch(struct quoit_sqe *sqe, bool there)
{
	const struct kernel *k;

	sqe->arg %= KERNELS;
	k = kernels_find(session, sqe->arg);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (!(k->row.takes & 1u << i))
			sqe->tensor[i] = 0;
		else if (there || i != sqe->arg % QUOIT_MAX_TENSORS_PER_JOB)
			sqe->tensor[i] = handle_on(sqe->tensor[i], kernels_device(session, k));
	sqe->scalar[1] = 0;
	if (!k->scalars)
		sqe->scalar[0] = 0;
}

/* Name an existing function with as many tensors as it has. */
static void mend_call(struct quoit_sqe *sqe)
{
	sqe->team = 0;
	sqe->function %= QUOIT_MAX_FUNCTIONS;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (letter_of(sqe->function, i) == '-')
			sqe->tensor[i] = 0;
}

static void mend_job(struct quoit_sqe *sqe, bool alike)
{
	const struct op_row *row = optable_find(sqe->opcode);

	for (unsigned i = 0; row && i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		sqe->tensor[i] = row->access[i] == '-' ? 0
				 : i && alike ? alike_handle(sqe->tensor[i], sqe->tensor[0])
					      : known_handle(sqe->tensor[i]);
	if (alike && sqe->arg & QUOIT_EW_SCALAR)
		sqe->tensor[2] = 0;
	if (row && row->flags & (OP_ACQUIRE | OP_RELEASE)) {
		sqe->arg = 0;
		sqe->scalar[1] = 0;
		sqe->scalar[0] = row->flags & OP_RELEASE ? (uint32_t)sqe->scalar[0] : 0;
	}
	if (row && row->flags & OP_LAUNCH)
		mend_launch(sqe, alike);
	else if (row && row->shape != SHAPE_PERM && sqe->arg != QUOIT_AXIS_ALL)
		sqe->arg &= row->shape == SHAPE_GEMM ? 7 : 3;
	sqe->flags &= QUOIT_SQE_QUIET | QUOIT_SQE_INT;
	sqe->link = 0;
	sqe->priority %= QUOIT_PRIO_NR;
	memset(sqe->reserved, 0, sizeof sqe->reserved);
	if (row && row->flags & OP_CALL)
		mend_call(sqe);
	else
		sqe->function = sqe->team = 0;
	sqe->event_ring = 0;
	if (row && row->flags & OP_RELEASE)
		sqe->deadline = sqe->priority = 0;
}

static void mend(struct quoit_sqe *sqe)
{
	uint8_t how = sqe->device;

	if (how & MEND_NOTHING)
		return;
	sqe->device = 0;
	sqe->reserved0 = 0;
	if (sqe->opcode > QUOIT_OP_FREE && !optable_row(sqe->opcode)->impl &&
	    !(optable_row(sqe->opcode)->flags & (OP_ACQUIRE | OP_RELEASE | OP_CALL)))
		sqe->opcode = sqe->opcode & 1 ? QUOIT_OP_LAUNCH : (uint8_t)(1 + sqe->opcode % 3);
	if (sqe->opcode == QUOIT_OP_CREATE || sqe->opcode == QUOIT_OP_VIEW) {
		mend_shape(sqe);
		mend_new_handle(sqe);
		if (sqe->opcode == QUOIT_OP_VIEW) {
			sqe->base[1] = known_handle(sqe->base[1]);
			sqe->arg = 0;
		} else {
			sqe->base[1] = 0;
			sqe->device = how & MEND_DEVICE ? 1 + (how & 1) : 0;
			sqe->arg =
				(sqe->arg & QUOIT_CREATE_DTYPE_MASK) % QUOIT_DTYPE_NR |
				(sqe->device                      ? 0
				 : sqe->arg & QUOIT_CREATE_SHARED ? QUOIT_CREATE_SHARED
								  : sqe->arg & QUOIT_CREATE_ARENA);
		}
		sqe->flags &= QUOIT_SQE_QUIET;
	} else if (sqe->opcode == QUOIT_OP_FREE) {
		*sqe = (struct quoit_sqe){.opcode = QUOIT_OP_FREE,
					  .base = {known_handle(sqe->base[0])}};
	} else if (!(how & MEND_LESS)) {
		mend_job(sqe, how & MEND_ALIKE);
	}
}

static struct buffer *buffer_of(uint32_t handle)
{
	return &session->buffers[session->views[session_view(session, handle)].buffer];
}

static void feed(const struct quoit_sqe *sqe)
{
	struct fault fault = {0};
	struct plan plan;
	int err;

	if (optable_row(sqe->opcode)->flags & OP_CONTROL) {
		err = sqe->opcode == QUOIT_OP_CREATE ? tensor_create(session, sqe, &fault)
		      : sqe->opcode == QUOIT_OP_VIEW ? tensor_view(session, sqe, &fault)
						     : tensor_free(session, sqe, &fault);
		if (!err && sqe->opcode != QUOIT_OP_FREE)
			check_view(&session->views[session_view(session, sqe->base[0])]);
		if (!err && sqe->opcode == QUOIT_OP_CREATE) /* as if it had been written once */
			buffer_of(sqe->base[0])->zeroed = true;
	} else {
		check_small(sqe);
		err = validate_job(session, sqe, &plan, &fault);
		if (!err)
			check_plan(sqe, &plan);
		else
			check_outputs(sqe);
	}
	REQUIRE(err <= 0);
	REQUIRE(!err || fault.code == err);
	REQUIRE(!err || (fault.field && fault.field < QUOIT_FIELD_NR));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	memset(generation, 0, sizeof generation);
	for (; size >= sizeof(struct quoit_sqe); size -= sizeof(struct quoit_sqe)) {
		struct quoit_sqe sqe;

		memcpy(&sqe, data, sizeof sqe);
		data += sizeof sqe;
		mend(&sqe);
		feed(&sqe);
	}
	for (uint32_t i = 0; i < TENSORS; i++)
		if (session->tensors[i].handle)
			feed(&(struct quoit_sqe){.opcode = QUOIT_OP_FREE,
						 .base = {session->tensors[i].handle}});
	REQUIRE(session->tensors_alive == 0);
	REQUIRE(session->memory.used == session->memory.fixed);
	return 0;
}
