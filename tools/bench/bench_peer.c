/* SPDX-License-Identifier: MIT */
/* bench_peer.c - run quoit-peer, which measures floor and peers, and read its figures */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "bench.h"
#include "launch/private_daemon.h"

enum { STATUS_NOT_HERE = 77 }; /* quoit-peer's status: the peer is not installed, or refused here */

static bool find_program(char ret[static PATH_MAX])
{
	const char *directory = getenv("QUOIT_LIBEXECDIR");

	if (!directory)
		return private_daemon_beside("quoit-peer", ret);
	snprintf(ret, PATH_MAX, "%s/quoit-peer", directory);
	return access(ret, X_OK) == 0;
}

static void exec_peer(const struct bench *b, const struct bench_series *s, const char *program)
{
	char client[16], server[16];
	const char *argv[10] = {"quoit-peer", client, server};
	unsigned n = 3;

	snprintf(client, sizeof client, "%d", b->client_cpu);
	snprintf(server, sizeof server, "%d", b->server_cpu);
	for (unsigned i = 0; i < 4 && s->peer[i]; i++)
		argv[n++] = s->peer[i];
	execv(program, (char *const *)argv);
	_exit(1);
}

/* Read its one line of JSON. */
static int read_figures(const struct bench *b, const struct bench_series *s, json_t **ret)
{
	char program[PATH_MAX];
	int out[2], status;
	FILE *from;
	pid_t pid;

	if (!find_program(program)) {
		fprintf(stderr, "quoit bench: quoit-peer is neither beside quoit nor at %s\n",
			program);
		return -ENOENT;
	}
	if (pipe(out) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		/* if our measurement is given up, quoit-peer ends, too */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		exec_peer(b, s, program);
	}
	close(out[1]);
	from = fdopen(out[0], "r");
	*ret = from ? json_loadf(from, 0, NULL) : NULL;
	if (from)
		fclose(from);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -ECHILD;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_NOT_HERE)
		return -ENOTSUP;
	return WIFEXITED(status) && !WEXITSTATUS(status) && *ret ? 0 : -EPROTO;
}

int bench_peer(const struct bench *b, const struct bench_series *s, double *ret)
{
	json_t *figures = NULL, *figure;
	int err = read_figures(b, s, &figures);

	figure = json_object_get(figures, s->peer_word);
	if (!err && !json_is_number(figure))
		err = -EPROTO;
	if (!err)
		*ret = json_number_value(figure);
	json_decref(figures);
	return err;
}
