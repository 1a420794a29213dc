/* SPDX-License-Identifier: MIT */
/*
 * w1_train.c - train a network twice (W1 f): waiting for the loss of every batch, and never.
 *
 * 512 inputs, 2048 ReLU, 512 ReLU, 1 output; squared loss; every operation of the
 * backward pass is written out.  Prints the time of an epoch and the growth of memory
 * (ours, quoitd's, and what it shares) for both.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <quoit.h>

#include "now.h"
#include "sampler.h"
#include "where.h"

#define BATCH  1024u
#define LAYERS 3
#define RATE   2e-4

#define CORES_BATCHES 3u /* if the rest runs on a device, cores train this many batches, too */

static const uint32_t width[LAYERS + 1] = {512, 2048, 512, 1};

/* ---- the network ---- */

struct network {
	quoit_tensor w[LAYERS], b[LAYERS], target, losses;
};

static quoit_tensor matrix(struct quoit_ring *q, uint32_t rows, uint32_t cols)
{
	return quoit_create_matrix(q, QUOIT_F32, rows, cols);
}

static void network_init(struct network *n, struct quoit_ring *q, uint32_t batches)
{
	for (int i = 0; i < LAYERS; i++) {
		n->w[i] = matrix(q, width[i], width[i + 1]);
		n->b[i] = matrix(q, 1, width[i + 1]);
		quoit_push(q, quoit_normal(n->w[i], 100 + (uint64_t)i, 0));
		quoit_push(q, quoit_mul_scalar(n->w[i], n->w[i], sqrt(2.0 / width[i])));
		quoit_push(q, quoit_fill(n->b[i], 0));
	}
	n->target = matrix(q, BATCH, 1);
	quoit_push(q, quoit_fill(n->target, 1));
	n->losses = matrix(q, 1, batches);
}

static void network_done(struct network *n, struct quoit_ring *q)
{
	for (int i = 0; i < LAYERS; i++) {
		quoit_free(q, n->w[i]);
		quoit_free(q, n->b[i]);
	}
	quoit_free(q, n->target);
	quoit_free(q, n->losses);
}

/* Layer i backward: update w and b along the gradient; *dx: the gradient of the layer's input. */
static void backward(struct network *n, struct quoit_ring *q, int i, quoit_tensor x,
		     quoit_tensor dy, quoit_tensor *dx)
{
	quoit_tensor dw = matrix(q, width[i], width[i + 1]), db = matrix(q, 1, width[i + 1]);

	quoit_push(q, quoit_gemm(dw, x, dy, QUOIT_GEMM_TRANS_A, 1, 0));
	quoit_push(q, quoit_sum(db, dy, 2));
	if (dx) {
		*dx = matrix(q, BATCH, width[i]);
		quoit_push(q, quoit_gemm(*dx, dy, n->w[i], QUOIT_GEMM_TRANS_B, 1, 0));
	}
	quoit_push(q, quoit_axpby(n->w[i], 1, n->w[i], -RATE, dw));
	quoit_push(q, quoit_axpby(n->b[i], 1, n->b[i], -RATE, db));
	quoit_free(q, dw);
	quoit_free(q, db);
}

/* Train one batch, and put its loss into losses[t]. */
static void train(struct network *n, struct quoit_ring *q, uint32_t t, quoit_tensor loss)
{
	quoit_tensor x[LAYERS + 1], z[LAYERS], dy, dx, product;

	x[0] = matrix(q, BATCH, width[0]);
	quoit_push(q, quoit_normal(x[0], 1000 + t, 0));
	for (int i = 0; i < LAYERS; i++) {
		product = matrix(q, BATCH, width[i + 1]);
		z[i] = matrix(q, BATCH, width[i + 1]);
		quoit_push(q, quoit_gemm(product, x[i], n->w[i], 0, 1, 0));
		quoit_push(q, quoit_add(z[i], product, n->b[i]));
		quoit_free(q, product);
		x[i + 1] = QUOIT_NO_TENSOR;
		if (i + 1 < LAYERS) {
			x[i + 1] = matrix(q, BATCH, width[i + 1]);
			quoit_push(q, quoit_relu(x[i + 1], z[i]));
		}
	}
	dy = matrix(q, BATCH, 1);
	quoit_push(q, quoit_sqloss(loss, z[LAYERS - 1], n->target, dy, 1.0 / BATCH));
	for (int i = LAYERS - 1; i >= 0; i--) {
		backward(n, q, i, x[i], dy, i ? &dx : NULL);
		quoit_free(q, dy);
		if (i) {
			dy = matrix(q, BATCH, width[i]);
			quoit_push(q, quoit_relu_grad(dy, z[i - 1], dx));
			quoit_free(q, dx);
		}
		quoit_free(q, x[i]);
		quoit_free(q, z[i]);
	}
}

/* ---- an epoch ---- */

static void progress(const char *how, uint32_t t, uint32_t batches)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s: %u of %u batches", how, t, batches);
}

static int epoch(struct quoit_ring *q, const char *how, bool wait_each, uint32_t batches,
		 float *ret_losses)
{
	const struct quoit_shape one = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 1}};
	double begin = 0, submitted, seconds, growth;
	char grown[16] = "-";
	struct sampler memory;
	struct network n;
	int err = 0, end;

	network_init(&n, q, batches);
	for (uint32_t t = 0; t < batches && !err; t++) {
		quoit_tensor loss = quoit_view(q, n.losses, &one, t * sizeof(float));

		train(&n, q, t, loss);
		if (wait_each || t == 0)
			err = quoit_read(q, loss, &ret_losses[t], sizeof(float));
		quoit_free(q, loss);
		progress(how, t + 1, batches);
		if (t == 0) { /* the warm-up ends here */
			sampler_start(&memory, q);
			begin = now();
		}
	}
	quoit_flush(q);
	submitted = now() - begin;
	if (!err)
		err = quoit_read(q, n.losses, ret_losses, batches * sizeof(float));
	seconds = now() - begin;
	growth = sampler_stop(&memory);
	network_done(&n, q);
	end = quoit_wait_all(q, QUOIT_FOREVER);
	if (!err)
		err = end;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	if (!isnan(growth))
		snprintf(grown, sizeof grown, "%.1f", growth);
	printf("f   %-28s %10.3f %10.3f %10s %12.4f %10.4f\n", how, submitted, seconds, grown,
	       ret_losses[0], ret_losses[batches - 1]);
	fflush(stdout);
	return err;
}

/*
 * Each way of training has a session of its own, so that it does not begin with the other's memory.
 * device: 0 is the host.
 */
static int session(const struct quoit_open_params *params, const char *how, unsigned device,
		   bool wait_each, uint32_t batches, float *ret_losses)
{
	struct quoit_session *s;
	struct quoit_ring *q;
	int err = quoit_open(params, &s);

	if (err) {
		fprintf(stderr, "w1_train: %s\n", quoit_open_text());
		return err;
	}
	err = quoit_open_ring(s, NULL, &q);
	if (!err)
		err = quoit_use_device(q, device);
	if (!err)
		err = epoch(q, how, wait_each, batches, ret_losses);
	if (!err && device)
		err = where_report(s);
	quoit_close(s, 0);
	return err;
}

/* Tiles may be summed in another order, but the training must be the same. */
static int compare(const float *a, const float *b, uint32_t batches)
{
	for (uint32_t t = 0; t < batches; t++)
		if (!(fabsf(a[t] - b[t]) <= 1e-3f * (1 + a[t])))
			return -ERANGE;
	return 0;
}

/* Compare the first batches that a device has trained with the same ones trained by cores. */
static int compare_with_cores(const struct quoit_open_params *params, const float *there,
			      uint32_t batches)
{
	const uint32_t few = batches < CORES_BATCHES ? batches : CORES_BATCHES;
	float here[CORES_BATCHES];
	int err = session(params, "first batches, on cores", 0, true, few, here);

	return err ? err : compare(here, there, few);
}

static int run(const struct quoit_open_params *params, uint32_t batches)
{
	float *waited = malloc(batches * sizeof(float)),
	      *free_running = malloc(batches * sizeof(float));
	int err;

	printf("%-32s %10s %10s %10s %12s %10s\n", "", "submit s", "epoch s", "growth MiB",
	       "first loss", "last loss");
	err = session(params, "waiting for each loss", where(), true, batches, waited);
	if (!err)
		err = session(params, "waiting at the end only", where(), false, batches,
			      free_running);
	if (!err)
		err = compare(waited, free_running, batches);
	if (!err && where())
		err = compare_with_cores(params, waited, batches);
	if (!err && waited[batches - 1] >= waited[0])
		err = -ERANGE;
	free(waited);
	free(free_running);
	return err;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"batches", required_argument, NULL, 'b'},
						{"lease", required_argument, NULL, 'l'},
						{0}};
	struct quoit_open_params params = {.host_bytes = (uint64_t)256 << 20};
	uint32_t batches = 150;
	int err, c;

	while ((c = getopt_long(argc, argv, "b:l:", options, NULL)) != -1) {
		if (c == 'b') {
			batches = (uint32_t)strtoul(optarg, NULL, 10);
		} else if (c == 'l') {
			params.host_bytes = strtoull(optarg, NULL, 10) << 20;
		} else {
			fprintf(stderr, "usage: w1_train [--batches N] [--lease MiB]\n");
			return 2;
		}
	}
	if (batches < 2) {
		fprintf(stderr, "w1_train: --batches must be at least 2\n");
		return 2;
	}
	err = run(&params, batches);
	if (err)
		fprintf(stderr, "w1_train: %s\n", quoit_strerror(err));
	return err != 0;
}
