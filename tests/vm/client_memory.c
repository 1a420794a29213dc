/* SPDX-License-Identifier: MIT */
/* client_memory.c - tasks of the client about memory: leases, leaks, and the place of an arena */
#include <errno.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

#define PAGE      4096u
#define PAGES     64u
#define NODES     2u
#define RETURN_MS 30000 /* pages must come back within this time */

/* lease BYTES: open a session of that lease. */
int client_lease(const char *argument)
{
	struct quoit_session *s;
	struct quoit_ring *q;
	int err = client_enter(strtoull(argument, NULL, 10), &s, &q);

	if (err)
		return client_fail("lease", err);
	err = client_try_job(q);
	printf("granted: %s\n", quoit_strerror(err));
	return err || quoit_close(s, 0);
}

/*
 * fill BYTES: use a whole session of that lease: half of it is the arena, and quoitd touches the
 * other half first.  Then ask for more.  It stays.
 */
int client_fill(const char *argument)
{
	const uint64_t bytes = strtoull(argument, NULL, 10), each = UINT64_C(4) << 20;
	struct quoit_open_params params = {
		.host_bytes = bytes, .arena_bytes = bytes / 2, .max_tensors = 4096};
	const struct quoit_shape shape = {.dtype = QUOIT_I32,
					  .dim = {1, 1, 1, (uint32_t)(bytes / 8) - 1024}};
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor arena, more;
	int64_t got = 0, expected = (int64_t)(bytes / 8) - 1024;
	int *memory, err = quoit_open(&params, &s);

	if (!err)
		err = quoit_open_ring(s, NULL, &q);
	if (err)
		return client_fail("open", err);
	memory = quoit_alloc(s, (size_t)shape.dim[3] * sizeof *memory);
	arena = quoit_create_in(q, &shape, memory);
	(void)quoit_push(q, quoit_fill_int(arena, 1));
	for (uint64_t i = 0; i + 1 < bytes / 2 / each; i++)
		(void)quoit_push(q, quoit_fill_int(quoit_create_vector(q, QUOIT_I32, each / 4), 1));
	err = quoit_wait_all(q, QUOIT_FOREVER);
	if (err)
		return client_fail("fill", err);
	more = quoit_create_vector(q, QUOIT_I32, (uint32_t)(bytes / 8));
	(void)quoit_push(q, quoit_fill_int(more, 1));
	printf("beyond: %s\n", quoit_strerror(quoit_wait_tensor(q, more, QUOIT_FOREVER)));
	for (uint32_t i = 0; i < shape.dim[3]; i++)
		got += memory[i];
	printf("%s\n", got == expected ? "all is there" : "something is lost");
	fflush(stdout);
	client_is_ready();
	(void)pause();
	return got != expected;
}

/*
 * module HOW: run a job of the sample module that does that (modules/sample.c), and then a good
 * one.
 */
int client_module(const char *argument)
{
	struct quoit_session *s;
	struct quoit_ring *q;
	quoit_tensor t;
	quoit_job job;
	int opcode, bad, err = client_enter(UINT64_C(1) << 20, &s, &q);

	if (err)
		return client_fail("open", err);
	opcode = quoit_find_op(s, "sample_sleep");
	if (opcode < 0)
		return client_fail("sample_sleep", opcode);
	t = quoit_create_vector(q, QUOIT_F32, 1);
	(void)quoit_start(q,
			  quoit_op_arg(quoit_op4(opcode, t, 0, 0, 0),
				       (uint8_t)strtoul(argument, NULL, 10), 0, 0),
			  &job);
	bad = quoit_wait(q, job, QUOIT_FOREVER);
	(void)quoit_start(q, quoit_op_arg(quoit_op4(opcode, t, 0, 0, 0), 0, 1, 0), &job);
	err = quoit_wait(q, job, QUOIT_FOREVER);
	printf("%s, then %s\n", quoit_strerror(bad), quoit_strerror(err));
	return bad != -QUOIT_EEXEC || err || quoit_close(s, 0);
}

/* ---- memory of the arena ---- */

static unsigned pages_on(char *memory, int node)
{
	void *page[PAGES];
	int where[PAGES];
	unsigned n = 0;

	for (unsigned i = 0; i < PAGES; i++)
		page[i] = memory + (size_t)i * PAGE;
	if (move_pages(0, PAGES, page, NULL, where, 0) < 0)
		return 0;
	for (unsigned i = 0; i < PAGES; i++)
		n += where[i] == node;
	return n;
}

/* move NODE: try to move the arena's pages there, which quoitd prevents; and use the arena. */
int client_move(const char *argument)
{
	int node = (int)strtol(argument, NULL, 10), err;
	unsigned long mask = 1UL << node;
	const struct quoit_shape shape = {.dtype = QUOIT_I32,
					  .dim = {1, 1, 1, (PAGES + 1) * PAGE / 4}};
	struct quoit_session *s;
	struct quoit_ring *q;
	unsigned before, there;
	char *memory, *start;
	quoit_tensor t;

	err = client_enter(CLIENT_LEASE, &s, &q);
	memory = err ? NULL : quoit_alloc(s, (size_t)(PAGES + 1) * PAGE);
	if (!memory)
		return client_fail("open", err);
	start = memory + (PAGE - (uintptr_t)memory % PAGE) % PAGE;
	memset(memory, 1, (size_t)(PAGES + 1) * PAGE);
	before = pages_on(start, node);
	printf("before: %u of %u pages on node %d\n", before, PAGES, node);
	if (mbind(start, (size_t)PAGES * PAGE, MPOL_BIND, &mask, 65, MPOL_MF_MOVE) < 0)
		printf("mbind: %s\n", strerror(errno));
	t = quoit_create_in(q, &shape, memory);
	(void)quoit_push(q, quoit_fill_int(t, 42));
	err = quoit_wait_tensor(q, t, QUOIT_FOREVER);
	there = pages_on(start, node);
	printf("after: %u of %u pages on node %d, job: %s\n", there, PAGES, node,
	       quoit_strerror(err));
	err |= there != before;
	for (size_t i = 0; i < PAGES * PAGE / sizeof(int); i++)
		err |= ((const int *)(const void *)start)[i] != 42;
	return err || quoit_close(s, 0);
}
