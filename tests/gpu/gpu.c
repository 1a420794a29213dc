/* SPDX-License-Identifier: MIT */
/* gpu.c - open a device for a test program. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "gpu.h"

#define GPU_PATIENCE_S 60

int gpu_wait(struct gpu *g, struct quoit_device_stream *s)
{
	const time_t end = time(NULL) + GPU_PATIENCE_S;
	int err = g->driver->event_record(g->event, s);

	if (err)
		return err;
	while ((err = g->driver->event_done(g->event)) == 0) {
		if (time(NULL) > end)
			return -ETIME;
	}
	return err < 0 ? err : 0;
}

/* Make the objects that nearly every test needs. */
static int gpu_prepare(struct gpu *g)
{
	void *verdict, *staging;
	int err = g->driver->stream_new(g->device, QUOIT_DEVICE_NORMAL, &g->stream);

	if (!err)
		err = g->driver->event_new(g->device, &g->event);
	if (!err)
		err = g->driver->host_new(g->device, sizeof(*g->verdict), &verdict);
	if (!err)
		err = g->driver->host_new(g->device, GPU_BYTES, &staging);
	if (!err)
		err = g->driver->memory_new(g->device, GPU_BYTES, &g->arena);
	if (err)
		return err;
	g->verdict = verdict;
	g->staging = staging;
	return 0;
}

int gpu_open(struct gpu *g, int argc, char *const argv[])
{
	char text[256] = "";
	void *library = dlopen(argc > 1 ? argv[1] : "build/quoit-cuda.so", RTLD_NOW | RTLD_LOCAL);
	int err;

	*g = (struct gpu){.driver = library ? dlsym(library, QUOIT_DEVICE_SYMBOL) : NULL,
			  .step = argc > 2 ? strtoul(argv[2], NULL, 10) : 1};
	if (!g->driver) {
		printf("no driver: %s\n", dlerror());
		return 1;
	}
	if (g->driver->count(text, sizeof(text)) <= 0) {
		printf("skipped: %s\n", text);
		return 77;
	}
	err = g->driver->open(0, &g->device, &g->info, text, sizeof(text));
	if (!err) {
		printf("%s at %s, driver %s, %llu MiB, %u units%s%s\n", g->info.name,
		       g->info.address, g->info.driver, (unsigned long long)g->info.bytes >> 20,
		       g->info.units, g->info.flags & QUOIT_DEVICE_SIGNALS ? ", signals" : "",
		       text[0] ? ", " : "");
		err = gpu_prepare(g);
	}
	if (err)
		printf("the device cannot be opened: %d: %s\n", err, text);
	return err ? 1 : -1;
}

int gpu_close(struct gpu *g)
{
	g->driver->memory_free(g->device, g->arena);
	g->driver->host_free(g->device, g->staging);
	g->driver->host_free(g->device, g->verdict);
	g->driver->event_free(g->event);
	g->driver->stream_free(g->stream);
	g->driver->close(g->device);
	printf("%u passed, %u failed, 0 skipped\n", g->passed, g->failed);
	return g->failed > 0;
}
