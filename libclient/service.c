/* SPDX-License-Identifier: MIT */
/* service.c - let go of services of other processes, and look up their functions */
#include "service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"

/* ---- let go ---- */

static void leave(struct quoit_session *s, const struct quoit_service *service)
{
	struct quoit_service **at = &s->services;

	pthread_mutex_lock(&s->list);
	while (*at != service)
		at = &(*at)->next;
	*at = service->next;
	pthread_mutex_unlock(&s->list);
}

void libquoit_service_free(struct quoit_service *service)
{
	if (libquoit_is_mine(service->session->mine)) /* a child's threads wait nowhere */
		pthread_mutex_destroy(&service->lock);
	free(service);
}

int quoit_close_service(struct quoit_service *service)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICE_CLOSE};
	int err;

	if (!service)
		return 0;
	if (!libquoit_is_mine(service->session->mine))
		return libquoit_text_refuse_child();
	leave(service->session, service);
	m.service_function.service = service->number;
	err = libquoit_control_ask(service->session, &m, -1);
	libquoit_service_free(service);
	return err;
}

void libquoit_service_free_all(struct quoit_session *s)
{
	struct quoit_service *service;

	while ((service = s->services) != NULL) {
		s->services = service->next;
		libquoit_service_free(service);
	}
}

/* ---- functions ---- */

static int find_known(struct quoit_service *service, const char *name)
{
	int number = -ENOENT;

	pthread_mutex_lock(&service->lock);
	for (unsigned i = 0; i < service->count && number < 0; i++)
		if (!strcmp(service->known[i].name, name))
			number = service->known[i].number;
	pthread_mutex_unlock(&service->lock);
	return number;
}

/* Two threads may note the same function, so there may be no room left: then it is asked for again. */
static void note(struct quoit_service *service, const char *name, uint8_t number)
{
	pthread_mutex_lock(&service->lock);
	if (service->count < QUOIT_MAX_FUNCTIONS) {
		struct known_function *to = &service->known[service->count++];

		memcpy(to->name, name, strlen(name) + 1);
		to->number = number;
	}
	pthread_mutex_unlock(&service->lock);
}

static int ask_function(struct quoit_service *service, const char *name)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICE_FUNCTION,
			      .service_function = {.service = service->number}};
	int err;

	memcpy(m.service_function.name, name, strlen(name));
	err = libquoit_control_ask(service->session, &m, -1);
	if (err)
		return err;
	if (m.service_function.number >= QUOIT_MAX_FUNCTIONS)
		return libquoit_text_refuse_reply();
	note(service, name, (uint8_t)m.service_function.number);
	return (int)m.service_function.number;
}

int quoit_find_service_function(const struct quoit_service *service, const char *name)
{
	/* What was looked up is remembered, which the caller does not see. */
	struct quoit_service *own = (struct quoit_service *)(uintptr_t)service;
	int number;

	if (!libquoit_is_mine(service->session->mine))
		return libquoit_text_refuse_child();
	if (!name || !*name || strlen(name) >= QUOIT_NAME_BYTES)
		return libquoit_text_refuse(-ENOENT, "the service has no function '%.64s'",
					    name ? name : "");
	number = find_known(own, name);
	if (number < 0)
		number = ask_function(own, name);
	return number < 0 ? number
			  : (int)((QUOIT_TEAM_SERVICE + service->number) << 8 | (unsigned)number);
}

/* ---- the name of a function that failed ---- */

static bool find_name(struct quoit_service *service, uint8_t function, char ret[QUOIT_NAME_BYTES])
{
	bool known = false;

	pthread_mutex_lock(&service->lock);
	for (unsigned i = 0; i < service->count && !known; i++) {
		known = service->known[i].number == function;
		if (known)
			memcpy(ret, service->known[i].name, QUOIT_NAME_BYTES);
	}
	pthread_mutex_unlock(&service->lock);
	return known;
}

bool libquoit_service_function(struct quoit_session *s, const struct quoit_error *e,
			       char ret[QUOIT_NAME_BYTES])
{
	bool known = false;

	if (e->opcode != QUOIT_OP_CALL || e->team < QUOIT_TEAM_SERVICE)
		return false;
	pthread_mutex_lock(&s->list);
	for (struct quoit_service *i = s->services; i && !known; i = i->next)
		known = i->number == e->team - QUOIT_TEAM_SERVICE && find_name(i, e->function, ret);
	pthread_mutex_unlock(&s->list);
	return known;
}
