/* SPDX-License-Identifier: MIT */
/* file_systems.c - the file systems on which quoitd writes for other users */
#include "file_systems.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/file_system.h>

static bool is_word(const char *word, size_t length, const char *other)
{
	return length == strlen(other) && !strncmp(word, other, length);
}

static bool add(struct file_systems *f, uint32_t number)
{
	if (file_systems_has(f, number))
		return true;
	if (f->count == FILE_SYSTEMS_MOST)
		return false;
	f->number[f->count++] = number;
	return true;
}

/* Numbers are written as 0x6969. */
static bool read_number(const char *word, size_t length, uint32_t *ret)
{
	unsigned long long number;
	char *end;

	if (length < 3 || word[0] != '0' || word[1] != 'x')
		return false;
	number = strtoull(word + 2, &end, 16);
	*ret = (uint32_t)number;
	return end == word + length && strchr("0123456789abcdefABCDEF", word[2]) &&
	       number <= UINT32_MAX;
}

static bool add_word(struct file_systems *f, const char *word, size_t length)
{
	bool disks = is_word(word, length, FILE_SYSTEMS_DISKS), known = disks;
	struct quoit_file_system one;
	uint32_t number;

	if (read_number(word, length, &number))
		return add(f, number);
	for (unsigned i = 0; quoit_file_system_at(i, &one); i++)
		if (disks ? one.is_disk : is_word(word, length, one.name)) {
			known = true;
			if (!add(f, one.number))
				return false;
		}
	return known;
}

int file_systems_read(const char *list, struct file_systems *ret, const char **ret_bad)
{
	*ret = (struct file_systems){0};
	for (const char *word = list; *word;) {
		size_t length = strcspn(word, ",");

		if (!add_word(ret, word, length)) {
			*ret_bad = word;
			return -EINVAL;
		}
		word += length + (word[length] == ',');
	}
	return 0;
}

bool file_systems_has(const struct file_systems *f, uint32_t number)
{
	for (unsigned i = 0; i < f->count; i++)
		if (f->number[i] == number)
			return true;
	return false;
}
