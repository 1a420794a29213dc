/* SPDX-License-Identifier: MIT */
/*
 * features.h - what an old kernel, a filter or a limit may deny quoitd.
 *
 * quoitd needs none of it: each feature has a fall-back with the same results, slower or later.
 * All are tried once at start, as they will be used.  A version or a sysctl would not tell what a
 * seccomp filter lets pass.
 */
#ifndef QUOITD_FEATURES_H
#define QUOITD_FEATURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* FEATURE(NAME, what it is called, what is done without) */
#define FEATURES(X)                                                                                \
	X(IO_URING, "io_uring", "threads read and write files")                                    \
	X(BUFFERS, "registered buffers", "the kernel looks up pages for each transfer")            \
	X(OWN_FILES, "descriptors of its own for files",                                           \
	  "if quoitd is killed, its descriptors stay open until hung transfers "                   \
	  "end")                                                                                   \
	X(PIDFD, "pidfd", "quoitd sees at its sockets, or by asking, that a process has ended")    \
	X(MBIND, "mbind", "the kernel chooses the NUMA node of memory")                            \
	X(HUGE_PAGES, "huge pages", "memory comes in small pages")                                 \
	X(MEMLOCK, "memlock",                                                                      \
	  "pinned memory and what clients share may be paged out; " FEATURES_MORE_MEMLOCK)         \
	X(USERFAULTFD, "userfaultfd", "quoitd makes pages anew that clients take away")            \
	X(SEAL, "F_SEAL_FUTURE_WRITE", "clients can punch holes into memory that they share")      \
	X(SECOND_THREADS, "a second thread of each worker",                                        \
	  "products give way to other programs; LimitNPROC= or TasksMax= of the unit, or "         \
	  "ulimit -u, allows more")

/* Those that keep clients from holding up quoitd, and so each other, by shared memory. */
#define FEATURE_HOLDS(which)                                                                       \
	((which) == FEATURE_MEMLOCK || (which) == FEATURE_USERFAULTFD || (which) == FEATURE_SEAL)

/* What users can do that may not lock as much memory as they want. */
#define FEATURES_MORE_MEMLOCK "raise LimitMEMLOCK= of the unit, or ulimit -l"

#define FEATURE_ENUM(name, label, instead) FEATURE_##name,
enum feature { FEATURES(FEATURE_ENUM) FEATURE_NR };
#undef FEATURE_ENUM

struct features {
	bool missing[FEATURE_NR];
	char why[FEATURE_NR][96];
};

/*
 * Try everything but io_uring, its buffers, descriptors for files, and threads: the code that makes
 * one reports a failure (features_miss).  node: one with memory that quoitd may use; negative:
 * there is none, and mbind is not tried.
 */
void features_probe(struct features *ret, int32_t node);

/* May so many bytes be locked?  It is tried, without touching a page.  0 or -errno. */
int features_try_lock(uint64_t bytes);

/* Note that a feature is missing, and its -errno (-ECANCELED: an option switched it off). */
void features_miss(struct features *f, enum feature which, int err);

/* Log one feature, if it is missing; log all that are missing. */
void features_log_one(const struct features *f, enum feature which);
void features_log(const struct features *f);

/* List what is missing, or "nothing", for `quoit topo`. */
void features_describe(const struct features *f, FILE *out);

#endif
