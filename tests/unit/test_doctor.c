/* SPDX-License-Identifier: MIT */
/* test_doctor.c - quoit doctor's findings for values that were read or measured */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "doctor/checks.h"
#include "doctor/judge.h"

static struct finding f;

/* A bad finding says why it matters, and what mends it; a good one has nothing to mend. */
static void expect(enum level level, const char *words)
{
	cr_expect_eq(f.level, level, "%s instead of %s: %s", level_word(f.level), level_word(level),
		     f.what);
	cr_expect(strstr(f.what, words) || strstr(f.mend, words), "no '%s': %s; %s", words, f.what,
		  f.mend);
	cr_expect(f.level < LEVEL_WARNING || (f.why && *f.mend), "%s", f.what);
	cr_expect(f.level != LEVEL_OK || !*f.mend, "%s", f.mend);
	f = (struct finding){.check = "test"};
}

static struct numbers list(const char *text)
{
	struct numbers n;

	cr_assert(numbers_parse(text, &n), "%s", text);
	return n;
}

/* ---- control groups ---- */

#define GIB (UINT64_C(1) << 30)

static struct cgroup group(uint64_t own, uint64_t least)
{
	return (struct cgroup){.version = 2,
			       .unit = "quoitd.service",
			       .memory = {own, least, "/sys/fs/cgroup/quoitd.service/memory.max"},
			       .cpu = {.path = "/sys/fs/cgroup/quoitd.service/cpu.max"}};
}

Test(doctor, a_memory_limit_is_as_bad_as_the_room_that_it_leaves)
{
	struct cgroup c = group(CGROUP_UNLIMITED, CGROUP_UNLIMITED);

	judge_cgroup_memory(&f, &c, 16 * GIB, 0);
	expect(LEVEL_OK, "no control group");
	c = group(4 * GIB, 4 * GIB);
	judge_cgroup_memory(&f, &c, 16 * GIB, 0);
	expect(LEVEL_OK, "4.0G");
	c = group(GIB / 16, GIB / 16);
	judge_cgroup_memory(&f, &c, 16 * GIB, 0);
	expect(LEVEL_FAILURE, "systemctl set-property quoitd.service MemoryMax=infinity");
	strcpy(c.memory.path, "/sys/fs/cgroup/quoitd.service/memory.high");
	judge_cgroup_memory(&f, &c, 16 * GIB, 0);
	expect(LEVEL_FAILURE, "systemctl set-property quoitd.service MemoryHigh=infinity");
}

Test(doctor, a_tighter_group_above_is_what_quoitd_does_not_see)
{
	struct cgroup c = group(CGROUP_UNLIMITED, 4 * GIB);

	judge_cgroup_memory(&f, &c, 16 * GIB, 0);
	expect(LEVEL_FAILURE, "quoitd --memory=2147483648");
	c = group(CGROUP_UNLIMITED, 10 * GIB);
	judge_cgroup_memory(&f, &c, 16 * GIB, 0);
	expect(LEVEL_WARNING, "quoitd --memory=5368709120");
	c = group(CGROUP_UNLIMITED, 14 * GIB);
	judge_cgroup_memory(&f, &c, 16 * GIB, 0);
	expect(LEVEL_OK, "14.0G");
	c = group(CGROUP_UNLIMITED, 4 * GIB);
	judge_cgroup_memory(&f, &c, 4 * GIB, 0);
	expect(LEVEL_OK, "4.0G");
}

Test(doctor, what_a_quoitd_that_runs_lends_out_is_its_own_word)
{
	struct cgroup c = group(CGROUP_UNLIMITED, 4 * GIB);

	judge_cgroup_memory(&f, &c, 16 * GIB, GIB);
	expect(LEVEL_OK, "lends out 1.0G");
	judge_cgroup_memory(&f, &c, 16 * GIB, 3 * GIB);
	expect(LEVEL_WARNING, "lends out 3.0G");
	c = group(4 * GIB, 4 * GIB);
	judge_cgroup_memory(&f, &c, 16 * GIB, 4 * GIB);
	expect(LEVEL_FAILURE, "quoitd --memory=2147483648");
}

Test(doctor, a_quota_of_time_is_as_bad_as_it_is_often_used_up)
{
	struct cgroup c = group(CGROUP_UNLIMITED, CGROUP_UNLIMITED);

	judge_cgroup_cpu(&f, &c, 4);
	expect(LEVEL_OK, "no control group");
	c.cpu.cpus = 4;
	judge_cgroup_cpu(&f, &c, 4);
	expect(LEVEL_OK, "4 CPUs");
	c.cpu.cpus = 2.5;
	judge_cgroup_cpu(&f, &c, 4);
	expect(LEVEL_WARNING, "2.5 CPUs");
	c.cpu.cpus = 4;
	c.cpu.periods = 1000;
	c.cpu.throttled = 10;
	judge_cgroup_cpu(&f, &c, 4);
	expect(LEVEL_OK, "4 CPUs");
	c.cpu.throttled = 20;
	judge_cgroup_cpu(&f, &c, 4);
	expect(LEVEL_WARNING, "in 2 % of");
	c.cpu.throttled = 200;
	judge_cgroup_cpu(&f, &c, 4);
	expect(LEVEL_FAILURE, "in 20 % of");
	c.cpu.throttled = 0;
	c.cpu.cpus = 0.5;
	judge_cgroup_cpu(&f, &c, 4);
	expect(LEVEL_FAILURE, "systemctl set-property quoitd.service CPUQuota=");
}

Test(doctor, no_command_has_what_others_have_named)
{
	struct cgroup c = group(CGROUP_UNLIMITED, CGROUP_UNLIMITED);

	c.cpu.cpus = 0.5;
	*c.unit = '\0';
	strcpy(c.cpu.path, "/sys/fs/cgroup/a/cpu.max");
	judge_cgroup_cpu(&f, &c, 4);
	expect(LEVEL_FAILURE, "echo max | sudo tee /sys/fs/cgroup/a/cpu.max");
	strcpy(c.cpu.path, "/sys/fs/cgroup/$(reboot)/cpu.max");
	judge_cgroup_cpu(&f, &c, 4);
	cr_expect(!strstr(f.mend, "reboot"), "%s", f.mend);
	expect(LEVEL_FAILURE, "by hand");
}

Test(doctor, a_plain_word_is_no_option_and_nothing_that_a_shell_reads)
{
	static const char *const not_plain[] = {"",    "-f",  "a b", "$x", "`x`",
						"a;b", "a'b", "*",   "\n"};

	cr_expect(finding_is_plain("/sys/fs/cgroup/user@1000.service/a-b_c:d"));
	for (size_t i = 0; i < sizeof not_plain / sizeof not_plain[0]; i++)
		cr_expect_not(finding_is_plain(not_plain[i]), "%s", not_plain[i]);
}

Test(doctor, a_command_that_does_not_fit_is_not_given_in_part)
{
	char path[FINDING_BYTES];

	memset(path, 'a', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	finding_mend(&f, "", "sudo rm %s.d/file", path);
	cr_expect_eq(*f.mend, '#', "%s", f.mend);
	f = (struct finding){.check = "test"};
}

/* The path of a cgroup alone may have 4096 bytes. */
Test(doctor, what_was_found_is_not_cut)
{
	char path[4096], word[sizeof f.word];

	memset(path, 'a', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	finding_say(&f, LEVEL_NOTE, "the limit of %s is low", path);
	cr_expect_eq(strlen(f.what), sizeof path - 1 + strlen("the limit of  is low"));
	finding_word(&f, path);
	snprintf(word, sizeof word, "%s", f.word);
	cr_expect_str_eq(word, path);
	f = (struct finding){.check = "test"};
}

/* ---- CPUs ---- */

Test(doctor, one_cpu_of_several_is_a_failure)
{
	struct judge_cpus c = {.online = list("0-3"), .allowed = list("0-3")};

	judge_cpuset(&f, &c);
	expect(LEVEL_OK, "0-3");
	c.allowed = list("1-2");
	judge_cpuset(&f, &c);
	expect(LEVEL_NOTE, "1-2");
	c.allowed = list("2");
	judge_cpuset(&f, &c);
	expect(LEVEL_FAILURE, "taskset -c 0-3 quoitd");
	for (unsigned i = 0; i < 200; i += 2)
		numbers_put(&c.online, i);
	judge_cpuset(&f, &c);
	cr_expect_not(strstr(f.mend, "..."), "%s", f.mend);
	expect(LEVEL_FAILURE, "# start quoitd with more CPUs");
	c.online = list("2");
	judge_cpuset(&f, &c);
	expect(LEVEL_WARNING, "one CPU");
	c.allowed = list("");
	judge_cpuset(&f, &c);
	expect(LEVEL_NOTE, "not known");
}

Test(doctor, cpus_without_their_nodes_memory_are_a_warning)
{
	struct judge_cpus c = {.online = list("0-7"),
			       .allowed = list("0-7"),
			       .memories_wanted = list("0-1"),
			       .memories_allowed = list("0")};

	judge_cpuset(&f, &c);
	expect(LEVEL_WARNING, "AllowedMemoryNodes=0-1");
	c.memories_allowed = list("0-1");
	judge_cpuset(&f, &c);
	expect(LEVEL_OK, "0-7");
}

Test(doctor, isolated_cpus_are_for_reactors_and_not_for_all_of_quoitd)
{
	struct judge_cpus c = {.online = list("0-7"), .allowed = list("0-7")};

	judge_isolated(&f, &c);
	expect(LEVEL_OK, "no CPU is isolated");
	c.isolated = list("4-7");
	judge_isolated(&f, &c);
	expect(LEVEL_OK, "4-7");
	c.allowed = list("0-3");
	judge_isolated(&f, &c);
	expect(LEVEL_NOTE, "none of them");
	c.allowed = list("5-6");
	judge_isolated(&f, &c);
	expect(LEVEL_WARNING, "5-6");
}

Test(doctor, a_governor_counts_with_its_driver)
{
	static const struct {
		const char *driver, *governor, *preference;
		enum level level;
	} rows[] = {
		{NULL, NULL, NULL, LEVEL_OK},
		{"acpi-cpufreq", "performance", NULL, LEVEL_OK},
		{"acpi-cpufreq", "schedutil", NULL, LEVEL_WARNING},
		{"acpi-cpufreq", "powersave", NULL, LEVEL_FAILURE},
		{NULL, "powersave", NULL, LEVEL_FAILURE},
		{"intel_pstate", "powersave", "balance_performance", LEVEL_WARNING},
		{"intel_pstate", "powersave", "power", LEVEL_WARNING},
		{"amd-pstate-epp", "performance", "performance", LEVEL_OK},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		judge_governor(&f, 3, rows[i].driver, rows[i].governor, rows[i].preference);
		expect(rows[i].level, "");
	}
}

Test(doctor, deep_idle_states_stolen_time_and_slow_clocks_are_warnings)
{
	judge_idle_state(&f, -1, "", 0);
	expect(LEVEL_OK, "no deep idle states");
	judge_idle_state(&f, 1, "C1E", 10);
	expect(LEVEL_OK, "C1E");
	judge_idle_state(&f, 3, "C6", 190);
	expect(LEVEL_WARNING, "cpuidle/state3/disable");
	judge_virtual(&f, false, 0, 0);
	expect(LEVEL_OK, "");
	judge_virtual(&f, true, 1, 1000);
	expect(LEVEL_NOTE, "0.1 %");
	judge_virtual(&f, true, 50, 1000);
	expect(LEVEL_WARNING, "5 %");
	judge_clock(&f, "tsc", true);
	expect(LEVEL_OK, "tsc");
	judge_clock(&f, "hpet", true);
	expect(LEVEL_WARNING, "echo tsc | sudo tee");
	judge_clock(&f, "hpet", false);
	expect(LEVEL_WARNING, "dmesg");
	judge_clock(&f, NULL, false);
	expect(LEVEL_NOTE, "");
}

/* ---- memory ---- */

Test(doctor, memlock_is_enough_without_a_limit_or_with_the_capability)
{
	struct subject s = {.known = true, .uid = 990};

	judge_memlock(&f, &s, "");
	expect(LEVEL_NOTE, "not known");
	s.has_memlock = true;
	s.memlock = SUBJECT_UNLIMITED;
	judge_memlock(&f, &s, "");
	expect(LEVEL_OK, "all memory");
	s.memlock = 65536;
	judge_memlock(&f, &s, "");
	expect(LEVEL_WARNING, "$(id -un 990) - memlock");
	s.pid = 77;
	judge_memlock(&f, &s, "quoitd.service");
	expect(LEVEL_WARNING, "prlimit --memlock=unlimited --pid 77");
	s.capabilities = SUBJECT_MAY_LOCK;
	judge_memlock(&f, &s, "");
	expect(LEVEL_OK, "CAP_IPC_LOCK");
}

/* ---- limits ---- */

static void set(struct subject *s, enum subject_limit which, uint64_t value)
{
	s->limit[which].known = true;
	s->limit[which].value = value;
}

Test(doctor, each_limit_of_the_process_has_its_line)
{
	struct subject s = {.known = true, .uid = 990};

	judge_limit(&f, SUBJECT_FILE_SIZE, &s, "");
	expect(LEVEL_NOTE, "not known");
	for (unsigned i = 0; i < SUBJECT_LIMITS; i++) {
		set(&s, (enum subject_limit)i, SUBJECT_UNLIMITED);
		judge_limit(&f, (enum subject_limit)i, &s, "");
		expect(LEVEL_OK, "no limit of");
		set(&s, (enum subject_limit)i, 63);
		judge_limit(&f, (enum subject_limit)i, &s, "");
		expect(LEVEL_FAILURE, "/etc/security/limits.d/quoit.conf");
	}
	set(&s, SUBJECT_ADDRESSES, 8 * GIB);
	judge_limit(&f, SUBJECT_ADDRESSES, &s, "");
	expect(LEVEL_WARNING, "8.0G of addresses are allowed (RLIMIT_AS)");
	set(&s, SUBJECT_DESCRIPTORS, 1024);
	s.pid = 77;
	judge_limit(&f, SUBJECT_DESCRIPTORS, &s, "quoitd.service");
	expect(LEVEL_WARNING,
	       "prlimit --nofile=unlimited --pid 77  # for good: LimitNOFILE=infinity");
	set(&s, SUBJECT_DESCRIPTORS, 524288);
	judge_limit(&f, SUBJECT_DESCRIPTORS, &s, "");
	expect(LEVEL_OK, "524288 of descriptors");
	s.uid = 0;
	judge_limit(&f, SUBJECT_THREADS, &s, "");
	expect(LEVEL_OK, "no limit");
}

Test(doctor, files_of_the_whole_machine)
{
	judge_open_files(&f, false, 0, 0);
	expect(LEVEL_NOTE, "not known");
	judge_open_files(&f, true, 1000, INT64_MAX);
	expect(LEVEL_OK, "no limit");
	judge_open_files(&f, true, 1000, 100000);
	expect(LEVEL_OK, "1000 of 100000 files");
	judge_open_files(&f, true, 99000, 100000);
	expect(LEVEL_WARNING, "99000 of 100000 files");
}

Test(doctor, tasks_of_the_group_and_mappings)
{
	struct cgroup c = {.tasks = CGROUP_UNLIMITED, .unit = "quoitd.service"};

	judge_tasks(&f, &c);
	expect(LEVEL_OK, "no control group");
	c.tasks = 100;
	judge_tasks(&f, &c);
	expect(LEVEL_WARNING, "set-property quoitd.service TasksMax=infinity");
	c.tasks = 20;
	judge_tasks(&f, &c);
	expect(LEVEL_FAILURE, "20 processes");
	judge_mappings(&f, false, 0);
	expect(LEVEL_NOTE, "not known");
	judge_mappings(&f, true, 65530);
	expect(LEVEL_OK, "65530 mappings");
	judge_mappings(&f, true, 1000);
	expect(LEVEL_WARNING, "sysctl vm.max_map_count=65530");
}

Test(doctor, huge_pages_set_aside_and_unused_are_a_warning_where_they_are_many)
{
	judge_huge_pages(&f, 0, 0, 2 << 20, 16 * GIB);
	expect(LEVEL_OK, "");
	judge_huge_pages(&f, 4096, 100, 2 << 20, 16 * GIB);
	expect(LEVEL_OK, "200M");
	judge_huge_pages(&f, 4096, 4096, 2 << 20, 16 * GIB);
	cr_expect_not(strstr(f.mend, "nr_hugepages="), "%s", f.mend);
	expect(LEVEL_WARNING, "ask who set them aside");
}

Test(doctor, the_setting_of_large_pages_of_shared_memory_is_the_one_that_holds)
{
	static const struct {
		const char *all, *of_2m;
		enum level level;
		const char *mend;
	} rows[] = {
		{"advise", NULL, LEVEL_OK, ""},
		{"within_size", NULL, LEVEL_OK, ""},
		{"never", NULL, LEVEL_WARNING, "advise | sudo tee"},
		{"deny", "always", LEVEL_WARNING, "transparent_hugepage/shmem_enabled"},
		{"force", "never", LEVEL_OK, ""},
		{"never", "inherit", LEVEL_WARNING, "transparent_hugepage/shmem_enabled"},
		{"advise", "never", LEVEL_WARNING, "hugepages-2048kB/shmem_enabled"},
		{"never", "advise", LEVEL_OK, ""},
		{NULL, NULL, LEVEL_WARNING, "CONFIG_TRANSPARENT_HUGEPAGE"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		judge_shmem(&f, rows[i].all, rows[i].of_2m);
		expect(rows[i].level, rows[i].mend);
	}
}

Test(doctor, huge_pages_that_were_given_outweigh_the_setting)
{
	judge_shmem(&f, "never", NULL);
	judge_feature(&f, FEATURE_HUGE_PAGES, 0);
	expect(LEVEL_OK, "");
	cr_expect_null(f.why);
}

Test(doctor, numa_balancing_matters_with_two_nodes)
{
	judge_numa_balancing(&f, true, 1, 1);
	expect(LEVEL_OK, "one node");
	judge_numa_balancing(&f, true, 0, 2);
	expect(LEVEL_OK, "");
	judge_numa_balancing(&f, false, 0, 2);
	expect(LEVEL_OK, "");
	judge_numa_balancing(&f, true, 2, 2);
	expect(LEVEL_NOTE, "tiers");
	judge_numa_balancing(&f, true, 1, 2);
	expect(LEVEL_WARNING, "kernel.numa_balancing=0");
}

/* ---- the kernel ---- */

Test(doctor, a_kernel_counts_by_what_it_lacks)
{
	static const struct {
		const char *release;
		enum level level;
	} rows[] = {
		{"4.19.0-27-amd64", LEVEL_WARNING},
		{"5.10.0-8", LEVEL_NOTE},
		{"6.1.0-30-amd64", LEVEL_OK},
		{"6.8.0-45-generic", LEVEL_WARNING},
		{"6.11", LEVEL_WARNING},
		{"6.12.1", LEVEL_OK},
		{"7.0-rc1", LEVEL_OK},
		{"Darwin", LEVEL_NOTE},
		{NULL, LEVEL_NOTE},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		judge_kernel(&f, rows[i].release);
		expect(rows[i].level, "");
	}
}

Test(doctor, io_uring_is_for_those_whom_the_sysctls_name)
{
	struct subject s = {.known = true, .uid = 1000, .gid = 1000, .group = {4, 27}, .groups = 2};

	judge_io_uring(&f, false, 0, NULL, "6.1.0", &s);
	expect(LEVEL_OK, "");
	judge_io_uring(&f, false, 0, NULL, "4.19.0", &s);
	expect(LEVEL_WARNING, "no io_uring");
	judge_io_uring(&f, true, 0, "-1", "6.12", &s);
	expect(LEVEL_OK, "");
	judge_io_uring(&f, true, 2, "27", "6.12", &s);
	expect(LEVEL_WARNING, "kernel.io_uring_disabled=0");
	judge_io_uring(&f, true, 1, "27", "6.12", &s);
	expect(LEVEL_OK, "");
	judge_io_uring(&f, true, 1, "1000", "6.12", &s);
	expect(LEVEL_OK, "");
	judge_io_uring(&f, true, 1, "-1", "6.12", &s);
	expect(LEVEL_WARNING, "kernel.io_uring_group=1000");
	judge_io_uring(&f, true, 1, "28", "6.12", &s);
	expect(LEVEL_WARNING, "usermod -aG \"$(getent group 28 | cut -d: -f1)\"");
	judge_io_uring(&f, true, 1, "0", "6.12", &s);
	cr_expect_not(strstr(f.mend, "usermod"), "%s", f.mend);
	expect(LEVEL_WARNING, "root's");
	s.capabilities = SUBJECT_MAY_ADMINISTER;
	judge_io_uring(&f, true, 1, "28", "6.12", &s);
	expect(LEVEL_OK, "");
	s.known = false;
	judge_io_uring(&f, true, 1, "28", "6.12", &s);
	expect(LEVEL_NOTE, "not known");
}

Test(doctor, only_sealed_memory_is_needed_of_all_that_is_tried)
{
	for (int i = 0; i < FEATURE_NR; i++) {
		judge_feature(&f, (enum feature)i, 0);
		expect(LEVEL_OK, "tried");
		judge_feature(&f, (enum feature)i, -EPERM);
		expect(i == FEATURE_MEMFD ? LEVEL_FAILURE : LEVEL_WARNING,
		       "Operation not permitted");
	}
	judge_feature(&f, FEATURE_HUGE_PAGES, -ENOMSG);
	expect(LEVEL_WARNING, "did not provide it");
	judge_missing(&f, "nothing");
	expect(LEVEL_OK, "has all features");
	judge_missing(&f, "io_uring (Operation not permitted): threads read and write files");
	expect(LEVEL_WARNING, "io_uring_setup has to pass");
	judge_missing(&f, "something new");
	expect(LEVEL_WARNING, "quoit topo");
}

/* ---- NVIDIA ---- */

#define DRIVER(version)                                                                            \
	"NVRM version: NVIDIA UNIX x86_64 Kernel Module  " version "  Thu Oct 19 2023"

Test(doctor, a_gpu_needs_a_driver_that_cuda_can_use)
{
	judge_driver(&f, 0, NULL, NULL);
	expect(LEVEL_OK, "no NVIDIA GPU");
	judge_driver(&f, 2, NULL, NULL);
	expect(LEVEL_FAILURE, "2 NVIDIA GPUs, and no driver");
	judge_driver(&f, 1, "nouveau", NULL);
	expect(LEVEL_FAILURE, "update-initramfs");
	judge_driver(&f, 1, "vfio-pci", NULL);
	expect(LEVEL_NOTE, "virtual machines");
	judge_driver(&f, 1, NULL, DRIVER("470.256.02"));
	expect(LEVEL_FAILURE, "470.256.02");
	judge_driver(&f, 1, NULL, DRIVER("570.86.15"));
	expect(LEVEL_OK, "CUDA 12");
	judge_driver(&f, 0, NULL,
		     "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06");
	expect(LEVEL_OK, "580.65.06");
	judge_driver(&f, 1, NULL, "garbage");
	expect(LEVEL_NOTE, "unknown version");
}

Test(doctor, a_device_file_has_to_be_one_that_quoitd_may_open)
{
	struct subject s = {.known = true, .uid = 990, .gid = 990, .group = {44}, .groups = 1};
	struct judge_file file = {
		.path = "/dev/nvidia0", .is_device = true, .mode = S_IFCHR | 0666};

	judge_device_file(&f, &file, &s);
	expect(LEVEL_OK, "may be used");
	file.mode = S_IFCHR | 0660;
	file.gid = 44;
	judge_device_file(&f, &file, &s);
	expect(LEVEL_OK, "may be used");
	file.gid = 45;
	judge_device_file(&f, &file, &s);
	expect(LEVEL_FAILURE, "getent group 45");
	file.mode = S_IFCHR | 0600;
	judge_device_file(&f, &file, &s);
	expect(LEVEL_FAILURE, "chmod 0666 /dev/nvidia0");
	s.capabilities = SUBJECT_MAY_OVERRIDE;
	judge_device_file(&f, &file, &s);
	expect(LEVEL_OK, "may be used");
	file.is_device = false;
	file.path = "/dev/nvidia3";
	judge_device_file(&f, &file, &s);
	expect(LEVEL_FAILURE, "rm /dev/nvidia3 && sudo nvidia-modprobe -c 3");
	file.err = -ENOENT;
	judge_device_file(&f, &file, &s);
	expect(LEVEL_FAILURE, "nvidia-modprobe -c 3");
	file.path = "/dev/nvidiactl";
	judge_device_file(&f, &file, &s);
	expect(LEVEL_FAILURE, "nvidia-modprobe -c 255");
	file.path = "/dev/nvidia-uvm";
	judge_device_file(&f, &file, &s);
	expect(LEVEL_FAILURE, "nvidia-modprobe -u -c 0");
	judge_no_device_files(&f);
	expect(LEVEL_NOTE, "container");
}

Test(doctor, lanes_and_mps)
{
	judge_link(&f, "0000:17:00.0", 16, 16);
	expect(LEVEL_OK, "16");
	judge_link(&f, "0000:17:00.0", 0, 0);
	expect(LEVEL_OK, "");
	judge_link(&f, "0000:17:00.0", 4, 16);
	expect(LEVEL_WARNING, "4 of 16");
	judge_mps(&f, "/tmp/nvidia-mps", false, 0);
	expect(LEVEL_OK, "does not run");
	judge_mps(&f, "/tmp/nvidia-mps", true, 0);
	expect(LEVEL_NOTE, "left");
	judge_mps(&f, "/run/mps", true, 77);
	expect(LEVEL_WARNING, "CUDA_MPS_PIPE_DIRECTORY=/run/mps");
	judge_mps(&f, "/run/$(reboot)", true, 77);
	expect(LEVEL_WARNING, "CUDA_MPS_PIPE_DIRECTORY=FOLDER");
	judge_mps(&f, "/run/mps", true, 77);
	expect(LEVEL_WARNING, "# ends the work of all");
}

/* ---- measured ---- */

Test(doctor, what_was_measured_fails_on_a_machine_of_ones_own_only)
{
	struct judge_place near = {.from = 0, .to = 1, .distance = 10};
	struct judge_place far = {.from = 0, .to = 8, .distance = 21};

	judge_hop(&f, &near, 60);
	expect(LEVEL_OK, "60 ns");
	judge_hop(&f, &near, 500);
	expect(LEVEL_WARNING, "share a cache");
	judge_hop(&f, &far, 500);
	expect(LEVEL_OK, "500 ns");
	judge_hop(&f, &near, 50000);
	expect(LEVEL_FAILURE, "50000 ns");
	judge_wake(&f, &near, 4, 20);
	expect(LEVEL_OK, "4.0 us");
	judge_wake(&f, &near, 40, 80);
	expect(LEVEL_WARNING, "40.0 us");
	judge_wake(&f, &near, 4000, 4000);
	expect(LEVEL_FAILURE, "4000.0 us");
	near.is_virtual = true;
	judge_hop(&f, &near, 50000);
	expect(LEVEL_WARNING, "50000 ns");
	judge_wake(&f, &near, 40, 80);
	expect(LEVEL_OK, "40.0 us");
	judge_wake(&f, &near, 4000, 4000);
	expect(LEVEL_WARNING, "4000.0 us");
}

Test(doctor, memory_of_another_node_is_measured_by_its_distance)
{
	struct judge_place own = {.from = 1, .to = 1, .distance = 10};
	struct judge_place other = {.from = 1, .to = 0, .distance = 20};

	judge_bandwidth(&f, &own, 12, 12);
	expect(LEVEL_OK, "12.0 GB/s");
	judge_bandwidth(&f, &own, 3, 3);
	expect(LEVEL_WARNING, "3.0 GB/s");
	judge_bandwidth(&f, &own, 1, 1);
	expect(LEVEL_FAILURE, "1.0 GB/s");
	judge_bandwidth(&f, &other, 6, 12);
	expect(LEVEL_OK, "at least 3.0");
	judge_bandwidth(&f, &other, 2, 12);
	expect(LEVEL_WARNING, "keep sessions on one node");
	judge_bandwidth(&f, &other, 0.5, 12);
	expect(LEVEL_FAILURE, "0.5 GB/s");
}

Test(doctor, a_device_is_compared_where_it_is_a_real_one)
{
	judge_launch(&f, false, 12);
	expect(LEVEL_OK, "12.0 us");
	judge_launch(&f, false, 300);
	expect(LEVEL_WARNING, "300.0 us");
	judge_launch(&f, true, 300);
	expect(LEVEL_OK, "soft");
	judge_transfer(&f, false, "to", 24, 31.5);
	expect(LEVEL_OK, "24.0 GB/s");
	judge_transfer(&f, false, "to", 6, 31.5);
	expect(LEVEL_WARNING, "at least 22.0");
	judge_transfer(&f, false, "from", 6, 0);
	expect(LEVEL_OK, "from a device");
	judge_transfer(&f, true, "from", 6, 31.5);
	expect(LEVEL_OK, "");
}

/* ---- names ---- */

Test(doctor, no_two_checks_have_one_name_and_none_that_of_a_group)
{
	for (unsigned i = 0; i < checks_count; i++)
		for (unsigned k = 0; k < checks_count; k++) {
			cr_expect(i == k || strcmp(checks[i].name, checks[k].name) != 0, "%s",
				  checks[i].name);
			cr_expect(strcmp(checks[i].name, checks[k].group) != 0, "%s",
				  checks[i].name);
		}
}
