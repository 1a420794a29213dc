/* SPDX-License-Identifier: MIT */
/*
 * config.h - the options of quoitd: one table for command line, file, help and sample.
 *
 * The file has the same names as the long options ("name = value"), # comments, and sections for
 * users and groups (user_rules.h).  The last value that is read wins.  The order is: the file, its
 * drop-ins by name, the rest of the command line.
 */
#ifndef QUOITD_CONFIG_H
#define QUOITD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <quoit/socket.h>

#include "base/limits.h"
#include "option.h"
#include "user_rules.h"

#define CONFIG_OPTIONS 40 /* at most */
#define CONFIG_FILES   64 /* at most, with drop-ins */

struct config {
	char socket[QUOIT_SOCKET_BYTES]; /* "" until config_args has settled it */
	bool is_private;                 /* accept quoitd's own uid only */
	uint64_t reactors;               /* 0: automatic */
	char cpus[256];                  /* "": all allowed ones */
	uint64_t memory; /* leases, tables and rings together; 0: half of what the cgroup allows */
	uint64_t lease;  /* default; 0: it grows, ahead of need to 1/64 of uid_memory or memory */
	uint64_t uid_memory; /* as memory, of one uid; 0: by its share */
	uint64_t uid_connections;
	uint64_t uid_rings;
	uint64_t uid_share;      /* its weight */
	uint64_t uid_gpu_memory; /* of each device; 0: by its share */
	uint64_t hello_ms;       /* for a new connection to say hello, else it is closed */
	uint64_t max_jobs;       /* in flight, of one session */
	uint64_t max_tensors;
	char log[16]; /* error, warning, info, debug */
	char module[CONFIG_MODULES][256];
	unsigned modules;
	uint64_t module_ms;  /* for one job of a module */
	uint64_t start_ms;   /* for quoit-exec to come up, or, killed, to end */
	char gpu[32];        /* kind of devices: auto, none, cuda, soft or soft:N */
	uint64_t gpu_memory; /* for all leases on a device; 0: nine tenths of it */
	uint64_t gpu_lease;  /* default lease; 0: a 64th of gpu_memory, at least 16 MiB */
	uint64_t gpu_ms;     /* for one job on a device */
	bool gpu_peers;      /* devices read each other's memory */
	struct option_group stats_group; /* may read the counter files of all sessions */
	char blas[32];                   /* library for products (ops/blas.h); "": the fastest */
	char disable[256];               /* operations to refuse, separated by commas */
	char file_systems[256];          /* on which quoitd writes to other users' files */
	uint64_t ready_fd; /* write one byte here once connections are accepted; UINT64_MAX: none */
	uint64_t drain_ms; /* at the end, for jobs that were fetched */
	uint64_t worker_nice; /* 0: by need */
	uint64_t tile_ms;     /* most CPU time of one tile; after it, the worker is stuck */
	bool no_io_uring;     /* test switch: move files' bytes by threads */
	bool lax_memory;      /* serve several users although their shared memory is not secured */
	bool check_only;      /* only check that the options make sense */
	char file[CONFIG_FILES][256]; /* files that were read */
	unsigned files;
	struct config_origin origin[CONFIG_OPTIONS]; /* origins of the values, as in the table */
	struct config_origin module_origin[CONFIG_MODULES];
	char inject_hang
		[16];     /* test switch: which thread gets stuck (hang_injection.h); "": none */
	bool eager;       /* test switch: bytes are resident at create, budgets are ignored */
	bool makes_lease; /* config_settle has derived `lease` from uid_memory */
	struct user_rules rules;
};

/* Set the defaults. */
void config_init(struct config *c);

/*
 * Read a file into c, then those in the folder PATH.d that end in .conf.  0, or a negative errno
 * after a message on `err` for each bad line, with file, line and word.
 */
int config_file(struct config *c, const char *path, FILE *err);

/*
 * Read the command line, then settle what depends on all options: the socket.  0: go on; 1: help or
 * version was printed; or a negative errno, after a message on `err`.
 */
int config_args(struct config *c, int argc, char **argv, FILE *out, FILE *err);

/*
 * A service manager listens at this path: use it as the socket.  False: the options name another.
 */
bool config_pass_socket(struct config *c, const char *path);

/*
 * Fill in the values left to quoitd.  memory: the default, in bytes.  False: the configuration
 * asked for more than `most`, and memory is `most`.
 */
bool config_settle(struct config *c, uint64_t memory, uint64_t most);

/* What one user may have. */
struct user_rule {
	uint64_t value[RULE_NR];               /* memory: 0 means by its share */
	const struct rule_section *share_from; /* in the same config; NULL: uid-share holds */
	bool grows; /* a session that asks for no lease gets one that grows */
};

/* Fill in what a user with these groups may have.  The config must be settled. */
void config_user(const struct config *c, uid_t uid, const gid_t *gids, size_t count,
		 struct user_rule *ret);

/*
 * Take over, from a config that was read anew and settled, the options that take effect at a
 * reload.  The names of other options that differ go to `waiting`, separated by blanks; "": none.
 */
void config_take(struct config *c, const struct config *from, char *waiting, size_t size);

#define CONFIG_WHERE_BYTES 288

/* Write a place in words.  Returns `ret`. */
const char *config_place(const struct config *c, struct config_origin o,
			 char ret[CONFIG_WHERE_BYTES]);

/* Write where an option's value (of a list, the value `number`) comes from.  Returns `ret`. */
const char *config_where(const struct config *c, const char *name, unsigned number,
			 char ret[CONFIG_WHERE_BYTES]);

/*
 * Write the options in force into the file QUOIT_STATS_CONFIG of this directory, for `quoit
 * config`: a line for each option, for each value of a list, and for each value of a section
 * ("user.alice.share").  Tabs separate name, value and origin.
 */
void config_tell(const struct config *c, int directory);

/*
 * Write every option and a section of each kind, with default and help, in the file's syntax.
 * Lines with settings begin with '#', comments with '# '.  Without that '#' a setting is valid.
 */
void config_sample(FILE *out);

#endif
