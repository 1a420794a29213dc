/* SPDX-License-Identifier: MIT */
/* gpu.c - read the option gpu */
#include "gpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"

/* These exist while the driver is loaded; the second one under WSL. */
static bool has_driver(void)
{
	return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

static void choose(struct gpu_choice *ret, const char *kind, uint32_t count)
{
	snprintf(ret->kind, sizeof ret->kind, "%s", kind);
	ret->count = count;
}

bool gpu_choose(const char *option, struct gpu_choice *ret)
{
	unsigned n = 1;
	char rest;

	*ret = (struct gpu_choice){0};
	if (!strcmp(option, "none")) {
		snprintf(ret->why, sizeof ret->why, "switched off");
	} else if (!strcmp(option, "auto") && !has_driver()) {
		snprintf(ret->why, sizeof ret->why, "no NVIDIA driver is loaded");
	} else if (!strcmp(option, "auto") || !strcmp(option, "cuda")) {
		choose(ret, "cuda", 0);
	} else if (!strcmp(option, "soft") ||
		   (sscanf(option, "soft:%u%c", &n, &rest) == 1 && n && n <= CONFIG_DEVICES)) {
		choose(ret, "soft", n);
	} else {
		return false;
	}
	return true;
}
