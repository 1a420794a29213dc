/* SPDX-License-Identifier: MIT */
/* backend_kernels.c - bring images and kernels to a device's process */
#include "backend_kernels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend_exec_memory.h"
#include "base/log.h"

/* ---- asking the process ---- */

static bool put_image(struct exec_port *p, const struct session *s, uint32_t slot, uint32_t number)
{
	const struct image *i = &s->kernels->image[number];
	struct quoit_exec_image m = {.slot = slot, .image = number, .bytes = i->bytes};

	return exec_port_send(p, &m, sizeof m, &i->fd, 1);
}

static bool put_kernel(struct exec_port *p, const struct session *s, uint32_t slot, uint32_t number)
{
	const struct kernel *k = &s->kernels->kernel[number];
	struct quoit_exec_kernel m = {
		.slot = slot, .kernel = number, .image = k->image, .desc = k->desc};

	return exec_port_send(p, &m, sizeof m, NULL, 0);
}

/* False: the process is answering another question, or has no room. */
static bool ask_process(struct exec_port *p, struct session *s, uint8_t type, uint32_t number)
{
	uint32_t slot = s->exec.slot[p->number] - 1;
	struct quoit_exec_request q = {.type = type, .id = number, .slot = slot};

	if (p->asking.type || !exec_port_has_room(p))
		return false;
	if (!(type == QUOIT_EXEC_LOAD ? put_image(p, s, slot, number)
				      : put_kernel(p, s, slot, number)))
		return false;
	exec_port_request(p, &q);
	exec_port_flush(p);
	p->asking = (struct exec_asking){type, number, s, s->reactor->now};
	return true;
}

static int bring(struct exec_port *p, struct session *s, uint8_t type, uint32_t number,
		 uint8_t *state, int32_t err)
{
	if (*state == KERNEL_NEW && ask_process(p, s, type, number))
		*state = KERNEL_ASKED;
	if (*state == KERNEL_BAD)
		return err;
	return *state == KERNEL_THERE ? 0 : -EBUSY;
}

static int bring_image(struct exec_port *p, struct session *s, uint32_t number)
{
	struct image *i = &s->kernels->image[number];

	return bring(p, s, QUOIT_EXEC_LOAD, number, &i->state, i->err);
}

int kernels_bring(struct exec_port *p, struct session *s, uint8_t number)
{
	struct kernel *k = &s->kernels->kernel[number];
	int err = bring_image(p, s, k->image);

	return err ? err : bring(p, s, QUOIT_EXEC_FIND, number, &k->state, k->err);
}

/* ---- its answers ---- */

static void take_result(struct session *s, uint8_t type, uint32_t number, int32_t res)
{
	struct kernels *k = s->kernels;
	uint8_t *state =
		type == QUOIT_EXEC_LOAD ? &k->image[number].state : &k->kernel[number].state;
	int32_t *err = type == QUOIT_EXEC_LOAD ? &k->image[number].err : &k->kernel[number].err;

	*state = res < 0 ? KERNEL_BAD : KERNEL_THERE;
	*err = res;
}

bool kernels_answered(struct exec_port *p, const struct quoit_exec_answer *a)
{
	const struct exec_asking asked = p->asking;

	if (!asked.type || a->type != asked.type || a->res > 0 || a->res <= -QUOIT_EPOISON)
		return false;
	p->pending--;
	p->asking = (struct exec_asking){0};
	if (!asked.session)
		return true;
	take_result(asked.session, asked.type, asked.number, a->res);
	if (a->res < 0)
		log_escape(asked.session->kernels->why, sizeof asked.session->kernels->why,
			   p->exec->text, sizeof p->exec->text);
	return true;
}

/* ---- lost images and kernels ---- */

static bool is_asked_for(const struct kernels *k, uint16_t type, uint32_t number)
{
	return k->ask && k->ask->type == type && k->ask->index == number;
}

/*
 * Ask the next process again when a job needs it.  But if the client is just asking for it, it may
 * have ended the process: it is bad, and the client is told so.
 */
static void renew(struct kernels *k, uint16_t type, uint32_t number, uint8_t *state, int32_t *err)
{
	if (*state != KERNEL_ASKED || !is_asked_for(k, type, number)) {
		*state = KERNEL_NEW;
		return;
	}
	*state = KERNEL_BAD;
	*err = -QUOIT_EGPUFAULT;
	snprintf(k->why, sizeof k->why, "the device's process ended meanwhile");
}

void kernels_forget(struct exec_port *p, struct session *s)
{
	struct kernels *k = s->kernels;

	if (p->asking.session == s)
		p->asking.session = NULL;
	for (uint32_t i = 0; k && i < QUOIT_MAX_IMAGES; i++)
		if (k->image[i].device == p->device)
			renew(k, QUOIT_CTL_IMAGE_ADD, i, &k->image[i].state, &k->image[i].err);
	for (uint32_t i = 0; k && i < QUOIT_MAX_KERNELS; i++)
		if (k->kernel[i].used && k->image[k->kernel[i].image].device == p->device)
			renew(k, QUOIT_CTL_KERNEL_ADD, i, &k->kernel[i].state, &k->kernel[i].err);
}

/* ---- removed images ---- */

static struct exec_port *port_of(struct reactor *r, const struct session *s, uint32_t image)
{
	return r->executor[s->first_device + s->kernels->image[image].device - 1];
}

/* Is a kernel of the image being asked for?  Its number's next kernel would get that answer. */
static bool is_being_found(const struct kernels *k, uint32_t image)
{
	for (uint32_t i = 0; i < QUOIT_MAX_KERNELS; i++)
		if (k->kernel[i].used && k->kernel[i].image == image &&
		    k->kernel[i].state == KERNEL_ASKED)
			return true;
	return false;
}

/* False: the process has no room for the request, or an answer is under way. */
static bool unload(struct reactor *r, struct session *s, uint32_t image)
{
	struct exec_port *p = port_of(r, s, image);
	uint32_t slot = s->exec.slot[p->number];
	struct quoit_exec_request q = {.type = QUOIT_EXEC_UNLOAD, .id = image, .slot = slot - 1};

	if (p->open && slot && !p->slot[slot - 1].leaving) {
		if (s->kernels->image[image].state == KERNEL_ASKED ||
		    is_being_found(s->kernels, image) || !exec_port_has_room(p))
			return false;
		exec_port_request(p, &q);
		exec_port_flush(p);
	}
	kernels_free_image(s, image);
	return true;
}

/* True: all removed images are unloaded. */
static bool unload_removed(struct reactor *r, struct session *s)
{
	bool gone = true;

	for (uint32_t i = 0; i < QUOIT_MAX_IMAGES; i++) {
		const struct image *image = &s->kernels->image[i];

		if (image->removed && !image->jobs)
			gone &= unload(r, s, i);
	}
	return gone;
}

/* ---- the client's own questions ---- */

static void answer(struct reactor *r, struct session *s, struct kernels_ask *ask, int32_t result)
{
	struct mail m = {.type = MAIL_KERNELS, .session = s, .ask = ask, .result = result};

	s->kernels->ask = NULL;
	mailbox_send(r->outbox, &m);
}

static int bring_asked(struct reactor *r, struct session *s, const struct kernels_ask *ask)
{
	bool is_image = ask->type == QUOIT_CTL_IMAGE_ADD;
	struct exec_port *p = port_of(r, s, is_image ? ask->index : ask->of);

	/* An image or kernel that ended the last process is refused before the next one is up. */
	if (is_image && s->kernels->image[ask->index].state == KERNEL_BAD)
		return s->kernels->image[ask->index].err;
	if (!is_image && s->kernels->kernel[ask->index].state == KERNEL_BAD)
		return s->kernels->kernel[ask->index].err;
	if (exec_port_state(p) == PORT_LOST && exec_is_for(p, s))
		return -ENODEV;
	if (!p->open)
		return -EBUSY;
	/* The session's memory may be going: no process may get it, or what has replaced it. */
	if (s->ending && !s->exec.slot[p->number])
		return -ECANCELED;
	if (exec_map(p, s) < 0)
		return -EBUSY;
	return is_image ? bring_image(p, s, ask->index) : kernels_bring(p, s, (uint8_t)ask->index);
}

/* The image or kernel cannot be had: remove it, and tell the client why. */
static void refuse(struct reactor *r, struct session *s, struct kernels_ask *ask, int32_t res)
{
	if (res == -ENODEV)
		snprintf(ask->text, sizeof ask->text,
			 "the device is lost: quoit_query_device and quoit topo say why");
	else if (res == -ECANCELED)
		snprintf(ask->text, sizeof ask->text, "the session ends");
	else
		snprintf(ask->text, sizeof ask->text, "%.*s", (int)sizeof ask->text - 1,
			 s->kernels->why);
	if (ask->type == QUOIT_CTL_IMAGE_ADD)
		(void)kernels_remove_image(s, ask->index);
	else
		kernels_free_kernel(s, ask->index);
	answer(r, s, ask, res);
}

static bool advance_ask(struct reactor *r, struct session *s)
{
	struct kernels_ask *ask = s->kernels->ask;
	int32_t res = bring_asked(r, s, ask);

	if (res == -EBUSY)
		return false;
	if (res < 0) {
		refuse(r, s, ask, res);
		return true;
	}
	if (ask->type == QUOIT_CTL_KERNEL_ADD)
		s->kernels->kernel[ask->index].ready = true;
	answer(r, s, ask, 0);
	return true;
}

bool kernels_advance(struct reactor *r, struct session *s)
{
	bool any = s->kernels->ask && advance_ask(r, s);
	bool gone = unload_removed(r, s);

	s->kernels->waits = s->kernels->ask || !gone;
	return any;
}

/* If no job uses the image and the process has room, its number is free before the client hears. */
static void remove_image(struct reactor *r, struct session *s, struct kernels_ask *ask)
{
	int err = kernels_remove_image(s, ask->of);

	if (err)
		snprintf(ask->text, sizeof ask->text, "the session has no image %u", ask->of);
	else
		(void)unload_removed(r, s);
	answer(r, s, ask, err);
}

void kernels_ask(struct reactor *r, struct session *s, struct kernels_ask *ask)
{
	int err;

	switch (ask->type) {
	case QUOIT_CTL_IMAGE_ADD:
		err = kernels_add_image(s, ask);
		break;
	case QUOIT_CTL_KERNEL_ADD:
		err = kernels_add_kernel(s, ask);
		break;
	default:
		remove_image(r, s, ask);
		return;
	}
	if (err) {
		answer(r, s, ask, err);
		return;
	}
	s->kernels->ask = ask;
	s->kernels->waits = true;
}
