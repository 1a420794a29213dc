/* SPDX-License-Identifier: MIT */
/*
 * launcher.h - quoit-exec's loop for a device: requests become work in streams, and what
 * the streams have done becomes answers.
 *
 *	channel -> flight -> (held) -> stream -> answered
 *
 * A request in flight waits, held, until everything that it names is in a stream and there is
 * room in one, at which sessions take turns; then it is put behind these: in the same stream by
 * its place, across streams by an event.
 * At the end of each stands a word that the stream writes.  Whose word has come is answered.
 */
#ifndef QUOIT_EXEC_LAUNCHER_H
#define QUOIT_EXEC_LAUNCHER_H

#include "driver.h"

/*
 * Serve an opened device until quoitd hangs up.  0, or -errno where the two do not understand
 * each other.  A sticky error of the device ends the process at once.
 */
int launch(int socket, const struct driver *driver);

#endif
