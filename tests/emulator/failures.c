/* SPDX-License-Identifier: MIT */
/*
 * failures.c - let each call of CUDA's runtime fail once: does folder cuda/ report it, and leave
 * nothing behind?
 *
 * Usage: failures DRIVER [STEP], with the emulator's driver.  A program uses all of the driver.
 * Each call that it makes of the runtime, or one in STEP, fails once for want of memory, once for
 * an unknown reason, and once as if the device had broken.  Each time is a process of its own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/device.h>
#include <quoit/direct.h>

#include "emulator.h"

#define BYTES  ((size_t)1 << 20)
#define SIDE   100u
#define CALLS  2000u
#define LOOKS  100000000u
#define DONE   3 /* exit status: there was no n-th call */
#define MATRIX (SIDE * SIDE * sizeof(float))

static const char ptx[] = ".version 6.4\n.visible .entry scale(...)\n";

static const struct quoit_device_driver *driver;
static int first; /* the first error */
static bool lied; /* a call succeeded after a sticky error */

static bool is_sticky(int err)
{
	return err == -QUOIT_EGPUFAULT || err == -QUOIT_EDEVLOST;
}

/* Count a result; true: go on. */
static bool good(int result)
{
	if (is_sticky(first) && result >= 0)
		lied = true;
	if (result < 0 && !first)
		first = result;
	return result >= 0;
}

static void *shared(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

struct things {
	struct quoit_device *device;
	struct quoit_device_stream *stream, *other;
	struct quoit_device_event *event;
	struct quoit_device_module *module;
	uint64_t memory, more;
	void *host, *registered;
	bool is_registered;
};

static bool make(struct things *t)
{
	struct quoit_device_info info;
	char text[256];

	t->registered = shared(BYTES);
	return good(driver->open(0, &t->device, &info, text, sizeof text)) &&
	       good(driver->memory_new(t->device, BYTES, &t->memory)) &&
	       good(driver->memory_new(t->device, BYTES, &t->more)) &&
	       good(driver->host_new(t->device, BYTES, &t->host)) &&
	       (t->is_registered = good(driver->host_register(t->device, t->registered, BYTES))) &&
	       good(driver->stream_new(t->device, QUOIT_DEVICE_NORMAL, &t->stream)) &&
	       good(driver->stream_new(t->device, QUOIT_DEVICE_URGENT, &t->other)) &&
	       good(driver->event_new(t->device, &t->event));
}

static struct quoit_device_tensor matrix(uint64_t address, uint32_t rows, uint32_t columns)
{
	return (struct quoit_device_tensor){.data = address,
					    .dim = {1, 1, rows, columns},
					    .stride = {0, 0, (int32_t)columns, 1},
					    .dtype = QUOIT_F32};
}

static int run(struct things *t, uint8_t opcode, uint8_t arg, uint64_t to, uint32_t rows,
	       uint32_t columns)
{
	struct quoit_device_call call = {.opcode = opcode, .arg = arg, .verdict = t->host};

	call.tensor[0] = matrix(t->more + to, rows, columns);
	call.tensor[1] = call.tensor[2] = matrix(t->memory, SIDE, SIDE);
	memcpy(&call.scalar[0], &(double){1.0}, sizeof(double));
	return driver->run(t->stream, &call);
}

static int await(struct things *t)
{
	int done = driver->event_record(t->event, t->stream);

	for (unsigned i = 0; !done && i < LOOKS; i++)
		done = driver->event_done(t->event);
	return done == 0 ? -ETIME : done;
}

static bool launch(struct things *t)
{
	const float a = 2;
	const uint32_t n = SIDE;
	const struct quoit_device_launch l = {.grid = {1, 1, 1},
					      .block = {128, 1, 1},
					      .args = 4,
					      .arg = {&t->more, &t->memory, &a, &n},
					      .arg_bytes = {8, 8, 4, 4}};
	struct quoit_device_kernel *kernel;
	char text[256];

	return good(driver->module_new(t->device, ptx, sizeof ptx - 1, &t->module, text,
				       sizeof text)) &&
	       good(driver->kernel_find(t->module, "scale", &kernel, text, sizeof text)) &&
	       good(driver->launch(t->stream, kernel, &l));
}

static int read_clock(struct things *t)
{
	uint64_t ns, ticks, error;
	int err = -EAGAIN;

	for (int i = 0; i < 1000 && err == -EAGAIN; i++)
		err = driver->clock(t->device, &ns, &ticks, &error);
	return err;
}

static bool use(struct things *t)
{
	const struct quoit_device_verdict *verdict;
	uint32_t *word = (uint32_t *)t->host + 1024;

	memset(t->host, 0, BYTES);
	memset(t->registered, 1, BYTES);
	return good(driver->copy(t->stream, t->memory, (uintptr_t)t->registered, BYTES,
				 QUOIT_DEVICE_IN)) &&
	       good(driver->clear(t->stream, t->more, BYTES)) &&
	       good(run(t, QUOIT_OP_ADD, 0, 0, SIDE, SIDE)) &&
	       good(run(t, QUOIT_OP_SUM, QUOIT_AXIS_ALL, 0, 1, 1)) &&
	       good(run(t, QUOIT_OP_GEMM, 0, 0, SIDE, SIDE)) &&
	       good(run(t, QUOIT_OP_NORMAL, 0, MATRIX, SIDE, SIDE)) && launch(t) &&
	       good(driver->stamp(t->stream, (uint64_t *)t->host + 100)) &&
	       good(driver->event_record(t->event, t->stream)) &&
	       good(driver->stream_wait(t->other, t->event)) &&
	       good(driver->copy(t->other, (uintptr_t)t->registered, t->more, BYTES,
				 QUOIT_DEVICE_OUT)) &&
	       good(driver->signal(t->other, word, 7)) && good(read_clock(t)) && good(await(t)) &&
	       good(driver->health(t->device, &verdict));
}

/* Start a consumer, and tell it to leave. */
static bool stay(struct things *t)
{
	struct quoit_direct_requests *requests = shared(sizeof *requests);
	struct quoit_direct_words *words = shared(sizeof *words);

	if (!good(driver->direct_open(t->device, requests, words, 1)) ||
	    !good(driver->direct_start(t->device, 0)))
		return false;
	__atomic_store_n(&words->leave, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < LOOKS && !__atomic_load_n(&words->left, __ATOMIC_ACQUIRE); i++)
		sched_yield();
	return good(words->left ? 0 : -ETIME);
}

/* Ask a broken driver for everything, and expect it to refuse. */
static void insist(struct things *t)
{
	const struct quoit_device_verdict *verdict;
	uint64_t memory;

	(void)good(driver->health(t->device, &verdict));
	(void)driver->why(t->device, -QUOIT_EGPUFAULT);
	(void)good(driver->memory_new(t->device, BYTES, &memory));
	if (!t->event)
		return;
	(void)good(driver->clear(t->stream, t->memory, BYTES));
	(void)good(run(t, QUOIT_OP_ADD, 0, 0, SIDE, SIDE));
	(void)good(driver->event_record(t->event, t->stream));
	(void)good(driver->event_done(t->event));
}

static void unmake(struct things *t)
{
	driver->module_free(t->module);
	driver->event_free(t->event);
	driver->stream_free(t->stream);
	driver->stream_free(t->other);
	if (t->is_registered)
		driver->host_unregister(t->device, t->registered);
	if (t->host)
		driver->host_free(t->device, t->host);
	if (t->more)
		(void)driver->memory_free(t->device, t->more);
	if (t->memory)
		(void)driver->memory_free(t->device, t->memory);
	driver->close(t->device);
}

static int fail_once(const char *path, unsigned n, cudaError_t result)
{
	struct things t = {0};
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*fail)(unsigned, cudaError_t);
	unsigned (*fails_in)(void), (*pieces)(void);
	const bool breaks = result == cudaErrorIllegalAddress;
	const char *wrong = NULL;

	driver = library ? dlsym(library, QUOIT_DEVICE_SYMBOL) : NULL;
	if (!driver)
		return 1;
	*(void **)&fail = dlsym(library, "emulator_fail");
	*(void **)&fails_in = dlsym(library, "emulator_fails_in");
	*(void **)&pieces = dlsym(library, "emulator_pieces");
	fail(n, result);
	if (make(&t) && use(&t))
		(void)stay(&t);
	if (fails_in())
		return first ? 1 : DONE;
	if (is_sticky(first) && t.device)
		insist(&t);
	fail(0, cudaSuccess);
	if (t.device)
		unmake(&t);
	if (lied)
		wrong = "something succeeded after that";
	else if (!breaks && t.device && is_sticky(first))
		wrong = "it is taken for broken";
	else if (breaks && !is_sticky(first))
		wrong = "it is not taken for broken";
	else if (!breaks && pieces())
		wrong = "memory is left behind";
	if (wrong)
		printf("call %u fails with %d, result %d: %s (%u pieces)\n", n, result, first,
		       wrong, pieces());
	return wrong != NULL;
}

int main(int argc, char *argv[])
{
	static const cudaError_t results[] = {cudaErrorMemoryAllocation, cudaErrorUnknown,
					      cudaErrorIllegalAddress};
	const unsigned step = argc > 2 ? (unsigned)atoi(argv[2]) : 1; /* one of how many calls */
	unsigned passed = 0, failed = 0;

	for (int i = 0; argc > 1 && i < 3; i++)
		for (unsigned n = 1; n < CALLS; n += step) {
			int status = 0;
			pid_t child;

			fflush(stdout);
			child = fork();
			if (child == 0) {
				status = fail_once(argv[1], n, results[i]);
				fflush(stdout);
				_exit(status);
			}
			waitpid(child, &status, 0);
			if (WIFEXITED(status) && WEXITSTATUS(status) == DONE)
				break;
			if (status == 0)
				passed++;
			else if (failed++ < 40)
				printf("call %u failing with %d: status %x\n", n, results[i],
				       (unsigned)status);
		}
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed > 0 || passed == 0;
}
