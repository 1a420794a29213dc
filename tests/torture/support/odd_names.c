/* SPDX-License-Identifier: MIT */
/* odd_names.c - names of services and things to ask quoitd for, and what it may say to them */
#include "odd_names.h"

const char bad_names[BAD_NAMES][QUOIT_NAME_BYTES] = {
	"",
	"a b",
	" ",
	"a/b",
	"/",
	"0/f",
	"a\nb",
	"\x1b[31m",
	"\x7f",
	"\xc3\xa4",
	"\xff",
	"a\0b",
	"\0b",
	{'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
	 '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'},
};

const char good_names[GOOD_NAMES][QUOIT_NAME_BYTES] = {
	".", "..", "~", "%s%n", "*", "\\", "0123456789abcdef0123456789abcde",
};

bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}
