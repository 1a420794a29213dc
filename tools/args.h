/* SPDX-License-Identifier: MIT */
/* args.h - a subcommand's options: one table feeds getopt_long, --help and the errors */
#ifndef QUOIT_TOOLS_ARGS_H
#define QUOIT_TOOLS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct args_option {
	const char *name;
	const char *value; /* how help calls it; NULL: the option takes none */
	const char *help;
	char letter; /* for short; 0: it has none */
};

struct args_word {
	const char *name, *help;
	int (*run)(int argc, char **argv); /* of a subcommand; NULL: the word is an operand */
};

struct args_command {
	const char *name;     /* "ps" */
	const char *operands; /* what follows the options in the usage line */
	const char *purpose;  /* sentences below it */
	const struct args_option
		*options; /* ended by a name that is NULL; --help and --version are added */
	const struct args_word *words; /* what the operand may be, ended likewise; or NULL */
};

enum {
	ARGS_END = -1,  /* no option is left: operands start at argv[optind] */
	ARGS_HELP = -2, /* what was asked for was printed: exit 0 */
	ARGS_BAD = -3,  /* the offending word was named on stderr: exit 2 */
};

/*
 * The next option's index in the table, its value in optarg; or one of the above.  Operands
 * may stand anywhere: they are put behind the options.
 */
int args_next(const struct args_command *command, int argc, char **argv);

/* Is it --help, --version or short for these?  Then that was done, for who reads words alone. */
bool args_is_common(const struct args_command *command, const char *word);

/* What a command was told whose options are --socket and --json, in this order. */
struct args_target {
	const char *socket; /* NULL: none was named */
	bool json;
};

/* Read these.  Negative: its operands start at argv[optind]; else the exit status. */
int args_read_target(const struct args_command *command, int argc, char **argv,
		     struct args_target *ret);

/* Is there none, of a command that takes no operand?  Else the first was named on stderr. */
bool args_no_operands(const struct args_command *command, int argc, char **argv);

/*
 * Run the subcommand that argv[1] names, of a command all of whose words are some; its exit status.
 * `quoit trace --describe` lists them, and `quoit trace record --describe` is the one's own.
 */
int args_run(const struct args_command *command, int argc, char **argv);

/* A plain number, below UINT32_MAX; false: the word is none. */
bool args_number(const char *word, uint32_t *ret);

/* Print usage, purpose and options on stdout. */
void args_help(const struct args_command *command);

/*
 * `quoit COMMAND --describe`, which help does not mention: the same with tabs, of which manual
 * pages and completion are made.  args_next does it; true: it was asked for and printed.
 */
bool args_describe(const struct args_command *command, int argc, char **argv);

#endif
