/* SPDX-License-Identifier: MIT */
/*
 * config.h - what can be set, by one table: command line, file, help and sample.
 *
 * The file has the same names as the long options, "name = value", # comments, and sections of
 * users and groups (user_rules.h).  What is read last wins: the file, its drop-ins in the order of
 * their names, what is behind it on the command line.
 */
#ifndef QUOITD_CONFIG_H
#define QUOITD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <quoit/socket.h>

#include "option.h"
#include "user_rules.h"

#define CONFIG_MODULES   8
#define CONFIG_DEVICES   8
#define CONFIG_OWN_USERS 4 /* who have device processes of their own, at a time */
#define CONFIG_EXECUTORS (CONFIG_MODULES + CONFIG_DEVICES * (1 + CONFIG_OWN_USERS))

#define CONFIG_OPTIONS 40 /* at most */
#define CONFIG_FILES   64 /* the same, drop-ins counted */

struct config {
	char socket[QUOIT_SOCKET_BYTES]; /* "" until config_args has settled it */
	bool is_private;                 /* accept our own uid only */
	uint64_t reactors;               /* 0: automatic */
	char cpus[256];                  /* "" : all allowed */
	uint64_t memory; /* leases, tables and rings together; 0: half of what the cgroup allows */
	uint64_t lease;  /* default lease; 0: it grows, ahead of need to a 64th of uid_memory or
			    memory, at least 16 MiB */
	uint64_t uid_memory; /* the same of one uid; 0: by its share */
	uint64_t uid_connections;
	uint64_t uid_rings;
	uint64_t uid_share;      /* its weight */
	uint64_t uid_gpu_memory; /* of each device; 0: by its share */
	uint64_t hello_ms;       /* a connection that has not said hello by then is closed */
	uint64_t max_jobs;       /* in flight, of one session */
	uint64_t max_tensors;
	char log[16]; /* error, warning, info, debug */
	char module[CONFIG_MODULES][256];
	unsigned modules;
	uint64_t module_ms;  /* for one job of a module */
	uint64_t start_ms;   /* for quoit-exec to come up, or, killed, to end */
	char gpu[32];        /* which devices there are: auto, none, cuda, soft or soft:N */
	uint64_t gpu_memory; /* all leases on a device; 0: what it has but a tenth */
	uint64_t gpu_lease;  /* default lease; 0: a 64th of that, at least 16 MiB */
	uint64_t gpu_ms;     /* for one job on a device */
	bool gpu_peers;      /* devices read each other's memory */
	struct option_group stats_group; /* who reads the counter files of all sessions */
	char blas[32];                   /* what computes products: ops/blas.h; "": the fastest */
	char disable[256];               /* operations that are refused, by commas */
	char file_systems[256];          /* on which other users' files are written to, by commas */
	uint64_t ready_fd; /* write one byte here once connections are accepted; UINT64_MAX: none */
	uint64_t drain_ms; /* at the end, for jobs that were fetched */
	uint64_t worker_nice; /* 0: by need */
	uint64_t tile_ms;     /* CPU time of one tile, beyond which its worker is stuck */
	bool no_io_uring;     /* test switch: move files' bytes by threads */
	bool lax_memory;      /* several users, without what keeps them from each other's memory */
	bool check_only;      /* nothing is asked but whether it makes sense */
	char file[CONFIG_FILES][256]; /* that were read, */
	unsigned files;
	struct config_origin origin[CONFIG_OPTIONS]; /* and what is from where, as in the table */
	struct config_origin module_origin[CONFIG_MODULES];
	char stick[16];   /* test switch: which thread gets stuck (stick.h); "": none */
	bool eager;       /* test switch: bytes are resident at create, budgets ignored */
	bool makes_lease; /* config_settle has made `lease` of uid_memory */
	struct user_rules rules;
};

/* Defaults. */
void config_init(struct config *c);

/*
 * Read a file into c, and then those in the folder PATH.d that end in .conf.  0, or a negative
 * errno after a message on `err` for each line that makes no sense: file, line and word.
 */
int config_file(struct config *c, const char *path, FILE *err);

/*
 * Read the command line, and settle what depends on all options: the socket.  0 go on, 1 done
 * (help or version were printed), or a negative errno after a message on `err`.
 */
int config_args(struct config *c, int argc, char **argv, FILE *out, FILE *err);

/*
 * A service manager listens at this path for us, which is the socket from now on.  False: the
 * options name another one.
 */
bool config_pass_socket(struct config *c, const char *path);

/*
 * Fill in what is left to us; memory: the default of that, bytes.  False: more than `most` was
 * asked for, and it is that much.
 */
bool config_settle(struct config *c, uint64_t memory, uint64_t most);

/* What one user may have. */
struct user_rule {
	uint64_t value[RULE_NR];               /* memory: 0 is by its share */
	const struct rule_section *share_from; /* in the same config; NULL: what holds for all */
	bool grows; /* nobody says a default lease: that of a session that asks for none grows */
};

/* For a user with these groups, of a config that is settled. */
void config_user(const struct config *c, uid_t uid, const gid_t *gids, size_t count,
		 struct user_rule *ret);

/*
 * Take over what takes effect at a reload from one that was read anew and settled; the names of
 * other options that differ are written to `waiting`, with blanks between, "" if there is none.
 */
void config_take(struct config *c, const struct config *from, char *waiting, size_t size);

#define CONFIG_WHERE_BYTES 288

/* A place in words; `ret`. */
const char *config_place(const struct config *c, struct config_origin o,
			 char ret[CONFIG_WHERE_BYTES]);

/* Where an option's value is from, of several the one with this number, in words; `ret`. */
const char *config_where(const struct config *c, const char *name, unsigned number,
			 char ret[CONFIG_WHERE_BYTES]);

/*
 * What is in force, for `quoit config`: a line for each option, for each of several values and for
 * each that a section says ("user.alice.share"), with its name, value and where that is from, which
 * tabs separate.
 */
void config_tell(const struct config *c, FILE *out);

/*
 * Every option, and a section of each kind, with default and help, in the file's syntax.  Each line
 * of a setting begins with '#', and of a comment with '# ': without the former it is valid.
 */
void config_sample(FILE *out);

#endif
