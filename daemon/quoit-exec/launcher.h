/* SPDX-License-Identifier: MIT */
/*
 * launcher.h - quoit-exec's loop for a device: requests become work in streams, and what
 * the streams have done becomes answers.
 *
 *	channel -> flight -> (held) -> stream -> answered
 *
 * A request in flight is held until every flight that it names is in a stream, and a stream has
 * room, for which sessions take turns.  Then it is put behind those flights: in the same stream by
 * its place, across streams by an event.  After each flight, or a few small ones, the stream writes
 * a word; then these are answered.
 */
#ifndef QUOIT_EXEC_LAUNCHER_H
#define QUOIT_EXEC_LAUNCHER_H

#include "driver.h"

/*
 * Serve an opened device until quoitd hangs up.  0, or -errno if quoitd and quoit-exec do not
 * understand each other.  A sticky error of the device ends the process at once.
 */
int launch(int socket, const struct driver *driver);

#endif
