/* SPDX-License-Identifier: MIT */
/*
 * hmc.h - hybrid Monte Carlo of the phi^4 theory on a periodic lattice: what sampler_hmc.c samples and
 * measures.
 *
 * The action is S = sum_x [ (D + m2 / 2) phi(x)^2 + lambda phi(x)^4 - sum_mu phi(x) phi(x + mu) ], with
 * D = 3 dimensions.  It is sampled by trajectories of leapfrog steps with H = S + sum_x p(x)^2 / 2, and
 * Metropolis (S. Duane, A. D. Kennedy, B. J. Pendleton, D. Roweth, Phys. Lett. B 195 (1987) 216).
 */
#ifndef EXAMPLES_HMC_H
#define EXAMPLES_HMC_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIMS 3u

struct lattice {
	uint32_t chains;            /* independent fields, beside each other */
	uint32_t size;              /* sites along each of the three axes */
	uint32_t leaps;             /* of a trajectory */
	double m2, lambda, epsilon; /* epsilon: of one leap */
};

static inline size_t sites_of(const struct lattice *l)
{
	return (size_t)l->size * l->size * l->size;
}

/* Without neighbours, the action is phi^2 (this + lambda phi^2), and the force -phi (2 this + 4 lambda phi^2). */
static inline double square_term(const struct lattice *l)
{
	return DIMS + l->m2 / 2;
}

/* The site beside site i along this axis, to the front (1) or to the back (-1). */
static inline size_t beside(const struct lattice *l, size_t i, unsigned axis, int way)
{
	const size_t stride = axis == 2 ? 1 : axis == 1 ? l->size : (size_t)l->size * l->size;
	const size_t at = i / stride % l->size;
	const size_t to = (at + l->size + (size_t)way) % l->size;

	return i + to * stride - at * stride;
}

/* ---- what is measured of a chain after each step ---- */

enum measured {
	SQUARE,    /* mean of phi^2 */
	NEIGHBOUR, /* the two parts of the action, per site: that of neighbours, */
	LOCAL,     /* and the rest */
	DISTANT,   /* correlation over half of the lattice, along the first axis */
	ACCEPTED,  /* share of the steps so far */
	BALANCE,   /* exp(-dH): its mean is 1 */
	MEASURED,
};

#define MEASURED_NAMES                                                                             \
	{                                                                                          \
		"phi^2", "S neighbours", "S local", "phi phi(L/2)", "accepted", "exp(-dH)"         \
	}

static inline void measure_field(const struct lattice *l, const double *phi, double to[MEASURED])
{
	const size_t n = sites_of(l), half = (size_t)(l->size / 2) * l->size * l->size;
	double square = 0, neighbour = 0, local = 0, distant = 0;

	for (size_t i = 0; i < n; i++) {
		const double f = phi[i], f2 = f * f;
		double front = 0;

		for (unsigned axis = 0; axis < DIMS; axis++)
			front += phi[beside(l, i, axis, 1)];
		square += f2;
		neighbour -= f * front;
		local += f2 * (square_term(l) + l->lambda * f2);
		distant += f * phi[(i + half) % n];
	}
	to[SQUARE] = square / (double)n;
	to[NEIGHBOUR] = neighbour / (double)n;
	to[LOCAL] = local / (double)n;
	to[DISTANT] = distant / (double)n;
}

/*
 * Measure phi after a step.  before: what was measured after the step before it, NaN if nothing was.
 * A trajectory that was not accepted has left the field as it was, and what was measured of it.
 */
static inline void measure_step(const struct lattice *l, const double *phi, bool accepted,
				const double before[MEASURED], double to[MEASURED])
{
	if (accepted || isnan(before[SQUARE]))
		measure_field(l, phi, to);
	else
		memcpy(to, before, sizeof *to * MEASURED);
}

#endif
