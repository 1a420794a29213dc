/* SPDX-License-Identifier: MIT */
/* record.h - `quoit trace record` */
#ifndef QUOIT_TOOLS_TRACE_RECORD_H
#define QUOIT_TOOLS_TRACE_RECORD_H

/* Works like the functions in commands.h; argv[0] is "record". */
int trace_record(int argc, char **argv);

#endif
