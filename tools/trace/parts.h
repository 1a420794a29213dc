/* SPDX-License-Identifier: MIT */
/* parts.h - the files of tools/report/, contained in the program unchanged; each ends with a NUL */
#ifndef QUOIT_TOOLS_TRACE_PARTS_H
#define QUOIT_TOOLS_TRACE_PARTS_H

extern const char report_part_page[], report_part_style[], report_part_script[];

#endif
