/* SPDX-License-Identifier: MIT */
/*
 * user_rules.h - what a user may have, by sections of the file: [user NAME] and [group NAME].
 *
 * Each value comes from the user's own section, else from the first section of one of its groups,
 * in the order in which sections were read, else from the options for all users.
 *
 * An unknown name (a deleted user, a server of names that is not up yet) is not an error: its
 * section counts once the name is known.
 */
#ifndef QUOITD_USER_RULES_H
#define QUOITD_USER_RULES_H

#include "fair/ledger.h"
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
	bool is_known; /* its name is known, and stands for this id: */
	uint32_t id;
	enum {
		RULES_COUNT,
		RULES_JOINED,         /* into another section of this id, which has its lines */
		RULES_SECOND,         /* does not count: its file has another section of this id */
	} part;                       /* decided when its name became known */
	unsigned file;                /* the last one in which it stood */
	char name[OPTION_NAME_BYTES]; /* as it was given */
	uint64_t value[RULE_NR];
	struct config_origin origin[RULE_NR]; /* CONFIG_DEFAULT: not set */
};

struct user_rules {
	struct rule_section section[RULES_SECTIONS];
	unsigned count;
};

/*
 * Begin the section whose words between the brackets are `words`, in the file with this number, or
 * continue one that began in another file.  NULL: a line on `err` says why not.  If its name is not
 * known yet, a line on `err` warns of that.
 */
struct rule_section *user_rules_begin(struct user_rules *r, const char *words, unsigned file,
				      FILE *err);

/* Take a line of the section.  False: a line on `err` says why not. */
bool user_rules_assign(struct rule_section *s, const char *name, const char *text,
		       struct config_origin origin, FILE *err);

/* Is there a section with an unknown name? */
bool user_rules_lack_names(const struct user_rules *r);

/* Look up the unknown names, which may take long.  True: some are known now. */
bool user_rules_look_again(struct user_rules *r);

/*
 * Take over the names that `from` has learnt; its sections may be the same or others.  Sections
 * that turn out to be of one user or group are treated as at the start.  From two files, they
 * become one section, in which the later lines count.  In one file, the second would have been
 * refused: it does not count now, and a line on `err` says so.
 */
void user_rules_take_names(struct user_rules *r, const struct user_rules *from, FILE *err);

/* For a user with these groups, the section that sets each value; NULL: none does. */
void user_rules_find(const struct user_rules *r, uid_t uid, const gid_t *gids, size_t count,
		     const struct rule_section *ret[RULE_NR]);

/* The user's own section; NULL: there is none. */
const struct rule_section *user_rules_of(const struct user_rules *r, uid_t uid);

extern const struct option_row user_rules_row[RULE_NR];

#endif
