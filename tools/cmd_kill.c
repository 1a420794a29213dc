/* SPDX-License-Identifier: MIT */
/* cmd_kill.c - `quoit kill`: ask quoitd to end sessions */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "commands.h"
#include "read/control.h"
#include "read/daemon_state.h"
#include "read/format.h"
#include "read/runtime.h"

static const struct args_option options[] = {
	{"socket", "PATH", "quoitd's socket"},
	{"json", NULL, "print a JSON array with a result for each session"},
	{NULL},
};

static const struct args_command command = {
	"kill", "SESSION...",
	"End sessions by their numbers as `quoit ps` prints them: your own, any for root.\n"
	"Exit status 1: one or more could not be ended.",
	options};

static bool parse_session(const char *word, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}

static int kill_all(const char *socket, char **words, bool json)
{
	json_t *list = json ? json_array() : NULL;
	int status = 0;

	for (; *words; words++) {
		char text[CONTROL_TEXT_BYTES];
		uint64_t session;
		int err;

		(void)parse_session(*words, &session);
		err = control_end_session(socket, session, text);
		status |= err < 0;
		if (json)
			json_array_append_new(list, json_pack("{s:I, s:b, s:i, s:s}", "session",
							      (json_int_t)session, "ended", !err,
							      "errno", -err, "message", text));
		else if (err)
			fprintf(stderr, "quoit kill: session %s: %s\n", *words, text);
	}
	if (json && !format_json_print(list))
		status = 1;
	return status;
}

int cmd_kill(int argc, char **argv)
{
	char socket[QUOIT_SOCKET_BYTES];
	struct args_target target;
	uint64_t session;
	int status = args_read_target(&command, argc, argv, &target);

	if (status >= 0)
		return status;
	if (optind == argc) {
		fprintf(stderr, "quoit kill: name one or more sessions (see quoit ps)\n");
		return 2;
	}
	for (int i = optind; i < argc; i++)
		if (!parse_session(argv[i], &session)) {
			fprintf(stderr,
				"quoit kill: '%s' is not a session's number (see quoit ps)\n",
				argv[i]);
			return 2;
		}
	if (!runtime_find_socket("kill", target.socket, socket))
		return 2;
	daemon_state_check_version("kill", socket);
	return kill_all(socket, argv + optind, target.json);
}
