/* SPDX-License-Identifier: MIT */
/* binning.h - mean of a Markov chain's values, and its error, though the values depend on each other */
#ifndef EXAMPLES_BINNING_H
#define EXAMPLES_BINNING_H

#include <math.h>
#include <stddef.h>

struct estimate {
	double mean, deviation, error; /* deviation: of one value; error: of the mean */
};

#define BINS_LEAST 16u

/* The error of the mean if bins of so many values do not depend on each other. */
static inline double error_of_bins(const double *value, size_t n, size_t width, double mean)
{
	const size_t bins = n / width;
	double sum = 0;

	for (size_t b = 0; b < bins; b++) {
		double bin = 0;

		for (size_t i = 0; i < width; i++)
			bin += value[b * width + i];
		sum += (bin / (double)width - mean) * (bin / (double)width - mean);
	}
	return sqrt(sum / (double)bins / (double)(bins - 1));
}

/*
 * The error grows with the width of the bins until these do not depend on each other: take the
 * largest (H. Flyvbjerg, H. G. Petersen, J. Chem. Phys. 91 (1989) 461).
 */
static inline struct estimate estimate(const double *value, size_t n)
{
	struct estimate e = {0};

	for (size_t i = 0; i < n; i++)
		e.mean += value[i] / (double)n;
	for (size_t width = 1; n / width >= BINS_LEAST; width *= 2)
		e.error = fmax(e.error, error_of_bins(value, n, width, e.mean));
	e.deviation = n > 1 ? error_of_bins(value, n, 1, e.mean) * sqrt((double)n) : 0;
	return e;
}

#endif
