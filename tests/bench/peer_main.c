/* SPDX-License-Identifier: MIT */
/*
 * peer_main.c - quoit-peer: measure the floor of the hardware, or a peer, once.
 *
 * Usage: quoit-peer CLIENT-CPU SERVER-CPU WHAT [ARGUMENT...].  Prints one JSON object on
 * one line; `quoit bench` runs it between measurements of its own.  Exit status 77: the
 * peer is not installed, or the kernel refuses it.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quoit/descriptors.h>

#include "barriers.h"
#include "floor.h"
#include "floor_process.h"
#include "handover.h"
#include "messages.h"
#include "peer_blas.h"
#include "peer_device.h"
#include "peer_hypot.h"
#include "peer_ops.h"
#include "peer_python.h"
#include "sqpoll.h"

enum { STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_NOT_HERE = 77 };

#define WRITE_SLOTS 1024u

struct cpus {
	int client, server;
};

static int print_requests(int err, const struct floor_result *r)
{
	if (!err)
		printf("{\"ns\": %.3f, \"mrate\": %.6f}\n", r->ns, r->rate / 1e6);
	return err;
}

static struct floor_params params_of(struct cpus cpus, const char *depth, const char *requests)
{
	return (struct floor_params){.depth = (uint32_t)strtoul(depth, NULL, 10),
				     .requests = strtoull(requests, NULL, 10),
				     .client_cpu = cpus.client,
				     .server_cpu = cpus.server};
}

static int run_floor(struct cpus cpus, char **argv)
{
	struct floor_params p = params_of(cpus, argv[0], argv[1]);
	struct floor_result r;
	int err = floor_run(&p, &r);

	return print_requests(err, &r);
}

static int run_write(struct cpus cpus, char **argv)
{
	struct floor_params p = params_of(cpus, "0", argv[0]);
	struct floor_result r;
	int err;

	p.depth = WRITE_SLOTS;
	err = floor_write(&p, &r);
	return print_requests(err, &r);
}

/* -ENOTSUP where the kernel refuses io_uring. */
static int run_sqpoll(struct cpus cpus, char **argv)
{
	struct floor_params p = params_of(cpus, argv[0], argv[1]);
	struct floor_result r;
	int err = sqpoll_run(&p, &r);

	if (err == -ENOSYS || err == -EPERM)
		err = -ENOTSUP;
	return print_requests(err, &r);
}

static int run_gemm(struct cpus cpus, char **argv)
{
	int threads = atoi(argv[1]);
	int cpu[2] = {cpus.server, cpus.client};
	struct peer_blas_product product;
	struct peer_blas_result best;
	int err = -EINVAL;

	if (peer_blas_parse(argv[0], &product))
		err = peer_blas_best(&product, threads, (unsigned)atoi(argv[2]), cpu, &best);
	if (!err)
		printf("{\"gflops\": %.3f, \"us\": %.3f, \"library\": \"%s\"}\n", best.gflops,
		       best.seconds * 1e6, best.name);
	return err;
}

static int run_loop(struct cpus cpus, char **argv)
{
	cpu_set_t before;
	double ns;
	int err = floor_pin(cpus.server, &before);

	if (!err)
		err = peer_ops_run(argv[0], &ns);
	if (!err)
		printf("{\"us\": %.3f}\n", ns / 1e3);
	return err;
}

static int run_handover(struct cpus cpus, char **argv)
{
	double ns;
	int err = handover_run(cpus.client, cpus.server, strtoull(argv[0], NULL, 10), &ns);

	if (!err)
		printf("{\"ns\": %.3f}\n", ns);
	return err;
}

static int run_barriers(struct cpus cpus, char **argv)
{
	const int cpu[2] = {cpus.server, cpus.client};
	double ns;
	int err = barriers_run(cpu, (unsigned)strtoul(argv[0], NULL, 10),
			       strtoull(argv[1], NULL, 10), &ns);

	if (!err)
		printf("{\"us\": %.3f}\n", ns / 1e3);
	return err;
}

typedef int messages_fn(const int cpu[2], size_t size, uint64_t count, struct messages_times *ret);

/* A peer compares at its best, so the figure is the shorter time. */
static int run_messages(struct cpus cpus, char **argv, messages_fn *by)
{
	const int cpu[2] = {cpus.client, cpus.server};
	struct messages_times t;
	int err = by(cpu, (size_t)strtoull(argv[0], NULL, 10), strtoull(argv[1], NULL, 10), &t);
	double ns;

	if (err)
		return err;
	ns = t.together_ns < t.apart_ns ? t.together_ns : t.apart_ns;
	printf("{\"ns\": %.3f, \"us\": %.3f, \"together_ns\": %.3f, \"apart_ns\": %.3f}\n", ns,
	       ns / 1e3, t.together_ns, t.apart_ns);
	return 0;
}

static int run_pipe(struct cpus cpus, char **argv)
{
	return run_messages(cpus, argv, messages_by_pipe);
}

static int run_mq(struct cpus cpus, char **argv)
{
	return run_messages(cpus, argv, messages_by_mq);
}

static int run_hypot(struct cpus cpus, char **argv)
{
	const int cpu[2] = {cpus.server, cpus.client};
	double ns;
	int err = peer_hypot_run(cpu, strtoull(argv[0], NULL, 10), &ns);

	if (!err)
		printf("{\"us\": %.3f}\n", ns / 1e3);
	return err;
}

static int run_numpy(struct cpus cpus, char **argv)
{
	return peer_python_run("numpy", argv[0], cpus.server);
}

static int run_torch(struct cpus cpus, char **argv)
{
	return peer_python_run("torch", argv[0], cpus.server);
}

/* On a GPU the peer is CUDA itself: a program beside this one, if it could be built. */
static int run_cuda(char **argv)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof "-cuda");

	if (n < 0)
		return -errno;
	memcpy(path + n, "-cuda", sizeof "-cuda");
	execl(path, "quoit-peer-cuda", argv[0], argv[1], argv[2], (char *)NULL);
	return errno == ENOENT ? -ENOTSUP : -errno;
}

/* A soft device is only for trying this out: it makes a part of the products. */
static uint64_t count_of(const char *kind, enum peer_device_work work, const char *given)
{
	const uint64_t count = strtoull(given, NULL, 10);
	const bool gemm = work == PEER_DEVICE_GEMM || work == PEER_DEVICE_BF16;

	return gemm && !strncmp(kind, "soft", 4) ? count / PEER_DEVICE_SOFT_PART + 1 : count;
}

static int run_device(struct cpus cpus, char **argv)
{
	static const char *const works[] = {
		[PEER_DEVICE_ADD] = "add",   [PEER_DEVICE_CHAIN] = "chain",
		[PEER_DEVICE_GEMM] = "gemm", [PEER_DEVICE_BF16] = "gemm_bf16",
		[PEER_DEVICE_IN] = "in",     [PEER_DEVICE_OUT] = "out",
		[PEER_DEVICE_SYNC] = "sync", [PEER_DEVICE_LEAVE] = "leave",
		[PEER_DEVICE_RING] = "ring"};
	const char *kind = getenv("QUOIT_GPU") ? getenv("QUOIT_GPU") : "soft";
	unsigned work = 0;
	cpu_set_t set;
	char name[16];
	double ns;
	int err;

	/* Our parent has pinned us; a soft device's threads need a core on which we do not spin. */
	CPU_ZERO(&set);
	CPU_SET(cpus.client, &set);
	CPU_SET(cpus.server, &set);
	(void)sched_setaffinity(0, sizeof set, &set);
	while (work < sizeof works / sizeof works[0] && strcmp(works[work], argv[0]))
		work++;
	if (work == sizeof works / sizeof works[0])
		return -EINVAL;
	/* Only the device layer has consumers. */
	if (!strcmp(kind, "cuda") && work != PEER_DEVICE_LEAVE && work != PEER_DEVICE_RING)
		return run_cuda(argv);
	snprintf(name, sizeof name, "%.4s:0", kind);
	err = peer_device_run(name, (enum peer_device_work)work, strtoull(argv[1], NULL, 10),
			      count_of(kind, (enum peer_device_work)work, argv[2]), &ns);
	if (!err)
		printf("{\"ns\": %.3f}\n", ns);
	return err;
}

static const struct {
	const char *name;
	int arguments;
	int (*run)(struct cpus cpus, char **argv);
	const char *usage;
} peers[] = {
	{"floor", 2, run_floor, "DEPTH REQUESTS      bare rings between two processes"},
	{"write", 1, run_write, "ITEMS               64-byte writes one way, 32 a flush"},
	{"sqpoll", 2, run_sqpoll,
	 "DEPTH REQUESTS      io_uring's NOP with a polling kernel thread"},
	{"gemm", 3, run_gemm,
	 "TYPE:MxNxK THREADS COUNT   the best BLAS called directly; TYPE: f32 or f64"},
	{"loop", 1, run_loop, "NAME                an operation as a loop in C, on one thread"},
	{"barriers", 2, run_barriers,
	 "PROCESSES ROUNDS    processes that meet at a barrier of POSIX threads"},
	{"handover", 1, run_handover,
	 "TURNS               two processes that wake each other by futexes"},
	{"pipe", 2, run_pipe, "SIZE COUNT          messages to another process by a pipe"},
	{"mq", 2, run_mq, "SIZE COUNT          the same by a POSIX message queue"},
	{"hypot", 1, run_hypot,
	 "COUNT               hypot of 10^6 numbers by OpenMP, on two cores"},
	{"numpy", 1, run_numpy, "add|normal          NumPy of /usr/bin/python3"},
	{"device", 3, run_device,
	 "add|chain|gemm|gemm_bf16|in|out|sync|leave|ring SIZE COUNT   the device of $QUOIT_GPU"},
	{"torch", 1, run_torch, "add|normal          PyTorch of /usr/bin/python3"},
};

#define PEERS (sizeof peers / sizeof peers[0])

static void usage(FILE *out)
{
	fprintf(out, "usage: quoit-peer CLIENT-CPU SERVER-CPU WHAT\n\n");
	for (size_t i = 0; i < PEERS; i++)
		fprintf(out, "  %-7s %s\n", peers[i].name, peers[i].usage);
}

int main(int argc, char **argv)
{
	quoit_descriptors_open_standard();
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return 0;
	}
	if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		printf("quoit-peer %s\n", QUOIT_VERSION);
		return 0;
	}
	for (size_t i = 0; argc > 3 && i < PEERS; i++) {
		struct cpus cpus = {.client = atoi(argv[1]), .server = atoi(argv[2])};
		int err;

		if (strcmp(argv[3], peers[i].name) || argc - 4 != peers[i].arguments)
			continue;
		err = peers[i].run(cpus, argv + 4);
		if (err)
			fprintf(stderr, "quoit-peer: %s: %s\n", argv[3],
				err == -ENOTSUP
					? "it is not installed here, or the kernel refuses it"
					: strerror(-err));
		return !err ? 0 : err == -ENOTSUP ? STATUS_NOT_HERE : STATUS_FAILED;
	}
	usage(stderr);
	return STATUS_USAGE;
}
