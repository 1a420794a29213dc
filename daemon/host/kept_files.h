/* SPDX-License-Identifier: MIT */
/*
 * kept_files.h - what lies beside the socket stays there while we live.
 *
 * A private quoitd's folder may be in /tmp, where a cleaner takes what is older than its age.
 * systemd-tmpfiles leaves a folder alone that is locked (flock); tmpreaper and tmpwatch go by
 * files' times.
 */
#ifndef QUOITD_KEPT_FILES_H
#define QUOITD_KEPT_FILES_H

#include <stdint.h>

struct kept_files {
	int directory;
	uint64_t next_ns; /* when their times are next made those of now */
};

/*
 * Lock the folder, which stays so while the descriptor is open, unless it is one that everybody
 * writes into: whoever cleans that up should.
 */
void kept_files_lock(int directory);

/* To be called every few seconds: once an hour it sets the times of all of our files there. */
void kept_files_look(struct kept_files *k, uint64_t now_ns);

#endif
