/* SPDX-License-Identifier: MIT */
/*
 * patience.c - limit the wait for quoitd's answer: shorter if quoitd is stopped, longer if it is
 * slow
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "clock.h"
#include "control.h"
#include "library.h"
#include "refusal.h"

#define LOOK_S 2 /* how often we check whether quoitd is stopped */

/* If our connection starts the service, it first brings up its devices. */
#define MOST_S 30

int libquoit_patience_begin(int socket)
{
	const struct timeval look = {.tv_sec = LOOK_S};

	if (setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look) < 0 ||
	    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &look, sizeof look) < 0)
		return -errno;
	return 0;
}

void libquoit_patience_end(int socket)
{
	const struct timeval for_ever = {0};

	(void)setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof for_ever);
	(void)setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &for_ever, sizeof for_ever);
}

/*
 * The pid of a peer that a signal or a debugger has stopped; 0: it is not stopped, or we cannot see
 * it.
 */
static pid_t stopped_peer(int socket)
{
	struct ucred peer;
	socklen_t length = sizeof peer;
	char path[32], line[512], *state;
	bool stopped;
	FILE *f;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 || peer.pid <= 0)
		return 0;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)peer.pid);
	f = fopen(path, "re");
	state = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
	stopped = state && (state[2] == 'T' || state[2] == 't');
	if (f)
		fclose(f);
	return stopped ? peer.pid : 0;
}

bool libquoit_patience_left(int socket, uint64_t began_ns)
{
	pid_t stopped = stopped_peer(socket);

	if (stopped)
		libquoit_text_set("quoitd does not answer: its process %d is stopped",
				  (int)stopped);
	else if (clock_ns() - began_ns < MOST_S * UINT64_C(1000000000))
		return true;
	else
		libquoit_text_set("quoitd does not answer: nothing for %d s", MOST_S);
	return false;
}
