/* SPDX-License-Identifier: MIT */
/* follow_private.h - what follow.c asks of follow_sessions.c */
#ifndef QUOIT_TOOLS_TOP_FOLLOW_PRIVATE_H
#define QUOIT_TOOLS_TOP_FOLLOW_PRIVATE_H

#include "follow.h"

/* Look for sessions if some may have come or gone, and read them; those that rest less often. */
void follow_read_sessions(struct follow *f);

/* Close all sessions' files.  After a restart of quoitd, session 1 is another session. */
void follow_forget_sessions(struct follow *f);

#endif
