/* SPDX-License-Identifier: MIT */
/*
 * check_quoitd.c - check the running quoitd: does it answer, what does it lack, which devices it
 * lost
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "tree.h"
#include "trials.h"

#define LINE_BYTES 4096

/* ---- is it there ---- */

static void say_where(const struct running *r, struct finding *f)
{
	if (r->pid)
		finding_say(f, LEVEL_OK, "quoitd runs as process %u at %s, and answers", r->pid,
			    r->socket);
	else
		finding_say(f, LEVEL_OK, "a quoitd answers at %s; its process is not visible here",
			    r->socket);
}

/* First find out why it is silent: to end it would also end other users' jobs. */
static void say_silent(const struct examination *e, struct finding *f)
{
	const struct running *r = &e->running;
	char name[32];

	finding_say(f, LEVEL_FAILURE, "the quoitd at %s does not answer within %u seconds",
		    r->socket, RUNNING_PATIENCE_S);
	if (r->pid && tree_line(e->root, name, sizeof name, "proc/%u/comm", r->pid) &&
	    !strcmp(name, "quoitd"))
		finding_mend(f, "programs wait half a minute for its answer, and then fail",
			     "ps -o pid,stat,wchan:20,comm -p %u", r->pid);
	else
		finding_mend(f, "programs wait half a minute for its answer, and then fail",
			     "# find its process, and look whether that is stopped or very busy");
}

static void say_what_is_wrong(const struct examination *e, struct finding *f)
{
	const struct running *r = &e->running;
	static const char why[] = "no program finds a quoitd";

	switch (r->state) {
	case RUNNING_DEAD:
		finding_say(f, LEVEL_FAILURE, "a quoitd that is dead has left %s behind",
			    r->socket);
		finding_mend(f, why, "quoitd --socket=%s",
			     finding_is_plain(r->socket) ? r->socket : "PATH");
		break;
	case RUNNING_FORBIDDEN:
		finding_say(f, LEVEL_FAILURE, "a quoitd is at %s, but this user may not connect",
			    r->socket);
		finding_mend(f, "no program of this user can connect", "namei -l %s",
			     finding_is_plain(r->socket) ? r->socket : "PATH");
		break;
	case RUNNING_REFUSES:
		finding_say(f, LEVEL_FAILURE, "the quoitd at %s refuses this user: %s", r->socket,
			    r->refusal);
		finding_mend(f, "it refuses all programs of this user",
			     "quoitd --private  # starts one of your own; or: unset QUOIT_SOCKET");
		break;
	case RUNNING_SILENT:
		say_silent(e, f);
		break;
	default:
		finding_say(f, LEVEL_FAILURE, "the program that answers at %s is not quoitd",
			    r->socket);
		finding_mend(f, why, "sudo ss -xlp  # names the process");
	}
}

static void say_version(const struct running *r, struct finding *f)
{
	finding_say(f, LEVEL_WARNING, "it is %s", r->other_version);
	finding_mend(f, "tools may lack figures of this quoitd, or read them wrongly",
		     "# install both from one version, and restart quoitd");
}

void check_quoitd(struct examination *e)
{
	struct finding *f = examination_add(e);

	if (!e->live)
		finding_say(f, LEVEL_NOTE,
			    "no quoitd was looked for: this is another machine's /proc and /sys");
	else if (e->running.state == RUNNING_NOT)
		finding_say(f, LEVEL_NOTE,
			    "no quoitd runs at %s: what follows holds for one started from here",
			    e->running.socket);
	else if (e->running.state == RUNNING_WELL)
		say_where(&e->running, f);
	else
		say_what_is_wrong(e, f);
	if (e->live && *e->running.other_version)
		say_version(&e->running, examination_add(e));
}

/* ---- its topology text ---- */

/*
 * Find the next line that begins with `name`, and put the rest of it into `ret`; NULL: there is
 * none.
 */
static const char *next_line(const char *text, const char *name, char ret[LINE_BYTES])
{
	text = tree_behind(text, name);
	if (text)
		snprintf(ret, LINE_BYTES, "%.*s", (int)strcspn(text, "\n"), text);
	return text;
}

/* Huge pages are tried by check_shmem, with the setting that decides about them. */
static void try_all(struct examination *e)
{
	for (unsigned i = 0; i < FEATURE_NR; i++)
		if (i != FEATURE_HUGE_PAGES)
			judge_feature(examination_add(e), (enum feature)i,
				      trial_run((enum feature)i));
}

/* quoitd's own findings count more than what we find in its place. */
void check_features(struct examination *e)
{
	char line[LINE_BYTES];

	if (!e->live) {
		finding_say(examination_add(e), LEVEL_NOTE,
			    "the kernel's features are not tried: this is another machine");
		return;
	}
	if (!e->running.has_text) {
		try_all(e);
		return;
	}
	for (const char *at = next_line(e->running.text, "missing: ", line); at;
	     at = next_line(at, "missing: ", line))
		judge_missing(examination_add(e), line);
}

static void judge_device(struct finding *f, const char *line)
{
	finding_word(f, line);
	if (strstr(line, "left out: ") || strstr(line, ", lost: ")) {
		finding_say(f, LEVEL_FAILURE, "%s", line);
		finding_mend(f, "jobs for it fail with -ENODEV",
			     strstr(line, ", lost: ")
				     ? "quoit doctor nvidia  # it is tried again every 10 s"
				     : "quoit doctor driver device-files  # mend these, then start "
				       "quoitd anew");
	} else {
		finding_say(f, LEVEL_OK, "%s", line);
	}
}

void check_devices(struct examination *e)
{
	char line[LINE_BYTES], name[24];

	if (!e->running.has_text)
		return;
	/* there is no device, and the line says why */
	if (next_line(e->running.text, "device: ", line))
		judge_device(examination_add(e), line);
	for (unsigned n = 1;; n++) {
		snprintf(name, sizeof name, "device %u: ", n);
		if (!next_line(e->running.text, name, line))
			return;
		judge_device(examination_add(e), line);
	}
}
