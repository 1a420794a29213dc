/* SPDX-License-Identifier: MIT */
/* image.h - is what a client has brought all there? */
#ifndef QUOIT_CUDA_IMAGE_H
#define QUOIT_CUDA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The driver is not told how long an image is: it believes the tables in it.  True: the image, of
 * so many bytes, is text whose zero bytes, if any, are its last, as PTX is, or a 64-bit ELF file,
 * as a cubin is, whose headers, sections and segments all lie within it.
 */
bool image_is_whole(const void *image, size_t size);

#endif
