/* SPDX-License-Identifier: MIT */
/*
 * block.c - run the threads of a block as coroutines of the host thread that runs their stream.
 *
 * A coroutine runs one thread after the other; another coroutine is needed only when a thread waits
 * at a barrier.  Which thread begins, and which goes on after a barrier, is random: code that needs
 * an order must ask for it.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "emulator.h"

#define STACK_BYTES ((size_t)128 << 10)
#define WARPS       (EMULATOR_BLOCK_THREADS / EMULATOR_WARP)

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

struct coroutine {
	jmp_buf here;
	ucontext_t first;
	char *stack;
	bool begun;
	unsigned thread; /* the thread that it runs */
};

/* Coroutines that wait for each other: at a block's barrier, or a warp's. */
struct meeting {
	unsigned expected, arrived;
	struct coroutine *waits[EMULATOR_BLOCK_THREADS];
};

/* Words of two exchanges, which suffice: no thread can be two exchanges ahead of another. */
struct warp {
	unsigned arrived;
	struct coroutine *waits[EMULATOR_WARP];
	uint64_t word[2][EMULATOR_WARP];
	unsigned turn;
};

/* The block of a host thread; parts are kept for the next block. */
struct block {
	const struct emulator_grid *grid;
	unsigned threads, begun, ended;
	unsigned stride, offset; /* the order in which threads begin */
	struct coroutine all[EMULATOR_BLOCK_THREADS];
	struct coroutine *idle[EMULATOR_BLOCK_THREADS], *ready[EMULATOR_BLOCK_THREADS];
	unsigned idles, readies;
	struct meeting barrier;
	struct warp warp[WARPS];
	struct coroutine *now;
	jmp_buf scheduler;
	sigjmp_buf fault;
	bool runs;
	uint64_t random;
};

static __thread struct block *block;

static unsigned draw(struct block *b, unsigned below)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return (unsigned)(b->random >> 33) % below;
}

static void place(const struct block *b, unsigned thread)
{
	const dim3 *d = &b->grid->block;

	threadIdx.x = thread % d->x;
	threadIdx.y = thread / d->x % d->y;
	threadIdx.z = thread / d->x / d->y;
}

/* ---- meetings ---- */

/* Return to the scheduler until this coroutine is made ready. */
static void leave(struct block *b)
{
	struct coroutine *self = b->now;

	if (!_setjmp(self->here))
		_longjmp(b->scheduler, 1);
	place(b, self->thread);
}

static void release(struct block *b, struct coroutine **waits, unsigned *arrived)
{
	for (unsigned i = 0; i < *arrived; i++)
		b->ready[b->readies++] = waits[i];
	*arrived = 0;
}

static void meet(struct block *b, struct coroutine **waits, unsigned *arrived, unsigned expected)
{
	waits[(*arrived)++] = b->now;
	if (*arrived == expected)
		release(b, waits, arrived);
	leave(b);
}

void emulator_barrier(void)
{
	struct block *b = block;

	meet(b, b->barrier.waits, &b->barrier.arrived, b->barrier.expected);
}

unsigned emulator_lane(void)
{
	return block->now->thread % EMULATOR_WARP;
}

/*
 * All threads of a warp exchange, or none: if one has ended, the others wait for ever, and the
 * emulator reports that.
 */
static const uint64_t *exchange(uint64_t value)
{
	struct block *b = block;
	struct warp *w = &b->warp[b->now->thread / EMULATOR_WARP];
	const unsigned turn = w->turn;

	w->word[turn][emulator_lane()] = value;
	if (w->arrived + 1 == EMULATOR_WARP)
		w->turn ^= 1;
	meet(b, w->waits, &w->arrived, EMULATOR_WARP);
	return w->word[turn];
}

uint64_t emulator_shuffle(uint64_t value, unsigned from)
{
	return exchange(value)[from];
}

uint32_t emulator_ballot(bool value)
{
	const uint64_t *word = exchange(value);
	uint32_t bits = 0;

	for (unsigned i = 0; i < EMULATOR_WARP; i++)
		bits |= (uint32_t)word[i] << i;
	return bits;
}

/* ---- coroutines ---- */

/* A barrier waits only for threads that have not ended. */
static void end_thread(struct block *b)
{
	b->ended++;
	b->barrier.expected--;
	if (b->barrier.arrived && b->barrier.arrived == b->barrier.expected)
		release(b, b->barrier.waits, &b->barrier.arrived);
}

static void coroutine_run(void)
{
	for (;;) {
		struct block *b = block;
		struct coroutine *self = b->now;

		while (b->begun < b->threads) {
			self->thread = (unsigned)(((uint64_t)b->begun++ * b->stride + b->offset) %
						  b->threads);
			place(b, self->thread);
			b->grid->thread(b->grid->args);
			end_thread(b);
		}
		b->idle[b->idles++] = self;
		if (!_setjmp(self->here))
			_longjmp(b->scheduler, 1);
	}
}

static void resume(struct block *b, struct coroutine *c)
{
	b->now = c;
	if (_setjmp(b->scheduler))
		return;
	if (c->begun)
		_longjmp(c->here, 1);
	c->begun = true;
	getcontext(&c->first);
	c->first.uc_stack.ss_sp = c->stack;
	c->first.uc_stack.ss_size = STACK_BYTES;
	c->first.uc_link = NULL;
	makecontext(&c->first, coroutine_run, 0);
	setcontext(&c->first);
}

/* ---- blocks ---- */

/*
 * An odd stride reaches every thread if their number is a power of two; otherwise the stride is 1.
 */
static void order(struct block *b)
{
	const bool power = (b->threads & (b->threads - 1)) == 0;

	b->stride = power ? draw(b, b->threads) | 1 : 1;
	b->offset = draw(b, b->threads);
}

static void run_block(struct block *b)
{
	b->begun = b->ended = b->readies = 0;
	b->barrier.expected = b->threads;
	b->barrier.arrived = 0;
	for (unsigned i = 0; i < WARPS; i++)
		b->warp[i].arrived = 0;
	order(b);
	for (;;) {
		if (b->readies) {
			const unsigned which = draw(b, b->readies);
			struct coroutine *c = b->ready[which];

			b->ready[which] = b->ready[--b->readies];
			resume(b, c);
		} else if (b->begun < b->threads) {
			resume(b, b->idle[--b->idles]);
		} else {
			break;
		}
	}
	if (b->ended < b->threads)
		emulator_refuse("%u of %u threads wait for others for ever", b->threads - b->ended,
				b->threads);
}

static void on_fault(int signal)
{
	if (block && block->runs)
		siglongjmp(block->fault, 1);
	(void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void forget_coroutines(struct block *b)
{
	b->idles = 0;
	for (unsigned i = EMULATOR_BLOCK_THREADS; i-- > 0;) {
		b->all[i].begun = false;
		b->idle[b->idles++] = &b->all[i];
	}
}

static struct block *make(void)
{
	struct block *b = calloc(1, sizeof *b);
	char *stacks = mmap(NULL, EMULATOR_BLOCK_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!b || stacks == MAP_FAILED)
		emulator_refuse("no memory for a block");
	for (unsigned i = 0; i < EMULATOR_BLOCK_THREADS; i++)
		b->all[i].stack = stacks + i * STACK_BYTES;
	forget_coroutines(b);
	b->random = (uintptr_t)b | 1;
	(void)sigaction(SIGSEGV,
			&(struct sigaction){.sa_handler = on_fault, .sa_flags = SA_NODEFER}, NULL);
	(void)sigaction(SIGBUS, &(struct sigaction){.sa_handler = on_fault, .sa_flags = SA_NODEFER},
			NULL);
	return b;
}

void emulator_leave(void)
{
	if (block)
		(void)munmap(block->all[0].stack, EMULATOR_BLOCK_THREADS * STACK_BYTES);
	free(block);
	block = NULL;
}

cudaError_t emulator_run(const struct emulator_grid *grid)
{
	struct block *b;

	if (!block)
		block = make();
	b = block;
	b->grid = grid;
	b->threads = grid->block.x * grid->block.y * grid->block.z;
	blockDim = grid->block;
	gridDim = grid->grid;
	if (sigsetjmp(b->fault, 1)) {
		b->runs = false;
		forget_coroutines(b);
		return cudaErrorIllegalAddress;
	}
	b->runs = true;
	for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
		for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
			for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
				run_block(b);
	b->runs = false;
	return cudaSuccess;
}
