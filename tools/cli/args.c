/* SPDX-License-Identifier: MIT */
/* args.c - a subcommand's options: one table feeds getopt_long, --help and the errors */
#include "args.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suggest.h"

#define MOST_OPTIONS 24

enum { VALUE_MISSING = ':', UNKNOWN = '?', FIRST = 256 };

/* Every command has these options, after its own. */
static const struct args_option common[] = {
	{"help", NULL, "print this", 'h'},
	{"version", NULL, "print the version", 'V'},
};

enum { HELP, VERSION, COMMON };

/* The table as getopt_long wants it; the options that all commands have come last. */
static int fill(struct option longs[MOST_OPTIONS + COMMON + 1],
		char letters[2 * MOST_OPTIONS + COMMON + 3], const struct args_command *command)
{
	const struct args_option *options = command->options;
	int n = 0;

	letters = stpcpy(letters, command->runs_program ? "+:" : ":");
	for (; options[n].name && n < MOST_OPTIONS; n++) {
		if (options[n].letter)
			*letters++ = options[n].letter;
		if (options[n].letter && options[n].value)
			*letters++ = ':';
		longs[n] = (struct option){options[n].name,
					   options[n].value ? required_argument : no_argument, NULL,
					   FIRST + n};
	}
	for (int i = 0; i < COMMON; i++) {
		*letters++ = common[i].letter;
		longs[n + i] = (struct option){common[i].name, no_argument, NULL, FIRST + n + i};
	}
	*letters = '\0';
	longs[n + COMMON] = (struct option){0};
	return n;
}

static void help_line(const struct args_option *o)
{
	char left[40], letter[8] = "";

	if (o->letter)
		snprintf(letter, sizeof letter, "-%c, ", o->letter);
	snprintf(left, sizeof left, "%s--%s %s", letter, o->name, o->value ? o->value : "");
	printf("  %-20s  %s\n", left, o->help);
}

static bool has_subcommands(const struct args_command *command)
{
	return command->words && command->words->run;
}

void args_help(const struct args_command *command)
{
	const char *first = has_subcommands(command) ? "" : " [options]";

	printf("usage: quoit %s%s%s%s\n\n%s\n\n", command->name, first,
	       *command->operands ? " " : "", command->operands, command->purpose);
	for (const struct args_option *o = command->options; o->name; o++)
		help_line(o);
	for (int i = 0; i < COMMON; i++)
		help_line(&common[i]);
	if (command->words)
		putchar('\n');
	for (const struct args_word *w = command->words; w && w->name; w++)
		printf("  %-20s  %s\n", w->name, w->help);
}

static void describe_option(const struct args_option *o)
{
	const char letter[] = {o->letter, '\0'};

	printf("option\t%s\t%s\t%s\t%s\n", o->name, letter, o->value ? o->value : "", o->help);
}

bool args_describe(const struct args_command *command, int argc, char **argv)
{
	if (argc != 2 || strcmp(argv[1], "--describe") != 0)
		return false;
	printf("command\t%s\t%s\t", command->name, command->operands);
	for (const char *c = command->purpose; *c; c++)
		putchar(*c == '\n' ? ' ' : *c);
	putchar('\n');
	for (const struct args_option *o = command->options; o->name; o++)
		describe_option(o);
	for (int i = 0; i < COMMON; i++)
		describe_option(&common[i]);
	for (const struct args_word *w = command->words; w && w->name; w++)
		printf("%s\t%s\t%s\n", w->run ? "subcommand" : "word", w->name, w->help);
	return true;
}

static void refuse(const struct args_command *command, const struct option *longs, const char *word)
{
	char name[64];
	struct suggestion s = {.word = name};

	fprintf(stderr, "quoit %s: unknown option or unexpected argument '%s'", command->name,
		word);
	snprintf(name, sizeof name, "%s", word + strspn(word, "-"));
	name[strcspn(name, "=")] = '\0';
	for (; longs->name; longs++)
		suggest_try(&s, longs->name);
	suggest_print(&s, "--", stderr);
	fprintf(stderr, " (see quoit %s --help)\n", command->name);
}

/* `word` may be several letters; the last one lacks its value. */
static void refuse_without_value(const struct args_command *command, const struct option *longs,
				 const char *word)
{
	const struct args_option *o = command->options;

	for (; o->name; o++)
		if (optopt == o->letter || optopt == longs[o - command->options].val)
			break;
	if (o->name)
		fprintf(stderr, "quoit %s: %s needs a value, %s: %s\n", command->name, word,
			o->value, o->help);
	else
		fprintf(stderr, "quoit %s: %s needs a value\n", command->name, word);
}

bool args_is_common(const struct args_command *command, const char *word)
{
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		args_help(command);
	else if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		printf("quoit %s\n", QUOIT_VERSION);
	else
		return false;
	return true;
}

int args_next(const struct args_command *command, int argc, char **argv)
{
	struct option longs[MOST_OPTIONS + COMMON + 1];
	char letters[2 * MOST_OPTIONS + COMMON + 3];
	int count = fill(longs, letters, command);
	int opt;

	if (args_describe(command, argc, argv))
		return ARGS_HELP;
	opterr = 0;
	opt = getopt_long(argc, argv, letters, longs, NULL);
	if (opt == -1)
		return ARGS_END;
	for (int i = 0; i < count; i++)
		if (command->options[i].letter && opt == command->options[i].letter)
			return i;
	if (opt == UNKNOWN && optopt > 0 && optopt < FIRST) { /* `word` may be several letters */
		fprintf(stderr, "quoit %s: unknown option '-%c' (see quoit %s --help)\n",
			command->name, optopt, command->name);
		return ARGS_BAD;
	}
	if (opt == UNKNOWN) {
		refuse(command, longs, argv[optind - 1]);
		return ARGS_BAD;
	}
	if (opt == VALUE_MISSING) {
		refuse_without_value(command, longs, argv[optind - 1]);
		return ARGS_BAD;
	}
	if (opt == common[HELP].letter || opt == FIRST + count + HELP) {
		args_help(command);
		return ARGS_HELP;
	}
	if (opt == common[VERSION].letter || opt == FIRST + count + VERSION) {
		printf("quoit %s\n", QUOIT_VERSION);
		return ARGS_HELP;
	}
	return opt - FIRST;
}

int args_read_target(const struct args_command *command, int argc, char **argv,
		     struct args_target *ret)
{
	enum { SOCKET, JSON };
	int opt;

	/* A command with more options than these reads them itself. */
	assert(!strcmp(command->options[SOCKET].name, "socket"));
	assert(!strcmp(command->options[JSON].name, "json") && !command->options[JSON + 1].name);
	*ret = (struct args_target){0};
	while ((opt = args_next(command, argc, argv)) >= 0) {
		if (opt == SOCKET)
			ret->socket = optarg;
		ret->json |= opt == JSON;
	}
	if (opt == ARGS_END)
		return -1;
	return opt == ARGS_HELP ? 0 : 2;
}

bool args_no_operands(const struct args_command *command, int argc, char **argv)
{
	if (optind == argc)
		return true;
	fprintf(stderr, "quoit %s: unexpected argument '%s' (see quoit %s --help)\n", command->name,
		argv[optind], command->name);
	return false;
}

int args_run(const struct args_command *command, int argc, char **argv)
{
	struct suggestion s = {.word = argc > 1 ? argv[1] : ""};
	int opt;

	for (const struct args_word *w = command->words; argc > 1 && w->name; w++) {
		if (!strcmp(argv[1], w->name))
			return w->run(argc - 1, argv + 1);
		suggest_try(&s, w->name);
	}
	opt = args_next(command, argc, argv);
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	fprintf(stderr, "quoit %s: ", command->name);
	if (argc > 1)
		fprintf(stderr, "unknown command '%s'", argv[1]);
	else
		fprintf(stderr, "which command?");
	suggest_print(&s, "", stderr);
	fprintf(stderr, " (see quoit %s --help)\n", command->name);
	return 2;
}

bool args_number(const char *word, uint32_t *ret)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(word, &end, 10);
	*ret = (uint32_t)n;
	return *word >= '0' && *word <= '9' && !*end && !errno && n < UINT32_MAX;
}
