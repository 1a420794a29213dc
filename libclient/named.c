/* SPDX-License-Identifier: MIT */
/* named.c - attaches tensors with names, and maps their memory for the program */
#include "named.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"

/* ---- what is open ---- */

void libquoit_named_note(struct quoit_session *s, const struct quoit_ctl *opened,
			 struct shared *memory)
{
	/* no function runs with what had this number before: its job would have kept the number */
	struct named *n = &s->named[opened->sync.number];

	pthread_mutex_lock(&s->list);
	if (!n->opened++) {
		n->is_maker = memory;
		n->dtype = (uint8_t)opened->sync.dtype;
		memcpy(n->dim, opened->sync.dim, sizeof n->dim);
		n->memory = memory ? *memory : (struct shared){.fd = -1};
	}
	pthread_mutex_unlock(&s->list);
}

void libquoit_named_closed(struct quoit_session *s, uint32_t number)
{
	struct named *n = &s->named[number];

	pthread_mutex_lock(&s->list);
	if (n->opened && !--n->opened && !n->uses)
		libquoit_shared_drop(&n->memory);
	pthread_mutex_unlock(&s->list);
}

void libquoit_named_drop_all(struct quoit_session *s)
{
	for (unsigned i = 0; i < QUOIT_MAX_SERVICES; i++)
		if (s->named[i].opened)
			libquoit_shared_drop(&s->named[i].memory);
}

/* ---- memory ---- */

static int map(struct quoit_session *s, uint32_t number, struct shared *ret)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_TENSOR_MEMORY, .tensor_memory.number = number};
	int fd, err = libquoit_control_call(s, &m, NULL, 0, &fd, 1);

	if (err)
		return err;
	err = libquoit_shared_look(fd, m.tensor_memory.bytes, "tensor", ret);
	close(fd);
	return err;
}

static int refuse_closed(void)
{
	return libquoit_text_refuse(-EBADF, "its tensor with a name was closed");
}

/* What is known of it now; -EBADF: it was closed. */
static int look(struct quoit_session *s, uint32_t number, struct named *ret)
{
	pthread_mutex_lock(&s->list);
	*ret = s->named[number];
	pthread_mutex_unlock(&s->list);
	return ret->opened ? 0 : refuse_closed();
}

/* Another thread may have mapped it meanwhile, or closed it. */
static void keep(struct quoit_session *s, uint32_t number, struct shared *memory)
{
	struct named *n = &s->named[number];

	pthread_mutex_lock(&s->list);
	if (n->opened && !n->memory.base) {
		n->memory = *memory;
		memory->base = NULL;
	}
	pthread_mutex_unlock(&s->list);
	libquoit_shared_drop(memory);
}

int libquoit_named_map(struct quoit_session *s, uint32_t number, bool writes, uint8_t **ret,
		       uint64_t *ret_bytes)
{
	struct shared memory;
	struct named n;
	int err = look(s, number, &n);

	if (!err && writes && !n.is_maker)
		return libquoit_text_refuse(
			-EACCES, "only the session that made a tensor with a name can write it by "
				 "a pointer, in a function or acquired: let a job write it");
	if (!err && !n.memory.base) {
		err = map(s, number, &memory);
		if (!err) {
			keep(s, number, &memory);
			err = look(s, number, &n);
		}
	}
	if (err)
		return err;
	*ret = n.memory.base;
	*ret_bytes = n.memory.bytes;
	return 0;
}

int libquoit_named_use(struct quoit_session *s, uint32_t number, bool writes, uint8_t **ret,
		       uint64_t *ret_bytes)
{
	struct named *n = &s->named[number];
	int err = libquoit_named_map(s, number, writes, ret, ret_bytes);

	if (err)
		return err;
	pthread_mutex_lock(&s->list);
	if (n->opened && n->memory.base == *ret)
		n->uses++;
	else
		err = refuse_closed(); /* another thread did so since it was mapped */
	pthread_mutex_unlock(&s->list);
	return err;
}

void libquoit_named_give_back(struct quoit_session *s, uint32_t number)
{
	struct named *n = &s->named[number];

	pthread_mutex_lock(&s->list);
	if (!--n->uses && !n->opened)
		libquoit_shared_drop(&n->memory);
	pthread_mutex_unlock(&s->list);
}

/* ---- attaching ---- */

quoit_tensor quoit_attach_tensor(struct quoit_ring *q, int number)
{
	const uint32_t index = ((uint32_t)number >> 8) - QUOIT_TEAM_SERVICE;
	struct quoit_shape shape = {.dim = {0}};
	struct named n;

	if (!libquoit_is_mine(q->mine)) {
		(void)libquoit_refuse_child(q);
		return libquoit_unmade_refused(q);
	}
	if (number < 0 || number & 0xff || index >= QUOIT_MAX_SERVICES ||
	    look(q->session, index, &n) < 0) {
		libquoit_refuse(q, -EINVAL, "%d is not a number of quoit_open_tensor", number);
		return libquoit_unmade_refused(q);
	}
	shape.dtype = n.dtype;
	memcpy(shape.dim, n.dim, sizeof shape.dim);
	return libquoit_tensor_attach(q, &shape, index);
}
