/* SPDX-License-Identifier: MIT */
/* cmd_exporter.c - `quoit exporter`: serve quoitd's counters to Prometheus */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "exporter/collect.h"
#include "exporter/hosts.h"
#include "exporter/listen.h"
#include "exporter/microhttpd.h"
#include "exporter/server.h"
#include "read/runtime.h"

enum { LISTEN, HOST, USERS, SESSIONS, MOST, SERVICES, ONCE, SOCKET };

static const struct args_option options[] = {
	[LISTEN] = {"listen", "ADDRESS:PORT",
		    "listen there; [::1]:PORT for IPv6, port 0 for any free one", 'l'},
	[HOST] = {"host", "NAME,...",
		  "serve requests for these names, too, beside addresses, localhost and this "
		  "machine's name"},
	[USERS] = {"users", NULL,
		   "also export a dozen figures of each user whose sessions you may see"},
	[SESSIONS] = {"sessions", NULL, "also export the busiest of the sessions that you may see"},
	[MOST] = {"most", "N", "export N sessions at most (default 16; 1 to 256)"},
	[SERVICES] =
		{"services", NULL,
		 "also export the services, locks, queues and their kin that quoitd shows you"},
	[ONCE] = {"once", NULL, "print the metrics, and exit"},
	[SOCKET] = {"socket", "PATH", "quoitd's socket; counter files lie beside it"},
	{NULL},
};

static const struct args_command command = {
	"exporter", "",
	"Serve quoitd's counters to Prometheus, by default at http://" LISTEN_DEFAULT
	"/metrics.  A\n"
	"client that accepts OpenMetrics gets it; others get the older text format, which\n"
	"--once prints, too.  Answers are compressed with gzip for clients that accept it.  A\n"
	"request reads the counter files, at most every 250 ms for each format; without a\n"
	"quoitd quoit_up is 0.  A request with another Host than those served (--host) is\n"
	"refused (421), so a web page that gives its own name this machine's address cannot\n"
	"read the metrics through a browser.  Anybody that can reach the port may read\n"
	"everything, on loopback all users of the machine; with --users, --sessions and\n"
	"--services that includes what quoitd shows each user of its own only.  Counters of a user\n"
	"begin when the exporter first reads them; with --once, when the sessions were opened.\n"
	"Exit status 1: it cannot listen; with --once, the counter files cannot be read.",
	options};

static int print_once(struct collect *c)
{
	c->whole = true;
	return collect_write(c, stdout, false) < 0;
}

/* A descriptor for the signals that end us, which is polled beside the connections. */
static int open_stop(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Serve until a signal comes; 0 or a negative errno. */
static int serve(struct collect *c, const struct hosts *hosts, const struct listen_address *where,
		 int listener)
{
	int stop = open_stop(), err;
	char text[96];

	if (stop < 0)
		return stop;
	listen_text(where, text, sizeof text);
	printf("listening on http://%s/metrics\n", text);
	fflush(stdout);
	err = server_run(c, hosts, listener, stop);
	close(stop);
	return err;
}

static int serve_at(struct collect *c, const struct hosts *hosts, struct listen_address *where,
		    const char *word)
{
	const char *missing = microhttpd_load();
	int listener, err;

	if (missing) {
		fprintf(stderr, "quoit exporter: libmicrohttpd cannot be loaded: %s\n", missing);
		return 1;
	}
	listener = listen_open(where);
	if (listener < 0) {
		fprintf(stderr, "quoit exporter: cannot listen at '%s': %s\n", word,
			strerror(-listener));
		return 1;
	}
	err = serve(c, hosts, where, listener);
	close(listener);
	if (err < 0)
		fprintf(stderr, "quoit exporter: cannot serve: %s\n", strerror(-err));
	return err < 0;
}

/* The names stay in the command line; they are not copied. */
static bool add_hosts(struct hosts *hosts, char *list)
{
	char *rest = NULL;

	for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (!hosts_add(hosts, name)) {
			fprintf(stderr,
				"quoit exporter: invalid host name '%s' (letters, digits, '-', "
				"'_', '.'), or more than %d names\n",
				name, HOSTS_MOST);
			return false;
		}
	return true;
}

static bool read_most(const char *word, unsigned *ret)
{
	uint32_t n = 0;

	*ret = 0;
	if (args_number(word, &n) && n >= 1 && n <= COLLECT_MOST_SESSIONS)
		*ret = n;
	else
		fprintf(stderr, "quoit exporter: invalid number of sessions '%s' (1 to %d)\n", word,
			COLLECT_MOST_SESSIONS);
	return *ret;
}

int cmd_exporter(int argc, char **argv)
{
	const char *given = NULL, *word = LISTEN_DEFAULT;
	struct listen_address where;
	struct collect c = {0};
	struct hosts hosts;
	bool once = false;
	int opt, status;

	hosts_init(&hosts);
	while ((opt = args_next(&command, argc, argv)) >= 0) {
		if (opt == SOCKET)
			given = optarg;
		if (opt == LISTEN)
			word = optarg;
		if (opt == HOST && !add_hosts(&hosts, optarg))
			return 2;
		if (opt == MOST && !read_most(optarg, &c.most))
			return 2;
		c.users |= opt == USERS;
		c.sessions |= opt == SESSIONS;
		c.services |= opt == SERVICES;
		once |= opt == ONCE;
	}
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	if (!args_no_operands(&command, argc, argv))
		return 2;
	if (!listen_parse(word, &where)) {
		fprintf(stderr,
			"quoit exporter: invalid address '%s': expected ADDRESS:PORT, as " LISTEN_DEFAULT
			" or [::1]:19684\n",
			word);
		return 2;
	}
	if (!runtime_find_socket("exporter", given, c.socket))
		return 2;
	status = once ? print_once(&c) : serve_at(&c, &hosts, &where, word);
	collect_free(&c);
	return status;
}
