/* SPDX-License-Identifier: MIT */
/* service_open.c - look up services of other processes */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "control.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"
#include "service.h"
#include "sync.h"

/*
 * While quoitd holds a reply, no other thread can ask it anything.  So a long wait is many requests,
 * with a moment for others in between.
 */
#define REPLY_MOST_MS 100u
#define NAP_NS        1000000u

static void enter(struct quoit_session *s, struct quoit_service *service)
{
	pthread_mutex_lock(&s->list);
	service->next = s->services;
	s->services = service;
	pthread_mutex_unlock(&s->list);
}

static int ask(struct quoit_session *s, const struct service_name *name, unsigned wait_ms,
	       uint64_t left_ms, uint32_t *ret_number)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICE};
	int err;

	memcpy(m.service.name, name->name, sizeof m.service.name);
	m.service.uid = name->uid;
	m.service.wait_ms = wait_ms;
	m.service.reply_ms = left_ms < REPLY_MOST_MS ? (uint32_t)left_ms : REPLY_MOST_MS;
	err = libquoit_control_ask(s, &m, -1);
	if (!err && m.service.number >= QUOIT_MAX_SERVICES)
		return libquoit_text_refuse_reply();
	*ret_number = m.service.number;
	return err;
}

static int wait_for(struct quoit_session *s, const struct service_name *name, unsigned wait_ms,
		    uint32_t *ret_number)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	const uint64_t until = clock_deadline((int)wait_ms);
	uint64_t now;
	int err;

	for (;;) {
		now = clock_ns();
		err = ask(s, name, wait_ms, now < until ? (until - now) / 1000000u : 0, ret_number);
		if (err != -ENOENT || now >= until)
			return err;
		(void)nanosleep(&nap, NULL);
	}
}

static struct quoit_service *service_new(struct quoit_session *s)
{
	struct quoit_service *service = calloc(1, sizeof *service);

	if (!service)
		return NULL;
	service->session = s;
	pthread_mutex_init(&service->lock, NULL);
	return service;
}

int quoit_open_service(struct quoit_session *s, const char *name, unsigned wait_ms,
		       struct quoit_service **ret)
{
	struct quoit_service *service;
	struct service_name parts;
	int err;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	if (wait_ms > QUOIT_SERVICE_MOST_MS)
		return libquoit_text_refuse(
			-EINVAL, "cannot wait for %u ms for a service: allowed are 0 to %u",
			wait_ms, QUOIT_SERVICE_MOST_MS);
	err = libquoit_service_parse(name, &parts);
	if (err)
		return err;
	service = service_new(s);
	if (!service)
		return libquoit_text_refuse_memory();
	err = wait_for(s, &parts, wait_ms, &service->number);
	if (err) {
		libquoit_service_free(service);
		return err;
	}
	enter(s, service);
	libquoit_sync_note(s, service->number, 0, ""); /* a lock that was closed may have had it */
	libquoit_text_set("no error");
	*ret = service;
	return 0;
}
