/* SPDX-License-Identifier: MIT */
/* config.c - the option table, its defaults, and what takes effect at a reload */
#include <stddef.h>
#include <string.h>

#include "base/hang_injection.h"
#include "config_private.h"

#define FIELD(f) offsetof(struct config, f), sizeof(((struct config *)0)->f)

const struct option_row config_rows[] = {
	{"socket", OPTION_TEXT, FIELD(socket), 0, 0, "PATH",
	 "socket on which to listen; counter files lie beside it (default: /run/quoit/quoitd.sock)",
	 false},
	{"private", OPTION_FLAG, FIELD(is_private), 0, 0, NULL,
	 "serve only the user that starts quoitd, without isolation between its programs; listen "
	 "at $QUOIT_SOCKET, else below $XDG_RUNTIME_DIR",
	 false},
	{"reactors", OPTION_NUMBER, FIELD(reactors), 0, 64, "N",
	 "threads that take and start jobs (0: one for every four cores of a NUMA node)", false},
	{"cpus", OPTION_TEXT, FIELD(cpus), 0, 0, "LIST", "use only these CPUs, for example 0-3,8",
	 false},
	{"memory", OPTION_BYTES, FIELD(memory), 0, UINT64_MAX, "BYTES",
	 "host memory for all leases, tables and rings together (0: half of what the cgroup "
	 "allows)",
	 true},
	{"lease", OPTION_BYTES, FIELD(lease), 0, UINT64_MAX, "BYTES",
	 "host memory promised to a session that asks for no amount (0: a part is promised, and "
	 "the lease grows)",
	 true},
	{"uid-memory", OPTION_BYTES, FIELD(uid_memory), 0, UINT64_MAX, "BYTES",
	 "host memory for all leases, tables and rings of one user (0: by its share)", true},
	{"uid-connections", OPTION_NUMBER, FIELD(uid_connections), 1, 100000, "N",
	 "most connections of one user at a time", true},
	{"uid-rings", OPTION_NUMBER, FIELD(uid_rings), 1, 262144, "N",
	 "most rings of one user at a time; a reactor has room for 4096 of all users", true},
	{"uid-share", OPTION_NUMBER, FIELD(uid_share), SHARE_LEAST, SHARE_MOST, "N",
	 "weight of a user against the other users; a [user] or [group] section can set another",
	 true},
	{"uid-gpu-memory", OPTION_BYTES, FIELD(uid_gpu_memory), 0, UINT64_MAX, "BYTES",
	 "memory on each device for all leases of one user (0: by its share)", true},
	{"hello-ms", OPTION_NUMBER, FIELD(hello_ms), 10, 600000, "MS",
	 "ms within which a new connection must send HELLO; so long it waits at most for what "
	 "its user is giving back",
	 true},
	{"max-jobs", OPTION_NUMBER, FIELD(max_jobs), 64, 65536, "N",
	 "most jobs of one session in flight", true},
	{"max-tensors", OPTION_NUMBER, FIELD(max_tensors), 64, 1048576, "N",
	 "most tensors of one session alive at a time", true},
	{"log", OPTION_LEVEL, FIELD(log), 0, 0, "LEVEL", "error, warning, info or debug", true},
	{"stats-group", OPTION_GROUP, FIELD(stats_group), 0, 0, "GROUP",
	 "group whose members may read the counter files of all sessions, and see what is done with "
	 "services and locks (default: none)",
	 true},
	{"module", OPTION_LIST, FIELD(module), 0, 0, "PATH",
	 "plug-in module to load, which adds operations; may be given several times", false},
	{"module-ms", OPTION_NUMBER, FIELD(module_ms), 10, 86400000, "MS",
	 "ms that one job of a module may take; after that, the module's process is killed", false},
	{"start-ms", OPTION_NUMBER, FIELD(start_ms), 10, 86400000, "MS",
	 "ms within which the process of a module or device must be up, and gone once it is killed",
	 false},
	{"gpu", OPTION_TEXT, FIELD(gpu), 0, 0, "KIND",
	 "devices to use: auto (those of an NVIDIA driver), none, cuda, soft or soft:N", false},
	{"gpu-memory", OPTION_BYTES, FIELD(gpu_memory), 0, UINT64_MAX, "BYTES",
	 "memory of each device for all leases (0: nine tenths of it); soft devices have this size",
	 false},
	{"gpu-lease", OPTION_BYTES, FIELD(gpu_lease), 0, UINT64_MAX, "BYTES",
	 "memory leased on each device to a session that asks for none (0: 1/64 of gpu-memory, at "
	 "least 16M)",
	 false},
	{"gpu-peers", OPTION_FLAG, FIELD(gpu_peers), 0, 0, NULL,
	 "copy large tensors from device to device directly, not through host memory", false},
	{"gpu-ms", OPTION_NUMBER, FIELD(gpu_ms), 10, 86400000, "MS",
	 "ms that one job on a device may take; after that, the device's process is killed", false},
	{"blas", OPTION_TEXT, FIELD(blas), 0, 0, "NAME",
	 "what computes matrix products: auto (the fastest in a trial at the start), built-in, or "
	 "a name from quoitd(8)",
	 false},
	{"disable", OPTION_TEXT, FIELD(disable), 0, 0, "LIST",
	 "refuse these operations, for example file_read,file_write", false},
	{"file-systems", OPTION_TEXT, FIELD(file_systems), 0, 0, "LIST",
	 "file systems on which quoitd writes to files of other users: disks (the default: ext4, "
	 "xfs, btrfs and others), names like nfs, numbers like 0x6969",
	 false},
	{"ready-fd", OPTION_FD, FIELD(ready_fd), 0, 1048576, "FD",
	 "write a byte to this file descriptor once quoitd is ready", false},
	{"drain-ms", OPTION_NUMBER, FIELD(drain_ms), 0, 3600000, "MS",
	 "ms that jobs have to finish when quoitd ends; after that, they are cancelled", true},
	{"tile-ms", OPTION_NUMBER, FIELD(tile_ms), 100, 86400000, "MS",
	 "ms of CPU time for one tile, the piece of a long job that one core runs; a thread that "
	 "takes longer counts as stuck",
	 false},
	{"worker-nice", OPTION_NUMBER, FIELD(worker_nice), 0, 19, "N",
	 "nice value of the worker threads, which run tiles of long jobs (0: as quoitd; 19: small "
	 "jobs of other sessions go first, but so do other programs); the processes of modules always "
	 "have 19",
	 false},
	{"no-io-uring", OPTION_FLAG, FIELD(no_io_uring), 0, 0, NULL,
	 "read and write files by threads, as if the kernel refused io_uring", false},
	{"lax-memory", OPTION_FLAG, FIELD(lax_memory), 0, 0, NULL,
	 "serve several users although the memory that they share with quoitd cannot be locked, "
	 "sealed or guarded: one of them can then hold up or burden the others",
	 false},
	{"eager", OPTION_FLAG, FIELD(eager), 0, 0, NULL,
	 "for tests: make memory resident at once, and let no budget hold", false},
	{"inject-hang", OPTION_TEXT, FIELD(inject_hang), 0, 0, "WHERE",
	 "for tests: make a thread get stuck: " HANG_NAMES, false},
};

_Static_assert(sizeof config_rows / sizeof config_rows[0] == CONFIG_ROWS, "and no more");

void config_init(struct config *c)
{
	*c = (struct config){.uid_connections = 1024,
			     .uid_rings = 1024,
			     .uid_share = SHARE_NORMAL,
			     .hello_ms = 2000,
			     .max_jobs = 4096,
			     .max_tensors = 65536,
			     .module_ms = 60000,
			     .start_ms = 10000,
			     .gpu_ms = 30000,
			     .drain_ms = 5000,
			     .tile_ms = 900000,
			     .gpu_peers = true,
			     .stats_group = {.gid = (gid_t)-1},
			     .ready_fd = UINT64_MAX};
	strcpy(c->gpu, "auto");
	strcpy(c->log, "info");
	strcpy(c->file_systems, "disks");
}

const struct option_row *config_find(const char *name)
{
	for (size_t i = 0; i < CONFIG_ROWS; i++)
		if (!strcmp(config_rows[i].name, name))
			return &config_rows[i];
	return NULL;
}

void config_suggest(const char *word, const char *prefix, FILE *err)
{
	option_suggest(config_rows, CONFIG_ROWS, word, prefix, err);
}

/* Modules add up; an empty value removes those before it. */
static bool add_module(struct config *c, const char *text, struct config_origin origin)
{
	if (!*text) {
		c->modules = 0;
		return true;
	}
	if (c->modules == CONFIG_MODULES || strlen(text) >= sizeof c->module[0])
		return false;
	c->module_origin[c->modules] = origin;
	strcpy(c->module[c->modules++], text);
	return true;
}

bool config_assign(struct config *c, const struct option_row *row, const char *text,
		   struct config_origin origin)
{
	bool fits = row->type == OPTION_LIST ? add_module(c, text, origin)
					     : option_put(row, (char *)c + row->offset, text);

	if (fits)
		c->origin[row - config_rows] = origin;
	return fits;
}

/* ---- values left to quoitd ---- */

#define LEAST_LEASE (UINT64_C(16) << 20)

/* From what one user may have; limit 0: by its share, which changes with what others have. */
static uint64_t default_lease(const struct config *c, uint64_t limit)
{
	uint64_t part = (limit && limit < c->memory ? limit : c->memory) / 64;

	return part > LEAST_LEASE ? part : LEAST_LEASE;
}

bool config_settle(struct config *c, uint64_t memory, uint64_t most)
{
	bool fits;

	if (!c->memory)
		c->memory = memory;
	fits = c->memory <= most;
	if (!fits)
		c->memory = most;
	c->makes_lease = !c->lease;
	if (c->makes_lease)
		c->lease = default_lease(c, c->uid_memory);
	return fits;
}

void config_user(const struct config *c, uid_t uid, const gid_t *gids, size_t count,
		 struct user_rule *ret)
{
	const struct rule_section *from[RULE_NR];
	uint64_t *value = ret->value;

	*ret = (struct user_rule){.value = {[RULE_SHARE] = c->uid_share,
					    [RULE_MEMORY] = c->uid_memory,
					    [RULE_CONNECTIONS] = c->uid_connections,
					    [RULE_RINGS] = c->uid_rings,
					    [RULE_GPU_MEMORY] = c->uid_gpu_memory}};
	user_rules_find(&c->rules, uid, gids, count, from);
	for (unsigned i = 0; i < RULE_NR; i++)
		if (from[i])
			value[i] = from[i]->value[i];
	ret->share_from = from[RULE_SHARE];
	if (!from[RULE_LEASE] && !(c->makes_lease && from[RULE_MEMORY]))
		value[RULE_LEASE] = c->lease;
	ret->grows = from[RULE_LEASE] ? !value[RULE_LEASE] : c->makes_lease;
	if (!value[RULE_LEASE])
		value[RULE_LEASE] = default_lease(c, value[RULE_MEMORY]);
	if (value[RULE_MEMORY] && value[RULE_LEASE] > value[RULE_MEMORY] / 4 * 3)
		value[RULE_LEASE] = value[RULE_MEMORY] / 4 * 3; /* tables and rings count, too */
	if (c->is_private && !value[RULE_MEMORY]) /* there is no other user to divide it with */
		value[RULE_MEMORY] = UINT64_MAX;
	if (c->is_private && !value[RULE_GPU_MEMORY])
		value[RULE_GPU_MEMORY] = UINT64_MAX;
}

/* ---- reload ---- */

static bool same_modules(const struct config *a, const struct config *b)
{
	bool same = a->modules == b->modules;

	for (unsigned i = 0; same && i < a->modules; i++)
		same = !strcmp(a->module[i], b->module[i]);
	return same;
}

static bool is_same(const struct config *a, const struct config *b, const struct option_row *row)
{
	const char *x = (const char *)a + row->offset, *y = (const char *)b + row->offset;

	if (row->type == OPTION_LIST)
		return same_modules(a, b);
	if (row->type == OPTION_FLAG || option_is_number(row))
		return !memcmp(x, y, row->size);
	return !strcmp(x, y); /* for a group this is its name, which comes first */
}

static void take_row(struct config *c, const struct config *from, const struct option_row *row)
{
	size_t i = (size_t)(row - config_rows);

	c->origin[i] = from->origin[i];
	memcpy((char *)c + row->offset, (const char *)from + row->offset, row->size);
	if (row->type == OPTION_LIST)
		memcpy(c->module_origin, from->module_origin, sizeof c->module_origin);
}

/* The option stays as it was.  Its origin is gone, since the file has another value now. */
static void keep_row(struct config *c, const struct option_row *row, char *waiting, size_t size)
{
	const struct config_origin kept = {.kind = CONFIG_KEPT};
	size_t used = strlen(waiting);

	c->origin[row - config_rows] = kept;
	for (unsigned i = 0; row->type == OPTION_LIST && i < c->modules; i++)
		c->module_origin[i] = kept;
	snprintf(waiting + used, size - used, "%s%s", used ? " " : "", row->name);
}

void config_take(struct config *c, const struct config *from, char *waiting, size_t size)
{
	*waiting = '\0';
	for (const struct option_row *row = config_rows; row < config_rows + CONFIG_ROWS; row++)
		if (row->at_reload || is_same(c, from, row))
			take_row(c, from, row);
		else
			keep_row(c, row, waiting, size);
	c->rules = from->rules;
	c->makes_lease = from->makes_lease;
	memcpy(c->file, from->file, sizeof c->file);
	c->files = from->files;
}
