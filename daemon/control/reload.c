/* SPDX-License-Identifier: MIT */
/* reload.c - reads the configuration again while quoitd runs */
#include "reload.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "config_check.h"
#include "control.h"
#include "machine/memory_limit.h"
#include "names.h"
#include "observe/session_folder.h"
#include "service_manager.h"
#include "shares.h"

/* The thread owns it until it is done, then the control thread. */
struct reading_again {
	pthread_t thread;
	int argc;
	char **argv;
	int eventfd; /* a copy: the control thread may close its own before the thread is done */
	struct config config;
	char service_socket[QUOIT_SOCKET_BYTES]; /* the service manager's socket; "": none */
	bool bad;
	uint32_t done;
};

/* ---- announcing it ---- */

static void reload_begun(void)
{
	service_manager_say_reloading();
	log_info("reading the configuration again");
}

static void reload_ended(struct control *c, bool taken, const char *waiting)
{
	if (!taken)
		log_error("the configuration was not reloaded: the one before stays in force");
	else if (*waiting)
		log_warning("the configuration was reloaded; a restart is needed to change: %s",
			    waiting);
	else
		log_info("the configuration was reloaded");
	service_manager_say_reloaded(c);
}

/* ---- reading, in a thread of its own ---- */

static void log_lines(char *said)
{
	static const char name[] = "quoitd: ";
	char *line;

	while ((line = strsep(&said, "\n"))) {
		if (!strncmp(line, name, sizeof name - 1))
			line += sizeof name - 1;
		if (strstr(line, ": warning: "))
			log_warning("%s", line);
		else if (*line)
			log_error("%s", line);
	}
}

/* Read as at the start; errors are logged. */
static int read_all(struct reading_again *r)
{
	char *said = NULL;
	size_t size = 0;
	FILE *err = open_memstream(&said, &size);
	int status = -ENOMEM;

	config_init(&r->config);
	if (err) {
		status = config_args(&r->config, r->argc, r->argv, err, err);
		(void)fclose(err);
	}
	log_lines(said);
	free(said);
	return status;
}

static void *read_again(void *arg)
{
	struct reading_again *r = arg;
	uint64_t one = 1;
	ssize_t n;

	(void)pthread_setname_np(pthread_self(), "quoit-reload");
	r->bad = read_all(r) != 0;
	r->bad |= config_check_again(&r->config) < 0;
	r->bad |= *r->service_socket && !service_manager_pass_socket(&r->config, r->service_socket);
	if (!config_settle(&r->config, memory_limit_default(), memory_limit_most()))
		memory_limit_say(r->config.memory);
	__atomic_store_n(&r->done, 1, __ATOMIC_RELEASE);
	n = write(r->eventfd, &one, sizeof one);
	(void)n;
	return NULL;
}

static void release(struct reading_again *r)
{
	if (r->eventfd >= 0)
		close(r->eventfd);
	free(r);
}

static int start(struct control *c)
{
	struct reading_again *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return -ENOMEM;
	r->argc = c->reload.argc;
	r->argv = c->reload.argv;
	if (c->from_service_manager)
		strcpy(r->service_socket, c->reload.config->socket);
	r->eventfd = fcntl(c->eventfd, F_DUPFD_CLOEXEC, 0);
	err = r->eventfd < 0 ? -errno : -pthread_create(&r->thread, NULL, read_again, r);
	if (err < 0)
		release(r);
	else
		c->reload.reading = r;
	return err;
}

void reload_request(struct control *c)
{
	int err;

	if (c->reload.reading) {
		c->reload.again = true;
		return;
	}
	reload_begun();
	err = start(c);
	if (err < 0) {
		log_error("cannot read the configuration: %s", strerror(-err));
		reload_ended(c, false, "");
	}
}

/* ---- taking over ---- */

static void take_over(struct control *c, struct config *from)
{
	struct config *config = c->reload.config;
	char waiting[512];

	/* A name stays known, even if the server that knows it is down at the moment. */
	names_take(&from->rules, &config->rules);
	config_take(config, from, waiting, sizeof waiting);
	log_set_level(log_level_of(config->log));
	totals_set(c->totals, QUOIT_DAEMON_HOST_LIMIT, config->memory);
	session_folder_let_read(c->directory, config->stats_group.gid);
	budget_reload(c->budget);
	shares_apply(c);
	config_tell(config, c->directory);
	reload_ended(c, true, waiting);
}

void reload_advance(struct control *c)
{
	struct reading_again *r = c->reload.reading;

	if (!r || !__atomic_load_n(&r->done, __ATOMIC_ACQUIRE))
		return;
	(void)pthread_join(r->thread, NULL);
	c->reload.reading = NULL;
	if (r->bad)
		reload_ended(c, false, "");
	else
		take_over(c, &r->config);
	release(r);
	if (c->reload.again) {
		c->reload.again = false;
		reload_request(c);
	}
}

void reload_done(struct control *c)
{
	struct reading_again *r = c->reload.reading;

	if (!r)
		return;
	if (__atomic_load_n(&r->done, __ATOMIC_ACQUIRE)) {
		(void)pthread_join(r->thread, NULL);
		release(r);
	} else {
		(void)pthread_detach(r->thread); /* the thread still uses it */
	}
	c->reload.reading = NULL;
}
