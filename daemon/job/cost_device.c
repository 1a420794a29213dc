/* SPDX-License-Identifier: MIT */
/*
 * cost_device.c - predicts how long a job takes on a device, with little trust
 *
 * A job that overruns its time is ended together with its process, and every session's memory there
 * is lost.  So the prediction assumes the slowest device of its kind and the slowest way to do the
 * job.  It is relative to a core, which does 50 thousand million multiply-adds of a product a
 * second (ops.def).  The figures are estimates from data sheets and from how the kernels are made;
 * none was measured.
 */
#include <quoit/device.h>

#include "cost.h"
#include "ops/optable.h"
#include "session/tensor_bits.h"
#include "shape.h"

/* So many of a device's units (40 to 132 are usual) do what one core does, if all have work. */
#define UNITS_OF_A_CORE 10.0

/* A library computes products so much faster than the plain kernel; halves faster once more. */
#define LIBRARY_SPEED 16.0
#define HALVES_SPEED  4.0

/* Where f64 arithmetic exists only for compatibility, it is so much slower. */
#define DOUBLES_PART 2.0

/* The plain kernel computes a product in tiles, one per unit; so many units do a core's work. */
#define TILE      16.0
#define TILE_PART 8.0

/* Views that the library cannot express are copied for it up to about this size. */
#define PACKED_BYTES (UINT64_C(16) << 20)

static bool is_for_library(const struct device_speed *d, const struct plan *p)
{
	bool is_so = d->flags & QUOIT_DEVICE_BLAS && cost_is_expressible(p->t[0]);

	if (p->t[1]->dtype == QUOIT_F64 && !(d->flags & QUOIT_DEVICE_DOUBLES))
		return false;
	for (unsigned i = 1; i < 3 && is_so; i++)
		is_so = cost_is_expressible(p->t[i]) ||
			p->t[i]->elements <= PACKED_BYTES / op_dtype_size(p->t[i]->dtype);
	return is_so;
}

static double product_speed(const struct device_speed *d, const struct plan *p)
{
	const uint8_t dtype = p->t[1]->dtype;

	if (!is_for_library(d, p))
		return dtype == QUOIT_F64 && !(d->flags & QUOIT_DEVICE_DOUBLES) ? 1 / DOUBLES_PART
										: 1;
	return op_dtype_size(dtype) == 2 ? LIBRARY_SPEED * HALVES_SPEED : LIBRARY_SPEED;
}

/* The time by the plain kernel: a few tiles keep only a few units busy. */
static double tile_ns(const struct plan *p)
{
	const struct view *c = p->t[0];
	double tiles = (double)c->dim[0] * c->dim[1] * ((c->dim[2] + TILE - 1) / TILE) *
		       ((c->dim[3] + TILE - 1) / TILE);

	return tiles >= 1 ? (double)p->cost / tiles * TILE_PART : 0;
}

uint64_t cost_on_device(const struct device_speed *d, const struct plan *p)
{
	double speed = d->units > UNITS_OF_A_CORE ? d->units / UNITS_OF_A_CORE : 1, ns;

	if (d->flags & QUOIT_DEVICE_HOST)
		return p->cost;
	if (p->row->shape != SHAPE_GEMM)
		return (uint64_t)((double)p->cost / speed);
	ns = (double)p->cost / (speed * product_speed(d, p));
	if (!is_for_library(d, p) && ns < tile_ns(p))
		ns = tile_ns(p);
	return ns < (double)UINT64_MAX ? (uint64_t)ns : UINT64_MAX;
}
