/* SPDX-License-Identifier: MIT */
/*
 * blas.c - chooses, loads and times BLAS libraries.
 *
 * Libraries choose kernels by CPU model, and take a slow set for a model younger than they are.
 * They also obey variables that some environments export for other reasons.  So every set is tried,
 * each in a child process, because a library chooses only once.
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
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blas.h"
#include "isa.h"
#include "machine/load_guard.h"

/* A child that takes longer has lost: it is many times what it needs, for a busy machine. */
#define BLAS_PATIENCE_MS 1000

/* A candidate must be faster by this to beat an earlier one: timing is no more exact than that. */
#define BLAS_MARGIN 1.1

enum blas_needs { BLAS_NEEDS_NOTHING, BLAS_NEEDS_AVX2, BLAS_NEEDS_AVX512 };

struct blas_candidate {
	const char *name;
	const char *library;
	const char *variable; /* that selects the kernel set */
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

#define CANDIDATES (sizeof(candidates) / sizeof(candidates[0]))

/* Variables that slow a library down, start threads or bind them; hidden while it is loaded. */
static const char *const hidden[] = {"OPENBLAS_", "GOTO_", "BLIS_", "OMP_",
				     "GOMP_",     "KMP_",  "MKL_",  NULL};

/* Tells child processes the number of the candidate that was taken. */
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

/* The library's handle, or NULL. */
static void *load_it(const struct blas_candidate *candidate)
{
	const float one = 1;
	float out;
	void *library;

	if (setenv("OPENBLAS_NUM_THREADS", "1", 1) < 0 || setenv("BLIS_NUM_THREADS", "1", 1) < 0 ||
	    setenv("OMP_NUM_THREADS", "1", 1) < 0 ||
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

/* Load a candidate into this process, which stays as it was.  The library's handle, or NULL. */
static void *blas_load(const struct blas_candidate *candidate)
{
	struct load_guard guard;
	void *library;

	load_guard_begin(&guard, hidden);
	library = load_it(candidate);
	load_guard_end(&guard, candidate->name);
	return library;
}

/* GFLOP/s of a candidate, measured in a child process; 0 if it cannot be loaded. */
static double blas_try(const struct blas_candidate *candidate, double (*measure)(void))
{
	double gflops = 0;
	struct pollfd pipe_end = {.events = POLLIN};
	struct load_guard guard;
	int fd[2];
	pid_t child;

	if (pipe(fd) < 0)
		return 0;
	child = fork();
	if (child == 0) {
		load_guard_begin(&guard, hidden); /* the child ends like this, without a log */
		if (load_it(candidate))
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

/* Name and version as the library itself tells them, and its choice of kernels. */
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

/* Time all candidates.  The fastest; NULL unless it is clearly faster than the built-in code. */
static const struct blas_candidate *find_fastest(double (*measure)(void), double builtin,
						 struct ops_choice *choice)
{
	const struct blas_candidate *best = NULL;
	double most = 0;

	for (size_t i = 0; i < CANDIDATES; i++) {
		double gflops = blas_suits(&candidates[i]) ? blas_try(&candidates[i], measure) : 0;

		if (gflops == 0)
			continue;
		blas_note(choice, candidates[i].name, candidates[i].kernels, gflops);
		if (gflops > most * BLAS_MARGIN) {
			most = gflops;
			best = &candidates[i];
		}
	}
	choice->gemm_gflops = most;
	return most * BLAS_MARGIN > builtin ? best : NULL;
}

/* "openblas", or "openblas:haswell" with that set of kernels. */
static bool is_named(const struct blas_candidate *candidate, const char *word)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s%s", candidate->name, candidate->kernels ? ":" : "",
		 candidate->kernels ? candidate->kernels : "");
	return !strcasecmp(name, word);
}

static const struct blas_candidate *find_named(const char *word)
{
	for (size_t i = 0; i < CANDIDATES; i++)
		if (is_named(&candidates[i], word))
			return &candidates[i];
	return NULL;
}

bool blas_is_word(const char *word)
{
	return !strcmp(word, BLAS_AUTO) || !strcmp(word, BLAS_BUILTIN) || find_named(word);
}

const char *blas_words(void)
{
	static char words[160];
	int n = snprintf(words, sizeof(words), BLAS_AUTO ", " BLAS_BUILTIN);

	for (size_t i = 0; i < CANDIDATES; i++)
		n += snprintf(words + n, sizeof(words) - (size_t)n, ", %s%s%s", candidates[i].name,
			      candidates[i].kernels ? ":" : "",
			      candidates[i].kernels ? candidates[i].kernels : "");
	return words;
}

static int take(const struct blas_candidate *taken, struct ops_choice *choice)
{
	void *library = taken && blas_suits(taken) ? blas_load(taken) : NULL;
	char chosen[24];

	if (library)
		blas_describe(taken, library, choice);
	snprintf(chosen, sizeof(chosen), "%td", library ? taken - candidates : (ptrdiff_t)-1);
	(void)setenv(BLAS_CHOSEN, chosen, 1);
	return library ? 0 : -ENOENT;
}

int blas_init(const char *word, double (*measure)(void), struct ops_choice *ret_choice)
{
	const struct blas_candidate *taken = find_named(word);
	double builtin = measure();
	int err;

	snprintf(ret_choice->why, sizeof(ret_choice->why), "by --blas");
	snprintf(ret_choice->blas, sizeof(ret_choice->blas), "built-in");
	if (!strcmp(word, BLAS_AUTO)) {
		ret_choice->why[0] = '\0';
		blas_note(ret_choice, "built-in", NULL, builtin);
		taken = find_fastest(measure, builtin, ret_choice);
	}
	err = take(taken, ret_choice);
	if (err)
		ret_choice->gemm_gflops = builtin;
	else if (strcmp(word, BLAS_AUTO) != 0)
		ret_choice->gemm_gflops = measure();
	return strcmp(word, BLAS_AUTO) != 0 && taken ? err : 0;
}

void blas_adopt(void)
{
	const char *chosen = getenv(BLAS_CHOSEN);
	size_t i = chosen ? strtoul(chosen, NULL, 10) : SIZE_MAX;

	if (i < CANDIDATES)
		(void)blas_load(&candidates[i]);
}
