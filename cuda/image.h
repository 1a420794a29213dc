/* SPDX-License-Identifier: MIT */
/* image.h - check that a client's image is complete */
#ifndef QUOIT_CUDA_IMAGE_H
#define QUOIT_CUDA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is the image complete?  The driver is not told its size, and trusts the tables in it.  True: the
 * image is text like PTX, with zero bytes only at its end, or a 64-bit ELF file like a cubin, with
 * all headers, sections and segments within these bytes.
 */
bool image_is_whole(const void *image, size_t size);

#endif
