/* SPDX-License-Identifier: MIT */
/*
 * check_device.c - measure a device through quoitd, as programs use it.
 *
 * Uses the running quoitd if it has a device.  Otherwise starts one, if there is an NVIDIA driver
 * or $QUOIT_GPU names another kind.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "checks.h"
#include "launch/private_daemon.h"
#include "measure.h"
#include "pci.h"
#include "tree.h"

static void judge_all(struct examination *e, const struct measure_device *m, bool is_soft)
{
	struct pci_gpu gpu[PCI_GPUS];
	unsigned gpus = pci_find_gpus(e->root, gpu);
	double link = gpus ? gpu[0].gb_s : 0;

	/* If GPUs differ, it is not known here which one is device 1. */
	for (unsigned i = 1; i < gpus; i++)
		link = gpu[i].gb_s < link ? gpu[i].gb_s : link;
	judge_launch(examination_add(e), is_soft, m->job_us);
	judge_transfer(examination_add(e), is_soft, "to", m->in_gb_s, link);
	judge_transfer(examination_add(e), is_soft, "from", m->out_gb_s, link);
}

static void measure_through(struct examination *e, const char *socket, bool is_soft)
{
	struct measure_device m;
	int err = measure_device(socket, &m);
	struct finding *f;

	if (!err) {
		judge_all(e, &m, is_soft);
		return;
	}
	f = examination_add(e);
	if (err == -EDQUOT || err == -EACCES || err == -ENOMEM) {
		finding_say(f, LEVEL_NOTE, "not measured: %s", m.text);
		return;
	}
	finding_say(f, LEVEL_FAILURE, "device 1 does no job: %.150s", m.text);
	finding_mend(f, "programs that use the device fail",
		     "quoit doctor driver device-files; quoit topo");
}

static void measure_privately(struct examination *e, const char *kind)
{
	struct private_daemon daemon = {0};
	char option[80];
	const char *const options[] = {option, NULL};

	snprintf(option, sizeof option, "--gpu=%s", kind);
	if (private_daemon_start(&daemon, options)) {
		finding_say(examination_add(e), LEVEL_NOTE,
			    "not measured: no private quoitd could be started");
		return;
	}
	measure_through(e, daemon.socket, !strncmp(kind, "soft", 4));
	private_daemon_stop(&daemon);
}

void check_device(struct examination *e)
{
	const char *kind = getenv("QUOIT_GPU"), *device = NULL;
	char line[256];

	if (e->running.has_text)
		device = tree_behind(e->running.text, "device 1: ");
	if (!e->live)
		finding_say(examination_add(e), LEVEL_NOTE,
			    "not measured: this is another machine's");
	else if (e->measure_until > 0 && bench_now() > e->measure_until)
		finding_say(examination_add(e), LEVEL_NOTE,
			    "not measured: measuring has taken long enough");
	else if (e->running.state == RUNNING_WELL && device)
		measure_through(e, e->running.socket, !strncmp(device, "soft", 4));
	else if (kind && *kind && strcmp(kind, "none") != 0)
		measure_privately(e, kind);
	else if (tree_line(e->root, line, sizeof line, "proc/driver/nvidia/version") &&
		 check_has_device_files(e))
		measure_privately(e, "cuda");
	else
		finding_say(
			examination_add(e), LEVEL_NOTE,
			"not measured: no NVIDIA driver is loaded, or this user may use no GPU");
}
