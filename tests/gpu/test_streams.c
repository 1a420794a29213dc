/* SPDX-License-Identifier: MIT */
/* test_streams.c - order, signals, clocks, memory, modules, and at last a fault, on a device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu.h"

#define BYTES ((size_t)8 << 20)

/* y[i] = a x[i], and a store to any address. */
static const char ptx[] = ".version 6.4\n"
			  ".target sm_75\n"
			  ".address_size 64\n"
			  ".visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 a,\n"
			  "		.param .u32 n)\n"
			  "{\n"
			  "	.reg .pred %p;\n"
			  "	.reg .b32 %r<5>;\n"
			  "	.reg .b64 %d<4>;\n"
			  "	.reg .f32 %f<3>;\n"
			  "	ld.param.u64 %d0, [y];\n"
			  "	ld.param.u64 %d1, [x];\n"
			  "	ld.param.f32 %f0, [a];\n"
			  "	ld.param.u32 %r0, [n];\n"
			  "	mov.u32 %r1, %ctaid.x;\n"
			  "	mov.u32 %r2, %ntid.x;\n"
			  "	mov.u32 %r3, %tid.x;\n"
			  "	mad.lo.u32 %r4, %r1, %r2, %r3;\n"
			  "	setp.ge.u32 %p, %r4, %r0;\n"
			  "	@%p bra done;\n"
			  "	mul.wide.u32 %d2, %r4, 4;\n"
			  "	add.u64 %d3, %d1, %d2;\n"
			  "	ld.global.f32 %f1, [%d3];\n"
			  "	mul.f32 %f2, %f1, %f0;\n"
			  "	add.u64 %d3, %d0, %d2;\n"
			  "	st.global.f32 [%d3], %f2;\n"
			  "done:\n"
			  "	ret;\n"
			  "}\n"
			  ".visible .entry store(.param .u64 where)\n"
			  "{\n"
			  "	.reg .b64 %d;\n"
			  "	ld.param.u64 %d, [where];\n"
			  "	st.global.u64 [%d], %d;\n"
			  "	ret;\n"
			  "}\n";

/* A reference to host memory as the device layer takes it. */
static uint64_t at(const void *host)
{
	return (uint64_t)(uintptr_t)host;
}

static void copies_and_clears(struct gpu *g)
{
	char *half = g->staging + BYTES;

	for (size_t i = 0; i < BYTES; i++)
		g->staging[i] = (char)(i * 7 + i / 251);
	memset(half, 1, BYTES);
	GPU_CHECK(g,
		  g->driver->copy(g->stream, g->arena, at(g->staging), BYTES, QUOIT_DEVICE_IN) == 0,
		  "in");
	GPU_CHECK(g,
		  g->driver->copy(g->stream, g->arena + BYTES, g->arena, BYTES,
				  QUOIT_DEVICE_WITHIN) == 0,
		  "within");
	GPU_CHECK(g, g->driver->clear(g->stream, g->arena + BYTES + 100, 1000) == 0, "clear");
	GPU_CHECK(g,
		  g->driver->copy(g->stream, at(half), g->arena + BYTES, BYTES, QUOIT_DEVICE_OUT) ==
			  0,
		  "out");
	GPU_CHECK(g, g->driver->copy(g->stream, 0, 0, 0, QUOIT_DEVICE_OUT) == 0, "nothing");
	GPU_CHECK(g, gpu_wait(g, g->stream) == 0, "wait");
	memset(g->staging + 100, 0, 1000);
	GPU_CHECK(g, memcmp(g->staging, half, BYTES) == 0, "the bytes came back");
}

/* When a signal is seen, all that the stream wrote before it is there. */
static void signals_come_after_what_was_before(struct gpu *g)
{
	uint32_t *word;
	void *memory;

	if (!(g->info.flags & QUOIT_DEVICE_SIGNALS))
		return;
	GPU_CHECK(g, g->driver->host_new(g->device, 4096, &memory) == 0, "host memory");
	word = memory;
	for (uint32_t i = 1; i <= 200; i++) {
		uint32_t *last = (uint32_t *)(g->staging + BYTES) - 1;

		*word = 0;
		memset(g->staging, (int)i, BYTES);
		g->driver->copy(g->stream, g->arena, at(g->staging), BYTES, QUOIT_DEVICE_IN);
		if (gpu_wait(g, g->stream))
			break;
		memset(last, 0, 4); /* it has been read by then */
		g->driver->copy(g->stream, at(g->staging), g->arena, BYTES, QUOIT_DEVICE_OUT);
		GPU_CHECK(g, g->driver->signal(g->stream, word, i) == 0, "signal");
		while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != i)
			;
		GPU_CHECK(g, *last == (i & 255) * 0x01010101u, "%x after %u", *last, i);
	}
	g->driver->host_free(g->device, memory);
}

/* A second stream sees what the first one wrote before the event. */
static void streams_wait_for_events(struct gpu *g)
{
	struct quoit_device_stream *other;
	struct quoit_device_event *event;

	GPU_CHECK(g, g->driver->stream_new(g->device, QUOIT_DEVICE_URGENT, &other) == 0, "stream");
	GPU_CHECK(g, g->driver->event_new(g->device, &event) == 0, "event");
	for (int i = 0; i < 50; i++) {
		memset(g->staging, i, BYTES);
		g->driver->copy(g->stream, g->arena, at(g->staging), BYTES, QUOIT_DEVICE_IN);
		g->driver->copy(g->stream, g->arena + BYTES, g->arena, BYTES, QUOIT_DEVICE_WITHIN);
		GPU_CHECK(g, g->driver->event_record(event, g->stream) == 0, "record");
		GPU_CHECK(g, g->driver->stream_wait(other, event) == 0, "wait");
		g->driver->copy(other, at(g->staging + BYTES), g->arena + BYTES, BYTES,
				QUOIT_DEVICE_OUT);
		GPU_CHECK(g, gpu_wait(g, other) == 0, "wait");
		GPU_CHECK(g, g->driver->event_done(event) == 1, "before it is done");
		GPU_CHECK(g, g->staging[2 * BYTES - 1] == (char)i, "%d", i);
	}
	g->driver->event_free(event);
	g->driver->stream_free(other);
}

/* A busy device may not tell its clock at once. */
static int read_clock(struct gpu *g, uint64_t *ret_ns, uint64_t *ret_ticks, uint64_t *ret_error)
{
	int err = -EAGAIN;

	for (int i = 0; i < 100 && err == -EAGAIN; i++)
		err = g->driver->clock(g->device, ret_ns, ret_ticks, ret_error);
	return err;
}

static void clocks(struct gpu *g)
{
	uint64_t before, after, ticks, later, error;
	uint64_t *word;
	void *memory;

	GPU_CHECK(g, read_clock(g, &before, &ticks, &error) == 0, "clock");
	printf("clock: within %llu ticks, in steps of %llu ns\n", (unsigned long long)error,
	       (unsigned long long)g->info.clock_step);
	GPU_CHECK(g, g->info.clock_step > 0 && g->info.clock_step < 1000000, "steps");
	GPU_CHECK(g, g->driver->host_new(g->device, 4096, &memory) == 0, "host memory");
	word = memory;
	word[0] = word[1] = 0;
	GPU_CHECK(g, g->driver->stamp(g->stream, &word[0]) == 0, "stamp");
	g->driver->clear(g->stream, g->arena, GPU_BYTES);
	GPU_CHECK(g, g->driver->stamp(g->stream, &word[1]) == 0, "stamp");
	GPU_CHECK(g, gpu_wait(g, g->stream) == 0, "wait");
	GPU_CHECK(g, read_clock(g, &after, &later, &error) == 0, "clock");
	GPU_CHECK(g, before <= word[0] && word[0] <= word[1] && word[1] <= after && before > 0,
		  "%llu %llu %llu %llu", (unsigned long long)before, (unsigned long long)word[0],
		  (unsigned long long)word[1], (unsigned long long)after);
	GPU_CHECK(g, later > ticks, "ticks");
	g->driver->host_free(g->device, memory);
}

static void memory(struct gpu *g)
{
	const size_t bytes = (size_t)4 << 20;
	char *plain = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t a = 0, b = 0;
	int err;

	GPU_CHECK(g, g->driver->memory_new(g->device, UINT64_C(1) << 50, &a) == -ENOMEM,
		  "a petabyte");
	for (int i = 0; i < 100; i++) {
		GPU_CHECK(g, g->driver->memory_new(g->device, 1000 + (uint64_t)i * 4096, &a) == 0,
			  "new");
		GPU_CHECK(g, g->driver->memory_new(g->device, 100, &b) == 0, "new");
		GPU_CHECK(g, a != b && a % 256 == 0 && b % 256 == 0, "places");
		GPU_CHECK(g, g->driver->memory_free(g->device, a) == 0, "free");
		GPU_CHECK(g, g->driver->memory_free(g->device, b) == 0, "free");
	}
	err = g->driver->host_register(g->device, plain, bytes);
	GPU_CHECK(g, err == 0 || err == -ENOMEM || err == -ENOTSUP, "register: %d", err);
	if (err) {
		printf("registering host memory: %d\n", err);
		return;
	}
	memset(plain, 42, bytes);
	g->driver->copy(g->stream, g->arena, at(plain), bytes, QUOIT_DEVICE_IN);
	g->driver->copy(g->stream, at(g->staging), g->arena, bytes, QUOIT_DEVICE_OUT);
	if (g->info.flags & QUOIT_DEVICE_SIGNALS)
		GPU_CHECK(g, g->driver->signal(g->stream, (uint32_t *)plain, 7) == 0, "signal");
	GPU_CHECK(g, gpu_wait(g, g->stream) == 0, "wait");
	GPU_CHECK(g, g->staging[bytes - 1] == 42, "registered memory was read");
	if (g->info.flags & QUOIT_DEVICE_SIGNALS)
		GPU_CHECK(g, *(uint32_t *)plain == 7, "registered memory was written");
	g->driver->host_unregister(g->device, plain);
	munmap(plain, bytes);
}

/* Load the module and find a kernel of it; NULL: that failed. */
static struct quoit_device_kernel *load(struct gpu *g, const char *name,
					struct quoit_device_module **ret)
{
	struct quoit_device_kernel *kernel = NULL;
	char text[512];
	int err = g->driver->module_new(g->device, ptx, sizeof(ptx) - 1, ret, text, sizeof(text));

	GPU_CHECK(g, err == 0, "%d: %s", err, text);
	if (!err)
		err = g->driver->kernel_find(*ret, name, &kernel, text, sizeof(text));
	GPU_CHECK(g, err == 0, "%s: %s", name, text);
	return kernel;
}

/* If a driver loads lazily, it may refuse the kernel instead. */
static int load_nonsense(struct gpu *g, char *text, size_t size)
{
	static const char bad[] = ".version 6.4\n.target sm_75\n.address_size 64\nnonsense;\n";
	struct quoit_device_module *module;
	struct quoit_device_kernel *kernel;
	int err = g->driver->module_new(g->device, bad, sizeof(bad), &module, text, size);

	if (err)
		return err;
	err = g->driver->kernel_find(module, "nonsense", &kernel, text, size);
	g->driver->module_free(module);
	return err;
}

static void modules(struct gpu *g)
{
	struct quoit_device_module *module;
	struct quoit_device_kernel *kernel = load(g, "scale", &module);
	struct quoit_device_launch launch = {{4, 1, 1}, {256, 1, 1}, 0, 4, {NULL}, {8, 8, 4, 4}};
	uint64_t y = g->arena + BYTES;
	uint64_t x = g->arena;
	float a = 2.5f;
	uint32_t n = 1000;
	char text[512] = "";
	float *host = (float *)(void *)g->staging;

	GPU_CHECK(g, load_nonsense(g, text, sizeof(text)) < 0, "nonsense is loaded");
	GPU_CHECK(g, strlen(text) > 10, "%s", text);
	printf("nonsense: %s\n", text);
	if (!kernel)
		return;
	for (uint32_t i = 0; i < 1024; i++)
		host[i] = (float)i;
	launch.arg[0] = &y;
	launch.arg[1] = &x;
	launch.arg[2] = &a;
	launch.arg[3] = &n;
	g->driver->clear(g->stream, y, 4096);
	g->driver->copy(g->stream, x, at(host), 4096, QUOIT_DEVICE_IN);
	GPU_CHECK(g, g->driver->launch(g->stream, kernel, &launch) == 0, "launch");
	g->driver->copy(g->stream, at(host), y, 4096, QUOIT_DEVICE_OUT);
	GPU_CHECK(g, gpu_wait(g, g->stream) == 0, "wait");
	for (uint32_t i = 0; i < 1024; i++)
		GPU_CHECK(g, host[i] == (i < n ? 2.5f * (float)i : 0), "element %u: %g", i,
			  host[i]);
	launch.block[0] = 100000;
	GPU_CHECK(g, g->driver->launch(g->stream, kernel, &launch) == -EINVAL, "a block too large");
	launch.block[0] = 256;
	launch.shared_bytes = 1 << 20;
	GPU_CHECK(g, g->driver->launch(g->stream, kernel, &launch) == -EINVAL, "too much shared");
	launch.shared_bytes = 0;
	launch.args = 17;
	GPU_CHECK(g, g->driver->launch(g->stream, kernel, &launch) == -EINVAL, "17 arguments");
	GPU_CHECK(g, gpu_wait(g, g->stream) == 0, "all is well");
}

/* Store to an address without memory: the last thing that this device does for us. */
static void faults(struct gpu *g)
{
	struct quoit_device_module *module;
	struct quoit_device_kernel *kernel = load(g, "store", &module);
	struct quoit_device_launch launch = {{1, 1, 1}, {1, 1, 1}, 0, 1, {NULL}, {8}};
	const struct quoit_device_verdict *verdict;
	uint64_t nowhere = g->arena ^ UINT64_C(1) << 46; /* an H100 let a store 2^40 away pass */
	const char *why;
	uint64_t address;
	int err;

	if (!kernel)
		return;
	GPU_CHECK(g, g->driver->health(g->device, &verdict) == 0, "before");
	launch.arg[0] = &nowhere;
	err = g->driver->launch(g->stream, kernel, &launch);
	GPU_CHECK(g, err == 0, "launch: %d", err);
	err = gpu_wait(g, g->stream);
	why = g->driver->why(g->device, err);
	GPU_CHECK(g, err == -QUOIT_EGPUFAULT, "the fault is %d", err);
	GPU_CHECK(g, g->driver->health(g->device, &verdict) == -QUOIT_EGPUFAULT, "health");
	GPU_CHECK(g, why && strstr(why, "illegal"), "it says: %s", why ? why : "nothing");
	GPU_CHECK(g, g->driver->memory_new(g->device, 100, &address) == -QUOIT_EGPUFAULT,
		  "it is sticky");
	GPU_CHECK(g, g->driver->clear(g->stream, g->arena, 4) == -QUOIT_EGPUFAULT, "everywhere");
}

int main(int argc, char *argv[])
{
	struct gpu g;
	int res = gpu_open(&g, argc, argv);

	if (res >= 0)
		return res;
	copies_and_clears(&g);
	signals_come_after_what_was_before(&g);
	streams_wait_for_events(&g);
	clocks(&g);
	memory(&g);
	modules(&g);
	faults(&g);
	return gpu_close(&g);
}
