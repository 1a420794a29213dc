/* SPDX-License-Identifier: MIT */
/* main.c - quoitd: reads the options, looks at the machine, starts the threads, serves */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quoit/descriptors.h>
#include <quoit/uid.h>

#include "base/directory_lock.h"
#include "base/exit_status.h"
#include "base/journal.h"
#include "base/kept_files.h"
#include "base/log.h"
#include "base/process_limits.h"
#include "base/tsc.h"
#include "config/config.h"
#include "control/config_check.h"
#include "control/control.h"
#include "control/service_manager.h"
#include "engine.h"
#include "engine_watch.h"
#include "machine/memory_limit.h"
#include "memory/sigbus_guard.h"
#include "observe/session_folder.h"
#include "ops/ops.h"

/* The socket's directory also holds the counter files. */
static int open_directory(const char *socket)
{
	char copy[QUOIT_SOCKET_BYTES];
	const char *path;
	int fd;

	snprintf(copy, sizeof copy, "%.*s", (int)sizeof copy - 1, socket);
	path = dirname(copy);
	if (mkdir(path, 0755) == 0)
		(void)chmod(path, 0755); /* whatever the umask: clients must reach it */
	else if (errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* What counter files and texts need there, without those of sessions, which may be missing. */
#define ROOM_BYTES (UINT64_C(1) << 20)

/* A full file system is to be found here, not by tools that see nothing. */
static int find_room(int lock)
{
	int err = fallocate(lock, 0, 0, ROOM_BYTES) < 0 ? -errno : 0;

	(void)!ftruncate(lock, 0);
	return err == -EOPNOTSUPP || err == -EINTR ? 0 : err;
}

/*
 * quoitd tells users apart by uid.  Where this process sees only some uids, all others look like
 * one user, and could end each other's sessions.  A private quoitd needs to know only its own user.
 */
static bool knows_its_users(const struct config *config)
{
	if (config->is_private && !quoit_uid_is_told(geteuid()))
		log_error("this user namespace does not map quoitd's own user "
			  "(/proc/self/uid_map), so other users would look like it: map it, as "
			  "unshare --map-current-user does");
	else if (!config->is_private && !quoit_uid_all_are_here())
		log_error("this user namespace does not map all users (/proc/self/uid_map): use "
			  "--private");
	else
		return true;
	return false;
}

/*
 * A core dump would hold all users' data, and quoitd's /proc entries lead to it.  A private quoitd
 * is not isolated from its own user, to whom everything in it belongs: it only leaves out core
 * dumps, and the user's tools and debuggers may look.
 */
static void shut_out_others(const struct config *config)
{
	const struct rlimit none = {0};

	(void)setrlimit(RLIMIT_CORE, &none);
	if (!config->is_private)
		(void)prctl(PR_SET_DUMPABLE, 0);
}

static void say_ready(struct control *c)
{
	const struct config *config = c->config;

	log_info("listening on %s", config->socket);
	if (config->ready_fd != UINT64_MAX) {
		while (write((int)config->ready_fd, "", 1) < 0 && errno == EINTR)
			;
		close((int)config->ready_fd);
	}
	service_manager_say_ready(c);
}

static void add_devices(struct control *c, const struct engine *m)
{
	struct executors *executors = m->executors;
	uint64_t bytes = executors_lease_bytes(executors), least = UINT64_C(16) << 20;

	c->executors = executors;
	c->gpu = &m->gpu;
	c->places = &m->places;
	if (!bytes)
		return;
	c->device_lease = c->config->gpu_lease ? c->config->gpu_lease : bytes / 64;
	if (!c->config->gpu_lease && c->device_lease < least)
		c->device_lease = least < bytes ? least : bytes;
	budget_set_device(c->budget, bytes);
	totals_set(m->totals, QUOIT_DAEMON_DEVICE_LIMIT, bytes);
}

/* passed: the socket that was passed to quoitd, or a negative number. */
static int serve(const struct reload *from, struct engine *m, int directory, int passed)
{
	const struct config *config = from->config;
	struct control control = {.config = config,
				  .reload = *from,
				  .plan = m->plan,
				  .features = &m->features,
				  .reactors = m->reactors,
				  .reactor_count = m->plan->nr_reactors,
				  .users = {.reactors = m->plan->nr_reactors},
				  .outbox = m->outbox,
				  .eventfd = m->control_eventfd,
				  .epoll = -1,
				  .listener = passed,
				  .from_service_manager = passed >= 0,
				  .signals = -1,
				  .directory = directory,
				  .totals = m->totals};
	struct watchdog *watchdog;
	int err = -ENOMEM;

	control.budget = budget_new(config);
	control.sessions_of = calloc(m->plan->nr_reactors, sizeof *control.sessions_of);
	for (uint32_t i = 0; i < m->plan->nr_reactors; i++)
		m->outbox[i]->need_wake = &control.need_wake;
	totals_set(m->totals, QUOIT_DAEMON_HOST_LIMIT, config->memory);
	session_folder_let_read(directory, config->stats_group.gid);
	if (control.budget && control.sessions_of)
		err = control_init(&control);
	else
		log_error("cannot start: %s", process_limits_words(err).text);
	if (!err) {
		err = engine_start(m);
		if (!err) {
			add_devices(&control, m);
			say_ready(&control);
			watchdog = engine_watch(m, &control);
			engine_start_more(m);
			control_run(&control);
			watchdog_stop(watchdog);
			engine_stop(m);
		}
	}
	control_done(&control);
	budget_free(control.budget);
	free(control.sessions_of);
	return err;
}

/* Through /proc quoitd gives clients memory that they may only read.  -errno after a log line. */
static int look_for_proc(void)
{
	int err = access("/proc/self/fd", X_OK) < 0 ? -errno : 0;

	if (err)
		log_error("cannot use /proc/self/fd (%s), which quoitd needs to hand out read-only "
			  "memory: mount /proc (mount -t proc proc /proc)",
			  strerror(-err));
	return err;
}

/* Returns the directory's lock, or -errno after a log line. */
static int take_directory(const struct config *config, int directory)
{
	int lock = directory_lock(directory), err;

	if (lock < 0) {
		log_error("cannot lock the directory of %s for this quoitd alone: %s",
			  config->socket, strerror(-lock));
		return lock;
	}
	err = find_room(lock);
	if (err < 0) {
		log_error("no room for counter files (%llu KiB) in the directory of %s: %s",
			  (unsigned long long)ROOM_BYTES >> 10, config->socket,
			  process_limits_words(err).text);
		close(lock);
		return err;
	}
	directory_lock_sign(lock);
	return lock;
}

/* With the directory and its lock. */
static int run_in(const struct reload *from, int directory, int passed)
{
	struct engine *machine;
	int folder = session_folder_make(directory), err;

	if (folder < 0)
		return folder;
	err = sigbus_guard_init();
	if (!err)
		err = engine_make(from->config, directory, &machine);
	if (!err) {
		err = serve(from, machine, directory, passed);
		engine_free(machine, directory);
	}
	session_folder_remove(directory, folder);
	return err;
}

/* From opening the directory to the end. */
static enum exit_status run(const struct reload *from, int passed)
{
	const struct config *config = from->config;
	int err = look_for_proc(), directory, lock;

	if (err < 0)
		return exit_status_of(err);
	directory = open_directory(config->socket);
	if (directory < 0) {
		log_error("cannot use the directory of %s: %s; --socket=PATH names another",
			  config->socket, strerror(-directory));
		return exit_status_of(directory);
	}
	lock = take_directory(config, directory);
	if (lock < 0) {
		close(directory);
		return exit_status_of(lock);
	}
	kept_files_lock(directory);
	err = run_in(from, directory, passed);
	close(lock);
	close(directory);
	return exit_status_of(err);
}

int main(int argc, char **argv)
{
	static struct config config;
	const struct reload from = {.config = &config, .argc = argc, .argv = argv};
	int err, status, passed;
	bool fits;

	quoit_descriptors_open_standard();
	process_limits_raise();
	process_limits_set_stacks();
	config_init(&config);
	err = config_args(&config, argc, argv, stdout, stderr);
	if (config.check_only && err <= 0) { /* report everything that is wrong */
		log_init(LOG_LEVEL_ERROR, NULL);
		return config_check(&config) || err ? STATUS_OPTIONS : STATUS_ENDED;
	}
	if (err)
		return err < 0 ? STATUS_OPTIONS : STATUS_ENDED;
	fits = config_settle(&config, memory_limit_default(), memory_limit_most());
	log_init(log_level_of(config.log), journal_has_stderr() ? journal_send : NULL);
	if (!fits)
		memory_limit_say(config.memory);
	shut_out_others(&config);
	(void)signal(SIGPIPE, SIG_IGN); /* the log's reader may go away */
	err = log_start();
	if (err < 0)
		log_warning("cannot start the log thread (%s): a blocked reader of stderr can "
			    "stall quoitd",
			    process_limits_words(err).text);
	passed = service_manager_take_socket(&config);
	if (passed < 0 && passed != -ENOENT)
		status = exit_status_of(passed);
	else
		status = knows_its_users(&config) ? run(&from, passed) : STATUS_RIGHTS;
	log_stop();
	return status;
}
