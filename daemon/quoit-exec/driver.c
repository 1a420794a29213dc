/* SPDX-License-Identifier: MIT */
/* driver.c - find a device's driver, and open the device */
#include "driver.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ops/ops.h"
#include "quoit-exec/soft/soft.h"

#define CUDA_OBJECT "quoit-cuda.so"

static const char *number_of(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && isdigit((unsigned char)colon[1]) ? colon + 1 : NULL;
}

static bool is_kind(const char *name, const char *kind)
{
	size_t n = strlen(kind);

	return !strncmp(name, kind, n) && name[n] == ':';
}

bool driver_is_named(const char *name)
{
	return number_of(name) && (is_kind(name, "soft") || is_kind(name, "cuda"));
}

/* quoit-cuda.so is beside quoit-exec, in a build and where they are installed. */
static void *load_cuda(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof CUDA_OBJECT);
	void *object = NULL;

	if (n > 0) {
		path[n] = '\0';
		strcpy(strrchr(path, '/') + 1, CUDA_OBJECT);
		object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return object;
}

static const struct quoit_device_driver *find(const char *name, char *text, size_t size)
{
	const struct quoit_device_driver *api;
	void *object;

	if (is_kind(name, "soft")) {
		ops_adopt(); /* it uses the daemon's operations */
		return &soft_device_driver;
	}
	object = load_cuda();
	api = object ? dlsym(object, QUOIT_DEVICE_SYMBOL) : NULL;
	if (!api)
		snprintf(text, size, "%s", dlerror());
	return api;
}

/* 0, or -errno if there is no device; hello->text says why. */
static int open_device(const char *name, struct driver *d, struct quoit_exec_hello *h)
{
	const struct quoit_device_driver *api = find(name, h->text, sizeof h->text);
	uint32_t index = (uint32_t)strtoul(number_of(name), NULL, 10);
	int n;

	if (!api)
		return -ENODEV;
	if (api->version != QUOIT_DEVICE_VERSION) {
		snprintf(h->text, sizeof h->text,
			 "the device layer has version %u, quoit-exec %u: install both from one "
			 "version",
			 api->version, QUOIT_DEVICE_VERSION);
		return -EPROTO;
	}
	n = api->count(h->text, sizeof h->text);
	if (n <= 0)
		return n ? n : -ENODEV;
	if (index >= (uint32_t)n) {
		snprintf(h->text, sizeof h->text,
			 "the driver has %d devices, and number %u is not one of them", n, index);
		return -ENODEV;
	}
	h->devices = (uint32_t)n;
	n = api->open(index, &d->device, &d->info, h->text, sizeof h->text);
	if (!n)
		d->api = api;
	return n;
}

void driver_open(const char *name, struct driver *ret, struct quoit_exec_hello *h)
{
	*ret = (struct driver){0};
	*h = (struct quoit_exec_hello){.magic = QUOIT_EXEC_MAGIC, .version = QUOIT_EXEC_VERSION};
	h->result = open_device(name, ret, h);
	h->device = ret->info;
}

void driver_close(struct driver *d)
{
	if (d->api)
		d->api->close(d->device);
	d->api = NULL;
}
