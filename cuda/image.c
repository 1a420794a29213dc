/* SPDX-License-Identifier: MIT */
/* image.c - check that a client's image is complete */
#include "image.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

static bool image_holds(size_t size, uint64_t offset, uint64_t bytes)
{
	return offset <= size && bytes <= size - offset;
}

/* Is a table of `count` entries, of `entry` bytes each, within the image? */
static bool image_holds_table(size_t size, uint64_t offset, uint64_t count, size_t entry,
			      size_t expected)
{
	return !count || (entry == expected && image_holds(size, offset, count * entry));
}

static bool image_holds_sections(const char *image, size_t size, const Elf64_Ehdr *header)
{
	Elf64_Shdr section;

	/* With very many sections their count is stored elsewhere: that is not a kernel's image. */
	if (header->e_shoff && !header->e_shnum)
		return false;
	for (uint32_t i = 0; i < header->e_shnum; i++) {
		memcpy(&section, image + header->e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
		    !image_holds(size, section.sh_offset, section.sh_size))
			return false;
	}
	return header->e_shstrndx < header->e_shnum || !header->e_shnum;
}

static bool image_holds_segments(const char *image, size_t size, const Elf64_Ehdr *header)
{
	Elf64_Phdr segment;

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		memcpy(&segment, image + header->e_phoff + i * sizeof(segment), sizeof(segment));
		if (!image_holds(size, segment.p_offset, segment.p_filesz))
			return false;
	}
	return true;
}

static bool image_is_elf(const char *image, size_t size)
{
	Elf64_Ehdr header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, image, sizeof(header));
	return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
	       image_holds_table(size, header.e_shoff, header.e_shnum, header.e_shentsize,
				 sizeof(Elf64_Shdr)) &&
	       image_holds_table(size, header.e_phoff, header.e_phnum, header.e_phentsize,
				 sizeof(Elf64_Phdr)) &&
	       image_holds_sections(image, size, &header) &&
	       image_holds_segments(image, size, &header);
}

bool image_is_whole(const void *image, size_t size)
{
	if (size >= SELFMAG && !memcmp(image, ELFMAG, SELFMAG))
		return image_is_elf(image, size);
	while (size > 0 && !((const char *)image)[size - 1]) /* text may end with zeros */
		size--;
	return size > 0 && !memchr(image, 0, size);
}
