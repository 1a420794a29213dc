/* SPDX-License-Identifier: MIT */
/* test_doctor_read.c - the files that quoit doctor reads below a folder that stands for the root */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "doctor/cgroup.h"
#include "doctor/numbers.h"
#include "doctor/pci.h"
#include "doctor/subject.h"
#include "doctor/tree.h"

static char folder[] = "/tmp/quoit-doctor.XXXXXX";
static int root;

static void make_tree(void)
{
	cr_assert(mkdtemp(folder));
	root = tree_open(folder);
	cr_assert_geq(root, 0);
}

static void remove_tree(void)
{
	char line[64];

	close(root);
	snprintf(line, sizeof line, "rm -r %s", folder);
	cr_expect_eq(system(line), 0);
}

TestSuite(doctor_read, .init = make_tree, .fini = remove_tree);

/* Makes its folders, too. */
static void put_bytes(const char *path, const void *bytes, size_t size)
{
	char copy[256];
	int fd;

	snprintf(copy, sizeof copy, "%s", path);
	for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdirat(root, copy, 0755);
		*slash = '/';
	}
	fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

/* ---- lists ---- */

Test(doctor_numbers, lists_are_read_and_written_as_the_kernel_does)
{
	static const char *const good[] = {"none", "0", "0-3", "0-3,8", "0,2,4,6-7", "4095"};
	static const char *const bad[] = {"-1",
					  "3-1",
					  "1,",
					  ",1",
					  "1,,2",
					  "0-4096",
					  "x",
					  "1 2",
					  "1-",
					  " 1",
					  "99999999999999999999"};
	struct numbers n;
	char text[64];

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		cr_expect(numbers_parse(i ? good[i] : "", &n), "%s", good[i]);
		numbers_print(&n, text, sizeof text);
		cr_expect_str_eq(text, good[i]);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		cr_expect_not(numbers_parse(bad[i], &n), "%s", bad[i]);
}

Test(doctor_numbers, a_list_that_does_not_fit_says_so)
{
	struct numbers n = {0};
	char text[40];

	for (unsigned i = 0; i < 200; i += 2)
		numbers_put(&n, i);
	numbers_print(&n, text, sizeof text);
	cr_expect_str_eq(text + strlen(text) - 3, "...");
	cr_expect_eq(numbers_count(&n), 100);
	cr_expect_eq(numbers_next(&n, 198), 198);
	cr_expect_eq(numbers_next(&n, 199), -1);
}

/* ---- files ---- */

Test(doctor_read, of_a_file_no_more_is_read_than_has_room)
{
	char text[8], line[8];
	uint64_t n;

	put("a", "one\t \ntwo\nthree\n");
	cr_expect_eq(tree_read(root, text, sizeof text, "a"), 7);
	cr_expect(tree_line(root, line, sizeof line, "%s", "a"));
	cr_expect_str_eq(line, "one");
	put("n", "42\n");
	cr_expect(tree_number(root, &n, "n"));
	cr_expect_eq(n, 42);
}

Test(doctor_read, what_is_no_regular_file_is_not_read)
{
	char text[64];

	cr_assert_eq(mkdirat(root, "folder", 0755), 0);
	cr_assert_eq(mkfifoat(root, "fifo", 0644), 0);
	cr_expect_eq(tree_read(root, text, sizeof text, "missing"), -ENOENT);
	cr_expect_lt(tree_read(root, text, sizeof text, "folder"), 0);
	cr_expect_lt(tree_read(root, text, sizeof text, "fifo"), 0);
	cr_expect_not(tree_line(root, text, sizeof text, "fifo"));
}

Test(doctor_read, garbage_is_no_number_and_no_list)
{
	static const char *const rows[] = {"", "-1", "x", "1x", "1 2", "18446744073709551616"};
	struct numbers n;
	uint64_t number;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		put("file", rows[i]);
		cr_expect_not(tree_number(root, &number, "file"), "%s", rows[i]);
	}
	put_bytes("file", "\0\xff\x01", 3);
	cr_expect_not(tree_number(root, &number, "file"));
	put("file", "1-2-3");
	cr_expect_not(tree_numbers(root, &n, "file"));
}

/* ---- processes ---- */

#define STATUS                                                                                     \
	"Name:\tquoitd\nUid:\t1000\t1001\t1000\t1000\nGid:\t5\t6\t5\t5\nGroups:\t4 27 \n"          \
	"CapEff:\t0000000000004000\nSeccomp:\t2\nCpus_allowed_list:\t0-3,8\n"                      \
	"Mems_allowed_list:\t0-1\n"
#define LIMITS                                                                                     \
	"Limit                     Soft Limit           Hard Limit           Units     \n"         \
	"Max open files            1024                 524288               files     \n"         \
	"Max locked memory         8388608              unlimited            bytes     \n"

Test(doctor_read, a_process_is_what_its_files_say)
{
	struct subject s;
	char list[32];

	put("proc/77/status", STATUS);
	put("proc/77/limits", LIMITS);
	subject_read(root, 77, &s);
	cr_expect(s.known && s.uid == 1001 && s.gid == 6);
	cr_expect(subject_is_in_group(&s, 27) && subject_is_in_group(&s, 6));
	cr_expect_not(subject_is_in_group(&s, 5));
	cr_expect_eq(s.capabilities, SUBJECT_MAY_LOCK);
	cr_expect(s.has_cpus && s.has_memories && s.has_memlock);
	numbers_print(&s.cpus, list, sizeof list);
	cr_expect_str_eq(list, "0-3,8");
	cr_expect_eq(s.memlock, 8388608);
	cr_expect(s.limit[SUBJECT_DESCRIPTORS].known);
	cr_expect_eq(s.limit[SUBJECT_DESCRIPTORS].value, 524288); /* the hard limit */
}

Test(doctor_read, capabilities_in_a_user_namespace_count_for_nothing)
{
	struct subject s;

	put("proc/77/status", STATUS);
	put("proc/77/uid_map", "         0          0 4294967295\n");
	subject_read(root, 77, &s);
	cr_expect_eq(s.capabilities, SUBJECT_MAY_LOCK);
	put("proc/77/uid_map", "         0       1000          1\n");
	subject_read(root, 77, &s);
	cr_expect_eq(s.capabilities, 0);
}

Test(doctor_read, a_process_without_files_is_not_known)
{
	struct subject s;

	subject_read(root, 0, &s);
	cr_expect_not(s.known || s.has_cpus || s.has_memlock);
	put("proc/self/status", "Uid:\tx\n\n\nCpus_allowed_list:\t3-1\n");
	put("proc/self/limits", "Max locked memory         lots\n");
	subject_read(root, 0, &s);
	cr_expect_not(s.known || s.has_cpus || s.has_memlock);
}

Test(doctor_read, a_variable_is_found_by_its_whole_name)
{
	static const char variables[] = "XCUDA=1\0CUDA_X=2\0CUDA=3\0CUDA=4";
	struct subject s = {.directory = "proc/self"};
	char value[8];

	put_bytes("proc/self/environ", variables, sizeof variables);
	cr_expect(subject_variable(root, &s, "CUDA", value, sizeof value));
	cr_expect_str_eq(value, "3");
	cr_expect_not(subject_variable(root, &s, "CUD", value, sizeof value));
}

Test(doctor_read, rights_are_those_of_the_owner_the_group_or_others)
{
	struct subject s = {.known = true, .uid = 7, .gid = 8};

	cr_expect(subject_may_use(&s, 0600, 7, 0));
	cr_expect_not(subject_may_use(&s, 0066, 7, 0));
	cr_expect(subject_may_use(&s, 0060, 0, 8));
	cr_expect_not(subject_may_use(&s, 0606, 0, 8));
	cr_expect(subject_may_use(&s, 0006, 0, 0));
	cr_expect_not(subject_may_use(&s, 0004, 0, 0));
}

/* ---- control groups ---- */

Test(doctor_read, the_tightest_limit_above_a_group_holds)
{
	struct cgroup c;

	put("proc/self/cgroup", "0::/a.slice/quoitd.service\n");
	put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	put("sys/fs/cgroup/a.slice/quoitd.service/memory.max", "max\n");
	put("sys/fs/cgroup/a.slice/memory.max", "1073741824\n");
	put("sys/fs/cgroup/a.slice/quoitd.service/cpu.max", "400000 100000\n");
	put("sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
	put("sys/fs/cgroup/a.slice/cpu.stat", "usage_usec 9\nnr_periods 5\nnr_throttled 3\n");
	cgroup_read(root, "proc/self", &c);
	cr_expect_eq(c.version, 2);
	cr_expect_str_eq(c.unit, "quoitd.service");
	cr_expect_eq(c.memory.own, CGROUP_UNLIMITED);
	cr_expect_eq(c.memory.least, 1073741824);
	cr_expect_str_eq(c.memory.path, "/sys/fs/cgroup/a.slice/memory.max");
	cr_expect_float_eq(c.cpu.cpus, 1.5, 1e-9);
	cr_expect_eq(c.cpu.periods, 5);
	cr_expect_eq(c.cpu.throttled, 3);
	cr_expect_str_eq(c.cpu.path, "/sys/fs/cgroup/a.slice/cpu.max");
	put("sys/fs/cgroup/a.slice/quoitd.service/memory.high", "536870912\n");
	cgroup_read(root, "proc/self", &c);
	cr_expect_eq(c.memory.own, CGROUP_UNLIMITED);
	cr_expect_str_eq(c.memory.path, "/sys/fs/cgroup/a.slice/quoitd.service/memory.high");
}

Test(doctor_read, version_1_has_a_folder_for_each_controller)
{
	struct cgroup c;

	put("proc/self/cgroup", "4:memory:/box\n2:cpu,cpuacct:/box\n1:cpuset:/x\n0::/\n");
	put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "536870912\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
	put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
	put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	cgroup_read(root, "proc/self", &c);
	cr_expect_eq(c.version, 1);
	cr_expect_eq(c.memory.own, 536870912);
	cr_expect_eq(c.memory.least, 536870912);
	cr_expect_float_eq(c.cpu.cpus, 0.5, 1e-9);
}

Test(doctor_read, groups_that_make_no_sense_limit_nothing)
{
	static const char *const rows[] = {
		"",       "0::",           "0::x",
		"::::\n", "0::/../..\n",   "0::////\n",
		"memory", ":memory:\n:\n", "0::/a/b/c/d/e/f/g/h/i/j/k/l\n",
	};
	struct cgroup c;
	char longest[4096];

	put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	put("sys/fs/cgroup/cpu.max", "100000 0\n");
	put("sys/fs/cgroup/memory.max", "much\n");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		put("proc/self/cgroup", rows[i]);
		cgroup_read(root, "proc/self", &c);
		cr_expect_eq(c.memory.least, CGROUP_UNLIMITED, "%s", rows[i]);
		cr_expect_eq(c.cpu.cpus, 0, "%s", rows[i]);
	}
	memset(longest, 'a', sizeof longest - 1);
	memcpy(longest, "0::/", 4);
	longest[sizeof longest - 1] = '\0';
	put("proc/self/cgroup", longest);
	cgroup_read(root, "proc/self", &c);
	cr_expect_eq(c.version, 0);
}

/* ---- PCI ---- */

Test(doctor_read, gpus_are_nvidias_display_devices)
{
	struct pci_gpu gpu[PCI_GPUS];

	put("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n");
	put("sys/bus/pci/devices/0000:00:01.0/class", "0x030000\n");
	put("sys/bus/pci/devices/0000:17:00.1/vendor", "0x10de\n"); /* the GPU's sound device */
	put("sys/bus/pci/devices/0000:17:00.1/class", "0x040300\n");
	cr_expect_eq(pci_find_gpus(root, gpu), 0);
	put("sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de\n");
	put("sys/bus/pci/devices/0000:17:00.0/class", "0x030200\n");
	put("sys/bus/pci/devices/0000:17:00.0/current_link_width", "8\n");
	put("sys/bus/pci/devices/0000:17:00.0/max_link_width", "16\n");
	put("sys/bus/pci/devices/0000:17:00.0/max_link_speed", "32.0 GT/s PCIe\n");
	cr_assert_eq(symlinkat("../../../../bus/pci/drivers/nouveau", root,
			       "sys/bus/pci/devices/0000:17:00.0/driver"),
		     0);
	cr_assert_eq(pci_find_gpus(root, gpu), 1);
	cr_expect_str_eq(gpu[0].address, "0000:17:00.0");
	cr_expect_str_eq(gpu[0].module, "nouveau");
	cr_expect_eq(gpu[0].lanes, 8);
	cr_expect_eq(gpu[0].most_lanes, 16);
	cr_expect_float_eq(gpu[0].gb_s, 31.5, 0.1);
}
