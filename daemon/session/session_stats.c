/* SPDX-License-Identifier: MIT */
/* session_stats.c - a session's counter file */
#include "session_stats.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/totals.h"

/* What the names of all sessions' files begin with. */
#define PREFIX "session."

static void file_name(const struct session *s, char name[32])
{
	snprintf(name, 32, QUOIT_STATS_SESSION, (unsigned long long)s->id);
}

/*
 * The file is ours, for reading by us: let the session's user read it as well.  Giving it away
 * would need a right that we do not have; an access list needs only that we own it.
 */
static int let_user_read(int fd, uid_t uid)
{
	struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entry[5];
	} acl = {.header = {htole32(POSIX_ACL_XATTR_VERSION)},
		 .entry = {
			 {htole16(ACL_USER_OBJ), htole16(ACL_READ), htole32(ACL_UNDEFINED_ID)},
			 {htole16(ACL_USER), htole16(ACL_READ), htole32(uid)},
			 {htole16(ACL_GROUP_OBJ), 0, htole32(ACL_UNDEFINED_ID)},
			 {htole16(ACL_MASK), htole16(ACL_READ), htole32(ACL_UNDEFINED_ID)},
			 {htole16(ACL_OTHER), 0, htole32(ACL_UNDEFINED_ID)},
		 }};

	if (uid == geteuid())
		return 0;
	return fsetxattr(fd, "system.posix_acl_access", &acl, sizeof acl, 0) < 0 ? -errno : 0;
}

#define LABEL(name, text) text,
static const char *const labels[QUOIT_SESSION_NR] = {QUOIT_SESSION_STATS(LABEL)};
#undef LABEL

void session_stats_sweep(int directory)
{
	DIR *dir = fdopendir(dup(directory));
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			(void)unlinkat(directory, entry->d_name, 0);
	if (dir)
		closedir(dir);
}

int session_stats_open(struct session *s, int directory, uint32_t reactor, int32_t node)
{
	struct quoit_session_stats *stats;
	char name[32];

	file_name(s, name);
	s->stats_fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
	if (s->stats_fd < 0)
		return -errno;
	stats = MAP_FAILED;
	if (fallocate(s->stats_fd, 0, 0, sizeof *stats) == 0) /* a full disk: no SIGBUS later */
		stats = mmap(NULL, sizeof *stats, PROT_READ | PROT_WRITE, MAP_SHARED, s->stats_fd,
			     0);
	if (stats == MAP_FAILED) {
		int err = -errno;

		(void)unlinkat(directory, name, 0);
		return err;
	}
	totals_fill_header(&stats->header, sizeof *stats,
			   offsetof(struct quoit_session_stats, value), QUOIT_SESSION_NR, 1);
	stats->session = s->id;
	stats->uid = s->uid;
	stats->pid = (uint32_t)s->pid;
	stats->reactor = reactor;
	stats->node = node;
	stats->opened_ns = totals_now_ns();
	memcpy(stats->name, s->name, sizeof stats->name);
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		snprintf(stats->label[i], sizeof stats->label[i], "%s", labels[i]);
	s->stats = stats;
	return let_user_read(s->stats_fd, s->uid);
}

/* What waits: for its turn, for memory, or else for what it reads. */
static void count_waiting(const struct session *s, uint64_t *value)
{
	uint64_t queued = value[QUOIT_SESSION_QUEUED];
	uint64_t turn = s->ready_jobs + s->exec.jobs_waiting, memory = s->memory.waiting.now;

	value[QUOIT_SESSION_WAIT_TURN] = turn;
	value[QUOIT_SESSION_WAIT_MEMORY] = memory;
	value[QUOIT_SESSION_WAIT_DATA] = queued > turn + memory ? queued - turn - memory : 0;
}

/* How far `ahead` is of `behind`; a client writes one of them. */
static uint32_t distance(uint32_t ahead, uint32_t behind, uint32_t most)
{
	return ahead - behind < most ? ahead - behind : most;
}

/* Lines that the client writes: looking costs a cache miss each. */
static void look_at_ring(struct ring *r)
{
	r->sq_depth = distance(__atomic_load_n(&r->client->sq_tail, __ATOMIC_RELAXED), r->sq.next,
			       r->layout.sq_entries);
	r->cq_depth = distance(r->cq.next, __atomic_load_n(&r->client->cq_head, __ATOMIC_RELAXED),
			       r->layout.cq_entries);
	if (r->sq_depth > r->sq_most)
		r->sq_most = r->sq_depth;
	if (r->cq_depth > r->cq_most)
		r->cq_most = r->cq_depth;
}

static void count_rings(const struct session *s, uint64_t *value, bool look)
{
	value[QUOIT_SESSION_RINGS] = value[QUOIT_SESSION_SQ_DEPTH] = value[QUOIT_SESSION_SQ_MOST] =
		value[QUOIT_SESSION_CQ_DEPTH] = value[QUOIT_SESSION_CQ_MOST] = 0;
	for (uint32_t i = 0; i < s->ring_count; i++) {
		struct ring *r = s->rings[i];

		if (!r)
			continue;
		if (look)
			look_at_ring(r);
		value[QUOIT_SESSION_RINGS]++;
		value[QUOIT_SESSION_SQ_DEPTH] += r->sq_depth;
		value[QUOIT_SESSION_CQ_DEPTH] += r->cq_depth;
		if (r->sq_most > value[QUOIT_SESSION_SQ_MOST])
			value[QUOIT_SESSION_SQ_MOST] = r->sq_most;
		if (r->cq_most > value[QUOIT_SESSION_CQ_MOST])
			value[QUOIT_SESSION_CQ_MOST] = r->cq_most;
	}
}

void session_stats_publish(struct session *s, uint64_t now, uint64_t tile_ticks, bool look)
{
	uint64_t value[QUOIT_SESSION_NR];

	if (!s->stats)
		return;
	depth_sum(&s->open, now);
	depth_sum(&s->memory.waiting, now);
	value[QUOIT_SESSION_SUBMITTED] = s->jobs_fetched;
	value[QUOIT_SESSION_DONE] = s->jobs_done;
	value[QUOIT_SESSION_FAILED] = s->jobs_failed;
	value[QUOIT_SESSION_INLINE] = s->jobs_inline;
	value[QUOIT_SESSION_TILED] = s->jobs_tiled;
	value[QUOIT_SESSION_RUNNING] = s->running;
	value[QUOIT_SESSION_QUEUED] = s->open.now - value[QUOIT_SESSION_RUNNING];
	count_waiting(s, value);
	count_rings(s, value, look);
	value[QUOIT_SESSION_QUEUE_TICKS] = s->open.queue_ticks;
	value[QUOIT_SESSION_BUSY_TICKS] = s->open.busy_ticks;
	value[QUOIT_SESSION_MEMORY_TICKS] = s->memory.waiting.busy_ticks;
	value[QUOIT_SESSION_REFUSED] = s->jobs_refused;
	value[QUOIT_SESSION_MEMORY_WAITS] = s->memory_waited;
	value[QUOIT_SESSION_WAKES] = s->wakes;
	value[QUOIT_SESSION_KICKS] = s->kicks;
	value[QUOIT_SESSION_HOST_LEASE] = s->memory.lease;
	value[QUOIT_SESSION_HOST_USED] = s->memory.used;
	value[QUOIT_SESSION_HOST_CACHED] = s->region.cached_bytes;
	value[QUOIT_SESSION_HOST_PEAK] = s->memory.peak;
	value[QUOIT_SESSION_CORE_TICKS] = s->core_ticks + tile_ticks;
	value[QUOIT_SESSION_AS_OF] = now;
	value[QUOIT_SESSION_TENSORS] = s->tensors_alive;
	value[QUOIT_SESSION_PINNED] = s->pinned_bytes;
	value[QUOIT_SESSION_DEVICE_LEASE] = s->devices ? s->device[0].lease : 0;
	value[QUOIT_SESSION_DEVICE_USED] = value[QUOIT_SESSION_DEVICE_JOBS] = 0;
	value[QUOIT_SESSION_DIRECT] = value[QUOIT_SESSION_DIRECT_STREAMED] = 0;
	value[QUOIT_SESSION_PINNED_REFUSED] = 0;
	for (uint32_t i = 0; i < s->devices; i++) {
		value[QUOIT_SESSION_DEVICE_USED] += s->device[i].used;
		value[QUOIT_SESSION_DEVICE_JOBS] += s->device[i].jobs;
		value[QUOIT_SESSION_PINNED_REFUSED] += s->device[i].refused;
		value[QUOIT_SESSION_DIRECT] += s->device[i].direct;
		value[QUOIT_SESSION_DIRECT_STREAMED] += s->device[i].streamed;
	}
	value[QUOIT_SESSION_PINNED_LOCKED] = s->pinned_locked;
	value[QUOIT_SESSION_PINNED_REGISTERED] = s->pinned_registered;
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		__atomic_store_n(&s->stats->value[i], value[i], __ATOMIC_RELAXED);
}

void session_stats_close(struct session *s, int directory)
{
	char name[32];

	if (!s->stats)
		return;
	__atomic_store_n(&s->stats->ended, 1, __ATOMIC_RELAXED);
	file_name(s, name);
	(void)unlinkat(directory, name, 0);
}
