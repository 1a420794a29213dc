/* SPDX-License-Identifier: MIT */
/* config_file.c - reads options from a file and its drop-ins, and reports each bad line */
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config_private.h"

#define BLANKS " \t\r\n"

struct reading {
	struct config *config;
	const char *path;
	FILE *file, *err;
	unsigned number; /* among the files read */
	char *text;      /* the present line */
	size_t room;
	unsigned line;                /* and its number */
	struct rule_section *section; /* NULL: before the first section, */
	bool passes_over;             /* or in one that makes no sense */
	int status;
};

static void say_place(struct reading *r)
{
	fprintf(r->err, "quoitd: %s, line %u: ", r->path, r->line);
}

static void say_where(struct reading *r)
{
	say_place(r);
	r->status = -EINVAL;
}

static void refuse_line(struct reading *r, const char *why)
{
	say_where(r);
	fprintf(r->err, "%s\n", why);
}

/* Is there one of these characters before a comment begins? */
static bool has_one_of(const char *text, const char *these)
{
	for (char before = 'x'; *text && !(*text == ';' && strchr(BLANKS, before));
	     before = *text++)
		if (strchr(these, *text))
			return true;
	return false;
}

/* "[user alice]": the parser would take no more than its first 49 characters. */
static void begin_section(struct reading *r, const char *text)
{
	size_t length = strcspn(text, "]");
	const char *rest = text + length + 1;
	char words[128];
	struct rule_section *begun = NULL;
	FILE *why;
	char *said = NULL;
	size_t size = 0;

	rest += strspn(rest, BLANKS);
	snprintf(words, sizeof words, "%.*s", (int)length, text);
	r->section = NULL;
	r->passes_over = true;
	if (*rest && *rest != ';' && *rest != '#') {
		refuse_line(r, "unexpected text after the section's name");
		return;
	}
	why = open_memstream(&said, &size);
	if (why) {
		begun = user_rules_begin(&r->config->rules, words, r->number, why);
		(void)fclose(why);
	}
	if (begun && said && *said) { /* a warning */
		say_place(r);
		fputs(said, r->err);
	}
	if (!begun) {
		say_where(r);
		fputs(said ? said : "out of memory\n", r->err);
	}
	free(said);
	r->section = begun;
	r->passes_over = !begun;
}

/*
 * Give the parser its next line.  The parser does not count lines, skips lines that it does not
 * understand, takes the rest of a long line for the next one, and appends a line that begins with a
 * blank to the one before.  So all of that is handled here.
 */
static char *next_line(char *line, int most, void *user)
{
	struct reading *r = user;
	ssize_t length = getline(&r->text, &r->room, r->file);
	const char *text;

	if (length < 0)
		return NULL;
	r->line++;
	*line = '\0';
	text = r->text + strspn(r->text, BLANKS);
	if (strlen(r->text) < (size_t)length)
		refuse_line(r, "the line has a NUL byte");
	else if (strlen(text) >= (size_t)most)
		refuse_line(r, "too long");
	else if (*text == '[' && !has_one_of(text, "]"))
		refuse_line(r, "the section's name lacks its ']'");
	else if (*text && !strchr("#;[", *text) && !has_one_of(text, "=:"))
		refuse_line(r, "expected 'name = value' or [user NAME] or [group NAME]");
	else if (*text == '[')
		begin_section(r, text + 1);
	else
		strcpy(line, text);
	return line;
}

static void assign_option(struct reading *r, const char *name, const char *value,
			  struct config_origin here)
{
	const struct option_row *row = config_find(name);

	if (!row) {
		say_where(r);
		fprintf(r->err, "unknown option '%s'", name);
		config_suggest(name, "", r->err);
		fputc('\n', r->err);
	} else if (!config_assign(r->config, row, value, here)) {
		say_where(r);
		option_explain(row, value, r->err);
	}
}

static void assign_rule(struct reading *r, const char *name, const char *value,
			struct config_origin here)
{
	char *said = NULL;
	size_t size = 0;
	FILE *why = open_memstream(&said, &size);
	bool fits = why && user_rules_assign(r->section, name, value, here, why);

	if (why)
		(void)fclose(why);
	if (!fits) {
		say_where(r);
		fputs(said ? said : "out of memory\n", r->err);
	}
	free(said);
}

/* Returns 1: go on; errors have been reported.  begin_section knows the section better. */
static int on_pair(void *user, const char *section, const char *name, const char *value)
{
	struct reading *r = user;
	const struct config_origin here = {CONFIG_FILE, r->number, r->line};

	(void)section;
	if (r->section)
		assign_rule(r, name, value, here);
	else if (!r->passes_over)
		assign_option(r, name, value, here);
	return 1;
}

static int refuse_path(const char *path, int error, FILE *err)
{
	fprintf(err, "quoitd: cannot read %s: %s\n", path, strerror(error));
	return -error;
}

static int read_one(struct config *c, const char *path, FILE *err)
{
	struct reading r = {.config = c, .path = path, .number = c->files, .err = err};
	int wrong;

	if (c->files == CONFIG_FILES || strlen(path) >= sizeof c->file[0])
		return refuse_path(path, c->files == CONFIG_FILES ? EMFILE : ENAMETOOLONG, err);
	strcpy(c->file[c->files++], path);
	r.file = fopen(path, "re");
	if (!r.file)
		return refuse_path(path, errno, err);
	wrong = ini_parse_stream(next_line, &r, on_pair, &r);
	if (ferror(r.file))
		r.status = refuse_path(path, errno, err);
	else if (wrong && !r.status)
		refuse_line(&r, "out of memory, or a line that cannot be read");
	free(r.text);
	(void)fclose(r.file);
	return r.status;
}

/* "50-memory.conf", but no hidden file. */
static int is_dropin(const struct dirent *entry)
{
	const char *suffix = strrchr(entry->d_name, '.');

	return *entry->d_name != '.' && suffix && !strcmp(suffix, ".conf");
}

static int read_dropins(struct config *c, const char *path, FILE *err)
{
	char folder[PATH_MAX], one[PATH_MAX];
	struct dirent **entries;
	int n, status = 0;

	if ((size_t)snprintf(folder, sizeof folder, "%s.d", path) >= sizeof folder)
		return refuse_path(path, ENAMETOOLONG, err);
	n = scandir(folder, &entries, is_dropin, alphasort);
	if (n < 0)
		return errno == ENOENT ? 0 : refuse_path(folder, errno, err);
	for (int i = 0; i < n; i++) {
		int bad = -ENAMETOOLONG;

		if ((size_t)snprintf(one, sizeof one, "%s/%s", folder, entries[i]->d_name) <
		    sizeof one)
			bad = read_one(c, one, err);
		else
			bad = refuse_path(folder, ENAMETOOLONG, err);
		status = status ? status : bad;
		free(entries[i]);
	}
	free(entries);
	return status;
}

int config_file(struct config *c, const char *path, FILE *err)
{
	int status = read_one(c, path, err);
	int also = status == 0 || status == -EINVAL ? read_dropins(c, path, err) : 0;

	return status ? status : also;
}
