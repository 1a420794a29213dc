/* SPDX-License-Identifier: MIT */
/* profile.c - name all work that is put into streams, for profilers. */
#include "profile.h"

static const char *const profile_names[PROFILE_NR] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help) [nr] = #name,
#include <quoit/ops.def>
#undef QUOIT_OP
	[PROFILE_COPY_IN] = "copy_in",
	[PROFILE_COPY_OUT] = "copy_out",
	[PROFILE_CLEAR] = "clear",
	[PROFILE_LAUNCH] = "launch",
};

/* NVTX's 0 means no category. */
static uint32_t category(unsigned what)
{
	return what + 1;
}

static void name(struct profile *p, unsigned what)
{
	p->name[what] = nvtxDomainRegisterStringA(p->domain, profile_names[what]);
	nvtxDomainNameCategoryA(p->domain, category(what), profile_names[what]);
}

void profile_open(struct profile *p)
{
	*p = (struct profile){.domain = nvtxDomainCreateA("quoit")};
	for (unsigned i = 0; p->domain && i < PROFILE_NR; i++)
		if (profile_names[i])
			name(p, i);
}

void profile_close(struct profile *p)
{
	if (p->domain)
		nvtxDomainDestroy(p->domain);
	p->domain = NULL;
}

void profile_push(const struct profile *p, unsigned what)
{
	const nvtxEventAttributes_t range = {.version = NVTX_VERSION,
					     .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					     .category = category(what),
					     .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
					     .message = {.registered = p->name[what]}};

	(void)nvtxDomainRangePushEx(p->domain, &range);
}

void profile_pop(const struct profile *p)
{
	(void)nvtxDomainRangePop(p->domain);
}

uint64_t profile_range_begin(const struct profile *p, uint8_t opcode, uint64_t job)
{
	const nvtxEventAttributes_t range = {.version = NVTX_VERSION,
					     .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					     .category = category(opcode),
					     .payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64,
					     .payload = {.ullValue = job},
					     .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
					     .message = {.registered = p->name[opcode]}};

	return nvtxDomainRangeStartEx(p->domain, &range);
}

void profile_range_end(const struct profile *p, uint64_t range)
{
	nvtxDomainRangeEnd(p->domain, range);
}
