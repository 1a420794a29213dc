/* SPDX-License-Identifier: MIT */
/* peer_python.c - time NumPy and PyTorch, if they are installed */
#include "peer_python.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor_process.h"

#define PYTHON      "/usr/bin/python3"
#define NOT_THERE   77
#define CANNOT_EXEC 126
#define IMPORT(module)                                                                             \
	"import sys, time\ntry:\n import " module "\nexcept ImportError:\n sys.exit(77)\n"
#define TIME(setup, work, count, report)                                                           \
	setup "\n"                                                                                 \
	      "def run(n):\n t = time.perf_counter()\n for _ in range(n):\n  " work                \
	      "\n return (time.perf_counter() - t) / n\n"                                          \
	      "run(" count " // 10)\nprint('{\"" report ": %.6f}' % "

static const struct {
	const char *library, *work, *program;
} programs[] = {
	{"numpy", "add",
	 IMPORT("numpy") TIME("x = numpy.ones((1, 2), numpy.float32)", "y = x + 1", "100000",
			      "ns\"") "(run(100000) * 1e9))"},
	{"torch", "add",
	 IMPORT("torch") TIME("torch.set_num_threads(1)\nx = torch.ones(1, 2)", "y = x + 1",
			      "100000", "ns\"") "(run(100000) * 1e9))"},
	{"numpy", "normal",
	 IMPORT("numpy") TIME("g = numpy.random.default_rng(1)\n"
			      "x = numpy.empty(1000000, numpy.float32)",
			      "g.standard_normal(dtype=numpy.float32, out=x)", "30",
			      "mrate\"") "(1 / run(30)))"},
	{"torch", "normal",
	 IMPORT("torch") TIME("torch.set_num_threads(1)\nx = torch.empty(1000000)", "x.normal_()",
			      "30", "mrate\"") "(1 / run(30)))"},
};

static int run_program(const char *program, int cpu)
{
	cpu_set_t before;
	pid_t pid;
	int status, err = floor_pin(cpu, &before);

	if (err < 0)
		return err;
	pid = fork();
	if (pid == 0) {
		execl(PYTHON, PYTHON, "-c", program, (char *)NULL);
		_exit(errno == ENOENT ? NOT_THERE : CANNOT_EXEC);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE)
		return -ENOTSUP;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

int peer_python_run(const char *library, const char *work, int cpu)
{
	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
		if (!strcmp(library, programs[i].library) && !strcmp(work, programs[i].work))
			return run_program(programs[i].program, cpu);
	return -EINVAL;
}
