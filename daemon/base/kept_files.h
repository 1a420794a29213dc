/* SPDX-License-Identifier: MIT */
/*
 * kept_files.h - keeps temporary-file cleaners away from the files beside the socket.
 *
 * A private quoitd's folder may be in /tmp, where a cleaner removes old files.  systemd-tmpfiles
 * leaves a locked folder (flock) alone; tmpreaper and tmpwatch go by the files' times.
 */
#ifndef QUOITD_KEPT_FILES_H
#define QUOITD_KEPT_FILES_H

#include <stdint.h>

struct kept_files {
	int directory;
	uint64_t next_ns; /* when the files' times are next set to now */
};

/*
 * Lock the folder for as long as the descriptor is open.  A folder into which everybody may write
 * is not locked: it should be cleaned.
 */
void kept_files_lock(int directory);

/* Call it every few seconds: once an hour it sets the times of all of quoitd's files there. */
void kept_files_look(struct kept_files *k, uint64_t now_ns);

#endif
