/* SPDX-License-Identifier: MIT */
/* isa.h - tells which instruction sets this CPU has */
#ifndef QUOITD_OPS_ISA_H
#define QUOITD_OPS_ISA_H

#include <stdbool.h>

#if defined(__x86_64__)
#define ISA_HAS(name) __builtin_cpu_supports(name)
#else
#define ISA_HAS(name) false
#endif

/* All that code for the set may use: -march=x86-64-v4 and -v3, as far as they differ. */
static inline bool isa_has_avx512(void)
{
	return ISA_HAS("avx512f") && ISA_HAS("avx512bw") && ISA_HAS("avx512dq") &&
	       ISA_HAS("avx512vl");
}

static inline bool isa_has_avx2(void)
{
	return ISA_HAS("avx2") && ISA_HAS("fma") && ISA_HAS("bmi2");
}

static inline bool isa_has_avx512_bf16(void)
{
	return isa_has_avx512() && ISA_HAS("avx512bf16");
}

#endif
