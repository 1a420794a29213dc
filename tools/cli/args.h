/* SPDX-License-Identifier: MIT */
/* args.h - a subcommand's options: one table feeds getopt_long, --help and the errors */
#ifndef QUOIT_TOOLS_ARGS_H
#define QUOIT_TOOLS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct args_option {
	const char *name;
	const char *value; /* the value's name in the help; NULL: the option takes none */
	const char *help;
	char letter; /* the short option; 0: it has none */
};

struct args_word {
	const char *name, *help;
	int (*run)(int argc, char **argv); /* runs a subcommand; NULL: the word is an operand */
};

struct args_command {
	const char *name;     /* "ps" */
	const char *operands; /* operands in the usage line, after the options */
	const char *purpose;  /* sentences below the usage line */
	const struct args_option
		*options;              /* ended by a NULL name; --help and --version are added */
	const struct args_word *words; /* valid operands, ended by a NULL name; or NULL */
	/* the first operand is a program: what follows are its arguments, and no options of ours */
	bool runs_program;
};

enum {
	ARGS_END = -1,  /* no option is left: operands start at argv[optind] */
	ARGS_HELP = -2, /* --help or the like was printed: exit 0 */
	ARGS_BAD = -3,  /* the wrong word was named on stderr: exit 2 */
};

/*
 * Parse the next option.  Returns its index in the table, with its value in optarg, or one of the
 * above.  Operands may stand anywhere: they are moved behind the options.  If the command runs a
 * program, operands begin where the program does.
 */
int args_next(const struct args_command *command, int argc, char **argv);

/*
 * Is the word --help, --version, or short for these?  If so, args_is_common has printed the answer;
 * for commands that parse their words themselves.
 */
bool args_is_common(const struct args_command *command, const char *word);

/* The options of a command that has just --socket and --json, in this order. */
struct args_target {
	const char *socket; /* NULL: no socket was named */
	bool json;
};

/* Parse these options.  Negative: the operands start at argv[optind]; else the exit status. */
int args_read_target(const struct args_command *command, int argc, char **argv,
		     struct args_target *ret);

/* For a command without operands: true if there are none; else names the first one on stderr. */
bool args_no_operands(const struct args_command *command, int argc, char **argv);

/*
 * Run the subcommand that argv[1] names, and return its exit status; for commands whose words are
 * all subcommands.  `quoit trace --describe` lists the subcommands, and `quoit trace record
 * --describe` describes that one.
 */
int args_run(const struct args_command *command, int argc, char **argv);

/* Parse a plain number below UINT32_MAX; false: the word is not one. */
bool args_number(const char *word, uint32_t *ret);

/* Print usage, purpose and options on stdout. */
void args_help(const struct args_command *command);

/*
 * Print what args_help prints, with tabs, for `quoit COMMAND --describe`, of which manual pages and
 * completion are made; the help does not mention it.  args_next calls this; true: the option was
 * there, and the text was printed.
 */
bool args_describe(const struct args_command *command, int argc, char **argv);

#endif
