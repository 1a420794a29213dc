/* SPDX-License-Identifier: MIT */
/*
 * blas.c - the BLAS that was found at start.
 *
 * Libraries choose kernels by CPU model and take a slow set for a model younger than
 * they are; they also obey variables that some environments export for reasons of their
 * own.  So every set is tried, each in a child process, because a library chooses once.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ops/blas.h"
#include "ops/isa.h"

/* A child that takes longer has lost. */
#define BLAS_PATIENCE_MS 100

/* A candidate must be faster by this to beat one before it: timing is no better than that. */
#define BLAS_MARGIN 1.1

enum blas_needs { BLAS_NEEDS_NOTHING, BLAS_NEEDS_AVX2, BLAS_NEEDS_AVX512 };

struct blas_candidate {
	const char *name;
	const char *library;
	const char *variable; /* that names the kernel set */
	const char *kernels;  /* NULL: the library's own choice */
	enum blas_needs needs;
};

/* In the order of preference: OpenBLAS is better at small products and row panels. */
static const struct blas_candidate candidates[] = {
	{"OpenBLAS", "libopenblas.so.0", "OPENBLAS_CORETYPE", NULL, BLAS_NEEDS_NOTHING},
	{"OpenBLAS", "libopenblas.so.0", "OPENBLAS_CORETYPE", "SkylakeX", BLAS_NEEDS_AVX512},
	{"OpenBLAS", "libopenblas.so.0", "OPENBLAS_CORETYPE", "Haswell", BLAS_NEEDS_AVX2},
	{"BLIS", "libblis.so.4", "BLIS_ARCH_TYPE", NULL, BLAS_NEEDS_NOTHING},
	{"BLIS", "libblis.so.4", "BLIS_ARCH_TYPE", "skx", BLAS_NEEDS_AVX512},
};

/* What might make a library slower than it is, or make it start threads. */
static const char *const dropped[] = {
	"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_BLOCK_FACTOR",
	"BLIS_ARCH_TYPE",    "BLIS_JC_NT",       "BLIS_PC_NT",
	"BLIS_IC_NT",        "BLIS_JR_NT",       "BLIS_IR_NT",
};

/* The number of the candidate that was taken, for processes that we start. */
#define BLAS_CHOSEN "QUOIT_BLAS"

static struct blas loaded;

const struct blas *blas_get(void)
{
	return loaded.sgemm ? &loaded : NULL;
}

static bool blas_suits(const struct blas_candidate *candidate)
{
	switch (candidate->needs) {
	case BLAS_NEEDS_AVX512:
		return isa_has_avx512();
	case BLAS_NEEDS_AVX2:
		return isa_has_avx2();
	default:
		return true;
	}
}

/* Load a candidate into this process: the library's handle, or NULL. */
static void *blas_load(const struct blas_candidate *candidate)
{
	const float one = 1;
	float out;
	void *library;

	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		unsetenv(dropped[i]);
	if (setenv("OPENBLAS_NUM_THREADS", "1", 1) < 0 || setenv("BLIS_NUM_THREADS", "1", 1) < 0 ||
	    (candidate->kernels && setenv(candidate->variable, candidate->kernels, 1) < 0))
		return NULL;
	library = dlopen(candidate->library, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return NULL;
	*(void **)&loaded.sgemm = dlsym(library, "cblas_sgemm");
	*(void **)&loaded.dgemm = dlsym(library, "cblas_dgemm");
	if (!loaded.sgemm || !loaded.dgemm) {
		loaded = (struct blas){NULL};
		dlclose(library);
		return NULL;
	}
	/* Libraries read their settings at the first call at the latest. */
	loaded.sgemm(BLAS_ROW_MAJOR, BLAS_AS_IS, BLAS_AS_IS, 1, 1, 1, 1, &one, 1, &one, 1, 0, &out,
		     1);
	return library;
}

/* GFLOP/s of a candidate, by a child process; 0 if it cannot be had. */
static double blas_try(const struct blas_candidate *candidate, double (*measure)(void))
{
	double gflops = 0;
	struct pollfd pipe_end = {.events = POLLIN};
	int fd[2];
	pid_t child;

	if (pipe(fd) < 0)
		return 0;
	child = fork();
	if (child == 0) {
		if (blas_load(candidate))
			gflops = measure();
		_exit(write(fd[1], &gflops, sizeof(gflops)) != sizeof(gflops));
	}
	close(fd[1]);
	pipe_end.fd = fd[0];
	if (child > 0 && (poll(&pipe_end, 1, BLAS_PATIENCE_MS) != 1 ||
			  read(fd[0], &gflops, sizeof(gflops)) != sizeof(gflops)))
		gflops = 0;
	close(fd[0]);
	if (child > 0) {
		kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return gflops;
}

/* Name and version as the library itself says them, and the kernels it has taken. */
static void blas_describe(const struct blas_candidate *candidate, void *library,
			  struct ops_choice *ret_choice)
{
	char *(*config)(void);
	char *(*corename)(void);
	const char *(*version)(void);
	int (*arch_id)(void);
	const char *(*arch_name)(int id);
	char number[32] = "?";

	*(void **)&config = dlsym(library, "openblas_get_config");
	*(void **)&corename = dlsym(library, "openblas_get_corename");
	*(void **)&version = dlsym(library, "bli_info_get_version_str");
	*(void **)&arch_id = dlsym(library, "bli_arch_query_id");
	*(void **)&arch_name = dlsym(library, "bli_arch_string");
	if (config && corename) {
		(void)sscanf(config(), "%*s %31s", number);
		snprintf(ret_choice->blas, sizeof(ret_choice->blas), "%s %s %s", candidate->name,
			 number, corename());
	} else if (version && arch_id && arch_name) {
		snprintf(ret_choice->blas, sizeof(ret_choice->blas), "%s %s %s", candidate->name,
			 version(), arch_name(arch_id()));
	} else {
		snprintf(ret_choice->blas, sizeof(ret_choice->blas), "%s", candidate->name);
	}
}

static void blas_note(struct ops_choice *choice, const char *name, const char *kernels,
		      double gflops)
{
	size_t used = strlen(choice->why);

	snprintf(choice->why + used, sizeof(choice->why) - used, "%s%s%s%s %.*f",
		 used > 0 ? ", " : "GFLOP/s: ", name, kernels ? " " : "", kernels ? kernels : "",
		 gflops < 10 ? 3 : 0, gflops);
}

void blas_init(double (*measure)(void), struct ops_choice *ret_choice)
{
	const struct blas_candidate *best = NULL;
	double builtin = measure();
	double most = 0;
	void *library = NULL;
	char chosen[24];

	ret_choice->why[0] = '\0';
	snprintf(ret_choice->blas, sizeof(ret_choice->blas), "built-in");
	blas_note(ret_choice, "built-in", NULL, builtin);
	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		double gflops = blas_suits(&candidates[i]) ? blas_try(&candidates[i], measure) : 0;

		if (gflops == 0)
			continue;
		blas_note(ret_choice, candidates[i].name, candidates[i].kernels, gflops);
		if (gflops > most * BLAS_MARGIN) {
			most = gflops;
			best = &candidates[i];
		}
	}
	if (best && most * BLAS_MARGIN > builtin)
		library = blas_load(best);
	if (library)
		blas_describe(best, library, ret_choice);
	snprintf(chosen, sizeof(chosen), "%td", library ? best - candidates : (ptrdiff_t)-1);
	(void)setenv(BLAS_CHOSEN, chosen, 1);
	ret_choice->gemm_gflops = library ? most : builtin;
}

void blas_adopt(void)
{
	const char *chosen = getenv(BLAS_CHOSEN);
	size_t i = chosen ? strtoul(chosen, NULL, 10) : SIZE_MAX;

	if (i < sizeof(candidates) / sizeof(candidates[0]))
		(void)blas_load(&candidates[i]);
}
