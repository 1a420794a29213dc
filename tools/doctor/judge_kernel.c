/* SPDX-License-Identifier: MIT */
/* judge_kernel.c - judge the kernel's version, features and permissions */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "judge.h"
#include "tree.h"

/* Which kernels a distribution offers is not known here. */
#define NEWER_KERNEL "# install a kernel of 6.12 or later"

#define VERSION(major, minor) ((major)*1000u + (minor))

/* 0: the text is not a version. */
static unsigned version_of(const char *release)
{
	unsigned major, minor;

	if (!release || sscanf(release, "%3u.%3u", &major, &minor) != 2)
		return 0;
	return VERSION(major, minor);
}

void judge_kernel(struct finding *f, const char *release)
{
	unsigned version = version_of(release);

	finding_word(f, version ? release : "");
	if (!version) {
		finding_say(f, LEVEL_NOTE, "the kernel's version is not understood");
	} else if (version < VERSION(5, 4)) {
		/* pidfd_open came with 5.3, io_uring in a useful state with 5.4 */
		finding_say(f, LEVEL_WARNING, "Linux %s has neither pidfds nor a useful io_uring",
			    release);
		finding_mend(
			f,
			"threads read and write files, and quoitd sees late that a process has "
			"ended",
			NEWER_KERNEL);
	} else if (version < VERSION(5, 19)) {
		/* a sparse table of buffers, which quoitd's reactors use, came with 5.19 */
		finding_say(f, LEVEL_NOTE, "Linux %s registers no buffers one by one", release);
		finding_mend(f, "the kernel looks up pages of pinned memory for each transfer",
			     NEWER_KERNEL);
	} else if (version >= VERSION(6, 6) && version < VERSION(6, 12)) {
		/* EEVDF came with 6.6, a task's own slice (docs/performance.md) with 6.12 */
		finding_say(f, LEVEL_WARNING, "Linux %s cannot set the time slice of a thread",
			    release);
		finding_mend(
			f, "a reactor that wakes on the core of a busy worker may wait for some ms",
			NEWER_KERNEL);
	} else {
		finding_say(f, LEVEL_OK, "Linux %s", release);
	}
}

/* ---- io_uring ---- */

/* If the administrator has named a group, add the user to it; never add a user to root's group. */
static void mend_group(struct finding *f, const char *why, bool has_group, uint64_t gid,
		       const struct subject *s)
{
	if (!has_group)
		finding_mend(f, why, "sudo sysctl kernel.io_uring_group=%u", s->gid);
	else if (gid)
		finding_mend(f, why,
			     "sudo usermod -aG \"$(getent group %llu | cut -d: -f1)\" \"$(id -un "
			     "%u)\"  # then start quoitd anew",
			     (unsigned long long)gid, s->uid);
	else
		finding_mend(f, why,
			     "sysctl kernel.io_uring_group  # it is root's: name another group");
}

/* Documentation/admin-guide/sysctl/kernel.rst: 1: a group and CAP_SYS_ADMIN may; 2: no user may. */
void judge_io_uring(struct finding *f, bool known, uint64_t disabled, const char *group,
		    const char *release, const struct subject *s)
{
	static const char why[] = "files are read and written by threads, which is slower";
	uint64_t gid = 0;
	bool has_group = group && tree_parse_number(group, &gid); /* -1: no group */
	unsigned version = version_of(release);

	if (known)
		finding_number(f, (double)disabled);
	if (!known && version && version < VERSION(5, 1)) {
		finding_say(f, LEVEL_WARNING, "the kernel has no io_uring");
		finding_mend(f, why, NEWER_KERNEL);
	} else if (!known || !disabled) {
		finding_say(f, LEVEL_OK, "all users may use io_uring");
	} else if (disabled > 1) {
		finding_say(f, LEVEL_WARNING,
			    "no user may use io_uring (kernel.io_uring_disabled=2)");
		finding_mend(f, why, "sudo sysctl kernel.io_uring_disabled=0");
	} else if (!s->known) {
		finding_say(f, LEVEL_NOTE,
			    "io_uring is restricted (kernel.io_uring_disabled=1); quoitd's user is "
			    "not known");
	} else if (s->capabilities & SUBJECT_MAY_ADMINISTER ||
		   (has_group && subject_is_in_group(s, gid))) {
		finding_say(
			f, LEVEL_OK,
			"io_uring is restricted (kernel.io_uring_disabled=1); quoitd may use it");
	} else {
		finding_say(f, LEVEL_WARNING,
			    "io_uring is restricted (kernel.io_uring_disabled=1); quoitd may not "
			    "use it");
		mend_group(f, why, has_group, gid, s);
	}
}

/* ---- features ---- */

static const struct {
	const char *name, *why, *mend;
	enum level level;
} features[FEATURE_NR] = {
	[FEATURE_MEMFD] =
		{"sealed shared memory", "quoitd does not start: rings lie in sealed shared memory",
		 "grep Seccomp /proc/self/status  # memfd_create has to pass (SystemCallFilter=)",
		 LEVEL_FAILURE},
	[FEATURE_IO_URING] =
		{"io_uring", "files are read and written by threads, which is slower",
		 "grep Seccomp /proc/self/status  # io_uring_setup has to pass (SystemCallFilter=)",
		 LEVEL_WARNING},
	[FEATURE_PIDFD] =
		{"pidfd", "quoitd sees at its sockets, or by asking, that a process has ended",
		 "grep Seccomp /proc/self/status  # pidfd_open has to pass (SystemCallFilter=)",
		 LEVEL_WARNING},
	[FEATURE_MBIND] =
		{"mbind", "the kernel chooses the NUMA node of memory",
		 "grep Seccomp /proc/self/status  # mbind has to pass (SystemCallFilter=)",
		 LEVEL_WARNING},
	[FEATURE_HUGE_PAGES] =
		{"huge pages for shared memory",
		 "tensors lie in pages of 4 KiB: more TLB misses, slower to touch",
		 "echo advise | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled",
		 LEVEL_WARNING},
	[FEATURE_USERFAULTFD] =
		{"userfaultfd for shared memory",
		 "quoitd makes pages anew that clients take away, and does not start for several "
		 "users",
		 "grep Seccomp /proc/self/status  # userfaultfd has to pass (SystemCallFilter=)",
		 LEVEL_WARNING},
	[FEATURE_SEAL] = {"F_SEAL_FUTURE_WRITE",
			  "clients can punch holes into memory that they share with quoitd, which "
			  "does not start for several users",
			  "uname -r  # it takes Linux 5.1", LEVEL_WARNING},
	[FEATURE_MEMLOCK] = {"memlock", "pinned memory and what clients share may be paged out",
			     "ulimit -l unlimited  # or LimitMEMLOCK=infinity of the unit",
			     LEVEL_WARNING},
};

void judge_feature(struct finding *f, enum feature which, int err)
{
	finding_word(f, features[which].name);
	if (!err) {
		finding_say(f, LEVEL_OK, "tried: %s", features[which].name);
		f->why = NULL; /* of a setting that was judged before */
		f->mend[0] = '\0';
		return;
	}
	finding_say(f, features[which].level, "tried: %s is unavailable (%s)", features[which].name,
		    err == -ENOMSG ? "the kernel did not provide it" : strerror(-err));
	finding_mend(f, features[which].why, "%s", features[which].mend);
}

/* Translates quoitd's names of features (quoit topo) into ours. */
void judge_missing(struct finding *f, const char *line)
{
	static const struct {
		const char *name;
		enum feature which;
	} names[] = {{"io_uring", FEATURE_IO_URING},
		     {"registered buffers", FEATURE_MEMLOCK},
		     {"pidfd", FEATURE_PIDFD},
		     {"mbind", FEATURE_MBIND},
		     {"huge pages", FEATURE_HUGE_PAGES},
		     {"memlock", FEATURE_MEMLOCK},
		     {"userfaultfd", FEATURE_USERFAULTFD},
		     {"F_SEAL_FUTURE_WRITE", FEATURE_SEAL}};

	finding_word(f, line);
	if (!strncmp(line, "nothing", 7)) {
		finding_say(f, LEVEL_OK, "quoitd has all features of the kernel that it uses");
		return;
	}
	finding_say(f, LEVEL_WARNING, "quoitd runs without %s", line);
	finding_mend(f, "quoitd works without it, but slower", "quoit topo");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strncmp(line, names[i].name, strlen(names[i].name)))
			finding_mend(f, features[names[i].which].why, "%s",
				     features[names[i].which].mend);
}
