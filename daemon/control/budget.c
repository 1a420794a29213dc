/* SPDX-License-Identifier: MIT */
/* budget.c - leases, rings and connections per uid */
#include "budget.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct account {
	uid_t uid;
	uint64_t connections;
	uint64_t rings;
	uint64_t leased;
	uint64_t device_leased;
};

struct budget {
	struct budget_limits limits;
	uint64_t leased;
	uint64_t device_memory, device_leased; /* of each device */
	struct account *accounts;              /* in use: those that have anything */
	size_t count, room;
};

struct budget *budget_new(const struct budget_limits *limits)
{
	struct budget *b = calloc(1, sizeof *b);

	if (b)
		b->limits = *limits;
	return b;
}

void budget_free(struct budget *b)
{
	if (!b)
		return;
	free(b->accounts);
	free(b);
}

static struct account *find(struct budget *b, uid_t uid)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->accounts[i].uid == uid)
			return &b->accounts[i];
	return NULL;
}

static struct account *find_or_add(struct budget *b, uid_t uid)
{
	struct account *a = find(b, uid);

	if (a)
		return a;
	if (b->count == b->room) {
		size_t room = b->room ? 2 * b->room : 16;
		struct account *grown = realloc(b->accounts, room * sizeof *grown);

		if (!grown)
			return NULL;
		b->accounts = grown;
		b->room = room;
	}
	a = &b->accounts[b->count++];
	*a = (struct account){.uid = uid};
	return a;
}

static void drop_if_empty(struct budget *b, struct account *a)
{
	if (!a->connections && !a->rings && !a->leased && !a->device_leased)
		*a = b->accounts[--b->count];
}

int budget_connect(struct budget *b, uid_t uid)
{
	struct account *a = find_or_add(b, uid);

	if (!a)
		return -ENOMEM;
	if (a->connections >= b->limits.connections)
		return -EDQUOT;
	a->connections++;
	return 0;
}

void budget_disconnect(struct budget *b, uid_t uid)
{
	struct account *a = find(b, uid);

	a->connections--;
	drop_if_empty(b, a);
}

int budget_lease(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left)
{
	struct account *a = find(b, uid); /* it has a connection */
	uint64_t left = b->limits.memory - b->leased;

	if (b->limits.uid_memory - a->leased < left)
		left = b->limits.uid_memory - a->leased;
	*ret_left = left;
	if (bytes > left)
		return -EDQUOT;
	a->leased += bytes;
	b->leased += bytes;
	return 0;
}

void budget_return(struct budget *b, uid_t uid, uint64_t bytes)
{
	struct account *a = find(b, uid);

	a->leased -= bytes;
	b->leased -= bytes;
	drop_if_empty(b, a);
}

void budget_set_device(struct budget *b, uint64_t bytes)
{
	b->device_memory = bytes;
}

int budget_lease_device(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left)
{
	struct account *a = find(b, uid); /* it has a connection */

	*ret_left = b->device_memory - b->device_leased;
	if (bytes > *ret_left)
		return -EDQUOT;
	a->device_leased += bytes;
	b->device_leased += bytes;
	return 0;
}

uint64_t budget_device_left(const struct budget *b)
{
	return b->device_memory - b->device_leased;
}

void budget_return_device(struct budget *b, uid_t uid, uint64_t bytes)
{
	struct account *a = find(b, uid);

	a->device_leased -= bytes;
	b->device_leased -= bytes;
	drop_if_empty(b, a);
}

int budget_rings(struct budget *b, uid_t uid, uint64_t count, uint64_t *ret_left)
{
	struct account *a = find(b, uid); /* it has a connection */

	*ret_left = b->limits.rings - a->rings;
	if (count > *ret_left)
		return -EDQUOT;
	a->rings += count;
	return 0;
}

void budget_return_rings(struct budget *b, uid_t uid, uint64_t count)
{
	struct account *a = find(b, uid);

	a->rings -= count;
	drop_if_empty(b, a);
}

uint64_t budget_leased(const struct budget *b)
{
	return b->leased;
}

/* A number in a file; "max" and whatever cannot be read count as no limit. */
static uint64_t read_limit(const char *path)
{
	unsigned long long value;
	FILE *f = fopen(path, "re");
	int n;

	if (!f)
		return UINT64_MAX;
	n = fscanf(f, "%llu", &value);
	fclose(f);
	return n == 1 ? value : UINT64_MAX;
}

/* Our memory cgroup's own limit; ancestors may be tighter still, and then the kernel says so. */
static uint64_t cgroup_limit(void)
{
	char line[512], path[700];
	uint64_t limit = UINT64_MAX, value;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && fgets(line, sizeof line, f)) {
		char *name = strrchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		if (!name)
			continue;
		if (!strncmp(line, "0::", 3))
			snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", name + 1);
		else if (strstr(line, ":memory:"))
			snprintf(path, sizeof path, "/sys/fs/cgroup/memory%s/memory.limit_in_bytes",
				 name + 1);
		else
			continue;
		value = read_limit(path);
		limit = value < limit ? value : limit;
	}
	if (f)
		fclose(f);
	return limit;
}

uint64_t budget_default_memory(void)
{
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t limit = cgroup_limit();

	return (limit < machine ? limit : machine) / 2;
}
