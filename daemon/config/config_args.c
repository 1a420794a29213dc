/* SPDX-License-Identifier: MIT */
/* config_args.c - reads options from the command line, and prints their help */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <string.h>

#include <quoit/nearest.h>

#include "config_private.h"

#define PURPOSE "Run jobs of other processes on this machine's cores and devices."
#define CONFIG_HELP                                                                                \
	"read options from FILE, then from FILE.d/*.conf; options after it on "                    \
	"the command line win"
#define CHECK_HELP                                                                                 \
	"check the options and their files, print every error, and do nothing "                    \
	"else"

static void help(FILE *out)
{
	fprintf(out,
		"usage: quoitd [options]\n\n" PURPOSE "\n\n  --config FILE             " CONFIG_HELP
		"\n  --check-config            " CHECK_HELP "\n");
	for (size_t i = 0; i < CONFIG_ROWS; i++) {
		char left[32];

		snprintf(left, sizeof left, "--%s %s", config_rows[i].name,
			 config_rows[i].value ? config_rows[i].value : "");
		fprintf(out, "  %-24s  %s\n", left, config_rows[i].help);
	}
	fprintf(out, "  -h, --help                print this\n"
		     "  -V, --version             print the version\n");
}

enum { OPT_CONFIG = 1000, OPT_CHECK, OPT_HELP, OPT_VERSION };

static void suggest(const char *name, FILE *err)
{
	static const char *const only_here[] = {"config", "check-config", "help", "version"};
	const char *nearest = NULL;
	unsigned distance = UINT_MAX;

	for (size_t i = 0; i < sizeof only_here / sizeof only_here[0]; i++)
		if (quoit_nearest_is(name, only_here[i], &distance))
			nearest = only_here[i];
	if (nearest)
		fprintf(err, "; did you mean '--%s'?", nearest);
	else
		config_suggest(name, "--", err);
}

static int unknown_word(const char *word, FILE *err)
{
	char name[64];

	fprintf(err, "quoitd: unknown option or unexpected argument '%s'", word);
	snprintf(name, sizeof name, "%s", word + strspn(word, "-"));
	name[strcspn(name, "=")] = '\0';
	suggest(name, err);
	fprintf(err, " (see quoitd --help)\n");
	return -EINVAL;
}

/* getopt_long has refused a word: say why, and name the letter if it was one of several. */
static int refuse(int why, const char *word, FILE *err)
{
	const char letter[] = {'-', (char)optopt, '\0'};

	if (why != ':')
		return unknown_word(optopt > 0 && optopt < OPT_CONFIG ? letter : word, err);
	fprintf(err, "quoitd: %s needs a value (see quoitd --help)\n", word);
	return -EINVAL;
}

/*
 * Describe an option, or a value of a user's or group's section.  The latter has no default of its
 * own: value NULL.  For bytes, the help says what the default is.
 */
static void describe_row(const char *kind, const struct option_row *row, const void *value,
			 FILE *out)
{
	fprintf(out, "%s\t%s\t\t%s\t%s\t", kind, row->name, row->value ? row->value : "",
		row->help);
	if (value && row->type != OPTION_BYTES)
		option_tell(row, value, out);
	if (row->type == OPTION_NUMBER)
		fprintf(out, "\t%llu\t%llu", (unsigned long long)row->least,
			(unsigned long long)row->most);
	else
		fputs("\t\t", out);
	fprintf(out, "\t%s\n", row->at_reload ? "reload" : "restart");
}

/*
 * `quoitd --describe`, which help does not mention: the options with tabs, from which manual pages
 * and completion are made.  The last columns are the default, for a number the least and most
 * value, and whether a change takes effect at a reload or a restart.
 */
static void describe(FILE *out)
{
	struct config defaults;

	config_init(&defaults);
	fprintf(out, "command\tquoitd\t\t" PURPOSE "\noption\tconfig\t\tFILE\t" CONFIG_HELP
		     "\noption\tcheck-config\t\t\t" CHECK_HELP "\n");
	for (const struct option_row *r = config_rows; r < config_rows + CONFIG_ROWS; r++)
		describe_row("option", r, (const char *)&defaults + r->offset, out);
	fprintf(out, "option\thelp\th\t\tprint this\noption\tversion\tV\t\tprint the version\n");
	for (const struct option_row *r = user_rules_row; r < user_rules_row + RULE_NR; r++)
		describe_row("rule", r, NULL, out);
}

/* Without a socket option, a private quoitd listens where its user's programs look. */
static int settle_socket(struct config *c, FILE *err)
{
	int status = 0;

	if (!*c->socket && c->is_private)
		status = quoit_socket_path(NULL, true, c->socket);
	else if (!*c->socket)
		strcpy(c->socket, QUOIT_SOCKET_SYSTEM);
	if (status < 0)
		fprintf(err, "quoitd: $QUOIT_SOCKET or $XDG_RUNTIME_DIR: %s\n", strerror(-status));
	return status;
}

int config_args(struct config *c, int argc, char **argv, FILE *out, FILE *err)
{
	struct option longs[CONFIG_ROWS + 5] = {{"config", required_argument, NULL, OPT_CONFIG},
						{"check-config", no_argument, NULL, OPT_CHECK},
						{"help", no_argument, NULL, OPT_HELP},
						{"version", no_argument, NULL, OPT_VERSION}};
	const struct config_origin argument = {.kind = CONFIG_ARGUMENT};
	int opt, status = 0;

	for (size_t i = 0; i < CONFIG_ROWS; i++)
		longs[i + 4] = (struct option){
			config_rows[i].name,
			config_rows[i].type == OPTION_FLAG ? optional_argument : required_argument,
			NULL, (int)i + 1};
	if (argc == 2 && !strcmp(argv[1], "--describe")) {
		describe(out);
		return 1;
	}
	if (argc == 2 && !strcmp(argv[1], "--sample")) { /* help does not mention it either */
		config_sample(out);
		return 1;
	}
	opterr = 0;
	optind = 0; /* begin anew, also within a word */
	while (!status && (opt = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		if (opt == ':' || opt == '?')
			return refuse(opt, argv[optind - 1], err);
		if (opt == OPT_CONFIG) {
			status = config_file(c, optarg, err);
		} else if (opt == OPT_CHECK) {
			c->check_only = true;
		} else if (opt == OPT_HELP || opt == 'h') {
			help(out);
			return 1;
		} else if (opt == OPT_VERSION || opt == 'V') {
			fprintf(out, "quoitd %s\n", QUOIT_VERSION);
			return 1;
		} else if (!config_assign(c, &config_rows[opt - 1], optarg, argument)) {
			fprintf(err, "quoitd: ");
			option_explain(&config_rows[opt - 1], optarg ? optarg : "", err);
			return -EINVAL;
		}
	}
	if (!status && optind < argc)
		return unknown_word(argv[optind], err);
	return status ? status : settle_socket(c, err);
}

bool config_pass_socket(struct config *c, const char *path)
{
	const struct option_row *row = config_find("socket");
	const struct config_origin passed = {.kind = CONFIG_PASSED};

	if (c->origin[row - config_rows].kind != CONFIG_DEFAULT && strcmp(c->socket, path))
		return false;
	return config_assign(c, row, path, passed);
}
