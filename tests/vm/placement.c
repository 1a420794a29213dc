/* SPDX-License-Identifier: MIT */
/*
 * placement.c - where quoitd's threads run and its memory lies, on real nodes.
 *
 * It is the first process of the virtual machines of placement.sh, which tells the machine in the
 * kernel's command line: machine=two_nodes or machine=one_memory.  Both have two cores of two
 * threads a node: CPUs 0-1 and 2-3 on node 0, and 4-5 and 6-7 on node 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <quoit.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broken.h"
#include "daemon.h"
#include "guest.h"
#include "hello.h"
#include "near.h"

#define MANY     100000u /* elements of a tensor: 98 pages */
#define ANYWHERE GUEST_MAX_NODES

/* CPUs */
#define NODE_0 0x0fu
#define NODE_1 0xf0u
#define ALL    (NODE_0 | NODE_1)

struct test {
	const char *name;
	void (*run)(void);
};

static struct daemon quoitd;
static bool is_bad, is_skipped;

static void check(bool good, int line, const char *text)
{
	if (!good)
		printf("  line %d: %s\n", line, text);
	is_bad |= !good;
}
#define CHECK(condition) check(condition, __LINE__, #condition)

/* ---- quoitd ---- */

/* The cpuset in which quoitd starts; NULL and 0: all of the machine. */
static const char *cpuset;
static unsigned affinity;

/* A soft device that claims to be on PCI, where node 1 has a display. */
static bool has_device;
#define DEVICE_ADDRESS "0000:81:00.0"
#define DEVICE_BYTES   (4u << 20)

static void pin(pid_t thread, unsigned cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned cpu = 0; cpu < 8; cpu++)
		if (cpus & 1u << cpu)
			CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(thread, sizeof set, &set));
}

/* quoitd runs as another user than its clients, in a /proc that hides them, as in its unit. */
static bool is_service;
#define SERVICE 1000

static void become_service(const struct daemon *d)
{
	CHECK(!unshare(CLONE_NEWNS) && !mount("proc", "/proc", "proc", 0, "hidepid=invisible"));
	CHECK(!chown(d->folder, SERVICE, SERVICE) && !setresgid(SERVICE, SERVICE, SERVICE) &&
	      !setresuid(SERVICE, SERVICE, SERVICE));
	CHECK(access("/proc/1/stat", F_OK) < 0);
}

static void prepare(const struct daemon *d)
{
	pin(0, affinity ? affinity : ALL);
	if (cpuset)
		CHECK(!guest_join_cpuset(cpuset, 0));
	CHECK(!daemon_log_to_file(d));
	if (is_service)
		become_service(d);
}

/* The CPU list of each reactor, as "2@0 6@1": CPU 2 of node 0, CPU 6 of node 1. */
static void start(const char *cpuset_name, unsigned cpus, const char *reactors)
{
	const char *const options[] = {"--log=info", has_device ? "--gpu=soft" : "--gpu=none",
				       is_service ? "--private=no" : NULL,
				       is_service ? "--lax-memory" : NULL, NULL};
	const char *const topo[] = {"/quoit", "topo", "--json", "--socket", quoitd.socket, NULL};
	char found[64] = "", thread[40];
	json_t *json, *reactor;
	size_t i;

	cpuset = cpuset_name;
	affinity = cpus;
	CHECK(!daemon_start_prepared(&quoitd, options, prepare));
	json = guest_run(topo);
	json_array_foreach(json_object_get(json, "reactors"), i, reactor)
	{
		size_t used = strlen(found);
		int cpu = (int)json_integer_value(json_object_get(reactor, "cpu"));

		snprintf(found + used, sizeof found - used, "%s%d@%d", used ? " " : "", cpu,
			 (int)json_integer_value(json_object_get(reactor, "node")));
		snprintf(thread, sizeof thread, "quoit-react-%zu", i);
		CHECK(guest_is_pinned(quoitd.pid, thread, (unsigned)cpu));
	}
	if (strcmp(found, reactors) != 0)
		printf("  reactors on %s, not on %s\n", found, reactors);
	CHECK(!strcmp(found, reactors));
	json_decref(json);
}

static bool topology_says(const char *words)
{
	const char *const topo[] = {"/quoit", "topo", "--json", "--socket", quoitd.socket, NULL};
	json_t *json = guest_run(topo);
	const char *text = json_string_value(json_object_get(json, "topology"));
	bool says = text && strstr(text, words);

	if (!says)
		printf("  topo does not say \"%s\":\n%s", words, text ? text : "");
	json_decref(json);
	return says;
}

/* The process of the device, by the topology's line that begins so; 0: there is none. */
static pid_t device_process(const char *begin)
{
	const char *const topo[] = {"/quoit", "topo", "--json", "--socket", quoitd.socket, NULL};
	json_t *json = guest_run(topo);
	const char *text = json_string_value(json_object_get(json, "topology"));
	const char *line = text ? strstr(text, begin) : NULL;
	const char *pid = line ? strstr(line, ", pid ") : NULL;
	pid_t found = pid ? (pid_t)strtol(pid + strlen(", pid "), NULL, 10) : 0;

	json_decref(json);
	return found;
}

static void stop(void)
{
	daemon_stop(&quoitd);
}

/* ---- sessions ---- */

static int home_of_the_session(void)
{
	const char *const ps[] = {"/quoit", "ps", "--json", "--socket", quoitd.socket, NULL};
	json_t *json = guest_run(ps);
	const json_t *session = json_array_get(json_object_get(json, "sessions"), 0);
	const json_t *node = json_object_get(session, "node");
	int home = json_is_integer(node) ? (int)json_integer_value(node) : -1;

	json_decref(json);
	return home;
}

/* Do all pages of the memfd that the process has touched lie on the node, and are there any? */
static bool lies_on(pid_t pid, const char *memfd, unsigned node)
{
	struct guest_pages pages;
	unsigned all = 0;
	int err = guest_find_pages(pid, memfd, &pages);

	for (unsigned i = 0; i < GUEST_MAX_NODES; i++)
		all += pages.on[i];
	if (!err && all && pages.on[node] == all)
		return true;
	printf("  %s: %s, %u of %u pages on node %u\n", memfd, err ? strerror(-err) : "mapped",
	       pages.on[node], all, node);
	return false;
}

/* Let a job write a tensor. */
static void fill(struct quoit_ring *q, unsigned elements, unsigned flags)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, elements}};
	quoit_tensor t = quoit_create(q, &shape, flags);

	CHECK(!quoit_push(q, quoit_fill(t, 1)));
	CHECK(!quoit_wait_tensor(q, t, QUOIT_FOREVER));
}

/* All memory of the session, also the client's arena, whichever process touched it first. */
static void expect_memory(unsigned node)
{
	static const char *const memfds[] = {"quoit-region", "quoit-session", "quoit-ring"};

	for (unsigned i = 0; i < sizeof memfds / sizeof memfds[0]; i++)
		CHECK(lies_on(quoitd.pid, memfds[i], node));
	CHECK(lies_on(quoitd.pid, "quoit-pinned", has_device ? 1 : node));
	CHECK(lies_on(getpid(), "quoit-arena", node));
}

/*
 * Run a client on this CPU, and jobs that write; expect the session's home and the place of its
 * memory; ANYWHERE: any place.
 */
static void expect_session(unsigned cpu, int home, unsigned memory)
{
	struct quoit_open_params params = {.socket = quoitd.socket,
					   .host_bytes = 8u << 20,
					   .arena_bytes = 1u << 20,
					   .pinned_bytes = 1u << 20,
					   .device_bytes = has_device ? DEVICE_BYTES : 0};
	struct quoit_session *s = NULL;
	struct quoit_ring *q = NULL;
	void *mine;

	pin(0, 1u << cpu);
	CHECK(!quoit_open(&params, &s) && !quoit_open_ring(s, NULL, &q));
	if (!q)
		return;
	mine = quoit_alloc(s, MANY);
	CHECK(mine);
	if (mine)
		memset(mine, 1, MANY);
	fill(q, MANY, 0);
	fill(q, MANY, QUOIT_CREATE_PINNED);
	CHECK(home_of_the_session() == home);
	if (memory != ANYWHERE)
		expect_memory(memory);
	CHECK(!quoit_close(s, 0));
}

/* Does a session with two huge pages of memory in each region get huge pages there? */
static void expect_huge(bool huge)
{
	enum { BYTES = 4u << 20 };
	struct quoit_open_params params = {
		.socket = quoitd.socket, .host_bytes = 4u * BYTES, .pinned_bytes = BYTES};
	const unsigned long kib = BYTES >> 10;
	struct quoit_session *s = NULL;
	struct quoit_ring *q = NULL;

	CHECK(!quoit_open(&params, &s) && !quoit_open_ring(s, NULL, &q));
	if (!q)
		return;
	fill(q, BYTES / 4, 0);
	fill(q, BYTES / 4, QUOIT_CREATE_PINNED);
	CHECK(guest_find_huge(quoitd.pid, "quoit-region") == (huge ? kib : 0));
	CHECK(guest_find_huge(quoitd.pid, "quoit-pinned") == (huge ? kib : 0));
	CHECK(!quoit_close(s, 0));
}

/* ---- two nodes with memory ---- */

static void each_node_has_a_reactor(void)
{
	start(NULL, 0, "2@0 6@1");
	stop();
}

/* Also if the control thread, which touches a ring first, runs on the other node. */
static void a_session_lies_on_its_clients_node(void)
{
	start(NULL, 0, "2@0 6@1");
	pin(quoitd.pid, NODE_1);
	expect_session(0, 0, 0);
	pin(quoitd.pid, NODE_0);
	expect_session(4, 1, 1);
	expect_session(7, 1, 1); /* no worker of ours runs on the second thread of a core */
	CHECK(!daemon_log_count(&quoitd, "not bound", 0));
	stop();
}

static void a_session_lies_on_the_node_of_a_client_that_is_hidden(void)
{
	static const struct {
		unsigned cpu;
		int home;
	} rows[] = {{6, 1}, {0, 0}, {5, 1}, {7, 1}, {3, 0}};

	is_service = true;
	start(NULL, 0, "2@0 6@1");
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int fd;

		pin(0, 1u << rows[i].cpu);
		fd = hello_say(quoitd.socket, (uint32_t)sched_getcpu() + 1);
		CHECK(fd >= 0);
		CHECK(home_of_the_session() == rows[i].home);
		close(fd);
		while (home_of_the_session() >= 0) /* until it has gone */
			usleep(10000);
	}
	stop();
	is_service = false;
}

static void an_affinity_mask_is_obeyed(void)
{
	start(NULL, 0x10, "4@1");
	CHECK(guest_stays_within(quoitd.pid, 0x10));
	CHECK(topology_says("node 0: 0.2 GiB; no core may be used"));
	expect_session(0, 1, 1);
	stop();
	start(NULL, 0x2, "1@0");
	CHECK(guest_stays_within(quoitd.pid, 0x2));
	expect_session(4, 0, 0);
	stop();
}

static void a_cpuset_is_obeyed(void)
{
	CHECK(!guest_make_cpuset("second", "4-7", "1"));
	start("second", 0, "6@1");
	CHECK(guest_stays_within(quoitd.pid, NODE_1));
	expect_session(0, 1, 1);
	stop();
}

static void forbidden_memory_is_taken_from_the_other_node(void)
{
	CHECK(!guest_make_cpuset("crossed", "4-7", "0"));
	start("crossed", 0, "6@1");
	CHECK(topology_says("(not allowed), takes that of node 0"));
	expect_session(4, 1, 0);
	CHECK(!daemon_log_count(&quoitd, "not bound", 0));
	stop();
}

/* Allowed at the start, and forbidden when the session comes: it works, and quoitd reports it. */
static void refused_memory_is_said(void)
{
	CHECK(!guest_make_cpuset("shrunk", "0-7", "0"));
	start(NULL, 0, "2@0 6@1");
	CHECK(!guest_join_cpuset("shrunk", quoitd.pid));
	expect_session(4, 1, ANYWHERE);
	CHECK(daemon_log_count(&quoitd, "memory is not bound to node 1: Invalid argument", 1));
	stop();
}

static void memory_is_in_huge_pages_where_they_are_allowed(void)
{
	CHECK(!guest_allow_huge("advise"));
	start(NULL, 0, "2@0 6@1");
	CHECK(topology_says("missing: nothing"));
	expect_huge(true);
	CHECK(!daemon_log_count(&quoitd, "huge pages", 0));
	stop();
}

/* The kernel of the guest is Linux 6.1 or later. */
static void memory_is_in_huge_pages_under_never_too(void)
{
	CHECK(!guest_allow_huge("never"));
	start(NULL, 0, "2@0 6@1");
	CHECK(topology_says("missing: nothing"));
	expect_huge(true);
	stop();
}

static void forbidden_huge_pages_are_said_to_be_missing(void)
{
	CHECK(!guest_allow_huge("deny"));
	start(NULL, 0, "2@0 6@1");
	CHECK(topology_says("missing: huge pages (not for shared memory: "
			    "transparent_hugepage/shmem_enabled, or before Linux 6.1): "
			    "memory comes in small pages"));
	expect_huge(false);
	CHECK(daemon_log_count(&quoitd, "unavailable: huge pages (not for shared memory", 1) == 1);
	stop();
}

static void a_device_has_its_process_and_its_sessions_on_its_node(void)
{
	has_device = true;
	setenv("QUOIT_SOFT_ADDRESS", DEVICE_ADDRESS, 1);
	start(NULL, 0, "2@0 6@1");
	CHECK(topology_says(
		"place of device 1: node 1, by its PCI address; its process on CPUs 4-7"));
	CHECK(guest_stays_within(device_process("device 1: soft:0"), NODE_1));
	expect_session(0, 1, 1); /* though its client is on the other node */
	CHECK(!daemon_log_count(&quoitd, "not bound", 0));
	stop();
	has_device = false;
}

/* Users that bring kernels have processes of their own. */
static void a_device_has_its_users_own_processes_on_its_node(void)
{
	struct quoit_open_params params = {.device_bytes = DEVICE_BYTES,
					   .flags = QUOIT_OPEN_KERNELS};
	struct quoit_session *s;
	pid_t pid = 0;

	has_device = true;
	setenv("QUOIT_SOFT_ADDRESS", DEVICE_ADDRESS, 1);
	start(NULL, 0, "2@0 6@1");
	params.socket = quoitd.socket;
	CHECK(!quoit_open(&params, &s));
	CHECK(quoit_load_image(s, 1, "soft", 4) >= 0);
	for (int i = 0; i < 100 && !pid; i++) { /* the line comes once it is bound */
		usleep(50000);
		pid = device_process("own device 1 of uid 0");
	}
	CHECK(guest_stays_within(pid, NODE_1));
	quoit_close(s, 0);
	stop();
	has_device = false;
}

static void where_no_core_of_its_node_may_be_used_memory_is_still_there(void)
{
	has_device = true;
	setenv("QUOIT_SOFT_ADDRESS", DEVICE_ADDRESS, 1);
	start(NULL, NODE_0, "2@0");
	CHECK(topology_says("node 1, by its PCI address; no core there may be used, its process "
			    "anywhere; sessions that ask for device memory elsewhere"));
	expect_session(0, 0, 0);
	stop();
	has_device = false;
}

static void a_call_goes_to_a_process_on_the_callers_node(void)
{
	static const unsigned cpus[2] = {1, 5};
	const char *wrong;

	start(NULL, 0, "2@0 6@1");
	wrong = calls_go_to_the_near_process(quoitd.socket, cpus);
	if (wrong)
		printf("  %s\n", wrong);
	CHECK(!wrong);
	stop();
}

static const struct test two_nodes[] = {
	{"each node has a reactor", each_node_has_a_reactor},
	{"a session lies on its client's node", a_session_lies_on_its_clients_node},
	{"a session lies on the node of a client that is hidden",
	 a_session_lies_on_the_node_of_a_client_that_is_hidden},
	{"an affinity mask is obeyed", an_affinity_mask_is_obeyed},
	{"a cpuset is obeyed", a_cpuset_is_obeyed},
	{"forbidden memory is taken from the other node",
	 forbidden_memory_is_taken_from_the_other_node},
	{"memory that is refused is said", refused_memory_is_said},
	{"a device has its process and its sessions on its node",
	 a_device_has_its_process_and_its_sessions_on_its_node},
	{"a device has its users' own processes on its node",
	 a_device_has_its_users_own_processes_on_its_node},
	{"where no core of its node may be used memory is still there",
	 where_no_core_of_its_node_may_be_used_memory_is_still_there},
	{"a call goes to a process on the caller's node",
	 a_call_goes_to_a_process_on_the_callers_node},
	{"memory is in huge pages where they are allowed",
	 memory_is_in_huge_pages_where_they_are_allowed},
	{"memory is in huge pages under \"never\", too", memory_is_in_huge_pages_under_never_too},
	{"huge pages that are forbidden are said to be missing",
	 forbidden_huge_pages_are_said_to_be_missing},
	{NULL},
};

/* ---- a node without memory ---- */

static void a_node_without_memory_takes_the_others(void)
{
	start(NULL, 0, "2@0 6@1");
	CHECK(topology_says("node 1: no memory, takes that of node 0"));
	expect_session(0, 0, 0);
	expect_session(4, 1, 0);
	CHECK(!daemon_log_count(&quoitd, "not bound", 0));
	stop();
}

static void a_tensor_with_a_name_that_breaks_ends_nothing(void)
{
	const char *wrong;

	start(NULL, 0, "2@0 6@1");
	wrong = broken_tensor_is_survived(quoitd.socket);
	is_skipped = wrong && !strcmp(wrong, BROKEN_NO_KERNEL);
	if (wrong)
		printf("  %s\n", wrong);
	CHECK(!wrong || is_skipped);
	stop();
}

static const struct test one_memory[] = {
	{"a node without memory takes the other's", a_node_without_memory_takes_the_others},
	{"a tensor with a name of which a page breaks ends nothing",
	 a_tensor_with_a_name_that_breaks_ends_nothing},
	{NULL},
};

/* ---- the program ---- */

static void play(const struct test *tests)
{
	unsigned passed = 0, failed = 0, skipped = 0;

	for (; tests->name; tests++) {
		is_bad = is_skipped = false;
		tests->run();
		printf("%s %s\n", is_bad ? "FAIL" : is_skipped ? "skip" : "ok  ", tests->name);
		fflush(stdout);
		passed += !is_bad && !is_skipped;
		failed += is_bad;
		skipped += !is_bad && is_skipped;
	}
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
}

int main(void)
{
	const char *machine = getenv("machine");
	int err = guest_boot();

	if (err)
		printf("FAIL boot: %s\n", strerror(-err));
	setenv("QUOIT_BUILD", "/", 1);
	if (!err)
		play(machine && !strcmp(machine, "one_memory") ? one_memory : two_nodes);
	guest_power_off();
}
