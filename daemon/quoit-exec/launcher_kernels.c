/* SPDX-License-Identifier: MIT */
/* launcher_kernels.c - images and kernels that clients have brought: load, find, launch, unload */
#include "launcher_kernels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher_direct.h"
#include "launcher_end.h"
#include "launcher_private.h"

/* ---- images ---- */

/* Read the whole image, which is sealed.  It is not mapped: a hole would become a page of ours. */
static int read_image(const struct client_image *image, char **ret)
{
	uint64_t done = 0;
	ssize_t n = 1;

	*ret = malloc(image->bytes);
	if (!*ret)
		return -ENOMEM;
	while (done < image->bytes && (n > 0 || (n < 0 && errno == EINTR))) {
		n = pread(image->fd, *ret + done, image->bytes - done, (off_t)done);
		done += n > 0 ? (uint64_t)n : 0;
	}
	return done == image->bytes ? 0 : -EIO;
}

static int load(struct launcher *l, struct client_image *image, char *text, size_t size)
{
	char *bytes = NULL;
	int err = read_image(image, &bytes);

	if (err)
		snprintf(text, size, "the image cannot be read: %s", strerror(-err));
	direct_park(l);
	if (!err)
		err = launcher_check(l, l->driver->module_new(l->device, bytes, image->bytes,
							      &image->module, text, size));
	free(bytes);
	return err == -EINVAL ? -ENOEXEC : err;
}

static void unload(struct launcher *l, struct client_kernels *b, uint32_t number)
{
	struct client_image *image = &b->image[number];

	for (uint32_t i = 0; i < QUOIT_MAX_KERNELS; i++)
		if (b->kernel[i].image == number)
			b->kernel[i].kernel = NULL;
	if (image->module) {
		direct_park(l);
		l->driver->module_free(image->module);
	}
	image->module = NULL;
}

/* ---- requests ---- */

int launcher_kernels_load(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q)
{
	struct channel *c = &l->channels->channel[channel];
	struct client_kernels *b = c->slots[q->slot].kernels;
	struct quoit_exec_answer a = {.id = q->id, .type = q->type};
	struct client_image *image;

	if (!b || q->id >= QUOIT_MAX_IMAGES || b->image[q->id].fd < 0 || b->image[q->id].module)
		return -EPROTO;
	image = &b->image[q->id];
	launcher_works(l, true); /* a driver may compile for seconds */
	a.res = load(l, image, c->exec->text, sizeof c->exec->text);
	launcher_works(l, false);
	close(image->fd);
	image->fd = -1;
	return channel_answer(c, &a);
}

static void say_not_found(char *text, size_t size, const char *name, int err, const char *why)
{
	if (err == -ENOENT)
		snprintf(text, size, "the image has no kernel '%.80s'", name);
	else if (*why)
		snprintf(text, size, "cannot load '%.40s': %.64s", name, why);
	else
		snprintf(text, size, "cannot load the kernel '%.80s'", name);
}

int launcher_kernels_find(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q)
{
	struct channel *c = &l->channels->channel[channel];
	struct client_kernels *b = c->slots[q->slot].kernels;
	struct quoit_exec_answer a = {.id = q->id, .type = q->type};
	struct client_kernel *k;
	char why[sizeof c->exec->text];

	if (!b || q->id >= QUOIT_MAX_KERNELS || !b->image[b->kernel[q->id].image].module)
		return -EPROTO;
	k = &b->kernel[q->id];
	direct_park(l);          /* the driver may load it now */
	launcher_works(l, true); /* this may take seconds, too, if code is compiled now */
	a.res = launcher_check(l, l->driver->kernel_find(b->image[k->image].module, k->desc.name,
							 &k->kernel, why, sizeof why));
	launcher_works(l, false);
	k->launched = false;
	if (a.res == -EINVAL)
		a.res = -ENOEXEC;
	if (a.res)
		say_not_found(c->exec->text, sizeof c->exec->text, k->desc.name, a.res, why);
	return channel_answer(c, &a);
}

int launcher_kernels_unload(struct launcher *l, uint32_t channel,
			    const struct quoit_exec_request *q)
{
	struct client_kernels *b = l->channels->channel[channel].slots[q->slot].kernels;

	if (q->id >= QUOIT_MAX_IMAGES)
		return -EPROTO;
	if (b)
		unload(l, b, q->id);
	return 0;
}

void launcher_kernels_leave(struct launcher *l, struct memory *m)
{
	for (uint32_t i = 0; m->kernels && i < QUOIT_MAX_IMAGES; i++)
		unload(l, m->kernels, i);
}

/* ---- launches ---- */

/* Find the addresses of a job's tensors. */
static int find_tensors(struct launcher *l, const struct flight *f,
			uint64_t address[QUOIT_MAX_TENSORS_PER_JOB])
{
	int err = 0;

	for (uint32_t i = 0; i < QUOIT_MAX_TENSORS_PER_JOB && !err; i++) {
		const struct quoit_exec_view *v = &f->q.view[i];

		address[i] = l->nowhere;
		if (!v->given || !f->q.bytes[i])
			continue;
		if (v->region != QUOIT_EXEC_ON_DEVICE)
			return -EPROTO;
		err = holding_find(l, flight_holding(l, f), v->buffer, f->q.bytes[i], &address[i]);
		address[i] += v->offset;
	}
	return err;
}

static const void *find_argument(const struct quoit_kernel_arg *a, const struct flight *f,
				 const uint64_t *address)
{
	switch (a->kind) {
	case QUOIT_ARG_TENSOR:
		return &address[a->index % QUOIT_MAX_TENSORS_PER_JOB];
	case QUOIT_ARG_SCALAR:
		return &f->q.scalar[a->index % 2];
	default:
		return &a->value;
	}
}

int launcher_kernels_launch(struct launcher *l, const struct flight *f)
{
	struct client_kernels *b = flight_memory(l, f)->kernels;
	struct client_kernel *k = b ? &b->kernel[f->q.arg] : NULL;
	struct quoit_device_launch launch = {.verdict = &l->shared->flight[f - l->flight].verdict};
	uint64_t address[QUOIT_MAX_TENSORS_PER_JOB];
	int err;

	if (!k || !k->kernel)
		return -ENOENT;
	err = find_tensors(l, f, address);
	if (err)
		return err;
	memcpy(launch.grid, k->desc.grid, sizeof launch.grid);
	memcpy(launch.block, k->desc.block, sizeof launch.block);
	launch.shared_bytes = k->desc.shared_bytes;
	launch.args = k->desc.args;
	for (uint32_t i = 0; i < launch.args; i++) {
		launch.arg[i] = find_argument(&k->desc.arg[i], f, address);
		launch.arg_bytes[i] = k->desc.arg[i].bytes;
	}
	if (!k->launched) /* it may need more of what all kernels share, such as stacks */
		direct_park(l);
	k->launched = true;
	return launcher_check(l,
			      l->driver->launch(l->stream[f->stream].stream, k->kernel, &launch));
}
