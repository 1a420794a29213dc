/* SPDX-License-Identifier: MIT */
/* pci.h - find NVIDIA's GPUs on PCI in /sys */
#ifndef QUOIT_TOOLS_DOCTOR_PCI_H
#define QUOIT_TOOLS_DOCTOR_PCI_H

#define PCI_GPUS 32

struct pci_gpu {
	char address[32];
	char module[32];            /* its driver: "nvidia"; empty: it has none */
	unsigned lanes, most_lanes; /* of its link; 0: not known */
	double gb_s;                /* of its link at the highest rate; 0: not known */
};

/* How many GPUs there are; only the first PCI_GPUS are described. */
unsigned pci_find_gpus(int root, struct pci_gpu ret[PCI_GPUS]);

#endif
