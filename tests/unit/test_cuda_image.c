/* SPDX-License-Identifier: MIT */
/* test_cuda_image.c - a client's image is complete before a driver reads its tables */
#include <criterion/criterion.h>
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "image.h"

/* A file of two sections, the second of which has 16 bytes behind their table, and one segment. */
struct cubin {
	Elf64_Ehdr header;
	Elf64_Shdr section[2];
	Elf64_Phdr segment;
	char bytes[16];
};

static struct cubin make(void)
{
	struct cubin c;

	memset(&c, 0, sizeof c);
	memcpy(c.header.e_ident, ELFMAG, SELFMAG);
	c.header.e_ident[EI_CLASS] = ELFCLASS64;
	c.header.e_ident[EI_DATA] = ELFDATA2LSB;
	c.header.e_shoff = offsetof(struct cubin, section);
	c.header.e_shnum = 2;
	c.header.e_shentsize = sizeof(Elf64_Shdr);
	c.header.e_shstrndx = 1;
	c.header.e_phoff = offsetof(struct cubin, segment);
	c.header.e_phnum = 1;
	c.header.e_phentsize = sizeof(Elf64_Phdr);
	c.section[1].sh_type = SHT_STRTAB;
	c.section[1].sh_offset = offsetof(struct cubin, bytes);
	c.section[1].sh_size = sizeof c.bytes;
	c.segment.p_offset = offsetof(struct cubin, bytes);
	c.segment.p_filesz = sizeof c.bytes;
	return c;
}

Test(cuda_image, ptx_is_text)
{
	cr_expect(image_is_whole(".version 8.0", 12));
	cr_expect_not(image_is_whole(".version\0008.0", 12));
	cr_expect(image_is_whole(".version 8.0\n", 14), "with its end");
	cr_expect_not(image_is_whole("\0\0", 2));
	cr_expect_not(image_is_whole("", 0));
}

Test(cuda_image, a_cubin_is_whole)
{
	struct cubin c = make();

	cr_expect(image_is_whole(&c, sizeof c));
}

Test(cuda_image, one_that_is_cut_off_anywhere_is_not)
{
	struct cubin c = make();

	for (size_t size = SELFMAG; size < sizeof c; size++)
		cr_expect_not(image_is_whole(&c, size), "%zu bytes", size);
}

Test(cuda_image, tables_and_parts_lie_within)
{
	struct cubin c = make();

	c.header.e_shoff = UINT64_MAX - 64;
	cr_expect_not(image_is_whole(&c, sizeof c), "the table of sections");
	c = make();
	c.header.e_shnum = UINT16_MAX;
	cr_expect_not(image_is_whole(&c, sizeof c), "their number");
	c = make();
	c.header.e_shnum = 0;
	cr_expect_not(image_is_whole(&c, sizeof c), "a number that is elsewhere");
	c = make();
	c.header.e_shentsize = 1;
	cr_expect_not(image_is_whole(&c, sizeof c), "the size of an entry");
	c = make();
	c.header.e_shstrndx = 2;
	cr_expect_not(image_is_whole(&c, sizeof c), "the section of names");
	c = make();
	c.section[1].sh_size = UINT64_MAX;
	cr_expect_not(image_is_whole(&c, sizeof c), "a section");
	c = make();
	c.section[1].sh_type = SHT_NOBITS;
	c.section[1].sh_size = UINT64_MAX;
	cr_expect(image_is_whole(&c, sizeof c), "a section without bytes in the file");
	c = make();
	c.header.e_phoff = sizeof c;
	cr_expect_not(image_is_whole(&c, sizeof c), "the table of segments");
	c = make();
	c.segment.p_filesz++;
	cr_expect_not(image_is_whole(&c, sizeof c), "a segment");
}

Test(cuda_image, other_files_are_not_taken)
{
	struct cubin c = make();

	c.header.e_ident[EI_CLASS] = ELFCLASS32;
	cr_expect_not(image_is_whole(&c, sizeof c));
	cr_expect_not(image_is_whole("\x50\xed\x55\xba\x01\x00\x10\x00", 8), "a fat binary");
}
