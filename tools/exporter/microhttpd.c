/* SPDX-License-Identifier: MIT */
/* microhttpd.c - load libmicrohttpd when it is needed */
#include "microhttpd.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libmicrohttpd.so.12"

struct microhttpd mhd;

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define MICROHTTPD_ROW(name) {"MHD_" #name, offsetof(struct microhttpd, name)},
	MICROHTTPD(MICROHTTPD_ROW)
#undef MICROHTTPD_ROW
};

const char *microhttpd_load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; library && i < sizeof functions / sizeof functions[0]; i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			library = NULL;
		memcpy((char *)&mhd + functions[i].at, &function, sizeof function);
	}
	return library ? NULL : dlerror();
}
