/* SPDX-License-Identifier: MIT */
/* kernels.c - a session's table of images and kernels */
#include "kernels.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "blocking_pool.h"

struct kernels *kernels_new(void)
{
	struct kernels *k = calloc(1, sizeof *k);

	for (unsigned i = 0; k && i < QUOIT_MAX_IMAGES; i++)
		k->image[i].fd = -1;
	return k;
}

void kernels_free(struct kernels *k, struct blocking *blocking)
{
	if (!k)
		return;
	for (unsigned i = 0; i < QUOIT_MAX_IMAGES; i++)
		if (k->image[i].fd >= 0)
			blocking_close(blocking, k->image[i].fd);
	free(k);
}

/* ---- images ---- */

static bool has_image(const struct session *s, uint32_t image)
{
	const struct image *i = &s->kernels->image[image < QUOIT_MAX_IMAGES ? image : 0];

	return image < QUOIT_MAX_IMAGES && i->fd >= 0 && !i->removed;
}

static int refuse_image(struct kernels_ask *ask)
{
	snprintf(ask->text, sizeof ask->text, "the session has no image %u", ask->of);
	return -EBADF;
}

int kernels_add_image(struct session *s, struct kernels_ask *ask)
{
	uint32_t i = 0;

	if (!ask->of || ask->of > s->devices) {
		snprintf(ask->text, sizeof ask->text, "no device %u: there are %u", ask->of,
			 s->devices);
		return -ENODEV;
	}
	while (i < QUOIT_MAX_IMAGES && s->kernels->image[i].fd >= 0)
		i++;
	if (i == QUOIT_MAX_IMAGES) {
		snprintf(ask->text, sizeof ask->text, "a session has at most %u images",
			 QUOIT_MAX_IMAGES);
		return -ENFILE;
	}
	s->kernels->image[i] =
		(struct image){.fd = ask->fd, .bytes = ask->bytes, .device = (uint8_t)ask->of};
	ask->fd = -1;
	ask->index = i;
	return 0;
}

int kernels_remove_image(struct session *s, uint32_t image)
{
	if (!has_image(s, image))
		return -EBADF;
	s->kernels->image[image].removed = true;
	s->kernels->waits = true;
	return 0;
}

void kernels_free_image(struct session *s, uint32_t image)
{
	struct image *i = &s->kernels->image[image];

	for (uint32_t k = 0; k < QUOIT_MAX_KERNELS; k++)
		if (s->kernels->kernel[k].used && s->kernels->kernel[k].image == image)
			kernels_free_kernel(s, k);
	blocking_close(s->blocking, i->fd);
	*i = (struct image){.fd = -1};
}

/* ---- kernels ---- */

/* Fill in the description, and the row of the operations' table that follows from it. */
static void fill(struct kernel *k, const struct quoit_kernel_desc *d)
{
	k->desc = *d;
	k->row = *optable_row(QUOIT_OP_LAUNCH);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		k->row.access[i] = d->access[i];
	optable_read_access(&k->row);
	for (unsigned i = 0; i < d->args; i++)
		if (d->arg[i].kind == QUOIT_ARG_SCALAR)
			k->scalars |= (uint8_t)(1u << d->arg[i].index);
}

int kernels_add_kernel(struct session *s, struct kernels_ask *ask)
{
	uint32_t i = 0;

	if (!has_image(s, ask->of))
		return refuse_image(ask);
	while (i < QUOIT_MAX_KERNELS && s->kernels->kernel[i].used)
		i++;
	if (i == QUOIT_MAX_KERNELS) {
		snprintf(ask->text, sizeof ask->text, "a session has at most %u kernels",
			 QUOIT_MAX_KERNELS);
		return -ENFILE;
	}
	s->kernels->kernel[i] = (struct kernel){.used = true, .image = (uint8_t)ask->of};
	fill(&s->kernels->kernel[i], &ask->desc);
	ask->index = i;
	return 0;
}

void kernels_free_kernel(struct session *s, uint32_t kernel)
{
	s->kernels->kernel[kernel].used = s->kernels->kernel[kernel].ready = false;
}

const struct kernel *kernels_find(const struct session *s, uint8_t number)
{
	const struct kernel *k;

	if (!s->kernels)
		return NULL;
	k = &s->kernels->kernel[number];
	return k->ready && !s->kernels->image[k->image].removed ? k : NULL;
}

/* ---- jobs ---- */

static struct image *image_of(struct session *s, uint8_t number)
{
	return &s->kernels->image[s->kernels->kernel[number].image];
}

void kernels_hold(struct session *s, uint8_t number)
{
	image_of(s, number)->jobs++;
}

void kernels_drop(struct session *s, uint8_t number)
{
	struct image *i = image_of(s, number);

	assert(i->jobs > 0);
	i->jobs--;
	s->kernels->waits |= i->removed && !i->jobs;
}
