/* SPDX-License-Identifier: MIT */
/*
 * hmc_plain.h - the same chains in plain C, in one thread, from the same random numbers.  Fields have the
 * same bits: what is done to a site is done in the same order.  Sums over sites are not in the same
 * order, so exp(-dH) may differ in its last bits.
 */
#ifndef EXAMPLES_HMC_PLAIN_H
#define EXAMPLES_HMC_PLAIN_H

#include <math.h>
#include <stdlib.h>

#include "hmc.h"

struct plain {
	struct lattice l;
	double *phi, *next, *p; /* all chains, one behind the other */
	double *force;          /* of one */
};

static inline void plain_close(struct plain *m)
{
	free(m->phi);
	free(m->next);
	free(m->p);
	free(m->force);
	*m = (struct plain){0};
}

/* false: there is no memory. */
static inline bool plain_open(struct plain *m, const struct lattice *l)
{
	const size_t n = sites_of(l);

	m->l = *l;
	m->phi = calloc(n * l->chains, sizeof *m->phi);
	m->next = calloc(n * l->chains, sizeof *m->next);
	m->p = calloc(n * l->chains, sizeof *m->p);
	m->force = calloc(n, sizeof *m->force);
	if (m->phi && m->next && m->p && m->force)
		return true;
	plain_close(m);
	return false;
}

/* The neighbours come in the order front, back of each axis. */
static inline void plain_force(const struct plain *m, const double *phi)
{
	const struct lattice *l = &m->l;

	for (size_t i = 0; i < sites_of(l); i++) {
		double sum = phi[beside(l, i, 0, 1)];

		sum = sum + phi[beside(l, i, 0, -1)];
		for (unsigned axis = 1; axis < DIMS; axis++) {
			sum = sum + phi[beside(l, i, axis, 1)];
			sum = sum + phi[beside(l, i, axis, -1)];
		}
		sum = 1 * sum + -2 * square_term(l) * phi[i];
		m->force[i] = 1 * sum + -4 * l->lambda * (phi[i] * phi[i] * phi[i]);
	}
}

static inline double plain_energy(const struct plain *m, const double *phi, const double *p)
{
	const struct lattice *l = &m->l;
	double sum = 0;

	for (size_t i = 0; i < sites_of(l); i++) {
		const double f2 = phi[i] * phi[i];
		double front = 0;

		for (unsigned axis = 0; axis < DIMS; axis++)
			front += phi[beside(l, i, axis, 1)];
		sum += p[i] * p[i] / 2 + f2 * (square_term(l) + l->lambda * f2) - phi[i] * front;
	}
	return sum;
}

/* out = out + a y, as AXPBY does it */
static inline void plain_move(double *out, double a, const double *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = 1 * out[i] + a * y[i];
}

static inline void plain_trajectory(const struct plain *m, double *phi, double *p)
{
	const struct lattice *l = &m->l;
	const size_t n = sites_of(l);

	plain_force(m, phi);
	plain_move(p, l->epsilon / 2, m->force, n);
	for (uint32_t leap = 1; leap <= l->leaps; leap++) {
		plain_move(phi, l->epsilon, p, n);
		plain_force(m, phi);
		plain_move(p, leap < l->leaps ? l->epsilon : l->epsilon / 2, m->force, n);
	}
}

/* One step of all chains: m->p holds the momenta, and u a number of [0, 1) for each chain. */
static inline void plain_step(struct plain *m, const double *u)
{
	const size_t n = sites_of(&m->l);

	memcpy(m->next, m->phi, n * m->l.chains * sizeof *m->phi);
	for (uint32_t c = 0; c < m->l.chains; c++) {
		double *phi = m->phi + c * n, *next = m->next + c * n, *p = m->p + c * n;
		double before = plain_energy(m, phi, p);

		plain_trajectory(m, next, p);
		if (u[c] < exp(before - plain_energy(m, next, p)))
			memcpy(phi, next, n * sizeof *phi);
	}
}

#endif
