/* SPDX-License-Identifier: MIT */
/*
 * user_rules.h - what a user may have, by sections of the file: [user NAME] and [group NAME].
 *
 * Each value is the one that the user's own section says, else the first section of one of its
 * groups, in the order in which sections were read, else what holds for all.
 *
 * A name that nobody knows (a user who was deleted, a server of names that is not up yet) is no
 * error: its section counts once the name is known.
 */
#ifndef QUOITD_USER_RULES_H
#define QUOITD_USER_RULES_H

#include "ledger.h"
#include "option.h"

enum rule {
	RULE_SHARE, /* a weight */
	RULE_MEMORY,
	RULE_CONNECTIONS,
	RULE_RINGS,
	RULE_GPU_MEMORY, /* of each device */
	RULE_LEASE,
	RULE_NR,
};

#define RULES_SECTIONS 256

struct rule_section {
	bool is_group;
	bool is_known; /* its name, which is this id: */
	uint32_t id;
	enum {
		RULES_COUNT,
		RULES_JOINED, /* to another section of this id, which has its lines */
		RULES_SECOND, /* in the same file as another one of this id: it does not count */
	} part;               /* as came out when its name was known */
	unsigned file;        /* the last in which it stood */
	char name[OPTION_NAME_BYTES]; /* as it was given */
	uint64_t value[RULE_NR];
	struct config_origin origin[RULE_NR]; /* CONFIG_DEFAULT: it says nothing */
};

struct user_rules {
	struct rule_section section[RULES_SECTIONS];
	unsigned count;
};

/*
 * A section begins in the file with this number, its words between the brackets; or goes on that
 * began in another file.  NULL: a line on `err` says why not.  A line there of a section whose name
 * is not known is a warning.
 */
struct rule_section *user_rules_begin(struct user_rules *r, const char *words, unsigned file,
				      FILE *err);

/* A line of it; false: a line on `err` says why not. */
bool user_rules_assign(struct rule_section *s, const char *name, const char *text,
		       struct config_origin origin, FILE *err);

/* Is there a section whose name is not known? */
bool user_rules_lack_names(const struct user_rules *r);

/* Look for the names that are not known, which may take long; true: some are known now. */
bool user_rules_look_again(struct user_rules *r);

/* Does it have this section, with a name that is not known? */
bool user_rules_lacks(const struct user_rules *r, const struct rule_section *like);

/*
 * Take over what another one, of the same sections or of others, has come to know.  Sections that
 * turn out to be of one user or group are what they would have been at the start: of two files, one
 * section, in which the later lines count; a second one in one file would have been refused, and
 * does not count now, which a line on `err` says.
 */
void user_rules_take_names(struct user_rules *r, const struct user_rules *from, FILE *err);

/* Of a user with these groups, for each value the section that says it; NULL: none does. */
void user_rules_find(const struct user_rules *r, uid_t uid, const gid_t *gids, size_t count,
		     const struct rule_section *ret[RULE_NR]);

/* The section of this user's own; NULL: there is none. */
const struct rule_section *user_rules_of(const struct user_rules *r, uid_t uid);

extern const struct option_row user_rules_row[RULE_NR];

#endif
