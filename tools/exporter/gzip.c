/* SPDX-License-Identifier: MIT */
/* gzip.c - compress a text for clients that accept that */
#include "gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <zlib.h>

/*
 * Fast: metrics are so much alike that more effort takes three times as long and saves only a
 * quarter.
 */
#define LEVEL Z_BEST_SPEED

#define AS_GZIP (MAX_WBITS + 16) /* with gzip's header, not zlib's */

int gzip_replace(char **text, size_t *size)
{
	z_stream z = {0};
	char *out;
	uLong room;
	int err;

	if (*size > UINT_MAX ||
	    deflateInit2(&z, LEVEL, Z_DEFLATED, AS_GZIP, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, *size);
	out = malloc(room);
	z.next_in = (Bytef *)*text;
	z.avail_in = (uInt)*size;
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)room;
	err = out && deflate(&z, Z_FINISH) == Z_STREAM_END ? 0 : -ENOMEM;
	room = z.total_out;
	deflateEnd(&z);
	if (err) {
		free(out);
		return err;
	}
	free(*text);
	*text = out;
	*size = room;
	return 0;
}
