/* SPDX-License-Identifier: MIT */
/*
 * soft.h - the soft device: host threads with a GPU's semantics.
 *
 * It is for people without a GPU, and for tests.  Each stream has a thread, which works in order.
 * A device address means nothing to the host.  An address that is not allocated breaks the
 * context when the work runs, not when it is put into the stream.
 *
 * Operations are the CPU's own (daemon/ops), so results have the same bits.  GEMM is the one that
 * quoitd has chosen if this process has adopted it (ops_adopt), else the built-in one.
 *
 * A stream has room for SOFT_ENTRIES entries.  copy, clear, run, signal, stamp, launch,
 * event_record and stream_wait take one each, and return -EAGAIN when the stream is full.
 *
 * A module's image is the text "soft", or begins with "soft:"; none of it is run.  Every module
 * has these kernels.  They do all their work whatever the grid, with arguments in this order:
 *
 *   stencil5  out, in (addresses), rows, cols (uint32): of float32, row by row, an element is
 *             0.2 (itself + above + below + left + right); elements at the edge are copied
 *   saxpy     n (uint32), a (float32), x, y (addresses): y = a x + y, float32
 *   spin      ns (uint64): takes this long; UINT64_MAX: for ever
 *
 * The environment is read at count and open:
 *
 *   QUOIT_SOFT_DEVICES  how many there are, up to 8; 1
 *   QUOIT_SOFT_BYTES    memory of each, with K, M or G; 1G or a quarter of the machine's
 *   QUOIT_SOFT_ADDRESS  for tests: the PCI address that the first one says it has
 *   QUOIT_SOFT_FAULTS   for tests: see soft_faults.h
 */
#ifndef QUOIT_SOFT_H
#define QUOIT_SOFT_H

#include <quoit/device.h>

#define SOFT_ENTRIES 4096u

extern const struct quoit_device_driver soft_device_driver;

#endif
