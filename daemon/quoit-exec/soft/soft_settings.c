/* SPDX-License-Identifier: MIT */
/* soft_settings.c - read what the environment says about soft devices */
#include "soft_settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "soft_faults.h"

#define MAX_DEVICES   8u
#define DEFAULT_BYTES (UINT64_C(1) << 30)
#define MAX_BYTES     (UINT64_C(1) << 46)

static bool parse_number(const char *word, uint64_t most, uint64_t *ret)
{
	static const char suffixes[] = {'\0', 'K', 'M', 'G'};
	char *end;
	uint64_t n;

	if (!isdigit((unsigned char)*word))
		return false;
	n = strtoull(word, &end, 10); /* if too large, UINT64_MAX, which is refused below */
	for (unsigned i = 0; i < sizeof suffixes; i++)
		if (*end == suffixes[i] && (!*end || !end[1]) && n <= most >> 10 * i) {
			*ret = n << 10 * i;
			return true;
		}
	return false;
}

/* Read a number; a variable that is not set leaves *ret as it is. */
static int read_number(const char *variable, uint64_t most, uint64_t *ret, char *text, size_t size)
{
	const char *word = getenv(variable);

	if (!word || parse_number(word, most, ret))
		return 0;
	snprintf(text, size, "%s=%s: not a number up to %llu", variable, word,
		 (unsigned long long)most);
	return -EINVAL;
}

int soft_settings_read(struct soft_settings *ret, char *text, size_t size)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t quarter = (uint64_t)sysconf(_SC_PHYS_PAGES) * page / 4;
	const char *address = getenv("QUOIT_SOFT_ADDRESS");
	int err;

	*ret = (struct soft_settings){.devices = 1,
				      .bytes = quarter < DEFAULT_BYTES ? quarter : DEFAULT_BYTES};
	if (address)
		snprintf(ret->address, sizeof ret->address, "%s", address);
	err = read_number("QUOIT_SOFT_DEVICES", MAX_DEVICES, &ret->devices, text, size);
	if (!err)
		err = read_number("QUOIT_SOFT_BYTES", MAX_BYTES, &ret->bytes, text, size);
	if (!err && ret->bytes < page) {
		snprintf(text, size, "QUOIT_SOFT_BYTES: less than a page");
		err = -EINVAL;
	}
	ret->bytes -= ret->bytes % page;
	return err ? err : soft_faults_init(text, size);
}
