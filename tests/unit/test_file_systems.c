/* SPDX-License-Identifier: MIT */
/* test_file_systems.c - lists of file systems, and their names */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>
#include <quoit/file_system.h>

#include "session/file_systems.h"

static struct file_systems read_good(const char *list)
{
	struct file_systems f;
	const char *bad;

	cr_assert_eq(file_systems_read(list, &f, &bad), 0, "%s", list);
	return f;
}

Test(file_systems, disks_are_those_that_only_root_mounts_and_that_let_pages_go)
{
	static const uint32_t on[] = {0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1};
	/* tmpfs, ramfs, hugetlbfs, overlay, FUSE, ecryptfs, NFS, 9p, and an unknown one */
	static const uint32_t off[] = {0x01021994, 0x858458f6, 0x958458f6, 0x794c7630, 0x65735546,
				       0xf15f,     0x6969,     0x01021997, 0x12345678, 0};
	const struct file_systems f = read_good("disks");

	for (unsigned i = 0; i < sizeof on / sizeof on[0]; i++)
		cr_expect(file_systems_has(&f, on[i]), "%#x", on[i]);
	for (unsigned i = 0; i < sizeof off / sizeof off[0]; i++)
		cr_expect_not(file_systems_has(&f, off[i]), "%#x", off[i]);
}

Test(file_systems, names_and_numbers_add_up)
{
	const struct file_systems f = read_good("disks,nfs,0x7461636F,nfs,0xef53"),
				  none = read_good("");

	cr_expect(file_systems_has(&f, 0xef53));
	cr_expect(file_systems_has(&f, 0x6969));
	cr_expect(file_systems_has(&f, 0x7461636f));
	cr_expect_not(file_systems_has(&f, 0x794c7630));
	cr_expect_eq(none.count, 0);
	cr_expect_eq(read_good("xfs").count, 1);
}

Test(file_systems, the_first_word_that_is_nothing_is_told)
{
	static const char *const rows[][2] = {
		{"ext5", "ext5"}, {"disks,nsf,xfs", "nsf,xfs"},   {"ext4,,xfs", ",xfs"},
		{"0x", "0x"},     {"0x123456789", "0x123456789"}, {"0x-1", "0x-1"},
		{"6969", "6969"}, {"xfs ,ext4", "xfs ,ext4"},     {"disk", "disk"},
	};
	struct file_systems f;

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *bad = "";

		cr_expect_eq(file_systems_read(rows[i][0], &f, &bad), -EINVAL, "%s", rows[i][0]);
		cr_expect_str_eq(bad, rows[i][1], "%s: %s", rows[i][0], bad);
	}
}

Test(file_systems, each_has_a_name_of_its_own_that_is_read_again)
{
	struct quoit_file_system one, other;
	char name[QUOIT_FILE_SYSTEM_BYTES];

	for (unsigned i = 0; quoit_file_system_at(i, &one); i++) {
		cr_expect_str_eq(quoit_file_system_name(one.number, name), one.name);
		cr_expect(strlen(one.name) < QUOIT_FILE_SYSTEM_BYTES);
		cr_expect_eq(read_good(one.name).number[0], one.number);
		for (unsigned j = 0; j < i && quoit_file_system_at(j, &other); j++)
			cr_expect(strcmp(one.name, other.name) && one.number != other.number);
	}
	cr_expect_str_eq(quoit_file_system_name(0xabcdef01, name), "0xabcdef01");
	cr_expect_eq(read_good(name).number[0], 0xabcdef01);
}
