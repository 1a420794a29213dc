/* SPDX-License-Identifier: MIT */
/* names.c - the thread that looks up names, and what is done with its findings */
#include "names.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process_limits.h"
#include "control.h"
#include "shares.h"

#define EVERY_NS UINT64_C(30000000000)
#define SOON_NS  UINT64_C(1000000000) /* at most so often, however many users come */

/* The thread owns it until it is done, then the control thread. */
struct looking {
	pthread_t thread;
	int eventfd; /* a copy: the control thread may close its own before the thread is done */
	struct user_rules rules;
	bool found;
	uint32_t done;
};

static void *look(void *arg)
{
	struct looking *l = arg;
	uint64_t one = 1;
	ssize_t n;

	(void)pthread_setname_np(pthread_self(), "quoit-names");
	l->found = user_rules_look_again(&l->rules);
	__atomic_store_n(&l->done, 1, __ATOMIC_RELEASE);
	n = write(l->eventfd, &one, sizeof one);
	(void)n;
	return NULL;
}

static void release(struct looking *l)
{
	if (l->eventfd >= 0)
		close(l->eventfd);
	free(l);
}

static void start(struct control *c)
{
	struct looking *l = calloc(1, sizeof *l);
	int err = l ? 0 : -ENOMEM;

	c->names.next_ns = totals_now_ns() + EVERY_NS;
	if (!err) {
		l->rules = c->config->rules;
		l->eventfd = fcntl(c->eventfd, F_DUPFD_CLOEXEC, 0);
		err = l->eventfd < 0 ? -errno : -pthread_create(&l->thread, NULL, look, l);
	}
	if (!err) {
		c->names.looking = l;
		return;
	}
	log_warning("cannot look up names of users and groups: %s", process_limits_words(err).text);
	if (l)
		release(l);
}

/* Of the sections that were unknown; the log says of another one why it does not count. */
static void tell_of_known(const struct user_rules *r, const bool unknown[RULES_SECTIONS])
{
	for (unsigned i = 0; i < r->count; i++) {
		const struct rule_section *s = &r->section[i];

		if (unknown[i] && s->is_known && s->part != RULES_SECOND)
			log_info("the section of %s '%s' takes effect: its name is known now",
				 s->is_group ? "group" : "user", s->name);
	}
}

void names_take(struct user_rules *r, const struct user_rules *from)
{
	bool unknown[RULES_SECTIONS];
	char *said = NULL, *rest, *line;
	size_t size = 0;
	FILE *err = open_memstream(&said, &size);

	for (unsigned i = 0; i < r->count; i++)
		unknown[i] = !r->section[i].is_known;
	user_rules_take_names(r, from, err ? err : stderr);
	if (err)
		(void)fclose(err);
	for (rest = said; (line = strsep(&rest, "\n"));)
		if (*line)
			log_warning("%s", line);
	free(said);
	tell_of_known(r, unknown);
}

/* A reload may have replaced the configuration meanwhile; some of these sections may be left. */
static void take_over(struct control *c, const struct looking *l)
{
	struct config *config = c->reload.config;

	names_take(&config->rules, &l->rules);
	budget_learn(c->budget);
	shares_apply(c);
	config_tell(config, c->directory);
}

void names_may_be_known(struct control *c)
{
	uint64_t soon = totals_now_ns() + SOON_NS, last = c->names.next_ns - EVERY_NS;

	/* Not before SOON_NS have passed since the last look. */
	if (soon < last + SOON_NS)
		soon = last + SOON_NS;
	if (soon < c->names.next_ns)
		c->names.next_ns = soon;
}

int names_timeout_ms(const struct control *c)
{
	uint64_t now = totals_now_ns();

	if (c->names.looking || !user_rules_lack_names(&c->config->rules))
		return -1;
	return c->names.next_ns > now ? (int)((c->names.next_ns - now) / 1000000 + 1) : 0;
}

void names_advance(struct control *c)
{
	struct looking *l = c->names.looking;

	if (!l) {
		if (user_rules_lack_names(&c->config->rules) && totals_now_ns() >= c->names.next_ns)
			start(c);
		return;
	}
	if (!__atomic_load_n(&l->done, __ATOMIC_ACQUIRE))
		return;
	(void)pthread_join(l->thread, NULL);
	c->names.looking = NULL;
	if (l->found)
		take_over(c, l);
	release(l);
}

void names_done(struct control *c)
{
	struct looking *l = c->names.looking;

	if (!l)
		return;
	c->names.looking = NULL;
	if (__atomic_load_n(&l->done, __ATOMIC_ACQUIRE)) {
		(void)pthread_join(l->thread, NULL);
		release(l);
	} else {
		(void)pthread_detach(l->thread); /* the thread still uses it */
	}
}
