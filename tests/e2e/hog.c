/* SPDX-License-Identifier: MIT */
/* hog.c - take memory: first by large leases, then by pages, through an arena that grows */
#include "hog.h"

#include <errno.h>

#include <criterion/criterion.h>

#define LARGEST (UINT64_C(1) << 40)
#define LEAST   (UINT64_C(4) << 20)

static bool add(struct hog *h, const struct quoit_open_params *p)
{
	int err;

	cr_assert_lt(h->count, HOG_SESSIONS);
	err = quoit_open(p, &h->s[h->count]);
	cr_assert(!err || err == -EDQUOT, "%s", quoit_open_text());
	h->count += !err;
	return !err;
}

void hog_take(struct hog *h, const char *socket)
{
	struct quoit_open_params p = {.socket = socket, .max_tensors = 2};

	*h = (struct hog){0};
	cr_assert(add(h, &(struct quoit_open_params){.socket = socket}));
	p.arena_bytes = 4096;
	for (p.host_bytes = LARGEST; p.host_bytes >= LEAST;)
		if (!add(h, &p))
			p.host_bytes /= 2;
	while (quoit_alloc(h->s[0], 64 << 10)) /* the arena doubles if it can */
		;
	while (quoit_alloc(h->s[0], 4096))
		;
}

void hog_release(struct hog *h)
{
	while (h->count)
		cr_assert_eq(quoit_close(h->s[--h->count], 0), 0);
}
