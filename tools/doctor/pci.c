/* SPDX-License-Identifier: MIT */
/* pci.c - find NVIDIA's GPUs on PCI in /sys */
#include "pci.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tree.h"

#define DEVICES "sys/bus/pci/devices"

static unsigned hexadecimal(int root, const char *address, const char *name)
{
	char line[32];

	if (!tree_line(root, line, sizeof line, DEVICES "/%s/%s", address, name))
		return 0;
	return (unsigned)strtoul(line, NULL, 16);
}

/* Class 0x0300xx is a display adapter, 0x0302xx a 3D controller. */
static bool is_gpu(int root, const char *address)
{
	unsigned class = hexadecimal(root, address, "class") >> 8;

	return (class == 0x0300 || class == 0x0302) &&
	       hexadecimal(root, address, "vendor") == 0x10de;
}

static unsigned lanes(int root, const char *address, const char *name)
{
	uint64_t n;

	return tree_number(root, &n, DEVICES "/%s/%s", address, name) && n <= 64 ? (unsigned)n : 0;
}

/*
 * "16.0 GT/s PCIe": a transfer is one bit on one lane.  Up to 5 GT/s two of ten bits are overhead.
 */
static double rate_of_lane(int root, const char *address)
{
	char line[64];
	double rate;

	if (!tree_line(root, line, sizeof line, DEVICES "/%s/max_link_speed", address) ||
	    sscanf(line, "%lf GT/s", &rate) != 1 || !(rate > 0 && rate < 1000))
		return 0;
	return rate / 8 * (rate < 6 ? 8.0 / 10 : 128.0 / 130);
}

static void read_module(int root, const char *address, struct pci_gpu *gpu)
{
	char path[PATH_MAX], to[PATH_MAX];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof path, DEVICES "/%s/driver", address);
	n = readlinkat(root, path, to, sizeof to - 1);
	to[n < 0 ? 0 : n] = '\0';
	name = strrchr(to, '/');
	snprintf(gpu->module, sizeof gpu->module, "%.*s", (int)sizeof gpu->module - 1,
		 name ? name + 1 : to);
}

static void read_gpu(int root, const char *address, struct pci_gpu *gpu)
{
	*gpu = (struct pci_gpu){.lanes = lanes(root, address, "current_link_width"),
				.most_lanes = lanes(root, address, "max_link_width")};
	snprintf(gpu->address, sizeof gpu->address, "%s", address);
	gpu->gb_s = gpu->lanes * rate_of_lane(root, address);
	read_module(root, address, gpu);
}

unsigned pci_find_gpus(int root, struct pci_gpu ret[PCI_GPUS])
{
	int fd = openat(root, DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	unsigned count = 0;

	while (directory && count < PCI_GPUS && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && strlen(entry->d_name) < sizeof ret->address &&
		    is_gpu(root, entry->d_name))
			read_gpu(root, entry->d_name, &ret[count++]);
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	return count;
}
