/* SPDX-License-Identifier: MIT */
/* executor.c - open a private quoitd with the sample module */
#include "executor.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit/stats.h>

#define PATIENCE_MS 10000
#define STEP_MS     2

void house_visit(const struct house *h, struct quoit_session **ret_s, struct quoit_ring **ret_q)
{
	struct quoit_open_params p = {.socket = h->d.socket, .host_bytes = UINT64_C(32) << 20};
	struct quoit_ring_params r = {.flags = QUOIT_RING_RAW, .entries = 256};

	cr_assert_eq(quoit_open(&p, ret_s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(*ret_s, &r, ret_q), 0);
}

struct house house_open(uint32_t entries)
{
	const char *build = getenv("QUOIT_BUILD");
	char module[PATH_MAX];
	const char *options[] = {module, "--log=error", NULL};
	struct quoit_ring_params r = {.flags = QUOIT_RING_RAW, .entries = entries};
	struct house h = {0};
	struct quoit_open_params p = {.host_bytes = UINT64_C(64) << 20};
	int numbers[3];

	snprintf(module, sizeof module, "--module=%s/modules/sample.so", build ? build : "build");
	cr_assert_eq(daemon_start(&h.d, options), 0);
	p.socket = h.d.socket;
	cr_assert_eq(quoit_open(&p, &h.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(h.s, &r, &h.q), 0);
	numbers[0] = quoit_find_op(h.s, "sample_axpy");
	numbers[1] = quoit_find_op(h.s, "sample_smooth");
	numbers[2] = quoit_find_op(h.s, "sample_sleep");
	for (int i = 0; i < 3; i++)
		cr_assert_geq(numbers[i], QUOIT_OP_MODULE_FIRST);
	h.axpy = numbers[0];
	h.smooth = numbers[1];
	h.sleep = numbers[2];
	return h;
}

void house_close(struct house *h)
{
	(void)quoit_close(h->s, QUOIT_CLOSE_CANCEL);
	daemon_stop(&h->d);
}

void house_submit(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t user_data)
{
	struct quoit_sqe *slot = quoit_get_sqe(q);

	cr_assert_not_null(slot);
	*slot = sqe;
	slot->user_data = user_data;
	quoit_flush(q);
}

struct quoit_cqe house_reap(struct quoit_ring *q, struct quoit_error *error)
{
	const struct quoit_cqe *cqe;
	struct quoit_cqe copy;
	int n;

	n = quoit_wait_cqe(q, PATIENCE_MS);
	cr_assert_geq(n, 0, "no CQE: %s", quoit_strerror(n));
	cr_assert_geq(quoit_peek(q, &cqe), 1);
	copy = *cqe;
	if (error && cqe->flags & QUOIT_CQE_ERROR)
		*error = *quoit_get_error(q, 0);
	quoit_release(q, 1);
	return copy;
}

void house_reap_each(struct quoit_ring *q, unsigned jobs)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < jobs; i++) {
		struct quoit_cqe cqe = house_reap(q, NULL);

		cr_assert_lt(cqe.user_data, jobs);
		cr_assert_eq(seen >> cqe.user_data & 1, 0);
		seen |= UINT64_C(1) << cqe.user_data;
	}
}

int house_run(struct quoit_ring *q, struct quoit_sqe sqe)
{
	house_submit(q, sqe, 77);
	return house_reap(q, NULL).res;
}

struct quoit_sqe house_nap(const struct house *h, quoit_tensor out, int64_t milliseconds,
			   uint8_t how)
{
	return quoit_op_arg(quoit_op4(h->sleep, out, 0, 0, 0), how, (uint64_t)milliseconds, 0);
}

quoit_tensor house_vector(struct quoit_session *s, struct quoit_ring *q, uint32_t n, float **ret)
{
	struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, n}};
	quoit_tensor t;

	*ret = quoit_alloc(s, n * sizeof **ret);
	cr_assert_not_null(*ret);
	t = quoit_create_in(q, &shape, *ret);
	cr_assert_neq(t, QUOIT_NO_TENSOR);
	return t;
}

struct quoit_sqe house_axpy(const struct house *h, quoit_tensor out, double a, quoit_tensor x,
			    quoit_tensor y)
{
	return quoit_op_arg(quoit_op4(h->axpy, out, x, y, 0), 0, quoit_bits(a), 0);
}

/* ---- views from outside ---- */

pid_t house_executor(const struct house *h)
{
	char text[8192];
	const char *module, *pid;

	daemon_topology(&h->d, text, sizeof text);
	module = strstr(text, "module: ");
	pid = module ? strstr(module, ", pid ") : NULL;
	return pid ? (pid_t)strtol(pid + strlen(", pid "), NULL, 10) : 0;
}

bool house_says(const struct house *h, const char *word)
{
	char text[8192];

	daemon_topology(&h->d, text, sizeof text);
	return strstr(text, word) != NULL;
}

bool house_until(bool (*check)(const struct house *h, uint64_t value), const struct house *h,
		 uint64_t value)
{
	for (int i = 0; i < PATIENCE_MS / STEP_MS; i++) {
		if (check(h, value))
			return true;
		usleep(STEP_MS * 1000);
	}
	return false;
}

static bool is_another(const struct house *h, uint64_t old)
{
	pid_t pid = house_executor(h);

	return pid && pid != (pid_t)old;
}

pid_t house_executor_wait(const struct house *h, pid_t old)
{
	cr_assert(house_until(is_another, h, (uint64_t)old), "no executor came up");
	return house_executor(h);
}

static unsigned count_entries(const char *path, const char *prefix)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned n = 0;

	cr_assert(dir, "%s: %s", path, strerror(errno));
	while ((entry = readdir(dir)) != NULL)
		n += !strncmp(entry->d_name, prefix, strlen(prefix));
	closedir(dir);
	return n;
}

unsigned house_descriptors(const struct house *h)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd", (int)h->d.pid);
	return count_entries(path, "");
}

unsigned house_sessions(const struct house *h)
{
	char path[160];

	snprintf(path, sizeof path, "%s/" QUOIT_STATS_SESSIONS, h->d.folder);
	return count_entries(path, "session.");
}

uint64_t house_total(const struct house *h, unsigned counter)
{
	const struct quoit_totals *t = daemon_totals(&h->d);
	uint64_t value;

	cr_assert_not_null(t);
	value = __atomic_load_n(&t->value[counter], __ATOMIC_RELAXED);
	daemon_totals_unmap(t);
	return value;
}
