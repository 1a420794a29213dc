/* SPDX-License-Identifier: MIT */
/*
 * executor_process.h - one run of quoit-exec: its process, its pages, its sockets.
 */
#ifndef QUOITD_EXECUTOR_PROCESS_H
#define QUOITD_EXECUTOR_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit/exec.h>

struct executor_process {
	pid_t pid;  /* 0: none */
	int pidfd;  /* -1: the kernel has none; ask now and then */
	int socket; /* our end of its first socket */
	int pool;   /* other processes reach its device's memory by it; -1: they do not */
	void *daemon_pages;
	void *exec_pages; /* mapped for reading only */
	uint64_t daemon_bytes;
	uint64_t exec_bytes;
	struct quoit_direct_requests *direct_requests; /* pages of their own, one per channel */
	uint64_t direct_bytes;
	const struct quoit_direct_words *direct_words; /* in exec_pages */
};

#define EXECUTOR_PROCESS_SHARES 0x1u /* other devices' processes may read its device's memory */
#define EXECUTOR_PROCESS_MUTE   0x2u /* what it prints goes nowhere: clients' kernels can print */

/*
 * Start quoit-exec with a module or a device.  It dies with the calling thread at the latest.  0;
 * -ENOENT: quoit-exec is neither beside quoitd nor where it is installed; else -errno.
 */
int executor_process_start(const char *module, unsigned flags, struct executor_process *ret);

/*
 * Take its hello, and its pool: 0; -EAGAIN: not yet; -ECONNRESET: it has hung up; -EPROTO: the
 * hello is invalid; else -errno.
 */
int executor_process_hello(struct executor_process *p, struct quoit_exec_hello *ret);

/*
 * Tell a device's process of another device's process and its pool; pid 0: that process is gone.
 * -errno: the message was not sent.
 */
int executor_process_tell(const struct executor_process *p, uint32_t device, pid_t pid, int pool);

/*
 * Make the pages and a socket for each of `channels` reactors, and let the process serve.  0, and
 * the caller closes ret_sockets; or -errno.
 */
int executor_process_serve(struct executor_process *p, uint32_t channels, int *ret_sockets);

/* True: the process has ended, and *ret_status is as from waitpid; it keeps its pid. */
bool executor_process_has_ended(const struct executor_process *p, int *ret_status);

/*
 * Kill, reap, unmap, close.  A process that was never started is fine; one that does not end within
 * two seconds is not reaped.
 */
void executor_process_free(struct executor_process *p);

#endif
