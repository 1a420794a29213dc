/* SPDX-License-Identifier: MIT */
/* test_cuda_driver.c - quoit-cuda.so loads on any machine and says what is missing. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quoit/device.h>

/* NULL: it was not built. */
static const struct quoit_device_driver *load(void)
{
	const char *build = getenv("QUOIT_BUILD");
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%s/quoit-cuda.so", build ? build : "build");
	if (access(path, R_OK) < 0)
		return NULL;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	cr_assert(library, "%s", dlerror());
	return dlsym(library, QUOIT_DEVICE_SYMBOL);
}

/* Every function of the table must be set; functions begin after version and name. */
Test(cuda_driver, has_all_of_the_device_layer)
{
	const struct quoit_device_driver *driver = load();
	void *entry[(sizeof(*driver) - offsetof(struct quoit_device_driver, count)) /
		    sizeof(void *)];

	if (!driver)
		return;
	cr_assert_eq(driver->version, QUOIT_DEVICE_VERSION);
	cr_assert_str_eq(driver->name, "cuda");
	memcpy(entry, (const char *)driver + offsetof(struct quoit_device_driver, count),
	       sizeof(entry));
	for (size_t i = 0; i < sizeof(entry) / sizeof(entry[0]); i++)
		cr_assert(entry[i], "function %zu", i);
}

Test(cuda_driver, says_why_there_is_no_device)
{
	const struct quoit_device_driver *driver = load();
	struct quoit_device_info info;
	struct quoit_device *device;
	char text[256] = "";
	int count;

	if (!driver)
		return;
	count = driver->count(text, sizeof(text));
	if (count > 0)
		return;
	cr_assert_gt(strlen(text), 10);
	memset(text, 0, sizeof(text));
	cr_assert_lt(driver->open(0, &device, &info, text, sizeof(text)), 0);
	cr_assert_gt(strlen(text), 10);
}

/* The libraries that it needs by name, as the linker recorded them. */
Test(cuda_driver, needs_no_library_of_cuda_or_cxx)
{
	char command[4200];
	char line[256];
	const char *build = getenv("QUOIT_BUILD");
	FILE *list;

	if (!load())
		return;
	snprintf(command, sizeof(command), "readelf -d %s/quoit-cuda.so", build ? build : "build");
	list = popen(command, "r");
	cr_assert(list);
	while (fgets(line, sizeof(line), list)) {
		if (strstr(line, "(NEEDED)"))
			cr_assert(!strstr(line, "cu") && !strstr(line, "c++"), "%s", line);
	}
	cr_assert_eq(pclose(list), 0);
}
