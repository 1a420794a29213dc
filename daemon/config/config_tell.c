/* SPDX-License-Identifier: MIT */
/* config_tell.c - writes the options in force with their origins, and the sample file */
#include <string.h>

#include <quoit/stats.h>

#include "base/text_file.h"
#include "config_private.h"

const char *config_place(const struct config *c, struct config_origin o,
			 char ret[CONFIG_WHERE_BYTES])
{
	static const char *const words[] = {[CONFIG_DEFAULT] = "default",
					    [CONFIG_ARGUMENT] = "command line",
					    [CONFIG_PASSED] = "systemd's socket",
					    [CONFIG_KEPT] = "kept until a restart"};

	if (o.kind == CONFIG_FILE)
		snprintf(ret, CONFIG_WHERE_BYTES, "%s, line %u", c->file[o.file], o.line);
	else
		strcpy(ret, words[o.kind]);
	return ret;
}

const char *config_where(const struct config *c, const char *name, unsigned number,
			 char ret[CONFIG_WHERE_BYTES])
{
	const struct option_row *row = config_find(name);
	struct config_origin o = c->origin[row - config_rows];

	if (row->type == OPTION_LIST && number < c->modules)
		o = c->module_origin[number];
	return config_place(c, o, ret);
}

static void tell_section(const struct config *c, const struct rule_section *s, FILE *out)
{
	static const char *const part[] = {[RULES_COUNT] = "",
					   [RULES_JOINED] = "; with another section of this number",
					   [RULES_SECOND] = "; a second section, does not count"};
	char where[CONFIG_WHERE_BYTES];

	for (unsigned i = 0; i < RULE_NR; i++) {
		if (s->origin[i].kind == CONFIG_DEFAULT)
			continue;
		fprintf(out, "%s.%s.%s\t", s->is_group ? "group" : "user", s->name,
			user_rules_row[i].name);
		option_tell(&user_rules_row[i], &s->value[i], out);
		fprintf(out, "\t%s%s\n", config_place(c, s->origin[i], where),
			s->is_known   ? part[s->part]
			: s->is_group ? "; no such group yet"
				      : "; no such user yet");
	}
}

static void tell(FILE *out, const void *from)
{
	const struct config *c = from;
	char where[CONFIG_WHERE_BYTES];

	for (const struct option_row *r = config_rows; r < config_rows + CONFIG_ROWS; r++) {
		bool is_list = r->type == OPTION_LIST;

		for (unsigned n = 0; !n || (is_list && n < c->modules); n++) {
			const char *field = (const char *)c + r->offset;

			fprintf(out, "%s\t", r->name);
			if (is_list)
				fputs(n < c->modules ? c->module[n] : "", out);
			else
				option_tell(r, field, out);
			fprintf(out, "\t%s\n", config_where(c, r->name, n, where));
		}
	}
	for (unsigned i = 0; i < c->rules.count; i++)
		tell_section(c, &c->rules.section[i], out);
}

void config_tell(const struct config *c, int directory)
{
	text_file_write(directory, QUOIT_STATS_CONFIG, tell, c);
}

/* ---- the sample ---- */

static void sample_row(const struct option_row *row, const void *value, FILE *out)
{
	fprintf(out, "# %s\n#%s = ", row->help, row->name);
	if (row->type == OPTION_FD && *(const uint64_t *)value > row->most)
		fputs("none", out);
	else
		option_tell(row, value, out);
	fputs("\n\n", out);
}

static void sample_section(const char *head, const uint64_t value[RULE_NR], FILE *out)
{
	fprintf(out, "#[%s]\n\n", head);
	for (unsigned i = 0; i < RULE_NR; i++)
		sample_row(&user_rules_row[i], &value[i], out);
}

void config_sample(FILE *out)
{
	static const uint64_t value[RULE_NR] = {
		[RULE_SHARE] = SHARE_NORMAL, [RULE_CONNECTIONS] = 1024, [RULE_RINGS] = 1024};
	static struct config defaults;

	config_init(&defaults);
	fprintf(out,
		"# quoitd.conf - options of quoitd, each with its default; see quoitd.conf(5)\n"
		"#\n# Take the # from in front of a name to set it.\n\n");
	for (const struct option_row *r = config_rows; r < config_rows + CONFIG_ROWS; r++)
		sample_row(r, (const char *)&defaults + r->offset, out);
	fprintf(out, "# Options for one user, given by name or number.  Sections come after all "
		     "options\n"
		     "# above.  Each line in a section is optional.\n");
	sample_section("user 1000", value, out);
	fprintf(out, "# Options for the members of a group.  The section of a user goes before "
		     "that of a\n"
		     "# group; of a user's several groups the first section counts.\n");
	sample_section("group 1000", value, out);
}
