/* SPDX-License-Identifier: MIT */
/* exported.c - a quoitd of which quoit exporter has every series to tell */
#include "exported.h"

#include <criterion/criterion.h>

#define PATIENCE_MS 60000
#define LEASE       (UINT64_C(4) << 20)

/* ---- things with names ---- */

static int opened(int number)
{
	cr_assert_geq(number, 0, "%s", quoit_open_text());
	return number;
}

static void run(struct quoit_ring *q, struct quoit_sqe sqe)
{
	cr_assert_eq(quoit_run(q, sqe, PATIENCE_MS), 0);
}

static void use_queue(struct quoit_session *s, struct quoit_ring *q)
{
	int rows = opened(quoit_open_queue(s, "rows", NULL));
	quoit_tensor x = quoit_create_vector(q, QUOIT_F32, 4);

	run(q, quoit_fill(x, 1));
	run(q, quoit_send(rows, x));
}

static void use_others(struct quoit_session *s, struct quoit_ring *q)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 16}};
	int flag = opened(quoit_open_flag(s, "ready", NULL));
	int keys = opened(quoit_open_keyspace(s, "settings", NULL));
	struct quoit_sync_params two = {.value = 2};

	(void)opened(quoit_open_semaphore(s, "seats", &two));
	(void)opened(quoit_open_barrier(s, "step", &two));
	(void)opened(quoit_open_tensor(s, "weights", &shape, NULL));
	run(q, quoit_set_flag(flag, 0));
	cr_assert_eq(quoit_put_value(q, keys, "a", "1", 1, QUOIT_ANY_REVISION, NULL), 0);
}

void exported_use_things(struct quoit_session *s, struct quoit_ring *q)
{
	int ledger = opened(quoit_open_lock(s, "ledger", NULL));

	use_queue(s, q);
	use_others(s, q);
	run(q, quoit_lock(ledger, 0));
	cr_assert_eq(quoit_push(q, quoit_lock(ledger, 0)), 0);
	cr_assert_eq(quoit_flush(q), 0);
}

static void use_service(struct exported *x)
{
	struct quoit_service *service;
	int nap;

	x->offer = offer_make();
	x->server = offer_serve(x->offer, x->c.d.socket, "fft", NULL, (struct offer_who){0});
	cr_assert_eq(quoit_open_service(x->things.s, "fft", PATIENCE_MS, &service), 0, "%s",
		     quoit_open_text());
	nap = quoit_find_service_function(service, "nap");
	cr_assert_geq(nap, 0);
	run(x->things.q, quoit_with_scalars(quoit_call(nap, 0, 0, 0, 0), 1, 0));
}

/* ---- a device ---- */

static void open_on_device(struct exported *x)
{
	const struct quoit_open_params p = {
		.socket = x->c.d.socket, .host_bytes = LEASE, .device_bytes = 8 * LEASE};

	cr_assert_eq(quoit_open(&p, &x->device.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(x->device.s, NULL, &x->device.q), 0);
	cr_assert_eq(quoit_use_device(x->device.q, 1), 0);
}

static void run_on_device(struct quoit_ring *q)
{
	quoit_tensor t = quoit_create_vector(q, QUOIT_F32, 1u << 16);

	for (unsigned i = 0; i < 10; i++)
		cr_assert_eq(quoit_push(q, quoit_fill(t, 1.0)), 0);
	cr_assert_eq(quoit_free(q, t), 0);
	cr_assert_eq(quoit_wait_all(q, PATIENCE_MS), 0);
}

/* ---- all together ---- */

void exported_begin(struct exported *x)
{
	static const char *const soft[] = {"--gpu=soft", NULL};

	*x = (struct exported){.server = 0};
	client_open(&x->c, soft, NULL);
	open_on_device(x);
	x->things.s = client_session(&x->c, LEASE);
	cr_assert_eq(quoit_open_ring(x->things.s, NULL, &x->things.q), 0);
	use_service(x);
	exported_use_things(x->things.s, x->things.q);
}

void exported_work(struct exported *x, unsigned jobs)
{
	for (unsigned i = 0; i < jobs; i++)
		cr_assert_eq(quoit_push(x->c.q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	cr_assert_eq(quoit_wait_all(x->c.q, PATIENCE_MS), 0);
	run_on_device(x->device.q);
}

void exported_end(struct exported *x)
{
	cr_expect_eq(quoit_close(x->device.s, 0), 0);
	cr_expect_eq(quoit_close(x->things.s, QUOIT_CLOSE_CANCEL), 0);
	offer_end(x->server);
	offer_free(x->offer);
	client_close(&x->c);
}
