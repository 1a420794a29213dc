/* SPDX-License-Identifier: MIT */
/* check_nvidia.c - check NVIDIA's GPUs, their driver, its files, and MPS */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks.h"
#include "launch/private_daemon.h"
#include "pci.h"
#include "tree.h"

#define VERSION_FILE "proc/driver/nvidia/version"
#define CUDA_OBJECT  "quoit-cuda.so"
#define MOST_DEVICES 32

static bool has_driver(const struct examination *e)
{
	char line[256];

	return tree_line(e->root, line, sizeof line, VERSION_FILE);
}

/* ---- driver ---- */

/* quoit-exec looks beside itself, and in the installed folder. */
static void check_object(struct examination *e)
{
	char beside[PATH_MAX];
	struct finding *f;

	if (private_daemon_beside(CUDA_OBJECT, beside))
		return;
	f = examination_add(e);
	finding_say(f, LEVEL_FAILURE, "Quoit has no " CUDA_OBJECT);
	finding_mend(f, "Quoit was built without CUDA: quoitd finds no device",
		     "make NVCC=/usr/local/cuda/bin/nvcc && sudo make install");
}

void check_driver(struct examination *e)
{
	struct pci_gpu gpu[PCI_GPUS];
	unsigned gpus = pci_find_gpus(e->root, gpu);
	struct finding *f = examination_add(e);
	char line[256];

	if (!has_driver(e) && faccessat(e->root, "dev/dxg", F_OK, 0) == 0) {
		finding_say(f, LEVEL_OK, "a GPU of the Windows below (/dev/dxg)");
		return;
	}
	if (!tree_line(e->root, line, sizeof line, VERSION_FILE)) {
		judge_driver(f, gpus, gpus && *gpu[0].module ? gpu[0].module : NULL, NULL);
		return;
	}
	judge_driver(f, gpus, NULL, line);
	if (e->live && e->running.state == RUNNING_NOT && check_has_device_files(e))
		check_object(e);
}

/* ---- files ---- */

static void look(const struct examination *e, const char *path, struct judge_file *ret)
{
	struct stat st;

	*ret = (struct judge_file){.path = path};
	if (fstatat(e->root, path + 1, &st, 0) < 0) {
		ret->err = -errno;
		return;
	}
	ret->is_device = S_ISCHR(st.st_mode);
	ret->mode = st.st_mode;
	ret->uid = st.st_uid;
	ret->gid = st.st_gid;
}

bool check_has_device_files(const struct examination *e)
{
	struct stat st;
	char path[32];

	for (unsigned i = 0; i < MOST_DEVICES; i++) {
		snprintf(path, sizeof path, "dev/nvidia%u", i);
		if (fstatat(e->root, path, &st, 0) == 0)
			return true;
	}
	return fstatat(e->root, "dev/nvidiactl", &st, 0) == 0 ||
	       fstatat(e->root, "dev/nvidia-uvm", &st, 0) == 0;
}

static void check_file(struct examination *e, const char *path)
{
	struct judge_file file;

	look(e, path, &file);
	judge_device_file(examination_add(e), &file, &e->subject);
}

/*
 * A container may have been given only some files.  If there are none at all, that is said of the
 * first one.
 */
void check_device_files(struct examination *e)
{
	unsigned found = 0;

	if (!has_driver(e))
		return;
	if (!check_has_device_files(e)) {
		judge_no_device_files(examination_add(e));
		return;
	}
	check_file(e, "/dev/nvidiactl");
	check_file(e, "/dev/nvidia-uvm");
	for (unsigned i = 0; i < MOST_DEVICES; i++) {
		char path[32];
		struct judge_file file;

		snprintf(path, sizeof path, "/dev/nvidia%u", i);
		look(e, path, &file);
		if (file.err)
			continue;
		found++;
		judge_device_file(examination_add(e), &file, &e->subject);
	}
	if (!found)
		check_file(e, "/dev/nvidia0");
}

/* ---- link and MPS ---- */

void check_link(struct examination *e)
{
	struct pci_gpu gpu[PCI_GPUS];
	unsigned gpus = pci_find_gpus(e->root, gpu);

	for (unsigned i = 0; i < gpus; i++)
		judge_link(examination_add(e), gpu[i].address, gpu[i].lanes, gpu[i].most_lanes);
}

/* The control daemon writes its PID there; the process's name tells whether it still lives. */
static uint64_t control_daemon(const struct examination *e, const char *folder)
{
	char name[32];
	uint64_t pid;

	if (!tree_number(e->root, &pid, "%s/nvidia-cuda-mps-control.pid", folder + 1) ||
	    !tree_line(e->root, name, sizeof name, "proc/%llu/comm", (unsigned long long)pid) ||
	    strncmp(name, "nvidia-cuda-mps", 15) != 0)
		return 0;
	return pid;
}

void check_mps(struct examination *e)
{
	char folder[200] = "";
	struct stat st;

	if (!has_driver(e))
		return;
	if (!subject_variable(e->root, &e->subject, "CUDA_MPS_PIPE_DIRECTORY", folder,
			      sizeof folder) ||
	    *folder != '/')
		snprintf(folder, sizeof folder, "/tmp/nvidia-mps");
	judge_mps(examination_add(e), folder, fstatat(e->root, folder + 1, &st, 0) == 0,
		  control_daemon(e, folder));
}
