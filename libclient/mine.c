/* SPDX-License-Identifier: MIT */
/* mine.c - a word that is 1 in the process that made it, and 0 in its children */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "library.h"
#include "mine.h"

/* One page for each, which the kernel clears in children. */
struct mine {
	uint32_t is;
	struct mine *next; /* if the kernel cannot: next in the list of words that we clear */
	bool listed;
};

static struct mine *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

/* Words that the child makes later are on a new list. */
static void in_child(void)
{
	for (struct mine *m = all; m; m = m->next)
		m->is = 0;
	all = NULL;
	pthread_mutex_unlock(&lock);
}

static int forks_are_told;

static void ask_to_be_told(void)
{
	forks_are_told = -pthread_atfork(before_fork, in_parent, in_child);
}

/*
 * For emulated and old kernels without MADV_WIPEONFORK: fork() calls us back, but clone() does not.
 */
static int list(struct mine *m)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, ask_to_be_told);
	if (forks_are_told < 0)
		return forks_are_told;
	pthread_mutex_lock(&lock);
	m->next = all;
	m->listed = true;
	all = m;
	pthread_mutex_unlock(&lock);
	return 0;
}

static void unlist(const struct mine *m)
{
	pthread_mutex_lock(&lock);
	for (struct mine **at = &all; *at; at = &(*at)->next)
		if (*at == m) {
			*at = m->next;
			break;
		}
	pthread_mutex_unlock(&lock);
}

int libquoit_mine_new(uint32_t **ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct mine *m =
		mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err = 0;

	*ret = NULL;
	if (m == MAP_FAILED)
		return -errno;
	if (madvise(m, page, MADV_WIPEONFORK) < 0)
		err = list(m);
	if (err < 0) {
		munmap(m, page);
		return err;
	}
	m->is = 1;
	*ret = &m->is;
	return 0;
}

void libquoit_mine_free(uint32_t *mine)
{
	struct mine *m = (struct mine *)(void *)mine;

	if (!m)
		return;
	if (m->listed)
		unlist(m);
	munmap(m, (size_t)sysconf(_SC_PAGESIZE));
}
