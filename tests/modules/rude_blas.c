/* SPDX-License-Identifier: MIT */
/* rude_blas.c - a BLAS, not a module: it changes its process as soon as it is loaded, for a test */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_TO_ZERO 0x8040u

/* OpenMP with OMP_PROC_BIND does this, and so do some numerical libraries. */
__attribute__((constructor)) static void take_over(void)
{
	static const char *const traps[] = {"OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY",
					    "MKL_NUM_THREADS"};
	cpu_set_t first;
	sigset_t all;

	for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++)
		if (getenv(traps[i]))
			abort();
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	(void)sched_setaffinity(0, sizeof first, &first);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGBUS, SIG_IGN);
	sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)umask(0);
	(void)unsetenv("NOTIFY_SOCKET");
#if defined(__x86_64__)
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | FLUSH_TO_ZERO);
#endif
}

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
		 int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a,
		 int lda, const double *b, int ldb, double beta, double *c, int ldc);

/* Products; their results are not used. */
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
		 int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
	(void)order, (void)ta, (void)tb, (void)m, (void)n, (void)k, (void)alpha, (void)lda;
	(void)ldb, (void)beta, (void)ldc;
	*c = *a * *b;
}

void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a,
		 int lda, const double *b, int ldb, double beta, double *c, int ldc)
{
	(void)order, (void)ta, (void)tb, (void)m, (void)n, (void)k, (void)alpha, (void)lda;
	(void)ldb, (void)beta, (void)ldc;
	*c = *a * *b;
}
