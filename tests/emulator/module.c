/* SPDX-License-Identifier: MIT */
/* module.c - emulate modules: kernels of own.cc that a client's PTX names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"

struct CUlib_st {
	char *ptx;
};

static void log_to(enum cudaJitOption *option, void **value, unsigned int options, const char *text)
{
	char *log = NULL;
	size_t size = 0;

	for (unsigned int i = 0; i < options; i++) {
		if (option[i] == cudaJitErrorLogBuffer)
			log = value[i];
		if (option[i] == cudaJitErrorLogBufferSizeBytes)
			size = (size_t)(uintptr_t)value[i];
	}
	if (log && size)
		snprintf(log, size, "%s", text);
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *ret, const void *code, enum cudaJitOption *option,
				void **value, unsigned int options,
				enum cudaLibraryOption *library_option, void **library_value,
				unsigned int library_options)
{
	struct CUlib_st *l;
	const cudaError_t err = emulator_park("cudaLibraryLoadData");

	(void)library_option;
	(void)library_value;
	if (library_options)
		emulator_refuse("options of a library");
	if (err)
		return emulator_say(err);
	if (!strstr(code, ".version"))
		return emulator_say(cudaErrorInvalidKernelImage);
	if (!strstr(code, ".entry")) {
		log_to(option, value, options, "ptxas: there is no entry in it");
		return emulator_say(cudaErrorInvalidPtx);
	}
	l = calloc(1, sizeof *l);
	if (l)
		l->ptx = strdup(code);
	if (!l || !l->ptx) {
		free(l);
		return emulator_say(cudaErrorMemoryAllocation);
	}
	*ret = (cudaLibrary_t)l;
	return emulator_say(cudaSuccess);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
	struct CUlib_st *l = (struct CUlib_st *)library;
	const cudaError_t err = emulator_settle("cudaLibraryUnload");

	if (err)
		return emulator_say(err);
	free(l->ptx);
	free(l);
	return emulator_say(cudaSuccess);
}

static bool has(const struct CUlib_st *l, const char *name)
{
	char entry[256];

	snprintf(entry, sizeof entry, ".entry %s(", name);
	return strstr(l->ptx, entry);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *ret, cudaLibrary_t library, const char *name)
{
	const cudaError_t err = emulator_begin();

	if (err)
		return emulator_say(err);
	if (!has((struct CUlib_st *)library, name))
		return emulator_say(cudaErrorSymbolNotFound);
	for (const struct emulator_kernel *k = emulator_kernels; k->name; k++) {
		if (strcmp(k->name, name))
			continue;
		*ret = (cudaKernel_t)(uintptr_t)k;
		return emulator_say(cudaSuccess);
	}
	return emulator_say(cudaErrorNotSupported);
}
