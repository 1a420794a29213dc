/* SPDX-License-Identifier: MIT */
/* test_doctor.c - quoit doctor on made-up machines, on this one, and beside a quoitd */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <jansson.h>
#include <quoit/ctl.h>

#include "daemon.h"
#include "process.h"
#include "tool.h"

#define SAID_BYTES 65536

/* ---- a made-up machine ---- */

struct file {
	const char *path, *text;
};

#define CPU   "sys/devices/system/cpu/"
#define NODE  "sys/devices/system/node/"
#define GROUP "sys/fs/cgroup/system.slice/"

/* Two nodes with two cores each, without any fault. */
static const struct file well[] = {
	{"proc/self/status", "Uid:\t990\t990\t990\t990\nGid:\t990\t990\t990\t990\nGroups:\t\n"
			     "CapEff:\t0000000000000000\nSeccomp:\t0\n"
			     "Cpus_allowed_list:\t0-3\nMems_allowed_list:\t0-1\n"},
	{"proc/self/limits", "Max locked memory         unlimited            unlimited\n"},
	{"proc/self/cgroup", "0::/system.slice/quoitd.service\n"},
	{"proc/self/environ", "PATH=/bin"},
	{"proc/meminfo", "MemTotal:       16777216 kB\nHugepagesize:       2048 kB\n"},
	{"proc/stat", "cpu  100 0 100 1000 0 0 0 0 0 0\n"},
	{"proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme\n\nprocessor\t: 1\n"},
	{"proc/sys/kernel/osrelease", "6.12.9-amd64\n"},
	{"proc/sys/kernel/io_uring_disabled", "0\n"},
	{"proc/sys/kernel/io_uring_group", "-1\n"},
	{"proc/sys/kernel/numa_balancing", "0\n"},
	{CPU "online", "0-3\n"},
	{CPU "isolated", "\n"},
	{CPU "cpu0/cpufreq/scaling_governor", "performance\n"},
	{CPU "cpu3/cpufreq/scaling_governor", "performance\n"},
	{CPU "cpu0/cpuidle/state0/name", "C1\n"},
	{CPU "cpu0/cpuidle/state0/latency", "2\n"},
	{NODE "online", "0-1\n"},
	{NODE "has_memory", "0-1\n"},
	{NODE "node0/cpulist", "0-1\n"},
	{NODE "node1/cpulist", "2-3\n"},
	{"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
	{"sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm\n"},
	{"sys/kernel/mm/transparent_hugepage/shmem_enabled",
	 "always within_size [advise] never deny force\n"},
	{"sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n"},
	{GROUP "quoitd.service/memory.max", "max\n"},
	{GROUP "quoitd.service/cpu.max", "max 100000\n"},
	{GROUP "memory.max", "max\n"},
};

#define FILES (sizeof well / sizeof well[0])

struct machine {
	char folder[40];
	int root;
};

static void make_folders(const struct machine *m, const char *path)
{
	char copy[256];

	snprintf(copy, sizeof copy, "%s", path);
	for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdirat(m->root, copy, 0755);
		*slash = '/';
	}
}

static void put_bytes(const struct machine *m, const char *path, const void *bytes, size_t size)
{
	int fd;

	make_folders(m, path);
	fd = openat(m->root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static void put(const struct machine *m, const char *path, const char *text)
{
	put_bytes(m, path, text, strlen(text));
}

static void machine_make(struct machine *m)
{
	snprintf(m->folder, sizeof m->folder, "/tmp/quoit-doctor.XXXXXX");
	cr_assert(mkdtemp(m->folder));
	m->root = open(m->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(m->root, 0);
	for (size_t i = 0; i < FILES; i++)
		put(m, well[i].path, well[i].text);
}

static void machine_remove(struct machine *m)
{
	char line[64];

	close(m->root);
	snprintf(line, sizeof line, "rm -r %s", m->folder);
	cr_expect_eq(system(line), 0);
}

/* How many findings there are: lines that are not explanations. */
static unsigned findings_in(const char *said)
{
	unsigned n = 0;

	for (const char *line = said; *line; line = strchr(line, '\n') + 1)
		n += *line != ' ';
	return n;
}

Test(doctor, a_good_machine_has_nothing_off)
{
	char said[SAID_BYTES];
	struct machine m;

	machine_make(&m);
	cr_expect_eq(tool_run(said, sizeof said, "doctor --root=%s", m.folder), 0);
	cr_expect(strstr(said, "0 failures, 0 warnings"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s", m.folder), 0);
	cr_expect_str_eq(said, "");
	machine_remove(&m);
}

/* One fault: the file that shows it, the expected words, and the exit status. */
struct cause {
	char path[80], text[160];
	char check[24], words[80];
	int status;
};

ParameterizedTestParameters(doctor, one_cause_is_named_and_mended)
{
	static struct cause rows[] = {
		{GROUP "quoitd.service/memory.max", "33554432\n", "cgroup-memory",
		 "systemctl set-property quoitd.service MemoryMax=infinity", 1},
		{GROUP "memory.max", "2147483648\n", "cgroup-memory", "quoitd --memory=1073741824",
		 1},
		{GROUP "quoitd.service/cpu.max", "50000 100000\n", "cgroup-cpu",
		 "systemctl set-property quoitd.service CPUQuota=", 1},
		{GROUP "quoitd.service/cpu.max", "300000 100000\n", "cgroup-cpu", "3 CPUs", 0},
		{"proc/self/status", "Uid:\t1 1\nGid:\t1 1\nCpus_allowed_list:\t2\n", "cpuset",
		 "taskset -c 0-3", 1},
		{"proc/self/status",
		 "Uid:\t1 1\nGid:\t1 1\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t1\n", "cpuset",
		 "AllowedMemoryNodes=0-1", 0},
		{CPU "isolated", "0-3\n", "isolated", "0-3", 0},
		{CPU "cpu3/cpufreq/scaling_governor", "powersave\n", "governor", "CPU 3", 1},
		{CPU "cpu0/cpufreq/scaling_governor", "ondemand\n", "governor",
		 "echo performance | sudo tee", 0},
		{CPU "cpu0/cpuidle/state0/latency", "290\n", "idle-states",
		 "cpuidle/state0/disable", 0},
		{"sys/devices/system/clocksource/clocksource0/current_clocksource", "acpi_pm\n",
		 "clock", "echo tsc | sudo tee", 0},
		{"proc/self/limits", "Max locked memory         65536   65536   bytes\n", "memlock",
		 "64.0K", 0},
		{"proc/meminfo",
		 "MemTotal: 16777216 kB\nHugePages_Total: 4096\nHugePages_Free: 4096\n"
		 "HugePages_Rsvd: 96\n",
		 "huge-pages", "7.8G", 0},
		{"sys/kernel/mm/transparent_hugepage/shmem_enabled", "always [never] deny\n",
		 "shmem", "echo advise | sudo tee", 0},
		{"proc/sys/kernel/numa_balancing", "1\n", "numa-balancing",
		 "sysctl kernel.numa_balancing=0", 0},
		{"proc/sys/kernel/osrelease", "4.19.0\n", "kernel-version", "Linux 4.19.0", 0},
		{"proc/sys/kernel/io_uring_disabled", "2\n", "io_uring",
		 "sysctl kernel.io_uring_disabled=0", 0},
		{"proc/sys/kernel/io_uring_disabled", "1\n", "io_uring",
		 "sysctl kernel.io_uring_group=990", 0},
	};

	return cr_make_param_array(struct cause, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct cause *row, doctor, one_cause_is_named_and_mended)
{
	char said[SAID_BYTES], expected[64];
	struct machine m;

	machine_make(&m);
	put(&m, row->path, row->text);
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s", m.folder), row->status,
		     "%s: %s", row->path, said);
	snprintf(expected, sizeof expected, "%-7s  %s ", row->status ? "failure" : "warning",
		 row->check);
	cr_expect_eq(strncmp(said, expected, strlen(expected)), 0, "%s: %s", row->path, said);
	cr_expect(strstr(said, row->words), "%s", said);
	cr_expect(strstr(said, "why: ") && strstr(said, "mend: "), "%s", said);
	cr_expect_eq(findings_in(said), 1, "%s", said);
	machine_remove(&m);
}

Test(doctor, time_that_a_hypervisor_took_is_a_warning)
{
	char said[SAID_BYTES];
	struct machine m;

	machine_make(&m);
	put(&m, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor vme\n");
	put(&m, "proc/stat", "cpu  100 0 100 700 0 0 0 100 0 0\n");
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s", m.folder), 0);
	cr_expect(strstr(said, "other guests took 10 %"), "%s", said);
	machine_remove(&m);
}

/* ---- its GPU ---- */

#define GPU "sys/bus/pci/devices/0000:17:00.0/"

static void put_gpu(const struct machine *m)
{
	put(m, GPU "vendor", "0x10de\n");
	put(m, GPU "class", "0x030200\n");
	put(m, GPU "current_link_width", "16\n");
	put(m, GPU "max_link_width", "16\n");
}

static void put_driver(const struct machine *m, const char *version)
{
	char line[128];

	snprintf(line, sizeof line, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Thu\n",
		 version);
	put(m, "proc/driver/nvidia/version", line);
}

Test(doctor, a_gpu_without_a_driver_is_a_failure)
{
	char said[SAID_BYTES];
	struct machine m;

	machine_make(&m);
	put_gpu(&m);
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s", m.folder), 1);
	cr_expect(strstr(said, "sudo modprobe nvidia"), "%s", said);
	cr_expect_eq(findings_in(said), 1, "%s", said);
	put_driver(&m, "470.256.02");
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s driver", m.folder), 1);
	cr_expect(strstr(said, "470.256.02"), "%s", said);
	put_driver(&m, "580.65.06");
	put(&m, GPU "current_link_width", "4\n");
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s driver link", m.folder), 0);
	cr_expect(strstr(said, "4 of 16 lanes"), "%s", said);
	cr_expect_eq(findings_in(said), 1, "%s", said);
	machine_remove(&m);
}

Test(doctor, device_files_that_are_missing_or_none_are_failures)
{
	char said[SAID_BYTES];
	struct machine m;

	machine_make(&m);
	put_gpu(&m);
	put_driver(&m, "580.65.06");
	put(&m, "dev/nvidiactl", "");
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s nvidia", m.folder), 1);
	cr_expect_eq(findings_in(said), 3, "%s", said);
	cr_expect(strstr(said, "/dev/nvidia-uvm is not there"), "%s", said);
	cr_expect(strstr(said, "sudo nvidia-modprobe -c 0\n"), "%s", said);
	put(&m, "dev/nvidia3", "");
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s nvidia", m.folder), 1);
	cr_expect(strstr(said, "/dev/nvidia3 is no device file"), "%s", said);
	cr_expect(!strstr(said, "/dev/nvidia0"), "%s", said);
	machine_remove(&m);
}

Test(doctor, a_driver_without_any_device_file_is_one_note)
{
	char said[SAID_BYTES];
	struct machine m;

	machine_make(&m);
	put_driver(&m, "580.65.06");
	cr_expect_eq(tool_run(said, sizeof said, "doctor --root=%s device-files", m.folder), 0);
	cr_expect(strstr(said, "there is no /dev/nvidia*"), "%s", said);
	cr_expect_eq(findings_in(said), 2, "%s", said); /* and the summary */
	machine_remove(&m);
}

Test(doctor, device_files_for_others_name_the_group)
{
	char said[SAID_BYTES];
	struct machine m;
	int err;

	machine_make(&m);
	put_driver(&m, "580.65.06");
	make_folders(&m, "dev/x");
	err = mknodat(m.root, "dev/nvidiactl", S_IFCHR, makedev(1, 3)) ||
	      fchmodat(m.root, "dev/nvidiactl", 0660, 0) ||
	      fchownat(m.root, "dev/nvidiactl", 0, 4711, 0);
	if (!err) {
		cr_expect_eq(
			tool_run(said, sizeof said, "doctor -q --root=%s device-files", m.folder),
			1);
		cr_expect(strstr(said, "getent group 4711"), "%s", said);
	}
	machine_remove(&m);
	if (err)
		cr_skip("only root makes device files");
}

Test(doctor, mps_is_found_where_the_variable_says)
{
	char said[SAID_BYTES];
	struct machine m;

	machine_make(&m);
	put_driver(&m, "580.65.06");
	put(&m, "proc/self/environ", "CUDA_MPS_PIPE_DIRECTORY=/run/mps");
	put(&m, "run/mps/nvidia-cuda-mps-control.pid", "77\n");
	put(&m, "proc/77/comm", "bash\n");
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s mps", m.folder), 0);
	cr_expect_str_eq(said, "");
	put(&m, "proc/77/comm", "nvidia-cuda-mps\n");
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --root=%s mps", m.folder), 0);
	cr_expect(strstr(said, "CUDA_MPS_PIPE_DIRECTORY=/run/mps nvidia-cuda-mps-control"), "%s",
		  said);
	machine_remove(&m);
}

/* ---- garbage ---- */

/* Expect a JSON array of findings, each with all its keys. */
static void expect_findings(const char *said)
{
	static const char *const keys[] = {"check", "level", "what", "why", "mend", "value"};
	json_error_t error;
	json_t *list = json_loads(said, 0, &error), *one;
	size_t i;

	cr_assert(json_is_array(list), "%s: %s", error.text, said);
	cr_expect_gt(json_array_size(list), 0);
	json_array_foreach(list, i, one) for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
		cr_expect(json_object_get(one, keys[k]), "%s: %s", keys[k], said);
	json_decref(list);
}

static void expect_no_crash(const struct machine *m, const char *what)
{
	char said[SAID_BYTES];
	int status = tool_run(said, sizeof said, "doctor --json --root=%s", m->folder);

	cr_expect(status == 0 || status == 1, "%s: %d %s", what, status, said);
	expect_findings(said);
}

Test(doctor, whatever_lies_in_place_of_a_file_is_survived, .timeout = 600)
{
	static const char binary[] = "\0\xff\x1b[31m\n\n%s%n:::::\x80";
	static char huge[300000];
	struct machine m;

	machine_make(&m);
	put_gpu(&m);
	put_driver(&m, "580.65.06");
	memset(huge, '9', sizeof huge);
	for (size_t i = 0; i < FILES; i++) {
		put_bytes(&m, well[i].path, binary, sizeof binary);
		expect_no_crash(&m, well[i].path);
		put_bytes(&m, well[i].path, huge, sizeof huge);
		expect_no_crash(&m, well[i].path);
		cr_assert_eq(unlinkat(m.root, well[i].path, 0), 0);
		expect_no_crash(&m, well[i].path);
		cr_assert_eq(mkfifoat(m.root, well[i].path, 0644), 0);
		expect_no_crash(&m, well[i].path);
		cr_assert_eq(unlinkat(m.root, well[i].path, 0), 0);
		cr_assert_eq(mkdirat(m.root, well[i].path, 0755), 0);
		expect_no_crash(&m, well[i].path);
	}
	machine_remove(&m);
}

Test(doctor, what_others_have_named_is_escaped)
{
	char said[SAID_BYTES];
	struct machine m;

	machine_make(&m);
	put(&m, CPU "cpu0/cpufreq/scaling_governor", "\x1b[31m\xc3\xa4\n");
	cr_expect_eq(tool_run(said, sizeof said, "doctor --root=%s governor", m.folder), 0);
	cr_expect(strstr(said, "\\x1b[31m\\xc3\\xa4"), "%s", said);
	machine_remove(&m);
}

Test(doctor, a_root_that_cannot_be_had_is_said)
{
	char said[SAID_BYTES];

	cr_expect_eq(tool_run(said, sizeof said, "doctor --root=/nowhere"), 1);
	cr_expect(strstr(said, "/nowhere: No such file"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "doctor --root=/etc/passwd"), 1);
}

/* ---- this machine ---- */

Test(doctor, this_machine_is_looked_over_and_measured)
{
	static const char *const names[] = {"features", "cpuset",    "memlock",
					    "ring-hop", "bandwidth", "wake-up"};
	char said[SAID_BYTES];
	int status = tool_run(said, sizeof said, "doctor --socket=/nowhere/quoitd.sock");

	cr_expect(status == 0 || status == 1, "%d %s", status, said);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		cr_expect(strstr(said, names[i]), "%s: %s", names[i], said);
	cr_expect(strstr(said, "no quoitd runs at /nowhere/quoitd.sock"), "%s", said);
	status = tool_run(said, sizeof said, "doctor --no-measure --json --socket=/nowhere/x");
	cr_expect(status == 0 || status == 1, "%d %s", status, said);
	expect_findings(said);
	cr_expect(!strstr(said, "ring-hop"), "%s", said);
}

Test(doctor, checks_and_groups_can_be_named)
{
	char said[SAID_BYTES];

	cr_expect_eq(tool_run(said, sizeof said, "doctor --socket=/nowhere/x clock kernel"), 0);
	cr_expect_eq(findings_in(said), 4, "%s", said); /* clock, kernel, io_uring, the summary */
	cr_expect_eq(tool_run(said, sizeof said, "doctor -n measure"), 2);
	cr_expect(strstr(said, "--no-measure leaves none"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "doctor --checks"), 0);
	cr_expect(strstr(said, "numa-balancing"), "%s", said);
}

Test(doctor, a_device_is_measured_through_a_quoitd_of_its_own)
{
	char said[SAID_BYTES];

	setenv("QUOIT_GPU", "soft", 1);
	cr_expect_eq(tool_run(said, sizeof said, "doctor --socket=/nowhere/x device-speed"), 0,
		     "%s", said);
	if (strstr(said, "not measured: "))
		cr_skip("too little memory is allowed here");
	cr_expect(strstr(said, "a small job on the soft device"), "%s", said);
	cr_expect(strstr(said, "copies from a device"), "%s", said);
}

Test(doctor, nobody_who_listens_is_no_crash_and_no_success)
{
	int ends[2], status;
	pid_t pid;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	pid = fork();
	if (pid == 0) {
		char path[256];

		(void)signal(SIGPIPE, SIG_DFL);
		dup2(ends[1], STDOUT_FILENO);
		snprintf(path, sizeof path, "%s/quoit", tool_folder());
		execl(path, "quoit", "doctor", "-n", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFSIGNALED(status) ? WTERMSIG(status) == SIGPIPE : WEXITSTATUS(status) == 1,
		  "%x", status);
}

/* ---- beside a quoitd ---- */

Test(doctor, a_quoitd_that_runs_is_the_one_that_is_looked_at)
{
	static const char *const options[] = {"--no-io-uring", "--gpu=soft", NULL};
	char said[SAID_BYTES], expected[64];
	struct daemon d;
	int status;

	cr_assert_eq(daemon_start(&d, options), 0);
	status = tool_run(said, sizeof said, "doctor -n --socket=%s", d.socket);
	cr_expect(status == 0 || status == 1, "%d %s", status, said);
	snprintf(expected, sizeof expected, "quoitd runs as process %d", (int)d.pid);
	cr_expect(strstr(said, expected), "%s", said);
	cr_expect(strstr(said, "quoitd runs without io_uring (switched off)"), "%s", said);
	cr_expect(strstr(said, "soft:0"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "doctor --socket=%s device-speed", d.socket), 0,
		     "%s", said);
	cr_expect(strstr(said, "a small job on the soft device") || strstr(said, "not measured: "),
		  "%s", said);
	daemon_stop(&d);
}

Test(doctor, a_quoitd_that_hangs_or_is_dead_is_a_failure)
{
	char said[SAID_BYTES], expected[64];
	struct daemon d;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	process_stop(d.pid);
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --socket=%s quoitd", d.socket), 1);
	cr_expect(strstr(said, "does not answer"), "%s", said);
	snprintf(expected, sizeof expected, "ps -o pid,stat,wchan:20,comm -p %d\n", (int)d.pid);
	cr_expect(strstr(said, expected), "%s", said);
	kill(d.pid, SIGCONT);
	daemon_kill(&d);
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --socket=%s quoitd", d.socket), 1);
	cr_expect(strstr(said, "that is dead has left"), "%s", said);
	daemon_stop(&d);
}

/* Send `bytes` to the first client, and hang up. */
static pid_t start_stranger(const char *path, const void *bytes, size_t size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), other;
	pid_t pid;

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	cr_assert(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
	pid = fork();
	if (pid == 0) {
		other = accept(fd, NULL, NULL);
		_exit(send(other, bytes, size, MSG_NOSIGNAL) != (ssize_t)size);
	}
	close(fd);
	return pid;
}

Test(doctor, who_is_refused_is_told_in_quoitds_words)
{
	struct quoit_ctl m = {
		.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_END, .text = "not \x1byou"};
	char said[SAID_BYTES], path[64];
	struct machine folder;
	pid_t pid;

	machine_make(&folder);
	snprintf(path, sizeof path, "%s/quoitd.sock", folder.folder);
	pid = start_stranger(path, &m, sizeof m);
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --socket=%s quoitd", path), 1);
	cr_expect(strstr(said, "refuses this user: not \\x"), "%s", said);
	cr_expect_eq(waitpid(pid, NULL, 0), pid);
	machine_remove(&folder);
}

Test(doctor, a_socket_of_another_kind_is_somebody_elses_and_not_dead)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char said[SAID_BYTES];
	struct machine m;

	machine_make(&m);
	snprintf(address.sun_path, sizeof address.sun_path, "%s/quoitd.sock", m.folder);
	cr_assert(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --socket=%s quoitd", address.sun_path),
		     1);
	cr_expect(strstr(said, "is not quoitd"), "%s", said);
	close(fd);
	machine_remove(&m);
}

Test(doctor, what_is_no_quoitd_is_a_failure)
{
	static const char noise[300] = "\xff\xff\xff\xff";
	char said[SAID_BYTES], path[64];
	struct machine m;
	pid_t pid;

	machine_make(&m);
	snprintf(path, sizeof path, "%s/quoitd.sock", m.folder);
	pid = start_stranger(path, noise, sizeof noise);
	cr_expect_eq(tool_run(said, sizeof said, "doctor -q --socket=%s quoitd", path), 1);
	cr_expect(strstr(said, "is not quoitd"), "%s", said);
	cr_expect_eq(waitpid(pid, NULL, 0), pid);
	machine_remove(&m);
}
