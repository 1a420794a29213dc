/* SPDX-License-Identifier: MIT */
/* config.c - the option table, and its readers but that of files */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/nearest.h>

#include "config_private.h"

enum type { TYPE_TEXT, TYPE_LEVEL, TYPE_NUMBER, TYPE_BYTES, TYPE_FLAG, TYPE_LIST };

struct option_row {
	const char *name;
	enum type type;
	size_t offset;
	size_t size; /* of a text */
	uint64_t least, most;
	const char *value; /* how help calls it */
	const char *help;
};

#define FIELD(f) offsetof(struct config, f), sizeof(((struct config *)0)->f)

static const struct option_row rows[] = {
	{"socket", TYPE_TEXT, FIELD(socket), 0, 0, "PATH",
	 "where to listen, counter files beside it; by default /run/quoit/quoitd.sock"},
	{"private", TYPE_FLAG, FIELD(is_private), 0, 0, NULL,
	 "accept only our own user, claim no isolation; listen at $QUOIT_SOCKET, else below "
	 "$XDG_RUNTIME_DIR"},
	{"reactors", TYPE_NUMBER, FIELD(reactors), 0, 64, "N",
	 "reactor threads (0: one per four cores of a node)"},
	{"cpus", TYPE_TEXT, FIELD(cpus), 0, 0, "LIST", "use only these CPUs, like 0-3,8"},
	{"memory", TYPE_BYTES, FIELD(memory), 0, UINT64_MAX, "BYTES",
	 "all leases, tables and rings together (0: half of what the cgroup allows)"},
	{"lease", TYPE_BYTES, FIELD(lease), 0, UINT64_MAX, "BYTES",
	 "of a session that asks for none (0: 1/64 of uid-memory, at least 16M)"},
	{"uid-memory", TYPE_BYTES, FIELD(uid_memory), 0, UINT64_MAX, "BYTES",
	 "the same of one user (0: all)"},
	{"uid-connections", TYPE_NUMBER, FIELD(uid_connections), 1, 100000, "N",
	 "connections of one user"},
	{"uid-rings", TYPE_NUMBER, FIELD(uid_rings), 1, 262144, "N",
	 "rings of one user, over all reactors of 4096 each"},
	{"hello-ms", TYPE_NUMBER, FIELD(hello_ms), 10, 600000, "MS",
	 "time for a new connection to say hello"},
	{"max-jobs", TYPE_NUMBER, FIELD(max_jobs), 64, 65536, "N", "jobs in flight of one session"},
	{"max-tensors", TYPE_NUMBER, FIELD(max_tensors), 64, 1048576, "N",
	 "tensors alive of one session, at most"},
	{"log", TYPE_LEVEL, FIELD(log), 0, 0, "LEVEL", "error, warning, info or debug"},
	{"module", TYPE_LIST, FIELD(module), 0, 0, "PATH",
	 "a plug-in module with operations; may be repeated"},
	{"module-ms", TYPE_NUMBER, FIELD(module_ms), 10, 86400000, "MS",
	 "time for one job of a module, then its process is killed"},
	{"start-ms", TYPE_NUMBER, FIELD(start_ms), 10, 86400000, "MS",
	 "time for a module's or device's process to be up, or, once it is killed, gone"},
	{"gpu", TYPE_TEXT, FIELD(gpu), 0, 0, "KIND",
	 "devices: auto (those of an NVIDIA driver), none, cuda, soft or soft:N"},
	{"gpu-memory", TYPE_BYTES, FIELD(gpu_memory), 0, UINT64_MAX, "BYTES",
	 "all leases on a device (0: what it has but a tenth); soft ones are as large"},
	{"gpu-lease", TYPE_BYTES, FIELD(gpu_lease), 0, UINT64_MAX, "BYTES",
	 "on each device, of a session that asks for none (0: 1/64 of that, at least 16M)"},
	{"gpu-peers", TYPE_FLAG, FIELD(gpu_peers), 0, 0, NULL,
	 "large copies go from device to device, without a detour through the host"},
	{"gpu-ms", TYPE_NUMBER, FIELD(gpu_ms), 10, 86400000, "MS",
	 "time for one job on a device, then its process is killed"},
	{"disable", TYPE_TEXT, FIELD(disable), 0, 0, "LIST",
	 "refuse these operations, like file_read,file_write"},
	{"ready-fd", TYPE_NUMBER, FIELD(ready_fd), 0, 1048576, "FD",
	 "write a byte to this descriptor once ready"},
	{"drain-ms", TYPE_NUMBER, FIELD(drain_ms), 0, 3600000, "MS",
	 "at the end, time for the jobs that were fetched; then they are cancelled"},
	{"tile-ms", TYPE_NUMBER, FIELD(tile_ms), 100, 86400000, "MS",
	 "CPU time of one piece of a job on a core, then its thread counts as stuck"},
	{"no-io-uring", TYPE_FLAG, FIELD(no_io_uring), 0, 0, NULL,
	 "move files' bytes by threads, as where io_uring is refused"},
	{"eager", TYPE_FLAG, FIELD(eager), 0, 0, NULL,
	 "for tests: bytes are resident at create and no budget holds"},
	{"stick", TYPE_TEXT, FIELD(stick), 0, 0, "WHERE",
	 "for tests: a thread gets stuck: reactor, control, memory, executors, worker, "
	 "worker-spins, worker-exits"},
};

#define ROWS (sizeof rows / sizeof rows[0])

_Static_assert(ROWS <= CONFIG_OPTIONS, "each has its origin");

void config_init(struct config *c)
{
	*c = (struct config){.uid_connections = 1024,
			     .uid_rings = 1024,
			     .hello_ms = 2000,
			     .max_jobs = 4096,
			     .max_tensors = 65536,
			     .module_ms = 60000,
			     .start_ms = 10000,
			     .gpu_ms = 30000,
			     .drain_ms = 5000,
			     .tile_ms = 900000,
			     .gpu_peers = true,
			     .ready_fd = UINT64_MAX};
	strcpy(c->gpu, "auto");
	strcpy(c->log, "info");
}

const struct option_row *config_find(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

void config_suggest(const char *word, const char *prefix, FILE *err)
{
	const char *nearest = NULL;
	unsigned distance = UINT_MAX;

	for (size_t i = 0; i < ROWS; i++)
		if (quoit_nearest_is(word, rows[i].name, &distance))
			nearest = rows[i].name;
	if (nearest)
		fprintf(err, "; did you mean '%s%s'?", prefix, nearest);
}

/* "4096", "64M", "2G": bytes with an optional K, M, G or T. */
static bool parse_number(const char *text, bool bytes, uint64_t *ret)
{
	static const char units[] = "KMGT";
	unsigned shift = 0;
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno) /* strtoull takes blanks and signs */
		return false;
	if (bytes && *end && strchr(units, *end)) {
		shift = 10 * (unsigned)(strchr(units, *end) - units + 1);
		end++;
	}
	if (*end || *ret > UINT64_MAX >> shift)
		return false;
	*ret <<= shift;
	return true;
}

static bool parse_flag(const char *text, bool *ret)
{
	*ret = !text || !strcmp(text, "yes") || !strcmp(text, "true") || !strcmp(text, "1");
	return *ret || !strcmp(text, "no") || !strcmp(text, "false") || !strcmp(text, "0");
}

static bool is_level(const char *text)
{
	static const char *const levels[] = {"error", "warning", "info", "debug"};

	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
		if (!strcmp(text, levels[i]))
			return true;
	return false;
}

/* False: it does not fit. */
static bool put(struct config *c, const struct option_row *row, const char *text)
{
	void *field = (char *)c + row->offset;
	uint64_t number;

	switch (row->type) {
	case TYPE_FLAG:
		return parse_flag(text, field);
	case TYPE_TEXT:
	case TYPE_LEVEL:
		if (strlen(text) >= row->size || (row->type == TYPE_LEVEL && !is_level(text)))
			return false;
		strcpy(field, text);
		return true;
	case TYPE_LIST:
		if (c->modules == CONFIG_MODULES || strlen(text) >= sizeof c->module[0])
			return false;
		strcpy(c->module[c->modules++], text);
		return true;
	default:
		if (!parse_number(text, row->type == TYPE_BYTES, &number) || number < row->least ||
		    number > row->most)
			return false;
		*(uint64_t *)field = number;
		return true;
	}
}

bool config_assign(struct config *c, const struct option_row *row, const char *text,
		   struct config_origin origin)
{
	if (!put(c, row, text))
		return false;
	c->origin[row - rows] = origin;
	if (row->type == TYPE_LIST)
		c->module_origin[c->modules - 1] = origin;
	return true;
}

void config_explain(const struct option_row *row, const char *text, FILE *err)
{
	fprintf(err, "'%s' is no value for %s", text, row->name);
	if (row->type == TYPE_NUMBER)
		fprintf(err, " (%llu to %llu)", (unsigned long long)row->least,
			(unsigned long long)row->most);
	fprintf(err, "; it is: %s\n", row->help);
}

/* ---- command line ---- */

#define PURPOSE "Runs jobs of other processes on this machine's cores."
#define CONFIG_HELP                                                                                \
	"read options from FILE, then from FILE.d/*.conf; those behind it on the command line win"
#define CHECK_HELP "say all that is wrong with the options and their files, and do nothing else"

static void help(FILE *out)
{
	fprintf(out,
		"usage: quoitd [options]\n\n" PURPOSE "\n\n  --config FILE             " CONFIG_HELP
		"\n  --check-config            " CHECK_HELP "\n");
	for (size_t i = 0; i < ROWS; i++) {
		char left[32];

		snprintf(left, sizeof left, "--%s %s", rows[i].name,
			 rows[i].value ? rows[i].value : "");
		fprintf(out, "  %-24s  %s\n", left, rows[i].help);
	}
	fprintf(out, "  --help, --version\n");
}

enum { OPT_CONFIG = 1000, OPT_CHECK, OPT_HELP, OPT_VERSION };

static int unknown_word(const char *word, FILE *err)
{
	char name[64];

	fprintf(err, "quoitd: unknown option or unwanted value: '%s'", word);
	snprintf(name, sizeof name, "%s", word + strspn(word, "-"));
	name[strcspn(name, "=")] = '\0';
	config_suggest(name, "--", err);
	fprintf(err, " (see quoitd --help)\n");
	return -EINVAL;
}

/* What getopt_long does not take: it says why, and the letter where it was one of several. */
static int refuse(int why, const char *word, FILE *err)
{
	const char letter[] = {'-', (char)optopt, '\0'};

	if (why != ':')
		return unknown_word(optopt > 0 && optopt < OPT_CONFIG ? letter : word, err);
	fprintf(err, "quoitd: %s needs a value (see quoitd --help)\n", word);
	return -EINVAL;
}

/* As a file has it; nothing where there is none. */
static void tell_value(const struct option_row *row, const void *value, FILE *out)
{
	if (row->type == TYPE_FLAG) {
		fputs(*(const bool *)value ? "yes" : "no", out);
	} else if (row->type == TYPE_NUMBER || row->type == TYPE_BYTES) {
		if (*(const uint64_t *)value <= row->most)
			fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)value);
	} else {
		fputs(value, out);
	}
}

/* Bytes and lists: what is made of none is said in the help. */
static void describe_default(const struct option_row *row, const void *value, FILE *out)
{
	if (row->type == TYPE_BYTES || row->type == TYPE_LIST)
		return;
	tell_value(row, value, out);
	if (row->type == TYPE_NUMBER && *(const uint64_t *)value <= row->most)
		fprintf(out, "\t%llu\t%llu", (unsigned long long)row->least,
			(unsigned long long)row->most);
}

/*
 * `quoitd --describe`, which help does not mention: the options with tabs, of which manual pages
 * and completion are made.  A default comes last, of a number with the least and most.
 */
static void describe(FILE *out)
{
	struct config defaults;

	config_init(&defaults);
	fprintf(out, "command\tquoitd\t\t" PURPOSE "\noption\tconfig\t\tFILE\t" CONFIG_HELP
		     "\noption\tcheck-config\t\t\t" CHECK_HELP "\n");
	for (size_t i = 0; i < ROWS; i++) {
		fprintf(out, "option\t%s\t\t%s\t%s\t", rows[i].name,
			rows[i].value ? rows[i].value : "", rows[i].help);
		describe_default(&rows[i], (const char *)&defaults + rows[i].offset, out);
		fputc('\n', out);
	}
	fprintf(out, "option\thelp\t\t\tprint this\noption\tversion\t\t\tprint the version\n");
}

/* Where nothing says where to listen, a private quoitd is where its user's programs look. */
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
	struct option longs[ROWS + 5] = {{"config", required_argument, NULL, OPT_CONFIG},
					 {"check-config", no_argument, NULL, OPT_CHECK},
					 {"help", no_argument, NULL, OPT_HELP},
					 {"version", no_argument, NULL, OPT_VERSION}};
	const struct config_origin argument = {.kind = CONFIG_ARGUMENT};
	int opt, status = 0;

	for (size_t i = 0; i < ROWS; i++)
		longs[i + 4] = (struct option){rows[i].name,
					       rows[i].type == TYPE_FLAG ? optional_argument
									 : required_argument,
					       NULL, (int)i + 1};
	if (argc == 2 && !strcmp(argv[1], "--describe")) {
		describe(out);
		return 1;
	}
	opterr = 0;
	optind = 0; /* anew, also within a word */
	while (!status && (opt = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		if (opt == ':' || opt == '?')
			return refuse(opt, argv[optind - 1], err);
		if (opt == OPT_CONFIG) {
			status = config_file(c, optarg, err);
		} else if (opt == OPT_CHECK) {
			c->check_only = true;
		} else if (opt == OPT_HELP) {
			help(out);
			return 1;
		} else if (opt == OPT_VERSION) {
			fprintf(out, "quoitd %s\n", QUOIT_VERSION);
			return 1;
		} else if (!config_assign(c, &rows[opt - 1], optarg, argument)) {
			fprintf(err, "quoitd: ");
			config_explain(&rows[opt - 1], optarg ? optarg : "", err);
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

	if (c->origin[row - rows].kind != CONFIG_DEFAULT && strcmp(c->socket, path))
		return false;
	return config_assign(c, row, path, passed);
}

/* ---- what is in force ---- */

const char *config_where(const struct config *c, const char *name, unsigned number,
			 char ret[CONFIG_WHERE_BYTES])
{
	const struct option_row *row = config_find(name);
	struct config_origin o = c->origin[row - rows];

	if (row->type == TYPE_LIST && number < c->modules)
		o = c->module_origin[number];
	if (o.kind == CONFIG_FILE)
		snprintf(ret, CONFIG_WHERE_BYTES, "%s, line %u", c->file[o.file], o.line);
	else
		strcpy(ret, o.kind == CONFIG_DEFAULT  ? "default"
			    : o.kind == CONFIG_PASSED ? "systemd's socket"
						      : "command line");
	return ret;
}

void config_tell(const struct config *c, FILE *out)
{
	char where[CONFIG_WHERE_BYTES];

	for (size_t i = 0; i < ROWS; i++) {
		bool is_list = rows[i].type == TYPE_LIST;

		for (unsigned n = 0; !n || (is_list && n < c->modules); n++) {
			const char *field = (const char *)c + rows[i].offset;

			fprintf(out, "%s\t", rows[i].name);
			tell_value(&rows[i], is_list ? c->module[n] : field, out);
			fprintf(out, "\t%s\n", config_where(c, rows[i].name, n, where));
		}
	}
}

void config_sample(FILE *out)
{
	for (size_t i = 0; i < ROWS; i++)
		fprintf(out, "# %s\n# %s = %s\n\n", rows[i].help, rows[i].name,
			rows[i].value ? rows[i].value : "no");
}
