/* SPDX-License-Identifier: MIT */
/*
 * judge_measured.c - compare measurements with the values that such a machine should give.
 *
 * In a virtual machine the host decides when a CPU runs, so no measurement is a failure there.
 */
#include <stdio.h>

#include "judge.h"

static enum level at_worst(const struct judge_place *p, enum level level)
{
	return p->is_virtual && level == LEVEL_FAILURE ? LEVEL_WARNING : level;
}

/* ---- ring hop ---- */

/*
 * One way through a ring between two cores, in ns: 35 to 55 if they share a cache, 150 to 280 if
 * they do not (half of docs/performance.md's floor, near and far).  Between sockets about twice
 * that.  No cache takes more than 3 us: then the two threads were not running at the same time.
 */
#define HOP_NS       300
#define HOP_FAR_NS   600
#define HOP_WORST_NS 3000

void judge_hop(struct finding *f, const struct judge_place *p, double ns)
{
	double expected = p->distance > 10 ? HOP_FAR_NS : HOP_NS;

	finding_number(f, ns);
	if (ns <= expected) {
		finding_say(f, LEVEL_OK, "CPU %u to %u: %.0f ns one way (at most %.0f expected)",
			    p->from, p->to, ns, expected);
		return;
	}
	finding_say(f, at_worst(p, ns > HOP_WORST_NS ? LEVEL_FAILURE : LEVEL_WARNING),
		    "CPU %u to %u: %.0f ns one way, at most %.0f are expected", p->from, p->to, ns,
		    expected);
	if (ns > HOP_WORST_NS)
		finding_mend(f, "other programs, or the hypervisor, take these CPUs away meanwhile",
			     "ps -eo psr,pcpu,comm --sort=-pcpu | head  # shows what runs on these "
			     "CPUs");
	else
		finding_mend(
			f, "each submit and each completion takes longer by that",
			"lscpu -e=cpu,node,cache  # give quoitd cores that share a cache: --cpus");
}

/* ---- wake-up ---- */

/*
 * After 2 ms of sleep, from the waker's system call until the sleeper runs, in us.  Linux on bare
 * metal: 2 to 5, and with deep idle states the time that these take.  In a virtual machine 27 was
 * measured after such a sleep, p99 93, since the guest has to ask the host for a sleeping CPU.
 */
#define WAKE_US         20
#define WAKE_VIRTUAL_US 60
#define WAKE_WORST_US   1000

void judge_wake(struct finding *f, const struct judge_place *p, double median_us, double p99_us)
{
	double expected = p->is_virtual ? WAKE_VIRTUAL_US : WAKE_US;

	finding_number(f, median_us);
	if (median_us <= expected) {
		finding_say(f, LEVEL_OK,
			    "CPU %u wakes %u in %.1f us, p99 %.0f (at most %.0f expected)", p->from,
			    p->to, median_us, p99_us, expected);
		return;
	}
	finding_say(f, at_worst(p, median_us > WAKE_WORST_US ? LEVEL_FAILURE : LEVEL_WARNING),
		    "CPU %u wakes %u in %.1f us, p99 %.0f; at most %.0f are expected", p->from,
		    p->to, median_us, p99_us, expected);
	finding_mend(f, "a rare job waits for two wake-ups: of quoitd, and then of its client",
		     "quoit doctor governor idle-states virtual");
}

/* ---- memory ---- */

/*
 * GB/s that one core reads.  Server cores reach 10 to 25 from their own node; 5 is half of the
 * slowest (the build machine writes 7.8).  For another node's memory the firmware's distances
 * promise 10 / distance; half of that is enough.
 */
#define LEAST_GB_S 5

void judge_bandwidth(struct finding *f, const struct judge_place *p, double gb_s, double local)
{
	double expected = LEAST_GB_S;

	if (p->from != p->to)
		expected = (local > 0 ? local : LEAST_GB_S) * 10 / p->distance / 2;
	finding_number(f, gb_s);
	if (gb_s >= expected) {
		finding_say(
			f, LEVEL_OK,
			"a core of node %u reads %.1f GB/s from node %u (at least %.1f expected)",
			p->from, gb_s, p->to, expected);
		return;
	}
	finding_say(f, at_worst(p, gb_s < expected / 4 ? LEVEL_FAILURE : LEVEL_WARNING),
		    "a core of node %u reads %.1f GB/s from node %u, at least %.1f are expected",
		    p->from, gb_s, p->to, expected);
	finding_mend(f, "operations on large tensors are as slow as memory is",
		     p->from == p->to
			     ? "sudo dmidecode -t memory  # each channel should have a module"
			     : "numactl --hardware  # keep sessions on one node");
}

/* ---- a device ---- */

/*
 * One small job, there and back.  A launch takes 4 to 6 us, and waiting for it 3 (measured by
 * others on an H100); the way through quoitd and its device's process should take at most half of
 * that in addition.  Twice as much is allowed.
 */
#define LAUNCH_US 30

void judge_launch(struct finding *f, bool is_soft, double us)
{
	finding_number(f, us);
	if (is_soft)
		finding_say(f, LEVEL_OK, "a small job on the soft device takes %.1f us", us);
	else if (us <= LAUNCH_US)
		finding_say(f, LEVEL_OK,
			    "a small job on device 1 takes %.1f us (at most %d expected)", us,
			    LAUNCH_US);
	else
		finding_say(f, LEVEL_WARNING,
			    "a small job on device 1 takes %.1f us, at most %d are expected", us,
			    LAUNCH_US);
	if (f->level != LEVEL_OK)
		finding_mend(f, "small jobs wait for the driver, or for a GPU that saves power",
			     "sudo nvidia-smi -pm 1");
}

/* PCIe carries about 85 % of its raw rate; a healthy link gives at least 70 %. */
void judge_transfer(struct finding *f, bool is_soft, const char *way, double gb_s, double link_gb_s)
{
	double expected = 0.7 * link_gb_s;

	finding_number(f, gb_s);
	if (is_soft || link_gb_s <= 0) {
		finding_say(f, LEVEL_OK, "copies %s a device: %.1f GB/s", way, gb_s);
		return;
	}
	finding_say(f, gb_s >= expected ? LEVEL_OK : LEVEL_WARNING,
		    "copies %s a device: %.1f GB/s, at least %.1f are expected of its link", way,
		    gb_s, expected);
	if (gb_s < expected)
		finding_mend(
			f, "every copy between host and device takes longer by that",
			"quoit doctor link memlock; quoit topo  # the session should be on the "
			"device's node");
}
