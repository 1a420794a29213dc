/* SPDX-License-Identifier: MIT */
/*
 * nvtx_notes.c - a false profiler that writes each of NVTX's calls as a line into the file
 * $QUOIT_NVTX_NOTES:
 *
 *	push quoit add
 *	pop
 *	begin 1 quoit add category 17 payload 12884901889
 *	end 1
 *	category 17 add
 *
 * NVTX loads it if NVTX_INJECTION64_PATH names it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

static FILE *notes;
static uint64_t ranges;
static char names[65536];
static size_t names_used;

/* Keep a name for as long as the process lives; NULL: there are too many. */
static char *keep(const char *name)
{
	char *kept = names + names_used;

	if (strlen(name) >= sizeof names - names_used)
		return NULL;
	strcpy(kept, name);
	names_used += strlen(name) + 1;
	return kept;
}

/* A handle may be any value: here it is the name. */
static nvtxDomainHandle_t NVTX_API on_domain(const char *name)
{
	return (nvtxDomainHandle_t)keep(name);
}

static nvtxStringHandle_t NVTX_API on_string(nvtxDomainHandle_t domain, const char *string)
{
	(void)domain;
	return (nvtxStringHandle_t)keep(string);
}

static void NVTX_API on_category(nvtxDomainHandle_t domain, uint32_t category, const char *name)
{
	(void)domain;
	fprintf(notes, "category %u %s\n", category, name);
}

static const char *name_of(const nvtxEventAttributes_t *a)
{
	return a->messageType == NVTX_MESSAGE_TYPE_REGISTERED ? (const char *)a->message.registered
							      : "(made for it)";
}

static int NVTX_API on_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
	fprintf(notes, "push %s %s\n", (const char *)domain, name_of(a));
	return 0;
}

static int NVTX_API on_pop(nvtxDomainHandle_t domain)
{
	(void)domain;
	fprintf(notes, "pop\n");
	return 0;
}

static nvtxRangeId_t NVTX_API on_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
	fprintf(notes, "begin %llu %s %s category %u payload %llu\n", (unsigned long long)++ranges,
		(const char *)domain, name_of(a), a->category,
		(unsigned long long)a->payload.ullValue);
	return ranges;
}

static void NVTX_API on_end(nvtxDomainHandle_t domain, nvtxRangeId_t range)
{
	(void)domain;
	fprintf(notes, "end %llu\n", (unsigned long long)range);
}

/* 1: NVTX shall call it for ranges. */
int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_of);
__attribute__((visibility("default"))) int NVTX_API
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_of)
{
	const NvtxExportTableCallbacks *callbacks = table_of(NVTX_ETID_CALLBACKS);
	const char *path = getenv("QUOIT_NVTX_NOTES");
	NvtxFunctionTable table;
	unsigned size;

	notes = path ? fopen(path, "ae") : NULL;
	if (!notes || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
		return 0;
	setvbuf(notes, NULL, _IOLBF, 0);
	*table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)on_domain;
	*table[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)on_string;
	*table[NVTX_CBID_CORE2_DomainNameCategoryA] = (NvtxFunctionPointer)on_category;
	*table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)on_push;
	*table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)on_pop;
	*table[NVTX_CBID_CORE2_DomainRangeStartEx] = (NvtxFunctionPointer)on_start;
	*table[NVTX_CBID_CORE2_DomainRangeEnd] = (NvtxFunctionPointer)on_end;
	return 1;
}
