/* SPDX-License-Identifier: MIT */
/* pci.h - NVIDIA's GPUs on PCI, as /sys has them */
#ifndef QUOIT_TOOLS_DOCTOR_PCI_H
#define QUOIT_TOOLS_DOCTOR_PCI_H

#define PCI_GPUS 32

struct pci_gpu {
	char address[32];
	char module[32];            /* who drives it: "nvidia"; empty: nobody */
	unsigned lanes, most_lanes; /* of its link; 0: not known */
	double gb_s;                /* that its link carries at its highest rate; 0: not known */
};

/* How many there are; of more than PCI_GPUS the others are not looked at. */
unsigned pci_find_gpus(int root, struct pci_gpu ret[PCI_GPUS]);

#endif
