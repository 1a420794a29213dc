/* SPDX-License-Identifier: MIT */
/* judge_nvidia.c - judge an NVIDIA driver, its files and MPS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "judge.h"

/*
 * The least major version of the driver that the runtime in quoit-cuda.so needs (CUDA's release
 * notes, minor version compatibility): 525 for CUDA 12, the oldest that Quoit is built with, 580
 * for 13.
 */
#define LEAST_DRIVER  525
#define LATEST_DRIVER 580

/* Find the word like 570.86 in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  ...". */
static unsigned find_version(const char *line, char *ret, size_t size)
{
	for (const char *at = line; *at; at += strspn(at, " \t")) {
		size_t n = strcspn(at, " \t"), digits = strspn(at, "0123456789");

		if (digits && digits < 5 && at[digits] == '.') {
			snprintf(ret, size, "%.*s", (int)n, at);
			return (unsigned)strtoul(at, NULL, 10);
		}
		at += n;
	}
	return 0;
}

static void judge_no_driver(struct finding *f, unsigned gpus, const char *module)
{
	static const char why[] = "quoitd finds no device";

	if (module && !strcmp(module, "nouveau")) {
		finding_say(f, LEVEL_FAILURE, "%u NVIDIA GPU%s, driven by nouveau", gpus,
			    gpus > 1 ? "s" : "");
		finding_mend(
			f, why,
			"echo blacklist nouveau | sudo tee /etc/modprobe.d/nouveau.conf  # then: "
			"update-initramfs -u or the like, install NVIDIA's driver, start the "
			"machine anew");
	} else if (module && !strcmp(module, "vfio-pci")) {
		finding_say(f, LEVEL_NOTE, "%u NVIDIA GPU%s, kept for virtual machines (vfio-pci)",
			    gpus, gpus > 1 ? "s" : "");
	} else {
		finding_say(f, LEVEL_FAILURE, "%u NVIDIA GPU%s, and no driver is loaded", gpus,
			    gpus > 1 ? "s" : "");
		finding_mend(
			f, why,
			"sudo modprobe nvidia  # if that module is not there: install NVIDIA's "
			"driver");
	}
}

void judge_driver(struct finding *f, unsigned gpus, const char *module, const char *version)
{
	char number[32];
	unsigned major;

	if (!version) {
		if (gpus)
			judge_no_driver(f, gpus, module);
		else
			finding_say(f, LEVEL_OK, "no NVIDIA GPU and no driver");
		return;
	}
	major = find_version(version, number, sizeof number);
	finding_word(f, major ? number : "");
	if (!major) {
		finding_say(f, LEVEL_NOTE, "an NVIDIA driver of unknown version");
	} else if (major < LEAST_DRIVER) {
		finding_say(f, LEVEL_FAILURE, "NVIDIA driver %s", number);
		finding_mend(f, "quoit-cuda.so needs 525 or later: quoitd finds no device",
			     "# install NVIDIA's driver of version 525 or later");
	} else if (major < LATEST_DRIVER) {
		finding_say(f, LEVEL_OK,
			    "NVIDIA driver %s: enough where Quoit was built with CUDA 12 (13: 580)",
			    number);
	} else {
		finding_say(f, LEVEL_OK, "NVIDIA driver %s", number);
	}
}

/* A container sees the machine's driver, but only the files that it was given. */
void judge_no_device_files(struct finding *f)
{
	finding_say(f, LEVEL_NOTE,
		    "a driver is loaded, but there is no /dev/nvidia*: this may be a container "
		    "without a GPU");
	finding_mend(f, "quoitd finds no device",
		     "sudo nvidia-modprobe -c 255 -c 0 && sudo nvidia-modprobe -u -c 0  # on the "
		     "machine; a container is given them at its start");
}

/*
 * nvidia-modprobe makes a file by its minor number: a GPU's own, or 255 for /dev/nvidiactl.  With
 * -u it makes the files of nvidia-uvm instead.
 */
static const char *making(const char *path, char option[16])
{
	static const char before[] = "/dev/nvidia";
	const char *number =
		strncmp(path, before, sizeof before - 1) ? "" : path + sizeof before - 1;

	if (!strcmp(number, "-uvm"))
		return "-u -c 0";
	snprintf(option, 16, "-c %lu", *number == 'c' ? 255 : strtoul(number, NULL, 10));
	return option;
}

void judge_device_file(struct finding *f, const struct judge_file *file, const struct subject *s)
{
	static const char why[] = "the device's process cannot open it: quoitd has no device";
	char option[16];

	finding_word(f, file->path);
	if (file->err) {
		finding_say(f, LEVEL_FAILURE, "%s is not there", file->path);
		finding_mend(f, why, "sudo nvidia-modprobe %s", making(file->path, option));
	} else if (!file->is_device) {
		finding_say(f, LEVEL_FAILURE, "%s is no device file", file->path);
		finding_mend(f, why, "sudo rm %s && sudo nvidia-modprobe %s", file->path,
			     making(file->path, option));
	} else if (!s->known) {
		finding_say(f, LEVEL_NOTE, "%s is there; quoitd's user is not known", file->path);
	} else if (subject_may_use(s, file->mode, file->uid, file->gid)) {
		finding_say(f, LEVEL_OK, "%s may be used", file->path);
	} else if ((file->mode & (S_IRGRP | S_IWGRP)) == (S_IRGRP | S_IWGRP) && file->gid) {
		finding_say(f, LEVEL_FAILURE, "%s is for group %u, and user %u is not in it",
			    file->path, file->gid, s->uid);
		finding_mend(
			f, why,
			"sudo usermod -aG \"$(getent group %u | cut -d: -f1)\" \"$(id -un %u)\"  # "
			"then start quoitd anew",
			file->gid, s->uid);
	} else {
		finding_say(f, LEVEL_FAILURE, "%s may not be used by user %u (mode %03o)",
			    file->path, s->uid, (unsigned)file->mode & 0777);
		finding_mend(f, why, "sudo chmod 0666 %s", file->path);
	}
}

/*
 * The width is that of the slot at all times.  The rate is not judged, since an idle link lowers
 * it.
 */
void judge_link(struct finding *f, const char *address, unsigned lanes, unsigned most_lanes)
{
	finding_number(f, lanes);
	if (!lanes || !most_lanes || lanes >= most_lanes) {
		finding_say(f, LEVEL_OK, "GPU %s has all lanes of its link (%u)", address, lanes);
		return;
	}
	finding_say(f, LEVEL_WARNING, "GPU %s has %u of %u lanes", address, lanes, most_lanes);
	finding_mend(f, "copies from and to the host are slower by that",
		     "sudo lspci -vv -s %s | grep Lnk  # another slot may have more lanes",
		     finding_is_plain(address) ? address : "ADDRESS");
}

/* NVIDIA's MPS guide: a fatal fault is reported to all clients on the GPU. */
void judge_mps(struct finding *f, const char *folder, bool has_folder, uint64_t process)
{
	finding_word(f, process ? folder : "");
	if (process) {
		finding_say(f, LEVEL_WARNING, "MPS runs (process %llu, %s)",
			    (unsigned long long)process, folder);
		finding_mend(
			f,
			"a fault of one client of MPS ends the work of all: users' kernels are no "
			"longer kept apart",
			"echo quit | CUDA_MPS_PIPE_DIRECTORY=%s nvidia-cuda-mps-control  # ends "
			"the work of all that use MPS: ask them",
			finding_is_plain(folder) ? folder : "FOLDER");
	} else if (has_folder) {
		finding_say(f, LEVEL_NOTE, "MPS has left %s behind, and does not run", folder);
	} else {
		finding_say(f, LEVEL_OK, "MPS does not run: processes take turns at the GPU");
	}
}
